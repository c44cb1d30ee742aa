//! Runs through the issues: what is found again, and which agent session is resumed.

use heirloom_core::agent::AgentName;
use heirloom_core::event::{
    AgentSessionLost, ImportedIssueRun, IssueRunEnded, IssueRunGated, IssueRunLaunched,
    IssueRunStarted, SessionAnnounced, SessionSpent, WorkEnded, WorkImported, WorkStarted,
};
use heirloom_core::id::{IssueRunId, SessionId, WorkRunId};
use heirloom_core::work::{Checked, IssueRunStatus, WorkStatus};
use heirloom_ledger::{Ledger, Scope};
use uuid::Uuid;

use crate::fixture::{Home, REPO, at};

fn scope() -> Scope<'static> {
    Scope { session: None, repo: Some(REPO) }
}

/// An issue's run whose agent announced `id`, if any.
fn issue_run(ledger: &mut Ledger, issue: &str, second: i64, id: Option<&str>) -> IssueRunId {
    let (run, issue_run) = (WorkRunId::new(Uuid::new_v4()), IssueRunId::new(Uuid::new_v4()));
    let session = SessionId::new(Uuid::new_v4());
    let now = at(second);
    let agent = AgentName::from("claude");
    let (pid, pid_started) = (1, Some(7));
    ledger
        .append(now, scope(), &WorkStarted { run, agent: agent.clone(), pid, pid_started })
        .unwrap();
    let started = IssueRunStarted {
        issue_run,
        run,
        issue: issue.parse().unwrap(),
        title: "t".to_owned(),
        agent,
        worktree: Some("/w".to_owned()),
        branch: None,
    };
    ledger.append(now, scope(), &started).unwrap();
    ledger
        .append(now, scope(), &IssueRunLaunched { issue_run, session, agent_session_id: None })
        .unwrap();
    if let Some(id) = id {
        let announced =
            SessionAnnounced { agent_session_id: id.to_owned(), model: None, agent: None };
        ledger.append(now, Scope::session(session, REPO), &announced).unwrap();
        let spent = SessionSpent { cost_usd: Some(0.5), input_tokens: 1, output_tokens: 1 };
        ledger.append(now, Scope::session(session, REPO), &spent).unwrap();
    }
    issue_run
}

fn resumable(ledger: &Ledger, issue: &str) -> Option<String> {
    ledger.resumable_run(REPO, issue).unwrap().and_then(|run| run.agent_session_id)
}

#[test]
fn the_newest_announced_agent_session_is_the_one_to_resume() {
    let home = Home::new();
    let mut ledger = home.open();
    issue_run(&mut ledger, "hl-1", 30, Some("newer"));
    issue_run(&mut ledger, "hl-1", 10, Some("older"));
    // Began last, but never said who it is.
    issue_run(&mut ledger, "hl-1", 40, None);
    issue_run(&mut ledger, "hl-2", 50, Some("other"));
    assert_eq!(resumable(&ledger, "hl-1").as_deref(), Some("newer"));
    assert_eq!(ledger.resumable_run("/src/other", "hl-1").unwrap(), None);
    let lost = AgentSessionLost {
        issue: "hl-1".parse().unwrap(),
        agent: "claude".into(),
        agent_session_id: "newer".to_owned(),
    };
    ledger.append(at(60), scope(), &lost).unwrap();
    assert_eq!(resumable(&ledger, "hl-1").as_deref(), Some("older"));
    assert_eq!(ledger.verify().unwrap().problems, []);
}

#[test]
fn a_run_is_shown_with_all_that_happened_to_its_issues() {
    let home = Home::new();
    let mut ledger = home.open();
    let issue_run = issue_run(&mut ledger, "hl-1", 10, Some("id"));
    let run = ledger.open_work_runs(REPO).unwrap().remove(0);
    let gate = vec![Checked {
        command: "cargo test".to_owned(),
        passed: true,
        exit_code: Some(0),
        duration_ms: 3,
        output: String::new(),
    }];
    ledger.append(at(11), scope(), &IssueRunGated { issue_run, gate: gate.clone() }).unwrap();
    let status = IssueRunStatus::Closed;
    let commit = Some("abc".to_owned());
    ledger
        .append(at(12), scope(), &IssueRunEnded { issue_run, status, reason: None, commit })
        .unwrap();
    let ended =
        WorkEnded { run: run.id.parse().unwrap(), status: WorkStatus::Completed, reason: None };
    ledger.append(at(13), scope(), &ended).unwrap();
    assert!(ledger.open_work_runs(REPO).unwrap().is_empty());
    let run = ledger.find_work_runs(REPO, &run.id[..8]).unwrap().remove(0);
    assert_eq!((run.status, run.ended_at), (WorkStatus::Completed, Some(at(13))));
    let shown = ledger.issue_runs_of(&run.id).unwrap().remove(0);
    assert_eq!((shown.status, shown.launches, shown.gates), (IssueRunStatus::Closed, 1, 1));
    assert_eq!((shown.gate, shown.cost_usd), (gate, Some(0.5)));
    assert_eq!((shown.commit.as_deref(), shown.ended_at), (Some("abc"), Some(at(12))));
}

#[test]
fn runs_of_the_original_are_found_like_our_own_but_not_without_an_agent() {
    let home = Home::new();
    let mut ledger = home.open();
    let issue = |id: &str, agent: Option<&str>| ImportedIssueRun {
        issue: id.parse().unwrap(),
        agent: agent.map(AgentName::from),
        agent_session_id: Some(format!("of-{id}")),
        status: IssueRunStatus::Failed,
        reason: None,
        transcript: None,
        attempts: 1,
    };
    let run = |run: &str, second, issues| WorkImported {
        file: format!("{run}.json"),
        run: run.to_owned(),
        started_at: at(second),
        ended_at: None,
        issues,
    };
    let first = run("r1", 10, vec![issue("hl-1", Some("claude")), issue("hl-2", None)]);
    ledger.append(at(100), scope(), &first).unwrap();
    ledger.append(at(101), scope(), &first).unwrap();
    assert_eq!(resumable(&ledger, "hl-1").as_deref(), Some("of-hl-1"));
    assert_eq!(resumable(&ledger, "hl-2"), None);
    assert_eq!(ledger.imported_work_runs(REPO).unwrap().len(), 1);
    assert_eq!(ledger.work_runs(REPO, 10).unwrap()[0].started_at, at(10));
    assert_eq!(ledger.verify().unwrap().problems, []);
}

#[test]
fn many_of_the_original_are_taken_in_at_once_as_they_are_one_by_one() {
    let home = Home::new();
    let mut ledger = home.open();
    let issue = |id: &str, reason: &str| ImportedIssueRun {
        issue: id.parse().unwrap(),
        agent: Some(AgentName::from("claude")),
        agent_session_id: Some(format!("of-{id}")),
        status: IssueRunStatus::Failed,
        reason: Some(reason.to_owned()),
        transcript: None,
        attempts: 1,
    };
    let secret = format!("ghp{}{}", "_", "a8Kq2ZrT5vXw9LmN3pYc7BdF1gHj4sUe6QtR");
    let run = |n: i64| WorkImported {
        file: format!("{n}.json"),
        run: format!("r{n}"),
        started_at: at(n),
        ended_at: None,
        issues: vec![
            issue("hl-2", "tests/path.rs fails"),
            issue("hl-1", &format!("with {secret}")),
        ],
    };
    let runs: Vec<WorkImported> = (0..40).map(run).collect();
    ledger.take_in_work_runs(at(100), scope(), &runs).unwrap();
    ledger.append(at(101), scope(), &run(40)).unwrap();
    assert_eq!(ledger.imported_work_runs(REPO).unwrap().len(), 41);
    for (place, id) in [(0, "r40"), (1, "r39"), (40, "r0")] {
        assert_eq!(ledger.work_runs(REPO, 50).unwrap()[place].id, id);
        let issues = ledger.issue_runs_of(id).unwrap();
        let seen: Vec<(&str, Option<&str>)> =
            issues.iter().map(|each| (&*each.issue, each.reason.as_deref())).collect();
        let redacted = Some("with [redacted:github-token]");
        assert_eq!(seen, [("hl-2", Some("tests/path.rs fails")), ("hl-1", redacted)]);
    }
    assert_eq!(ledger.verify().unwrap().problems, []);
}

#[test]
fn what_the_originals_runs_did_stands_among_our_own() {
    let home = Home::new();
    let mut ledger = home.open();
    let issue = |id: &str| ImportedIssueRun {
        issue: "hl-1".parse().unwrap(),
        agent: Some(AgentName::from("claude")),
        agent_session_id: Some(id.to_owned()),
        status: IssueRunStatus::Failed,
        reason: Some(format!("as {id}")),
        transcript: Some("/t".to_owned()),
        attempts: 2,
    };
    let run = |run: &str, second, id| WorkImported {
        file: format!("{run}.json"),
        run: run.to_owned(),
        started_at: at(second),
        ended_at: Some(at(second + 1)),
        issues: vec![issue(id)],
    };
    let ours = issue_run(&mut ledger, "hl-1", 20, Some("ours"));
    for (id, second) in [("first", 10), ("third", 30), ("fourth", 40)] {
        ledger.append(at(100), scope(), &run(id, second, id)).unwrap();
    }
    // Known by its run, whatever another record says of it.
    ledger.append(at(101), scope(), &run("third", 30, "another")).unwrap();
    let seen: Vec<String> =
        ledger.issue_runs(REPO, "hl-1").unwrap().into_iter().map(|each| each.id).collect();
    assert_eq!(seen, ["fourth/hl-1", "third/hl-1", &ours.to_string(), "first/hl-1"]);
    let newest = ledger.issue_runs(REPO, "hl-1").unwrap().remove(0);
    assert_eq!((newest.gates, newest.launches, newest.cost_usd), (2, 1, None));
    assert_eq!((newest.transcript.as_deref(), newest.ended_at), (Some("/t"), Some(at(41))));
    assert_eq!(ledger.newest_run_status(REPO, "hl-1").unwrap(), Some(IssueRunStatus::Failed));
    let lose = |ledger: &mut Ledger, id: &str| {
        let (issue, agent) = ("hl-1".parse().unwrap(), "claude".into());
        let lost = AgentSessionLost { issue, agent, agent_session_id: id.to_owned() };
        ledger.append(at(110), scope(), &lost).unwrap();
    };
    for id in ["fourth", "third", "ours", "first"] {
        assert_eq!(resumable(&ledger, "hl-1").as_deref(), Some(id));
        lose(&mut ledger, id);
    }
    assert_eq!(resumable(&ledger, "hl-1"), None);
    assert!(ledger.issue_runs_of("third").unwrap()[0].is_lost);
    assert!(ledger.issue_runs(REPO, "hl-1").unwrap().iter().all(|each| each.is_lost));
    assert_eq!(ledger.verify().unwrap().problems, []);
}

#[test]
fn an_issue_that_the_original_took_up_later_does_not_wait_for_a_person() {
    let home = Home::new();
    let mut ledger = home.open();
    let issue_run = issue_run(&mut ledger, "hl-1", 20, None);
    let (status, reason) = (IssueRunStatus::NeedsReview, Some("look".to_owned()));
    ledger
        .append(at(21), scope(), &IssueRunEnded { issue_run, status, reason, commit: None })
        .unwrap();
    for (second, left) in [(10, 1), (30, 0)] {
        let imported = WorkImported {
            file: format!("{second}.json"),
            run: format!("r{second}"),
            started_at: at(second),
            ended_at: None,
            issues: vec![ImportedIssueRun {
                issue: "hl-1".parse().unwrap(),
                agent: None,
                agent_session_id: None,
                status: IssueRunStatus::Closed,
                reason: None,
                transcript: None,
                attempts: 0,
            }],
        };
        ledger.append(at(40), scope(), &imported).unwrap();
        assert_eq!(ledger.left_to_review(REPO).unwrap().len(), left, "{second}");
    }
    assert_eq!(ledger.newest_run_status(REPO, "hl-1").unwrap(), Some(IssueRunStatus::Closed));
}
