//! What guards an agent is not changed by it unasked.
//!
//! An agent that is held back by a requirement has an easy way out: the file the requirement stands
//! in. So heirloom's settings, its hooks in the agents' settings, its data and the run directories of
//! other sessions are protected, in every repository and whatever else is asked for there. It is no
//! requirement of the settings: nothing satisfies it, and it is in no list.

use serde::{Deserialize, Serialize};

use super::located::{Located, normalised};
use super::requirement::Requirement;
use super::shell::{self, Command, Script, is_hole};
use super::trigger::{ToolUse, Workdir};

/// Files of a repository that say what agents may do in it; a directory ends in `/`.
pub const IN_REPOSITORY: [&str; 7] = [
    ".heirloom/config.yaml",
    ".heirloom/local.yaml",
    ".heirloom/repository",
    ".heirloom/stages/",
    ".heirloom/pipelines/",
    ".claude/requirements.yaml",
    ".claude/requirements.local.yaml",
];

/// Where the run directories are, each named after its session.
const RUNS: &str = ".heirloom/runs/";

/// What is protected, and how.
///
/// Every tool use of every agent asks, so a text that names no such place, and has nothing that could
/// put one together, is not looked at any closer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Protection {
    /// Files outside the repository, protected from writing.
    pub files: Vec<String>,
    /// heirloom's data directory, protected from reading as well.
    pub data: String,
    /// The person's home, which commands call `~`.
    pub home: String,
    /// Whether the person is asked where the agent can; it is denied otherwise.
    pub asks: bool,
}

impl Protection {
    /// What of it a tool use touches. `run` is the name of the run directory that is the session's own.
    pub fn touched(
        &self,
        tool_use: &ToolUse<'_>,
        place: &Workdir<'_>,
        run: Option<&str>,
    ) -> Option<String> {
        let writes = |tool: &str| Requirement::DEFAULT_TOOLS.contains(&tool);
        let is_edit = writes(&tool_use.tool) || tool_use.own_name.as_deref().is_some_and(writes);
        let reads = matches!(&*tool_use.tool, "Read" | "Grep" | "Glob");
        if is_edit || reads {
            let is_meant = |path: &str| {
                self.is_named(path, place)
                    && (self.is_data(path, place) || (is_edit && self.is_guard(path, place, run)))
            };
            let found = tool_use.paths.iter().find(|path| is_meant(path));
            return found.map(ToString::to_string);
        }
        let command = tool_use.command.as_deref()?;
        let builds_names =
            |c: char| matches!(c, '$' | '`' | '*' | '?' | '[' | '{' | '\\' | '\'' | '"');
        let may_name = self.is_named(command, place) || command.contains(builds_names);
        // What a patch or an alias names is not in the command.
        if !may_name && !tool_use.is_informed() {
            return None;
        }
        self.touched_by(tool_use.script()?, place, run)
    }

    fn touched_by(
        &self,
        script: &Script,
        place: &Workdir<'_>,
        run: Option<&str>,
    ) -> Option<String> {
        let is_written = |path: &str| self.is_guard(path, place, run) || self.is_data(path, place);
        let written = script.touched.iter().find(|word| is_written(&word.text));
        let read = || script.reads.iter().find(|word| self.is_data(&word.text, place));
        let named = || script.commands.iter().find_map(|command| self.named_by(command, place));
        let in_code = || script.code.iter().find(|code| self.is_in_code(code));
        let by_code = || {
            let files = script.code.iter().flat_map(|code| shell::written_by(code));
            files.into_iter().find(|file| is_written(file))
        };
        // Who has another name for it can write it by that one later.
        let linked = || {
            let is_link = |command: &&Command| {
                matches!(command.argv[0].text.as_str(), "ln" | "gln" | "link" | "mount")
            };
            let links = script.commands.iter().filter(is_link);
            let mut words = links.flat_map(|command| {
                command.argv[1..].iter().map(|word| from_directory(command, &word.text))
            });
            words.find(|path| is_written(path))
        };
        let path = written.or_else(read).map(|word| word.shown().into_owned());
        let path = path.or_else(named).or_else(|| in_code().map(|_| self.data.clone()));
        path.or_else(by_code).or_else(linked)
    }

    /// Words of a command that are files of heirloom's data: whatever it does with them, it reads them.
    fn named_by(&self, command: &Command, place: &Workdir<'_>) -> Option<String> {
        let says = matches!(command.argv[0].text.as_str(), "echo" | "printf" | "heirloom");
        let mut words = command.argv.iter().skip(1).filter(|_| !says);
        let is_meant = |text: &str| self.is_data(&from_directory(command, text), place);
        let found = words.find(|word| {
            let value = word.text.split_once('=').map_or("", |(_, value)| value);
            is_meant(&word.text) || (!value.is_empty() && is_meant(value))
        });
        found.map(|word| word.shown().into_owned())
    }

    fn is_in_code(&self, code: &str) -> bool {
        let below_home = self.data.strip_prefix(&self.home).filter(|_| !self.home.is_empty());
        code.contains(&self.data) || below_home.is_some_and(|below| code.contains(below))
    }

    /// Whether a text names something protected as it is. Most do not.
    fn is_named(&self, text: &str, place: &Workdir<'_>) -> bool {
        fn last(path: &str) -> &str {
            path.rsplit('/').next().unwrap_or_default()
        }
        let ignores_case = |text: &str, name: &str| {
            text.contains(name) || (place.ignores_case && text.to_lowercase().contains(name))
        };
        ignores_case(text, ".heirloom")
            || ignores_case(text, "requirements")
            || text.contains(last(&self.data))
            || self.files.iter().any(|file| text.contains(last(file)))
            || place.cwd.contains("/.heirloom")
            || place.cwd.starts_with(&self.data)
    }

    /// The path from the root of the file system, with the person's home where `~` says so.
    fn absolute(&self, path: &str, place: &Workdir<'_>) -> String {
        if let Some(rest) = path.strip_prefix(shell::DATA) {
            return normalised(&format!("{}{rest}", self.data));
        }
        match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => normalised(&format!("{}{rest}", self.home)),
            None => Located::new(path, place).absolute,
        }
    }

    fn is_data(&self, path: &str, place: &Workdir<'_>) -> bool {
        let absolute = self.absolute(path, place);
        let rest = absolute.strip_prefix(&normalised(&self.data));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether writing it changes what guards agents: a file of that kind, a directory that holds one, or
    /// a pattern that may mean one.
    fn is_guard(&self, path: &str, place: &Workdir<'_>, run: Option<&str>) -> bool {
        let located = Located::new(path, place);
        if located.relative.as_deref().is_some_and(|path| is_guard_here(path, run)) {
            return true;
        }
        let absolute = self.absolute(path, place);
        let holds = |file: &String| file.rsplit_once('/').is_some_and(|(held, _)| held == absolute);
        self.files.iter().any(|file| *file == absolute || holds(file))
    }

    /// What the agent, or its person, is told.
    pub fn reason(what: &str) -> String {
        format!(
            "This touches what guards agents here ({what}). Nothing was done. A person changes it, in \
             an editor or in another terminal."
        )
    }
}

/// A word of a command as a path from where the line starts.
fn from_directory(command: &Command, text: &str) -> String {
    match (&command.directory, text.starts_with(['/', '~'])) {
        (Some(directory), false) if !directory.is_empty() => format!("{directory}/{text}"),
        _ => text.to_owned(),
    }
}

/// Whether a path from the repository's root is one that guards agents here.
fn is_guard_here(path: &str, run: Option<&str>) -> bool {
    if let Some(hole) = path.find(is_hole) {
        // What a pattern may mean: `.heirloom/*`, `.heir*`, but not `*`, which leaves such names out.
        let known = &path[..hole];
        let may_be = |file: &&str| file.starts_with(known) || is_guard_here(known, run);
        return known.starts_with(".h")
            && IN_REPOSITORY.iter().chain([&RUNS]).any(may_be)
            && !own_run(known, run);
    }
    let fits = |file: &str| match file.strip_suffix('/') {
        Some(directory) => path == directory || path.starts_with(file),
        None => path == file,
    };
    path == ".heirloom"
        || IN_REPOSITORY.iter().any(|file| fits(file))
        || (fits(RUNS) && !own_run(path, run))
}

/// Whether a path is in the run directory that is the session's own.
fn own_run(path: &str, run: Option<&str>) -> bool {
    let name =
        path.strip_prefix(RUNS).and_then(|below| below.split_once('/')).map(|(name, _)| name);
    name.is_some() && name == run
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn touched(tool: &str, input: &serde_json::Value) -> bool {
        let protection = Protection {
            files: vec!["/home/u/.claude/settings.json".to_owned()],
            data: "/home/u/.local/share/heirloom".to_owned(),
            home: "/home/u".to_owned(),
            asks: true,
        };
        let place = Workdir { roots: &["/r"], cwd: "/r/src", ignores_case: false };
        protection.touched(&ToolUse::read(tool, input), &place, Some("mine")).is_some()
    }

    #[test]
    fn settings_hooks_and_data_are_touched_by_tools() {
        for (tool, path) in [
            ("Edit", "/r/.heirloom/config.yaml"),
            ("Write", "../.heirloom/local.yaml"),
            ("Write", "/r/.heirloom/stages/a/prompt.md"),
            ("Write", "/r/.heirloom/runs/theirs/stage-00-x/iterations/001/status.json"),
            ("Edit", "/home/u/.claude/settings.json"),
            ("Write", "/home/u/.local/share/heirloom/ledger.db"),
            ("Read", "/home/u/.local/share/heirloom/ledger.db"),
        ] {
            assert!(touched(tool, &json!({"file_path": path})), "{tool} {path}");
        }
    }

    #[test]
    fn they_are_touched_by_the_shell_however_it_is_written() {
        for command in [
            "echo 'enabled: false' > /r/.heirloom/local.yaml",
            "cd .. && sed -i s/a/b/ .heirloom/config.yaml",
            "tee ../.heirloom/repository < x",
            "d=../.heir; echo x > ${d}loom/local.yaml",
            "echo x > ../'.heir''loom'/local.yaml",
            "rm -rf ../.heirloom",
            "rm -rf ../.heir*",
            "cd .. && rm .heirloom/*",
            "mv ../.heirloom /tmp/x",
            "rm ../.heirloom/runs/theirs/state.json",
            "rm -rf ../.heirloom/runs",
            "rm /home/u/.local/share/heirloom/ledger.db",
            "rm -rf ~/.local/share/heirloom",
            "echo '{}' > ~/.claude/settings.json",
            "rm -rf $HOME/.claude",
            "cat ~/.local/share/heirloom/ledger.db",
            "cat < ~/.local/share/heirloom/vault/a",
            "sqlite3 $HEIRLOOM_HOME/ledger.db 'select 1'",
            "cp -r \"$HEIRLOOM_HOME\" /tmp/x",
            "tar -C /home/u/.local/share/heirloom -cf /tmp/x .",
            "cd /home/u/.local/share && cat heirloom/ledger.db",
            "dd if=/home/u/.local/share/heirloom/ledger.db of=/tmp/x",
            "python3 -c \"open('/home/u/.local/share/heirloom/ledger.db').read()\"",
            "python3 -c \"open('/r/.heirloom/local.yaml', 'w').write('enabled: false')\"",
            "node -e 'fs.appendFileSync(\"/r/.heirloom/config.yaml\", \"x\")'",
            "python3 -c \"import os; os.system('rm -rf ../.heirloom')\"",
            "perl -e 'open(F, \">../.heirloom/local.yaml\")'",
            "awk 'BEGIN { print \"enabled: false\" > \"../.heirloom/local.yaml\" }'",
            "sed -n 'w ../.heirloom/local.yaml' x",
            "cd .. && ln -s .heirloom h",
            "ln ../.heirloom/local.yaml x",
            "sudo mount --bind ../.heirloom /tmp/h",
            "env -C .. tee .heirloom/local.yaml < x",
            "git -C .. checkout -- .heirloom/config.yaml",
            "echo x > ~+/../.heirloom/local.yaml",
            "echo x > /proc/self/cwd/../.heirloom/local.yaml",
            "echo x >! ../.heirloom/local.yaml",
            "vim -es '+w! ../.heirloom/local.yaml' x",
            "split -l 1 x ../.heirloom/local.yaml",
            "cpio -pd ../.heirloom < list",
            "unzip -o x.zip -d ../.heirloom",
        ] {
            assert!(touched("Bash", &json!({"command": command})), "{command}");
        }
    }

    #[test]
    fn notes_own_run_files_and_reading_are_left_alone() {
        for (tool, path) in [
            ("Edit", "/r/NOTES.md"),
            ("Edit", "/r/src/config.yaml"),
            ("Write", "/r/.heirloom/runs/mine/stage-00-x/iterations/001/status.json"),
            ("Read", "/r/.heirloom/config.yaml"),
            ("Read", "/r/.heirloom/runs/theirs/progress-theirs.md"),
        ] {
            assert!(!touched(tool, &json!({"file_path": path})), "{tool} {path}");
        }
        for command in [
            "cat ../.heirloom/config.yaml",
            "git status && cargo test",
            "rm -rf *",
            "rm -rf \"$TMP\"/x",
            "echo '{}' > ../.heirloom/runs/mine/stage-00-x/iterations/001/status.json",
            "cp -r ../.heirloom /tmp/x",
            "ls ~/.claude",
            "heirloom notes",
            "grep -rn 'requirements' docs > out.txt",
            "echo \"see ~/.local/share/heirloom\"",
            "python3 -c \"print(open('/r/.heirloom/config.yaml').read())\"",
            "ln -s ../src/a b",
            "tar czf /tmp/x.tgz ../.heirloom",
        ] {
            assert!(!touched("Bash", &json!({"command": command})), "{command}");
        }
    }
}
