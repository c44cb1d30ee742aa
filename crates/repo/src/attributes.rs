//! How git merges a file.

use std::fs::File;
use std::io::{self, Write as _};

use crate::discover::{Place, common_dir};
use crate::file;

/// Where a clone keeps attributes of its own.
pub(crate) const ATTRIBUTES: &str = "info/attributes";
/// How a line ends that has git keep both sides.
const UNION: &str = " merge=union";

/// Has git keep what both sides added to `path`, in this clone, unless somebody said how it is to be
/// merged. Not in a file of the repository, which is for its people to change.
pub fn merge_by_union(place: &Place, path: &str) -> io::Result<()> {
    let Some(git_dir) = &place.git_dir else { return Ok(()) };
    let special = |character: char| character.is_whitespace() || "\"*?[\\!#".contains(character);
    if path.contains(special) {
        return Ok(());
    }
    let local = common_dir(git_dir).join(ATTRIBUTES);
    let shared = place.root.join(".gitattributes");
    let says = |file| file::read_to_string(file).is_ok_and(|text| is_said(&text, path));
    if says(&local) || says(&shared) {
        return Ok(());
    }
    let before = file::read(&local).unwrap_or_default();
    let newline = if before.is_empty() || before.ends_with(b"\n") { "" } else { "\n" };
    file::create_dir_all(local.parent().unwrap_or(git_dir))?;
    let mut file = file::open_with(File::options().create(true).append(true), &local)?;
    writeln!(file, "{newline}/{path}{UNION}")
}

/// Whether a line is one that [`merge_by_union`] writes.
pub(crate) fn is_ours(line: &[u8]) -> bool {
    let path = line.strip_suffix(UNION.as_bytes()).and_then(|line| line.strip_prefix(b"/"));
    path.is_some_and(|path| !path.is_empty() && !path.iter().any(u8::is_ascii_whitespace))
}

/// Whether a file of attributes says how `path` is merged.
fn is_said(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    text.lines().any(|line| {
        let mut words = line.split_whitespace();
        let pattern = words.next().unwrap_or_default();
        let end = pattern.strip_prefix('*').unwrap_or(pattern);
        let names = !end.is_empty() && (pattern.ends_with(name) || name.ends_with(end));
        names && words.any(|word| word.trim_start_matches(['-', '!']).starts_with("merge"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::discover;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn how_a_file_is_merged_is_said_once_and_never_against_somebodys_word() {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join(".git/info")).unwrap();
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let local = dir.path().join(".git/info/attributes");
        fs::write(&local, "*.png binary").unwrap();
        let place = discover(dir.path());
        for _ in 0..2 {
            merge_by_union(&place, "NOTES.md").unwrap();
            merge_by_union(&place, "odd name.md").unwrap();
        }
        assert_eq!(fs::read_to_string(&local).unwrap(), "*.png binary\n/NOTES.md merge=union\n");
        fs::write(&local, "").unwrap();
        fs::write(dir.path().join(".gitattributes"), "NOTES.md -merge\n").unwrap();
        merge_by_union(&place, "NOTES.md").unwrap();
        assert_eq!(fs::read_to_string(&local).unwrap(), "");
    }
}
