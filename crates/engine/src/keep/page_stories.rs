//! The page of notes in ordinary life with git: nothing that people wrote is lost, and nothing
//! counts as taken off the page but what somebody took off it.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use heirloom_core::event::NoteAdded;
use heirloom_core::id::NoteId;
use heirloom_core::note::{Basis, Kind, Note, Origin, Source};
use heirloom_core::page;
use heirloom_core::trust::person::Who;
use heirloom_ledger::{NoteFilter, Scope};
use tempfile::TempDir;
use uuid::Uuid;

use super::page::{Keeper, Synced};
use super::{session_or_new, settings};
use crate::here::{Env, Here};
use crate::trust;

/// Somebody with a home of their own, at work in a directory.
struct Person {
    home: PathBuf,
    at: PathBuf,
}

fn git(at: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .current_dir(at)
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "pull.rebase=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_EDITOR", "true")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

impl Person {
    fn new(dir: &TempDir, name: &str, at: &str) -> Self {
        let root = fs::canonicalize(dir.path()).unwrap();
        Self { home: root.join(name), at: root.join(at) }
    }

    fn elsewhere(&self, at: &str) -> Self {
        Self { home: self.home.clone(), at: self.at.with_file_name(at) }
    }

    fn git(&self, arguments: &[&str]) {
        let (done, said) = git(&self.at, arguments);
        assert!(done, "git {arguments:?}: {said}");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn here(&self) -> Here {
        let env: Env = [
            ("HEIRLOOM_HOME".into(), self.home.as_os_str().to_owned()),
            ("HOME".into(), self.home.join("user").into_os_string()),
            ("HEIRLOOM_CLOCK".into(), "2026-01-12T15:30:00Z".into()),
        ]
        .into();
        Here::look(&self.at, env).unwrap()
    }

    /// Says yes to what the repository comes with.
    fn trusts(&self) {
        let mut here = self.here();
        here.asks = Some(Who::Person);
        let mut ledger = here.ledger().unwrap();
        let seen = trust::standing(&here, &ledger).unwrap().survey;
        trust::trust(&here, &mut ledger, &seen).unwrap();
    }

    fn sync(&self) -> Synced {
        self.with(|keeper, ledger| keeper.sync(ledger).unwrap())
    }

    fn with<T>(&self, work: impl FnOnce(&Keeper<'_>, &mut heirloom_ledger::Ledger) -> T) -> T {
        let here = self.here();
        let mut ledger = here.ledger().unwrap();
        let settings = settings(&here).unwrap();
        let session = session_or_new(&here, &mut ledger, None).unwrap();
        let keeper =
            Keeper { here: &here, settings: &settings, session: &session, checkpoint: None };
        work(&keeper, &mut ledger)
    }

    fn note(&self, kind: Kind, text: &str) -> NoteId {
        let name = self.home.file_name().unwrap().to_str().unwrap().to_owned();
        let source = Source { author: Some(name), ..Source::default() };
        let id = NoteId::new(Uuid::new_v4());
        self.with(|keeper, ledger| {
            let scope = Scope::session(keeper.session.id, &keeper.session.repo);
            let note = NoteAdded { source: Some(source), ..NoteAdded::new(id, kind, text) };
            ledger.append(keeper.here.clock.now(), scope, &note).unwrap();
            keeper.sync(ledger).unwrap();
        });
        id
    }

    fn notes(&self) -> Vec<Note> {
        let ledger = self.here().ledger().unwrap();
        ledger.notes(&NoteFilter::default()).unwrap()
    }

    fn page(&self) -> String {
        fs::read_to_string(self.at.join("NOTES.md")).unwrap()
    }

    fn edit(&self, from: &str, to: &str) {
        let page = self.page();
        assert!(page.contains(from), "{from} in {page}");
        fs::write(self.at.join("NOTES.md"), page.replacen(from, to, 1)).unwrap();
    }

    /// Takes an entry off the page.
    fn take_off(&self, text: &str) {
        let rest: String =
            self.page().split_inclusive('\n').filter(|line| !line.contains(text)).collect();
        fs::write(self.at.join("NOTES.md"), rest).unwrap();
    }

    fn shows(&self, texts: &[&str]) {
        let page = self.page();
        for text in texts {
            assert_eq!(page.matches(text).count(), 1, "{text} in {page}");
        }
    }

    fn shows_not(&self, text: &str) {
        assert!(!self.page().contains(text), "{text} in {}", self.page());
    }
}

/// A repository with a first commit, and what somebody wrote on its page by hand.
fn ada() -> (TempDir, Person) {
    let dir = TempDir::new().unwrap();
    let ada = Person::new(&dir, "ada", "payments");
    fs::create_dir(&ada.at).unwrap();
    ada.git(&["init", "-q", "-b", "main"]);
    fs::write(ada.at.join("NOTES.md"), BY_HAND).unwrap();
    ada.commit("first");
    ada.trusts();
    (dir, ada)
}

const BY_HAND: &str =
    "# Payments\n\nOurs, by hand.  \n\n<!-- a comment -->\n\n## Mine\n\nlast words, no newline";

/// That all that was written by hand is still there, byte by byte.
fn by_hand_is_whole(person: &Person) {
    let page = person.page();
    let (before, behind) = BY_HAND.split_at(BY_HAND.find("## Mine").unwrap());
    assert!(page.starts_with(before) && page.ends_with(behind), "{page}");
}

#[test]
fn checking_out_another_branch_and_coming_back_takes_nothing_off() {
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Asked first?");
    ada.commit("notes");
    ada.git(&["branch", "old"]);
    ada.note(Kind::Question, "Asked second?");
    ada.note(Kind::Decision, "Rotate them");
    ada.commit("more notes");
    ada.git(&["checkout", "-q", "old"]);
    ada.shows_not("Asked second?");
    ada.sync();
    ada.shows(&["Asked first?", "Asked second?", "**Decision**: Rotate them"]);
    ada.git(&["checkout", "-q", "-f", "main"]);
    ada.sync();
    ada.shows(&["Asked first?", "Asked second?", "**Decision**: Rotate them"]);
    by_hand_is_whole(&ada);
    assert_eq!(ada.notes().len(), 3);
}

#[test]
fn what_somebody_took_off_stays_off_and_comes_back_when_they_put_it_back() {
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Asked first?");
    ada.note(Kind::Question, "Asked second?");
    ada.commit("notes");
    ada.take_off("Asked first?");
    ada.note(Kind::Question, "Asked third?");
    ada.shows_not("Asked first?");
    ada.commit("without the first");
    // Edited and committed before anybody looked: somebody did that, too.
    ada.take_off("Asked second?");
    ada.commit("without the second");
    ada.sync();
    ada.shows_not("Asked second?");
    // In another checkout it is not added either; where it is put back, it stays.
    ada.git(&["checkout", "-q", "-b", "other"]);
    ada.sync();
    ada.shows_not("Asked first?");
    ada.git(&["checkout", "-q", "HEAD~1", "--", "NOTES.md"]);
    ada.note(Kind::Question, "Asked fourth?");
    ada.shows(&["Asked second?", "Asked third?", "Asked fourth?"]);
    ada.take_off("Asked third?");
    ada.sync();
    ada.shows(&["Asked second?", "Asked fourth?"]);
    ada.shows_not("Asked third?");
    by_hand_is_whole(&ada);
}

#[test]
fn what_git_put_back_was_not_taken_off() {
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Asked first?");
    ada.commit("notes");
    ada.note(Kind::Question, "Asked second?");
    ada.git(&["restore", "NOTES.md"]);
    ada.shows_not("Asked second?");
    ada.sync();
    ada.shows(&["Asked first?", "Asked second?"]);
    ada.git(&["stash", "-q"]);
    ada.shows_not("Asked second?");
    ada.git(&["stash", "pop", "-q"]);
    ada.sync();
    ada.shows(&["Asked first?", "Asked second?"]);
    ada.git(&["stash", "-q"]);
    ada.sync();
    ada.shows(&["Asked first?", "Asked second?"]);
    ada.commit("again");
    ada.git(&["reset", "-q", "--hard", "HEAD~1"]);
    ada.sync();
    ada.shows(&["Asked first?", "Asked second?"]);
    by_hand_is_whole(&ada);
}

#[test]
fn two_worktrees_have_the_same_ledger_and_each_its_own_page() {
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Asked first?");
    ada.commit("notes");
    let path = ada.at.with_file_name("payments-fix");
    ada.git(&["worktree", "add", "-q", "-b", "fix", path.to_str().unwrap()]);
    let fix = ada.elsewhere("payments-fix");
    ada.note(Kind::Question, "Asked in main?");
    fix.note(Kind::Question, "Asked in fix?");
    ada.sync();
    for place in [&ada, &fix] {
        place.shows(&["Asked first?", "Asked in main?", "Asked in fix?"]);
        by_hand_is_whole(place);
    }
    fix.take_off("Asked first?");
    fix.sync();
    ada.sync();
    fix.shows_not("Asked first?");
    ada.shows(&["Asked first?"]);
}

#[test]
fn two_branches_that_both_add_are_merged_without_a_conflict() {
    let (_dir, ada) = ada();
    ada.note(Kind::Decision, "Rotate them");
    ada.commit("notes");
    let path = ada.at.with_file_name("payments-fix");
    ada.git(&["worktree", "add", "-q", "-b", "fix", path.to_str().unwrap()]);
    // Another home, so that neither page has what the other one's has.
    let bob = Person { home: ada.home.with_file_name("bob"), ..ada.elsewhere("payments-fix") };
    bob.trusts();
    bob.note(Kind::Decision, "Grace of a day");
    bob.note(Kind::Question, "Whose clock?");
    bob.note(Kind::Progress, "halfway");
    bob.edit("Ours, by hand.", "Ours, by hand, and Bob's.");
    bob.commit("bob");
    ada.note(Kind::Decision, "Keep them for a week");
    ada.note(Kind::Question, "Per client?");
    ada.note(Kind::Progress, "begun");
    ada.commit("ada");
    let (done, said) = git(&ada.at, &["merge", "-q", "--no-edit", "fix"]);
    assert!(done, "{said}");
    for _ in 0..2 {
        ada.sync();
        ada.shows(&[
            "**Decision**: Rotate them",
            "**Decision**: Grace of a day",
            "**Decision**: Keep them for a week",
            "Whose clock?",
            "Per client?",
            "by hand, and Bob's.",
            "**Reasoning State**",
            page::END,
        ]);
    }
    let read = page::read(&ada.page());
    assert_eq!((read.decisions.len(), read.items.len()), (3, 2), "{}", ada.page());
    assert!(read.decisions.iter().all(|entry| entry.lines.len() == 3), "{}", ada.page());
    let bobs = ada.notes().into_iter().find(|note| note.text == "Grace of a day").unwrap();
    assert_eq!(bobs.source.and_then(|source| source.author).as_deref(), Some("bob"));
}

#[test]
fn a_page_that_both_branches_began_becomes_one() {
    let (_dir, ada) = ada();
    let path = ada.at.with_file_name("payments-fix");
    ada.git(&["worktree", "add", "-q", "-b", "fix", path.to_str().unwrap()]);
    let bob = Person { home: ada.home.with_file_name("bob"), ..ada.elsewhere("payments-fix") };
    bob.trusts();
    bob.note(Kind::Decision, "Grace of a day");
    bob.note(Kind::Question, "Whose clock?");
    bob.commit("bob");
    ada.note(Kind::Decision, "Rotate them");
    ada.note(Kind::Question, "Per client?");
    ada.commit("ada");
    let (done, said) = git(&ada.at, &["merge", "-q", "--no-edit", "fix"]);
    assert!(done, "{said}");
    ada.sync();
    ada.shows(&[
        "**Decision**: Grace of a day",
        "**Decision**: Rotate them",
        "Whose clock?",
        "Per client?",
    ]);
    assert_eq!(ada.page().matches("## Session Continuity").count(), 1, "{}", ada.page());
    assert_eq!(ada.page().matches("### Decision Log").count(), 1, "{}", ada.page());
    by_hand_is_whole(&ada);
}

#[test]
fn two_people_who_take_turns_keep_each_others_notes_with_date_title_and_author() {
    let (_dir, ada) = ada();
    let bob = Person { home: ada.home.with_file_name("bob"), at: ada.at.clone() };
    ada.note(Kind::Decision, "Rotate them");
    ada.note(Kind::NextStep, "clock skew");
    ada.edit(
        "### Decision Log\n",
        "### Decision Log\n\n#### 2024-01-15T14:30:00Z - Decision Title\n**Decision**: What we decided\n",
    );
    ada.sync();
    let page = ada.page();
    bob.trusts();
    bob.sync();
    assert_eq!(bob.page(), page, "another's page is not written over");
    let notes = bob.notes();
    assert_eq!(notes.len(), 3);
    let decided = notes.iter().find(|note| note.text == "What we decided").unwrap();
    let source = decided.source.clone().unwrap();
    assert_eq!(
        (source.origin, source.title.as_deref()),
        (Origin::Elsewhere, Some("Decision Title"))
    );
    assert_eq!(decided.at.to_string(), "2024-01-15T14:30:00Z");
    let rotate = notes.iter().find(|note| note.text == "Rotate them").unwrap();
    assert_eq!(rotate.source.clone().unwrap().author.as_deref(), Some("ada"));
    assert_eq!(rotate.id, ada.notes().iter().find(|note| note.text == "Rotate them").unwrap().id);
    // Bob does what was Ada's to do, and changes what she decided: she learns of both.
    bob.edit("- [ ] clock skew", "- [x] clock skew");
    bob.edit("**Decision**: What we decided", "**Decision**: What Bob decided");
    bob.note(Kind::Question, "Whose clock?");
    ada.sync();
    let texts: Vec<String> = ada.notes().into_iter().map(|note| note.text).collect();
    assert!(texts.contains(&"done: clock skew".to_owned()), "{texts:?}");
    assert!(!texts.contains(&"clock skew".to_owned()), "{texts:?}");
    assert!(texts.contains(&"What Bob decided".to_owned()), "{texts:?}");
    assert!(!texts.contains(&"What we decided".to_owned()), "{texts:?}");
    ada.shows(&["Whose clock?", "What Bob decided", "**Decision**: Rotate them", "Decision Title"]);
    by_hand_is_whole(&ada);
}

#[test]
fn a_clone_takes_in_what_it_does_not_know_and_leaves_the_page_as_it_is() {
    let (dir, ada) = ada();
    ada.note(Kind::Decision, "Rotate them");
    ada.note(Kind::Question, "Per client?");
    ada.commit("notes");
    let bob = Person::new(&dir, "bob", "clone");
    let (done, said) = git(dir.path(), &["clone", "-q", ada.at.to_str().unwrap(), "clone"]);
    assert!(done, "{said}");
    let page = bob.page();
    assert_eq!(bob.sync().taken_in, 0, "nobody has said yes to it");
    bob.trusts();
    assert_eq!(bob.sync().taken_in, 2);
    assert_eq!(bob.page(), page);
    bob.note(Kind::Question, "Whose clock?");
    bob.commit("bob");
    ada.git(&["pull", "-q", "--no-edit", bob.at.to_str().unwrap(), "main"]);
    ada.sync();
    for person in [&ada, &bob] {
        person.shows(&["**Decision**: Rotate them", "Per client?", "Whose clock?"]);
        by_hand_is_whole(person);
        assert_eq!(person.notes().len(), 3);
    }
}

#[test]
fn a_directory_that_was_moved_keeps_its_page_and_what_was_taken_off_it() {
    let (_dir, ada) = ada();
    ada.note(Kind::Decision, "Rotate them");
    ada.note(Kind::Question, "Per client?");
    let moved = ada.elsewhere("billing");
    fs::rename(&ada.at, &moved.at).unwrap();
    moved.sync();
    moved.shows(&["**Decision**: Rotate them", "Per client?"]);
    moved.take_off("Per client?");
    moved.note(Kind::Question, "Whose clock?");
    moved.shows(&["**Decision**: Rotate them", "Whose clock?"]);
    by_hand_is_whole(&moved);
}

#[test]
fn a_rebase_is_left_alone_and_loses_nothing() {
    let (_dir, ada) = ada();
    ada.note(Kind::Decision, "Rotate them");
    ada.commit("notes");
    ada.git(&["checkout", "-q", "-b", "topic", "HEAD~1"]);
    fs::write(ada.at.join("code"), "one\n").unwrap();
    ada.commit("topic");
    ada.git(&["checkout", "-q", "main"]);
    fs::write(ada.at.join("code"), "two\n").unwrap();
    ada.commit("main");
    ada.git(&["checkout", "-q", "topic"]);
    ada.note(Kind::Question, "Per client?");
    ada.commit("topic notes");
    let (done, _) = git(&ada.at, &["rebase", "main"]);
    assert!(!done, "the rebase stops at a conflict");
    let page = ada.page();
    let synced = ada.sync();
    assert!(synced.left_alone.unwrap().contains("rebase"));
    assert_eq!(ada.page(), page);
    fs::write(ada.at.join("code"), "both\n").unwrap();
    ada.git(&["add", "code"]);
    ada.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    ada.sync();
    ada.shows(&["**Decision**: Rotate them", "Per client?"]);
    by_hand_is_whole(&ada);
}

#[test]
fn a_page_with_conflict_markers_is_left_alone_and_named() {
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Per client?");
    let conflict = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> fix\n";
    ada.edit("## Mine", &format!("{conflict}## Mine"));
    let page = ada.page();
    let synced = ada.sync();
    assert!(synced.left_alone.unwrap().contains("conflict markers"));
    ada.note(Kind::Question, "Whose clock?");
    assert_eq!(ada.page(), page);
    ada.edit(conflict, "both\n");
    ada.sync();
    ada.shows(&["Per client?", "Whose clock?", "both\n"]);
}

#[test]
fn a_page_whose_lines_end_otherwise_keeps_them() {
    let (_dir, ada) = ada();
    let text = BY_HAND.replace('\n', "\r\n");
    fs::write(ada.at.join("NOTES.md"), &text).unwrap();
    ada.note(Kind::Decision, "Rotate them");
    ada.note(Kind::Question, "Per client?");
    let page = ada.page();
    assert_eq!(page.matches('\n').count(), page.matches("\r\n").count(), "{page:?}");
    let (before, behind) = text.split_at(text.find("## Mine").unwrap());
    assert!(page.starts_with(before) && page.ends_with(behind), "{page}");
    let written = page.clone();
    ada.sync();
    assert_eq!(ada.page(), written);
}

#[test]
fn a_secret_on_the_page_stays_there_and_is_taken_in_once_without_it() {
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Per client?");
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    ada.edit("### Active Sub-Goals\n", &format!("### Active Sub-Goals\n- [ ] rotate {secret}\n"));
    ada.sync();
    let count = ada.notes().len();
    ada.edit("Ours, by hand.", "Ours, by both hands.");
    ada.sync();
    assert_eq!(ada.notes().len(), count);
    ada.shows(&[&secret]);
    assert!(ada.notes().iter().all(|note| !note.text.contains(&secret)));
}

#[test]
fn what_a_person_warned_of_is_on_the_page_and_what_an_agent_found_is_not() {
    let (_dir, ada) = ada();
    ada.with(|keeper, ledger| {
        let scope = Scope::session(keeper.session.id, &keeper.session.repo);
        for (text, basis) in [("never touch legacy/", Some(Basis::UserInput)), ("flaky test", None)]
        {
            let id = NoteId::new(Uuid::new_v4());
            let note = NoteAdded { basis, ..NoteAdded::new(id, Kind::Warning, text) };
            ledger.append(keeper.here.clock.now(), scope, &note).unwrap();
        }
        keeper.sync(ledger).unwrap();
    });
    ada.shows(&["### Warnings\n", "- never touch legacy/ <!-- hl:"]);
    ada.shows_not("flaky test");
}

#[test]
fn what_other_programs_append_at_the_same_time_is_not_lost() {
    const LINES: usize = 400;
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Per client?");
    let path = ada.at.join("NOTES.md");
    let appending = std::thread::spawn(move || {
        for number in 0..LINES {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            file.write_all(format!("\nappended {number:04}").as_bytes()).unwrap();
        }
    });
    let mut asked = 0;
    while !appending.is_finished() {
        ada.note(Kind::NextStep, &format!("step {asked}"));
        asked += 1;
    }
    appending.join().unwrap();
    ada.sync();
    let page = ada.page();
    let lost: Vec<usize> =
        (0..LINES).filter(|n| !page.contains(&format!("appended {n:04}"))).collect();
    assert!(lost.is_empty(), "{lost:?} of {LINES} while {asked} steps were written");
}

#[test]
fn a_start_takes_in_a_few_of_many_entries_and_every_one_in_the_end_once() {
    const MANY: usize = 450;
    let (_dir, ada) = ada();
    ada.note(Kind::Question, "Per client?");
    let mut steps = String::new();
    for number in 0..MANY {
        writeln!(steps, "- [ ] step number {number}").unwrap();
    }
    ada.edit("### Active Sub-Goals\n", &format!("### Active Sub-Goals\n{steps}"));
    let mut taken = Vec::new();
    for _ in 0..4 {
        let synced = ada.with(|keeper, ledger| keeper.sync_at_start(ledger).unwrap());
        taken.push((synced.taken_in, synced.left));
    }
    assert_eq!(taken, [(200, 250), (200, 50), (50, 0), (0, 0)]);
    assert_eq!(ada.notes().len(), MANY + 1);
    let page = ada.page();
    assert_eq!(page.matches("step number ").count(), MANY);
}
