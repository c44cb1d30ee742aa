//! Our own files in a repository.

use std::fs;

use heirloom_core::causes;
use heirloom_core::repo::{self, RepoId, RepoKey};
use heirloom_repo::file;
use heirloom_repo::{read_text, write_within};

use super::SetupAction;
use crate::guard::rules::ORIGINAL;
use crate::here::Here;
use crate::identity;

const SETTINGS: &str = "# What heirloom asks for in this repository. Commit this file.
# Every key: heirloom config schema. What holds, and why: heirloom config show --sources

# requirements:
#   plan:                                  # before anything is edited, once a session
#     satisfied_by_skill: arch-review
#   reviewed:                              # before each commit
#     scope: single_use
#     trigger_tools: [{tool: Bash, command: [git, commit]}]
#     satisfied_by_skill: pre-commit
";

/// What belongs to one person or one machine.
const IGNORED: [&str; 2] = ["/runs/", "/local.yaml"];

pub(super) fn write(here: &Here, is_rehearsal: bool) -> Vec<SetupAction> {
    let mut steps =
        vec![settings(here, is_rehearsal), key(here, is_rehearsal), ignore(here, is_rehearsal)];
    if here.place.root.join(ORIGINAL).is_file() {
        let detail = "its requirements apply until your settings have some";
        steps.push(SetupAction::new("kept", ORIGINAL, detail));
    }
    steps
}

fn settings(here: &Here, is_rehearsal: bool) -> SetupAction {
    let (file, name) = (here.place.own_directory().join("config.yaml"), ".heirloom/config.yaml");
    if file.exists() {
        return SetupAction::new("kept", name, "your settings, as they are");
    }
    if !is_rehearsal && let Err(error) = write_within(&here.place.root, &file, SETTINGS.as_bytes())
    {
        return SetupAction::new("failed", name, causes::told(&error));
    }
    SetupAction::new("wrote", name, "your settings, commit this")
}

/// The key: the one that is there, the one that is known of this directory, or a new one.
fn key(here: &Here, is_rehearsal: bool) -> SetupAction {
    let name = ".heirloom/repository";
    let file = here.place.key_file();
    let before = match read_text(&file) {
        Ok(before) => before,
        Err(error) => return SetupAction::new("failed", name, causes::told(&error)),
    };
    let mut keys = repo::keys_in(before.as_deref().unwrap_or_default());
    let is_kept = !keys.is_empty();
    if !is_kept {
        keys = identity::claimed(&here.place);
    }
    if keys.is_empty() {
        keys.push(known_key(here, is_rehearsal).unwrap_or_else(identity::mint));
    }
    // Also what a merge left of two: the keys and nothing around them.
    let text = repo::key_file(&keys);
    if before.as_deref() != Some(&*text)
        && !is_rehearsal
        && let Err(error) = write_within(&here.place.root, &file, text.as_bytes())
    {
        return SetupAction::new("failed", name, causes::told(&error));
    }
    if !is_rehearsal {
        // The next command that needs the ledger does the same, and says why it cannot.
        let _ = here.ledger();
    }
    if is_kept {
        return SetupAction::new("kept", name, "identifies this repository");
    }
    SetupAction::new("wrote", name, "identifies this repository, commit this")
}

/// The key under which the ledger knows this directory, whose file is gone.
fn known_key(here: &Here, is_rehearsal: bool) -> Option<RepoKey> {
    if is_rehearsal {
        return None;
    }
    let known = here.ledger().and_then(|ledger| ledger.repository(&here.place.repo));
    RepoId::new(known.ok()?).key()
}

fn ignore(here: &Here, is_rehearsal: bool) -> SetupAction {
    let what = ".heirloom/runs, .heirloom/local.yaml";
    let file = here.place.own_directory().join(".gitignore");
    let before = match read_text(&file) {
        Ok(before) => before.unwrap_or_default(),
        Err(error) => return SetupAction::new("failed", what, causes::told(&error)),
    };
    let missing =
        IGNORED.into_iter().filter(|rule| !before.lines().any(|line| line.trim() == *rule));
    let mut after = before.clone();
    for rule in missing {
        if !after.is_empty() && !after.ends_with('\n') {
            after.push('\n');
        }
        after.push_str(rule);
        after.push('\n');
    }
    if after != before
        && !is_rehearsal
        && let Err(error) = write_within(&here.place.root, &file, after.as_bytes())
    {
        return SetupAction::new("failed", what, causes::told(&error));
    }
    SetupAction::new("ignored", what, if after == before { "already" } else { "" })
}

/// Removes what is as we wrote it. What a person changed is theirs.
pub(super) fn remove(here: &Here, is_rehearsal: bool) -> Vec<SetupAction> {
    let directory = here.place.own_directory();
    let ignored = IGNORED.map(|rule| format!("{rule}\n")).concat();
    let keys = file::read_to_string(here.place.key_file()).unwrap_or_default();
    let keys = repo::key_file(&repo::keys_in(&keys));
    let mut steps = Vec::new();
    for (name, ours) in
        [("config.yaml", SETTINGS), ("repository", &*keys), (".gitignore", ignored.as_str())]
    {
        let file = directory.join(name);
        let shown = format!(".heirloom/{name}");
        match read_text(&file) {
            Ok(Some(text)) if text == ours => {
                let removed = if is_rehearsal { Ok(()) } else { file::remove_file(&file) };
                steps.push(match removed {
                    Ok(()) => SetupAction::new("removed", shown, ""),
                    Err(error) => SetupAction::new("failed", shown, error.source.to_string()),
                });
            }
            Ok(Some(_)) => {
                steps.push(SetupAction::new("kept", shown, "you changed it, so it stays"));
            }
            Ok(None) | Err(_) => {}
        }
    }
    if !is_rehearsal {
        here.place.forget_key();
        // Only goes if nothing is left in it.
        let _ = fs::remove_dir(&directory);
    }
    steps
}
