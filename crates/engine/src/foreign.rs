//! Variables that a repository put into the environment.
//!
//! Agents take variables from files of the repository they work in and hand them on to their hooks and
//! their shell. A repository could so switch heirloom off, give it other settings, or move the ledger
//! into itself. A variable that such a file so much as names is taken as it was when the agent was
//! started, before it read the file, or not at all: comparing values was rejected, because agents
//! expand them each in their own way.
//!
//! Invariant: a file that cannot be read names everything.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use heirloom_agents::system;
use heirloom_core::trust::person::{Ancestor, is_agent};
use rustix::fs::{AtFlags, Mode, OFlags, open, statat};
use rustix::io::Errno;

use crate::here::Env;

/// What the names of heirloom's own variables begin with, and the one of the earlier framework.
const OURS: [&str; 2] = ["HEIRLOOM_", "CLAUDE_SKIP_REQUIREMENTS"];

/// Variables of everybody's by which heirloom finds its data, a person's settings and the programs it starts.
const EVERYBODYS: [&str; 4] = ["HOME", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// The files of a directory from which agents take variables.
const FILES: [&CStr; 7] = [
    c".claude/settings.json",
    c".claude/settings.local.json",
    c".gemini/.env",
    c".env",
    c".codex/config.toml",
    c"opencode.json",
    c"opencode.jsonc",
];

/// Variables that say where an agent was started, whose files it read.
const STARTED_IN: [&str; 2] = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];

/// Takes out of `env` what the repository at `root` put there, and says what. `directory` is where in
/// it somebody works: agents read the files there as well.
pub(crate) fn strip(env: &mut Env, directory: &Path, root: &Path) -> Vec<String> {
    let mut stripped = Vec::new();
    for (at, name) in files(env, directory, root) {
        let text = match heirloom_repo::read_text(&at.join(name)) {
            Ok(None) => continue,
            Ok(Some(text)) => Some(text),
            // Nobody takes variables from a directory, as an environment of Python's may be one.
            Err(error) if is_no_file(&error.source) => continue,
            Err(_) => None,
        };
        let text = text.as_deref().and_then(spelled_out);
        let set: Vec<OsString> =
            env.keys().filter(|key| is_named(key, text.as_deref())).cloned().collect();
        for key in set {
            let why = if text.is_some() { "" } else { ", which cannot be read" };
            let label = at.strip_prefix(root).unwrap_or(&at).join(name);
            let told = format!("{} ({}{why})", key.to_string_lossy(), label.display());
            match at_start(&key) {
                Start::With(before) if env.get(&key) == Some(&before) => {}
                Start::With(before) => {
                    env.insert(key, before);
                    stripped.push(told);
                }
                // Without a home nothing of the person's would be found.
                Start::Without if key == "HOME" => {}
                Start::Unknown if is_one_of(&key, &EVERYBODYS) => {}
                Start::Without | Start::Unknown => {
                    env.remove(&key);
                    stripped.push(told);
                }
            }
        }
    }
    stripped
}

fn is_no_file(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::IsADirectory | ErrorKind::NotADirectory)
}

/// The files to look into: in every directory from where somebody works up to the root, and where
/// the agent was started.
fn files(env: &Env, directory: &Path, root: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut found = present(root);
    let inside = directory.ancestors().take_while(|at| *at != root && at.starts_with(root));
    found.extend(inside.flat_map(present));
    for name in STARTED_IN {
        let started = env.get(OsStr::new(name)).map(Path::new);
        let elsewhere = started.filter(|at| at.is_absolute() && *at != root && *at != directory);
        found.extend(elsewhere.into_iter().flat_map(present));
    }
    found
}

/// Those of the files that are in a directory, or that cannot be said not to be. Every hook asks, so
/// this asks the kernel and makes nothing up for it.
fn present(directory: &Path) -> Vec<(PathBuf, &'static str)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let at = open(directory, flags, Mode::empty());
    let is_there = |name: &&&CStr| match &at {
        Ok(at) => {
            !matches!(statat(at, **name, AtFlags::empty()), Err(Errno::NOENT | Errno::NOTDIR))
        }
        // Who may not list a directory may still read what is in it.
        Err(error) => !matches!(*error, Errno::NOENT | Errno::NOTDIR),
    };
    let named = FILES.iter().filter(is_there).filter_map(|name| name.to_str().ok());
    named.map(|name| (directory.to_owned(), name)).collect()
}

/// Whether a text names a variable that matters here; one that cannot be read names all of ours.
fn is_named(key: &OsStr, text: Option<&str>) -> bool {
    let Some(key) = key.to_str() else { return false };
    let is_ours = OURS.iter().any(|ours| key.starts_with(ours));
    match text {
        None => is_ours,
        Some(text) if is_ours => text.contains(key),
        Some(text) => EVERYBODYS.contains(&key) && sets(text, key),
    }
}

fn is_one_of(key: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|name| key == *name)
}

/// Whether a text has the word where it is not only asked for (`$HOME`).
pub(crate) fn sets(text: &str, word: &str) -> bool {
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '{');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(joins) && !after.starts_with(joins)
    })
}

/// The text with what JSON and TOML let one write in numbers (`\u0048`) as it is meant; nothing where
/// that cannot be told.
fn spelled_out(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains("\\u") && !text.contains("\\U") && !text.contains("\\x") {
        return Some(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let digits = match rest.as_bytes().get(at + 1) {
            Some(b'u') => 4,
            Some(b'U') => 8,
            Some(b'x') => 2,
            // One that is written itself begins nothing.
            other => {
                let end = at + 1 + usize::from(other.is_some_and(u8::is_ascii));
                out.push_str(&rest[at..end]);
                rest = &rest[end..];
                continue;
            }
        };
        let end = at + 2 + digits;
        let code = u32::from_str_radix(rest.get(at + 2..end)?, 16).ok()?;
        // Half of a pair is no letter of a name.
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[end..];
    }
    out.push_str(rest);
    Some(Cow::Owned(out))
}

/// What a variable was when the agent above us was started.
enum Start {
    With(OsString),
    Without,
    /// There is no agent, or the system does not show it.
    Unknown,
}

fn at_start(key: &OsStr) -> Start {
    let mut agent = None;
    for (process, name) in system::ancestors() {
        let words = system::command_line(process.pid);
        // Whoever drives the agent set variables for it.
        let is_agent = name != "heirloom" && is_agent(&Ancestor { name, words, session: None });
        match (is_agent, agent) {
            // An agent may start itself anew after it has read the file.
            (true, _) => agent = Some(process.pid),
            (false, Some(_)) => break,
            (false, None) => {}
        }
    }
    let Some(environ) = agent.and_then(system::environ) else { return Start::Unknown };
    let mut set = environ.split(|byte| *byte == 0);
    let found = set.find_map(|pair| {
        let value = pair.strip_prefix(key.as_bytes())?.strip_prefix(b"=")?;
        Some(OsStr::from_bytes(value).to_owned())
    });
    found.map_or(Start::Without, Start::With)
}

/// Whether a person switched hooks off. What the repository at `directory` says does not count.
pub fn is_disabled(word: Option<&OsStr>, directory: &Path) -> bool {
    const NAME: &str = "HEIRLOOM_DISABLE";
    let is_yes = |word: &OsStr| !word.is_empty() && word != "0";
    let Some(word) = word.filter(|word| is_yes(word)) else { return false };
    let mut env = Env::from([(NAME.into(), word.to_owned())]);
    let root = heirloom_repo::discover(directory).root;
    strip(&mut env, directory, &root);
    env.get(OsStr::new(NAME)).is_some_and(|word| is_yes(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn with(file: &str, text: &[u8]) -> tempfile::TempDir {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        dir
    }

    fn env() -> Env {
        Env::from([("HEIRLOOM_HOME".into(), "/x".into()), ("HOME".into(), "/u".into())])
    }

    fn stripped(dir: &Path) -> Vec<String> {
        let mut env = env();
        let told = strip(&mut env, dir, dir);
        assert_eq!(env.contains_key(OsStr::new("HEIRLOOM_HOME")), told.is_empty(), "{told:?}");
        assert_eq!(env.get(OsStr::new("HOME")), Some(&"/u".into()));
        told
    }

    #[test]
    fn what_a_repository_names_is_not_taken_from_the_environment() {
        for (file, text) in [
            (".claude/settings.json", r#"{"env": {"HEIRLOOM_HOME": "${PWD}/x"}}"#),
            (".claude/settings.json", r#"{"env": {"\u0048EIRLOOM\u005fHOME": "x"}}"#),
            (".env", "export HEIRLOOM_HOME=./x\n"),
            (".codex/config.toml", "[shell_environment_policy.set]\nHEIRLOOM_HOME = \"x\"\n"),
            (".codex/config.toml", "\"HEIRLOOM_\\U00000048OME\" = \"x\"\n"),
        ] {
            let dir = with(file, text.as_bytes());
            assert_eq!(stripped(dir.path()), [format!("HEIRLOOM_HOME ({file})")], "{text}");
        }
        assert!(stripped(tempfile::TempDir::new().unwrap().path()).is_empty());
        let harmless =
            with(".claude/settings.json", br#"{"a": "\u00e9 \\u \n", "b": "C:\\Users"}"#);
        assert!(stripped(harmless.path()).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_read_names_everything() {
        let no_text = with(".env", b"HEIRLOOM\xff");
        let told = "HEIRLOOM_HOME (.env, which cannot be read)";
        assert_eq!(stripped(no_text.path()), [told]);
        let odd_escape = with(".claude/settings.json", br#"{"\u00zz": 1}"#);
        assert_eq!(stripped(odd_escape.path()).len(), 1);
        let directory = tempfile::TempDir::new().unwrap();
        fs::create_dir_all(directory.path().join(".env/bin")).unwrap();
        assert!(stripped(directory.path()).is_empty());
        let circle = tempfile::TempDir::new().unwrap();
        std::os::unix::fs::symlink(".env", circle.path().join(".env")).unwrap();
        assert_eq!(stripped(circle.path()).len(), 1);
    }

    #[test]
    fn a_directory_below_the_root_and_the_one_an_agent_was_started_in_count_too() {
        let dir = with("a/b/.claude/settings.json", br#"{"env": {"HEIRLOOM_HOME": "x"}}"#);
        let below = dir.path().join("a/b/c");
        let told = strip(&mut env(), &below, dir.path());
        assert_eq!(told, ["HEIRLOOM_HOME (a/b/.claude/settings.json)"]);
        let mut started = env();
        started.insert("CLAUDE_PROJECT_DIR".into(), dir.path().join("a/b").into());
        assert_eq!(strip(&mut started, dir.path(), dir.path()).len(), 1);
    }

    #[test]
    fn a_word_that_is_only_asked_for_sets_nothing() {
        assert!(sets(r#"{"env": {"HOME": "."}}"#, "HOME") && sets("HOME=.", "HOME"));
        for text in ["echo $HOME", "${HOME}/x", "MY_HOME=1", "HOMEBREW=1", "XDG_CONFIG_HOME=1"] {
            assert!(!sets(text, "HOME"), "{text}");
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
