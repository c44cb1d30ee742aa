//! The page, as a browser without script gets it.

use serde_json::json;

use super::Daemon;
use super::client::{Answer, Request};

pub(super) struct Person<'a> {
    pub(super) daemon: &'a Daemon,
    pub(super) cookie: String,
}

impl<'a> Person<'a> {
    pub(super) fn new(daemon: &'a Daemon) -> Self {
        Self { daemon, cookie: daemon.sign_in() }
    }

    pub(super) fn open(&self, path: &str) -> Answer {
        Request::get(path).header("cookie", &self.cookie).send(self.daemon.url())
    }

    pub(super) fn submit(&self, path: &str, fields: &str) -> Answer {
        let request = Request::form(path, fields).header("cookie", &self.cookie);
        request.send(self.daemon.url())
    }

    /// What the forms of a page carry.
    pub(super) fn token(&self) -> String {
        let page = self.open("/settings").body;
        let (_, rest) = page.split_once("name=\"form\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

#[test]
fn every_page_has_one_heading_no_inline_script_and_says_where_it_is() {
    let env = crate::env();
    env.run(&["init", "--agent", "claude"]).success();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    env.run(&["note", "decision", "rotate tokens", "--evidence", "src/a.rs:1"]).success();
    let launch = ["launch", "say <b>hello</b>", "--name", "auth-v1", "--agent", "sim"];
    env.run(&launch).success();
    let id = env.run(&["issues", "create", "Rotate", "--json"]).success().json()["id"].clone();
    let note = env.run(&["notes", "--json"]).json()["notes"][0]["id"].clone();
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let issue = format!("/issues/{}", id.as_str().unwrap());
    let note = format!("/notes/{}", note.as_str().unwrap());
    for path in [
        "/",
        "/sessions",
        "/sessions?q=hello",
        "/sessions/auth-v1",
        "/sessions/auth-v1/config",
        "/sessions/auth-v1/lineage",
        "/sessions/auth-v1/notes",
        "/sessions/auth-v1/cost",
        "/sessions/auth-v1/continue",
        "/sessions/auth-v1/continue?at=1",
        "/launch",
        "/approvals",
        "/recall",
        "/recall?q=rotate",
        "/decisions",
        "/issues",
        "/requirements",
        "/usage",
        "/usage?by=repo",
        "/settings",
        "/trust",
        "/keys",
        &issue,
        &note,
    ] {
        let page = person.open(path);
        assert_eq!(page.status, 200, "{path} {page:?}");
        assert_eq!(page.body.matches("<h1").count(), 1, "{path}");
        assert_eq!(page.body.matches("<script").count(), 1, "{path}");
        assert!(page.body.contains("<script src=\"/assets/script.js\" defer></script>"), "{path}");
        assert!(!page.body.contains(" style=") && !page.body.contains(" onclick="), "{path}");
        assert!(page.body.contains("<main id=\"main\""), "{path}");
    }
    let usage = person.open("/usage?by=agent").body;
    assert!(
        usage.contains(">sim<") && usage.contains("aria-current=\"page\">By agent<"),
        "{usage}"
    );
    let session = person.open("/sessions/auth-v1").body;
    assert!(session.contains("&lt;b&gt;hello&lt;/b&gt;") && !session.contains("<b>hello</b>"));
    let missing = person.open("/sessions/nobody");
    assert_eq!(missing.status, 404);
    assert!(missing.body.contains("there is no session nobody"), "{missing:?}");
    for asset in ["/assets/style.css", "/assets/script.js"] {
        assert_eq!(person.open(asset).status, 200);
        assert_eq!(Request::get(asset).send(daemon.url()).status, 401);
    }
}

#[test]
fn a_person_continues_a_session_on_the_page_and_a_form_from_elsewhere_does_nothing() {
    let env = crate::env();
    let launch = ["launch", "say hello", "--name", "auth-v1", "--agent", "sim", "--title", "Greet"];
    env.run(&launch).success();
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let form = person.open("/sessions/auth-v1/continue").body;
    assert!(form.contains("auth-v1") && form.contains("name=\"do-title\""), "{form}");
    let forged = person.submit("/sessions/auth-v1/continue", "prompt=more&form=forged");
    assert_eq!(forged.status, 403);
    let token = person.token();
    let fields = format!("form={token}&prompt=more&do-title=set&set-title=Again&do-model=inherit");
    let done = person.submit("/sessions/auth-v1/continue", &fields);
    assert_eq!(done.status, 303, "{done:?}");
    let child = daemon.get("/api/v1/sessions/auth-v2/config").json();
    assert_eq!(child["config"]["title"]["value"], json!("Again"));
    // What is wrong is said where it was filled in, and what was typed is kept.
    let fields = format!("form={token}&prompt=kept+words&name=a%2Fb");
    let refused = person.submit("/sessions/auth-v1/continue", &fields);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("kept words") && refused.body.contains("Nothing was started"));
    let out = person.submit("/signout", &format!("form={token}"));
    assert_eq!(out.status, 303);
    assert_eq!(person.open("/").status, 401);
}

#[test]
fn reading_is_folded_into_one_counted_line_and_edits_are_open() {
    let env = crate::env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    let file = env.repo().join("src/a.rs");
    let steps = [
        json!({"tool": "Read", "input": {"file_path": file}}),
        json!({"tool": "Read", "input": {"file_path": file}}),
        json!({"tool": "Grep", "input": {"pattern": "rotate"}}),
        json!({"tool": "Edit", "input": {"file_path": file, "old_string": "rotate_tokens",
                                         "new_string": "swap_tokens"}}),
        json!({"say": "done <img src=x>"}),
    ];
    env.write("steps.jsonl", &steps.map(|step| step.to_string()).join("\n"));
    let script = env.repo().join("steps.jsonl");
    let env = env.var("HEIRLOOM_SIM_SCRIPT", script);
    let launch = ["launch", "swap it", "--name", "auth-v1", "--agent", "sim"];
    env.run(&[&launch[..], &["--allowed-tools", "Read,Grep,Edit"]].concat()).success();
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let page = person.open("/sessions/auth-v1").body;
    assert!(
        page.contains("<b>3 tool calls</b> <span class=\"dim\">Read 2 · Grep 1</span>"),
        "{page}"
    );
    assert_eq!(page.matches("class=\"diff\"").count(), 1, "{page}");
    assert!(page.contains("swap_tokens") && page.contains("done &lt;img src=x&gt;"), "{page}");
    // Every event can be linked to, folded or not, and none twice.
    let said = daemon.get("/api/v1/sessions/auth-v1/conversation").json();
    for event in said["events"].as_array().unwrap() {
        let times = page.matches(&format!("id=\"e{}\"", event["number"])).count();
        let is_end = event["kind"] == "result";
        assert_eq!(times, usize::from(!is_end), "{event}");
    }
    let context = page.split("<dt>Context</dt>").nth(1).unwrap();
    assert!(context.starts_with("<dd>"), "{page}");
}

#[test]
fn the_form_says_what_differs_and_what_is_wider() {
    let env = crate::env();
    let launch = ["launch", "say hello", "--name", "auth-v1", "--agent", "sim"];
    env.run(&[&launch[..], &["--allowed-tools", "Read", "--title", "Greet"]].concat()).success();
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let differs = |fields: &str| {
        let answer = person.open(&format!("/sessions/auth-v1/difference?{fields}"));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };
    assert!(differs("").contains("Nothing differs from auth-v1"));
    assert!(differs("do-title=set&set-title=Greet").contains("Nothing differs"));
    let wider = differs("do-allowed_tools=set&set-allowed_tools=Read,Bash");
    assert!(wider.contains("Bash") && wider.contains("wider"), "{wider}");
    let tighter = differs("do-allowed_tools=clear&do-title=set&set-title=Bye");
    assert!(tighter.contains("cleared here") && tighter.contains("tighter"), "{tighter}");
    assert!(tighter.contains("Bye") && tighter.contains("set here"), "{tighter}");
    assert!(differs("do-max_turns=set&set-max_turns=many").contains("write a number"));
}

#[test]
fn a_page_that_lies_open_is_sent_the_regions_it_asks_for() {
    let env = crate::env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let ask = |wanted: &str| {
        let request = Request::get("/").header("cookie", &person.cookie);
        request.header("x-heirloom-regions", wanted).send(daemon.url()).body
    };
    let whole = person.open("/").body;
    for id in ["head", "needed", "running", "recent", "needs"] {
        assert!(whole.contains(&format!("id=\"{id}\" data-live=")), "{id}: {whole}");
    }
    let some = ask("recent= needs=");
    assert!(some.contains("id=\"recent\"") && some.contains("auth-v1"), "{some}");
    assert!(some.contains("id=\"needs\"") && !some.contains("id=\"head\""), "{some}");
    assert!(!some.contains("stylesheet"), "nothing but regions: {some}");
    // What the page has already is not sent again, and what changed is.
    let (_, rest) = some.split_once("id=\"recent\"").unwrap();
    let version = rest.split("data-version=\"").nth(1).unwrap().split('"').next().unwrap();
    let known = ask(&format!("recent={version}"));
    assert!(!known.contains("id=\"recent\""), "{known}");
    daemon.env.run(&["launch", "say bye", "--name", "auth-v9", "--agent", "sim"]).success();
    assert!(ask(&format!("recent={version}")).contains("auth-v9"));
}

/// A page of a session that lies open follows the session, and its relatives.
#[test]
fn every_part_of_a_session_that_can_change_is_a_region() {
    let env = crate::env();
    env.run(&["launch", "say hello", "--name", "auth-v1", "--agent", "sim"]).success();
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let ask = |path: &str, wanted: &str| {
        let request = Request::get(path).header("cookie", &person.cookie);
        request.header("x-heirloom-regions", wanted).send(daemon.url()).body
    };
    let whole = person.open("/sessions/auth-v1").body;
    let version = |id: &str| {
        let (_, rest) = whole.split_once(&format!("id=\"{id}\" data-live=")).expect(id);
        rest.split("data-version=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let ids = [
        "heading", "state", "acts", "said", "asks", "prompted", "cost", "lineage", "notes",
        "config", "required",
    ];
    let known = ids.map(|id| format!("{id}={}", version(id))).join(" ");
    let still = ask("/sessions/auth-v1", &known);
    assert!(!still.contains("data-live"), "nothing has happened: {still}");

    let title = ["sessions", "update", "auth-v1", "--title", "Greet", "--auto-accept-edits"];
    daemon.env.run(&title).success();
    daemon.env.run(&["continue", "auth-v1", "and bye"]).success();
    let changed = ask("/sessions/auth-v1", &known);
    for (id, words) in
        [("heading", "Greet"), ("config", "auto accept edits"), ("lineage", "auth-v2")]
    {
        let (_, region) = changed.split_once(&format!("id=\"{id}\" data-live=")).expect(id);
        assert!(region.split("data-live").next().unwrap().contains(words), "{id}: {changed}");
    }
    let wide = whole.split("id=\"lineage\"").nth(1).unwrap().split('>').next().unwrap();
    assert!(wide.contains("data-wide"), "a child is another session: {wide}");
    for part in ["config", "lineage", "notes", "cost"] {
        let open = ask(&format!("/sessions/auth-v1/{part}"), "part=");
        assert!(open.contains("id=\"part\""), "{part}: {open}");
    }
}
