//! Pages that lie open while something else changes what is on them.

use heirloom_testkit::env::TestEnv;

use super::Daemon;
use super::client::Request;
use super::deciding::{asked, asking};
use super::page::Person;
use super::streaming::Stream;

/// A page that somebody left open.
struct Open<'a> {
    person: &'a Person<'a>,
    path: String,
    /// The regions it has, with their versions.
    have: Vec<(String, String)>,
}

impl<'a> Open<'a> {
    fn new(person: &'a Person<'a>, path: &str) -> Self {
        let page = person.open(path);
        assert_eq!(page.status, 200, "{path}: {page:?}");
        let main = page.body.split("<main").nth(1).unwrap();
        let regions = main.split("<div id=\"").skip(1).filter(|each| each.contains(" data-live="));
        let have = regions.filter_map(|each| {
            let (id, rest) = each.split_once('"')?;
            let tag = rest.split('>').next()?;
            let version = tag.split_once("data-version=\"")?.1.split('"').next()?;
            tag.starts_with(" data-live=").then(|| (id.to_owned(), version.to_owned()))
        });
        Self { path: path.to_owned(), have: have.collect(), person }
    }

    /// What its script is sent when it asks for what changed.
    fn changed(&self) -> String {
        let have: Vec<String> =
            self.have.iter().map(|(id, version)| format!("{id}={version}")).collect();
        let request = Request::get(&self.path).header("cookie", &self.person.cookie);
        request.header("x-heirloom-regions", &have.join(" ")).send(self.person.daemon.url()).body
    }
}

fn first(env: &TestEnv, arguments: &[&str], list: &str) -> String {
    env.run(arguments).json()[list][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_approval_that_is_decided_elsewhere_says_so_where_it_lies_open() {
    let daemon = Daemon::start(asking());
    let id = asked(&daemon, "auth-v1");
    let person = Person::new(&daemon);
    let open = Open::new(&person, &format!("/approvals/{id}"));
    assert!(!open.changed().contains("data-live"), "nothing has happened: {}", open.changed());
    daemon.env.run(&["approvals", "deny", &id, "--reason", "not on a Friday"]).success();
    let changed = open.changed();
    for (region, words) in
        [("state", "denied"), ("decide", "not on a Friday"), ("decide", "by a person")]
    {
        let (_, rest) = changed.split_once(&format!("id=\"{region}\" data-live=")).expect(region);
        assert!(rest.split(" data-live=").next().unwrap().contains(words), "{region}: {changed}");
    }
    assert!(!changed.contains("<textarea"), "nothing is left to decide: {changed}");
}

#[test]
fn a_note_an_issue_and_the_decisions_follow_what_the_shell_does() {
    let env = crate::env();
    env.run(&["note", "decision", "rotate tokens", "--assumption"]).success();
    env.run(&["issues", "create", "Rotate"]).success();
    let note = first(&env, &["notes", "--json"], "notes");
    let issue = first(&env, &["issues", "list", "--json"], "issues");
    let daemon = Daemon::start(env);
    let open = ["/decisions".to_owned(), format!("/notes/{note}"), format!("/issues/{issue}")];
    let person = Person::new(&daemon);
    let [decisions, of_note, of_issue] = open.map(|path| Open::new(&person, &path));
    for page in [&decisions, &of_note, &of_issue] {
        assert!(!page.changed().contains("data-live"), "{}: {}", page.path, page.changed());
    }
    let newer = ["note", "decision", "never rotate", "--assumption", "--supersedes", &note];
    daemon.env.run(&newer).success();
    daemon.env.run(&["issues", "update", &issue, "--title", "Rotate at noon"]).success();
    assert!(decisions.changed().contains("never rotate"), "{}", decisions.changed());
    assert!(of_note.changed().contains("Replaced by"), "{}", of_note.changed());
    assert!(of_issue.changed().contains("Rotate at noon"), "{}", of_issue.changed());
}

#[test]
fn a_changed_settings_file_is_told_and_shown() {
    let env = crate::env();
    env.write(".heirloom/config.yaml", "work: {max_agents: 2}\n");
    let daemon = Daemon::start(env);
    let person = Person::new(&daemon);
    let [settings, trust] = ["/settings", "/trust"].map(|path| Open::new(&person, path));
    for page in [&settings, &trust] {
        assert!(!page.changed().contains("data-live"), "{}: {}", page.path, page.changed());
    }
    let mut stream = Stream::open(&daemon, None);
    daemon.env.write(".heirloom/config.yaml", "work: {max_agents: 7, gate: [\"make check\"]}\n");
    // No record says so, and whoever looks on is told all the same, without asking.
    while stream.next().unwrap()["type"] != "settings" {}
    let shown = settings.changed();
    assert!(shown.contains("work.max_agents") && shown.contains("<td>7</td>"), "{shown}");
    assert!(shown.contains(".heirloom/config.yaml:1"), "where it comes from: {shown}");
    assert!(trust.changed().contains("make check"), "{}", trust.changed());
}
