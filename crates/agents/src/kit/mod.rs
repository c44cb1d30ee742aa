//! What an agent takes of ours beside hooks: commands that a person calls by name, and our MCP server.
//!
//! The commands say the same in every agent; only the file around them differs. Whatever else is in a
//! settings file stays restored to what it was.

mod shop;
mod toml;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::Env;
use crate::hook::HookError;
use crate::settings::{Document, Segment, guarded};

pub use shop::shop;

/// A command of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Skill {
    /// Its name (`recall`).
    pub(crate) name: &'static str,
    /// What it is for, in a line.
    pub(crate) about: &'static str,
    /// What the agent is told, with `{args}` where the person's words go.
    text: &'static str,
}

pub(crate) const SKILLS: [Skill; 3] = [
    Skill {
        name: "recall",
        about: "Find what earlier sessions in this repository did, decided or ran into",
        text: include_str!("recall.md"),
    },
    Skill {
        name: "note",
        about: "Record a decision, a learning, a warning or a next step for later sessions",
        text: include_str!("note.md"),
    },
    Skill {
        name: "handoff",
        about: "Leave the work so that a fresh context can continue it",
        text: include_str!("handoff.md"),
    },
];

impl Skill {
    /// The text with `args` where the person's words go; without them, the sentence ends there.
    fn text(&self, args: Option<&str>) -> String {
        match args {
            Some(args) => self.text.replace("{args}", args),
            None => self.text.replacen(": {args}", ".", 1),
        }
    }

    /// A Markdown file with a heading that agents read.
    pub(crate) fn markdown(&self, heading: &[(&str, &str)], args: Option<&str>) -> String {
        let lines: Vec<String> =
            heading.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        format!("---\n{}---\n\n{}", lines.concat(), self.text(args))
    }

    /// A skill with a name of its own, as the agents that share that format read it.
    pub(crate) fn skill(&self, name: &str) -> String {
        self.markdown(&[("name", name), ("description", self.about)], None)
    }

    /// A command of Gemini CLI.
    pub(crate) fn toml(&self) -> String {
        let about = json!(self.about);
        format!("description = {about}\nprompt = '''\n{}'''\n", self.text(Some("{{args}}")))
    }
}

/// What an agent takes.
#[derive(Debug, Clone)]
pub struct Kit {
    /// The files that carry it.
    pub parts: Vec<Part>,
    /// Directories that may be ours alone, the deepest first: each goes when nothing is left in it.
    pub directories: Vec<PathBuf>,
    /// How a person calls one of the commands.
    pub call: &'static str,
}

#[derive(Debug, Clone)]
pub struct Part {
    pub file: PathBuf,
    agent: &'static str,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    /// A file of our own.
    Own(String),
    /// Our MCP server below these keys of a JSON file.
    Json(&'static [&'static str], fn(&str) -> Value),
    /// Our MCP server in a TOML file.
    Toml,
}

/// How our MCP server is started: wherever the program is by then.
fn server(program: &str) -> [String; 3] {
    ["/bin/sh".to_owned(), "-c".to_owned(), guarded(program, "mcp")]
}

fn stdio(program: &str) -> Value {
    let [shell, flag, line] = server(program);
    json!({"type": "stdio", "command": shell, "args": [flag, line]})
}

fn plain(program: &str) -> Value {
    let [shell, flag, line] = server(program);
    json!({"command": shell, "args": [flag, line]})
}

fn local(program: &str) -> Value {
    json!({"type": "local", "command": server(program), "enabled": true})
}

impl Part {
    /// Whether the whole file is ours.
    pub const fn is_own(&self) -> bool {
        matches!(self.what, What::Own(_))
    }

    /// The text of the file with ours in it. Twice is the same as once.
    pub fn install(&self, text: Option<&str>, program: &str) -> Result<String, HookError> {
        let before = text.unwrap_or_default();
        match &self.what {
            What::Own(own) => Ok(own.clone()),
            What::Toml => toml::install(before, &server(program)).map_err(|why| self.error(why)),
            What::Json(path, entry) => {
                let mut document = self.parse(before)?;
                let entry = entry(program);
                if document.get(&steps(path)) == Some(entry.clone()) {
                    return Ok(before.to_owned());
                }
                if document.insert(path, &entry) {
                    return Ok(document.into_text());
                }
                Err(self.error(format!("`{}` is something else", path.join("."))))
            }
        }
    }

    /// The text without ours; nothing where that leaves nothing.
    pub fn uninstall(&self, text: &str) -> Result<Option<String>, HookError> {
        Ok(match &self.what {
            // What a person made of it is theirs.
            What::Own(own) => (text != own).then(|| text.to_owned()),
            What::Toml => Some(toml::uninstall(text)).filter(|text| !text.trim().is_empty()),
            What::Json(path, _) => {
                let mut document = self.parse(text)?;
                if document.get(&steps(path)).is_none() {
                    return Ok(Some(text.to_owned()));
                }
                document.remove(&steps(path));
                if document.is_blank() { None } else { Some(document.into_text()) }
            }
        })
    }

    fn parse(&self, text: &str) -> Result<Document, HookError> {
        let document = Document::parse(text).map_err(|error| self.error(error.to_string()))?;
        if document.is_object() { Ok(document) } else { Err(self.error("no object".to_owned())) }
    }

    fn error(&self, problem: String) -> HookError {
        HookError::Settings { agent: self.agent, file: self.file.clone(), problem }
    }
}

fn steps<'a>(path: &[&'a str]) -> Vec<Segment<'a>> {
    path.iter().map(|key| Segment::Key(key)).collect()
}

/// What Claude Code takes: commands in its settings, and a server in the file beside them.
pub(crate) fn claude(home: &Path, env: &Env) -> Kit {
    let agent = "claude";
    let commands = home.join("commands/heirloom");
    let own = SKILLS.map(|skill| {
        let heading = [("description", skill.about)];
        let text = skill.markdown(&heading, Some("$ARGUMENTS"));
        Part { file: commands.join(format!("{}.md", skill.name)), agent, what: What::Own(text) }
    });
    // Its own file is beside the directory, or in it where another directory was named.
    let is_named = crate::env::path(env, "CLAUDE_CONFIG_DIR").is_some();
    let state = if is_named { Some(home) } else { home.parent() };
    let server = state.map(|directory| Part {
        file: directory.join(".claude.json"),
        agent,
        what: What::Json(&["mcpServers", "heirloom"], stdio),
    });
    Kit {
        parts: own.into_iter().chain(server).collect(),
        directories: vec![commands, home.join("commands")],
        call: "/heirloom:recall",
    }
}

/// What Codex takes: skills, and a server in its settings.
pub(crate) fn codex(home: &Path) -> Kit {
    let agent = "codex";
    let skills = home.join("skills");
    let own = SKILLS.map(|skill| {
        let name = format!("heirloom-{}", skill.name);
        let file = skills.join(&name).join("SKILL.md");
        Part { file, agent, what: What::Own(skill.skill(&name)) }
    });
    let own_directories = SKILLS.map(|skill| skills.join(format!("heirloom-{}", skill.name)));
    let server = Part { file: home.join("config.toml"), agent, what: What::Toml };
    Kit {
        parts: own.into_iter().chain([server]).collect(),
        directories: own_directories.into_iter().chain([skills]).collect(),
        call: "$heirloom-recall",
    }
}

/// What Gemini CLI takes: commands, and a server in its settings.
pub(crate) fn gemini(home: &Path) -> Kit {
    let agent = "gemini";
    let commands = home.join("commands/heirloom");
    let own = SKILLS.map(|skill| {
        let file = commands.join(format!("{}.toml", skill.name));
        Part { file, agent, what: What::Own(skill.toml()) }
    });
    let what = What::Json(&["mcpServers", "heirloom"], plain);
    let server = Part { file: home.join("settings.json"), agent, what };
    Kit {
        parts: own.into_iter().chain([server]).collect(),
        directories: vec![commands, home.join("commands")],
        call: "/heirloom:recall",
    }
}

/// What opencode takes: commands, and a server in its settings file.
pub(crate) fn opencode(home: &Path, settings: PathBuf) -> Kit {
    let agent = "opencode";
    let commands = home.join("command");
    let own = SKILLS.map(|skill| {
        let text = skill.markdown(&[("description", skill.about)], Some("$ARGUMENTS"));
        let file = commands.join(format!("heirloom-{}.md", skill.name));
        Part { file, agent, what: What::Own(text) }
    });
    let what = What::Json(&["mcp", "heirloom"], local);
    let server = Part { file: settings, agent, what };
    Kit {
        parts: own.into_iter().chain([server]).collect(),
        directories: vec![commands],
        call: "/heirloom-recall",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kits() -> Vec<Kit> {
        let home = Path::new("/u/.agent");
        vec![
            claude(home, &Env::new()),
            codex(home),
            gemini(home),
            opencode(home, home.join("opencode.json")),
        ]
    }

    #[test]
    fn each_part_comes_and_goes_without_a_trace() {
        for part in kits().into_iter().flat_map(|kit| kit.parts) {
            let with = part.install(None, "/usr/bin/heirloom").unwrap();
            assert_eq!(part.install(Some(&with), "/usr/bin/heirloom").unwrap(), with);
            assert_eq!(part.uninstall(&with).unwrap(), None, "{}", part.file.display());
        }
    }

    #[test]
    fn servers_of_others_stay_to_the_byte() {
        let json = "{\n  \"mcpServers\": {\n    \"db\": {\"command\": \"db\"}\n  },\n  \"mcp\": {\"db\": 1}\n}\n";
        let toml = "model = \"m\"\n\n[mcp_servers.db]\ncommand = \"db\"\n";
        for part in kits().into_iter().flat_map(|kit| kit.parts).filter(|part| !part.is_own()) {
            let is_toml = part.file.extension().is_some_and(|extension| extension == "toml");
            let theirs = if is_toml { toml } else { json };
            let with = part.install(Some(theirs), "/opt/my tools/heirloom").unwrap();
            assert!(with.contains("exec '/opt/my tools/heirloom' mcp"), "{with}");
            assert!(with.contains("db"), "{with}");
            let moved = part.install(Some(&with), "/usr/bin/heirloom").unwrap();
            assert!(!moved.contains("my tools"), "{moved}");
            assert_eq!(part.uninstall(&moved).unwrap().as_deref(), Some(theirs));
            assert_eq!(part.uninstall(theirs).unwrap().as_deref(), Some(theirs));
        }
    }

    #[test]
    fn what_a_person_made_of_a_command_stays() {
        for part in kits().into_iter().flat_map(|kit| kit.parts).filter(Part::is_own) {
            assert_eq!(part.uninstall("mine").unwrap().as_deref(), Some("mine"));
        }
    }

    #[test]
    fn no_command_is_left_with_a_hole_in_it() {
        for skill in SKILLS {
            let [command, own] = [skill.text(Some("$ARGUMENTS")), skill.skill("heirloom-x")];
            assert!(command.contains("$ARGUMENTS") && !command.contains("{args}"), "{command}");
            assert!(!own.contains("{args}") && own.starts_with("---\nname: heirloom-x\n"), "{own}");
            assert!(!skill.toml().contains("{args}\n") || skill.toml().contains("{{args}}"));
        }
    }
}
