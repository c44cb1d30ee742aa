//! What the simulation does without a script: one small iteration that obeys the run directory.
//!
//! Everything is derived from the context it is given, so that the same session does the same
//! work twice.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use heirloom_core::note::Kind;
use heirloom_repo::file;
use serde_json::{Map, Value, json};

use super::script::Step;
use super::subject::Subject;
use crate::env::{self, Env};

/// After how many iterations it thinks it is done.
const ENOUGH: u64 = 3;

const LEARNINGS: &[(&str, &str)] = &[
    ("the entry point only parses and calls one use case", "keep entry points thin"),
    ("errors carry the path they happened at", "wrap I/O errors where the path is known"),
    ("tests build their own fixtures", "write fixtures beside the test"),
    ("times are passed in, never read", "take the clock as an argument"),
    ("state changes go through one function", "add new states to the transition table"),
];

/// The steps of one iteration.
pub(super) fn steps(env: &Env, prompt: &str, cwd: &Path) -> Vec<Step> {
    let context_path = place(env, "HEIRLOOM_CTX", prompt, "context.json");
    let text = context_path.as_ref().and_then(|path| file::read_to_string(path).ok());
    let context: Value = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let session = context["session"].as_str().unwrap_or("session").to_owned();
    let iteration = context["iteration"].as_u64().unwrap_or(1);
    // What it says of the code is about a file that it read.
    let subject = Subject::find(prompt, cwd);
    // Outside a run there are no iterations, and nobody told it what its session is called.
    let title = match (&context_path, &subject) {
        (Some(_), _) => format!("Iteration {iteration} of {session}"),
        (None, Some(subject)) => subject.path.clone(),
        (None, None) => "Nothing to read here".to_owned(),
    };
    let mut steps = vec![look(format!("{title}."), subject.as_ref())];
    if let Some(path) = &context_path {
        let input = json!({"file_path": path});
        steps.push(Step { tool: Some("Read".to_owned()), input, ..Step::default() });
    }
    let status = status(&context, &session, iteration, subject.as_ref());
    let summary = status["summary"].as_str().unwrap_or_default();
    let summary = summary.replacen(&format!("Iteration {iteration} of {session}"), &title, 1);
    steps.push(Step { status: status.as_object().cloned(), ..Step::default() });
    let progress = format!("\n## Iteration {iteration}\n\n{summary}\n");
    steps.push(Step { progress: Some(progress), ..Step::default() });
    steps.push(Step { say: Some(summary), ..Step::default() });
    steps
}

fn look(text: String, subject: Option<&Subject>) -> Step {
    let tool = subject.map(|_| "Read".to_owned());
    let input = subject.map(|subject| json!({"file_path": subject.path})).unwrap_or_default();
    Step { think: Some(text), tool, input, ..Step::default() }
}

fn status(context: &Value, session: &str, iteration: u64, subject: Option<&Subject>) -> Value {
    let seed = session.bytes().fold(iteration, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    let index = usize::try_from(seed % LEARNINGS.len() as u64).unwrap_or_default();
    let (learning, pattern) = LEARNINGS[index];
    let evidence = subject.map_or_else(|| json!([]), Subject::evidence);
    let learning = json!({"text": format!("{session}: {learning}"), "evidence": evidence});
    let decision = json!({"text": format!("{pattern} in {session}"),
                          "rationale": format!("seen in iteration {iteration}"),
                          "evidence": evidence});
    let done = iteration >= ENOUGH;
    let mut status = json!({
        "decision": if done { "stop" } else { "continue" },
        "reason": if done { "nothing is left to do" } else { "there is more to do" },
        "summary": format!("Iteration {iteration} of {session}: {pattern}."),
        "work": {"items_completed": [format!("item {iteration}")], "files_touched": []},
        "errors": [],
        "learnings": [learning],
        "patterns": [pattern],
        "warnings": [],
        "decisions": [decision],
    });
    if iteration == 2 {
        status["warnings"] = json!([format!("do not skip the tests of {session}")]);
    }
    if let Some(inherited) = context.get("inherited").filter(|inherited| inherited.is_object()) {
        status["comprehension"] = comprehension(inherited, session);
    }
    status
}

/// Says what was inherited, from what was inherited.
fn comprehension(inherited: &Value, session: &str) -> Value {
    let counted =
        |kind: Kind| kind.counted(inherited[kind.plural()].as_array().map_or(0, Vec::len));
    let from = inherited["from_session"].as_str().unwrap_or("an earlier session");
    let texts = |list: &str| inherited[list].as_array().cloned().unwrap_or_default();
    let constraints: Vec<Value> =
        texts("decisions").into_iter().chain(texts("warnings")).take(3).collect();
    json!({
        "inherited": format!(
            "{}, {}, {} and {} of {from}",
            counted(Kind::Learning),
            counted(Kind::Pattern),
            counted(Kind::Warning),
            counted(Kind::Decision),
        ),
        "task": format!("continue the work of {from} as {session}"),
        "constraints": constraints,
    })
}

/// A path from the environment, or else the word of the prompt that ends like it.
fn place(env: &Env, name: &str, prompt: &str, ending: &str) -> Option<PathBuf> {
    let trimmed = |word: &str| {
        word.trim_matches(|char: char| "`'\"()<>,;:".contains(char))
            .trim_end_matches('.')
            .to_owned()
    };
    let named = || {
        let words = prompt.split_whitespace().map(trimmed);
        words.map(PathBuf::from).find(|path| path.file_name() == Some(OsStr::new(ending)))
    };
    env::path(env, name).or_else(named)
}

/// Merges fields into the status file, where there is one to write.
pub(super) fn write_status(env: &Env, fields: &Map<String, Value>) -> io::Result<()> {
    let Some(path) = env::path(env, "HEIRLOOM_STATUS") else { return Ok(()) };
    let text = file::read_to_string(&path).unwrap_or_default();
    let mut status: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    status.extend(fields.clone());
    Ok(file::write(path, serde_json::to_string_pretty(&status)?)?)
}

/// Appends to the progress page, where there is one.
pub(super) fn append_progress(env: &Env, text: &str) -> io::Result<()> {
    let Some(path) = env::path(env, "HEIRLOOM_PROGRESS") else { return Ok(()) };
    file::open_with(OpenOptions::new().create(true).append(true), path)?.write_all(text.as_bytes())
}
