//! The backlog, what runs through it did, and what else can be run.

use axum::extract::{Path, State};
use heirloom_api::{
    ChangedIssues, Code, Failure, IssueDetail, IssueList, ListedIssue, ListedPipeline, NewIssue,
    PartOf, PipelineList, WorkRun, WorkRunDetail, WorkRunList,
};
use heirloom_core::issue::{self, Change, Entry, IssueId, IssueStatus, by_age};
use heirloom_engine::issues::{self, Tracker, Update};
use heirloom_engine::keep::tracker::bridge;
use heirloom_engine::run::library;
use heirloom_engine::work::{self, Reviews};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Created, Refused, Told};
use crate::house::{House, RequestContext};
use crate::routes::part::Part;
use crate::routes::{Asked, Given, Listed, Where};

/// Which issues are asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    pub(crate) repo: Option<String>,
    pub(crate) status: Option<String>,
    /// Only what could be begun now, in the order in which it would be.
    #[serde(default)]
    pub(crate) ready: bool,
    /// Those that are done as well.
    #[serde(default)]
    pub(crate) all: bool,
    /// The `next` of the part before.
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<usize>,
}

pub(super) async fn issues(
    State(house): State<House>,
    Asked(filter): Asked<Filter>,
) -> Result<Told<PartOf<IssueList>>, Refused> {
    Ok(Told(house.call(move |house| backlog(house, &filter)).await?))
}

/// The issues, in the order in which they are to be done.
pub(crate) fn backlog(house: &House, filter: &Filter) -> Result<PartOf<IssueList>, Failure> {
    let cx = RequestContext::of(house, filter.repo.as_deref())?;
    let mut tracker = issues::find(&cx.here)?;
    let mut entries = tracker.backlog()?;
    if filter.ready {
        let ready = issue::ready(&entries, cx.here.clock.now());
        entries = ready.into_iter().cloned().collect();
    } else {
        let wanted = filter.status.as_deref().map(status).transpose()?;
        if filter.all || wanted == Some(IssueStatus::Closed) {
            let closed = tracker.all()?;
            let closed = closed.iter().filter(|issue| issue.status.is_closed());
            entries.extend(closed.map(Entry::of));
        }
        entries.retain(|entry| wanted.as_ref().is_none_or(|wanted| entry.status == *wanted));
        entries.sort_by(|a, b| {
            a.status.is_closed().cmp(&b.status.is_closed()).then_with(|| by_age(a, b))
        });
    }
    let part = Part::new(filter.cursor.as_deref(), filter.limit);
    let (entries, next) = part.of(entries, |entry| entry.id.to_string())?;
    let reviews = Reviews::read(&cx.here, &cx.ledger)?;
    let reviews = reviews.with_last_runs(&cx.here, &cx.ledger, &entries)?;
    let issues = entries.iter().map(|entry| ListedIssue::new(entry, &reviews)).collect();
    Ok(PartOf { list: IssueList { issues }, next })
}

fn status(word: &str) -> Result<IssueStatus, Failure> {
    const WORDS: [&str; 5] = ["open", "in_progress", "blocked", "deferred", "closed"];
    if WORDS.contains(&word) {
        return Ok(IssueStatus::of(word));
    }
    let message = format!("there is no status {word} for issues");
    Err(Failure::new(Code::RequestInvalid, message)
        .hint(format!("it is one of {}", WORDS.join(", "))))
}

pub(super) async fn issue(
    State(house): State<House>,
    Path(id): Path<String>,
    Asked(place): Asked<Where>,
) -> Result<Told<IssueDetail>, Refused> {
    Ok(Told(house.call(move |house| detail(house, place.repo.as_deref(), &id)).await?))
}

/// One issue with all that is known about it.
pub(crate) fn detail(house: &House, repo: Option<&str>, id: &str) -> Result<IssueDetail, Failure> {
    let cx = RequestContext::of(house, repo)?;
    let mut tracker = issues::find(&cx.here)?;
    let issue = tracker.find(id)?;
    let blocked_by = blocked_by(tracker.as_mut(), &issue.id)?;
    let repo = &cx.here.place.repo;
    let claim = cx.ledger.claim_of(repo, &issue.id)?;
    let bridge = bridge(&cx.here, &cx.ledger, issue.id.as_str())?;
    let runs = cx.ledger.issue_runs(repo, issue.id.as_str())?;
    Ok(IssueDetail {
        issue: (&issue).into(),
        blocked_by,
        review: Reviews::read(&cx.here, &cx.ledger)?.of_issue(&issue).map(str::to_owned),
        claim: claim.as_ref().map(Into::into),
        bridge: (&bridge).into(),
        runs: runs.iter().map(Into::into).collect(),
    })
}

/// What stands in the way of an issue.
fn blocked_by(tracker: &mut dyn Tracker, id: &IssueId) -> Result<Vec<String>, Failure> {
    let entry = tracker.backlog()?.into_iter().find(|entry| entry.id == *id);
    let blockers = entry.map(|entry| entry.blocked_by).unwrap_or_default();
    Ok(blockers.iter().map(ToString::to_string).collect())
}

/// An issue to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) acceptance: Option<String>,
    #[serde(rename = "type")]
    pub(crate) issue_type: Option<String>,
    /// From 0, the most urgent, to 4.
    #[schemars(range(max = 4))]
    pub(crate) priority: Option<u8>,
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    pub(crate) assignee: Option<String>,
    pub(crate) parent: Option<String>,
    #[serde(default)]
    pub(crate) blocked_by: Vec<String>,
    pub(crate) repo: Option<String>,
}

pub(super) async fn create(
    State(house): State<House>,
    Given(body): Given<Body>,
) -> Result<Created<NewIssue>, Refused> {
    Ok(Created(house.call(move |house| created(house, body)).await?))
}

/// Makes an issue.
pub(crate) fn created(house: &House, body: Body) -> Result<NewIssue, Failure> {
    let cx = RequestContext::of(house, body.repo.as_deref())?;
    let mut tracker = issues::find(&cx.here)?;
    let mut find = |id: &String| tracker.find(id).map(|issue| issue.id);
    let parent = body.parent.as_ref().map(&mut find).transpose()?;
    let blockers = body.blocked_by.iter().map(&mut find).collect::<Result<Vec<_>, _>>()?;
    let issue = tracker.create(issue::NewIssue {
        title: body.title.trim().to_owned(),
        description: body.description,
        acceptance_criteria: body.acceptance,
        priority: urgency(body.priority)?.unwrap_or(2),
        issue_type: body.issue_type.unwrap_or_else(|| "task".to_owned()),
        labels: body.labels,
        assignee: body.assignee,
        parent,
        blocked_by: blockers,
        author: issues::actor(&cx.here),
    })?;
    let blocked_by = blocked_by(tracker.as_mut(), &issue.id)?;
    Ok(NewIssue { issue: (&issue).into(), blocked_by })
}

fn urgency(priority: Option<u8>) -> Result<Option<u8>, Failure> {
    match priority {
        Some(5..) => {
            let message = "a priority is a number from 0, the most urgent, to 4";
            Err(Failure::new(Code::RequestInvalid, message))
        }
        priority => Ok(priority),
    }
}

/// What of an issue is to be different.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Different {
    title: Option<String>,
    description: Option<String>,
    acceptance: Option<String>,
    notes: Option<String>,
    status: Option<String>,
    /// From 0, the most urgent, to 4.
    #[schemars(range(max = 4))]
    priority: Option<u8>,
    #[serde(rename = "type")]
    issue_type: Option<String>,
    assignee: Option<String>,
    #[serde(default)]
    add_labels: Vec<String>,
    #[serde(default)]
    remove_labels: Vec<String>,
    /// Why it is closed, where it is.
    reason: Option<String>,
    repo: Option<String>,
}

pub(super) async fn change(
    State(house): State<House>,
    Path(id): Path<String>,
    Given(body): Given<Different>,
) -> Result<Told<ChangedIssues>, Refused> {
    let change = move |house: &House| {
        let changed = changed(house, &id, body);
        house.blocked().forget();
        changed
    };
    Ok(Told(house.call(change).await?))
}

fn changed(house: &House, id: &str, body: Different) -> Result<ChangedIssues, Failure> {
    let mut cx = RequestContext::of(house, body.repo.as_deref())?;
    let mut tracker = issues::find(&cx.here)?;
    let issue = tracker.find(id)?;
    let status = body.status.as_deref().map(status).transpose()?;
    if status == Some(IssueStatus::Closed) {
        let change = Change::close(body.reason.unwrap_or_default(), None);
        let tracker = tracker.as_mut();
        let closed = issues::close(&cx.here, &mut cx.ledger, tracker, &issue, &change)?;
        return Ok(ChangedIssues::from(&[closed][..]));
    }
    let change = Change {
        title: body.title.map(|title| title.trim().to_owned()),
        description: body.description,
        acceptance_criteria: body.acceptance,
        notes: body.notes,
        status,
        priority: urgency(body.priority)?,
        issue_type: body.issue_type,
        assignee: body.assignee,
        add_labels: body.add_labels,
        remove_labels: body.remove_labels,
        ..Change::default()
    };
    if change.is_empty() {
        return Err(Failure::new(Code::RequestInvalid, "there is nothing to change"));
    }
    let update = Update { actor: issues::actor(&cx.here), claiming: None, change };
    let (here, ledger) = (&cx.here, &mut cx.ledger);
    let updated = issues::update(here, ledger, tracker.as_mut(), issue, &update)?;
    Ok(ChangedIssues::from(&[updated][..]))
}

/// How far back runs are looked for.
const MOST_RUNS: usize = 1000;

/// Which runs are asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runs {
    repo: Option<String>,
    /// The `next` of the part before.
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn runs(
    State(house): State<House>,
    Asked(asked): Asked<Runs>,
) -> Result<Told<PartOf<WorkRunList>>, Refused> {
    let list = house.call(move |house| {
        let part = Part::new(asked.cursor.as_deref(), asked.limit.or(Some(20)));
        let all = work_runs(house, asked.repo.as_deref(), MOST_RUNS)?.runs;
        let (runs, next) = part.of(all, |run| run.id.clone())?;
        Ok(PartOf { list: WorkRunList { runs }, next })
    });
    Ok(Told(list.await?))
}

/// What past runs did, newest first.
pub(crate) fn work_runs(
    house: &House,
    repo: Option<&str>,
    limit: usize,
) -> Result<WorkRunList, Failure> {
    let cx = RequestContext::of(house, repo)?;
    let mut runs = Vec::new();
    for run in cx.ledger.work_runs(&cx.here.place.repo, limit)? {
        let issues = work::issue_runs(&cx.ledger, &run)?;
        runs.push(WorkRun::new(&run, &issues, work::standing(&run)));
    }
    Ok(WorkRunList { runs })
}

pub(super) async fn run(
    State(house): State<House>,
    Path(id): Path<String>,
    Asked(place): Asked<Where>,
) -> Result<Told<WorkRunDetail>, Refused> {
    Ok(Told(house.call(move |house| work_run(house, place.repo.as_deref(), &id)).await?))
}

/// One run, issue by issue.
pub(crate) fn work_run(
    house: &House,
    repo: Option<&str>,
    id: &str,
) -> Result<WorkRunDetail, Failure> {
    let cx = RequestContext::of(house, repo)?;
    let mut found = cx.ledger.find_work_runs(&cx.here.place.repo, id)?;
    if found.len() > 1 {
        let ids: Vec<&str> = found.iter().map(|run| run.id.as_str()).collect();
        let message = format!("{id} matches {} runs", ids.len());
        return Err(Failure::new(Code::RunAmbiguous, message).hint(ids.join(", ")));
    }
    let run = found.pop();
    let run =
        run.ok_or_else(|| Failure::new(Code::RunNotFound, format!("there is no run {id}")))?;
    let issues = work::issue_runs(&cx.ledger, &run)?;
    Ok(WorkRunDetail {
        run: WorkRun::new(&run, &issues, work::standing(&run)),
        issues: issues.iter().map(Into::into).collect(),
    })
}

pub(super) async fn pipelines(
    State(house): State<House>,
    Asked(asked): Asked<Listed>,
) -> Result<Told<PartOf<PipelineList>>, Refused> {
    let list = house.call(move |house| {
        let cx = RequestContext::of(house, asked.repo.as_deref())?;
        let loaded = library::load(&cx.here.place.root);
        let rows = loaded.library.pipelines();
        let rows = rows.map(|(name, pipeline)| ListedPipeline::new(name, pipeline));
        let part = Part::new(asked.cursor.as_deref(), asked.limit);
        let (pipelines, next) = part.of(rows.collect(), |row: &ListedPipeline| row.name.clone())?;
        Ok(PartOf { list: PipelineList { pipelines }, next })
    });
    Ok(Told(list.await?))
}
