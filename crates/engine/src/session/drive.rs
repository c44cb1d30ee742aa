//! From a prepared session to its end: recorded, started, looked after, closed.

use heirloom_agents::process::Finished;
use heirloom_agents::{Outcome, Tally};
use heirloom_core::event::{
    IssueRunLaunched, SessionCreated, SessionPrompted, SessionSpent, TaskSet,
};
use heirloom_core::id::SessionId;
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Scope, Writer};

use super::error::SessionError;
use super::prepare::{LaunchContext, Prepared};
use super::{kept, name, shown};
use crate::identity::{self, Look};
use crate::turn::stream::Stream;
use crate::turn::{self, Ended, Part, Supervisor, Turn};

#[derive(Debug)]
pub struct SessionEnded {
    /// The session, as it is now.
    pub session: Session,
    /// What came of its turn.
    pub turn: Ended,
}

/// Starts a prepared session and stays with it until it has ended.
///
/// An error means that there is no session. A session that could not be started, or failed, is an
/// answer: it is there, and says why.
pub fn run(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    mut prepared: Prepared,
    supervisor: &mut dyn Supervisor,
) -> Result<SessionEnded, SessionError> {
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
    let Prepared { agent, line, config, thread, lock, .. } = prepared;
    let turn = Turn {
        here: context.here,
        system: context.system,
        session: &session,
        agent,
        config: &config,
        thread,
        stream: Stream::of_session(&context.here.home, session.id),
        part: Part::Whole,
    };
    let id = session.id;
    let begin = |writer: &mut Writer<'_>, _| writer.change_status(id, Status::Running, None);
    let took = turn::take(&turn, line, ledger, begin, supervisor);
    let ended = match &took.finished {
        Ok(finished) => end(context, ledger, &session, &took, finished),
        Err(problem) => failed_to_start(context, ledger, &session, problem),
    };
    let session = match ended {
        Ok(session) => session,
        Err(error) => {
            // Its end could not be recorded: the next command closes it.
            lock.leave();
            return Err(error);
        }
    };
    if let Err(error) = turn.stream.finish() {
        supervisor.warn(&format!("what the agent printed could not be compressed: {error}"));
    }
    Ok(SessionEnded { session, turn: took })
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
    kept::keep(context.here, prepared.id, &prepared.prompt).map_err(|source| {
        SessionError::File { doing: "keep the message in", path: context.here.home.clone(), source }
    })?;
    let (id, repo) = (prepared.id, prepared.repo.clone());
    ledger.write::<_, SessionError>(context.here.clock.now(), |writer| {
        let created = SessionCreated {
            name: settle_name(writer, prepared)?,
            parent: prepared.parent.as_ref().map(|parent| parent.id),
            link: prepared.link,
            agent: Some(prepared.agent.name().into()),
            agent_session_id: prepared.thread.chosen.clone(),
            branch: context.here.place.head.branch().map(str::to_owned),
            config,
            overridden: prepared.overridden.clone(),
            forked_at: prepared.forked_at.clone(),
        };
        let scope = Scope::session(id, &repo);
        writer.append(scope, &created)?;
        writer.append(scope, &SessionPrompted { text: prepared.prompt.clone() })?;
        if let Some(purpose) = &prepared.purpose {
            let launched = IssueRunLaunched {
                issue_run: purpose.issue_run,
                session: id,
                agent_session_id: prepared.thread.chosen.clone(),
            };
            writer.append(Scope { session: None, repo: Some(&repo) }, &launched)?;
            let (issue, text) = (purpose.issue.to_string(), purpose.title.clone());
            writer.append(scope, &TaskSet { issue: Some(issue), text: Some(text) })?;
        }
        Ok(())
    })?;
    // So that it is found where the repository is moved to.
    identity::settle(context.here, ledger, Look::AtWork)?;
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

fn failed_to_start(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    session: &Session,
    problem: &str,
) -> Result<Session, SessionError> {
    let reason = Some(problem.to_owned());
    ledger.write(context.here.clock.now(), |writer| {
        writer.change_status(session.id, Status::Failed, reason)
    })?;
    read(ledger, session.id)
}

/// Records the end: the cost, the open questions, the status, in one transaction.
fn end(
    context: &LaunchContext<'_>,
    ledger: &mut Ledger,
    session: &Session,
    took: &Ended,
    finished: &Finished,
) -> Result<Session, SessionError> {
    let tally = &finished.tally;
    if let (Some(model), Some(window)) = (&tally.model, tally.context_window) {
        crate::keep::context::learn(context.here, model, window);
    }
    let spent = SessionSpent { cost_usd: own_cost(ledger, session, tally)?, ..turn::spent(tally) };
    let id = session.id;
    ledger.write::<_, Error>(context.here.clock.now(), |writer| {
        took.close(writer, session, &spent)?;
        let now = writer.status(id)?;
        let (status, reason) = verdict(session, finished, now);
        if now.is_active() { writer.change_status(id, status, reason) } else { Ok(()) }
    })?;
    let session = read(ledger, id)?;
    if session.announced {
        kept::heard(context.here, id);
    }
    Ok(session)
}

/// What the session itself cost. An agent that remembers what a conversation cost begins a copy
/// of it with that, which its ancestors have already been charged with.
fn own_cost(
    ledger: &Ledger,
    session: &Session,
    tally: &Tally,
) -> Result<Option<f64>, SessionError> {
    let Some(reported) = tally.cost_usd else { return Ok(None) };
    let remembered = tally.result.as_ref().and_then(|result| result.session_tokens);
    if session.continues().is_none() || remembered.unwrap_or(0) <= tally.tokens.total() {
        return Ok(Some(reported));
    }
    Ok(Some((reported - shown::conversation_cost(ledger, session)?).max(0.0)))
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
