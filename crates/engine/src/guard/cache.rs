//! Small files beside the ledger that can be made again: what was read, measured and said.
//!
//! Each is written whole or not at all, and goes when nobody wrote it for a month.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use heirloom_core::digest;
use heirloom_repo::file;
use heirloom_repo::{make_private_dir, write_private};

use crate::here::Here;

/// What the names of files begin with that are being written.
const UNFINISHED: &str = "unfinished-";
/// How long a file stays that nobody writes.
const KEPT: Duration = Duration::from_hours(30 * 24);
/// How long one may be in writing.
const WRITING: Duration = Duration::from_hours(1);
/// How often old files are looked for.
const SWEPT_EVERY: Duration = Duration::from_hours(24);

/// The file of a kind for what is told apart by `key`.
///
/// Other releases look for it too, so its name must not depend on the standard library's hash: what
/// was told to a person once would be told again after an update.
pub(super) fn file(here: &Here, kind: &str, key: &[&[u8]]) -> PathBuf {
    directory(here).join(format!("{kind}-{}", digest::short_of(key)))
}

fn directory(here: &Here) -> PathBuf {
    here.home.join("cache")
}

/// Writes a file. What cannot be kept is made again next time.
pub(super) fn write(file: &Path, bytes: &[u8]) {
    let Some((directory, name)) = file.parent().zip(file.file_name()) else { return };
    let name = format!("{UNFINISHED}{}-{}", std::process::id(), name.to_string_lossy());
    let unfinished = directory.join(name);
    let written = make_private_dir(directory)
        .and_then(|()| write_private(&unfinished, bytes))
        .is_ok_and(|()| file::rename(&unfinished, file).is_ok());
    if !written {
        let _ = file::remove_file(&unfinished);
    }
}

/// Removes what nobody wrote for a month, and what somebody who was killed did not finish. Looks once
/// a day.
pub(super) fn sweep(here: &Here) {
    let now = SystemTime::from(here.clock.now());
    let mark = directory(here).join("swept");
    if age(&mark, now).is_some_and(|age| age < SWEPT_EVERY) {
        return;
    }
    write(&mark, b"");
    for entry in fs::read_dir(directory(here)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // It says up to where faults were told, and would tell all again.
        let limit = match name.strip_prefix(UNFINISHED) {
            _ if name == super::fault::SEEN => continue,
            Some(_) => WRITING,
            None => KEPT,
        };
        if age(&entry.path(), now).is_some_and(|age| age > limit) {
            let _ = file::remove_file(entry.path());
        }
    }
}

fn age(file: &Path, now: SystemTime) -> Option<Duration> {
    let written = fs::metadata(file).and_then(|found| found.modified()).ok()?;
    Some(now.duration_since(written).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::here::Env;

    #[test]
    fn old_files_go_and_those_in_use_stay() {
        let home = tempfile::TempDir::new().unwrap();
        let env = Env::from([("HEIRLOOM_HOME".into(), home.path().into())]);
        let here = Here::look(home.path(), env).unwrap();
        let day = Duration::from_hours(24);
        let made = |name: &str, age: Duration| {
            let file = directory(&here).join(name);
            write(&file, b"x");
            let time = SystemTime::from(here.clock.now()) - age;
            File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
            file
        };
        let old = made("rules-1", day * 31);
        let new = made("rules-2", day * 29);
        let left = made("unfinished-7-rules-3", day);
        let writing = made("unfinished-8-rules-4", Duration::from_mins(1));
        let seen = made(crate::guard::fault::SEEN, day * 90);
        sweep(&here);
        let is_there = [&old, &new, &left, &writing, &seen].map(|file| file.exists());
        assert_eq!(is_there, [false, true, false, true, true]);
        let next = made("rules-5", day * 31);
        sweep(&here);
        assert!(next.exists(), "it looks once a day");
    }
}
