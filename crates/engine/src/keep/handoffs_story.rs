//! Sessions in which nobody notes anything hand over all the same, and what they said can be forgotten.

use std::time::Duration;

use heirloom_core::event::SessionLinked;
use heirloom_core::note::Kind;
use heirloom_core::session::{Link, Session};
use heirloom_ledger::{Facts, Scope};
use serde_json::json;

use super::day_story::Conversation;
use super::handoffs::{self, Cause, HandoffError};
use super::tests::{Place, place};

fn worked(place: &mut Place) -> Session {
    let red = "running 1 test\ntest parser::nested ... FAILED\nassertion failed: depth\n";
    let todos = json!({"todos": [
        {"content": "read the grammar", "status": "completed"},
        {"content": "limit the depth of nesting", "status": "pending"},
    ]});
    let day = Conversation::new(9)
        .prompt("make the parser accept nested lists, and never touch legacy/")
        .bash("cargo test -p parser", red, true)
        .tool("Edit", &json!({"file_path": "src/parser.rs"}), "done", false)
        .bash("git commit -am lists", "[main 1a2b3c4] parser: lists may nest", false)
        .tool("Edit", &json!({"file_path": "src/depth.rs"}), "done", false)
        .tool("TodoWrite", &todos, "ok", false)
        .prompt("now say how deep they may nest");
    let session = place.known(day.id.parse().unwrap(), "lists", None);
    day.take_in(place);
    session
}

fn write(place: &mut Place, session: &Session, cause: Cause) -> Option<String> {
    let (here, settings) = (place.here.clone(), place.settings.clone());
    let made = handoffs::write(&here, &mut place.ledger, &settings, session, cause).unwrap();
    made.map(|made| made.id)
}

#[test]
fn a_session_that_noted_nothing_hands_over_once_and_is_shown_in_its_own_words() {
    let mut place = place();
    let session = worked(&mut place);
    let id = write(&mut place, &session, Cause::Compact).unwrap();
    assert_eq!(write(&mut place, &session, Cause::End), None, "nothing is new");

    let shown = handoffs::show(&place.here, &place.ledger, Some(&id[..6])).unwrap();
    assert_eq!(shown.asked[0].as_deref(), Some("now say how deep they may nest"));
    assert_eq!(shown.commits, [("1a2b3c4".into(), Some("parser: lists may nest".into()))]);
    assert_eq!(shown.uncommitted, ["src/depth.rs"]);
    assert_eq!(shown.failing[0].as_ref().unwrap().0, "cargo test -p parser");
    assert_eq!(shown.todos, ["limit the depth of nesting"]);
    assert!(shown.laid_down[0].as_ref().unwrap().contains("never touch legacy/"));
    assert_eq!(shown.session.as_deref(), Some("lists"));
    let handoff = &shown.made.handoff;
    assert_eq!(handoff.trajectory_ref, Some(format!("ledger:{}", session.id)));
    assert_eq!(handoff.worked.as_ref().unwrap().tests_failing, 1);
}

#[test]
fn no_word_of_a_transcript_is_in_a_record_and_what_is_forgotten_is_not_shown() {
    let mut place = place();
    let session = worked(&mut place);
    write(&mut place, &session, Cause::End).unwrap();
    for record in place.ledger.trajectory(session.id).unwrap() {
        for word in ["nest", "legacy", "cargo", "grammar", "depth", "parser"] {
            assert!(!record.body.contains(word), "{word} in {}", record.body);
        }
    }
    let mut facts = Facts::open(&place.here.home, Duration::from_secs(5)).unwrap();
    facts.forget(session.id).unwrap();
    let shown = handoffs::show(&place.here, &place.ledger, None).unwrap();
    assert_eq!(shown.asked, [None, None]);
    assert_eq!(shown.commits, [("1a2b3c4".to_owned(), None)]);
    assert_eq!((shown.failing, shown.laid_down), (vec![None], vec![None]));
    assert_eq!(shown.todos, Vec::<String>::new());
}

#[test]
fn notes_and_facts_are_handed_over_together_and_switched_off_together() {
    let mut place = place();
    let session = worked(&mut place);
    place.note(&session, Kind::NextStep, "measure it");
    place.settings.checkpoint.mode = heirloom_core::settings::CheckpointMode::Off;
    assert_eq!(write(&mut place, &session, Cause::End), None);
    place.settings.checkpoint.mode = heirloom_core::settings::CheckpointMode::Warn;
    let first = write(&mut place, &session, Cause::Turn).unwrap();
    let shown = handoffs::show(&place.here, &place.ledger, Some(&first)).unwrap();
    assert_eq!(shown.notes[0].text, "measure it");
    place.note(&session, Kind::Decision, "sixteen deep");
    let second = write(&mut place, &session, Cause::Turn).unwrap();
    let shown = handoffs::show(&place.here, &place.ledger, Some(&second)).unwrap();
    assert_eq!(shown.made.previous, Some(first));

    let silent = place.session("silent", None);
    assert_eq!(write(&mut place, &silent, Cause::End), None);
    let unknown = handoffs::show(&place.here, &place.ledger, Some("zz"));
    assert!(matches!(unknown, Err(HandoffError::None { .. })));
}

#[test]
fn a_handoff_names_what_is_kept_though_that_is_to_be_read_again() {
    let mut place = place();
    let session = worked(&mut place);
    let db = rusqlite::Connection::open(place.here.home.join("facts.db")).unwrap();
    db.execute_batch("UPDATE source SET generation = 0").unwrap();
    drop(db);
    let id = write(&mut place, &session, Cause::End).unwrap();
    let shown = handoffs::show(&place.here, &place.ledger, Some(&id)).unwrap();
    let read = shown.made.handoff.worked.unwrap().read;
    assert_eq!(read.transcript, format!("archive:{}/transcript-1", session.id));
}

#[test]
fn what_is_forgotten_is_gone_though_a_file_cannot_be_made_anew() {
    let mut place = place();
    let session = worked(&mut place);
    let backup = place.here.home.join("backups").join("ledger-20260101T000000Z.db");
    std::fs::create_dir_all(backup.parent().unwrap()).unwrap();
    std::fs::write(&backup, "kept").unwrap();
    // What is sorted in a way that nobody knows cannot be made anew.
    let db = rusqlite::Connection::open(place.here.home.join("facts.db")).unwrap();
    db.execute_batch(
        "CREATE TABLE odd (a); CREATE INDEX by_a ON odd (a); PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = 'CREATE INDEX by_a ON odd (a COLLATE unknown)'
         WHERE name = 'by_a';",
    )
    .unwrap();
    drop(db);
    let failed = crate::capture::forget(&place.here, &mut place.ledger, &session);
    assert!(failed.is_err(), "{failed:?}");
    assert!(!backup.exists());
    let facts = Facts::open(&place.here.home, Duration::from_secs(5)).unwrap();
    assert_eq!(facts.turns(session.id).unwrap(), []);
}

#[test]
fn a_conversation_that_began_with_a_summary_is_forgotten_with_what_it_sums_up() {
    let mut place = place();
    let session = worked(&mut place);
    let day = Conversation::new(11).prompt("Summary: lists may nest, and legacy/ stays as it is");
    let next = place.known(day.id.parse().unwrap(), "next", None);
    let linked = SessionLinked { parent: session.id, link: Link::Compacted };
    let scope = Scope::session(next.id, &next.repo);
    place.ledger.append(place.here.clock.now(), scope, &linked).unwrap();
    day.take_in(&place);
    let turns = |place: &Place| {
        let facts = Facts::open(&place.here.home, Duration::from_secs(5)).unwrap();
        facts.turns(next.id).unwrap().len()
    };
    assert_eq!(turns(&place), 1);
    let gone = crate::capture::forget(&place.here, &mut place.ledger, &session).unwrap();
    assert_eq!(gone.continued, std::slice::from_ref(&next.name));
    assert_eq!(turns(&place), 0);
}
