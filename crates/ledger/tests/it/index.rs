//! The full-text index: literal queries, always up to date, never in the way.

use std::os::unix::fs::MetadataExt;

use heirloom_core::recall::Kind;
use heirloom_ledger::{Ledger, Message, Options, Scope, Search, Source};
use tempfile::TempDir;

use crate::fixture::{REPO, at, created, note, session_id};

fn ledger(home: &TempDir) -> Ledger {
    let mut ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(0), scope, &created("auth-v1")).unwrap();
    for (n, text) in [
        (1, "Rotate refresh tokens because of replay attacks"),
        (2, "The clock skew is thirty seconds"),
        (3, "Tokens are rotated; tokens expire; tokens"),
        (4, "say NOT \"this\" AND (that)* -rf"),
    ] {
        ledger.append(at(1), scope, &note(n, text)).unwrap();
    }
    ledger
}

fn found(ledger: &Ledger, text: &str) -> Vec<String> {
    let names = [REPO.to_owned()];
    let search = Search { text, repo: Some(&names), limit: 10, ..Search::default() };
    let hits = ledger.search(&search).unwrap().hits;
    let id = |hit: heirloom_ledger::Hit| {
        let session = hit.session.map(|session| session.to_string());
        hit.best().note.clone().or(session).unwrap()
    };
    hits.into_iter().map(id).collect()
}

fn id(n: u128) -> String {
    uuid::Uuid::from_u128(n).to_string()
}

#[test]
fn the_best_fit_comes_first_and_words_are_stemmed() {
    let home = TempDir::new().unwrap();
    let ledger = ledger(&home);
    assert_eq!(found(&ledger, "token"), [id(3), id(1)]);
    assert_eq!(found(&ledger, "rotation of replays")[0], id(1));
    assert_eq!(found(&ledger, "auth-v1"), [session_id(1).to_string()]);
    assert!(found(&ledger, "kangaroo").is_empty());
}

#[test]
fn one_session_is_searched_though_others_lie_between_its_pages() {
    let home = TempDir::new().unwrap();
    let mut ledger = ledger(&home);
    let other = Scope::session(session_id(2), REPO);
    ledger.append(at(2), other, &created("auth-v2")).unwrap();
    ledger.append(at(2), other, &note(5, "Tokens of another session")).unwrap();
    ledger
        .with_index(|index| {
            let mut adding = index.add()?;
            // What was said in the first session is known later than all that another says.
            for (number, times, text) in
                [(2, 6000, "tokens and more tokens"), (1, 1, "tokens again")]
            {
                let key = format!("said in {number}");
                let session = Some(session_id(number));
                adding.source(&Source { key, session, ..Source::default() })?;
                for _ in 0..times {
                    adding.message(&Message {
                        kind: Kind::Prompt,
                        at: None,
                        offset: 0,
                        text,
                        branch: None,
                        tool: None,
                        author: None,
                        paths: &[],
                        note: None,
                    })?;
                }
            }
            adding.finish()
        })
        .unwrap();
    let search =
        Search { text: "tokens", session: Some(session_id(1)), limit: 10, ..Search::default() };
    let hits = ledger.search(&search).unwrap().hits;
    assert_eq!(hits.len(), 3, "{hits:?}");
    assert!(hits.iter().all(|hit| hit.session == Some(session_id(1))), "{hits:?}");
}

#[test]
fn a_query_is_text_and_nothing_in_it_is_an_operator() {
    let home = TempDir::new().unwrap();
    let ledger = ledger(&home);
    for query in ["-rf", "\"this", "that)*", "NOT NEAR(", "col:that", "'; DROP TABLE entry; --that"]
    {
        assert!(found(&ledger, query).len() <= 4, "{query}");
    }
    assert_eq!(found(&ledger, "-rf"), [id(4)]);
    assert!(found(&ledger, "  *** ").is_empty());
}

#[test]
fn what_was_recorded_since_is_found_and_a_damaged_index_is_made_anew() {
    let home = TempDir::new().unwrap();
    let mut ledger = ledger(&home);
    assert!(found(&ledger, "kangaroo").is_empty());
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(2), scope, &note(9, "a kangaroo appeared")).unwrap();
    assert_eq!(found(&ledger, "kangaroo"), [id(9)]);
    std::fs::write(home.path().join("index.db"), "this is no database at all").unwrap();
    assert_eq!(found(&ledger, "kangaroo"), [id(9)]);
    assert_eq!(found(&ledger, "token").len(), 2);
}

#[test]
fn an_index_that_another_process_writes_is_left_as_it_is() {
    let home = TempDir::new().unwrap();
    drop(ledger(&home));
    let wait = std::time::Duration::from_millis(20);
    let mut ledger = Ledger::open(home.path(), Options { wait, ..Options::COMMAND }).unwrap();
    assert_eq!(found(&ledger, "clock").len(), 1);
    let scope = Scope::session(session_id(1), REPO);
    ledger.append(at(2), scope, &note(9, "a kangaroo appeared")).unwrap();
    let file = || std::fs::metadata(home.path().join("index.db")).unwrap().ino();
    let before = file();
    let other = rusqlite::Connection::open(home.path().join("index.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let names = [REPO.to_owned()];
    let search = Search { text: "kangaroo", repo: Some(&names), limit: 10, ..Search::default() };
    let refused = ledger.search(&search).unwrap_err();
    assert!(matches!(refused, heirloom_ledger::Error::Busy { .. }), "{refused}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(found(&ledger, "kangaroo"), [id(9)]);
    assert_eq!(file(), before, "the index was made anew");
}

#[test]
fn an_index_that_lacks_a_table_is_made_anew() {
    let home = TempDir::new().unwrap();
    let ledger = ledger(&home);
    assert_eq!(found(&ledger, "clock").len(), 1);
    let other = rusqlite::Connection::open(home.path().join("index.db")).unwrap();
    other.execute_batch("DROP TABLE progress").unwrap();
    drop(other);
    assert_eq!(found(&ledger, "clock").len(), 1);
}

/// A conversation of its own, with what was said in it.
fn talk(ledger: &Ledger, session: u128, said: &[(Kind, &str)]) {
    let source = Source {
        key: format!("test:{session}"),
        session: Some(session_id(session)),
        agent: Some("claude".to_owned()),
        repo: Some(REPO.to_owned()),
        branch: Some("main".to_owned()),
    };
    ledger
        .with_index(|index| {
            let mut adding = index.add()?;
            adding.source(&source)?;
            for (place, (kind, text)) in said.iter().enumerate() {
                adding.message(&Message {
                    kind: *kind,
                    at: Some(at(place.try_into().unwrap())),
                    offset: 100 * place as u64,
                    text,
                    branch: None,
                    tool: (*kind == Kind::ToolUse).then_some("Bash"),
                    author: None,
                    paths: &["src/auth/token.rs".to_owned()],
                    note: None,
                })?;
            }
            adding.stamp("12", None)?;
            adding.finish()
        })
        .unwrap();
}

fn sessions(ledger: &Ledger, search: &Search<'_>) -> Vec<u128> {
    let hits = ledger.search(search).unwrap().hits;
    hits.iter()
        .map(|hit| hit.key.strip_prefix("test:").map_or(0, |id| id.parse().unwrap()))
        .collect()
}

fn said(text: &str) -> Search<'_> {
    Search { text, limit: 10, ..Search::default() }
}

fn talks(home: &TempDir) -> Ledger {
    let ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
    talk(&ledger, 1, &[(Kind::Prompt, "Add getUser to the API"), (Kind::Answer, "It is done")]);
    talk(&ledger, 2, &[(Kind::ToolUse, "cargo test sqlite"), (Kind::ToolResult, "2 passed")]);
    talk(&ledger, 3, &[(Kind::Prompt, "Deploy to production"), (Kind::Answer, "kept for 30 days")]);
    ledger
}

#[test]
fn a_guess_at_what_was_meant_counts_less_than_what_was_asked() {
    let home = TempDir::new().unwrap();
    let ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
    // Each has one word of the question, as rare as the other's: only the first is surely meant.
    talk(&ledger, 1, &[(Kind::Prompt, "a violin is lost")]);
    talk(&ledger, 2, &[(Kind::Prompt, "a sqlite is lost")]);
    assert_eq!(sessions(&ledger, &said("sqllite violin")), [1, 2]);
}

#[test]
fn identifiers_beginnings_and_slips_are_found() {
    let home = TempDir::new().unwrap();
    let ledger = talks(&home);
    for spelled in ["getUser", "get_user", "get user", "GETUSER"] {
        assert_eq!(sessions(&ledger, &said(spelled)), [1], "{spelled}");
    }
    for beginning in ["prod", "prod*", "produc"] {
        assert_eq!(sessions(&ledger, &said(beginning)), [3], "{beginning}");
    }
    let slip = ledger.search(&said("sqllite")).unwrap();
    assert_eq!(slip.hits.len(), 1);
    assert_eq!(slip.instead, [("sqllite".to_owned(), "sqlite".to_owned())]);
    let nothing = ledger.search(&said("kangaroo")).unwrap();
    assert!(nothing.hits.is_empty());
    assert_eq!(nothing.unknown, ["kangaroo"]);
}

#[test]
fn what_a_message_is_can_be_asked_for_beside_its_words() {
    let home = TempDir::new().unwrap();
    let ledger = talks(&home);
    let only = |search: Search<'_>| sessions(&ledger, &search);
    assert_eq!(only(Search { tool: Some("bash"), ..said("sqlite") }), [2]);
    assert!(only(Search { tool: Some("Edit"), ..said("sqlite") }).is_empty());
    assert_eq!(only(Search { role: Some("user"), ..said("production") }), [3]);
    assert!(only(Search { role: Some("tool"), ..said("production") }).is_empty());
    assert_eq!(only(Search { path: Some("token.rs"), ..said("production") }), [3]);
    assert_eq!(only(Search { path: Some("src/auth/"), ..said("production") }), [3]);
    assert!(only(Search { path: Some("src/other"), ..said("production") }).is_empty());
    assert!(only(Search { agent: Some("codex"), ..said("production") }).is_empty());
    assert!(only(Search { branch: Some("other"), ..said("production") }).is_empty());
    assert_eq!(only(Search { session: Some(session_id(3)), ..said("production sqlite") }), [3]);
    let kinds = ["tool_result".to_owned()];
    assert_eq!(only(Search { kinds: &kinds, ..said("passed production") }), [2]);
    let elsewhere = ["path:/other".to_owned()];
    assert!(only(Search { repo: Some(&elsewhere), ..said("production") }).is_empty());
    assert!(only(Search { since: Some(at(99)), ..said("production") }).is_empty());
    assert_eq!(only(Search { until: Some(at(99)), ..said("production") }), [3]);
}

#[test]
fn a_quote_is_looked_for_in_the_text_of_what_has_its_words() {
    let home = TempDir::new().unwrap();
    let ledger = talks(&home);
    let ask = |holds: bool| {
        let found = ledger.with_index(|index| {
            index.search(&said("\"kept for 30 days\""), &|candidate| {
                assert_eq!((candidate.key, candidate.passage.offset), ("test:3", 100));
                holds
            })
        });
        found.unwrap_or_else(|error: heirloom_ledger::Error| panic!("{error}")).hits.len()
    };
    assert_eq!((ask(true), ask(false)), (1, 0));
}

#[test]
fn a_session_that_is_forgotten_leaves_no_word_in_the_file() {
    let home = TempDir::new().unwrap();
    let ledger = talks(&home);
    talk(
        &ledger,
        4,
        &[(Kind::Prompt, "the zyzzyva incident"), (Kind::Answer, "about quokkas, in production")],
    );
    // A text that was written anew: what it said before is still forgotten with the session.
    ledger.with_index(|index| index.put_away("test:4")).unwrap();
    assert!(sessions(&ledger, &said("zyzzyva")).is_empty());
    talk(&ledger, 4, &[(Kind::Prompt, "the zyzzyva affair")]);
    assert_eq!(sessions(&ledger, &said("zyzzyva")), [4]);
    ledger.with_index(|index| index.forget(session_id(4), &[])).unwrap();
    assert!(sessions(&ledger, &said("zyzzyva")).is_empty());
    assert_eq!(sessions(&ledger, &said("production")), [3], "what others said is still found");
    drop(ledger);
    for file in std::fs::read_dir(home.path()).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap();
        for word in ["zyzzyva", "yzzyva", "quokka"] {
            let has = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            assert!(!has, "{word} is in {:?}", file.file_name());
        }
    }
}

#[test]
fn however_many_sessions_are_forgotten_at_once_the_file_is_made_anew_once() {
    let home = TempDir::new().unwrap();
    let ledger = talks(&home);
    for number in 4..8 {
        talk(&ledger, number, &[(Kind::Prompt, "the zyzzyva incident")]);
    }
    let made = || {
        let index = rusqlite::Connection::open(home.path().join("index.db")).unwrap();
        // Counted up whenever the file is made anew.
        index.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0)).unwrap()
    };
    let before = made();
    let continued = [5, 6, 7].map(session_id);
    ledger.with_index(|index| index.forget(session_id(4), &continued)).unwrap();
    assert_eq!(made(), before + 1);
    assert!(sessions(&ledger, &said("zyzzyva")).is_empty());
    assert_eq!(sessions(&ledger, &said("production")), [3]);
}

#[test]
fn a_conversation_that_grows_is_one_and_a_long_one_has_several_pages() {
    let home = TempDir::new().unwrap();
    let ledger = Ledger::open(home.path(), Options::COMMAND).unwrap();
    let long: Vec<(Kind, &str)> = vec![(Kind::Answer, "the same again"); 5000];
    talk(&ledger, 1, &long);
    talk(&ledger, 1, &[(Kind::Answer, "a kangaroo at last")]);
    let found = ledger.search(&said("kangaroo")).unwrap();
    assert_eq!(found.hits[0].best().message, 5000);
    let known = ledger.with_index(|index| index.known("test:1")).unwrap();
    assert_eq!(known.map(|known| (known.messages, known.stamp)), Some((5001, "12".to_owned())));
    assert_eq!(sessions(&ledger, &said("same again")), [1], "one conversation, one result");
}

#[test]
fn the_time_that_a_question_names_comes_first() {
    let home = TempDir::new().unwrap();
    let ledger = talks(&home);
    let question = format!("production on {}", at(0).strftime("%Y-%m-%d"));
    assert_eq!(sessions(&ledger, &said(&question)).first(), Some(&3));
    let day = format!("{}", at(0).strftime("%Y-%m-%d"));
    assert_eq!(ledger.search(&said(&day)).unwrap().hits.len(), 3, "all that was said that day");
}

#[test]
fn many_small_additions_leave_few_pieces() {
    let home = TempDir::new().unwrap();
    let mut ledger = ledger(&home);
    for n in 0..60 {
        let scope = Scope::session(session_id(1), REPO);
        ledger.append(at(2), scope, &note(100 + n, &format!("remark {n}"))).unwrap();
        assert!(!found(&ledger, "remark").is_empty());
    }
    let index = rusqlite::Connection::open(home.path().join("index.db")).unwrap();
    let pieces = "SELECT count(DISTINCT segid) FROM fts_idx";
    let pieces: i64 = index.query_row(pieces, (), |row| row.get(0)).unwrap();
    assert!((1..=20).contains(&pieces), "{pieces}");
}
