use std::process::ExitCode;

use heirloom_api::{SchemaDocument, SchemaNames, VERSION, names, schema};
use heirloom_core::suggest::nearest;

use super::{App, Done};
use crate::failure::{Code, Failure};

/// Print the JSON Schema of a command's --json output
///
/// NAME is the command with dashes, such as sessions-list, or events or error. Without NAME, lists the
/// names.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The schema to print
    name: Option<String>,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let Some(name) = &args.name else {
        let names: Vec<String> = names().iter().map(|known| known.name.to_owned()).collect();
        let text = names.join("\n");
        app.ui.answer(&SchemaNames { version: VERSION, names }, || text);
        return Ok(ExitCode::SUCCESS);
    };
    // People type a command as they call it.
    let dashed = name.trim().replace([' ', '_'], "-");
    let document = SchemaDocument(schema(&dashed).ok_or_else(|| unknown(name, &dashed))?);
    app.ui.answer(&document, || serde_json::to_string_pretty(&document).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str, dashed: &str) -> Failure {
    let failure = Failure::new(Code::Usage, format!("there is no schema called `{name}`")).usage();
    let all = "`heirloom schema` lists all of them";
    failure.hint(match nearest(dashed, names().iter().map(|known| known.name)) {
        Some(nearest) => format!("did you mean {nearest}? {all}"),
        None => all.to_owned(),
    })
}
