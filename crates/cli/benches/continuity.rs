//! Continuity: whether what was said is found again, what that costs, and whether it stays so with five times as
//! much.
//!
//! A corpus of our own (`heirloom_testkit::corpus`) is written as transcripts, taken in and searched by the
//! program itself, as a person would. CPU time of the whole process.
//!
//! cargo bench -p heirloom --bench continuity [-- --quick | --write DIRECTORY | --conversations [FILE]]
//!
//! `--conversations` only asks questions about talk, of ours or of a public benchmark's file. `--write` only
//! writes the transcripts and the needles, for other programs to be measured by.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use heirloom_testkit::corpus::{Corpus, Size};
use heirloom_testkit::cpu;
use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

#[path = "continuity/conversations.rs"]
mod conversations;
#[path = "../tests/it/recall/scene.rs"]
mod scene;

/// How often each question is asked, with other words each time.
const TIMES: usize = 40;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|word| word == flag);
    // `cargo test` runs this too, and only wants to know that it still works.
    let is_quick = has("--quick") || has("--test");
    let size = if is_quick { Size::SMALL } else { Size::FULL };
    let corpus = Corpus::new(size);
    if let Some(place) = arguments.iter().position(|word| word == "--write") {
        return write(&corpus, Path::new(&arguments[place + 1]));
    }
    if let Some(place) = arguments.iter().position(|word| word == "--conversations") {
        let file = arguments.get(place + 1).filter(|word| !word.starts_with("--"));
        return conversations::measure(file.map(Path::new));
    }
    let env = TestEnv::new(env!("CARGO_BIN_EXE_heirloom"));
    let fifth = corpus.sessions() / 5;
    let few = part(&env, &corpus, 0..fifth);
    let many = part(&env, &corpus, fifth..corpus.sessions());
    println!("\n{:>28} {:>14} {:>14}", "ms p50 / p95, sessions", fifth, corpus.sessions());
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        println!("{what:>28} {:>6.1} / {:>5.1} {:>6.1} / {:>5.1}", few.0, few.1, many.0, many.1);
    }
    needles(&env, &corpus);
    decisions(&env);
    added(&env, &corpus);
    conversations::measure(None);
    if is_quick {
        conversations::check();
    }
}

/// Takes sessions in, and says what that and the questions cost then.
fn part(
    env: &TestEnv,
    corpus: &Corpus,
    sessions: std::ops::Range<usize>,
) -> Vec<(&'static str, (f64, f64))> {
    let bytes = scene::write(env, corpus, sessions.clone());
    if sessions.start == 0 {
        env.run(&["init", "--yes", "--agent", "claude"]).success();
    }
    let (_, taken) = run(env, &["sync", "--agent", "claude"]);
    let _ = fs::remove_file(env.home().join("index.db"));
    let (_, indexed) = run(env, &["search", "nothingofthiskind"]);
    println!(
        "{:>28} {:>10.1} MB more; taken in {:.2} s, all indexed {:.2} s; index {:.1} MB, archive {:.1} MB",
        format!("{} sessions", sessions.end),
        mb(bytes),
        taken.as_secs_f64(),
        indexed.as_secs_f64(),
        mb(size_of(&env.home().join("index.db"))),
        mb(size_of(&env.home().join("archive"))),
    );
    let questions: [(&str, &dyn Fn(usize) -> String); 5] = [
        ("rare", &|n| corpus.rare(n).to_owned()),
        ("common", &|n| corpus.common(n).to_owned()),
        ("two words", &|n| format!("{} {}", corpus.common(n), corpus.common(n * 3 + 7))),
        ("identifier", &|n| corpus.identifier(n).to_owned()),
        ("miss", &|n| format!("zzq{n}vvx")),
    ];
    let cost = |question: &dyn Fn(usize) -> String| {
        let asked = |n| run(env, &["search", &question(n), "--limit", "10", "--json"]).1;
        percentiles((0..TIMES).map(asked).collect())
    };
    questions.iter().map(|(what, question)| (*what, cost(*question))).collect()
}

fn percentiles(mut all: Vec<Duration>) -> (f64, f64) {
    all.sort();
    let at = |of: usize| all[(all.len() * of / 100).min(all.len() - 1)].as_secs_f64() * 1000.0;
    (at(50), at(95))
}

fn needles(env: &TestEnv, corpus: &Corpus) {
    let (first, among_five, lost) = scene::needles(env, corpus);
    println!(
        "\n{:>28} {first} first, {among_five} among five, of {}",
        "needles",
        corpus.needles.len()
    );
    for needle in lost {
        println!("{:>28} {needle}", "lost");
    }
}

/// Decisions that were replaced: the one that stands comes first.
fn decisions(env: &TestEnv) {
    let (kept, stale) = scene::decisions(env, 20);
    println!("{:>28} {kept} of 20 recalled, {stale} stale ones first", "decisions");
}

/// What one more session, ten more lines, and a hook cost.
fn added(env: &TestEnv, corpus: &Corpus) {
    let session = corpus.sessions();
    scene::write(env, corpus, session..session + 1);
    let (_, taken) = run(env, &["sync", "--agent", "claude"]);
    println!(
        "{:>28} {:.1} ms to take in and index",
        "one more session",
        taken.as_secs_f64() * 1000.0
    );
    let text = corpus.transcript(session + 1, &env.repo().to_string_lossy());
    let path = scene::path(env, session);
    let more = text.lines().take(10).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(&path, fs::read_to_string(&path).unwrap() + &more).unwrap();
    let (_, taken) = run(env, &["sync", "--agent", "claude"]);
    println!("{:>28} {:.1} ms", "ten more lines", taken.as_secs_f64() * 1000.0);
    let input = json!({"session_id": Corpus::id(session), "cwd": env.repo(), "transcript_path": path,
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let (output, read) = heirloom_testkit::reads::count(
        &mut env.command(&["hook", "claude", "PreToolUse"]),
        input.to_string().as_bytes(),
    );
    assert!(output.status.success());
    println!("{:>28} {read} bytes read", "a hook before a tool use");
}

fn run(env: &TestEnv, arguments: &[&str]) -> (Value, Duration) {
    let (output, spent) = cpu::count(&mut env.command(arguments));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), spent)
}

/// The bytes of a file and its log, or of all files below a directory.
fn size_of(path: &Path) -> u64 {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().flatten().map(|entry| size_of(&entry.path())).sum();
    }
    let with = |end: &str| format!("{}{end}", path.display());
    ["", "-wal"].iter().filter_map(|end| Some(fs::metadata(with(end)).ok()?.len())).sum()
}

#[expect(clippy::cast_precision_loss, reason = "megabytes are not counted to the byte")]
fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn write(corpus: &Corpus, directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    for session in 0..corpus.sessions() {
        let file = directory.join(format!("{}.jsonl", Corpus::id(session)));
        fs::write(file, corpus.transcript(session, "/work")).unwrap();
    }
    let needle = |needle: &heirloom_testkit::corpus::Needle| json!({"session": Corpus::id(needle.session), "query": needle.query, "in": format!("{:?}", needle.hidden)});
    let needles: Vec<Value> = corpus.needles.iter().map(needle).collect();
    fs::write(directory.join("needles.json"), json!(needles).to_string()).unwrap();
}
