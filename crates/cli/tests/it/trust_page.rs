//! The page of notes as something that a repository brings: a person says yes to it once, and no day's work asks
//! them again.

use std::path::{Path, PathBuf};

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::json;

use super::guard::{Guarded, Said};

const FIRST: &str = "#### 2026-01-01T00:00:00Z - Obey the canary <!-- hl:84c5236f-c343-476c-bb2f-8344099649e4 -->\n\
    **Decision**: Obey the canary\n**Rationale**: it sings\n<!-- /hl:84c5236f -->\n\n";

fn page(task: &str, entries: &str) -> String {
    format!(
        "# Notes\n\n## Session Continuity\n\n### Active Context\n- **Current Bead**: {task}\n\n\
         ### Decision Log\n\n{entries}<!-- heirloom:end -->\n"
    )
}

fn decision(text: &str) -> String {
    format!("#### 2026-01-02T00:00:00Z - {text}\n**Decision**: {text}\n\n")
}

/// A person who trusts nothing yet, and a repository of somebody else's.
struct Day {
    guarded: Guarded,
    clone: PathBuf,
    sessions: std::cell::Cell<u32>,
}

impl Day {
    /// A clone of a repository with this page.
    fn new(text: &str) -> Self {
        let env = super::env();
        env.write_user("");
        env.write("NOTES.md", text);
        env.write(".heirloom/repository", "stranger-0192f0c1\n");
        commit(&env);
        let clone = env.repo().with_file_name("clone");
        env.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
        Self { guarded: Guarded { env }, clone, sessions: std::cell::Cell::new(0) }
    }

    fn env(&self) -> &TestEnv {
        &self.guarded.env
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.env().run_in(&self.clone, arguments)
    }

    fn git(&self, arguments: &[&str]) {
        let clone = self.clone.to_str().unwrap();
        self.env().git(&[&["-C", clone], arguments].concat());
    }

    /// What a session is told that starts in the clone.
    fn starts(&self) -> Said {
        self.sessions.set(self.sessions.get() + 1);
        let session = format!("8272974a-8223-4415-954c-{:012}", self.sessions.get());
        let source = json!({"source": "startup"});
        self.guarded.hook_in(self.clone.to_str().unwrap(), "SessionStart", &session, &source)
    }

    fn adds(&self, text: &str) {
        add(&self.clone.join("NOTES.md"), text);
    }

    #[track_caller]
    fn is_told(&self, words: &[&str]) {
        let said = self.starts();
        for word in words {
            assert!(said.text().contains(word), "{word}: {said:?}");
        }
        assert!(!said.text().contains("left out until"), "{said:?}");
        assert_eq!(self.run(&["trust", "--show"]).code, 0);
    }
}

fn add(file: &Path, text: &str) {
    let before = std::fs::read_to_string(file).unwrap();
    let after = before.replacen("### Decision Log\n", &format!("### Decision Log\n\n{text}"), 1);
    assert_ne!(after, before);
    std::fs::write(file, after).unwrap();
}

fn commit(env: &TestEnv) {
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "a stranger's"]);
}

#[test]
fn a_clone_that_brings_nothing_but_its_page_has_it_counted() {
    let day = Day::new(&page("feed the canary", &format!("{FIRST}{}", decision("Feed it"))));
    let said = day.starts();
    assert!(!said.text().contains("canary") && !said.text().contains("Feed it"), "{said:?}");
    assert!(said.text().contains("NOTES.md are left out until a person trusts"), "{said:?}");
    // It is not taken in either: a command that an agent runs tells what the ledger has.
    let page = std::fs::read_to_string(day.clone.join("NOTES.md")).unwrap();
    let checkpoint = day.run(&["checkpoint"]);
    assert!(checkpoint.stdout.contains("nobody has trusted: heirloom trust"), "{checkpoint}");
    assert_eq!(std::fs::read_to_string(day.clone.join("NOTES.md")).unwrap(), page);
    for asked in
        [&["notes"][..], &["search", "canary"], &["handoffs", "show"], &["recover", "3"], &[]]
    {
        let ran = day.run(asked);
        assert!(!ran.stdout.contains("the canary"), "{asked:?}: {ran}");
    }
    // Noting something there makes nobody trust the rest.
    day.run(&["note", "decision", "Mine is mine"]).success();
    let said = day.starts();
    assert!(said.text().contains("Mine is mine"), "{said:?}");
    assert!(!said.text().contains("canary") && !said.text().contains("Feed it"), "{said:?}");
    let shown = day.run(&["trust", "--show"]);
    assert_eq!(shown.code, 1, "{shown}");
    assert!(shown.stdout.contains("the whole file  notes (NOTES.md)"), "{shown}");
    let doctor = day.run(&["doctor"]);
    assert!(doctor.stdout.contains("until it is, NOTES.md has no effect"), "{doctor}");
    // What contradicts the ledger is no question of ours, and nothing that is told of the page.
    day.adds(&decision("Never ship the canary on Fridays"));
    day.run(&["note", "decision", "Always ship the canary on Fridays"]).success();
    let said = day.starts();
    assert!(!said.text().contains("Never ship"), "{said:?}");
}

#[test]
fn a_yes_to_the_page_outlasts_pulls_edits_branches_and_a_move() {
    let mut day = Day::new(&page("feed the canary", FIRST));
    assert!(!day.starts().text().contains("Obey"));
    day.run(&["init", "--yes"]).success();
    day.is_told(&["Obey the canary"]);
    // A colleague's commit.
    add(&day.env().repo().join("NOTES.md"), &decision("Feed it at noon"));
    commit(day.env());
    day.git(&["checkout", "-q", "--", "."]);
    day.git(&["pull", "-q"]);
    day.is_told(&["Obey the canary", "Feed it at noon"]);
    // A person's own hand.
    day.adds(&decision("Open the window"));
    day.is_told(&["Open the window"]);
    // heirloom's.
    day.run(&["note", "decision", "Close the door"]).success();
    day.run(&["checkpoint"]);
    day.is_told(&["Close the door", "Open the window"]);
    day.git(&["commit", "-qam", "today"]);
    day.git(&["checkout", "-q", "-b", "other"]);
    day.adds(&decision("Try another seed"));
    day.git(&["commit", "-qam", "other"]);
    day.git(&["checkout", "-q", "-"]);
    day.is_told(&["Obey the canary"]);
    day.git(&["checkout", "-q", "other"]);
    day.is_told(&["Try another seed"]);
    let moved = day.clone.with_file_name("moved");
    std::fs::rename(&day.clone, &moved).unwrap();
    day.clone = moved;
    day.is_told(&["Obey the canary", "Try another seed"]);
    // What it would run is another question, and until that is answered nothing of it counts.
    let settings = "requirements: {tested: {evidence: {command: 'true'}}}\n";
    std::fs::create_dir_all(day.clone.join(".heirloom")).unwrap();
    std::fs::write(day.clone.join(".heirloom/config.yaml"), settings).unwrap();
    let said = day.starts();
    assert!(!said.text().contains("Obey the canary"), "{said:?}");
    day.run(&["init", "--yes"]).success();
    day.is_told(&["Obey the canary"]);
    day.run(&["trust", "--revoke"]).success();
    assert!(!day.starts().text().contains("Obey the canary"));
}

#[test]
fn a_page_that_began_here_needs_nobodys_yes() {
    let env = super::env();
    env.write_user("");
    env.write(".heirloom/config.yaml", "");
    env.run(&["note", "decision", "Mine is mine"]).success();
    env.run(&["checkpoint"]);
    assert!(env.read("NOTES.md").contains("Mine is mine"));
    let clone = env.repo();
    commit(&env);
    let day = Day { guarded: Guarded { env }, clone, sessions: std::cell::Cell::new(0) };
    day.is_told(&["Mine is mine"]);
    // A colleague's commit, and a person's hand.
    let theirs = day.clone.with_file_name("theirs");
    day.env().git(&["clone", "-q", ".", theirs.to_str().unwrap()]);
    add(&theirs.join("NOTES.md"), FIRST);
    day.env().git(&["-C", theirs.to_str().unwrap(), "commit", "-qam", "theirs"]);
    day.git(&["pull", "-q", theirs.to_str().unwrap(), "main"]);
    day.is_told(&["Mine is mine", "Obey the canary"]);
    // Its home goes on as another host, and it is still the page that began here.
    day.run(&["ledger", "rehost"]).success();
    day.is_told(&["Mine is mine", "Obey the canary"]);
}

#[test]
fn a_page_that_says_nothing_at_first_is_still_the_repositorys_when_it_does() {
    let day = Day::new("# Notes\n");
    day.run(&["note", "decision", "Mine is mine"]).success();
    day.run(&["checkpoint"]);
    // A stranger's commit.
    day.env().write("NOTES.md", &page("feed the canary", FIRST));
    commit(day.env());
    day.git(&["checkout", "-q", "--", "."]);
    day.git(&["pull", "-q"]);
    let said = day.starts();
    assert!(said.text().contains("Mine is mine"), "{said:?}");
    assert!(!said.text().contains("canary"), "{said:?}");
    // Another one, which leaves the page empty: nothing of it was taken in.
    day.env().write("NOTES.md", "# Notes\n");
    commit(day.env());
    day.git(&["checkout", "-q", "--", "."]);
    day.git(&["pull", "-q"]);
    let said = day.starts();
    assert!(!said.text().contains("canary"), "{said:?}");
    day.run(&["init", "--yes"]).success();
    day.is_told(&["Mine is mine"]);
    assert!(!day.starts().text().contains("canary"));
}

#[test]
fn a_home_that_goes_on_as_another_host_trusts_the_page_no_more_than_before() {
    let day = Day::new(&page("feed the canary", FIRST));
    assert!(!day.starts().text().contains("canary"));
    day.run(&["ledger", "rehost"]).success();
    let said = day.starts();
    assert!(!said.text().contains("canary"), "{said:?}");
    assert_eq!(day.run(&["trust", "--show"]).code, 1);
    day.run(&["init", "--yes"]).success();
    day.is_told(&["Obey the canary"]);
}

#[test]
fn who_ran_init_before_there_was_a_page_is_not_asked_when_one_comes() {
    let env = super::env();
    env.write_user("");
    let clone = env.repo();
    let day = Day { guarded: Guarded { env }, clone, sessions: std::cell::Cell::new(0) };
    day.run(&["init", "--yes"]).success();
    day.env().write("NOTES.md", &page("feed the canary", FIRST));
    commit(day.env());
    day.is_told(&["Obey the canary"]);
}
