//! The simulation's memory: a transcript per conversation, in Claude Code's layout.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use heirloom_repo::file;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::Args;
use crate::claude::transcript::{find, slug};

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) id: String,
    path: PathBuf,
    /// The messages so far.
    pub(super) messages: Vec<Value>,
    pub(super) cost_usd: f64,
    /// How often the model was asked.
    pub(super) requests: u32,
}

/// Why there is no conversation: what goes to stderr, and the id that was not found.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) unknown_id: Option<String>,
}

fn refuse<T>(message: String) -> Result<T, Refusal> {
    Err(Refusal { message, unknown_id: None })
}

impl Conversation {
    pub(super) fn open(root: &Path, cwd: &Path, args: &Args) -> Result<Self, Refusal> {
        let dir = root.join(slug(cwd).chars().take(200).collect::<String>());
        if let Some(id) = &args.session_id {
            if id.len() != 36 {
                return refuse("Error: Invalid session ID. Must be a valid UUID.".to_owned());
            }
            if find(root, id).is_some() {
                return refuse(format!("Error: Session ID {id} is already in use."));
            }
        }
        let fresh = || match &args.session_id {
            Some(id) => Ok(id.clone()),
            None => fresh_id(&dir, cwd).or_else(|error| refuse(format!("Error: {error}"))),
        };
        let Some(resumed) = &args.resume else {
            let id = fresh()?;
            let path = dir.join(format!("{id}.jsonl"));
            return Ok(Self { id, path, messages: Vec::new(), cost_usd: 0.0, requests: 0 });
        };
        let Some(known) = find(root, resumed) else {
            let message = format!("No conversation found with session ID: {resumed}");
            return Err(Refusal { message, unknown_id: Some(resumed.clone()) });
        };
        let (messages, cost_usd, requests) = read(&known.path);
        if !args.fork {
            return Ok(Self {
                id: resumed.clone(),
                path: known.path,
                messages,
                cost_usd,
                requests,
            });
        }
        let id = fresh()?;
        let path = dir.join(format!("{id}.jsonl"));
        let copied = file::create_dir_all(&dir).and_then(|()| file::copy(&known.path, &path));
        if let Err(error) = copied {
            return refuse(format!("Error: {}", error.source));
        }
        Ok(Self { id, path, messages, cost_usd, requests })
    }

    /// Adds a message, and keeps it.
    pub(super) fn add(&mut self, role: &str, content: &Value, at: Timestamp) -> io::Result<()> {
        let message = json!({"role": role, "content": content});
        let number = self.messages.len();
        self.messages.push(message.clone());
        self.keep(&json!({
            "type": role, "sessionId": self.id, "message": message,
            "uuid": format!("{}-{number}", self.id),
            "timestamp": format!("{at:.3}"),
        }))
    }

    pub(super) fn keep_cost(&mut self, usd: f64, requests: u32) -> io::Result<()> {
        self.keep(&json!({"type": "cost-state", "sessionId": self.id, "totalCostUSD": usd,
                          "requests": requests}))
    }

    fn keep(&self, entry: &Value) -> io::Result<()> {
        if let Some(dir) = self.path.parent() {
            file::create_dir_all(dir)?;
        }
        let mut file = file::open_with(OpenOptions::new().create(true).append(true), &self.path)?;
        file.write_all(format!("{entry}\n").as_bytes())
    }
}

fn read(path: &Path) -> (Vec<Value>, f64, u32) {
    let text = file::read_to_string(path).unwrap_or_default();
    let (mut messages, mut cost, mut requests) = (Vec::new(), 0.0, 0);
    for entry in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let Some(usd) = entry.get("totalCostUSD").and_then(Value::as_f64) {
            cost = usd;
            let counted = entry.get("requests").and_then(Value::as_u64);
            requests = counted.and_then(|count| count.try_into().ok()).unwrap_or_default();
        }
        messages.extend(entry.get("message").cloned());
    }
    (messages, cost, requests)
}

/// An id that is new, taken at once so that no other process takes it too, and the same when
/// everything is the same.
fn fresh_id(dir: &Path, cwd: &Path) -> io::Result<String> {
    file::create_dir_all(dir)?;
    let mut number = 0;
    loop {
        let id = id_of(&format!("{}#{number}", cwd.display()));
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true);
        match file::open_with(options, dir.join(format!("{id}.jsonl"))) {
            Ok(_) => return Ok(id),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn id_of(text: &str) -> String {
    let [high, low] = [1, 2].map(|salt| sum(salt, text.as_bytes()));
    let hex = format!("{high:016x}{low:016x}");
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

fn sum(salt: u64, bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64.wrapping_add(salt);
    for byte in bytes {
        sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        sum ^= sum >> 29;
    }
    sum
}
