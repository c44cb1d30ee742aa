//! Where a tool use happens: the repository's root, in every way it may be written, and the current
//! directory.

use std::path::Path;

use heirloom_agents::hook::HookEvent;
use heirloom_core::guard::trigger::Workdir;

use crate::here::Here;

/// Asks something about the place of a tool use.
pub(super) fn in_place<T>(
    here: &Here,
    event: &HookEvent,
    ask: impl FnOnce(&Workdir<'_>) -> T,
) -> T {
    let root = here.place.root.to_string_lossy();
    let cwd = event.cwd.as_deref().unwrap_or(&here.place.root);
    let linked = linked_root(&here.place.root, cwd);
    let linked = linked.map(Path::to_string_lossy);
    let roots: Vec<&str> =
        [Some(&root), linked.as_ref()].into_iter().flatten().map(|root| &**root).collect();
    let ignores_case = cfg!(target_os = "macos");
    ask(&Workdir { roots: &roots, cwd: &cwd.to_string_lossy(), ignores_case })
}

/// The root as the agent writes it, where it was started through a link: it names files through it as
/// well.
fn linked_root<'a>(root: &Path, cwd: &'a Path) -> Option<&'a Path> {
    if cwd.starts_with(root) {
        return None;
    }
    let real = std::fs::canonicalize(cwd).ok()?;
    let below = real.strip_prefix(root).ok()?;
    cwd.ancestors().nth(below.components().count())
}
