//! Where a person says that something is to be written to.
//!
//! A regular file is replaced as a whole, so that an export that fails leaves the last one. Anything else is
//! written into: who names a device, a FIFO or `/dev/stdout` wants what is behind it, and a file in the place
//! of `/dev/null` breaks the machine.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{FileError, follow, not_regular, write};

/// A place to write to.
#[derive(Debug)]
pub struct Destination {
    /// As the person said it.
    named: PathBuf,
    place: Target,
    /// The mode of a file that is not there yet.
    mode: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// A regular file, or nothing yet.
    File(PathBuf),
    /// Something that is written into.
    Into(PathBuf),
    Stdout,
    Stderr,
}

impl Destination {
    /// What `path` leads to.
    pub fn find(path: &Path) -> Result<Self, FileError> {
        let place = place(path).map_err(FileError::new("write", path))?;
        Ok(Self { named: path.to_owned(), place, mode: 0o644 })
    }

    /// Makes a file that is not there yet its owner's alone.
    #[must_use]
    pub fn private(self) -> Self {
        Self { mode: 0o600, ..self }
    }

    /// Whether what is written goes where answers go.
    pub fn is_stdout(&self) -> bool {
        self.place == Target::Stdout
    }

    /// Whether a file that is there would be replaced.
    pub fn replaces(&self) -> bool {
        matches!(&self.place, Target::File(path) if path.exists())
    }

    /// Writes what `fill` writes.
    #[expect(clippy::disallowed_methods, reason = "the person asked for the bytes as they are")]
    pub fn write<T, E: From<FileError>>(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> Result<T, E>,
    ) -> Result<T, E> {
        let made = match &self.place {
            Target::File(target) => fs::create_dir_all(write::parent(target))
                .map_err(Failed::Io)
                .and_then(|()| write::replace(target, self.mode, |file| buffered(file, fill))),
            Target::Into(target) => {
                into(target).map_err(Failed::Io).and_then(|file| buffered(file, fill))
            }
            Target::Stdout => buffered(io::stdout().lock(), fill),
            Target::Stderr => buffered(io::stderr().lock(), fill),
        };
        made.map_err(|failed| match failed {
            Failed::Filling(error) => error,
            Failed::Io(source) => FileError::new("write", &self.named)(source).into(),
        })
    }
}

/// Either what was to be written could not be made, or it could not be put there.
enum Failed<E> {
    Filling(E),
    Io(io::Error),
}

impl<E> From<io::Error> for Failed<E> {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn buffered<T, E>(
    out: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, Failed<E>> {
    let mut out = BufWriter::new(out);
    let made = fill(&mut out).map_err(Failed::Filling)?;
    out.flush()?;
    Ok(made)
}

/// Neither made nor emptied. Opening a FIFO waits for its reader, as every program does. To a file that a shell
/// opened, such as `/dev/fd/3`, is added.
fn into(path: &Path) -> io::Result<fs::File> {
    OpenOptions::new().append(true).open(path)
}

fn place(path: &Path) -> io::Result<Target> {
    // Not all at once: behind `/dev/stdout` there may be a regular file, which is not ours to replace.
    let mut at = path.to_owned();
    for _ in 0..40 {
        match descriptor(&at) {
            Some(1) => return Ok(Target::Stdout),
            Some(2) => return Ok(Target::Stderr),
            Some(_) => return Ok(Target::Into(at)),
            None => {}
        }
        let Ok(target) = fs::read_link(&at) else { break };
        at = write::parent(&at).join(target);
    }
    let target = follow(path)?;
    match fs::symlink_metadata(&target) {
        Ok(found) if found.is_file() => Ok(Target::File(target)),
        Ok(found) if found.is_dir() => Err(not_regular(found.file_type())),
        Ok(_) => Ok(Target::Into(target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Target::File(target)),
        Err(error) => Err(error),
    }
}

/// The number of an open file, for a path by which the system shows it.
fn descriptor(path: &Path) -> Option<u32> {
    let text = path.to_str()?;
    match text {
        "/dev/stdout" => return Some(1),
        "/dev/stderr" => return Some(2),
        _ => {}
    }
    let own = format!("/proc/{}/fd/", std::process::id());
    let homes = ["/dev/fd/", "/proc/self/fd/", own.as_str()];
    homes.iter().find_map(|home| text.strip_prefix(home)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests_support::fifo;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use tempfile::TempDir;

    fn write(path: &Path, text: &str) -> Result<(), FileError> {
        let destination = Destination::find(path)?;
        destination
            .write(|out| out.write_all(text.as_bytes()).map_err(FileError::new("write", path)))
    }

    #[test]
    fn a_regular_file_is_replaced_as_a_whole_and_a_failure_leaves_the_last_one() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("new/export");
        Destination::find(&path).unwrap().private().write(|_| Ok::<_, FileError>(())).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let destination = Destination::find(&path).unwrap();
        assert!(destination.replaces() && !destination.is_stdout());
        let failed: Result<(), FileError> = destination.write(|out| {
            out.write_all(b"half").map_err(FileError::new("write", &path))?;
            Err(FileError::new("read", Path::new("ledger"))(io::Error::other("torn")))
        });
        assert_eq!(failed.unwrap_err().to_string(), "cannot read ledger");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path().join("new")).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_followed_and_stays() {
        let dir = TempDir::new().unwrap();
        let link = dir.path().join("link");
        symlink("real", &link).unwrap();
        for text in ["one", "two"] {
            write(&link, text).unwrap();
            assert_eq!(fs::read_to_string(dir.path().join("real")).unwrap(), text);
            assert!(link.is_symlink());
        }
    }

    #[test]
    fn a_fifo_is_written_into() {
        let dir = TempDir::new().unwrap();
        let path = fifo(dir.path());
        let link = dir.path().join("link");
        symlink("fifo", &link).unwrap();
        for place in [&path, &link] {
            let reader = path.clone();
            let reader = std::thread::spawn(move || fs::read_to_string(reader).unwrap());
            write(place, "into it").unwrap();
            assert_eq!(reader.join().unwrap(), "into it");
            assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
        }
    }

    /// Looks only at what would be done: a mistake here must not cost the machine its device.
    #[test]
    fn a_device_is_written_into_and_stdout_is_found_behind_links() {
        let dir = TempDir::new().unwrap();
        let is =
            |path: &Path, place: Target| assert_eq!(Destination::find(path).unwrap().place, place);
        is(Path::new("/dev/null"), Target::Into("/dev/null".into()));
        is(Path::new("/dev/stdout"), Target::Stdout);
        is(Path::new("/dev/stderr"), Target::Stderr);
        is(Path::new("/proc/self/fd/1"), Target::Stdout);
        is(Path::new("/dev/fd/7"), Target::Into("/dev/fd/7".into()));
        for (name, target, place) in [
            ("out", "/dev/stdout", Target::Stdout),
            ("null", "/dev/null", Target::Into("/dev/null".into())),
        ] {
            symlink(target, dir.path().join(name)).unwrap();
            is(&dir.path().join(name), place);
        }
        let before = fs::symlink_metadata("/dev/null").unwrap();
        assert!(before.file_type().is_char_device());
        write(Path::new("/dev/null"), "nothing").unwrap();
        assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_directory_is_no_place_to_write_to() {
        let dir = TempDir::new().unwrap();
        let error = Destination::find(dir.path()).unwrap_err();
        assert_eq!(error.source.to_string(), "it is a directory, not a regular file");
    }
}
