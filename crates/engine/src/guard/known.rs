//! What a shell command leaves open, looked up: what git's aliases stand for, and what a patch changes.
//!
//! Only where a command has such a gap. Ordinary ones cost nothing.

use std::collections::BTreeSet;
use std::path::Path;

use heirloom_core::guard::shell::{Known, Open};
use heirloom_core::guard::trigger::ToolUse;
use serde_json::Value;

/// How many patches and directories are looked into.
const MOST: usize = 8;
/// The most of a patch that is read. A larger one stays unknown.
const MOST_BYTES: u64 = 4 << 20;

/// Reads a tool use that happens in `cwd`.
pub(super) fn read<'a>(tool: &'a str, input: &'a Value, cwd: &Path) -> ToolUse<'a> {
    let mut tool_use = ToolUse::read(tool, input);
    let known = tool_use.open().map(|open| look_up(open, cwd)).filter(|known| !known.is_empty());
    if let Some(known) = known {
        tool_use.know(&known);
    }
    tool_use
}

fn look_up(open: &Open, cwd: &Path) -> Known {
    let directories: BTreeSet<&str> = open.git_words.iter().map(|(_, at)| at.as_str()).collect();
    let mut directories = directories.into_iter();
    let looked_into = directories.by_ref().take(MOST);
    let found = looked_into.map(|at| (at.to_owned(), heirloom_repo::aliases(&cwd.join(at))));
    let git_aliases = found.filter(|(_, aliases)| !aliases.is_empty()).collect();
    let patches = open.patches.iter().take(MOST).filter_map(|(name, path)| {
        let bytes = heirloom_repo::read_at_most(&cwd.join(path), MOST_BYTES).ok()?;
        Some((name.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    });
    let unseen = directories.map(str::to_owned).collect();
    Known { git_aliases, unseen, patches: patches.collect() }
}
