//! The one question before the first run in a repository: what its agents may do without asking.

use std::io::{BufRead, IsTerminal};

use heirloom_core::settings::RunPermissions;
use heirloom_core::trust::person::Action;
use heirloom_engine::{person, run};
use heirloom_ledger::Ledger;
use heirloom_repo::file;

use super::App;
use crate::failure::Failure;
use crate::ui::{BOLD, DIM};

/// Asks a person, and keeps the answer for this repository. Nothing where there is nobody to ask or
/// the answer is none of those there are.
pub(super) fn ask(
    app: &App,
    ledger: &mut Ledger,
    agents: &[&str],
) -> Result<Option<RunPermissions>, Failure> {
    let is_person = person::allow(&app.here, ledger, Action::Widen).is_ok();
    let has_terminal = std::io::stdin().is_terminal() && file::open_any("/dev/tty").is_ok();
    if !is_person || !has_terminal || app.ui.is_json() {
        return Ok(None);
    }
    app.ui.say(&format!(
        "A run is unattended. What may {} do in {} without asking you?\n  \
         {BOLD}a{BOLD:#}  accept: edit files and run commands, such as tests and commits; what it runs is recorded\n  \
         {BOLD}e{BOLD:#}  edits: edit files; every command is denied, so most stages cannot do their work\n  \
         {BOLD}q{BOLD:#}  ask: nothing; each tool use waits for `heirloom approvals`\n\
         {DIM}Kept for this repository on this machine. --permissions says otherwise for one run, run.permissions in your settings for good.{DIM:#}\n\
         a, e or q?",
        agents.join(" and "),
        app.here.place.label(),
    ));
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    let Some(answer) = read(&line) else { return Ok(None) };
    run::permissions::keep(&app.here, ledger, answer)?;
    Ok(Some(answer))
}

fn read(line: &str) -> Option<RunPermissions> {
    match line.trim().to_lowercase().as_str() {
        "a" | "accept" => Some(RunPermissions::Accept),
        "e" | "edits" => Some(RunPermissions::Edits),
        "q" | "ask" => Some(RunPermissions::Ask),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_is_an_answer() {
        assert_eq!(read(" A \n"), Some(RunPermissions::Accept));
        assert_eq!(read("edits"), Some(RunPermissions::Edits));
        assert_eq!(read("q"), Some(RunPermissions::Ask));
        for nothing in ["", "\n", "y", "yes"] {
            assert_eq!(read(nothing), None);
        }
    }
}
