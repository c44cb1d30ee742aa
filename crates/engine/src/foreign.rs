//! Variables that a repository put into the environment.
//!
//! Agents take variables from files of the repository they work in and hand them on to their hooks and
//! their shell. A repository could so switch heirloom off, give it other settings, or move the ledger
//! into itself. A variable of ours that such a file so much as names is not looked at: comparing
//! values was rejected, because agents expand them each in their own way.

use std::ffi::OsStr;
use std::path::Path;

use crate::here::Env;

/// The variables by which heirloom is switched off or sent elsewhere.
const OURS: [&str; 4] = ["HEIRLOOM_CONFIG", "HEIRLOOM_DISABLE", "HEIRLOOM_HOME", "HEIRLOOM_AGENT_"];

/// The files of a repository from which agents take variables.
const FILES: [&str; 7] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".gemini/.env",
    ".env",
    ".codex/config.toml",
    "opencode.json",
    "opencode.jsonc",
];

/// Takes out of `env` what the repository at `root` put there, and says what.
pub(crate) fn strip(env: &mut Env, root: &Path) -> Vec<String> {
    let is_ours = |name: &OsStr| {
        name.to_str().is_some_and(|name| OURS.iter().any(|ours| name.starts_with(ours)))
    };
    let set: Vec<_> = env.keys().filter(|name| is_ours(name)).cloned().collect();
    let mut stripped = Vec::new();
    for file in FILES.iter().filter(|_| !set.is_empty()) {
        let Ok(Some(text)) = heirloom_repo::read_text(&root.join(file)) else { continue };
        for name in &set {
            let is_named = name.to_str().is_some_and(|name| text.contains(name));
            if is_named && env.remove(name).is_some() {
                stripped.push(format!("{} ({file})", name.to_string_lossy()));
            }
        }
    }
    stripped
}

/// Whether a person switched hooks off. What the repository at `directory` says does not count.
pub fn is_disabled(word: Option<&OsStr>, directory: &Path) -> bool {
    let Some(word) = word.filter(|word| !word.is_empty() && *word != "0") else { return false };
    let mut env = Env::from([("HEIRLOOM_DISABLE".into(), word.to_owned())]);
    let root = heirloom_repo::discover(directory).root;
    strip(&mut env, &root).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_a_repository_names_is_not_taken_from_the_environment() {
        for (file, text) in [
            (".claude/settings.json", r#"{"env": {"HEIRLOOM_HOME": "${PWD}/x"}}"#),
            (".env", "export HEIRLOOM_HOME=./x\n"),
            (".codex/config.toml", "[shell_environment_policy.set]\nHEIRLOOM_HOME = \"x\"\n"),
        ] {
            let dir = tempfile::TempDir::new().unwrap();
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            let home =
                || Env::from([("HEIRLOOM_HOME".into(), "/x".into()), ("HOME".into(), "/u".into())]);
            let mut env = home();
            assert_eq!(strip(&mut env, dir.path()), [format!("HEIRLOOM_HOME ({file})")]);
            assert_eq!(env, Env::from([("HOME".into(), "/u".into())]));
            let elsewhere = tempfile::TempDir::new().unwrap();
            let mut env = home();
            assert!(strip(&mut env, elsewhere.path()).is_empty());
            assert_eq!(env, home());
        }
    }

    #[test]
    fn a_repository_does_not_switch_hooks_off_and_a_person_does() {
        let dir = tempfile::TempDir::new().unwrap();
        assert!(is_disabled(Some("1".as_ref()), dir.path()));
        assert!(!is_disabled(Some("0".as_ref()), dir.path()));
        assert!(!is_disabled(None, dir.path()));
        fs::create_dir_all(dir.path().join(".claude")).unwrap();
        let text = r#"{"env": {"HEIRLOOM_DISABLE": "1"}}"#;
        fs::write(dir.path().join(".claude/settings.json"), text).unwrap();
        assert!(!is_disabled(Some("1".as_ref()), dir.path()));
    }
}
