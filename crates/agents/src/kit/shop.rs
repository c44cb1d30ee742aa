//! The same for the agents' own shops: plugins and extensions as they stand in this repository.
//!
//! They are made from what `init` installs, so that both do the same. A plugin does not know where the
//! program is, and looks for it in `PATH` alone.

use serde_json::{Value, json};

use super::SKILLS;
use crate::claude::hooks::INSTALLED as CLAUDE;
use crate::gemini::hooks::OURS as GEMINI;
use crate::opencode;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const ABOUT: &str = "Sessions that remember: every context starts with what earlier ones learned, decided and proved";

/// Every file of every shop, with its path in this repository.
pub fn shop() -> Vec<(String, String)> {
    [claude(), gemini(), codex(), opencode()].concat()
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn claude() -> Vec<(String, String)> {
    let at = |name: &str| format!("plugins/claude/{name}");
    let manifest = json!({
        "name": "heirloom", "version": VERSION, "description": ABOUT, "license": "MIT OR Apache-2.0",
        "author": {"name": "heirloom"},
        "keywords": ["memory", "sessions", "requirements", "handoff"],
    });
    let market = json!({
        "name": "heirloom", "owner": {"name": "heirloom"},
        "metadata": {"description": ABOUT},
        "plugins": [{"name": "heirloom", "source": "./plugins/claude", "description": ABOUT}],
    });
    let server = json!({"mcpServers": {"heirloom": {"command": "heirloom", "args": ["mcp"]}}});
    let skills = SKILLS.map(|skill| {
        let heading = [("name", skill.name), ("description", skill.about)];
        let text = skill.markdown(&heading, Some("$ARGUMENTS"));
        (at(&format!("skills/{}/SKILL.md", skill.name)), text)
    });
    let status = (at("skills/statusline/SKILL.md"), STATUS_LINE.to_owned());
    let rest = [
        (".claude-plugin/marketplace.json".to_owned(), pretty(&market)),
        (at(".claude-plugin/plugin.json"), pretty(&manifest)),
        (at("hooks/hooks.json"), pretty(&CLAUDE.plugin())),
        (at(".mcp.json"), pretty(&server)),
    ];
    rest.into_iter().chain(skills).chain([status]).collect()
}

const STATUS_LINE: &str = "---
name: statusline
description: Show context used, cost, unmet requirements and kept decisions in the status line
disable-model-invocation: true
---

Add this to `~/.claude/settings.json`, unless it has a `statusLine` already; then show the person both and let them choose:

    \"statusLine\": {\"type\": \"command\", \"command\": \"heirloom statusline\"}
";

fn gemini() -> Vec<(String, String)> {
    let at = |name: &str| format!("plugins/gemini/{name}");
    let manifest = json!({
        "name": "heirloom", "version": VERSION, "description": ABOUT,
        "mcpServers": {"heirloom": {"command": "heirloom", "args": ["mcp"]}},
    });
    let commands =
        SKILLS.map(|skill| (at(&format!("commands/heirloom/{}.toml", skill.name)), skill.toml()));
    let rest = [
        (at("gemini-extension.json"), pretty(&manifest)),
        (at("hooks/hooks.json"), pretty(&GEMINI.plugin())),
    ];
    rest.into_iter().chain(commands).collect()
}

fn codex() -> Vec<(String, String)> {
    let file = |name: &str| format!("plugins/codex/skills/{name}/SKILL.md");
    let skills = SKILLS.map(|skill| {
        let name = format!("heirloom-{}", skill.name);
        (file(&name), skill.skill(&name))
    });
    skills.into_iter().collect()
}

fn opencode() -> Vec<(String, String)> {
    let manifest = json!({
        "name": "heirloom-opencode", "version": VERSION, "description": ABOUT, "type": "module",
        "license": "MIT OR Apache-2.0", "main": "heirloom.js", "files": ["heirloom.js"],
    });
    vec![
        ("plugins/opencode/package.json".to_owned(), pretty(&manifest)),
        ("plugins/opencode/heirloom.js".to_owned(), opencode::hooks::plugin("heirloom")),
    ]
}
