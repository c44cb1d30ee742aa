//! What an agent says, without secrets: for what is written down where others look.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use heirloom_core::redact::{redact, redact_json};
use heirloom_repo::append_private;
use serde::de::IgnoredAny;

/// The text without secrets. What was JSON is JSON afterwards.
pub(crate) fn redacted(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Cow::Borrowed(bytes) };
    let Cow::Owned(clean) = redact(text).text else { return Cow::Borrowed(bytes) };
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_json(&clean) || !is_json(text) {
        return Cow::Owned(clean.into_bytes());
    }
    // A secret that reached over the end of its string took the quotes with it.
    let mut value = serde_json::from_str(text).unwrap_or_default();
    redact_json(&mut value);
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Cow::Owned(format!("{value}{end}").into_bytes())
}

/// A file that is only there when something was written to it, without secrets. A line is written when it is whole.
#[derive(Debug)]
pub(crate) struct Clean {
    path: PathBuf,
    file: Option<fs::File>,
    /// The beginning of a line.
    pending: Vec<u8>,
}

/// A line that is longer is written in parts: memory stays flat.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

impl Clean {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None, pending: Vec::new() }
    }

    fn put(&mut self, whole: usize) -> io::Result<()> {
        if whole == 0 {
            return Ok(());
        }
        let rest = self.pending.split_off(whole);
        let lines = std::mem::replace(&mut self.pending, rest);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(append_private(&self.path)?),
        };
        lines
            .split_inclusive(|byte| *byte == b'\n')
            .try_for_each(|line| file.write_all(&redacted(line)))
    }
}

impl Write for Clean {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let is_long = whole == 0 && self.pending.len() > LONGEST_LINE;
        self.put(if is_long { self.pending.len() } else { whole })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), fs::File::flush)
    }
}

impl Drop for Clean {
    fn drop(&mut self) {
        // What ended without the end of its line.
        let _ = self.put(self.pending.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_late_file_is_only_there_when_it_has_something() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("stderr.txt");
        let mut late = Clean::new(path.clone());
        late.flush().unwrap();
        assert!(!path.exists());
        late.write_all(b"x\nunfini").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x\n");
        late.write_all(b"shed").unwrap();
        drop(late);
        assert_eq!(fs::read(&path).unwrap(), b"x\nunfinished");
    }

    #[test]
    fn no_secret_is_written_and_json_stays_json() {
        let dir = TempDir::new().unwrap();
        let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
        let path = dir.path().join("events.jsonl");
        let line = format!("{{\"env\":\"password={token}\",\"n\":1}}\n");
        fs::write(&path, redacted(line.as_bytes())).unwrap();
        let mut late = Clean::new(path.clone());
        // Cut in the middle of the secret.
        let (one, two) = line.split_at(30);
        late.write_all(one.as_bytes()).unwrap();
        late.write_all(two.as_bytes()).unwrap();
        drop(late);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&token[4..]), "{text}");
        assert_eq!(text.lines().count(), 2);
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["n"], 1);
        }
    }
}
