//! Recall and precision over the labelled corpus, then how long redaction takes.
//!
//! `cargo bench -p heirloom-core --bench redact`

#![expect(clippy::print_stdout, reason = "the numbers are what this program is for")]

use std::hint::black_box;
use std::time::Instant;

use criterion::Criterion;
use heirloom_core::redact::redact;
use serde_json::Value;

const SPLIT: &str = "\u{2039}\u{203a}";
const WORDS: &str = "The session handed its learnings on and the next one began where it stopped. ";

fn corpus(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("a line of the corpus")).collect()
}

fn field(case: &Value, name: &str) -> String {
    case[name].as_str().expect("a string").replace(SPLIT, "")
}

fn main() {
    first_use();
    quality();
    let mut criterion = Criterion::default().configure_from_args();
    times(&mut criterion);
    criterion.final_summary();
}

/// The first text of a process also builds the automaton: measured once, before all else.
fn first_use() {
    let text = notes(2048);
    let start = Instant::now();
    black_box(redact(black_box(&text)));
    println!("first use, 2 kB of notes, with the automaton built: {:?}", start.elapsed());
}

fn quality() {
    let positives = corpus(include_str!("../tests/corpus/redact/positives.jsonl"));
    let negatives = corpus(include_str!("../tests/corpus/redact/negatives.jsonl"));
    let exact = |case: &&Value| redact(&field(case, "text")).text == field(case, "want");
    let found = positives.iter().filter(exact).count();
    let wrong = negatives.iter().filter(|n| !redact(&field(n, "text")).found.is_empty()).count();
    println!(
        "positives {found}/{} exact, negatives touched {wrong}/{}",
        positives.len(),
        negatives.len()
    );
    println!("recall    {:.4}", ratio(found, positives.len()));
    println!("precision {:.4}", ratio(found, found + wrong));
}

fn ratio(part: usize, whole: usize) -> f64 {
    let count = |n: usize| f64::from(u32::try_from(n).expect("a small corpus"));
    count(part) / count(whole)
}

fn times(criterion: &mut Criterion) {
    let secret = format!("{}and the token was {}{}.", notes(2000), "ghp_", "a8Kq2ZrT5v".repeat(4));
    let texts = [
        ("short prose, no automaton", WORDS.repeat(2)),
        ("2 kB of prose", WORDS.repeat(27)),
        ("2 kB of notes, clean", notes(2048)),
        ("2 kB of notes, one secret", secret),
        ("64 kB of notes, clean", notes(65_536)),
    ];
    for (name, text) in &texts {
        criterion.bench_function(name, |b| b.iter(|| redact(black_box(text)).found.len()));
    }
}

/// Text as agents write it: paths, hashes, code and words about keys and tokens.
fn notes(length: usize) -> String {
    const NOTE: &str = "fix(auth): token refresh in src/auth/token.rs:120 (3f9a2b1c4d5e6f70); \
        run `cargo test -p core --test it`, see https://docs.rs/serde/1.0.203. \
        key = map.get(\"name\"); max_tokens: 4096, password: required. ";
    NOTE.repeat(length / NOTE.len() + 1)[..length].to_owned()
}
