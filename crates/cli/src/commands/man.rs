use std::process::ExitCode;

use heirloom_api::ManPage;

use super::{App, Done};
use crate::failure::{Code, Failure};

/// Print the man page
///
/// heirloom man | man -l -
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(app: &App, _: &Args) -> Done {
    let mut page = Vec::new();
    clap_mangen::Man::new(super::tree())
        .render(&mut page)
        .map_err(|error| Failure::from_error(Code::Internal, &error))?;
    let answer = ManPage { page: String::from_utf8_lossy(&page).into_owned() };
    app.ui.answer(&answer, || answer.page.clone());
    Ok(ExitCode::SUCCESS)
}
