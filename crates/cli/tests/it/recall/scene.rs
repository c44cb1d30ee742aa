//! A corpus in somebody's home, and whether what is hidden in it is found.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use heirloom_testkit::corpus::Corpus;
use heirloom_testkit::env::TestEnv;
use serde_json::Value;

/// Where Claude Code keeps a session of the repository.
pub(crate) fn path(env: &TestEnv, session: usize) -> PathBuf {
    let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
    let slug: String = env.repo().to_string_lossy().chars().map(plain).collect();
    env.user().join(".claude/projects").join(slug).join(format!("{}.jsonl", Corpus::id(session)))
}

/// Writes sessions. Returns how many bytes they are.
pub(crate) fn write(env: &TestEnv, corpus: &Corpus, sessions: Range<usize>) -> u64 {
    let mut bytes = 0;
    for session in sessions {
        let file = path(env, session);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = corpus.transcript(session, &env.repo().to_string_lossy());
        bytes += text.len() as u64;
        fs::write(file, text).unwrap();
    }
    bytes
}

fn results(env: &TestEnv, arguments: &[&str]) -> Vec<Value> {
    let answer = env.run(&[&["search"], arguments, &["--json"]].concat()).success().json();
    answer["results"].as_array().unwrap().clone()
}

/// How many needles are found first, how many among the first five, and which are not found first.
pub(crate) fn needles(env: &TestEnv, corpus: &Corpus) -> (usize, usize, Vec<String>) {
    let (mut first, mut five, mut lost) = (0, 0, Vec::new());
    for needle in &corpus.needles {
        let shown = env.run(&["sessions", "show", &Corpus::id(needle.session), "--json"]);
        let id = text(&shown.success().json()["id"]);
        let found = results(env, &[&needle.query, "--limit", "5"]);
        let is_it = |result: &Value| text(&result["session_id"]) == id;
        let holds = |result: &Value| {
            let all = format!("{}{}", result["text"], result["passages"]).to_lowercase();
            needle.query.split(' ').all(|word| all.contains(word))
        };
        if found.first().is_some_and(|result| is_it(result) && holds(result)) {
            first += 1;
        } else {
            lost.push(format!("{needle:?}"));
        }
        five += usize::from(found.iter().any(is_it));
    }
    (first, five, lost)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Makes decisions, replaces every second one, and asks for them. Returns how many of those that stand come
/// first, and how many that were replaced do.
pub(crate) fn decisions(env: &TestEnv, count: usize) -> (usize, usize) {
    let (mut kept, mut stale) = (0, 0);
    for number in 0..count {
        let topic = format!("gatekeeper{number}");
        let first = format!("{topic} keeps its quota in a table");
        let id = text(&env.run(&["note", "decision", &first, "--json"]).success().json()["id"]);
        let mut standing = first;
        if number % 2 == 0 {
            standing = format!("{topic} keeps its quota in memory");
            env.run(&["note", "decision", &standing, "--supersedes", &id]).success();
        }
        let found = results(env, &[&format!("where does {topic} keep its quota"), "--limit", "5"]);
        match found.first().map(|result| text(&result["text"])) {
            Some(first) if first == standing => kept += 1,
            Some(first) if first.contains(&topic) => stale += 1,
            _ => {}
        }
    }
    (kept, stale)
}
