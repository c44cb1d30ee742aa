//! Forgetting a session while everything that can end it does, and what others keep.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use heirloom_core::event::{IterationEnded, IterationStarted, RunInherited};
use heirloom_core::id::SessionId;
use heirloom_core::inherit::Inherited;
use heirloom_core::note::Kind;
use heirloom_core::session::Session;
use heirloom_ledger::{Facts, NoteFilter, Scope};
use heirloom_repo::FileError;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

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

/// The text of a session as it is kept.
fn kept(place: &Place, session: SessionId) -> String {
    let archive = capture::Archive::new(&place.here.home);
    let kept = archive.of_session(session).pop().unwrap();
    String::from_utf8(archive.read(&kept).unwrap()).unwrap()
}

/// Forgets a session, as its owner.
fn forget(place: &mut Place, session: &Session) -> capture::Forgotten {
    capture::forget(&place.here.clone(), &mut place.ledger, session).unwrap()
}

/// A session that was told of an earlier one, and that one.
fn told_of_another(place: &mut Place) -> (Session, Conversation) {
    let first = Conversation::new(9).prompt(&format!("mend the {CANARY} of the pump, please"));
    let session = place.known(first.id.parse().unwrap(), "first", None);
    first.take_in(place);
    let later = Conversation::new(10);
    let other = place.known(later.id.parse().unwrap(), "later", None);
    let brief = place.start(&other, Fresh::Startup).unwrap();
    assert!(brief.contains(CANARY), "{brief}");
    (session, later.say(&brief).prompt("and paint the pump in green"))
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
    let text = kept(&place, other.id);
    assert!(text.contains("hello there") && text.contains("further"), "{text}");
}

#[test]
fn a_copy_of_a_conversation_that_was_told_does_not_bring_the_words_back() {
    let mut place = place();
    let (session, later) = told_of_another(&mut place);
    later.take_in(&place);
    assert!(!forget(&mut place, &session).already);
    for fork in [later.forked(), later.forked().forked()] {
        let fork = fork.prompt("and the door as well");
        let id = fork.take_in(&place);
        fs::remove_file(place.dir.path().join(format!("{id}.jsonl"))).unwrap();
        let text = kept(&place, id);
        assert!(text.contains("and paint the pump") && text.contains("the door as well"), "{text}");
    }
    assert_eq!(found(&place.here.home), Vec::<PathBuf>::new());
    assert!(forget(&mut place, &session).already);
}

#[test]
fn a_copy_of_a_conversation_that_was_forgotten_is_not_taken_in() {
    let mut place = place();
    let first = Conversation::new(9).prompt(&format!("mend the {CANARY} of the pump, please"));
    let session = place.known(first.id.parse().unwrap(), "first", None);
    first.take_in(&place);
    forget(&mut place, &session);
    let fork = first.forked().prompt("and on with it").take_in(&place);
    assert!(capture::is_forgotten(&place.here.home, fork));
    assert_eq!(found(&place.here.home), Vec::<PathBuf>::new());
}

#[test]
fn what_began_after_a_session_was_forgotten_is_its_own() {
    let mut place = place();
    let said = format!("the pump is called {CANARY} by everybody here");
    let session = place.session("first", None);
    place.note(&session, Kind::Decision, &said);
    forget(&mut place, &session);
    let mut later = Conversation::new(9).prompt(&said);
    later.date_all("2126-01-01T08:00:00Z");
    assert!(kept(&place, later.take_in(&place)).contains(CANARY));
}

#[test]
fn what_a_session_said_itself_after_another_was_forgotten_stays_when_its_file_is_read_anew() {
    let mut place = place();
    let (session, later) = told_of_another(&mut place);
    let said = format!("the pump is called {CANARY} by everybody here");
    place.note(&session, Kind::Decision, &said);
    let later = later.say(&said);
    let id = later.take_in(&place);
    forget(&mut place, &session);
    assert!(!kept(&place, id).contains(CANARY));
    // Another beginning of the same length, and at the end what the person typed since.
    let mut later = later.prompt(&format!("yes, {said}"));
    later.replace("paint the pump in green", "paint the pump in brown");
    later.take_in(&place);
    let text = kept(&place, id);
    assert!(text.contains("in brown") && text.contains(&format!("yes, {said}")), "{text}");
    assert_eq!(text.matches(CANARY).count(), 1, "{text}");
}

#[test]
fn facts_without_text_do_not_bring_the_words_back_either() {
    let mut place = place();
    let said = format!("the pump is called {CANARY} by everybody here");
    let (session, later) = told_of_another(&mut place);
    place.note(&session, Kind::Decision, &said);
    let later = later.bash("./ask", &format!("error: {said}"), true);
    let id = later.taken_in(&place, false);
    let errors = |place: &Place| {
        let facts = Facts::open(&place.here.home, Duration::from_secs(5)).unwrap();
        let all = facts.commands(id).unwrap().into_iter();
        all.filter_map(|command| command.error).collect::<String>()
    };
    assert!(errors(&place).contains(CANARY));
    forget(&mut place, &session);
    assert!(!errors(&place).contains(CANARY));
    let facts = ["facts.db", "facts.db-wal", "facts.db-shm"].map(|file| place.here.home.join(file));
    let _ = facts.map(|file| fs::remove_file(file).ok());
    later.taken_in(&place, false);
    assert!(errors(&place).starts_with("error: ****"), "{}", errors(&place));
}

#[test]
fn what_an_earlier_build_masked_stays_masked_when_a_file_is_read_anew() {
    let place = place();
    let later = Conversation::new(9).say("the moon is made of green cheese").prompt("paint it");
    let id = later.take_in(&place);
    let info = capture::Archive::new(&place.here.home).directory(id).join("transcript-1.json");
    let mut said: Value = serde_json::from_slice(&fs::read(&info).unwrap()).unwrap();
    // As that build wrote it of what the session says.
    said["masked"] =
        json!([{"begins": 43467, "length": 32, "hash": "b9701b24d6203065e5a33d2a36d5a9f5"}]);
    said.as_object_mut().unwrap().remove("masked_to");
    fs::write(&info, said.to_string()).unwrap();
    for colour in ["green", "brown"] {
        let mut again = later.clone();
        again.replace("paint it", &format!("paint it {colour}"));
        again.take_in(&place);
        let text = kept(&place, id);
        assert!(text.contains(colour) && !text.contains("moon is made"), "{text}");
    }
}

/// A hook reads no more than so much at once.
#[test]
fn what_stands_where_a_hook_stops_reading_is_masked_and_read_whole() {
    let mut place = place();
    let said = format!("the pump is called {CANARY} by everybody here");
    let session = place.session("first", None);
    place.note(&session, Kind::Decision, &said);
    forget(&mut place, &session);
    let later = Conversation::new(9).prompt("paint the pump").say(&said).prompt("in green");
    let cut = later.text().find(CANARY).unwrap() as u64 + 5;
    let id = later.read_by(&place, true, cut);
    assert!(!kept(&place, id).contains(&CANARY[..5]));
    later.read_by(&place, true, u64::MAX);
    let text = kept(&place, id);
    assert!(!text.contains(&CANARY[..5]) && text.len() == later.text().len(), "{text}");
    let facts = Facts::open(&place.here.home, Duration::from_secs(5)).unwrap();
    let turns = facts.turns(id).unwrap();
    let texts: Vec<&str> = turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!(texts, ["paint the pump", "in green"]);
}

/// All that a hook reads may be within the first line.
#[test]
fn a_transcript_whose_first_line_a_hook_could_not_read_whole_was_not_rewritten() {
    let place = place();
    let long = Conversation::new(9).prompt("paint the pump").say("in green");
    let archived = |id| capture::Archive::new(&place.here.home).of_session(id);
    let id = long.read_by(&place, true, 10);
    assert!(archived(id).iter().all(|kept| kept.bytes == 0));
    long.read_by(&place, true, u64::MAX);
    let generations: Vec<u64> = archived(id).iter().map(|kept| kept.generation).collect();
    assert_eq!(generations, [1]);
    assert_eq!(kept(&place, id), long.text());
}

/// What a later session began with, after an earlier one that noted `said` is forgotten. A third one noted `own`.
fn left_of(block: &Value, said: &[&str], own: &str) -> Value {
    let mut place = place();
    let session = place.session("first", None);
    for said in said {
        place.note(&session, Kind::Decision, said);
    }
    let (second, third) = (place.session("second", None), place.session("third", None));
    place.note(&second, Kind::Decision, own);
    let scope = Scope::session(third.id, &third.repo);
    let inherited: Inherited = serde_json::from_value(block.clone()).unwrap();
    let began = RunInherited { inherited, stage: None };
    place.ledger.append(place.here.clock.now(), scope, &began).unwrap();
    forget(&mut place, &session);
    let kept = place.ledger.kept::<RunInherited>(&third.repo, &third.id.to_string()).unwrap();
    let left = kept.expect("what it began with is never lost").body.inherited;
    serde_json::to_value(left).unwrap()
}

#[test]
fn a_block_keeps_where_its_texts_come_from_though_a_forgotten_line_says_the_same() {
    let said = "src/auth.rs\nverified\ndecisions\ntext\nlearning\ncanary";
    let note = json!({"kind": "learning", "text": "pumps are green", "from_session": "second",
        "evidence": [{"path": "src/auth.rs", "line": 1, "verdict": "verified"}]});
    let block = json!({"from_session": "second", "lineage": ["second"], "decisions": ["canary"],
        "learnings": ["pumps are green"], "notes": [note]});
    // By itself and as long as that, one is known everywhere.
    let left = left_of(&block, &[said, "progress_summary", "from_completed_at"], "");
    assert_eq!(left["learnings"], json!(["pumps are green"]));
    assert_eq!((&left["decisions"], &left["notes"]), (&json!([]), &json!([note])));
}

#[test]
fn a_short_line_that_another_session_noted_itself_stays_in_what_others_inherit() {
    let block = json!({"from_session": "second", "decisions": ["use tabs", "use spades"]});
    for own in ["use tabs", "for all of it:\n- use tabs"] {
        let left = left_of(&block, &["as everybody does:\nuse tabs\nuse spades"], own);
        assert_eq!(left["decisions"], json!(["use tabs"]), "{own}");
    }
}

#[test]
fn nothing_goes_while_a_file_cannot_be_masked_and_everything_once_it_can() {
    let (mut place, session, other) = scene();
    let archive = capture::Archive::new(&place.here.home);
    let text = archive.directory(other.id).join("transcript-1.zst");
    let whole = fs::read(&text).unwrap();
    fs::write(&text, "damaged").unwrap();
    let failed = capture::forget(&place.here.clone(), &mut place.ledger, &session);
    assert!(failed.unwrap_err().to_string().contains("transcript-1.zst"));
    assert!(kept(&place, session.id).contains(CANARY), "what tells the words is still there");
    assert_eq!(place.ledger.notes(&NoteFilter::default()).unwrap().len(), 1);
    fs::write(&text, whole).unwrap();
    forget(&mut place, &session);
    assert_eq!(found(&place.here.home), Vec::<PathBuf>::new());
}

#[test]
fn what_can_be_read_of_a_torn_stream_is_masked() {
    let (mut place, session, _) = scene();
    let stream = place.here.home.join("streams").join(format!("{}.jsonl.zst", Uuid::new_v4()));
    fs::create_dir_all(stream.parent().unwrap()).unwrap();
    let line = json!({"text": format!("the pump is called {CANARY} by everybody here")});
    let mut torn = zstd::encode_all(format!("{line}\n").as_bytes(), 3).unwrap();
    torn.extend(&zstd::encode_all(&b"and on and on"[..], 3).unwrap()[..9]);
    fs::write(&stream, torn).unwrap();
    forget(&mut place, &session);
    let text = zstd::decode_all(&fs::read(&stream).unwrap()[..]).unwrap();
    assert!(String::from_utf8(text).unwrap().starts_with("{\"text\":\"****"));
    assert_eq!(found(&place.here.home), Vec::<PathBuf>::new());
}

#[test]
fn how_a_second_attempt_ended_is_still_how_it_ended_after_the_first_one_is_masked() {
    let (mut place, session, other) = scene();
    let scope = Scope::session(other.id, &other.repo);
    let at = |second: i64| Timestamp::from_second(1_768_000_010 + second).unwrap();
    let started = json!({"stage": "work", "iteration": 1});
    let started: IterationStarted = serde_json::from_value(started).unwrap();
    let ended = json!({"stage": "work", "iteration": 1, "outcome": "failed", "summary": "no luck"});
    let ended: IterationEnded = serde_json::from_value(ended).unwrap();
    place.ledger.append(at(0), scope, &started).unwrap();
    place.ledger.append(at(1), scope, &ended).unwrap();
    forget(&mut place, &session);
    let iteration = place.ledger.iterations(other.id).unwrap().remove(0);
    assert_eq!(iteration.summary.as_deref(), Some("no luck"));
    assert_eq!((iteration.started_at, iteration.ended_at), (at(0), Some(at(1))));
}
