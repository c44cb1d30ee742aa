//! What is measured, and kept for a while: the size of a branch, the number that a command prints.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use heirloom_core::guard::check::Fault;
use heirloom_core::guard::requirement::Measure;
use heirloom_repo::file;
use heirloom_repo::{changes, child};
use jiff::Timestamp;

use super::cache;
use crate::here::Here;

/// The most of a command's output that is read.
const MOST_OUTPUT: u64 = 64 * 1024;

/// The value that was measured last, and when.
pub(super) fn kept(here: &Here, measure: &Measure) -> Option<(Timestamp, f64)> {
    let text = file::read_to_string(file(here, measure)).ok()?;
    let (at, value) = text.trim().split_once(' ')?;
    let at = Timestamp::from_millisecond(at.parse().ok()?).ok()?;
    Some((at, value.parse().ok()?))
}

/// The value, and when it was measured: now, unless that was done within the last `max_age` seconds. A
/// command may take `patience` seconds.
pub(super) fn measure(
    here: &Here,
    measure: &Measure,
    max_age: u64,
    patience: u64,
) -> Result<(f64, Timestamp), Fault> {
    let now = here.clock.now();
    if let Some((at, value)) = kept(here, measure) {
        let age = now.duration_since(at).as_secs();
        if u64::try_from(age).is_ok_and(|age| age < max_age) {
            return Ok((value, at));
        }
    }
    let value = value(here, measure, patience)?;
    cache::write(&file(here, measure), format!("{} {value}", now.as_millisecond()).as_bytes());
    Ok((value, now))
}

fn value(here: &Here, measure: &Measure, patience: u64) -> Result<f64, Fault> {
    match measure {
        #[expect(clippy::cast_precision_loss, reason = "no branch has that many lines")]
        Measure::BranchSize => changes::size(&here.place)
            .map(|lines| lines as f64)
            .ok_or_else(|| fault("git cannot tell how large the branch is")),
        Measure::Command(command) => {
            let (status, output) = run(&here.place.root, command, patience)?;
            if !status.success() {
                return Err(fault(&format!("`{command}` failed")));
            }
            let number = output.split_whitespace().next().and_then(|word| word.parse().ok());
            number
                .filter(|number: &f64| number.is_finite())
                .ok_or_else(|| fault(&format!("`{command}` prints no number")))
        }
    }
}

fn file(here: &Here, measure: &Measure) -> PathBuf {
    let root = here.place.root.as_os_str().as_encoded_bytes();
    let measure = match measure {
        Measure::BranchSize => "",
        Measure::Command(command) => command,
    };
    cache::file(here, "measure", &[root, here.place.head.key().as_bytes(), measure.as_bytes()])
}

fn fault(what: &str) -> Fault {
    Fault { what: what.to_owned() }
}

/// Whether a command succeeds within so many seconds.
pub(super) fn succeeds(root: &Path, command: &str, seconds: u64) -> Result<bool, Fault> {
    run(root, command, seconds).map(|(status, _)| status.success())
}

/// Runs a command of the settings in the repository's root, and ends it when its time is up.
fn run(root: &Path, command: &str, seconds: u64) -> Result<(ExitStatus, String), Fault> {
    let failed = |error: std::io::Error| fault(&format!("`{command}` cannot be run: {error}"));
    let mut child = child::shell(command)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let reader = child.stdout.take().map(|stdout| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stdout.take(MOST_OUTPUT).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    let ended = child::wait(&mut child, Duration::from_secs(seconds)).map_err(failed)?;
    let status =
        ended.ok_or_else(|| fault(&format!("`{command}` took longer than {seconds} s")))?;
    let is_read = reader.as_ref().is_none_or(|reader| {
        // What it left behind may hold the pipe open; what it printed is there by now.
        (0..50).any(|_| {
            reader.is_finished() || {
                std::thread::sleep(Duration::from_millis(2));
                false
            }
        })
    });
    let text = if is_read { reader.and_then(|reader| reader.join().ok()) } else { None };
    Ok((status, text.unwrap_or_default()))
}
