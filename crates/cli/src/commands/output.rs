//! The file that a person names for what a command writes.

use std::path::Path;

use heirloom_repo::Destination;

use super::App;
use crate::failure::{Code, Failure};

/// Where `named` leads to. A file that is there is replaced only with `force`: it may be the last copy of something.
pub(super) fn destination(app: &App, named: &Path, force: bool) -> Result<Destination, Failure> {
    let destination = Destination::find(&app.directory.join(named))?;
    if destination.replaces() && !force {
        let message = format!("{} already exists", named.display());
        return Err(Failure::new(Code::FileExists, message).hint("--force replaces it"));
    }
    Ok(destination)
}
