//! Bringing another ledger's records in. Only a person may: what comes in decides what is remembered.

use std::io::BufRead;
use std::path::Path;

use heirloom_core::trust::person::{Action, NotAPerson};
use heirloom_ledger::{ImportError, Imported, Ledger, Progress};

use crate::capture;
use crate::here::Here;
use crate::person;

/// Why nothing was brought in.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// Only a person may.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    /// It could not be taken in.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// Takes in what an export holds.
pub fn import(
    here: &Here,
    ledger: &mut Ledger,
    lines: impl BufRead,
) -> Result<Imported, ExchangeError> {
    person::allow(here, ledger, Action::ImportLedger)?;
    Ok(tidied(here, ledger.import(lines)?))
}

/// Takes in what a backup holds, or another copy of a ledger.
pub fn import_copy(
    here: &Here,
    ledger: &mut Ledger,
    copy: &Path,
    progress: &mut Progress<'_>,
) -> Result<Imported, ExchangeError> {
    person::allow(here, ledger, Action::ImportLedger)?;
    Ok(tidied(here, ledger.import_copy(copy, progress)?))
}

/// What hooks keep may quote what somebody else erased.
pub fn tidied(here: &Here, imported: Imported) -> Imported {
    if imported.erased > 0 {
        capture::drop_quotes(&here.home);
    }
    imported
}
