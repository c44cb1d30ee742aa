//! What is going on in a repository, and what to do about it next.

use std::time::Duration;

use heirloom_agents::by_name;
use heirloom_core::approval::Approval;
use heirloom_core::event::HandoffMade;
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::issue::{Entry, ready};
use heirloom_core::note::Kind;
use heirloom_core::settings::{Diagnostic, Settings};
use heirloom_core::status::Status;
use heirloom_core::trust::State;
use heirloom_core::words::in_words;
use heirloom_core::work::IssueRunStatus;
use heirloom_ledger::{ApprovalFilter, Error, IssueRun, Ledger};
use jiff::Timestamp;

use crate::guard::rules::{self, Rules};
use crate::guard::status::{Row as Requirement, overview};
use crate::guard::{self, Subject};
use crate::here::Here;
use crate::recall::resume::can_resume;
use crate::sessions::{self, Listing, Row};
use crate::trust::{self, Standing};
use crate::work::{Reviews, Waiting};
use crate::{capture, issues, work};

/// How many running sessions are looked at.
const RUNNING: usize = 20;

/// How long a tracker's own program may take. This is asked for in passing.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is going on in a repository.
#[derive(Debug, Clone)]
pub struct Home {
    /// Whether heirloom was set up here.
    pub is_set_up: bool,
    /// What the repository brings that nobody has said yes to, where there is any.
    pub untrusted: Option<Standing>,
    /// What agents ask for, oldest first, with the name of the session that asks.
    pub approvals: Vec<(Approval, Option<String>)>,
    /// The sessions that run or wait, newest first.
    pub running: Vec<Row>,
    /// The requirements that sessions at work have triggered and not met.
    pub unmet: Vec<Requirement>,
    /// The session that ended last.
    pub last: Option<Last>,
    /// The handoff that was made last.
    pub handoff: Option<Handoff>,
    /// The issues that can be worked on now, the most urgent first.
    pub ready: Vec<Entry>,
    /// The issues that a person has to review, the most urgent first, and why.
    pub to_review: Vec<Entry>,
    pub reviews: Reviews,
    /// The issues of which the last run came to nothing, the most urgent first, and how it ended.
    pub unfinished: Vec<(Entry, IssueRunStatus)>,
    /// The finished work that waits to be merged, that for the branch of this checkout first.
    pub unmerged: Vec<Waiting>,
    /// How many issues are not closed; `None` where the tracker could not be read.
    pub open_issues: Option<usize>,
    /// How many sessions the ledger has of this repository.
    pub sessions: u64,
    /// How many earlier conversations were not imported, because nobody could be asked.
    pub untaken: u64,
    /// How many decisions stand.
    pub decisions: usize,
    /// What could not be looked at, and why.
    pub problems: Vec<String>,
    /// Where the settings are wrong, if they are: nothing can be launched with them.
    pub misset: Option<String>,
    /// Whether there is an agent to work with.
    pub has_agent: bool,
}

/// The session that ended last.
#[derive(Debug, Clone)]
pub struct Last {
    pub row: Row,
    /// How many commits it made, where its transcript is known.
    pub commits: Option<usize>,
    /// How many tests failed in it and have not passed since, where its transcript is known.
    pub failing_tests: Option<usize>,
    /// The issue that it was for, and what became of that.
    pub issue: Option<IssueRun>,
    /// Whether the tracker could be asked what became of the issue since.
    pub is_sure: bool,
}

impl Last {
    /// The command that goes on where it stopped. What an issue was worked on in is over with the issue, and goes on
    /// with it.
    pub fn going_on(&self) -> String {
        let session = &self.row.session;
        if let Some(run) = &self.issue {
            return match run.status {
                status if status.is_unfinished() && self.is_sure => resuming(&run.issue),
                // It says what is wrong with the tracker.
                _ if !self.is_sure => "heirloom issues".to_owned(),
                _ => format!("heirloom issues show {}", run.issue),
            };
        }
        // What was noted by hand has no agent; then any conversation may be meant.
        if session.agent.as_deref().is_none_or(can_resume) {
            return "heirloom resume".to_owned();
        }
        format!("heirloom continue {} \"…\"", session.name)
    }
}

/// What a session left to the next one.
#[derive(Debug, Clone)]
pub struct Handoff {
    pub at: Timestamp,
    /// The name of the session, where it is known.
    pub session: Option<String>,
    /// The issue that was worked on.
    pub issue: Option<String>,
    /// What is to be done next.
    pub next_steps: Vec<String>,
}

/// The one thing to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub command: String,
    pub why: String,
}

/// Looks at what is going on here.
pub fn home(here: &Here, ledger: &mut Ledger) -> Result<Home, Error> {
    let repo = here.place.repo.as_str();
    let running = running(here, ledger)?;
    let unmet = unmet(here, ledger, &running)?;
    let mut problems = Vec::new();
    let backlog = backlog(here).map_err(|error| problems.push(error)).ok();
    let (open_issues, known) = (backlog.as_ref().map(Vec::len), backlog.as_deref());
    let issues = known.unwrap_or_default();
    let reviews = Reviews::read(here, ledger)?.with_last_runs(here, ledger, issues)?;
    let unfinished = |entry: &Entry| Some((entry.clone(), reviews.unfinished(entry)?));
    let settings = here.settings(&[]);
    let misset = settings.as_ref().err().and_then(|unusable| unusable.broken.errors.first());
    Ok(Home {
        misset: misset.map(Diagnostic::place),
        has_agent: has_agent(here, settings.as_ref().ok().map(|loaded| &loaded.settings)),
        is_set_up: here.place.is_set_up(),
        untrusted: Some(trust::standing(here, ledger)?)
            .filter(|standing| standing.state != State::Trusted),
        approvals: approvals(here, ledger)?,
        running,
        unmet,
        last: last(here, ledger, known)?,
        handoff: handoff(here, ledger)?,
        ready: ready(issues, here.clock.now()).into_iter().cloned().collect(),
        unfinished: issues.iter().filter_map(unfinished).collect(),
        to_review: issues.iter().filter(|entry| reviews.of(entry).is_some()).cloned().collect(),
        reviews,
        unmerged: work::waiting(here),
        open_issues,
        sessions: ledger.count_sessions(repo)?,
        untaken: capture::untaken(here, ledger),
        decisions: ledger.count_notes(repo, Kind::Decision, usize::MAX)?,
        problems,
    })
}

impl Home {
    /// What to do next: first what waits for the person, who alone can decide, review or try again what failed; then
    /// what goes on by itself, then what is done and only has to be merged, then what could be begun.
    pub fn next(&self) -> Next {
        let next =
            |command: &str, why: &str| Next { command: command.to_owned(), why: why.to_owned() };
        if !self.is_set_up {
            return next("heirloom init", "heirloom is not set up in this repository");
        }
        if !self.approvals.is_empty() {
            return next("heirloom approvals", "an agent waits for your decision");
        }
        if let Some(place) = &self.misset {
            let why = format!("{place} has to be corrected");
            return Next { command: "heirloom doctor".to_owned(), why };
        }
        if self.untrusted.is_some() {
            return next("heirloom trust", "review what this repository comes with");
        }
        if !self.unmet.is_empty() {
            return next("heirloom req status", "a requirement is not met");
        }
        if let Some(entry) = self.to_review.first() {
            let command = format!("heirloom issues show {}", entry.id);
            return Next { command, why: "an issue needs your review".to_owned() };
        }
        if let Some(next) = self.try_again() {
            return next;
        }
        if let Some(row) = self.running.first() {
            let command = format!("heirloom watch {}", row.session.name);
            return Next { command, why: "a session is running".to_owned() };
        }
        if self.sessions == 0 && self.untaken > 0 {
            return next("heirloom sync", "import the earlier conversations of this repository");
        }
        if !self.has_agent {
            let why = "no coding agent is installed; `--agent sim` tries the built-in one";
            return next("heirloom agents", why);
        }
        if let Some(first) = self.unmerged.first() {
            let why = format!("finished work on {} waits to be merged", first.branch);
            return Next { command: first.command.clone(), why };
        }
        if !self.ready.is_empty() {
            return next("heirloom work", "issues are ready to be worked on");
        }
        if let Some(last) = self.last.as_ref().filter(|last| last.issue.is_none()) {
            return next(&last.going_on(), "pick up where a past session stopped");
        }
        let why = if self.sessions == 0 {
            "start a first session here, or just start your agent"
        } else {
            "start a session, or just start your agent"
        };
        next("heirloom launch \"…\"", why)
    }

    /// What was tried and came to nothing: what was tried last, or else the most urgent issue.
    fn try_again(&self) -> Option<Next> {
        // Without an agent nothing can be tried.
        let last = self.last.as_ref().filter(|_| self.has_agent);
        let issue = last.and_then(|last| Some((last, last.issue.as_ref()?)));
        // Somebody may be at it again.
        let is_left =
            |issue: &str| self.unfinished.iter().any(|(entry, _)| entry.id.as_str() == issue);
        let to_try = |(last, run): &(&Last, &IssueRun)| {
            run.status.is_unfinished() && (!last.is_sure || is_left(&run.issue))
        };
        if let Some((last, run)) = issue.filter(to_try) {
            let status = in_words(run.status.as_str());
            let why = if last.is_sure {
                format!("{} is not done: {status}", run.issue)
            } else {
                let was = if run.status == IssueRunStatus::Interrupted { "was " } else { "" };
                format!(
                    "the last attempt at {} {was}{status}; whether it is open is unknown: the tracker cannot be read",
                    run.issue,
                )
            };
            return Some(Next { command: last.going_on(), why });
        }
        if let Some((entry, status)) = self.unfinished.first().filter(|_| self.has_agent) {
            let why = format!("{} is not done: {}", entry.id, in_words(status.as_str()));
            return Some(Next { command: resuming(entry.id.as_str()), why });
        }
        let last = last.filter(|last| last.issue.is_none());
        let session = &last.filter(|last| last.row.session.status == Status::Failed)?.row.session;
        let why = format!("{} failed", session.name);
        let can_resume = session.agent.as_deref().is_some_and(can_resume);
        let by_name = || format!("heirloom resume {}", session.name);
        let command = if can_resume { by_name() } else { last?.going_on() };
        Some(Next { command, why })
    }
}

/// The command that goes on with an issue.
pub fn resuming(issue: &str) -> String {
    format!("heirloom work --resume --issue {issue}")
}

/// Whether an agent can be launched: one of those that are programs of their own, or what the settings name.
fn has_agent(here: &Here, settings: Option<&Settings>) -> bool {
    let programs = crate::agents::programs(here, settings);
    let named = settings.and_then(|settings| by_name(settings.agent.as_str()));
    let own = heirloom_agents::ALL.iter().copied().filter(|agent| agent.program().is_some());
    own.chain(named).any(|agent| programs.resolve(agent.name(), &here.env).is_ok())
}

fn running(here: &Here, ledger: &Ledger) -> Result<Vec<Row>, Error> {
    let statuses = &[Status::Starting, Status::Running, Status::WaitingInput, Status::Interrupting];
    let repo = Some(here.place.repo.as_str());
    let listing = Listing { repo, statuses, leaves: true, limit: RUNNING, ..Listing::default() };
    Ok(sessions::listed(here, ledger, &listing)?.rows)
}

fn approvals(here: &Here, ledger: &Ledger) -> Result<Vec<(Approval, Option<String>)>, Error> {
    let repo = Some(here.place.repo.as_str());
    let pending = ledger.approvals(ApprovalFilter { repo, session: None, pending: true })?;
    let named = |approval: Approval| {
        let name = ledger.session(approval.session)?.map(|session| session.name.to_string());
        Ok((approval, name))
    };
    pending.into_iter().map(named).collect()
}

/// Of each session at work; a requirement that several have not met is one.
fn unmet(here: &Here, ledger: &mut Ledger, running: &[Row]) -> Result<Vec<Requirement>, Error> {
    let Some(Rules::Policy(policy)) = rules::load(here) else { return Ok(Vec::new()) };
    if !policy.enabled {
        return Ok(Vec::new());
    }
    let branch = BranchKey::stored(here.place.head.key());
    let mut subjects: Vec<Subject> = Vec::new();
    for row in running {
        let id = row.session.id.to_string();
        subjects.extend(guard::subject(here, ledger, Some(&id)).ok());
    }
    let mut found: Vec<Requirement> = Vec::new();
    for subject in &subjects {
        let overview = overview(here, &policy, subject, &branch)?;
        if overview.paused.is_some() {
            continue;
        }
        for row in overview.rows {
            let is_new = found.iter().all(|known| known.name != row.name);
            if row.triggered && !row.satisfied && is_new {
                found.push(row);
            }
        }
    }
    Ok(found)
}

fn backlog(here: &Here) -> Result<Vec<Entry>, String> {
    let tracker = issues::find_within(here, PATIENCE);
    let backlog = tracker.and_then(|mut tracker| tracker.backlog());
    backlog.map_err(|error| format!("issues could not be read: {error}"))
}

fn last(here: &Here, ledger: &Ledger, backlog: Option<&[Entry]>) -> Result<Option<Last>, Error> {
    let statuses = &[Status::Completed, Status::Failed, Status::Interrupted];
    let repo = Some(here.place.repo.as_str());
    let listing = Listing { repo, statuses, leaves: true, limit: 10, ..Listing::default() };
    let rows = sessions::listed(here, ledger, &listing)?.rows;
    // Notes that a person made by hand are in sessions too, but there is nothing to go on with, nor is there in one that
    // was forgotten.
    let row = rows.into_iter().filter(|row| row.session.agent.is_some() && !row.forgotten);
    let Some(row) = row.max_by_key(|row| row.session.completed_at) else { return Ok(None) };
    // Whoever closed the issue by hand has finished it, whatever became of the run.
    let is_over = |run: &IssueRun| {
        let is_gone =
            |backlog: &[Entry]| backlog.iter().all(|entry| entry.id.as_str() != run.issue);
        run.status.is_unfinished() && backlog.is_some_and(is_gone)
    };
    let issue = ledger.issue_run_of(row.session.id)?.map(|run| {
        let status = if is_over(&run) { IssueRunStatus::Closed } else { run.status };
        IssueRun { status, ..run }
    });
    let known = capture::known(&here.home, row.session.id)?;
    let commits = known.as_ref().map(|known| known.commits.len());
    let failing =
        |known: &capture::KnownFacts| known.tests.iter().filter(|test| !test.passed_since).count();
    let is_sure = backlog.is_some();
    Ok(Some(Last { row, commits, failing_tests: known.as_ref().map(failing), issue, is_sure }))
}

fn handoff(here: &Here, ledger: &Ledger) -> Result<Option<Handoff>, Error> {
    let newest = ledger.newest_kept::<HandoffMade>(&here.place.repo, 1)?;
    let Some(kept) = newest.into_iter().next() else { return Ok(None) };
    let handoff = kept.body.handoff;
    let mut next_steps = Vec::new();
    for id in &handoff.next_steps {
        next_steps.extend(ledger.note(&id.to_string())?.into_iter().map(|note| note.text));
    }
    let session = ledger.session_label(handoff.session)?.map(|(name, _)| name);
    Ok(Some(Handoff { at: kept.at, session, issue: handoff.issue, next_steps }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Home {
        Home {
            is_set_up: true,
            untrusted: None,
            approvals: Vec::new(),
            running: Vec::new(),
            unmet: Vec::new(),
            last: None,
            handoff: None,
            ready: Vec::new(),
            to_review: Vec::new(),
            reviews: Reviews::default(),
            unfinished: Vec::new(),
            unmerged: Vec::new(),
            open_issues: Some(0),
            sessions: 0,
            untaken: 0,
            decisions: 0,
            problems: Vec::new(),
            misset: None,
            has_agent: true,
        }
    }

    #[test]
    fn the_next_step_is_one_that_can_be_taken() {
        let no_agent = Home { has_agent: false, ..quiet() };
        assert_eq!(no_agent.next().command, "heirloom agents");
        let misset = Home { misset: Some(".heirloom/config.yaml:3:9".to_owned()), ..no_agent };
        let next = misset.next();
        assert_eq!(next.command, "heirloom doctor");
        assert_eq!(next.why, ".heirloom/config.yaml:3:9 has to be corrected");
    }

    fn entry(id: &str) -> Entry {
        Entry {
            id: id.parse().unwrap(),
            title: "Rotate tokens".to_owned(),
            status: heirloom_core::issue::IssueStatus::InProgress,
            priority: 2,
            issue_type: "task".to_owned(),
            assignee: None,
            created_at: Timestamp::UNIX_EPOCH,
            defer_until: None,
            parent: None,
            blocked_by: Vec::new(),
            labels: Vec::new(),
            held: false,
        }
    }

    #[test]
    fn what_needs_the_person_comes_before_what_waits_to_be_merged_and_that_before_what_is_ready() {
        let untaken = Home { untaken: 2, has_agent: false, ..quiet() };
        assert_eq!(untaken.next().command, "heirloom sync");
        let ready = Home { ready: vec![entry("hl-1")], ..quiet() };
        assert_eq!(ready.next().command, "heirloom work");
        let command = "git merge heirloom/work/main".to_owned();
        let waits = Waiting { branch: "heirloom/work/main".to_owned(), commits: 1, command };
        let done = Home { unmerged: vec![waits], ..ready };
        assert_eq!(done.next().command, "git merge heirloom/work/main");
        let failed = Home { unfinished: vec![(entry("hl-2"), IssueRunStatus::TimedOut)], ..done };
        let next = failed.next();
        assert_eq!(next.command, "heirloom work --resume --issue hl-2");
        assert_eq!(next.why, "hl-2 is not done: timed out");
        let without_agent = Home { has_agent: false, ..failed.clone() };
        assert_eq!(without_agent.next().command, "heirloom agents");
        let review = Home { to_review: vec![entry("hl-3")], ..failed };
        assert_eq!(review.next().command, "heirloom issues show hl-3");
    }

    #[test]
    fn the_next_step_is_set_up_then_the_first_session() {
        assert_eq!(Home { is_set_up: false, ..quiet() }.next().command, "heirloom init");
        assert_eq!(quiet().next().command, "heirloom launch \"…\"");
    }
}
