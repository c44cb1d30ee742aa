//! Single lines of a transcript that was taken in.
//!
//! An agent's own file, where nobody touched it since, is read once for each line. In the archive, the frame of a line has
//! to be found by the frames before it and unpacked, which took a third of all that a search did.

use std::cell::{OnceCell, RefCell};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::archive::{Archive, Kept, Stamp};
use super::frames::{Frames, Unpacker};

/// How much is read at first, which is all of most lines, and how much more at a time.
const FIRST: usize = 4 << 10;
const MORE: usize = 64 << 10;

/// A transcript of which lines are read.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) kept: Kept,
    own: Option<File>,
    archive: Archive,
    frames: OnceCell<Option<Frames>>,
}

/// The agent's own file, where it may still be what was taken in of it, and what it looked like then. Nobody else's words
/// may have been masked in what is kept.
pub(super) fn own_file(kept: &Kept) -> Option<(File, Stamp)> {
    let is_whole = |stamp: &Stamp| stamp.size == kept.bytes && kept.masked_to == 0;
    let stamp = kept.stamp.filter(is_whole)?;
    let file = heirloom_repo::open(&kept.path).ok()?;
    is_untouched(&file, stamp).then_some((file, stamp))
}

/// Asked after something was read, too: somebody may have written to it meanwhile.
pub(super) fn is_untouched(file: &File, stamp: Stamp) -> bool {
    Stamp::of(file).is_ok_and(|now| now == stamp)
}

impl Lines {
    pub(super) fn new(archive: Archive, kept: Kept) -> Self {
        let own = own_file(&kept).map(|(file, _)| file);
        Self { kept, own, archive, frames: OnceCell::new() }
    }

    /// The line that begins at `offset` of the text, without its end; nothing where the text ends before. What lines are
    /// unpacked with is made when the first one is.
    pub(crate) fn line(
        &self,
        offset: u64,
        unpacker: &RefCell<Option<Unpacker>>,
    ) -> io::Result<Option<Vec<u8>>> {
        if let (Some(own), Some(stamp)) = (&self.own, self.kept.stamp)
            && let Ok(line) = line_of(own, offset, self.kept.bytes)
            && is_untouched(own, stamp)
        {
            return Ok(line);
        }
        let frames = self.frames.get_or_init(|| self.archive.frames(&self.kept).ok());
        let Some(frames) = frames else { return Ok(None) };
        let mut unpacker = unpacker.borrow_mut();
        let unpacker = match &mut *unpacker {
            Some(known) => known,
            none => none.insert(Unpacker::new()?),
        };
        frames.line(offset, unpacker)
    }
}

/// The line that begins at `offset` of a file, of which the first `length` bytes count.
fn line_of(file: &File, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
    if offset >= length {
        return Ok(None);
    }
    let (mut line, mut more) = (Vec::new(), FIRST);
    loop {
        let known = line.len();
        let left = length - offset - known as u64;
        let wanted = usize::try_from(left).unwrap_or(more).min(more);
        line.resize(known + wanted, 0);
        file.read_exact_at(&mut line[known..], offset + known as u64)?;
        if let Some(end) = line[known..].iter().position(|byte| *byte == b'\n') {
            line.truncate(known + end);
            return Ok(Some(line));
        }
        if wanted as u64 == left {
            return Ok(Some(line));
        }
        more = MORE;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_agents_own_file_is_read_until_somebody_touches_it_or_words_were_masked() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("t.jsonl");
        fs::write(&path, "own\n").unwrap();
        let stamp = Stamp::of(&File::open(&path).unwrap()).unwrap();
        let kept = json!({"session": "0198c0de-0000-7000-8000-000000000001", "agent": "claude",
            "agent_session_id": "s", "path": path, "generation": 1, "bytes": 4, "stored": 0,
            "frames": 0, "sums": ["", ""], "stamp": stamp, "archived_at": "2026-01-01T00:00:00Z"});
        let mut kept: Kept = serde_json::from_value(kept).unwrap();
        let archive = Archive::new(home.path());
        // Other words, so that it is seen which is read.
        archive.open(kept.session, true).unwrap().unwrap().add(&mut kept, b"our\n", true).unwrap();
        let unpacker = RefCell::new(None);
        let first = |lines: &Lines| {
            let line = lines.line(0, &unpacker).unwrap().unwrap();
            let whole = archive.read_either(&lines.kept).unwrap();
            assert_eq!(line, whole.trim_ascii_end());
            String::from_utf8(line).unwrap()
        };
        let open = archive.lines(kept.clone());
        assert_eq!(first(&open), "own");
        let masked = Kept { masked_to: 4, ..kept.clone() };
        assert_eq!(first(&archive.lines(masked)), "our");
        let mut touched = fs::OpenOptions::new().append(true).open(&path).unwrap();
        touched.write_all(b"more\n").unwrap();
        assert_eq!(first(&open), "our", "it was open already");
        assert_eq!(first(&archive.lines(kept)), "our");
    }

    #[test]
    fn a_line_is_read_whole_however_long_it_is_and_nothing_behind_what_counts() {
        let long = "x".repeat(FIRST + 2 * MORE + 7);
        let text = format!("one\n{long}\nlast, and on");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        fs::write(&path, &text).unwrap();
        let file = File::open(&path).unwrap();
        let last = 4 + long.len() as u64 + 1;
        let length = last + "last".len() as u64;
        let line = |offset| {
            line_of(&file, offset, length).unwrap().map(|line| String::from_utf8(line).unwrap())
        };
        assert_eq!(line(0).as_deref(), Some("one"));
        assert_eq!(line(4), Some(long));
        assert_eq!(line(last).as_deref(), Some("last"));
        assert_eq!(line(length), None);
        // Shorter than was said of it.
        assert!(line_of(&file, text.len() as u64 + 1, text.len() as u64 + 9).is_err());
    }
}
