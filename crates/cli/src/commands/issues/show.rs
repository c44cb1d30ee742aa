use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::IssueDetail;
use heirloom_core::issue::{Claim, Issue, IssueStatus};
use heirloom_core::note::Note;
use heirloom_core::words::in_words;
use heirloom_core::work::{IssueRunStatus, ways_to_review};
use heirloom_engine::issues::{NOBODY, Tracker};
use heirloom_engine::keep::tracker::{Bridge, bridge};
use heirloom_engine::work::Reviews;
use heirloom_ledger::IssueRun;
use jiff::Timestamp;

use super::super::{App, Done};
use super::{blocked_by, state, tried};
use crate::moment::{ago, by_the_clock};
use crate::ui::{BOLD, DIM, hang, one_line};

/// Show one issue, with the sessions and notes about it
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The issue's id or id prefix
    id: String,
}

/// All that is known about an issue.
struct Details<'a> {
    issue: &'a Issue,
    blocked_by: &'a [String],
    claim: Option<&'a Claim>,
    bridge: &'a Bridge,
    /// Why a person has to review it.
    review: Option<&'a str>,
    /// How the last attempt ended that came to nothing.
    ended: Option<IssueRunStatus>,
    /// What was done for it, newest first.
    runs: &'a [IssueRun],
    now: Timestamp,
}

pub(super) fn run(app: &App, tracker: &mut dyn Tracker, args: &Args) -> Done {
    let issue = tracker.find(&args.id)?;
    let blocked_by = blocked_by(tracker, &issue.id)?;
    let ledger = app.here.ledger()?;
    let claim = ledger.claim_of(&app.here.place.repo, &issue.id)?;
    let bridge = bridge(&app.here, &ledger, issue.id.as_str())?;
    let runs = ledger.issue_runs(&app.here.place.repo, issue.id.as_str())?;
    let reviews = Reviews::read(&app.here, &ledger)?;
    let review = reviews.of_issue(&issue);
    let newest = runs.first().filter(|_| issue.status == IssueStatus::InProgress);
    let ended = newest.map(|run| run.status).filter(|ended| ended.is_unfinished());
    let answer = IssueDetail {
        issue: (&issue).into(),
        blocked_by: blocked_by.clone(),
        review: review.map(str::to_owned),
        claim: claim.as_ref().map(Into::into),
        bridge: (&bridge).into(),
        runs: runs.iter().map(Into::into).collect(),
    };
    let known = Details {
        issue: &issue,
        blocked_by: &blocked_by,
        claim: claim.as_ref(),
        review,
        ended,
        bridge: &bridge,
        runs: &runs,
        now: app.here.clock.now(),
    };
    app.ui.answer(&answer, || known.text());
    if review.is_some() && !app.ui.is_json() {
        app.ui.hint(&ways_to_review(&issue.id));
    } else if let Some(ended) = ended.filter(|_| !app.ui.is_json()) {
        app.ui.hint(&tried(&issue.id, ended));
    }
    Ok(ExitCode::SUCCESS)
}

impl Details<'_> {
    fn text(&self) -> String {
        let mut text = self.head();
        for (heading, part) in [
            ("", &self.issue.description),
            ("Design", &self.issue.design),
            ("Acceptance", &self.issue.acceptance_criteria),
            ("Notes", &self.issue.notes),
        ] {
            if let Some(part) = part {
                section(&mut text, heading, part.lines().map(str::to_owned));
            }
        }
        let said = |comment: &heirloom_core::issue::Comment| {
            format!(
                "{} {DIM}{}{DIM:#}: {}",
                comment.author,
                ago(comment.created_at, self.now),
                comment.text
            )
        };
        section(&mut text, "Comments", self.issue.comments.iter().map(said));
        self.ledger(&mut text);
        text
    }

    fn head(&self) -> String {
        let issue = self.issue;
        let mut text = format!("{BOLD}{}{BOLD:#}  {}\n", issue.id, issue.title);
        // Whoever claims it says so below.
        let claimant = self.claim.map(|claim| &claim.owner.name);
        let whose = issue.assignee.as_ref().filter(|name| Some(*name) != claimant);
        let whose = whose.map(|name| format!(", assigned to {name}"));
        let status = state(&issue.status, self.review, self.ended);
        let _ = writeln!(
            text,
            "P{} {}, {status}{}",
            issue.priority,
            issue.issue_type,
            whose.unwrap_or_default()
        );
        let mut line = |name: &str, value: String| {
            let line = format!("  {DIM}{name:10}{DIM:#} {value}");
            let _ = writeln!(text, "{}", hang(&line, 11));
        };
        if let Some(parent) = issue.parent() {
            line("part of", parent.to_string());
        }
        if !self.blocked_by.is_empty() {
            line("blocked by", self.blocked_by.join(", "));
        }
        if !issue.labels.is_empty() {
            line("labels", issue.labels.join(", "));
        }
        if let Some(why) = self.review {
            line("review", one_line(why));
        }

        if let Some(claim) = self.claim {
            let until = claim.until.map(|at| format!(", until {}", by_the_clock(at, self.now)));
            let until = until.unwrap_or_default();
            line(
                "claimed",
                format!("by {} {}{until}", claim.owner.name, ago(claim.since, self.now)),
            );
        }
        let by = issue.created_by.as_ref().filter(|name| *name != NOBODY);
        let by = by.map(|name| format!(" by {name}")).unwrap_or_default();
        line("created", format!("{}{by}", ago(issue.created_at, self.now)));
        if let Some(closed_at) = issue.closed_at {
            let why = issue.close_reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            line("closed", format!("{}{why}", ago(closed_at, self.now)));
        }
        text
    }

    /// What sessions decided and left open about it.
    fn ledger(&self, text: &mut String) {
        let bridge = self.bridge;
        let note = |note: &Note| match &note.rationale {
            Some(why) => format!("{} {DIM}because {why}{DIM:#}", note.text),
            None => note.text.clone(),
        };
        for (heading, notes) in [
            ("Decisions", &bridge.decisions),
            ("Blockers", &bridge.blockers),
            ("Questions", &bridge.questions),
            ("Test scenarios", &bridge.test_scenarios),
            ("Next steps", &bridge.next_steps),
        ] {
            section(text, heading, notes.iter().map(note));
        }
        let handoff = |made: &heirloom_core::event::HandoffMade| {
            let (id, ratio) = (&made.id[..made.id.len().min(8)], made.handoff.ratio);
            format!("{id} {DIM}grounded {ratio:.2}, for {}{DIM:#}", made.handoff.cause)
        };
        section(text, "Handoffs", bridge.handoffs.iter().map(handoff));
        let run = |run: &IssueRun| {
            let why = run.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let id = run.run.chars().take(8).collect::<String>();
            format!(
                "{id} {} {DIM}{}{why}{DIM:#}",
                in_words(run.status.as_str()),
                ago(run.started_at, self.now)
            )
        };
        section(text, "Runs", self.runs.iter().map(run));
    }
}

/// A heading and its lines, if there are any.
fn section(text: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    text.push('\n');
    if !heading.is_empty() {
        let _ = writeln!(text, "{BOLD}{heading}{BOLD:#}");
    }
    for line in lines {
        let indent = if heading.is_empty() { "" } else { "  " };
        let _ = writeln!(text, "{indent}{}", line.replace('\n', "\n  "));
    }
}
