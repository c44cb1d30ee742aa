//! Continuity: whether what was said is found again, what that costs, and whether it stays so with five times as
//! much.
//!
//! A corpus of our own (`heirloom_testkit::corpus`) is written as transcripts, taken in and searched by the
//! program itself, as a person would. CPU time of the whole process, and its instructions, which are the same on a busy
//! machine: fails if a question takes more of them than it should, or with five times as much in the index more than
//! a quarter more.
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
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::{cpu, instructions};
use serde_json::{Value, json};

#[path = "continuity/conversations.rs"]
mod conversations;
#[path = "../tests/it/recall/scene.rs"]
mod scene;

const HEIRLOOM: &str = env!("CARGO_BIN_EXE_heirloom");

/// How often each question is asked, with other words each time.
const TIMES: usize = 40;

/// A kind of question.
struct Kind {
    name: &'static str,
    /// The question of a number.
    asks: fn(&Corpus, usize) -> String,
    /// The most instructions it may take with all of the corpus, optimised.
    most: u64,
    /// The same with the small one, which `cargo test` asks, unoptimised.
    most_of_few: u64,
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "rare",
        asks: |corpus, n| corpus.rare(n).to_owned(),
        most: 18_000_000,
        most_of_few: 48_000_000,
    },
    Kind {
        name: "common",
        asks: |corpus, n| corpus.common(n).to_owned(),
        most: 26_000_000,
        most_of_few: 56_000_000,
    },
    Kind {
        name: "two words",
        asks: |corpus, n| format!("{} {}", corpus.common(n), corpus.common(n * 3 + 7)),
        most: 38_000_000,
        most_of_few: 67_000_000,
    },
    Kind {
        name: "identifier",
        asks: |corpus, n| corpus.identifier(n).to_owned(),
        most: 38_000_000,
        most_of_few: 70_000_000,
    },
    Kind {
        name: "miss",
        asks: |_, n| format!("zzq{n}vvx"),
        most: 5_500_000,
        most_of_few: 12_000_000,
    },
];

/// What a kind of question cost: CPU time at the 50th and the 95th of a hundred, and instructions.
struct Cost {
    ms: (f64, f64),
    instructions: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|word| word == flag);
    // `cargo test` runs this too, and only wants to know that it still works.
    let is_quick = has("--quick") || !has("--bench");
    let size = if is_quick { Size::SMALL } else { Size::FULL };
    let corpus = Corpus::new(size);
    if let Some(place) = arguments.iter().position(|word| word == "--write") {
        return write(&corpus, Path::new(&arguments[place + 1]));
    }
    if let Some(place) = arguments.iter().position(|word| word == "--conversations") {
        let file = arguments.get(place + 1).filter(|word| !word.starts_with("--"));
        return conversations::measure(file.map(Path::new));
    }
    let env = TestEnv::new(HEIRLOOM);
    // A small corpus has fewer places of a word than are ever looked at, so whether it is flat is asked of all of it.
    let sessions = corpus.sessions();
    let (fewer, all) = if is_quick { (sessions / 5, sessions) } else { (sessions, 5 * sessions) };
    let few = part(&env, &corpus, 0..fewer);
    let many = part(&env, &corpus, fewer..all);
    println!(
        "\n{:>28} {:>27} {:>27}",
        "ms p50 / p95, instructions",
        format!("{fewer} sessions"),
        format!("{all} sessions")
    );
    let mut dear = Vec::new();
    for (kind, (few, many)) in KINDS.iter().zip(few.iter().zip(&many)) {
        println!("{:>28} {} {}", kind.name, shown(few), shown(many));
        let (most, of) = if is_quick { (kind.most_of_few, many) } else { (kind.most, few) };
        let is_measured = cfg!(debug_assertions) == is_quick;
        let grows = !is_quick && many.instructions > few.instructions + few.instructions / 4;
        if is_measured && (of.instructions > most || grows) {
            dear.push(kind.name);
        }
    }
    assert!(dear.is_empty(), "these take more instructions than they should: {dear:?}");
    needles(&env, &corpus);
    decisions(&env);
    added(&env, &corpus, all);
    conversations::measure(None);
    if is_quick {
        conversations::check();
    }
}

/// Takes sessions in, and says what that and the questions cost then.
fn part(env: &TestEnv, corpus: &Corpus, sessions: std::ops::Range<usize>) -> Vec<Cost> {
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
    let cost = |kind: &Kind| {
        let asked = |n| run(env, &["search", &(kind.asks)(corpus, n), "--limit", "10", "--json"]).1;
        Cost {
            ms: percentiles((0..TIMES).map(asked).collect()),
            instructions: instructions(env, &(kind.asks)(corpus, 3)),
        }
    };
    KINDS.iter().map(cost).collect()
}

fn instructions(env: &TestEnv, question: &str) -> u64 {
    let search = env.command(&["search", question, "--limit", "10", "--json"]);
    instructions::count(HEIRLOOM.as_ref(), |command| {
        command.args(search.get_args()).current_dir(env.repo()).env_clear();
        command.envs(search.get_envs().filter_map(|(name, value)| Some((name, value?))));
    })
}

fn shown(cost: &Cost) -> String {
    format!("{:>6.1} / {:>5.1} {:>12}", cost.ms.0, cost.ms.1, cost.instructions)
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
fn added(env: &TestEnv, corpus: &Corpus, session: usize) {
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
