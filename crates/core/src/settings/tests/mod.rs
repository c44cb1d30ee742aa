mod authority;
mod layers;
mod schema;

use super::*;

/// The example of the interface, key by key.
const EXAMPLE: &str = r#"
agents:
  claude: {command: [claude], model: opus}
requirements:
  commit_plan:
    scope: session
    type: blocking
    trigger_tools: [Edit, Write, "mcp__github__*", {tool: Bash, command_pattern: 'git\s+commit'}, {tool: Bash, command: [git, push]}, {tool: Edit, path: "src/**"}]
    satisfied_by_skill: arch-review
    stop_only: false
    message: "Run /{skill} first (session {session})."
notes: {file: NOTES.md}
checkpoint: {mode: warn, threshold: 0.95, scenarios: 3}
recovery: {level1_tokens: 100, level2_tokens: 500}
recall: {agents: repository}
team: {notes_from: team}
context: {yellow: 0.5, orange: 0.75, red: 0.9}
work: {gate: ["cargo test"], max_agents: 2, max_fixes: 3}
"#;

fn load(files: &[(&str, &str)]) -> Result<Resolved, Broken> {
    let mut layers = Layers::new();
    for (name, text) in files {
        layers.add_file(Authority::Person, name, text);
    }
    layers.resolve()
}

fn one(text: &str) -> Result<Resolved, Broken> {
    load(&[("c.yaml", text)])
}

fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}

fn errors(text: &str) -> String {
    shown(&one(text).unwrap_err().errors)
}

fn warnings(text: &str) -> String {
    shown(&one(text).unwrap().warnings)
}

fn source_of(resolved: &Resolved, path: &str) -> String {
    let row = resolved.rows.iter().find(|row| row.path == path).unwrap();
    row.source.describe()
}
