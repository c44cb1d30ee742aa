use std::process::ExitCode;

use super::{App, Done};
use crate::failure::Failure;

/// Print the man page
///
/// heirloom man | man -l -
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(app: &App, _: &Args) -> Done {
    let mut page = Vec::new();
    clap_mangen::Man::new(super::tree())
        .render(&mut page)
        .map_err(|error| Failure::from_error("internal", &error))?;
    let page = String::from_utf8_lossy(&page);
    app.ui.answer(&serde_json::json!({"page": page}), || page.to_string());
    Ok(ExitCode::SUCCESS)
}
