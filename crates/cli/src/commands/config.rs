use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{
    SchemaDocument, SettingsFile, SettingsFiles, SettingsShown, Template, TemplateList,
    TemplateSaved,
};
use heirloom_core::name::SessionName;
use heirloom_core::settings;
use heirloom_engine::settings::{FileState, Role};
use heirloom_engine::{session, sessions};
use serde_json::Value;

use super::{App, Done};
use crate::failure::FAILED;
use crate::moment::ago;
use crate::ui::{Columns, DIM, GOOD, hang};

/// Show the settings in effect and where they come from
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show every setting
    Show {
        /// Say where each value comes from
        #[arg(long)]
        sources: bool,
    },
    /// Print the JSON schema of the settings files, for editors
    Schema,
    /// Show which settings files are read
    Path,
    /// Save a session's config as a template
    SaveTemplate {
        /// The session's name, id or id prefix
        session: String,
        /// The template's name; saving it again makes a new version
        name: SessionName,
    },
    /// List templates
    Templates,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    match &args.what {
        What::Show { sources } => show(app, *sources),
        What::Schema => schema(app),
        What::Path => path(app),
        What::SaveTemplate { session, name } => save_template(app, session, name),
        What::Templates => templates(app),
    }
}

fn show(app: &App, sources: bool) -> Done {
    // What is wrong was said before; what is in force all the same is here.
    let (answer, rows) = match &app.settings {
        Ok(loaded) => (SettingsShown::from(loaded), &loaded.rows),
        Err(unusable) => (SettingsShown::from(&**unusable), &unusable.broken.rest.rows),
    };
    app.ui.answer(&answer, || {
        let mut columns = Columns::new(if sources {
            &["setting", "value", "from"]
        } else {
            &["setting", "value"]
        })
        .yielding(1);
        for row in rows {
            let mut cells = vec![row.path.clone(), written(&row.value)];
            if sources {
                cells.push(row.source.describe());
            }
            columns.row(cells);
        }
        columns.render()
    });
    // An answer in JSON says itself what is wrong.
    match app.settings() {
        Err(_) if app.ui.is_json() => Ok(ExitCode::from(FAILED)),
        settings => settings.map(|_| ExitCode::SUCCESS),
    }
}

/// A value as a settings file has it.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{key}: {}", written(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn schema(app: &App) -> Done {
    let schema = SchemaDocument(settings::schema());
    app.ui.answer(&schema, || serde_json::to_string_pretty(&schema).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

fn path(app: &App) -> Done {
    let files = match &app.settings {
        Ok(loaded) => &loaded.files,
        Err(unusable) => &unusable.files,
    };
    let answer = SettingsFiles { files: files.iter().map(SettingsFile::from).collect() };
    app.ui.answer(&answer, || {
        let lines = files.iter().map(|file| {
            let role = match file.role {
                Role::Owner => "owner",
                Role::User => "yours",
                Role::Repository => "this repository",
                Role::Local => "yours, here",
            };
            let state = match file.state {
                FileState::Absent => " (not there)",
                FileState::Read => "",
                FileState::Unreadable => " (cannot be read)",
            };
            hang(&format!("{role:16} {}{DIM}{state}{DIM:#}", file.path.display()), 17)
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    Ok(ExitCode::SUCCESS)
}

fn save_template(app: &App, session: &str, name: &SessionName) -> Done {
    let mut ledger = app.here.ledger()?;
    let session = sessions::find(&app.here, &ledger, session)?;
    let saved = session::save_template(&app.here, &mut ledger, &session, name)?;
    let answer = TemplateSaved {
        name: saved.name.clone(),
        version: saved.version,
        session: session.name.to_string(),
    };
    app.ui.answer(&answer, || {
        format!(
            "{GOOD}✔{GOOD:#} {}@{} is the config of {}",
            saved.name, saved.version, session.name
        )
    });
    Ok(ExitCode::SUCCESS)
}

fn templates(app: &App) -> Done {
    let templates = app.here.ledger()?.templates()?;
    let rows = templates.iter().map(|template| Template {
        name: template.name.clone(),
        version: template.version,
        saved_at: template.saved_at,
    });
    app.ui.answer(&TemplateList { templates: rows.collect() }, || {
        let mut columns = Columns::new(&["name", "version", "saved"]).right(1);
        for template in &templates {
            let saved = ago(template.saved_at, app.here.clock.now());
            columns.row(vec![template.name.clone(), template.version.to_string(), saved]);
        }
        if templates.is_empty() { String::new() } else { columns.render() }
    });
    if templates.is_empty() && !app.ui.is_json() {
        app.ui.hint("no templates yet; `heirloom config save-template SESSION NAME` saves one");
    }
    Ok(ExitCode::SUCCESS)
}
