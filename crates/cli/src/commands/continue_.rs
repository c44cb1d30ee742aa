use heirloom_core::name::SessionName;
use heirloom_engine::{session as engine, sessions};

use super::session::flags::ConfigFlags;
use super::session::prompt::PromptArgs;
use super::{App, Done, session};

/// Continue a session with a new prompt
///
/// The new session takes over the conversation and its whole config: model, prompts, tools, permissions
/// and MCP servers. A flag replaces one of them, --clear removes one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix
    session: String,
    #[command(flatten)]
    prompt: PromptArgs,
    /// The new session's name [default: the next version of the old one's]
    #[arg(long, value_name = "SESSION")]
    name: Option<SessionName>,
    #[command(flatten)]
    config: ConfigFlags,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let prompt = args.prompt.read(app)?;
    let mut ledger = session::open(app)?;
    let programs = session::programs(app)?;
    let context = session::launch_context(app, &programs)?;
    let request = engine::Continue {
        session: sessions::find(&app.here, &ledger, &args.session)?,
        prompt,
        name: args.name,
        overrides: args.config.read(&app.directory, app.here.clock.now())?,
        fork: false,
        same_conversation: false,
        at: None,
    };
    let prepared = engine::prepare_continue(&context, &mut ledger, request)?;
    session::follow(app, &context, &mut ledger, prepared)
}
