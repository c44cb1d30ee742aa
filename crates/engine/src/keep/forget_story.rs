//! Forgetting a session while everything that can end it does, and what others keep.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use heirloom_core::event::{IterationEnded, IterationStarted, RunInherited};
use heirloom_core::inherit::Inherited;
use heirloom_core::note::Kind;
use heirloom_core::session::Session;
use heirloom_ledger::{Facts, Scope};
use heirloom_repo::FileError;
use jiff::Timestamp;
use serde_json::json;

use super::day_story::Conversation;
use super::deliver::Fresh;
use super::tests::{Place, place};
use crate::capture::{self, CaptureError, Manner, Wanted};

const CANARY: &str = "canaryinthecoalmine";

/// The files below a directory that hold the word, also compressed.
fn found(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(found(&path));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let plain = zstd::decode_all(&bytes[..]).unwrap_or_default();
        let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|at| at == CANARY.as_bytes());
        if holds(&bytes) || holds(&plain) {
            all.push(path);
        }
    }
    all
}

/// A session that said the word, and one that began with what it noted, was told of it, and ended an iteration with it.
fn scene() -> (Place, Session, Session) {
    let mut place = place();
    let said = format!("the pump is called {CANARY} by everybody here");
    let first = Conversation::new(9).prompt(&format!("mend the {CANARY} of the pump, please"));
    let session = place.known(first.id.parse().unwrap(), "first", None);
    first.take_in(&place);
    place.note(&session, Kind::Decision, &said);
    let later = Conversation::new(10);
    let other = place.known(later.id.parse().unwrap(), "later", None);
    let brief = place.start(&other, Fresh::Startup).unwrap();
    assert!(brief.contains(&format!("mend the {CANARY}")), "{brief}");
    later.say(&brief).prompt("and paint the pump in green").take_in(&place);
    let inherited = Inherited {
        from_session: "first".to_owned(),
        decisions: vec![said.clone(), "pumps are painted in green".to_owned()],
        ..Inherited::default()
    };
    let started = json!({"stage": "work", "iteration": 1});
    let started: IterationStarted = serde_json::from_value(started).unwrap();
    let ended = json!({"stage": "work", "iteration": 1, "outcome": "completed", "summary": said});
    let ended: IterationEnded = serde_json::from_value(ended).unwrap();
    let scope = Scope::session(other.id, &other.repo);
    let at = |second: i64| Timestamp::from_second(1_768_000_000 + second).unwrap();
    let began = RunInherited { inherited, stage: None };
    place.ledger.append(at(0), scope, &began).unwrap();
    place.ledger.append(at(1), scope, &started).unwrap();
    place.ledger.append(at(2), scope, &ended).unwrap();
    (place, session, other)
}

/// What a session began with.
fn began_with(place: &Place, session: &Session) -> Vec<String> {
    let kept = place.ledger.kept::<RunInherited>(&session.repo, &session.id.to_string());
    kept.unwrap().expect("what it began with is never lost").body.inherited.decisions
}

#[test]
fn whoever_is_ended_while_forgetting_loses_nothing_of_others_and_the_next_one_finishes() {
    let mut steps = vec!["none"];
    let mut is_first = true;
    while let Some(step) = steps.pop() {
        let (mut place, session, other) = scene();
        assert!(!found(&place.here.home).is_empty());
        let here = place.here.clone();
        let (mut met, mut count) = (Vec::new(), 0);
        let ended = capture::forget_telling(&here, &mut place.ledger, &session, &mut |done| {
            met.push(done);
            count += 1;
            if done == step {
                let source = io::ErrorKind::Interrupted.into();
                let error = FileError { doing: "end", path: here.home.clone(), source };
                return Err(CaptureError::File(error));
            }
            Ok(())
        });
        if is_first {
            assert_eq!(ended.unwrap().records, 1);
            assert!(count >= 10, "{met:?}");
            (steps, is_first) = (met, false);
        } else {
            assert!(ended.is_err(), "{step}");
            let left = began_with(&place, &other);
            assert!(left.contains(&"pumps are painted in green".to_owned()), "{step}: {left:?}");
            capture::forget(&here, &mut place.ledger, &session).unwrap();
        }
        assert_eq!(found(&place.here.home), Vec::<PathBuf>::new(), "ended after {step}");
        assert_eq!(began_with(&place, &other), ["pumps are painted in green"], "{step}");
        let iteration = place.ledger.iterations(other.id).unwrap().remove(0);
        assert_eq!(iteration.ended_at, Timestamp::from_second(1_768_000_002).ok(), "{step}");
        let facts = Facts::open(&here.home, Duration::from_secs(5)).unwrap();
        assert_eq!(facts.turns(other.id).unwrap()[0].text, "and paint the pump in green");
    }
}

#[test]
fn what_was_masked_does_not_come_back_when_a_conversation_is_printed_or_read_anew() {
    let mut place = place();
    let first = Conversation::new(9).prompt("mend the pump");
    let session = place.known(first.id.parse().unwrap(), "first", None);
    first.take_in(&place);
    let said = format!("the pump is called {CANARY} by everybody here");
    place.note(&session, Kind::Decision, &said);
    let other = place.session("later", None);
    let line = |text: &str| format!("{}\n", json!({"type": "text", "text": text}));
    let take = |place: &Place, printed: String| {
        let mut facts = Facts::open(&place.here.home, Duration::from_secs(5)).unwrap();
        let wanted = Wanted {
            session: other.id,
            agent: "opencode".to_owned(),
            agent_session_id: other.id.to_string(),
            subagent: None,
            repo: place.ledger.repository(&place.here.place.repo).unwrap(),
            path: place.dir.path().join("opencode.db"),
            printed: Some(printed.into_bytes()),
        };
        let manner =
            Manner { most: u64::MAX, wait: true, archive: true, now: place.here.clock.now() };
        capture::take(&place.here.home, &mut facts, &wanted, manner).unwrap();
    };
    take(&place, [line("hello"), line(&said), line("and on")].concat());
    capture::forget(&place.here.clone(), &mut place.ledger, &session).unwrap();
    assert_eq!(found(&place.here.home), Vec::<PathBuf>::new());
    // Another beginning, and more at the end.
    take(&place, [line("hello there"), line(&said), line("and on"), line("further")].concat());
    assert_eq!(found(&place.here.home), Vec::<PathBuf>::new());
    let archive = capture::Archive::new(&place.here.home);
    let kept = archive.of_session(other.id).pop().unwrap();
    let text = String::from_utf8(archive.read(&kept).unwrap()).unwrap();
    assert!(text.contains("hello there") && text.contains("further"), "{text}");
}
