use heirloom_core::cost::Cost;
use heirloom_core::event::{NoteAdded, SessionAnnounced, SessionSpent};
use heirloom_core::note::{Origin, Source};
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, NoteFilter, Options, Scope};
use std::time::Duration;

use crate::fixture::{Home, REPO, at, created, fill, note, session_id};

#[test]
fn what_is_appended_is_there_for_the_next_process() {
    let home = Home::new();
    fill(&mut home.open(), 3);
    let ledger = home.open();
    let notes = ledger.notes(&NoteFilter::default()).unwrap();
    let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(texts, ["learning 0", "learning 1", "learning 2"]);
    let session = ledger.session(session_id(1)).unwrap().unwrap();
    assert_eq!((session.name.as_str(), session.learnings), ("auth-v1", 3));
    assert_eq!(session.config.as_ref().unwrap().model.as_deref(), Some("opus"));
}

#[test]
fn records_can_be_neither_changed_nor_deleted() {
    let home = Home::new();
    fill(&mut home.open(), 1);
    let db = rusqlite::Connection::open(home.file()).unwrap();
    for (sql, reason) in [
        ("UPDATE record SET body = '{}'", "records are never changed"),
        ("DELETE FROM record", "records are never deleted"),
        ("INSERT OR REPLACE INTO record SELECT * FROM record", "records are never replaced"),
        // By one key alone, in the place of another record.
        (
            "INSERT OR REPLACE INTO record (host, seq, id, at, kind, body, hash)
             SELECT 'ffffffffffffffff', 1, id, at, kind, body, hash FROM record LIMIT 1",
            "records are never replaced",
        ),
        (
            "INSERT OR REPLACE INTO record (arrival, host, seq, id, at, kind, body, hash)
             SELECT arrival, 'ffffffffffffffff', 1, 'x', at, kind, body, hash FROM record LIMIT 1",
            "records are never replaced",
        ),
    ] {
        let error = db.execute_batch(sql).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
}

#[test]
fn a_failed_piece_of_work_leaves_nothing() {
    let home = Home::new();
    let mut ledger = home.open();
    let scope = Scope::session(session_id(1), REPO);
    let failed = ledger.write(at(0), |writer| {
        writer.append(scope, &created("auth-v1"))?;
        writer.change_status(session_id(2), Status::Running, None)
    });
    assert!(matches!(failed, Err(Error::NoSession { .. })));
    assert_eq!(ledger.session(session_id(1)).unwrap(), None);
    fill(&mut ledger, 1);
    assert!(ledger.verify().unwrap().ok);
}

#[test]
fn an_illegal_change_of_status_is_refused_and_not_recorded() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 0);
    let mut change = |status| ledger.write(at(2), |w| w.change_status(session_id(1), status, None));
    change(Status::Running).unwrap();
    change(Status::Completed).unwrap();
    let refused = change(Status::WaitingInput).unwrap_err();
    assert_eq!(refused.to_string(), "a session that is completed cannot become waiting for you");
    let session = ledger.session(session_id(1)).unwrap().unwrap();
    assert_eq!((session.status, session.completed_at), (Status::Completed, Some(at(2))));
    assert_eq!(ledger.trajectory(session_id(1)).unwrap().len(), 3);
}

#[test]
fn being_archived_does_not_change_when_a_session_ended() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 0);
    for (second, status) in [(2, Status::Failed), (9, Status::Archived), (12, Status::Interrupted)]
    {
        ledger.write(at(second), |w| w.change_status(session_id(1), status, None)).unwrap();
        let session = ledger.session(session_id(1)).unwrap().unwrap();
        assert_eq!((session.status, session.completed_at), (status, Some(at(2))));
    }
    ledger.write(at(20), |w| w.change_status(session_id(1), Status::Running, None)).unwrap();
    assert_eq!(ledger.session(session_id(1)).unwrap().unwrap().completed_at, None);
}

#[test]
fn an_announced_id_and_what_was_spent_end_up_in_the_session() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 0);
    let scope = Scope::session(session_id(1), REPO);
    let announced = SessionAnnounced {
        agent_session_id: "ses_1".to_owned(),
        model: Some("claude-opus-5-5".to_owned()),
        agent: None,
    };
    ledger.append(at(1), scope, &announced).unwrap();
    let spend = |ledger: &mut Ledger, cost_usd| {
        let spent = SessionSpent { cost_usd, input_tokens: 10, output_tokens: 2 };
        ledger.append(at(2), scope, &spent).unwrap();
        ledger.session(session_id(1)).unwrap().unwrap()
    };
    assert_eq!(ledger.session(session_id(1)).unwrap().unwrap().cost, Cost::Unknown);
    spend(&mut ledger, Some(0.25));
    let session = spend(&mut ledger, Some(0.5));
    assert_eq!(session.agent_session_id.as_deref(), Some("ses_1"));
    assert_eq!(session.config.as_ref().unwrap().resolved_model.as_deref(), Some("claude-opus-5-5"));
    assert_eq!(session.config.as_ref().unwrap().model.as_deref(), Some("opus"));
    assert_eq!(session.cost, Cost::Known(0.75));
    assert_eq!(spend(&mut ledger, None).cost, Cost::AtLeast(0.75));
    // As older records say it of an agent that does not tell what it costs.
    assert_eq!(spend(&mut ledger, Some(0.0)).cost, Cost::AtLeast(0.75));
}

#[test]
fn a_note_that_replaces_another_hides_it() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 1);
    let mut newer = note(200, "learning 0, corrected");
    newer.supersedes = Some(note(100, "").id);
    ledger.append(at(3), Scope::session(session_id(1), REPO), &newer).unwrap();
    let now = ledger.notes(&NoteFilter::default()).unwrap();
    assert_eq!(
        now.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(),
        ["learning 0, corrected"]
    );
    let all = ledger.notes(&NoteFilter { superseded: true, ..NoteFilter::default() }).unwrap();
    assert_eq!(all[0].superseded_by, Some(newer.id));
}

#[test]
fn a_writer_that_waits_too_long_says_so() {
    let home = Home::new();
    fill(&mut home.open(), 0);
    let holder = rusqlite::Connection::open(home.file()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let options = Options { wait: Duration::from_millis(50), ..Options::HOOK };
    let mut ledger = heirloom_ledger::Ledger::open(home.path(), options).unwrap();
    let scope = Scope::session(session_id(1), REPO);
    let error = ledger.append(at(1), scope, &note(1, "late")).unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert!(error.to_string().starts_with("another process has been writing to the ledger at "));
    holder.execute_batch("COMMIT").unwrap();
    ledger.append(at(1), scope, &note(1, "late")).unwrap();
}

#[test]
fn no_secret_gets_into_the_ledger_in_any_kind_of_record() {
    let home = Home::new();
    let mut ledger = home.open();
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "x7Kq2mVb9RtYw4ZpLs8NdHc3FgJa6QeUiO1k");
    let mut session = created("auth-v1");
    session.config.append_system_prompt = Some(format!("push with {secret}"));
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(0), scope, &session).unwrap();
    let mut told = note(1, &format!("the token {secret} works"));
    told.rationale = Some(format!("GITHUB_TOKEN={secret}"));
    ledger.append(at(1), scope, &told).unwrap();
    let reason = Some(format!("refused: {secret}"));
    ledger.write(at(2), |w| w.change_status(session_id(1), Status::Failed, reason)).unwrap();
    drop(ledger);
    for name in home.files() {
        let bytes = std::fs::read(home.path().join(&name)).unwrap();
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{name} holds the secret");
    }
    let notes = home.open().notes(&NoteFilter::default()).unwrap();
    assert_eq!(notes[0].text, "the token [redacted:github-token] works");
}

#[test]
fn of_many_records_in_one_transaction_none_keeps_a_secret_and_all_are_written_alike() {
    let home = Home::new();
    let mut ledger = home.open();
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "x7Kq2mVb9RtYw4ZpLs8NdHc3FgJa6QeUiO1k");
    let scope = Scope::session(session_id(1), REPO);
    let bodies: Vec<String> = ledger
        .write::<_, Error>(at(0), |writer| {
            writer.append(scope, &created("auth-v1"))?;
            (0..40)
                .map(|n| {
                    let secret = if n % 7 == 6 { secret.as_str() } else { "nothing" };
                    writer
                        .append(scope, &note(n, &format!("told {secret} at 10:30")))
                        .map(|r| r.body)
                })
                .collect()
        })
        .unwrap();
    assert!(bodies.iter().all(|body| !body.contains(&secret)));
    assert_eq!(bodies.iter().filter(|body| body.contains("[redacted:github-token]")).count(), 5);
    let keys = |body: &String| -> Vec<String> {
        let body: serde_json::Map<String, serde_json::Value> = serde_json::from_str(body).unwrap();
        body.keys().cloned().collect()
    };
    assert!(bodies.iter().all(|body| keys(body) == keys(&bodies[0])));
    assert_eq!(ledger.notes(&NoteFilter::default()).unwrap().len(), 40);
    // What the views hold now is what they would be derived as.
    ledger.rebuild().unwrap();
    assert_eq!(ledger.notes(&NoteFilter::default()).unwrap().len(), 40);
}

#[test]
fn a_note_keeps_its_own_date_title_and_author_but_none_that_is_still_to_come() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 0);
    let scope = Scope::session(session_id(1), REPO);
    let from = |said| Source {
        origin: Origin::Elsewhere,
        at: Some(said),
        title: Some("Refresh".to_owned()),
        author: Some("Ada".to_owned()),
        proposed_by: None,
    };
    for (n, said) in [(700, at(2)), (701, at(99))] {
        let added = NoteAdded { source: Some(from(said)), ..note(n, "rotate") };
        ledger.append(at(5), scope, &added).unwrap();
    }
    let notes = ledger.notes(&NoteFilter::default()).unwrap();
    let dates: Vec<_> = notes.iter().map(|note| note.at).collect();
    assert_eq!(dates, [at(2), at(5)]);
    assert_eq!(notes[0].source, Some(from(at(2))));
}
