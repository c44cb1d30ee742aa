use heirloom_agents::Programs;
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_engine::recall::carry;
use heirloom_engine::recall::resume::Past;
use heirloom_engine::{session as engine, sessions};
use heirloom_ledger::Ledger;

use super::session::flags::ConfigFlags;
use super::session::prompt::PromptArgs;
use super::{App, Done, given, resume, session};
use crate::failure::{Code, Failure};

/// Continue a session with a new prompt
///
/// The new session takes over the conversation and its whole config: model, prompts, tools, permissions
/// and MCP servers. A flag replaces one of them, --clear removes one. With another agent only the conversation
/// goes along.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix
    session: String,
    #[command(flatten)]
    prompt: PromptArgs,
    /// Continue in this agent instead, with a copy of the conversation
    #[arg(long, value_name = "AGENT", value_parser = given::agent())]
    with: Option<String>,
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
    let mut session = sessions::find(&app.here, &ledger, &args.session)?;
    let overrides = args.config.read(&app.directory, app.here.clock.now())?;
    if let Some(agent) = args.with.filter(|with| session.agent.as_deref() != Some(with.as_str())) {
        session = carried_over(app, &mut ledger, &programs, &session, &agent)?;
    }
    let request = engine::Continue {
        session,
        prompt,
        name: args.name,
        overrides,
        fork: false,
        same_conversation: false,
        at: None,
    };
    let prepared = engine::prepare_continue(&context, &mut ledger, request)?;
    session::follow(app, &context, &mut ledger, prepared)
}

/// The copy of a session's conversation that another agent has.
fn carried_over(
    app: &App,
    ledger: &mut Ledger,
    programs: &Programs,
    session: &Session,
    to: &str,
) -> Result<Session, Failure> {
    carry::is_there(&app.here, programs, to)?;
    let past = Past::of_session(&app.here, session).ok_or_else(|| {
        Failure::new(Code::SessionNotFound, format!("{} has no conversation", session.name))
    })?;
    let carried = carry::carry(&app.here, ledger, programs, &past, to)?;
    resume::say(app, &carried);
    Ok(carried.session)
}
