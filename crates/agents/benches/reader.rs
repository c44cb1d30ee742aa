//! How fast an agent's stream goes through supervision and reading, and how much memory that
//! takes. Prints what `docs/agents.md` quotes.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "it is a measurement")]

use std::io::Write;
use std::time::Instant;

use heirloom_agents::{CommandLine, Env, Input, Process, Taps, by_name};

const EVENTS: usize = 50_000;

fn main() {
    for (name, words) in [("short", 20), ("long", 1000)] {
        measure(name, words);
    }
}

fn measure(name: &str, words: usize) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let text = "word \\\"quoted\\\" ".repeat(words / 2);
    for number in 0..EVENTS {
        writeln!(
            file,
            r#"{{"type":"assistant","message":{{"id":"msg_{number}","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"{text}"}}],"usage":{{"input_tokens":10,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{number}","timestamp":"2026-01-01T00:00:00Z"}}"#
        )
        .unwrap();
    }
    drop(file);
    let bytes = std::fs::metadata(&path).unwrap().len();
    let line = CommandLine {
        program: "/bin/cat".into(),
        args: vec![path.into()],
        env: Env::new(),
        cwd: dir.path().to_owned(),
        stdin: Vec::new(),
        input: Input::Once,
        files: Vec::new(),
        asked_for: None,
        expected_id: None,
        reports: Vec::new(),
    };
    let start = Instant::now();
    let mut process = Process::spawn(by_name("claude").unwrap(), line, Taps::default()).unwrap();
    let mut lines = 0;
    while process.next_line().is_some() {
        lines += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(lines, EVENTS);
    #[expect(clippy::cast_precision_loss, reason = "megabytes are not counted to the byte")]
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{name} events: {EVENTS} events, {megabytes:.0} MB, {:.0} MB/s, peak memory {}",
        megabytes / seconds,
        peak_memory()
    );
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "unknown".to_owned(), |peak| peak.trim().to_owned())
}
