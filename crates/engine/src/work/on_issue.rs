//! One issue, from the moment it is ours to what becomes of it.

use std::path::Path;
use std::time::{Duration, Instant};

use heirloom_agents::process::orphan;
use heirloom_core::event::AgentSessionLost;
use heirloom_core::id::IssueRunId;
use heirloom_core::issue::{Issue, IssueId};
use heirloom_core::run::backoff::{self, Wait};
use heirloom_core::session::Session;
use heirloom_core::work::{Checked, IssueRunStatus};
use heirloom_ledger::Ledger;

use super::answer::{Answer, answer};
use super::context::RunContext;
use super::event::Event;
use super::judge::Done;
use super::launch::{self, Turn};
use super::prior::Resumes;
use super::rate_limiter::Held;
use super::trees::Tree;
use crate::here::Here;
use crate::session::{Ended, SessionError};
use crate::turn::Cause;

/// The variable that everything started for an issue carries: what the run does for it.
const CARRIED: &str = "HEIRLOOM_ISSUE_RUN";
const TOO_LONG: &str = "it took longer than an issue may";
/// How often in a row the way to the model may fail.
const MOST_RETRIES: u32 = 5;

/// An issue that is ours to work on.
pub(super) struct Job {
    pub(super) issue: Issue,
    pub(super) issue_run: IssueRunId,
    pub(super) resumes: Option<Resumes>,
    pub(super) tree: Tree,
}

/// What becomes of an issue.
pub(super) struct Verdict {
    pub(super) status: IssueRunStatus,
    /// Why, or what shows that it is done.
    pub(super) reason: Option<String>,
    pub(super) commit: Option<String>,
    pub(super) session: Option<Session>,
    pub(super) cost_usd: f64,
    pub(super) took: Duration,
}

/// An issue that is being worked on.
pub(super) struct OnIssue<'s, 'a> {
    pub(super) context: &'s RunContext<'a>,
    pub(super) job: &'s Job,
    pub(super) ledger: Ledger,
    /// The worktree, and an environment that says which issue this is.
    pub(super) here: Here,
    pub(super) tree: Tree,
    pub(super) deadline: Option<Instant>,
    pub(super) transcript: Option<String>,
    pub(super) cost_usd: f64,
    pub(super) session: Option<Session>,
    pub(super) findings: Vec<Checked>,
    pub(super) fixes: u32,
    retried: u32,
    was_silent: bool,
    was_too_long: bool,
}

/// Why the work on an issue ends without success.
pub(super) enum End {
    Failed(String),
    Stopped(String),
}

impl From<SessionError> for End {
    fn from(error: SessionError) -> Self {
        let error: &dyn std::error::Error = &error;
        let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        Self::Failed(format!("{error}{cause}"))
    }
}

impl From<heirloom_ledger::Error> for End {
    fn from(error: heirloom_ledger::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Works on an issue until something has become of it.
pub(super) fn work_on(context: &RunContext<'_>, job: &Job) -> Verdict {
    let began = Instant::now();
    let mut on = match OnIssue::begin(context, job, began) {
        Ok(on) => on,
        Err(why) => return Verdict::without_session(why, began.elapsed()),
    };
    let done = on.run();
    // Whatever an agent or a command of the gate left running is of no use to anybody now.
    orphan::kill_carrying(CARRIED, &job.issue_run.to_string());
    let (status, reason, commit) = match done {
        Ok((reason, commit)) => (IssueRunStatus::Closed, reason, commit),
        Err(End::Failed(why)) => (IssueRunStatus::Failed, why, None),
        Err(End::Stopped(why)) => (IssueRunStatus::Interrupted, why, None),
    };
    let (session, cost_usd) = (on.session, on.cost_usd);
    Verdict { status, reason: Some(reason), commit, session, cost_usd, took: began.elapsed() }
}

impl Verdict {
    /// An issue that was not touched.
    pub(super) fn refused(why: &str) -> Self {
        Self::without_session(why.to_owned(), Duration::ZERO)
    }

    fn without_session(why: String, took: Duration) -> Self {
        let status = IssueRunStatus::Failed;
        Self { status, reason: Some(why), commit: None, session: None, cost_usd: 0.0, took }
    }
}

impl<'s, 'a> OnIssue<'s, 'a> {
    /// A place to work in.
    fn begin(context: &'s RunContext<'a>, job: &'s Job, began: Instant) -> Result<Self, String> {
        let ledger = context.ledger().map_err(|error| error.to_string())?;
        let mut tree = job.tree.clone();
        context.trees.make(&mut tree).map_err(|error| error.to_string())?;
        let mut env = context.here.env.clone();
        env.insert("HEIRLOOM_ISSUE".into(), job.issue.id.as_str().into());
        env.insert("HEIRLOOM_WORK".into(), context.run.to_string().into());
        env.insert(CARRIED.into(), job.issue_run.to_string().into());
        let here = Here::look(&tree.path, env).map_err(|error| error.to_string())?;
        Ok(Self {
            context,
            job,
            ledger,
            here,
            tree,
            deadline: context.options.issue_timeout.map(|time| began + time),
            transcript: None,
            cost_usd: 0.0,
            session: job.resumes.as_ref().and_then(|resumes| resumes.session.clone()),
            findings: Vec::new(),
            fixes: 0,
            retried: 0,
            was_silent: false,
            was_too_long: false,
        })
    }

    fn run(&mut self) -> Result<Done, End> {
        let mut turn = self.first_turn()?;
        loop {
            self.context.limiter.wait(|| self.must_stop().is_some() || !self.context.may_go_on());
            if let Some(end) = self.must_stop() {
                return Err(end);
            }
            if !self.context.may_go_on() {
                return Err(End::Stopped(self.why_stopped()));
            }
            let phase = if self.fixes > 0 { "fixing" } else { "working" };
            self.phase(phase);
            let ended = launch::launch(self, turn)?;
            turn = match self.next_turn(&ended)? {
                Some(next) => next,
                None => match self.check()? {
                    Ok(done) => return Ok(done),
                    Err(prompt) => self.go_on(prompt)?,
                },
            };
        }
    }

    /// What the way an agent ended leads to: another turn, or the gate.
    fn next_turn(&mut self, ended: &Ended) -> Result<Option<Turn>, End> {
        let resumed = self.session.take();
        self.session = Some(ended.session.clone());
        let why = || ended.session.reason.clone().unwrap_or_else(|| "it ended".to_owned());
        let Some(outcome) = &ended.outcome else { return Err(End::Failed(why())) };
        let answer = answer(outcome, self.here.clock.now());
        if answer == Answer::Check {
            self.context.limiter.ease();
        }
        if answer != Answer::Retry {
            self.retried = 0;
        }
        match (answer, ended.cause) {
            (Answer::Stale { why }, _) => {
                let turn = self.stale(&why, resumed)?;
                Ok(Some(turn))
            }
            (Answer::Check, _) => {
                if self.context.stopping.asked() > 0 {
                    return Err(End::Stopped("stopped after the agent's turn".to_owned()));
                }
                Ok(None)
            }
            (_, Some(Cause::Asked | Cause::TimeUp | Cause::Spent)) => {
                Err(End::Stopped(self.why_stopped()))
            }
            (_, Some(Cause::TooLong)) => Err(End::Failed(TOO_LONG.to_owned())),
            (_, Some(Cause::Silence)) => self.after_silence().map(Some),
            (Answer::Wait { until }, None) => self.wait(until).map(Some),
            (Answer::Retry, None) => self.retry(&why()).map(Some),
            (Answer::StartFresh, None) => self.start_over(why()).map(Some),
            (Answer::StopRun, None) => {
                self.context.give_up(&why());
                Err(End::Failed(why()))
            }
            (Answer::Stopped, None) => Err(End::Stopped(why())),
            (Answer::Fail, None) => Err(End::Failed(why())),
        }
    }

    fn after_silence(&mut self) -> Result<Turn, End> {
        let silence = self.context.options.silence.as_secs();
        if std::mem::replace(&mut self.was_silent, true) {
            return Err(End::Failed(format!("the agent was silent for {silence} s, twice")));
        }
        self.warn(format!("the agent was silent for {silence} s; it was stopped and is resumed"));
        self.again()
    }

    /// A limit holds for everybody: all of them wait for it.
    fn wait(&mut self, until: Option<jiff::Timestamp>) -> Result<Turn, End> {
        let now = self.here.clock.now();
        match self.context.limiter.limited(until, now, |time| self.scaled(time)) {
            Held::GiveUp => {
                let why = "the account's limit is not lifted for too long".to_owned();
                self.context.give_up(&why);
                Err(End::Stopped(why))
            }
            Held::For { time, is_news } => {
                if is_news {
                    let wait_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                    let why = "the agent's account or model has no capacity for now".to_owned();
                    self.context.tell(&Event::Paused { wait_ms, why });
                }
                self.phase("waiting");
                self.again()
            }
        }
    }

    fn retry(&mut self, why: &str) -> Result<Turn, End> {
        self.retried += 1;
        if self.retried > MOST_RETRIES {
            return Err(End::Failed(why.to_owned()));
        }
        let seed = u64::from(std::process::id());
        if let Wait::For(time) = backoff::wait(self.retried, None, self.here.clock.now(), seed) {
            self.warn(format!("{why}; trying again"));
            self.phase("waiting");
            let end = Instant::now() + self.scaled(time);
            while Instant::now() < end && self.must_stop().is_none() && self.context.may_go_on() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        self.again()
    }

    fn start_over(&mut self, why: String) -> Result<Turn, End> {
        if std::mem::replace(&mut self.was_too_long, true) {
            return Err(End::Failed(why));
        }
        self.warn(format!("{why}; a new session takes over"));
        let inherits = self.session.clone();
        self.fresh(inherits)
    }

    /// The agent does not know the conversation: its id is never tried again, and a new session
    /// takes over, unless that is not wanted.
    fn stale(&mut self, why: &str, resumed: Option<Session>) -> Result<Turn, End> {
        let id = resumed.as_ref().and_then(|session| session.agent_session_id.clone());
        let id = id.or_else(|| Some(self.job.resumes.as_ref()?.agent_session_id.clone()));
        if let Some(agent_session_id) = id {
            let agent = self.session.as_ref().and_then(|session| session.agent.clone());
            lose(self.context, &mut self.ledger, &self.job.issue.id, agent, agent_session_id)?;
        }
        if self.context.options.strict {
            return Err(End::Failed(format!("Session resumption failed: {why}")));
        }
        self.warn(format!("the agent session cannot be resumed ({why}); a new one takes over"));
        self.fresh(resumed)
    }

    /// Why the work on this issue has to end now, if it has.
    pub(super) fn must_stop(&self) -> Option<End> {
        if self.context.stopping.asked() > 1 || self.context.is_time_up() {
            return Some(End::Stopped(self.why_stopped()));
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then(|| End::Failed(TOO_LONG.to_owned()))
    }

    fn why_stopped(&self) -> String {
        let limit = self.context.limit().map(str::to_owned);
        let limit = limit.or_else(|| self.context.hopeless());
        limit.unwrap_or_else(|| "somebody stopped it".to_owned())
    }

    pub(super) fn phase(&self, phase: &'static str) {
        let issue = self.job.issue.id.to_string();
        self.context.tell(&Event::Phase { issue, phase });
    }

    pub(super) fn warn(&self, message: String) {
        self.context.warn(Some(self.job.issue.id.as_str()), message);
    }

    fn scaled(&self, time: Duration) -> Duration {
        let scaled = self.here.var("HEIRLOOM_BACKOFF_MS").and_then(|ms| ms.parse().ok());
        scaled.map_or(time, Duration::from_millis)
    }
}

/// Where the issue is worked on: where it was, if it was worked on before.
pub(super) fn place(context: &RunContext<'_>, issue: &IssueId, resumes: Option<&Resumes>) -> Tree {
    let own = context.trees.of(issue);
    let Some(resumes) = resumes else { return own };
    // The original has no worktrees.
    let root = || context.here.place.root.to_string_lossy().into_owned();
    let before = resumes.directory().unwrap_or_else(root);
    if Path::new(&before).is_dir() && !own.is_at(&before) {
        return Tree { path: before.into(), branch: None };
    }
    own
}

/// Records that an agent does not know a conversation any more.
pub(super) fn lose(
    context: &RunContext<'_>,
    ledger: &mut Ledger,
    issue: &IssueId,
    agent: Option<String>,
    agent_session_id: String,
) -> Result<(), heirloom_ledger::Error> {
    let agent = agent.unwrap_or_default();
    let lost = AgentSessionLost { issue: issue.clone(), agent, agent_session_id };
    ledger.append(context.here.clock.now(), context.scope(), &lost).map(drop)
}
