//! From a prepared session to its end: recorded, started, looked after, closed.

use std::io::{BufWriter, Write};

use heirloom_agents::process::{Finished, SpawnError};
use heirloom_agents::system::began;
use heirloom_agents::{Agent, CommandLine, Outcome, Process, Tally, Taps};
use heirloom_core::config::Config;
use heirloom_core::event::{
    IssueRunLaunched, LiveGone, LiveSeen, SessionAnnounced, SessionCreated, SessionPrompted,
    SessionSpent, TaskSet,
};
use heirloom_core::id::SessionId;
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Scope, Writer};

use super::driver::Driver;
use super::error::SessionError;
use super::prepare::{LaunchContext, Prepared};
use super::watch::Watcher;
use super::{dir, name, shown, stream};

/// How a session ended.
#[derive(Debug)]
pub struct Ended {
    /// The session, as it is now.
    pub session: Session,
    /// How its agent ended; `None` if it never started.
    pub outcome: Option<Outcome>,
    /// The agent's last words.
    pub text: Option<String>,
}

/// Starts a prepared session and stays with it until it has ended.
///
/// An error means that there is no session. A session that could not be started, or failed, is an
/// answer: it is there, and says why.
pub fn run(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    mut prepared: Prepared,
    watcher: &mut dyn Watcher,
) -> Result<Ended, SessionError> {
    let session = match record(context, ledger, &mut prepared) {
        Ok(session) => session,
        Err(error) => {
            // A commit that failed may have been one: then the next command closes the session.
            if !matches!(ledger.session(prepared.id), Ok(None)) {
                prepared.lock.leave();
            }
            return Err(error);
        }
    };
    let Prepared { agent, line, config, source, resumed, chosen, lock, .. } = prepared;
    let start = Start { agent, line, config, source, resumed, chosen };
    let ended = live(context, ledger, &session, start, watcher);
    if ended.is_err() {
        // Its end could not be recorded: the next command closes it.
        lock.leave();
    }
    ended
}

/// What an agent is started with, once its session exists.
struct Start {
    agent: &'static dyn Agent,
    line: CommandLine,
    config: Config,
    source: Option<String>,
    resumed: Option<String>,
    chosen: Option<String>,
}

/// Makes the session exist. Its name is settled in the same transaction: two that continue the
/// same session at once do not get the same one.
fn record(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    prepared: &mut Prepared,
) -> Result<Session, SessionError> {
    let config = prepared.vault.seal(&prepared.config);
    let _open = prepared.vault.store()?;
    let (id, repo) = (prepared.id, prepared.repo.clone());
    ledger.write::<_, SessionError>(context.here.clock.now(), |writer| {
        let created = SessionCreated {
            name: settle_name(writer, prepared)?,
            parent: prepared.parent.as_ref().map(|parent| parent.id),
            link: prepared.link,
            agent: Some(prepared.agent.name().to_owned()),
            agent_session_id: prepared.chosen.clone(),
            branch: context.here.place.head.branch().map(str::to_owned),
            config,
            overridden: prepared.overridden.clone(),
            forked_at: prepared.forked_at.clone(),
        };
        let scope = Scope::session(id, &repo);
        writer.append(scope, &created)?;
        writer.append(scope, &SessionPrompted { text: prepared.prompt.clone() })?;
        if let Some(purpose) = &prepared.purpose {
            let launched = IssueRunLaunched { issue_run: purpose.issue_run, session: id };
            writer.append(Scope { session: None, repo: Some(&repo) }, &launched)?;
            let (issue, text) = (purpose.issue.to_string(), purpose.title.clone());
            writer.append(scope, &TaskSet { issue: Some(issue), text: Some(text) })?;
        }
        Ok(())
    })?;
    read(ledger, id)
}

fn settle_name(writer: &Writer<'_>, prepared: &Prepared) -> Result<SessionName, SessionError> {
    let taken = |name: &SessionName| writer.is_name_taken(&prepared.repo, name.as_str());
    if let Some(name) = &prepared.name {
        if taken(name)? {
            return Err(SessionError::NameTaken { name: name.clone() });
        }
        return Ok(name.clone());
    }
    if let Some(parent) = &prepared.parent
        && let Some(name) = name::free(&parent.name, taken)?
    {
        return Ok(name);
    }
    let name = format!("{}-{}", prepared.agent.name(), prepared.id.short());
    Ok(name.parse().expect("an agent's name and hex digits are a name"))
}

/// The session's life, after it was recorded.
fn live(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    session: &Session,
    start: Start,
    watcher: &mut dyn Watcher,
) -> Result<Ended, SessionError> {
    let Start { agent, line, config, source, resumed, chosen } = start;
    let process = match spawn(context, agent, line, session) {
        Ok(process) => process,
        Err(problem) => return failed_to_start(context, ledger, session, &problem),
    };
    let begun = begin(context, ledger, session, config.working_dir.as_deref(), &process);
    let mut driver = Driver::new(context, ledger, session, process, &config);
    driver.source = source;
    driver.resumed = resumed;
    if let Err(error) = begun {
        // Somebody interrupted it before it ran; anything else is found again at the end.
        driver.stop();
        watcher.warn(&error.to_string());
    } else {
        watcher.started(session);
    }
    let (finished, announced) = driver.drive(watcher);
    // An agent that worked without saying who it is did so under the id it was given.
    let chosen = chosen.filter(|_| !announced && finished.outcome.is_success());
    if let Some(problem) = &finished.recording {
        watcher.warn(&format!("what the agent printed could not all be kept: {problem}"));
    }
    let ended = end(context, ledger, session, &finished, chosen)?;
    if let Err(error) = stream::finish(&context.here.home, session.id) {
        watcher.warn(&format!("what the agent printed could not be compressed: {error}"));
    }
    Ok(ended)
}

fn spawn(
    context: &LaunchContext<'_>,
    agent: &'static dyn Agent,
    line: CommandLine,
    session: &Session,
) -> Result<Process, String> {
    let home = &context.here.home;
    let path = dir::stream(home, session.id);
    let stream =
        dir::append(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let taps = Taps {
        events: Some(Box::new(BufWriter::new(stream)) as Box<dyn Write + Send>),
        stderr: Some(Box::new(dir::Lazy::new(dir::stderr(home, session.id)))),
        locks: Some(dir::locks(home)),
    };
    Process::spawn(agent, line, taps).map_err(|error: SpawnError| with_cause(&error))
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn begin(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    session: &Session,
    working_dir: Option<&str>,
    process: &Process,
) -> Result<(), Error> {
    let seen = LiveSeen {
        agent: session.agent.clone().unwrap_or_default(),
        pid: process.pid(),
        pid_started: began(process.pid()),
        worktree: working_dir.map(str::to_owned),
        branch: session.branch.clone(),
    };
    ledger.write(context.here.clock.now(), |writer| {
        writer.append(Scope::session(session.id, &session.repo), &seen)?;
        writer.change_status(session.id, Status::Running, None)
    })
}

fn failed_to_start(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    session: &Session,
    problem: &str,
) -> Result<Ended, SessionError> {
    let reason = Some(problem.to_owned());
    ledger.write(context.here.clock.now(), |writer| {
        writer.change_status(session.id, Status::Failed, reason)
    })?;
    Ok(Ended { session: read(ledger, session.id)?, outcome: None, text: None })
}

/// Records the end: the cost, the open questions, the status, in one transaction.
fn end(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    session: &Session,
    finished: &Finished,
    agent_session_id: Option<String>,
) -> Result<Ended, SessionError> {
    let tally = &finished.tally;
    let spent = SessionSpent {
        cost_usd: own_cost(ledger, session, tally)?,
        input_tokens: tally.tokens.input + tally.tokens.cache_read + tally.tokens.cache_write,
        output_tokens: tally.tokens.output,
    };
    let id = session.id;
    let scope = Scope::session(id, &session.repo);
    ledger.write::<_, Error>(context.here.clock.now(), |writer| {
        if let Some(agent_session_id) = agent_session_id {
            let announced = SessionAnnounced { agent_session_id, model: tally.model.clone() };
            writer.append(scope, &announced)?;
        }
        if spent.cost_usd > 0.0 || spent.input_tokens + spent.output_tokens > 0 {
            writer.append(scope, &spent)?;
        }
        writer.close_approvals(id, "the session ended before this was decided")?;
        writer.append(scope, &LiveGone { reason: None })?;
        let now = writer.status(id)?;
        let (status, reason) = verdict(session, finished, now);
        if now.is_active() { writer.change_status(id, status, reason) } else { Ok(()) }
    })?;
    let text = tally.text.clone();
    Ok(Ended { session: read(ledger, id)?, outcome: Some(finished.outcome.clone()), text })
}

/// What the session itself cost. An agent that remembers what a conversation cost begins a copy
/// of it with that, which its ancestors have already been charged with.
fn own_cost(ledger: &Ledger, session: &Session, tally: &Tally) -> Result<f64, SessionError> {
    let reported = tally.cost_usd.unwrap_or(0.0);
    let remembered = tally.result.as_ref().and_then(|result| result.session_tokens);
    if session.continues().is_none() || remembered.unwrap_or(0) <= tally.tokens.total() {
        return Ok(reported);
    }
    let before = shown::totals(ledger, session)?.cost_usd;
    Ok((reported - before).max(0.0))
}

/// What becomes of a session whose agent ended. One that was asked to stop and then finished
/// cleanly was still interrupted, unless it was done before anybody could have stopped it.
fn verdict(session: &Session, finished: &Finished, now: Status) -> (Status, Option<String>) {
    let asked = now == Status::Interrupting || finished.stopped.is_some();
    let agent = session.agent.as_deref().unwrap_or("the agent");
    match &finished.outcome {
        outcome @ Outcome::SessionInUse { .. } => {
            (Status::Failed, Some(format!("{agent} {outcome}")))
        }
        Outcome::Success if !asked || finished.stopped.is_none() => (Status::Completed, None),
        Outcome::Success | Outcome::Interrupted => (Status::Interrupted, None),
        outcome if asked && finished.tally.result.is_none() => {
            (Status::Interrupted, Some(format!("{agent} {outcome}")))
        }
        outcome => (Status::Failed, Some(format!("{agent} {outcome}"))),
    }
}

fn read(ledger: &Ledger, id: SessionId) -> Result<Session, SessionError> {
    Ok(ledger.session(id)?.ok_or(Error::NoSession { id })?)
}
