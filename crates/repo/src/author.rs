//! Whose work it is, by git's own settings.

use std::path::{Path, PathBuf};

use crate::discover::{Place, common_dir};
use crate::file;

/// The name that git would put under a commit here, read by hand from the files it is written in.
/// `user_files` are those of the person, the strongest first.
pub fn author(place: &Place, user_files: &[PathBuf]) -> Option<String> {
    let own = place.git_dir.as_deref().map(|git_dir| common_dir(git_dir).join("config"));
    own.iter().chain(user_files).find_map(|file| name_in(file))
}

fn name_in(file: &Path) -> Option<String> {
    let text = file::read_to_string(file).ok()?;
    let (mut inside, mut name) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.split(']').next()?.trim().eq_ignore_ascii_case("user");
        } else if inside
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("name")
        {
            let value = value.split([';', '#']).next().unwrap_or_default();
            name = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    name.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::discover;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn the_repository_says_whose_work_it_is_before_the_person_does() {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let place = discover(dir.path());
        let user = dir.path().join("gitconfig");
        assert_eq!(author(&place, std::slice::from_ref(&user)), None);
        fs::write(&user, "[core]\n\tname = no\n[User]\n\temail = a@b\n\tName = \"Ada L\" ; x\n")
            .unwrap();
        assert_eq!(author(&place, std::slice::from_ref(&user)).as_deref(), Some("Ada L"));
        fs::write(dir.path().join(".git/config"), "[user]\nname=Work Ada\n").unwrap();
        assert_eq!(author(&place, &[user]).as_deref(), Some("Work Ada"));
    }
}
