//! Where no gate is set, the one that the repository suggests is offered.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use heirloom_engine::settings::Loaded;
use heirloom_engine::work;

use super::App;
use crate::printer::is_err_terminal;

const LOCAL: &str = ".heirloom/local.yaml";

/// Offers a gate to a person at a terminal, unless one was set or declined already. Returns the one
/// that holds from now on; others are told how they could set one.
pub(super) fn offer(app: &App, loaded: &Loaded) -> Vec<String> {
    let decided = !loaded.tree["work"]["gate"].is_null();
    let Some(gate) = work::suggest_gate(&app.here.place.root).filter(|_| !decided) else {
        return Vec::new();
    };
    let can_ask = !app.ui.is_json() && std::io::stdin().is_terminal() && is_err_terminal();
    if !can_ask {
        app.ui.hint(&format!(
            "no gate is set; `{gate}` would be one: --gate '{gate}', or work.gate in {LOCAL}"
        ));
        return Vec::new();
    }
    app.ui.say(&format!(
        "No gate is set, so nothing would check what agents do. This repository suggests `{gate}`.\n\
         Run it before an issue is closed, from now on? [Y/n]"
    ));
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    let gates = match line.trim() {
        "" if line.is_empty() => return Vec::new(),
        "" | "y" | "Y" | "yes" => vec![gate],
        _ => Vec::new(),
    };
    remember(app, &gates);
    gates
}

/// Writes the answer to the person's own settings for this repository.
fn remember(app: &App, gates: &[String]) {
    let list = serde_json::to_string(gates).unwrap_or_default();
    let root = &app.here.place.root;
    let known = heirloom_repo::file::read_to_string(root.join(LOCAL)).unwrap_or_default();
    let written = with_gate(&known, &list).is_some_and(|text| {
        heirloom_repo::write_within(root, Path::new(LOCAL), text.as_bytes()).is_ok()
    });
    if written {
        app.ui.say(&format!("saved in {LOCAL}"));
    } else {
        app.ui.hint(&format!("put `gate: {list}` below `work:` in {LOCAL} to keep that"));
    }
}

/// The settings with a gate, where they can simply be added to.
fn with_gate(known: &str, list: &str) -> Option<String> {
    let is_taken = known.lines().any(|line| line.starts_with("work") || line.starts_with('{'));
    let end = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    (!is_taken).then(|| format!("{known}{end}work:\n  gate: {list}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_added_to_what_is_there_and_never_over_it() {
        let gate = r#"["cargo test"]"#;
        assert_eq!(with_gate("", gate).unwrap(), "work:\n  gate: [\"cargo test\"]\n");
        let known = "agent: codex";
        let added = with_gate(known, gate).unwrap();
        assert_eq!(added, "agent: codex\nwork:\n  gate: [\"cargo test\"]\n");
        for known in ["work: {max_agents: 3}\n", "{agent: codex}\n"] {
            assert_eq!(with_gate(known, gate), None);
        }
    }
}
