use heirloom_core::name::SessionName;
use heirloom_engine::session as engine;

use super::session::flags::ConfigFlags;
use super::session::prompt::PromptArgs;
use super::{App, Done, given, session};

/// Launch an agent with a prompt
///
/// Whatever the agent needs permission for becomes an approval: answer it here at the terminal, or
/// anywhere with `heirloom approvals`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    prompt: PromptArgs,
    /// The session's name
    #[arg(long, value_name = "SESSION")]
    name: Option<SessionName>,
    /// The agent to launch
    #[arg(long, value_name = "AGENT", value_parser = given::agent())]
    agent: Option<String>,
    /// Start from a saved config, NAME or NAME@VERSION
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    #[command(flatten)]
    config: ConfigFlags,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let prompt = args.prompt.read(app)?;
    let mut ledger = session::open(app)?;
    let programs = session::programs(app)?;
    let context = session::launch_context(app, &programs)?;
    let launch = engine::Launch {
        prompt,
        name: args.name,
        agent: args.agent,
        config: args.config.read(&app.directory, app.here.clock.now())?,
        template: args.template,
        ..engine::Launch::default()
    };
    let prepared = engine::prepare_launch(&context, &ledger, launch)?;
    session::follow(app, &context, &mut ledger, prepared)
}
