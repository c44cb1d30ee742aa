//! One launch of an agent, from its command line to its end.

use std::fs::OpenOptions;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use heirloom_agents::{
    Conversation, Env, Event as Said, Feature, Finished, Input, Launch, LaunchError, Line, Next,
    Patience, Process, Support, Taps, by_name, env,
};
use heirloom_core::config::Config;
use heirloom_core::run::outcome::AgentEnd;
use jiff::Timestamp;

use super::at_work::AtWork;
use super::error::RunError;
use super::file::Late;
use super::outcome::{self, Cause};

/// The variable that everything an engine starts carries: the session's id.
pub(super) const CARRIED: &str = "HEIRLOOM_RUN";

/// How often the engine looks up while an agent is silent.
const LOOK_UP: Duration = Duration::from_millis(100);
/// How often the activity of an agent is told at most.
const TELL: Duration = Duration::from_millis(200);
const PATIENCE: Patience =
    Patience { interrupt: Duration::from_secs(5), terminate: Duration::from_secs(3) };

/// What is to be launched.
pub(super) struct Order<'o> {
    pub(super) agent: &'o str,
    pub(super) model: Option<&'o str>,
    pub(super) prompt: &'o str,
    pub(super) variables: Vec<(String, String)>,
    /// Where its stream is kept.
    pub(super) dir: &'o Path,
    pub(super) timeout: Option<Duration>,
    pub(super) agent_session_id: &'o str,
}

/// What came of it.
pub(super) struct Launched {
    pub(super) end: AgentEnd,
    pub(super) until: Option<Timestamp>,
    pub(super) cause: Option<Cause>,
    pub(super) cost_usd: f64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) last_words: Option<String>,
}

impl Launched {
    fn refused(why: String) -> Self {
        Self {
            end: AgentEnd::Failed { why, hopeless: true },
            until: None,
            cause: None,
            cost_usd: 0.0,
            input_tokens: 0,
            output_tokens: 0,
            last_words: None,
        }
    }

    fn of(finished: Finished, cause: Option<Cause>, now: Timestamp) -> Self {
        let tokens = finished.tally.tokens;
        let spent = matches!(finished.outcome, heirloom_agents::Outcome::CostLimit);
        Self {
            end: outcome::end(&finished, cause),
            until: outcome::until(&finished, now),
            cause: cause.or(spent.then_some(Cause::Spent)),
            cost_usd: finished.tally.cost_usd.unwrap_or(0.0),
            input_tokens: tokens.input + tokens.cache_read + tokens.cache_write,
            output_tokens: tokens.output,
            last_words: finished.tally.text,
        }
    }
}

/// Sees a launch: its process as soon as there is one, and what the agent does.
pub(super) trait Sees {
    fn started(&mut self, pid: u32) -> Result<(), RunError>;
    fn active(&mut self, tool: Option<&str>, text: &str, process: &Process);
}

/// Launches an agent and waits for its end.
pub(super) fn launch(
    at: &AtWork<'_>,
    order: &Order<'_>,
    sees: &mut dyn Sees,
) -> Result<Launched, RunError> {
    let process = match spawn(at, order) {
        Ok(process) => process,
        Err(why) => return Ok(Launched::refused(why)),
    };
    sees.started(process.pid())?;
    Ok(attend(at, order, process, sees))
}

fn spawn(at: &AtWork<'_>, order: &Order<'_>) -> Result<Process, String> {
    let Some(agent) = by_name(order.agent) else {
        return Err(format!("there is no agent called {}", order.agent));
    };
    let has = |feature| !matches!(agent.supports(feature), Support::No(_));
    let remaining = at.plan.max_cost_usd.map(|max| max - at.cost_usd());
    let config = Config {
        model: order.model.map(str::to_owned),
        // Nobody is there to be asked.
        auto_accept_edits: Some(true),
        max_cost_usd: remaining.filter(|left| *left > 0.0 && has(Feature::CostLimit)),
        // Where it reports may lie outside of where it works.
        additional_dirs: (!at.dir.path().starts_with(&at.worktree))
            .then(|| vec![at.dir.path().to_string_lossy().into_owned()]),
        ..Config::default()
    };
    let mut env: Env = env::pass_on(&at.here.env, agent, None);
    let own = (CARRIED.to_owned(), at.session.id.to_string());
    let variables = order.variables.iter().cloned().chain([own]);
    env.extend(variables.map(|(name, value)| (name.into(), value.into())));
    let chosen = has(Feature::ChosenId).then_some(order.agent_session_id);
    let line = agent
        .launch(&Launch {
            config: &config,
            prompt: order.prompt,
            conversation: Conversation::New(chosen),
            input: Input::Once,
            cwd: &at.worktree,
            env: &env,
            programs: at.programs,
            scratch: &at.here.home.join("scratch"),
            as_root: rustix::process::geteuid().is_root(),
        })
        .map_err(|error: LaunchError| error.to_string())?;
    let events = OpenOptions::new().create(true).append(true).open(order.dir.join("events.jsonl"));
    let taps = Taps {
        events: events.ok().map(|file| Box::new(file) as _),
        stderr: Some(Box::new(Late::new(order.dir.join("stderr.txt")))),
        locks: Some(at.here.home.join("locks")),
    };
    Process::spawn(agent, line, taps).map_err(|error| match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    })
}

/// Reads what the agent says, and stops it when it must be stopped.
fn attend(
    at: &AtWork<'_>,
    order: &Order<'_>,
    mut process: Process,
    sees: &mut dyn Sees,
) -> Launched {
    let began = Instant::now();
    let mut told = began.checked_sub(TELL);
    let mut cause = None;
    let mut kills = false;
    loop {
        match process.next_line_within(LOOK_UP) {
            Next::Line(line) => {
                if told.is_none_or(|told| told.elapsed() >= TELL)
                    && let Some((tool, text)) = activity(&line)
                {
                    sees.active(tool.as_deref(), &text, &process);
                    told = Some(Instant::now());
                }
            }
            Next::End => break,
            Next::Silence => {}
        }
        at.notice_stop();
        if cause.is_none() {
            cause = must_stop(at, order, &process, began);
            if cause.is_some() {
                let stopper = process.stopper();
                // Its stream is read on while it is being stopped, or it could not end.
                thread::spawn(move || stopper.stop(PATIENCE));
            }
        }
        if at.stopping.asked() > 2 && !kills {
            kills = true;
            process.stopper().kill();
        }
    }
    Launched::of(process.finish(), cause, at.here.clock.now())
}

fn must_stop(
    at: &AtWork<'_>,
    order: &Order<'_>,
    process: &Process,
    began: Instant,
) -> Option<Cause> {
    let spent = at.cost_usd() + process.tally().cost_usd.unwrap_or(0.0);
    if at.stopping.asked() > 1 {
        Some(Cause::Asked)
    } else if order.timeout.is_some_and(|timeout| began.elapsed() >= timeout) {
        Some(Cause::TooLong)
    } else if at.max_time().is_some_and(|max| at.elapsed() >= max) {
        Some(Cause::TimeUp)
    } else if at.plan.max_cost_usd.is_some_and(|max| spent > max) {
        Some(Cause::Spent)
    } else {
        None
    }
}

/// What a line says the agent is doing, if anything.
fn activity(line: &Line) -> Option<(Option<String>, String)> {
    line.parsed.events.iter().rev().find_map(|event| match event {
        Said::ToolCall { name, input, .. } => Some((Some(name.clone()), about(input))),
        Said::Text { text } if !text.trim().is_empty() => Some((None, text.clone())),
        _ => None,
    })
}

/// What a tool is used on: the first of the fields that tell people most.
pub(crate) fn about(input: &serde_json::Value) -> String {
    const FIELDS: [&str; 8] =
        ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt"];
    let found = FIELDS.iter().find_map(|field| input.get(field)?.as_str());
    found.unwrap_or_default().to_owned()
}
