//! Short lists beside the ledger, a line each: which repositories are captured, which were taken out.
//!
//! Hooks ask them, so asking opens one small file and nothing else.

use std::io;
use std::path::Path;

use heirloom_repo::file;
use heirloom_repo::{make_private_dir, open_lock, replace_private};

/// What is in the list.
pub(crate) fn all(file: &Path) -> Vec<String> {
    let text = file::read_to_string(file).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Whether `line` is in the list.
pub(crate) fn has(file: &Path, line: &str) -> bool {
    file::read_to_string(file).is_ok_and(|text| text.lines().any(|known| known == line))
}

/// Puts a line into the list, unless it is there. What cannot be a line is refused.
pub(crate) fn add(file: &Path, line: &str) -> io::Result<()> {
    if line.is_empty() || line.contains('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a name with a line break in it"));
    }
    change(file, |all| {
        if !all.iter().any(|known| known == line) {
            all.push(line.to_owned());
        }
    })
}

/// Takes lines out of the list.
pub(crate) fn remove(file: &Path, is_meant: impl Fn(&str) -> bool) -> io::Result<()> {
    change(file, |all| all.retain(|known| !is_meant(known)))
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<String>)) -> io::Result<()> {
    file.parent().map_or(Ok(()), make_private_dir)?;
    let lock = open_lock(&file.with_extension("lock"))?;
    lock.lock()?;
    let before = all(file);
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return Ok(());
    }
    after.push(String::new());
    replace_private(file, after.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_be_two_lines_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("lists/one");
        add(&file, "/r").unwrap();
        assert!(add(&file, "/a\n/r2").is_err() && add(&file, "").is_err());
        assert_eq!(all(&file), ["/r"]);
        assert!(!has(&file, "/r2") && !has(&file, ""));
    }
}
