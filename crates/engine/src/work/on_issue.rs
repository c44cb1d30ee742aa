//! One issue, from the moment it is ours to what becomes of it.

use std::time::{Duration, Instant};

use heirloom_agents::process::orphan;
use heirloom_core::session::Session;
use heirloom_core::work::{Checked, IssueRunStatus};
use heirloom_ledger::Ledger;
use heirloom_repo::fingerprint::Fingerprint;
use heirloom_repo::own_tree::How;

use super::context::RunContext;
use super::fleet::LOST;
use super::job::{End, Job, Verdict};
use super::judge::{Checkup, Done};
use super::launch::{self, Turn};
use super::setup;
use super::trees::Tree;
use crate::events::{Phase, WorkEvent};
use crate::here::Here;

/// The variable that everything started for an issue carries: what the run does for it.
const CARRIED: &str = "HEIRLOOM_ISSUE_RUN";
pub(super) const TOO_LONG: &str = "it took longer than the time limit for an issue";

/// An issue that is being worked on.
pub(super) struct OnIssue<'s, 'a> {
    pub(super) context: &'s RunContext<'a>,
    pub(super) job: &'s Job,
    pub(super) ledger: Ledger,
    /// The worktree, and an environment that says which issue this is.
    pub(super) here: Here,
    pub(super) tree: Tree,
    /// How the worktree was before, where the person works there too.
    pub(super) before: Option<Fingerprint>,
    pub(super) deadline: Option<Instant>,
    /// What the agent may spend on its turn, where money is limited.
    pub(super) share: Option<f64>,
    pub(super) so_far: SoFar,
    pub(super) tries: Tries,
}

/// What the work on an issue has come to so far.
#[derive(Debug, Default)]
pub(super) struct SoFar {
    /// The newest session.
    pub(super) session: Option<Session>,
    /// Where its agent keeps the conversation.
    pub(super) transcript: Option<String>,
    /// What the agent has to know about its worktree before anything else.
    pub(super) news: Vec<String>,
    /// The agent's last words.
    pub(super) words: Option<String>,
    /// What the gate found last.
    pub(super) findings: Vec<Checked>,
    /// Whether a reviewer approved the work as it is.
    pub(super) approved: bool,
}

/// What was tried, and is not tried for ever.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// How often the agent was sent back.
    pub(super) fixes: u32,
    /// How often of these a review had found something.
    pub(super) reviews: u32,
    /// How often in a row the way to the model failed.
    pub(super) retried: u32,
    pub(super) was_silent: bool,
    pub(super) was_too_long: bool,
    /// Whether the last turn was in a new conversation.
    pub(super) was_fresh: bool,
}

impl Tries {
    /// How often it was sent back for something else than a review.
    pub(super) const fn of_gate(&self) -> u32 {
        self.fixes.saturating_sub(self.reviews)
    }
}

/// Works on an issue until something has become of it.
pub(super) fn work_on(context: &RunContext<'_>, job: &Job) -> Verdict {
    let began = context.system.now();
    let mut on = match OnIssue::begin(context, job, began) {
        Ok(on) => on,
        Err(why) => return Verdict::without_session(why, Duration::ZERO),
    };
    let done = on.run();
    // Whatever an agent or a command of the gate left running is of no use to anybody now.
    orphan::kill_carrying(CARRIED, &job.issue_run.to_string());
    let (status, reason, commit) = match done {
        Ok(Done { evidence: reason, commit }) => (IssueRunStatus::Closed, reason, commit),
        Err(end) => {
            let (status, why) = end.status();
            (status, why, None)
        }
    };
    let strayed = context.look_at_persons_tree();
    let reason = match strayed {
        Some(files) => format!("{reason}; the person's own worktree changed meanwhile: {files}"),
        None => reason,
    };
    let session = on.so_far.session;
    let took = context.system.now().saturating_duration_since(began);
    let reason = Some(reason);
    Verdict { status, reason, commit, session, took, is_fault: false }
}

impl<'s, 'a> OnIssue<'s, 'a> {
    /// A place to work in.
    fn begin(context: &'s RunContext<'a>, job: &'s Job, began: Instant) -> Result<Self, String> {
        let ledger = context.ledger().map_err(|error| error.to_string())?;
        let mut tree = job.tree.clone();
        let how = context.trees.make(&mut tree).map_err(|error| error.to_string())?;
        let mut env = context.here.env.clone();
        env.insert("HEIRLOOM_MAIN".into(), context.trees.root().into());
        env.insert("HEIRLOOM_ISSUE".into(), job.issue.id.as_str().into());
        env.insert("HEIRLOOM_WORK".into(), context.run.to_string().into());
        env.insert(CARRIED.into(), job.issue_run.to_string().into());
        let here = Here::look(&tree.path, env).map_err(|error| error.to_string())?;
        let news = setup::news(context, job, &tree, how.as_ref());
        if matches!(how, Some(How::New | How::Again | How::Instead(_))) {
            setup::run(context, &tree, &here.env)?;
        }
        Ok(Self {
            context,
            job,
            ledger,
            here,
            before: tree.branch.is_none().then(|| context.trees.fingerprint()).flatten(),
            tree,
            deadline: context.options.issue_timeout.map(|time| began + time),
            so_far: SoFar {
                session: job.resumes.as_ref().and_then(|resumes| resumes.session.clone()),
                news,
                ..SoFar::default()
            },
            share: None,
            tries: Tries::default(),
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
            self.so_far.approved = false;
            let phase = if self.tries.fixes > 0 { Phase::Fixing } else { Phase::Working };
            self.phase(phase);
            self.tries.was_fresh = matches!(turn, Turn::Fresh { .. });
            self.share = self.wait_for_money()?;
            let ended = launch::launch(self, turn)?;
            turn = match self.next_turn(&ended)? {
                Some(next) => next,
                None => match self.check()? {
                    Checkup::Done(done) => return Ok(done),
                    Checkup::Back(prompt) => self.go_on(prompt)?,
                },
            };
        }
    }

    /// What the agent may spend on its turn, as soon as others left something of it.
    pub(super) fn wait_for_money(&self) -> Result<Option<f64>, End> {
        loop {
            match self.context.reserve() {
                Some(share) if share <= 0.0 => {}
                share => return Ok(share),
            }
            if let Some(end) = self.must_stop() {
                return Err(end);
            }
            if !self.context.is_shared() || !self.context.may_go_on() {
                return Err(End::Stopped("the cost limit is reached".to_owned()));
            }
            self.context.system.sleep(Duration::from_millis(50));
        }
    }

    /// Why the work on this issue has to end now, if it has.
    pub(super) fn must_stop(&self) -> Option<End> {
        if self.context.stopping.asked() > 1 || self.context.is_time_up() {
            return Some(End::Stopped(self.why_stopped()));
        }
        if !self.context.has(&self.job.issue.id) {
            return Some(End::Stopped(LOST.to_owned()));
        }
        let is_late = self.deadline.is_some_and(|deadline| self.context.system.now() >= deadline);
        is_late.then(|| End::TimedOut(TOO_LONG.to_owned()))
    }

    pub(super) fn why_stopped(&self) -> String {
        if !self.context.has(&self.job.issue.id) {
            return LOST.to_owned();
        }
        let limit = self.context.limit().map(str::to_owned);
        let limit = limit.or_else(|| self.context.hopeless());
        limit.unwrap_or_else(|| "somebody stopped it".to_owned())
    }

    pub(super) fn phase(&self, phase: Phase) {
        let issue = self.job.issue.id.to_string();
        self.context.tell(WorkEvent::Phase { issue, phase });
    }

    pub(super) fn warn(&self, message: String) {
        self.context.warn(Some(self.job.issue.id.as_str()), message);
    }
}
