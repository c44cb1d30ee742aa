//! Transcripts that lie on disk are taken in, shown, kept, put back and forgotten, and nobody but their
//! owner sees what is in them.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use heirloom_core::event::{IterationStarted, SessionCreated};
use heirloom_ledger::{Error, Ledger, Options, Scope};
use heirloom_testkit::env::TestEnv;
use serde_json::{Value, from_value, json};

pub(crate) const ID: &str = "0b554780-986f-49f2-9a58-edfafd0188dd";
const CANARY: &str = "canaryinthecoalmine";

pub(crate) fn env() -> TestEnv {
    super::env().var("HEIRLOOM_TEST_LINE", "bash")
}

pub(crate) fn json(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = env.command(arguments).arg("--json").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}{errors}");
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn transcript(env: &TestEnv) -> PathBuf {
    let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
    let slug: String = env.repo().to_string_lossy().chars().map(plain).collect();
    let directory = env.user().join(".claude/projects").join(slug);
    fs::create_dir_all(&directory).unwrap();
    directory.join(format!("{ID}.jsonl"))
}

/// A day: a prompt, a failing test, an edit, the test again, a commit; a secret in passing.
pub(crate) fn day(env: &TestEnv) -> String {
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let cwd = env.repo().to_string_lossy().into_owned();
    let common = format!(
        r#""sessionId":"{ID}","cwd":"{cwd}","gitBranch":"main","version":"2.1.325","entrypoint":"cli","timestamp":"2026-01-10T10:00:00Z""#
    );
    let said = |text: &str| {
        format!(
            r#"{{"type":"user","promptSource":"typed","message":{{"role":"user","content":"{text}"}},{common}}}"#
        )
    };
    let used = |id: &str, name: &str, input: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m{id}","model":"claude-opus-5-5","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}],"usage":{{"input_tokens":10,"output_tokens":5}}}},{common}}}"#
        )
    };
    let came = |id: &str, error: bool, text: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{error},"content":"{text}"}}]}},{common}}}"#
        )
    };
    let lines = [
        said(&format!("Make the parser accept {CANARY}, with AWS_ACCESS_KEY_ID={secret}")),
        used("t1", "Bash", r#"{"command":"cargo test"}"#),
        came("t1", true, "Exit code 101\\ntest parser::nested ... FAILED\\nerror: test failed"),
        used("t2", "Edit", &format!(r#"{{"file_path":"{cwd}/src/parser.rs"}}"#)),
        came("t2", false, "done"),
        used("t3", "Bash", r#"{"command":"cargo test"}"#),
        came("t3", false, "test parser::nested ... ok"),
        used("t4", "Bash", r#"{"command":"git commit -am parser"}"#),
        came("t4", false, "[main 1a2b3c4] parser: accept nested lists"),
        used("t5", "TodoWrite", r#"{"todos":[{"content":"write the docs","status":"pending"}]}"#),
        said("and the docs"),
        r#"{"type":"ai-title","aiTitle":"Nested lists in the parser"}"#.to_owned(),
    ];
    lines.join("\n") + "\n"
}

fn set_up(env: &TestEnv) {
    env.command(&["init", "--yes"]).output().unwrap();
}

#[test]
fn a_session_from_before_is_taken_in_once_and_shown_with_all_it_did() {
    let env = env();
    fs::write(transcript(&env), day(&env)).unwrap();
    set_up(&env);
    let synced = json(&env, &["sync", "--agent", "claude"]);
    let claude = &synced["agents"][0];
    assert_eq!(
        (&claude["agent"], &claude["sessions"], &claude["new"]),
        (&"claude".into(), &1.into(), &0.into())
    );
    assert_eq!(claude["skipped"], Value::Array(vec![]));

    let shown = json(&env, &["sessions", "show", ID]);
    assert_eq!(shown["title"], "Nested lists in the parser");
    assert_eq!(shown["turns"], 2);
    assert_eq!(shown["model"], "claude-opus-5-5");
    assert_eq!(shown["cost_usd"], Value::Null);
    assert_eq!(shown["commits"][0], "1a2b3c4 parser: accept nested lists");
    assert!(shown["files"][0].as_str().unwrap().ends_with("src/parser.rs"));
    assert_eq!(shown["tests"][0]["name"], "parser::nested");
    assert_eq!(shown["tests"][0]["passed_since"], true);
    assert_eq!(shown["commands"][0]["exit"], 101);
    assert_eq!(shown["todos"][0]["text"], "write the docs");
    assert_eq!(shown["context"]["window"], Value::Null);
    assert_eq!(shown["created_at"], "2026-01-10T10:00:00Z");

    let listed = json(&env, &["sessions", "list"]);
    assert_eq!(listed["sessions"][0]["title"], "Nested lists in the parser");
    let said = json(&env, &["conversation", ID]);
    let kinds: Vec<&str> =
        said["events"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["prompt", "tool_call", "tool_result"]);
    assert!(!said.to_string().contains("AKIA"), "secrets stay in the archive");
    assert!(!shown.to_string().contains("AKIA"));
}

#[test]
fn what_search_finds_of_the_history_recover_shows_without_secrets_until_it_is_forgotten() {
    let env = env();
    fs::write(transcript(&env), day(&env)).unwrap();
    set_up(&env);
    assert_eq!(json(&env, &["search", CANARY])["results"].as_array().unwrap().len(), 1);
    let query = ["recover", "--query", CANARY];
    let shown = json(&env, &query)["text"].as_str().unwrap().to_owned();
    assert!(shown.contains(&format!("Make the parser accept {CANARY}")), "{shown}");
    assert!(shown.contains("- user 2026-01-10 (") && !shown.contains("AKIA"), "{shown}");
    // What was looked for instead of a word that nobody said is named, and the name of a session is nothing it said.
    let typed = format!("{}x", &CANARY[..CANARY.len() - 1]);
    let meant = json(&env, &["recover", "--query", &typed])["text"].as_str().unwrap().to_owned();
    assert!(meant.contains(&format!("what matches \"{}\"", CANARY.to_lowercase())), "{meant}");
    let named = json(&env, &["recover", "--query", &format!("claude-{ID}")]);
    assert!(!named["text"].as_str().unwrap().contains("- session"), "{named}");
    json(&env, &["note", "learning", &format!("{CANARY} is a list")]);
    let both = json(&env, &query)["text"].as_str().unwrap().to_owned();
    let (noted, said) = (both.find("is a list").unwrap(), both.find("Make the parser").unwrap());
    assert!(noted < said, "{both}");
    json(&env, &["sessions", "forget", ID, "--yes"]);
    let left = json(&env, &query)["text"].as_str().unwrap().to_owned();
    assert!(left.contains("is a list") && !left.contains("parser accept"), "{left}");
}

#[test]
fn the_conversations_of_a_loop_are_one_session_whichever_was_the_last() {
    let env = env();
    set_up(&env);
    fs::write(transcript(&env), day(&env)).unwrap();
    let (id, repo) = ("5d0c0f5e-0000-4000-8000-000000000001", env.repo());
    let (repo, at) = (repo.to_string_lossy(), "2026-01-10T10:00:00Z".parse().unwrap());
    let scope = Scope::session(id.parse().unwrap(), &repo);
    let mut ledger = Ledger::open(&env.home(), Options::ENGINE).unwrap();
    ledger
        .write::<_, Error>(at, |writer| {
            let created = json!({"name": "ralph", "agent": "claude"});
            writer.append(scope, &from_value::<SessionCreated>(created).unwrap())?;
            for (iteration, conversation) in [(1, ID), (2, "5d0c0f5e-0000-4000-8000-000000000002")]
            {
                let started = json!({"stage": "work", "iteration": iteration,
                                     "agent_session_id": conversation});
                writer.append(scope, &from_value::<IterationStarted>(started).unwrap())?;
            }
            Ok(())
        })
        .unwrap();
    drop(ledger);
    let synced = json(&env, &["sync", "--agent", "claude"]);
    assert_eq!(synced["agents"][0]["sessions"], 1, "{synced}");
    let listed = json(&env, &["sessions", "list"]);
    let ids: Vec<&Value> =
        listed["sessions"].as_array().unwrap().iter().map(|each| &each["id"]).collect();
    assert_eq!(ids, [id], "its first iteration is no session of its own");
    assert_eq!(json(&env, &["sessions", "show", id])["commits"].as_array().unwrap().len(), 1);
}

#[test]
fn what_grows_is_read_on_and_what_is_rewritten_is_kept_beside_what_it_was() {
    let env = env();
    set_up(&env);
    let file = transcript(&env);
    let whole = day(&env);
    let half = whole.len() / 2;
    // Torn in the middle of a line.
    fs::write(&file, &whole[..half]).unwrap();
    assert_eq!(json(&env, &["sync", "--agent", "claude"])["agents"][0]["new"], 1);
    fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .unwrap()
        .write_all(&whole.as_bytes()[half..])
        .unwrap();
    assert_eq!(json(&env, &["sync", "--agent", "claude"])["bytes"], whole.len() - half);
    assert_eq!(json(&env, &["sessions", "show", ID])["turns"], 2);
    assert_eq!(json(&env, &["sync", "--agent", "claude"])["agents"][0]["new"], 0);

    let rewritten = whole.replacen("Make the parser", "Let the parser", 1);
    fs::write(&file, &rewritten).unwrap();
    json(&env, &["sync", "--agent", "claude"]);
    let kept = json(&env, &["archive", "show", ID]);
    let bytes: Vec<&Value> =
        kept["transcripts"].as_array().unwrap().iter().map(|one| &one["bytes"]).collect();
    assert_eq!(bytes, [&Value::from(whole.len()), &Value::from(rewritten.len())]);
    let shown = json(&env, &["sessions", "show", ID]);
    assert!(shown["prompts"][0]["text"].as_str().unwrap().starts_with("Let the parser"));
}

#[test]
fn a_transcript_that_nobody_touched_is_not_written_again() {
    let env = env();
    fs::write(transcript(&env), day(&env)).unwrap();
    set_up(&env);
    json(&env, &["sync", "--agent", "claude"]);
    let facts = || fs::read(env.home().join("facts.db")).unwrap();
    // With every change of a page SQLite counts on in the first one.
    let before = facts();
    json(&env, &["sync", "--agent", "claude"]);
    assert!(facts() == before, "the facts were written again");
    fs::OpenOptions::new().append(true).open(transcript(&env)).unwrap().write_all(b"{}\n").unwrap();
    json(&env, &["sync", "--agent", "claude"]);
    assert!(facts() != before);
}

#[test]
fn what_the_agent_deleted_is_put_back_byte_for_byte() {
    let env = env();
    let file = transcript(&env);
    fs::write(&file, day(&env)).unwrap();
    set_up(&env);
    fs::remove_file(&file).unwrap();
    let listed = json(&env, &["archive", "list"]);
    assert_eq!(listed["sessions"][0]["native_exists"], false);
    json(&env, &["archive", "restore", ID]);
    assert_eq!(fs::read_to_string(&file).unwrap(), day(&env));
    // Facts can be thrown away: they are made of the archive.
    fs::remove_file(&file).unwrap();
    for name in ["facts.db", "facts.db-wal", "facts.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    json(&env, &["sync"]);
    assert_eq!(json(&env, &["sessions", "show", ID])["turns"], 2);
}

#[test]
fn a_repository_that_nobody_set_up_is_left_alone() {
    let env = env();
    fs::write(transcript(&env), day(&env)).unwrap();
    // What somebody else committed switches nothing on.
    env.write(".heirloom/config.yaml", "capture: {archive: on}\n");
    let refused = env.command(&["sync", "--json"]).output().unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stdout).contains("not-set-up"));
    let all = json(&env, &["sync", "--all-repos"]);
    assert_eq!((&all["agents"][0]["new"], &all["elsewhere"]), (&0.into(), &1.into()));
    assert!(files(&env.home().join("archive")).is_empty());
}

#[test]
fn only_facts_are_kept_where_the_archive_is_off() {
    let env = env();
    env.write_user(&format!(
        "trust: {{paths: [{}]}}\ncapture: {{archive: off}}\n",
        env.repo().parent().unwrap().display()
    ));
    fs::write(transcript(&env), day(&env)).unwrap();
    set_up(&env);
    assert_eq!(json(&env, &["sessions", "show", ID])["turns"], 2);
    assert_eq!(json(&env, &["archive", "list"])["sessions"][0]["stored"], 0);
    assert!(!files(&env.home().join("archive")).iter().any(|file| file.contains("zst")));
}

#[test]
fn the_archive_is_its_owners_alone_and_leaves_in_no_export() {
    let env = env();
    fs::write(transcript(&env), day(&env)).unwrap();
    set_up(&env);
    for file in files(&env.home().join("archive")) {
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
    let export = env.repo().join("export.jsonl");
    env.command(&["ledger", "export", export.to_str().unwrap()]).output().unwrap();
    let backup = env.repo().join("backup.db");
    env.command(&["ledger", "backup", backup.to_str().unwrap()]).output().unwrap();
    for file in [export, backup] {
        let bytes = fs::read(&file).unwrap();
        assert!(!holds(&bytes, CANARY), "{}", file.display());
    }
}

#[test]
fn a_session_that_is_forgotten_is_in_no_byte_of_the_home() {
    let env = env();
    let file = transcript(&env);
    fs::write(&file, day(&env)).unwrap();
    set_up(&env);
    json(&env, &["note", "decision", &format!("use {CANARY} everywhere"), "--session", ID]);
    // So many that pages of the files are split between what goes and what stays.
    for number in 0..12 {
        let long = "x".repeat(number * 37 % 400);
        let text = format!("{number} is {CANARY} {long}");
        json(&env, &["note", "learning", &text, "--session", ID]);
        json(&env, &["note", "learning", &format!("{number} is another {long}")]);
    }
    json(&env, &["search", CANARY]);
    env.command(&[
        "ledger",
        "backup",
        env.home().join("backups/ledger-20260101T000000Z.db").to_str().unwrap(),
    ])
    .output()
    .unwrap();
    env.command(&["checkpoint", "--session", ID]).output().unwrap();
    let page = fs::read_to_string(env.repo().join("NOTES.md")).unwrap();
    assert!(page.contains(CANARY), "{page}");
    assert!(!found(&env.home(), CANARY).is_empty());

    let gone = json(&env, &["sessions", "forget", ID, "--yes"]);
    assert_eq!(gone["facts"], true);
    assert_eq!(gone["native"][0], file.to_string_lossy().into_owned());
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
    let verified = json(&env, &["ledger", "verify"]);
    assert_eq!(verified["ok"], true);
    // The agent's own file does not bring it back.
    json(&env, &["sync"]);
    json(&env, &["search", CANARY]);
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
    // Nor does the page, of which git may have an older version.
    let after = fs::read_to_string(env.repo().join("NOTES.md")).unwrap();
    assert!(!after.contains(CANARY), "{after}");
    fs::write(env.repo().join("NOTES.md"), page).unwrap();
    env.command(&["checkpoint"]).output().unwrap();
    let notes = json(&env, &["notes", "--all"]).to_string();
    assert!(!notes.contains(CANARY), "{notes}");
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
}

#[test]
fn what_later_sessions_inherited_is_forgotten_with_the_session_and_nothing_of_their_own() {
    let env = env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    set_up(&env);
    let run = |name: &str, more: &[&str]| {
        env.run(&[&["run", "ralph", name, "2", "--agent", "sim"], more].concat()).success();
    };
    run("first", &[]);
    let said = format!("use \"{CANARY}\" for everything that rotates");
    json(&env, &["note", "decision", &said, "--because", CANARY, "--session", "first"]);
    json(&env, &["note", "next_step", &format!("then {CANARY} again"), "--session", "first"]);
    env.command(&["checkpoint", "--session", "first"]).output().unwrap();
    run("second", &["--inherit", "first"]);
    run("third", &["--inherit", "second"]);
    env.run(&["launch", "say hello", "--agent", "sim", "--name", "aside"]).success();
    assert_eq!(env.run(&["fork-check", "--claim", &format!("never {said}")]).code, 1);
    json(&env, &["sync"]);
    json(&env, &["search", CANARY]);
    json(&env, &["recover", "2", "--query", CANARY]);
    let runs = env.repo().join(".heirloom");
    let context = runs.join("runs/third/stage-00-ralph/iterations/001/context.json");
    assert!(found(&runs, CANARY).contains(&context.to_string_lossy().into_owned()));
    let conversations = files(&env.home().join("sim")).len();

    let gone = json(&env, &["sessions", "forget", "first", "--yes"]);
    assert!(gone["quotes"].as_u64().unwrap() > 0, "{gone}");
    let nowhere = Vec::<String>::new();
    assert_eq!((found(&env.home(), CANARY), found(&runs, CANARY)), (nowhere.clone(), nowhere));
    // Each iteration was a conversation of its own, in this home.
    assert_eq!(files(&env.home().join("sim")).len(), conversations - 2);
    assert_eq!(gone["native"], json!([]));

    // The files are whole, and what the others found out is theirs.
    let context: Value = serde_json::from_slice(&fs::read(context).unwrap()).unwrap();
    assert_eq!(context["inherited"]["lineage"], json!(["second", "first"]));
    let learned = json(&env, &["sessions", "show", "third", "--learnings"]).to_string();
    assert!(learned.contains("third: "), "{learned}");
    let block = json(&env, &["inherit", "third"]).to_string();
    assert!(block.contains("second: ") && !block.contains(CANARY), "{block}");
    assert!(!block.contains("****"), "what is masked is not handed on: {block}");
    let listed = env.run(&["resume"]).success().stdout;
    assert_eq!(listed.lines().count(), 4, "all but the first can be gone on with: {listed}");
    assert_eq!(json(&env, &["ledger", "verify"])["ok"], true);
    // Nothing brings it back.
    json(&env, &["sync"]);
    json(&env, &["search", CANARY]);
    env.command(&["checkpoint", "--session", "third"]).output().unwrap();
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
}

/// Every session that works on an issue is told how to work in the same words.
#[test]
fn what_other_sessions_were_told_by_us_stays_when_one_is_forgotten() {
    let env = env();
    env.write("src/a.rs", "fn rotate_tokens() {}\n");
    set_up(&env);
    for title in ["one", "two", "three"] {
        let issue = json(&env, &["issues", "create", title])["id"].as_str().unwrap().to_owned();
        let ran = env.run(&["work", "--agent", "sim", "--issue", &issue]);
        assert!(ran.stdout.contains(&issue), "{ran}");
    }
    json(&env, &["sync"]);
    let names = json(&env, &["sessions", "list", "--all"]);
    let names = names["sessions"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    json(&env, &["sessions", "forget", names[1], "--yes"]);
    for name in [names[0], names[2]] {
        let said = env.run(&["conversation", name]).success().stdout;
        assert!(said.lines().count() > 5 && !said.contains("****"), "{said}");
    }
}

#[test]
fn a_session_that_is_forgotten_is_not_continued() {
    let env = env();
    set_up(&env);
    env.run(&["launch", CANARY, "--agent", "sim", "--name", "gone"]).success();
    json(&env, &["sessions", "forget", "gone", "--yes"]);
    for again in [&["continue", "gone", "go on"][..], &["fork", "gone", "another way"]] {
        let ran = env.run(again);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stderr.contains("gone was forgotten"), "{ran}");
    }
    env.run(&["sync"]).success();
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
}

#[test]
fn what_was_noted_keeps_its_date_when_an_older_conversation_is_met() {
    let env = env();
    set_up(&env);
    env.run(&["note", "decision", "tokens are rotated daily"]).success();
    let dates = || {
        let notes = json(&env, &["notes"]);
        let notes = notes["notes"].as_array().unwrap().clone();
        notes.iter().map(|note| note["at"].clone()).collect::<Vec<_>>()
    };
    let before = dates();
    fs::write(transcript(&env), day(&env)).unwrap();
    json(&env, &["sync"]);
    assert_eq!((dates(), before.len()), (before, 1));
}

/// Stands in for opencode: takes conversations in, and deletes those that it has where it is let.
const KEEPS_A_DATABASE: &str = r#"#!/bin/sh
data="$HOME/.local/share/opencode"
case "$1" in
import) mkdir -p "$data" && touch "$data/opencode.db" ;;
session) [ ! -e "$data/locked" ] && echo "$@" >> "$data/deleted" ;;
esac
"#;

#[test]
fn a_copy_in_an_agents_database_is_deleted_by_the_agents_own_program() {
    let env = env();
    let program = env.script("opencode", KEEPS_A_DATABASE);
    let env = env.var("HEIRLOOM_AGENT_OPENCODE", program);
    let file = transcript(&env);
    fs::write(&file, day(&env)).unwrap();
    set_up(&env);
    let copy = json(&env, &["resume", ID, "--with", "opencode", "--print"]);
    let data = env.user().join(".local/share/opencode");
    fs::write(data.join("locked"), "").unwrap();
    let gone = json(&env, &["sessions", "forget", ID, "--yes"]);
    let left = gone["native"].to_string();
    assert!(gone["copies"] == 0 && left.contains("opencode.db"), "{gone}");

    fs::remove_file(data.join("locked")).unwrap();
    let gone = json(&env, &["sessions", "forget", ID, "--yes"]);
    let left = gone["native"].to_string();
    assert!(gone["copies"] == 1 && !left.contains("opencode.db"), "{gone}");
    let deleted = fs::read_to_string(data.join("deleted")).unwrap();
    let id = copy["agent_session_id"].as_str().unwrap();
    assert_eq!(deleted.trim(), format!("session delete {id}"));
}

#[test]
fn a_copy_that_was_made_for_another_agent_goes_with_the_session() {
    let env = env();
    let file = transcript(&env);
    fs::write(&file, day(&env)).unwrap();
    set_up(&env);
    let copy = json(&env, &["resume", ID, "--with", "codex", "--print"]);
    let id = copy["agent_session_id"].as_str().unwrap();
    assert_eq!(found(&env.user().join(".codex"), CANARY).len(), 1);
    // The copy is a transcript like any other, so it is taken in; and a copy is made of it.
    json(&env, &["sync"]);
    json(&env, &["resume", id, "--with", "claude", "--print"]);
    json(&env, &["sync"]);
    json(&env, &["search", CANARY]);
    let own = file.to_string_lossy().into_owned();
    assert_eq!(found(&env.user().join(".claude"), CANARY).len(), 2);

    let gone = json(&env, &["sessions", "forget", ID, "--yes"]);
    assert_eq!((&gone["copies"], gone["continued"].as_array().unwrap().len()), (&2.into(), 2));
    assert_eq!(gone["native"], serde_json::json!([own]));
    let left = || {
        json(&env, &["sync"]);
        json(&env, &["search", CANARY]);
        let agents = [".claude", ".codex"].map(|name| found(&env.user().join(name), CANARY));
        (agents.concat(), found(&env.home(), CANARY))
    };
    assert_eq!(left(), (vec![own], Vec::new()));
    assert_eq!(json(&env, &["ledger", "verify"])["ok"], true);
    fs::remove_file(&file).unwrap();
    assert_eq!(left(), (Vec::new(), Vec::new()));
}

#[test]
fn a_message_that_no_agent_ever_heard_is_forgotten_with_its_session() {
    let env = env();
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let claude = env.script("claude", "#!/bin/sh\nexit 1\n");
    let env = env.var("HEIRLOOM_AGENT_CLAUDE", claude);
    env.run(&["launch", &format!("{CANARY} {secret}"), "--agent", "claude", "--name", "deaf"]);
    assert!(!found(&env.home().join("unheard"), CANARY).is_empty());
    json(&env, &["sessions", "forget", "deaf", "--yes"]);
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
}

/// The files below a directory.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push(path.to_string_lossy().into_owned());
        }
    }
    all
}

/// The files below a directory that hold a word, also compressed.
pub(crate) fn found(directory: &Path, word: &str) -> Vec<String> {
    let has = |file: &String| {
        let bytes = fs::read(file).unwrap();
        let plain = zstd::decode_all(&bytes[..]).unwrap_or_default();
        holds(&bytes, word) || holds(&plain, word)
    };
    files(directory).into_iter().filter(has).collect()
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}
