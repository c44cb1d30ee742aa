use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

use heirloom_api::LedgerHeads;
use heirloom_core::causes;
use heirloom_ledger::Head;
use heirloom_repo::file;

use super::super::{App, Done};
use crate::failure::{Code, Failure};

pub(super) fn run(app: &App) -> Done {
    let heads = app.here.ledger_as_it_is()?.heads()?;
    app.ui.answer(&LedgerHeads::from(&heads[..]), || {
        let lines: Vec<String> = heads.iter().map(Head::to_string).collect();
        lines.join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

/// The ends that a file knows which somebody kept.
pub(super) fn read(file: &Path) -> Result<Vec<Head>, Failure> {
    let opened = file::open_any(file).map_err(|error| {
        Failure::new(Code::File, format!("cannot read {}: {}", file.display(), error.source))
    })?;
    heirloom_ledger::read_heads(BufReader::new(opened)).map_err(|error| {
        Failure::new(Code::File, format!("{}: {}", file.display(), causes::told(&error)))
    })
}
