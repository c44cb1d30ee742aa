//! How many megabytes of transcript are taken in a CPU second: read, folded into facts, compressed and
//! written. Prints what `docs/performance.md` quotes.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark that cannot set the scene panics, and says where"
)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "it is a measurement")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use heirloom_engine::capture::{Manner, Wanted, take};
use heirloom_ledger::Facts;
use jiff::Timestamp;

/// As long as a busy day.
const TURNS: usize = 1_500;

fn main() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("0198c0de-0000-7000-8000-000000000001.jsonl");
    let bytes = write(&path);
    for (name, archive) in [("archive and facts", true), ("facts only", false)] {
        let home = tempfile::tempdir().unwrap();
        let mut facts = Facts::open(home.path(), Duration::from_secs(1)).unwrap();
        let wanted = Wanted {
            session: "0198c0de-0000-7000-8000-000000000001".parse().unwrap(),
            agent: "claude".to_owned(),
            agent_session_id: "0198c0de-0000-7000-8000-000000000001".to_owned(),
            subagent: None,
            repo: "r".to_owned(),
            path: path.clone(),
            printed: None,
        };
        let now = Timestamp::UNIX_EPOCH;
        let manner = Manner { most: u64::MAX, wait: true, archive, now };
        let before = cpu_seconds();
        let taken = take(home.path(), &mut facts, &wanted, manner).unwrap();
        let seconds = (cpu_seconds() - before).max(0.01);
        assert_eq!((taken.bytes, taken.left), (bytes, 0));
        #[expect(clippy::cast_precision_loss, reason = "megabytes are not counted to the byte")]
        let megabytes = bytes as f64 / 1e6;
        println!("{name}: {megabytes:.0} MB, {:.0} MB per CPU second", megabytes / seconds);
    }
}

/// A transcript in the proportions of real ones: answers, commands, whole files, and the requests that
/// Claude Code keeps beside them.
fn write(path: &Path) -> u64 {
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    let common = r#""sessionId":"s","cwd":"/w","gitBranch":"main","version":"2.1.325","entrypoint":"cli","timestamp":"2026-11-15T10:00:00.000Z""#;
    let source = "    let value = parse(&line).map_err(|error| error.to_string())?;\\n".repeat(120);
    let request = "You are an agent that works with people on their code. ".repeat(400);
    for turn in 0..TURNS {
        writeln!(file, r#"{{"type":"user","uuid":"u{turn}","promptSource":"typed","message":{{"role":"user","content":"make the parser accept nested lists, step {turn}"}},{common}}}"#).unwrap();
        writeln!(file, r#"{{"type":"api-request-blob","hash":"h{turn}","message":{{"role":"user","content":"{request}"}}}}"#).unwrap();
        for call in 0..4 {
            let id = format!("t{turn}-{call}");
            let (name, input) = match call {
                0 => ("Read", r#"{"file_path":"/w/src/parser.rs"}"#.to_owned()),
                1 => (
                    "Edit",
                    format!(
                        r#"{{"file_path":"/w/src/parser.rs","old_string":"a","new_string":"{source}"}}"#
                    ),
                ),
                2 => ("Bash", r#"{"command":"cargo test"}"#.to_owned()),
                _ => ("Bash", r#"{"command":"git commit -am step"}"#.to_owned()),
            };
            writeln!(file, r#"{{"type":"assistant","uuid":"a{id}","message":{{"id":"m{id}","model":"claude-opus-5-5","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}],"usage":{{"input_tokens":10,"cache_read_input_tokens":90000,"output_tokens":500}}}},{common}}}"#).unwrap();
            writeln!(file, r#"{{"type":"user","uuid":"r{id}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{source}"}}]}},"toolUseResult":{{"stdout":"{source}"}},{common}}}"#).unwrap();
        }
        writeln!(file, r#"{{"type":"assistant","uuid":"z{turn}","message":{{"id":"z{turn}","content":[{{"type":"text","text":"Nested lists are accepted now; the tests pass."}}]}},{common}}}"#).unwrap();
    }
    file.flush().unwrap();
    fs::metadata(path).unwrap().len()
}

/// What this process used of the processor so far, in hundredths of a second.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u32 = fields[11].parse::<u32>().unwrap() + fields[12].parse::<u32>().unwrap();
    f64::from(ticks) / 100.0
}
