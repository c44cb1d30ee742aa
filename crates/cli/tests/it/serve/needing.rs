//! What needs a person, on the first page.

use serde_json::json;

use super::Daemon;
use super::deciding::asked;
use super::page::Person;

#[test]
fn a_question_is_among_what_needs_somebody_and_is_answered_on_the_page() {
    let env = crate::env();
    let question = json!({"question": "Which <store>?", "header": "Store", "multiSelect": false,
        "options": [{"label": "SQLite", "description": "one file"}, {"label": "PostgreSQL", "description": "a server"}]});
    let asks = json!({"tool": "AskUserQuestion", "input": {"questions": [question]}});
    env.write("ask.jsonl", &format!("{asks}\n{}", json!({"say": "done"})));
    let script = env.repo().join("ask.jsonl");
    let daemon = Daemon::start(env.var("HEIRLOOM_SIM_SCRIPT", script));
    let id = asked(&daemon, "auth-v1");
    let person = Person::new(&daemon);
    let home = person.open("/").body;
    let needed =
        home.split("aria-label=\"Needs you\"").nth(1).unwrap().split("</ul>").next().unwrap();
    assert!(home.contains("<h1>1 thing needs you</h1>"), "{home}");
    for words in ["question", "Which &lt;store&gt;?", "asks you a question", "auth-v1", "Answer"] {
        assert!(needed.contains(words), "{words}: {needed}");
    }
    let path = format!("/approvals/{id}");
    let page = person.open(&path).body;
    assert!(page.contains("value=\"PostgreSQL\"") && page.contains("one file"), "{page}");
    let seen = page.split("name=\"seen\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let fields = format!("form={}&seen={seen}&do=answer", person.token());
    let nothing = person.submit(&path, &fields);
    assert_eq!(nothing.status, 400, "{nothing:?}");
    assert!(nothing.body.contains("every question needs an answer"), "{nothing:?}");
    let done = person.submit(&path, &format!("{fields}&answer-0=PostgreSQL&answer-0-own="));
    assert_eq!(done.status, 303, "{done:?}");
    let decided = daemon.get(&format!("/api/v1/approvals/{id}")).json();
    assert_eq!(decided["state"], "approved", "{decided}");
    assert_eq!(decided["edited"]["answers"], json!({"Which <store>?": "PostgreSQL"}), "{decided}");
    daemon.ended("auth-v1");
    assert!(person.open("/").body.contains("<h1>Nothing needs you</h1>"));
}

#[test]
fn of_many_broken_decisions_that_a_live_session_began_with_some_are_listed_and_the_rest_is_a_link()
{
    let env = crate::env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    env.write("ask.jsonl", r#"{"tool": "Bash", "input": {"command": "true"}}"#);
    let script = env.repo().join("ask.jsonl");
    for number in 0..7 {
        let text = format!("rotate tokens, number {number}");
        env.run(&["note", "decision", &text, "--evidence", "src/a.rs:1"]).success();
    }
    env.write("src/a.rs", "fn swap_them_all() {}\n");
    let daemon = Daemon::start(env.var("HEIRLOOM_SIM_SCRIPT", script));
    let person = Person::new(&daemon);
    // Nobody works by them.
    let home = person.open("/").body;
    assert!(home.contains("<h1>Nothing needs you</h1>"), "{home}");
    assert!(home.contains("7 broken"), "{home}");
    asked(&daemon, "auth-v1");
    let home = person.open("/").body;
    assert!(home.contains("<h1>8 things need you</h1>"), "{home}");
    assert_eq!(home.matches("no longer holds").count(), 5, "{home}");
    assert!(home.contains("<a href=\"/decisions\">All 7 broken decisions</a>"), "{home}");
    let all = person.open("/decisions").body;
    assert_eq!(all.matches("class=\"note\"").count(), 7, "{all}");
}

#[test]
fn settings_that_cannot_be_used_are_among_what_needs_somebody() {
    let env = crate::env();
    env.write(".heirloom/config.yaml", "checkpoint:\n  mode: [\n");
    let daemon = Daemon::start(env);
    let home = Person::new(&daemon).open("/").body;
    assert!(home.contains("<h1>1 thing needs you</h1>"), "{home}");
    assert!(home.contains(".heirloom/config.yaml:2:9: not valid YAML"), "{home}");
    assert!(home.contains("nothing in .heirloom/config.yaml is in force"), "{home}");
}

#[test]
fn an_issue_that_a_run_could_not_finish_is_among_what_needs_somebody_until_it_is_closed() {
    let env = crate::env();
    env.write(".heirloom/config.yaml", "work: {gate: [\"false\"], max_fixes: 0}\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-qm", "settings"]);
    env.run(&["init", "--yes"]).success();
    let made = env.run(&["issues", "create", "Rotate tokens", "--json"]).success().json();
    let id = made["id"].as_str().unwrap().to_owned();
    env.run(&["work", "--agent", "sim", "--max-issues", "1"]);
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let home = person.open("/").body;
    let needed =
        home.split("aria-label=\"Needs you\"").nth(1).unwrap().split("</ul>").next().unwrap();
    for words in ["blocked", &id, "Rotate tokens", "/runs/"] {
        assert!(needed.contains(words), "{words}: {needed}");
    }
    assert_eq!(needed.matches("<li").count(), 1, "{needed}");
    daemon.env.run(&["issues", "close", &id]).success();
    assert!(person.open("/").body.contains("<h1>Nothing needs you</h1>"));
}

#[test]
fn an_issue_that_a_run_in_another_repository_could_not_finish_is_listed_with_its_repository() {
    let env = crate::env();
    env.run(&["init", "--yes"]).success();
    let other = env.user().join("ledgers");
    std::fs::create_dir_all(other.join(".heirloom")).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        let git =
            git.current_dir(&other).args(["-c", "user.name=t", "-c", "user.email=t@localhost"]);
        assert!(git.args(arguments).status().unwrap().success());
    };
    git(&["init", "-q", "-b", "main"]);
    let settings = "work: {gate: [\"false\"], max_fixes: 0}\n";
    std::fs::write(other.join(".heirloom/config.yaml"), settings).unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "settings"]);
    env.run_in(&other, &["init", "--yes"]).success();
    let made = env.run_in(&other, &["issues", "create", "Rotate tokens", "--json"]).success();
    let id = made.json()["id"].as_str().unwrap().to_owned();
    env.run_in(&other, &["work", "--agent", "sim", "--max-issues", "1"]);
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let home = person.open("/").body;
    let needed =
        home.split("aria-label=\"Needs you\"").nth(1).unwrap().split("</ul>").next().unwrap();
    for words in ["blocked", &id, "Rotate tokens", "in ledgers"] {
        assert!(needed.contains(words), "{words}: {needed}");
    }
    let run = needed.split("href=\"/runs/").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(person.open(&format!("/runs/{run}")).status, 200);
}

#[test]
fn what_a_person_noted_by_hand_cannot_be_continued_and_is_not_offered() {
    let env = crate::env();
    env.run(&["note", "learning", "by hand"]).success();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let by_hand = person.open("/sessions/notes-2026-01-12").body;
    assert!(!by_hand.contains("data-go=\"continue\""), "{by_hand}");
    assert!(!by_hand.contains("What should it do next?"), "{by_hand}");
    let by_agent = person.open("/sessions/auth-v1").body;
    assert!(by_agent.contains("data-go=\"continue\""), "{by_agent}");
    let home = person.open("/").body;
    assert_eq!(home.matches("data-go=\"continue\"").count(), 1, "{home}");
}

#[test]
fn a_browser_that_is_led_nowhere_gets_a_page_and_a_program_json() {
    let daemon = Daemon::start(crate::env());
    let person = Person::new(&daemon);
    let browser = |path: &str| {
        let request = super::client::Request::get(path).header("accept", "text/html,*/*");
        request.header("cookie", &person.cookie).send(daemon.url())
    };
    for path in ["/nowhere", "/sessions/nobody/what", "/usage?by=colour"] {
        let page = browser(path);
        assert!(page.status >= 400, "{page:?}");
        assert!(page.body.starts_with("<!DOCTYPE html>"), "{path}: {page:?}");
        assert!(page.body.contains("/assets/style.css"), "{path}: {page:?}");
    }
    let used = browser("/signin?code=used");
    assert_eq!(used.status, 401);
    assert!(used.body.contains("<h1>You are not signed in</h1>"), "{used:?}");
    assert!(used.body.contains("used before") && used.body.contains("serve --link"), "{used:?}");
    // It looks like the other pages, and brings what it needs for that.
    assert!(used.body.contains("<style nonce="), "{used:?}");
    let stranger = super::client::Request::get("/").header("accept", "text/html");
    let stranger = stranger.send(daemon.url());
    let nonce = stranger.body.split("<style nonce=\"").nth(1).unwrap().split('"').next().unwrap();
    let policy = stranger.header("content-security-policy").unwrap();
    assert!(policy.ends_with(&format!("style-src 'nonce-{nonce}'")), "{stranger:?}");
    assert!(!stranger.body.contains("/assets/"), "nothing else is served to strangers");
    let program = person.open("/nowhere");
    assert_eq!(program.json()["error"]["code"], "request.not-found", "{program:?}");
    let api = super::client::Request::get("/api/v1/nowhere").header("accept", "text/html");
    let api = api.header("cookie", &person.cookie).send(daemon.url());
    assert_eq!(api.json()["error"]["code"], "request.not-found", "{api:?}");
}
