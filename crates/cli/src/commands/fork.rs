use heirloom_core::name::SessionName;
use heirloom_engine::{session as engine, sessions};

use super::session::flags::ConfigFlags;
use super::session::prompt::PromptArgs;
use super::{App, Done, session};

/// Branch off a session, from its end or from any event
///
/// The original session is not changed, even while it runs. `heirloom conversation` numbers the events.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix
    session: String,
    #[command(flatten)]
    prompt: PromptArgs,
    /// The event to branch off after: its number or message id [default: the last]
    #[arg(long, value_name = "EVENT")]
    at: Option<String>,
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
        fork: true,
        same_conversation: false,
        at: args.at,
    };
    let prepared = engine::prepare_continue(&context, &mut ledger, request)?;
    session::follow(app, &context, &mut ledger, prepared)
}
