//! Which program is an agent, and where it is.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::env::Env;

/// Programs that stand in for the agents' own, by the agent's name.
#[derive(Debug, Clone, Default)]
pub struct Programs(BTreeMap<String, Vec<String>>);

/// A program to run, with the arguments that come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    /// Arguments before the adapter's own.
    pub args: Vec<String>,
}

impl Programs {
    /// The agents' own programs. The built-in agent is `own`, our own executable.
    pub fn new(own: &Path) -> Self {
        let sim = vec![own.to_string_lossy().into_owned(), "sim-agent".to_owned()];
        Self(BTreeMap::from([("sim".to_owned(), sim)]))
    }

    /// Replaces an agent's program (a setting's `agents.NAME.command`).
    pub fn replace(&mut self, agent: &str, command: Vec<String>) {
        if !command.is_empty() {
            self.0.insert(agent.to_owned(), command);
        }
    }

    /// Replaces whatever `HEIRLOOM_AGENT_NAME` names. One that holds spaces and is not itself a
    /// file is split as a shell would, unless the agent takes shell commands anyway.
    pub fn replace_from(&mut self, env: &Env) {
        for agent in crate::ALL {
            let name = format!("HEIRLOOM_AGENT_{}", agent.name().to_uppercase());
            let Some(text) = env.get(OsStr::new(&name)).and_then(|text| text.to_str()) else {
                continue;
            };
            let whole = agent.takes_shell() || Path::new(text).exists();
            let command = if whole { vec![text.to_owned()] } else { split(text) };
            self.replace(agent.name(), command);
        }
    }

    /// What replaces the agent's own program, if anything does.
    pub fn replacement(&self, agent: &str) -> Option<&[String]> {
        self.0.get(agent).map(Vec::as_slice)
    }

    /// The agent's program on this machine.
    pub fn resolve(&self, agent: &'static str, env: &Env) -> Result<Program, NotFound> {
        let known = crate::by_name(agent);
        let own = known.and_then(Agent::program).map(|own| vec![own.to_owned()]);
        let command = self.replacement(agent).map(<[_]>::to_vec).or(own).unwrap_or_default();
        let hint = known.map_or("", Agent::install_hint);
        let command = match command.as_slice() {
            [text] if known.is_some_and(Agent::takes_shell) => shell(text),
            _ => command,
        };
        let Some((program, args)) = command.split_first() else {
            return Err(NotFound { agent, program: String::new(), hint });
        };
        match search(program, env) {
            Some(path) => Ok(Program { path, args: args.to_vec() }),
            None => Err(NotFound { agent, program: program.clone(), hint }),
        }
    }
}

/// The program is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}; {hint}", missing(agent, program))]
pub struct NotFound {
    pub agent: &'static str,
    /// What was looked for.
    pub program: String,
    /// How to get it.
    pub hint: &'static str,
}

fn missing(agent: &str, program: &str) -> String {
    if program.is_empty() {
        return format!("the agent {agent} has no program set");
    }
    if program.contains('/') {
        return format!("the agent {agent} is not at {program}");
    }
    format!("the agent {agent} is not installed: there is no `{program}` on the PATH")
}

/// A shell that runs `text`, unless that is the path of a program.
fn shell(text: &str) -> Vec<String> {
    if text.contains('/') && is_executable(Path::new(text)) {
        return vec![text.to_owned()];
    }
    vec!["/bin/sh".to_owned(), "-c".to_owned(), text.to_owned()]
}

/// Finds a program as a shell would: by path when it has a slash, else on the `PATH`.
pub fn search(program: &str, env: &Env) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| is_executable(path));
    }
    let dirs = env.get(OsStr::new("PATH"))?;
    std::env::split_paths(dirs)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(program))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Splits as a shell would: spaces part, quotes and backslashes hold together. No expansion.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, _) if char.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

/// Quotes for a POSIX shell, where it is needed.
pub fn quote(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "/._-+=:@%,".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        assert_eq!(
            split(r#"node "my cli.js" 'a b' c\ d "" e"#),
            ["node", "my cli.js", "a b", "c d", "", "e"]
        );
        assert!(split("  ").is_empty());
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_one_word_again(word in "[^\0]{0,20}") {
            prop_assert_eq!(split(&quote(&word)), vec![word]);
        }
    }

    #[test]
    fn a_variable_replaces_the_program_and_may_carry_arguments() {
        let env = Env::from([("HEIRLOOM_AGENT_CLAUDE".into(), OsString::from("/bin/sh -c 'x y'"))]);
        let mut programs = Programs::default();
        programs.replace_from(&env);
        let program = programs.resolve("claude", &env).unwrap();
        assert_eq!(
            program,
            Program { path: "/bin/sh".into(), args: vec!["-c".into(), "x y".into()] }
        );
    }

    #[test]
    fn the_agent_command_takes_a_shell_command() {
        let env = Env::from([("HEIRLOOM_AGENT_COMMAND".into(), OsString::from("cat > out"))]);
        let mut programs = Programs::default();
        programs.replace_from(&env);
        let program = programs.resolve("command", &env).unwrap();
        assert_eq!(program.args, ["-c", "cat > out"]);
    }

    #[test]
    fn what_is_missing_is_named_with_the_way_to_get_it() {
        let error = Programs::default().resolve("claude", &Env::new()).unwrap_err();
        assert!(
            error.to_string().starts_with(
                "the agent claude is not installed: there is no `claude` on the PATH; "
            )
        );
    }
}
