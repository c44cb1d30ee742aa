//! Sessions that are launched, continued, forked and interrupted.

use std::path::PathBuf;

use axum::Extension;
use axum::extract::{Path, State};
use heirloom_api::{Code, Failure, Session};
use heirloom_core::config::{Config, Field, Overrides};
use heirloom_core::trust::person::Action;
use heirloom_core::trust::widen;
use heirloom_engine::{session as engine, sessions};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::answer::{Created, Refused, Told};
use crate::drive::{self, Order};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::Given;

/// What is said about a session to be launched, besides its config.
const LAUNCH: [&str; 5] = ["prompt", "agent", "name", "template", "repo"];
/// The same for one that goes on.
const CONTINUE: [&str; 3] = ["prompt", "name", "at"];

/// What is said about a session to be launched. The further fields are those of its config.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "it describes what `Said` reads")]
pub(crate) struct LaunchBody {
    /// What the agent is to do.
    #[schemars(length(min = 1))]
    prompt: String,
    /// The agent; without, the usual one.
    agent: Option<String>,
    /// The session's name.
    name: Option<String>,
    /// A saved config to start from, `NAME` or `NAME@VERSION`.
    template: Option<String>,
    /// The repository: its key, its path, or the name of its directory; without, that of `working_dir`, or
    /// the one the daemon was started in.
    repo: Option<String>,
    #[schemars(flatten)]
    config: ConfigBody,
}

/// What is said about a session that goes on. Of its config an absent field is inherited, a value replaces
/// it, and `null` clears it.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "it describes what `Said` reads")]
pub(crate) struct ContinueBody {
    /// What the agent is to do now.
    #[schemars(length(min = 1))]
    prompt: String,
    /// The new session's name; otherwise the old one's, a version on.
    name: Option<String>,
    /// With `fork`: the event to branch off after, by its number or message id.
    at: Option<String>,
    #[schemars(flatten)]
    config: ConfigBody,
}

/// How the agent is launched.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "it describes what `Overrides` reads")]
struct ConfigBody {
    /// The model, as the agent knows it.
    model: Option<String>,
    /// The directory the agent works in, as a whole path.
    working_dir: Option<String>,
    /// Further directories the agent may use. New ones need a person who signed in.
    additional_dirs: Option<Vec<String>>,
    /// Replaces the agent's own system prompt.
    system_prompt: Option<String>,
    /// Is added to the agent's system prompt.
    append_system_prompt: Option<String>,
    /// Standing instructions, delivered with the system prompt.
    custom_instructions: Option<String>,
    /// The agent's permission mode. One that asks less needs a person who signed in.
    permission_mode: Option<String>,
    /// The MCP tool that is asked for permissions in place of a person. Needs a person who signed in.
    permission_prompt_tool: Option<String>,
    /// Tools that need no permission. More than the session had needs a person who signed in.
    allowed_tools: Option<Vec<String>>,
    /// Tools that are never permitted.
    disallowed_tools: Option<Vec<String>>,
    /// MCP servers by name, in the usual shape. New ones need a person who signed in.
    mcp_servers: Option<Map<String, Value>>,
    /// Whether edits of files are approved without asking. Needs a person who signed in.
    auto_accept_edits: Option<bool>,
    /// Until when everything is approved without asking. Needs a person who signed in.
    bypass_until: Option<jiff::Timestamp>,
    /// Variables that the agent gets to see. New ones need a person who signed in.
    env: Option<Vec<String>>,
    /// A line that says what the session is about.
    title: Option<String>,
    /// The most turns the agent may take.
    max_turns: Option<u32>,
    /// The most the session may cost, in USD.
    max_cost_usd: Option<f64>,
}

/// A body whose further fields are those of a config.
struct Said {
    own: Map<String, Value>,
    config: Overrides,
}

impl Said {
    fn read(body: Map<String, Value>, names: &[&str]) -> Result<Self, Failure> {
        let (own, rest): (Map<_, _>, Map<_, _>) =
            body.into_iter().partition(|(name, _)| names.contains(&name.as_str()));
        let config = Overrides::parse(&Value::Object(rest).to_string());
        let config = config.map_err(|error| Failure::from_error(Code::RequestInvalid, &error))?;
        Ok(Self { own, config })
    }

    fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        match self.own.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) if name == "at" => Ok(Some(number.to_string())),
            Some(_) => Err(Failure::new(Code::RequestInvalid, format!("`{name}` must be a text"))),
        }
    }

    /// What only a person may ask for, by what the session had `before`.
    fn check(&self, caller: &Caller, before: &Config) -> Result<(), Failure> {
        refuse_wider(caller, &widen::fields(&self.config, before))
    }
}

/// Lets only a person widen something.
fn refuse_wider(caller: &Caller, wider: &[Field]) -> Result<(), Failure> {
    if wider.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = wider.iter().map(|field| field.as_str()).collect();
    caller.may(Action::Widen).map_err(|failure| Failure {
        message: format!("{}: {}", failure.message, names.join(", ")),
        ..failure
    })
}

/// A saved config may be as wide as the session it was saved from.
fn check_template(house: &House, caller: &Caller, name: &str) -> Result<(), Failure> {
    let template = engine::find_template(&house.ledger()?, name)?;
    // One that cannot be read is not launched with either.
    refuse_wider(caller, &template.config.map(widen::fields_of).unwrap_or_default())
}

pub(super) async fn launch(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Given(body): Given<Map<String, Value>>,
) -> Result<Created<Session>, Refused> {
    Ok(Created(house.call(move |house| launched(house, &caller, body)).await?))
}

/// Launches a session and answers once its agent runs, or could not be started.
pub(crate) fn launched(
    house: &House,
    caller: &Caller,
    body: Map<String, Value>,
) -> Result<Session, Failure> {
    let said = Said::read(body, &LAUNCH)?;
    said.check(caller, &Config::default())?;
    if let Some(template) = said.text("template")? {
        check_template(house, caller, &template)?;
    }
    let repo = said.text("repo")?;
    let directory = match (&repo, said.config.working_dir.as_set()) {
        (None, Some(directory)) => absolute(directory)?,
        _ => RequestContext::of(house, repo.as_deref())?.here.place.root,
    };
    let order = Order {
        directory,
        prompt: said.text("prompt")?.unwrap_or_default(),
        name: said.text("name")?,
        agent: said.text("agent")?,
        template: said.text("template")?,
        config: said.config,
        signed_in: caller.cookie(),
        ..Order::default()
    };
    begun(house, &order)
}

fn absolute(directory: &str) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(directory);
    if path.is_absolute() && path.is_dir() {
        return Ok(path);
    }
    let message = format!("{directory} is no directory with its whole path");
    Err(Failure::new(Code::ConfigWorkingDir, message))
}

fn begun(house: &House, order: &Order) -> Result<Session, Failure> {
    let id = drive::start(house, order)?;
    let ledger = house.ledger()?;
    let session = ledger.session(id)?.ok_or(heirloom_ledger::Error::NoSession { id })?;
    Ok(Session::new(&session, sessions::parent_name(&ledger, &session)?))
}

pub(super) async fn go_on(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(address): Path<String>,
    Given(body): Given<Map<String, Value>>,
) -> Result<Created<Session>, Refused> {
    Ok(Created(house.call(move |house| went_on(house, &caller, &address, body, false)).await?))
}

pub(super) async fn fork(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(address): Path<String>,
    Given(body): Given<Map<String, Value>>,
) -> Result<Created<Session>, Refused> {
    Ok(Created(house.call(move |house| went_on(house, &caller, &address, body, true)).await?))
}

/// Continues a session, or takes it another way.
pub(crate) fn went_on(
    house: &House,
    caller: &Caller,
    address: &str,
    body: Map<String, Value>,
    fork: bool,
) -> Result<Session, Failure> {
    let said = Said::read(body, &CONTINUE)?;
    let (cx, session) = RequestContext::session(house, address)?;
    // Of a config that cannot be read nothing is inherited.
    said.check(caller, session.config.as_ref().unwrap_or(&Config::default()))?;
    let at = said.text("at")?;
    if at.is_some() && !fork {
        let message = "only a fork begins `at` an event";
        return Err(Failure::new(Code::RequestInvalid, message));
    }
    let order = Order {
        directory: cx.here.place.root.clone(),
        prompt: said.text("prompt")?.unwrap_or_default(),
        name: said.text("name")?,
        session: Some(session.id),
        fork,
        at,
        config: said.config,
        signed_in: caller.cookie(),
        ..Order::default()
    };
    begun(house, &order)
}

pub(super) async fn interrupt(
    State(house): State<House>,
    Path(address): Path<String>,
) -> Result<Told<Session>, Refused> {
    Ok(Told(house.call(move |house| interrupted(house, &address)).await?))
}

/// Interrupts a session and answers once it has stopped.
pub(crate) fn interrupted(house: &House, address: &str) -> Result<Session, Failure> {
    let (mut cx, session) = RequestContext::session(house, address)?;
    let session = engine::interrupt(&cx.here, &mut cx.ledger, &session)?;
    Ok(Session::new(&session, sessions::parent_name(&cx.ledger, &session)?))
}
