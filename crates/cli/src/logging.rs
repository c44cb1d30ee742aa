//! What heirloom does inside, for whoever looks for a fault: on stderr with `-v`, and in a file.
//!
//! The file is `log/heirloom.log` in heirloom's home. What happens to the ledger and what commands start is
//! in it without being asked for; `HEIRLOOM_LOG` says otherwise (`debug`, or `heirloom_repo=trace,info`),
//! and is the only thing that makes a hook write there. It is made by the first line, so a command with
//! nothing to say makes nothing; where it cannot be written there is no log, and nobody is held up.
//!
//! No line has a secret in it or acts on a terminal.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use heirloom_core::redact::redact;
use heirloom_core::visible::visible;
use heirloom_engine::clock::Clock;
use heirloom_engine::here;
use heirloom_repo::file;
use heirloom_repo::{append_private, make_private_dir};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt as lines};

use crate::printer;

/// What says how much is logged.
pub(crate) const VARIABLE: &str = "HEIRLOOM_LOG";

/// A file that is larger is put aside.
const MOST_BYTES: u64 = 1024 * 1024;

/// How many that were put aside are kept.
const KEPT: u32 = 3;

/// Begins logging: to stderr as often as `-v` was given, and to the file.
pub(crate) fn begin(verbose: u8) -> Result<(), String> {
    let asked = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let wanted = asked.as_deref().unwrap_or("heirloom=info");
    let wanted: Targets = wanted.parse().map_err(|error| {
        format!(
            "{VARIABLE} is not a filter: {error}; `debug` is one, and `heirloom_repo=trace,info`"
        )
    })?;
    let shown = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let env: here::Env = std::env::vars_os().collect();
    let file = here::home(&env).map(|home| home.join("log/heirloom.log"));
    let clock = std::env::var("HEIRLOOM_CLOCK").ok();
    let clock = Time(Clock::from_setting(clock.as_deref()).unwrap_or_default());
    let log = File { path: file, opened: Mutex::new(None) };
    let to_file = lines::layer()
        .with_ansi(false)
        .with_timer(clock)
        .with_writer(move || Line { to: log.open(), text: Vec::new() })
        .with_filter(wanted);
    let to_person = lines::layer()
        .with_ansi(false)
        .without_time()
        .with_writer(|| Line { to: Some(Sink::Person), text: Vec::new() })
        .with_filter(Targets::new().with_target("heirloom", shown));
    // A second time there is nothing to begin.
    let _ = tracing_subscriber::registry().with(to_file).with(to_person).try_init();
    Ok(())
}

/// Begins logging in a hook, where somebody asked for it.
pub(crate) fn begin_in_hook() {
    if std::env::var_os(VARIABLE).is_some() {
        // An agent has no use for what is wrong with it; every command says so.
        let _ = begin(0);
    }
}

/// The one clock, in front of a line.
struct Time(Clock);

impl FormatTime for Time {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{} {}", self.0.now(), std::process::id())
    }
}

/// The log, opened by its first line.
struct File {
    path: Option<PathBuf>,
    opened: Mutex<Option<fs::File>>,
}

impl File {
    fn open(&self) -> Option<Sink> {
        let mut opened = self.opened.lock().ok()?;
        if opened.is_none() {
            let path = self.path.as_deref()?;
            make_private_dir(path.parent()?).ok()?;
            rotate(path);
            *opened = append_private(path).ok();
        }
        opened.as_ref()?.try_clone().ok().map(Sink::File)
    }
}

/// Puts a log aside that has become too large, and the oldest away.
fn rotate(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() > MOST_BYTES) {
        let aside = |number: u32| path.with_extension(format!("log.{number}"));
        for number in (1..KEPT).rev() {
            let _ = file::rename(aside(number), aside(number + 1));
        }
        // Of two processes that do this at once, one moves a log that is short. Nothing is lost by it.
        let _ = file::rename(path, aside(1));
    }
}

enum Sink {
    File(fs::File),
    Person,
}

/// One line, written as a whole when it is complete: other processes write there too.
struct Line {
    to: Option<Sink>,
    text: Vec<u8>,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        if text.is_empty() {
            return;
        }
        let text = redact(&text).text;
        match &mut self.to {
            Some(Sink::File(file)) => {
                let _ = file.write_all(visible(&text).as_bytes());
            }
            Some(Sink::Person) => printer::err(&text),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_too_large_is_put_aside_and_three_are_kept() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("heirloom.log");
        for round in 0..6 {
            fs::write(&path, vec![b'0' + round; 1 + usize::try_from(MOST_BYTES).unwrap()]).unwrap();
            rotate(&path);
        }
        let mut names: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["heirloom.log.1", "heirloom.log.2", "heirloom.log.3"]);
        assert_eq!(fs::read(dir.path().join("heirloom.log.1")).unwrap()[0], b'5');
        assert_eq!(fs::read(dir.path().join("heirloom.log.3")).unwrap()[0], b'3');
    }
}
