//! The tools of the simulation, and who may use them.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use heirloom_repo::{child, file};
use serde_json::Value;

use super::args::Args;
use crate::env::Env;

/// Whether a tool may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    Allowed,
    Unknown,
    Ask,
    Denied,
}

pub(super) fn permission(args: &Args, tool: &str) -> Permission {
    let names = |list: &[String]| {
        let is_this = |each: &String| each.split('(').next() == Some(tool);
        list.iter().any(is_this)
    };
    if names(&args.disallowed) {
        return Permission::Unknown;
    }
    let by_mode = match args.permission_mode.as_deref() {
        Some("bypassPermissions" | "auto") => true,
        Some("acceptEdits") => tool == "Write",
        _ => false,
    };
    if by_mode || tool == "Read" || names(&args.allowed) {
        return Permission::Allowed;
    }
    if args.asks_on_stdio { Permission::Ask } else { Permission::Denied }
}

/// What a tool answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Answer {
    pub(super) fn good(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}

/// Uses a tool; `None` when `interrupted` said so meanwhile.
pub(super) fn run(
    tool: &str,
    input: &Value,
    cwd: &Path,
    env: &Env,
    interrupted: &mut dyn FnMut() -> bool,
) -> Option<Answer> {
    let field = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(match tool {
        "Bash" => return bash(field("command"), cwd, env, interrupted),
        "Read" => match file::read_to_string(cwd.join(field("file_path"))) {
            Ok(text) => Answer::good(text),
            Err(error) => Answer::bad(error.source.to_string()),
        },
        "Write" => match file::write(cwd.join(field("file_path")), field("content")) {
            Ok(()) => Answer::good("written"),
            Err(error) => Answer::bad(error.source.to_string()),
        },
        _ => Answer::good("ok"),
    })
}

fn bash(
    command: &str,
    cwd: &Path,
    env: &Env,
    interrupted: &mut dyn FnMut() -> bool,
) -> Option<Answer> {
    let child = child::shell(command)
        .env_clear()
        .envs(env)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Some(Answer::bad(error.to_string())),
    };
    let stdout = child.stdout.take()?;
    let (said, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.take(1024 * 1024).read_to_end(&mut text);
        let _ = said.send(String::from_utf8_lossy(&text).trim_end().to_owned());
    });
    loop {
        if let Ok(text) = heard.recv_timeout(Duration::from_millis(5)) {
            let good = child.wait().is_ok_and(|status| status.success());
            return Some(if good { Answer::good(text) } else { Answer::bad(text) });
        }
        if interrupted() {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
    }
}
