//! Which file is at a path, and in which state, without reading it.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What tells one state of a file from another.
///
/// Size and time of change alone are not enough: a file that is replaced by one of the same size
/// within the clock's tick, or whose times somebody set back, would pass for the one it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The state of the file at `path`, links followed; nothing where there is none.
    pub fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| Self::from(&found))
    }

    fn file(self) -> (u64, u64) {
        (self.device, self.inode)
    }
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// One word, to be kept beside what was read.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, inode, size, modified, changed } = self;
        write!(f, "{size}:{}.{}:", modified.0, modified.1)?;
        write!(f, "{}.{}:{inode}:{device}", changed.0, changed.1)
    }
}

/// Whether `path` still names the file that is open: a lock on a file that was removed or replaced
/// keeps nobody out.
pub fn is_still_at(file: &File, path: &Path) -> bool {
    let open = file.metadata().ok().map(|found| Stamp::from(&found).file());
    open.is_some() && open == Stamp::of(path).map(Stamp::file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_and_a_replacement_are_seen_even_with_the_old_time() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("a");
        assert_eq!(Stamp::of(&path), None);
        fs::write(&path, "one").unwrap();
        let open = File::open(&path).unwrap();
        let first = Stamp::of(&path).unwrap();
        assert_eq!(Stamp::of(&path), Some(first));
        assert!(is_still_at(&open, &path));
        assert!(!first.to_string().contains(' '), "{first}");

        let other = dir.path().join("b");
        fs::write(&other, "two").unwrap();
        let times =
            fs::FileTimes::new().set_modified(fs::metadata(&path).unwrap().modified().unwrap());
        File::options().append(true).open(&other).unwrap().set_times(times).unwrap();
        fs::rename(&other, &path).unwrap();
        assert_ne!(Stamp::of(&path).unwrap().to_string(), first.to_string());
        assert!(!is_still_at(&open, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_still_at(&open, &path));
    }
}
