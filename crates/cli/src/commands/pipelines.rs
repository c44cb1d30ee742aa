use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{ListedPipeline, PipelineDetail, PipelineList};
use heirloom_core::run::choices::Choices;
use heirloom_core::run::{Request, resolve_pipeline};
use heirloom_engine::run::library;

use super::stages::{lint, origin, unknown};
use super::{App, Done, dry_run};
use crate::failure::{Code, Failure};
use crate::ui::{Columns, DIM};

/// List, show and check pipelines
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What there is to see.
#[derive(Debug, Subcommand)]
enum What {
    /// List the pipelines
    List,
    /// Show one pipeline with its stages
    Show {
        /// The pipeline
        name: String,
    },
    /// Check pipeline files for mistakes
    Lint {
        /// Only this pipeline
        name: Option<String>,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    match &args.what {
        What::List => list(app),
        What::Show { name } => show(app, name),
        What::Lint { name } => lint(app, "pipelines", name.as_deref()),
    }
}

fn list(app: &App) -> Done {
    let loaded = library::load(&app.here.place.root);
    let rows = loaded.library.pipelines();
    let rows = rows.map(|(name, pipeline)| ListedPipeline::new(name, pipeline));
    app.ui.answer(&PipelineList { pipelines: rows.collect() }, || {
        let mut columns = Columns::new(&["name", "description", "from"]);
        for (name, pipeline) in loaded.library.pipelines() {
            let from = origin(&pipeline.file).to_owned();
            columns.row(vec![name.to_owned(), pipeline.description.clone(), from]);
        }
        columns.render()
    });
    Ok(ExitCode::SUCCESS)
}

fn show(app: &App, name: &str) -> Done {
    let loaded = library::load(&app.here.place.root);
    let Some(pipeline) = loaded.library.pipeline(name) else {
        return Err(unknown("pipeline", name, loaded.library.pipelines().map(|(name, _)| name)));
    };
    // What names no agent is run by the one of the settings, as `heirloom run` would.
    let settings = app.settings.as_ref().map_or_else(
        |_| Choices::default(),
        |loaded| Choices {
            agent: Some(loaded.settings.agent.as_str().to_owned()),
            ..Choices::default()
        },
    );
    let request = Request { settings, ..Request::default() };
    let plan = resolve_pipeline(&loaded.library, pipeline, &request);
    let plan = plan.map_err(|mistakes| {
        let failure = Failure::new(Code::RunMistakes, format!("`{name}` has mistakes"));
        mistakes.iter().fold(failure, |failure, mistake| failure.hint(mistake.to_string()))
    })?;
    let answer = PipelineDetail {
        name: name.to_owned(),
        description: pipeline.description.clone(),
        file: pipeline.file.clone(),
        plan: (&plan).into(),
    };
    app.ui.answer(&answer, || {
        format!(
            "{}\n{DIM}{}{DIM:#}\n{}",
            pipeline.description,
            origin(&pipeline.file),
            dry_run::tell(&plan)
        )
    });
    Ok(ExitCode::SUCCESS)
}
