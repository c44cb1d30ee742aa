//! Claude Code's transcripts: `<config dir>/projects/<slug>/<session id>.jsonl`, and for
//! subagents `<session id>/subagents/agent-<id>.jsonl` beside it.
//!
//! They also hold whole API requests, system prompts included. Only what becomes an event here
//! may leave them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use heirloom_repo::file;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::carry;
use super::content::Message;
use crate::env::Env;
use crate::event::{Event, Failure, FailureKind, Parsed, Reader, Span};
use crate::transcript::entry::unmarked;
use crate::transcript::{Carried, Transcript, Transcripts, Written};

/// The longest slug that is the path itself; longer ones are cut there, and the agent adds a sum
/// of the whole.
const LONGEST_SLUG: usize = 200;

/// Claude Code's own.
#[derive(Debug)]
pub(super) struct Projects;

impl Transcripts for Projects {
    fn list(&self, env: &Env, cwd: Option<&Path>) -> Vec<Transcript> {
        root(env).map(|root| list(&root, cwd)).unwrap_or_default()
    }

    fn find(&self, env: &Env, agent_session_id: &str) -> Option<Transcript> {
        find(&root(env)?, agent_session_id)
    }

    fn identify(&self, path: &Path) -> Option<Transcript> {
        identify(path)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Entries::default())
    }

    fn entries(&self) -> Box<dyn crate::transcript::Entries> {
        Box::new(super::entries::Read::default())
    }

    fn write(&self, env: &Env, carried: &Carried<'_>) -> Option<Written> {
        // Of a longer one the agent adds a sum that is its own.
        let slug = Some(slug(carried.directory)).filter(|slug| slug.len() <= LONGEST_SLUG)?;
        let directory = root(env)?.join(slug);
        let path = directory.join(format!("{}.jsonl", carried.id));
        Some(Written::File { path, text: carry::lines(carried, super::TESTED) })
    }

    fn is_whole(&self, path: &Path) -> bool {
        // Of a file that cannot be read nothing is known.
        file::open_any(path).map_or(true, |file| is_whole(BufReader::new(file)))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Link {
    uuid: Option<String>,
    parent_uuid: Option<String>,
}

/// Every message names the one before it; only the first of a conversation has none.
fn is_whole(transcript: impl BufRead) -> bool {
    let mut links = transcript
        .split(b'\n')
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_slice::<Link>(unmarked(&line)).ok())
        .filter(|link| link.uuid.is_some());
    match links.next().and_then(|first| first.parent_uuid) {
        None => true,
        Some(before) => links.any(|link| link.uuid.as_ref() == Some(&before)),
    }
}

fn root(env: &Env) -> Option<PathBuf> {
    Some(super::home(env)?.join("projects"))
}

/// The directory name of a project: its resolved path with all but letters and digits replaced.
pub(crate) fn slug(cwd: &Path) -> String {
    let path = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
    path.to_string_lossy().chars().map(plain).collect()
}

/// Whether a directory of projects is that of `slug`.
fn is_project(dir: &str, slug: &str) -> bool {
    if slug.len() <= LONGEST_SLUG {
        return dir == slug;
    }
    let sum = dir.strip_prefix(&slug[..LONGEST_SLUG]).and_then(|rest| rest.strip_prefix('-'));
    sum.is_some_and(|sum| !sum.is_empty() && sum.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// All transcripts below `root`, sorted by path.
pub(crate) fn list(root: &Path, cwd: Option<&Path>) -> Vec<Transcript> {
    let slug = cwd.map(slug);
    let fits = |dir: &PathBuf| {
        let name = dir.file_name().and_then(OsStr::to_str);
        slug.as_ref().is_none_or(|slug| name.is_some_and(|name| is_project(name, slug)))
    };
    let mut all = Vec::new();
    for project in entries(root).into_iter().filter(fits) {
        for entry in entries(&project) {
            all.extend(identify(&entry));
            all.extend(entries(&entry.join("subagents")).iter().filter_map(|path| identify(path)));
        }
    }
    all
}

/// The transcript of a conversation, whatever project it is in, without reading all of them.
pub(crate) fn find(root: &Path, id: &str) -> Option<Transcript> {
    if id.is_empty() || id.contains(['/', '\\', '\0']) || id.starts_with('.') {
        return None;
    }
    let file = format!("{id}.jsonl");
    let found = entries(root).into_iter().map(|dir| dir.join(&file)).find(|path| path.is_file());
    found.and_then(|path| identify(&path))
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(all) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut all: Vec<PathBuf> = all.flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// Which conversation a file is of, from where it is.
pub(crate) fn identify(path: &Path) -> Option<Transcript> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let dir = path.parent()?;
    if dir.file_name() == Some(OsStr::new("subagents")) {
        let id = dir.parent()?.file_name()?.to_str()?;
        return Some(Transcript {
            path: path.to_owned(),
            agent_session_id: id.to_owned(),
            subagent: Some(stem.strip_prefix("agent-").unwrap_or(stem).to_owned()),
        });
    }
    let (path, agent_session_id) = (path.to_owned(), stem.to_owned());
    Some(Transcript { path, agent_session_id, subagent: None })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    session_id: Option<String>,
    agent_id: Option<String>,
    is_meta: bool,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    version: Option<String>,
    #[serde(rename = "totalCostUSD")]
    total_cost_usd: Option<f64>,
    compact_metadata: Option<Value>,
    error: Option<Value>,
    is_api_error_message: bool,
    api_error_status: Option<u16>,
    content: Option<Value>,
}

/// Reads a transcript.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    started: Option<String>,
    counted: Option<String>,
}

impl Reader for Entries {
    fn read(&mut self, line: &[u8]) -> Parsed {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Parsed::default();
        }
        match serde_json::from_slice::<Entry<'_>>(line) {
            Ok(entry) => self.understand(entry),
            // The last line of a process that was killed may be torn.
            Err(_) => Parsed::unknown("not an entry"),
        }
    }
}

impl Entries {
    fn understand(&mut self, mut entry: Entry<'_>) -> Parsed {
        let at = entry.timestamp.take().and_then(|at| at.parse::<Timestamp>().ok());
        let mut events = Vec::new();
        self.start(&entry, &mut events);
        let subagent = entry.agent_id.take();
        match &*entry.kind {
            "assistant" => self.assistant(entry, &mut events),
            // What the agent program tells the model behind the person's back is no prompt.
            "user" if entry.is_meta => events.push(Event::Unknown { kind: "user/meta".to_owned() }),
            "user" => {
                if let Some(message) = entry.message {
                    message.heard(&mut events);
                }
            }
            "system" => events.push(system(&entry)),
            "cost-state" if entry.total_cost_usd.is_some() => {
                events.push(Event::Cost { usd: entry.total_cost_usd.unwrap_or_default() });
            }
            kind => events.push(Event::Unknown { kind: kind.to_owned() }),
        }
        Parsed { events, subagent, at, ..Parsed::default() }
    }

    /// The first entry with an id says whose transcript it is.
    fn start(&mut self, entry: &Entry<'_>, events: &mut Vec<Event>) {
        let is_message = matches!(&*entry.kind, "user" | "assistant");
        if let Some(id) =
            entry.session_id.as_ref().filter(|id| is_message && self.started.as_ref() != Some(*id))
        {
            self.started = Some(id.clone());
            let (agent_session_id, version) = (id.clone(), entry.version.clone());
            events.push(Event::Started { agent_session_id, model: None, version });
        }
    }

    fn assistant(&mut self, entry: Entry<'_>, events: &mut Vec<Event>) {
        let Some(message) = entry.message else { return };
        if entry.is_api_error_message {
            let status = entry.api_error_status;
            let kind = status.map_or(FailureKind::Other, FailureKind::of_status);
            events.push(Event::Error(Failure { kind, status, message: message.plain_text() }));
            return;
        }
        if let Some(usage) = &message.usage
            && (message.id.is_none() || message.id != self.counted)
        {
            self.counted.clone_from(&message.id);
            let (tokens, span) = (usage.tokens(), Span::Request);
            events.push(Event::Usage { tokens, span, context_window: None });
        }
        message.said(events);
    }
}

fn system(entry: &Entry<'_>) -> Event {
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    match entry.subtype.as_deref() {
        Some("compact_boundary") => {
            let trigger = entry.compact_metadata.as_ref().and_then(|meta| meta.get("trigger"));
            Event::Compacted { trigger: trigger.and_then(Value::as_str).map(str::to_owned) }
        }
        Some("api_error") => {
            let status = entry.error.as_ref().and_then(|error| error.get("status"));
            let status = status.and_then(Value::as_u64).and_then(|status| status.try_into().ok());
            let kind = status.map_or(FailureKind::Connection, FailureKind::of_status);
            Event::Error(Failure {
                kind,
                status,
                message: text(&entry.content).unwrap_or_default(),
            })
        }
        Some("informational") => Event::Notice { text: text(&entry.content).unwrap_or_default() },
        other => Event::Unknown { kind: format!("system/{}", other.unwrap_or_default()) },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_long_path_is_found_by_its_beginning_and_a_sum() {
        let slug = "-x".repeat(125);
        let cut = &slug[..200];
        assert!(is_project(&format!("{cut}-1a2b3c"), &slug));
        assert!(!is_project(cut, &slug));
        assert!(!is_project(&format!("{cut}-1a/2b"), &slug));
        assert!(is_project("-home-dev", "-home-dev") && !is_project("-home-dev-x", "-home-dev"));
    }

    #[test]
    fn transcripts_are_found_by_project_and_by_id() {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("my work");
        fs::create_dir_all(&work).unwrap();
        let project = home.path().join(".claude/projects").join(slug(&work));
        fs::create_dir_all(project.join("id-1/subagents")).unwrap();
        fs::write(project.join("id-1.jsonl"), "").unwrap();
        fs::write(project.join("id-1/subagents/agent-a7.jsonl"), "").unwrap();
        fs::write(project.join("id-1/subagents/agent-a7.meta.json"), "").unwrap();
        let env = Env::from([("HOME".into(), home.path().into())]);
        let all = Projects.list(&env, Some(&work));
        let of = |each: &Transcript| (each.agent_session_id.clone(), each.subagent.clone());
        let ids: Vec<_> = all.iter().map(of).collect();
        assert_eq!(ids, [("id-1".into(), Some("a7".into())), ("id-1".into(), None)]);
        assert!(Projects.list(&env, Some(home.path())).is_empty());
        assert!(Projects.find(&env, "id-1").is_some());
        assert!(Projects.find(&env, "../id-1").is_none());
    }

    #[test]
    fn a_transcript_whose_first_message_follows_another_has_lost_its_beginning() {
        let meta = r#"{"type":"queue-operation","operation":"enqueue"}"#;
        let message = |id: &str, parent: &str| {
            format!(r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"message":{{}}}}"#)
        };
        let (first, second) = (message("a", "null"), message("b", r#""a""#));
        let marked = format!("\u{feff}{first}");
        for (lines, whole) in [
            (vec![meta, &first, &second], true),
            (vec![meta, &second], false),
            (vec![&second, &first], true),
            (vec![&marked, &second], true),
            (vec![meta], true),
            (vec![], true),
        ] {
            assert_eq!(is_whole(lines.join("\n").as_bytes()), whole, "{lines:?}");
        }
    }

    #[test]
    fn entries_become_the_events_of_the_stream() {
        let mut reader = Entries::default();
        let mut read = |line: &str| reader.read(line.as_bytes()).events;
        let prompt = read(
            r#"{"type":"user","sessionId":"s","version":"2","message":{"role":"user","content":"do it"}}"#,
        );
        assert_eq!(prompt[1], Event::Prompt { text: "do it".into() });
        assert!(
            matches!(&prompt[0], Event::Started { agent_session_id, .. } if agent_session_id == "s")
        );
        let said = read(
            r#"{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":7},"content":[{"type":"text","text":"done"}]}}"#,
        );
        assert_eq!(said.last(), Some(&Event::Text { text: "done".into() }));
        assert_eq!(read(r#"{"type":"cost-state","totalCostUSD":0.5}"#), [Event::Cost { usd: 0.5 }]);
        assert!(matches!(&read(r#"{"type":"user","isMe"#)[0], Event::Unknown { .. }));
        assert!(matches!(&read(r#"{"type":"api-request","params":{}}"#)[0], Event::Unknown { .. }));
    }
}
