//! Faults of ours: each is logged once, and shown to somebody.

use std::io::Write;
use std::path::{Path, PathBuf};

use heirloom_core::redact;
use heirloom_repo::{append_private, make_private_dir, read_text, replace_private};
use jiff::Timestamp;

/// The log's name in heirloom's home.
pub const LOG: &str = "hook.log";
/// The file that says up to where it was told to somebody.
pub(super) const SEEN: &str = "hook.log.seen";
/// The log is cut to half of this when it grows beyond it.
const MOST_BYTES: u64 = 256 * 1024;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    pub at: Timestamp,
    pub what: String,
}

/// Where faults are logged.
pub fn file(home: &Path) -> PathBuf {
    home.join(LOG)
}

/// Logs faults that are not in the log already. Returns whether they are there now.
pub fn log(home: &Path, now: Timestamp, faults: &[String]) -> bool {
    if faults.is_empty() {
        return true;
    }
    let file = file(home);
    let known = read(&file);
    let _ = make_private_dir(home);
    if known.len() as u64 > MOST_BYTES {
        let half = known.len() / 2;
        let rest = known.get(half..).and_then(|rest| rest.split_once('\n')).map_or("", |cut| cut.1);
        let _ = replace_private(&file, rest.as_bytes());
    }
    let Ok(mut out) = append_private(&file) else { return false };
    let mut is_written = true;
    for fault in faults {
        let line = one_line(&redact::redact(fault).text);
        let is_known = known
            .lines()
            .any(|logged| logged.split_once(' ').is_some_and(|(_, what)| what == line));
        if !is_known {
            // One write a line: several hooks may log at once.
            is_written &= out.write_all(format!("{now} {line}\n").as_bytes()).is_ok();
        }
    }
    is_written
}

fn read(file: &Path) -> String {
    read_text(file).ok().flatten().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// The faults in the log, oldest first.
pub fn all(home: &Path) -> Vec<Logged> {
    let text = read(&file(home));
    let read = |line: &str| {
        let (at, what) = line.split_once(' ')?;
        Some(Logged { at: at.parse().ok()?, what: what.to_owned() })
    };
    text.lines().filter_map(read).collect()
}

/// The faults that nobody was told about yet. They are not told again.
pub fn unseen(home: &Path) -> Vec<String> {
    let log = read(&file(home));
    if log.is_empty() {
        return Vec::new();
    }
    let mark = home.join("cache").join(SEEN);
    let seen: usize = read(&mark).trim().parse().unwrap_or(0);
    let new = log.get(seen..).unwrap_or(&log);
    let faults: Vec<String> =
        new.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect();
    if !faults.is_empty() {
        let _ = make_private_dir(&home.join("cache"));
        let _ = replace_private(&mark, log.len().to_string().as_bytes());
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_logged_once_and_told_once() {
        let home = tempfile::TempDir::new().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let faults = ["the ledger\nis busy".to_owned(), "another".to_owned()];
        log(home.path(), now, &faults);
        log(home.path(), now, &faults);
        assert_eq!(all(home.path()).len(), 2);
        assert_eq!(unseen(home.path()), ["the ledger is busy", "another"]);
        assert!(unseen(home.path()).is_empty());
        log(home.path(), now, &["new".to_owned()]);
        assert_eq!(unseen(home.path()), ["new"]);
    }
}
