//! Commands of a stage: verification, and the stop rule `command`.
//!
//! They run like an agent does, in a process group of their own, and are gone when the run stops.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use heirloom_agents::{CommandLine, Env, Exit, Input, Next, Process, Taps, by_name};
use heirloom_core::run::context::Verification;

use crate::events::clean;

/// How much of the end of what a command prints is kept.
const TAIL: usize = 4000;
/// How long a command may take.
const LONGEST: Duration = Duration::from_hours(1);

/// Runs a shell command, until `must_stop` says so. Nothing is returned when it succeeds.
pub(crate) fn check(
    command: &str,
    cwd: &Path,
    env: &Env,
    must_stop: &dyn Fn() -> bool,
) -> Option<Verification> {
    let said = |exit_code, output: String| Verification {
        command: command.to_owned(),
        exit_code,
        output: clean(&output),
    };
    let agent = by_name("command")?;
    let line = CommandLine {
        program: "/bin/sh".into(),
        args: ["-c", command].map(OsString::from).into(),
        env: env.clone(),
        cwd: cwd.to_owned(),
        stdin: Vec::new(),
        input: Input::Once,
        files: Vec::new(),
        asked_for: None,
        expected_id: None,
        reports: Vec::new(),
    };
    let mut process = match Process::spawn(agent, line, Taps::default()) {
        Ok(process) => process,
        Err(error) => return Some(said(None, error.to_string())),
    };
    let began = Instant::now();
    let mut output = String::new();
    loop {
        match process.next_line_within(Duration::from_millis(100)) {
            Next::Line(line) => {
                output.push_str(&String::from_utf8_lossy(&line.raw));
                output.push('\n');
                keep_end(&mut output);
            }
            Next::End => break,
            Next::Silence | Next::Retry(_) => {}
        }
        if must_stop() || began.elapsed() > LONGEST {
            process.stopper().kill();
        }
    }
    let finished = process.finish();
    output.push_str(&finished.stderr);
    keep_end(&mut output);
    match finished.exit {
        Exit::Code(0) if finished.stopped.is_none() => None,
        Exit::Code(code) => Some(said(Some(code), output)),
        _ => Some(said(None, output)),
    }
}

/// Keeps the last lines.
fn keep_end(text: &mut String) {
    if text.len() <= 2 * TAIL {
        return;
    }
    let mut from = text.len() - TAIL;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.drain(..from);
}
