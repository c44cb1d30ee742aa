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
fn of_many_broken_decisions_some_are_listed_and_the_rest_is_a_number_and_a_link() {
    let env = crate::env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    for number in 0..7 {
        let text = format!("rotate tokens, number {number}");
        env.run(&["note", "decision", &text, "--evidence", "src/a.rs:1"]).success();
    }
    env.write("src/a.rs", "fn swap_them_all() {}\n");
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let home = person.open("/").body;
    assert!(home.contains("<h1>7 things need you</h1>"), "{home}");
    assert_eq!(home.matches("no longer holds").count(), 5, "{home}");
    assert!(home.contains("<a href=\"/decisions\">All 7 broken decisions</a>"), "{home}");
    let all = person.open("/decisions").body;
    assert_eq!(all.matches("class=\"note\"").count(), 7, "{all}");
}
