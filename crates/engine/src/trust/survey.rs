//! What a repository brings.

use std::fs;
use std::path::Path;

use heirloom_core::trust::{Covered, Reason, covered, hash, whole_file};
use heirloom_core::yaml::{self, Node, Value};

use crate::guard::rules::ORIGINAL;
use crate::settings::{LOCAL, written};

/// What a repository brings that a person has to have seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// Each thing.
    pub covered: Vec<Covered>,
    /// What a person says yes to.
    pub hash: String,
}

impl Survey {
    /// What would be run.
    pub fn commands(&self) -> impl Iterator<Item = &Covered> {
        self.covered.iter().filter(|one| one.reason == Reason::Command)
    }
}

/// Files with the settings of a repository. The last two are a person's own unless git has them, and
/// then they came with the clone, or an agent wrote them.
const SETTINGS: [&str; 2] = [".heirloom/config.yaml", ORIGINAL];
const OWN: [&str; 2] = [".heirloom/local.yaml", ".claude/requirements.local.yaml"];

/// Looks through the files of the repository at `root`. Nothing is run. `home` is heirloom's data
/// directory, which knows what agents wrote.
pub fn survey(home: &Path, root: &Path) -> Survey {
    let mut found = Vec::new();
    let is_by_agent = |name: &str| {
        let text = heirloom_repo::read_text(&root.join(name)).ok().flatten();
        name == LOCAL && text.is_some_and(|text| written::is_by_agent(home, root, &text))
    };
    let own = OWN.into_iter().filter(|name| {
        root.join(name).exists()
            && (heirloom_repo::git::is_tracked(root, Path::new(name)) || is_by_agent(name))
    });
    for name in SETTINGS.into_iter().chain(own) {
        if let Some(tree) = read(root, name) {
            found.extend(covered(name, &tree));
        }
    }
    for stage in names(&root.join(".heirloom/stages")) {
        let key = format!("stages.{stage}");
        for name in names(&root.join(".heirloom/stages").join(&stage)) {
            file(root, &key, &format!(".heirloom/stages/{stage}/{name}"), &mut found);
        }
    }
    for name in names(&root.join(".heirloom/pipelines")) {
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        file(
            root,
            &format!("pipelines.{stem}"),
            &format!(".heirloom/pipelines/{name}"),
            &mut found,
        );
    }
    let hash = hash(&found);
    Survey { covered: found, hash }
}

/// A file of a stage or pipeline: the commands in it by themselves, so that they are seen, and all of
/// it, because its prompt is told to agents.
fn file(root: &Path, key: &str, name: &str, found: &mut Vec<Covered>) {
    let Ok(Some(text)) = heirloom_repo::read_text(&root.join(name)) else { return };
    let ending = Path::new(name).extension();
    if ending.is_some_and(|ending| ending == "yaml" || ending == "yml")
        && let Ok(tree) = yaml::parse(&text, 0)
    {
        commands(&tree, key, name, found);
    }
    let digest = blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
    found.push(whole_file(key, Reason::Text, name, &digest));
}

fn commands(node: &Node, key: &str, file: &str, found: &mut Vec<Covered>) {
    const RUN: [&str; 4] = ["command", "verify", "judge", "setup"];
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                let key = format!("{key}.{}", entry.key);
                if RUN.contains(&entry.key.as_str()) {
                    say(&entry.value, &key, file, found);
                } else {
                    commands(&entry.value, &key, file, found);
                }
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                commands(item, &format!("{key}[{index}]"), file, found);
            }
        }
        _ => {}
    }
}

fn say(node: &Node, key: &str, file: &str, found: &mut Vec<Covered>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| say(item, key, file, found)),
        Value::Text(text) => found.push(Covered {
            key: key.to_owned(),
            reason: Reason::Command,
            command: text.clone(),
            file: file.to_owned(),
            line: node.at.line,
        }),
        _ => {}
    }
}

fn read(root: &Path, name: &str) -> Option<Node> {
    let text = heirloom_repo::read_text(&root.join(name)).ok()??;
    yaml::parse(&text, 0).ok()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}
