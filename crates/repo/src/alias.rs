//! What git's aliases stand for.

use std::path::Path;

use crate::quiet;

/// The aliases that hold in `directory`, of the repository and of the person, and what each stands for.
///
/// Only git follows all of its settings files and what they include. It runs nothing to say what they hold.
pub fn aliases(directory: &Path) -> Vec<(String, String)> {
    let mut command = quiet::bare(directory);
    command.args(["config", "--includes", "--null", "--get-regexp", r"^alias\."]);
    let Ok(output) = quiet::output(directory, &mut command) else { return Vec::new() };
    let settings =
        output.stdout.split(|byte| *byte == 0).filter_map(|one| str::from_utf8(one).ok());
    let alias = |setting: &str| {
        let (key, text) = setting.split_once('\n')?;
        Some((key.strip_prefix("alias.")?.to_owned(), text.to_owned()))
    };
    settings.filter_map(alias).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;
    use tempfile::TempDir;

    #[test]
    fn aliases_are_found_in_whatever_the_settings_include() {
        let dir = TempDir::new().unwrap();
        let init = Command::new("git").args(["init", "-q"]).arg(dir.path()).status();
        assert!(init.unwrap().success());
        fs::write(dir.path().join("more"), "[alias]\n\tsend-canary = !git \\\n push\n").unwrap();
        let config = dir.path().join(".git/config");
        let text = fs::read_to_string(&config).unwrap();
        let text =
            format!("{text}[alias]\n\tP-Canary = \"push --force\"\n[include]\n\tpath = ../more\n");
        fs::write(&config, text).unwrap();
        let found = aliases(dir.path());
        for (name, text) in [("p-canary", "push --force"), ("send-canary", "!git  push")] {
            let found = found.iter().find(|(own, _)| own == name);
            assert_eq!(found.map(|(_, text)| text.as_str()), Some(text), "{name}");
        }
        fs::remove_dir_all(dir.path().join(".git")).unwrap();
        assert!(!aliases(dir.path()).iter().any(|(name, _)| name == "send-canary"));
    }
}
