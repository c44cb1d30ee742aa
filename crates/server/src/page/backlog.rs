//! The backlog, and what runs through it did.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use heirloom_core::visible::visible;
use heirloom_core::words::in_words;
use maud::html;
use serde::Deserialize;

use super::region::{Region, Regions};
use super::{Sheet, View, glyph, line, page, sheet, since};
use crate::gate::{Caller, check_form};
use crate::house::House;
use crate::routes::work::{self, Filter};
use crate::routes::{Asked, Where};

const KEYS: [(&str, &str); 3] = [("j", "next"), ("⏎", "open"), ("n", "new issue")];

const BACKLOG: Region = Region::list("backlog", "issue claim work keep");
const RUNS: Region = Region::new("runs", "work issue");
const ISSUE: Region = Region::new("issue", "issue claim work keep session");
const RUN: Region = Region::new("run", "work issue session");

pub(super) async fn issues(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?.with(regions);
        let all = work::backlog(house, &Filter::default())?.list.issues;
        let ready = work::backlog(house, &Filter { ready: true, ..Filter::default() })?.list.issues;
        let runs = work::work_runs(house, None, 10)?.runs;
        let is_ready = |id: &str| ready.iter().any(|one| one.id == id);
        let title = match ready.len() {
            0 => "No issue is ready".to_owned(),
            1 => "1 issue is ready".to_owned(),
            more => format!("{more} issues are ready"),
        };
        let content = html! {
            (view.heading(&title)?)
            p.soft { (all.len()) " open in " (view.repo) }
            (view.regions.put(BACKLOG, || Ok(html! { table {
                thead { tr { th scope="col" { "State" } th scope="col" { "Issue" } th scope="col" { "Prio" } th scope="col" { "Title" } th scope="col" class="c-branch" { "Blocked by" } } }
                tbody { @for one in &all { tr.row data-row=(one.id) {
                    td { @if is_ready(&one.id) { (glyph::met(true, "ready")) } @else if one.review.is_some() { (glyph::met(false, "needs review")) } @else { (line(&in_words(&one.status), 20)) @if let Some(ended) = &one.last_attempt { " " span.soft { "(" (in_words(ended)) ")" } } } }
                    td.mono { a.open data-go="issue" href=(format!("/issues/{}", one.id)) { (one.id) } }
                    td { "P" (one.priority) } td { (line(&one.title, 100)) @if let Some(why) = &one.review { " " span.soft { (line(why, 100)) } } } td.c-branch.mono { (one.blocked_by.join(", ")) }
                } } }
            } @if all.is_empty() { p { "No open issues. Create one below." } } }))?)
            form method="post" { (view.token()) label for="title" { "New issue" }
                input id="title" name="title" required size="50"; " " button { "Create" } }
            h2 { "Runs" }
            (view.regions.put(RUNS, || Ok(html! { table { thead { tr { th scope="col" { "Run" } th scope="col" { "Status" } th scope="col" class="num" { "Started" } } }
                tbody { @for run in &runs { tr.row data-row=(run.id) {
                    td.mono { a.open href=(format!("/runs/{}", run.id)) { (line(&run.id, 8)) } } td { (in_words(&run.status)) }
                    td.num { (since(run.started_at, view.now)) } } } } }
                @if runs.is_empty() { p.dim { "No run yet: " code { "heirloom work" } " lets agents work through the issues." } } }))?)
        };
        let sheeted = Sheet { title: &title, page: "backlog", nav: "/issues", command: "heirloom work --resume", keys: &KEYS, ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

/// An issue that was typed in.
#[derive(Debug, Deserialize)]
pub(super) struct Typed {
    #[serde(default)]
    form: String,
    #[serde(default)]
    title: String,
}

pub(super) async fn create(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Form(typed): Form<Typed>,
) -> Response {
    let made = house.call(move |house| {
        if let Caller::Person(cookie) = &caller {
            check_form(cookie, &typed.form)?;
        }
        let body = serde_json::from_value(serde_json::json!({"title": typed.title}));
        let body = body.map_err(|error| {
            heirloom_api::Failure::from_error(heirloom_api::Code::RequestInvalid, &error)
        })?;
        work::created(house, body)
    });
    match made.await {
        Ok(_) => Redirect::to("/issues").into_response(),
        Err(refused) => page(Err(refused)),
    }
}

pub(super) async fn issue(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?.with(regions);
        let detail = serde_json::to_value(work::detail(house, None, &id)?).unwrap_or_default();
        let text = |name: &str| detail[name].as_str().unwrap_or_default().to_owned();
        let title = line(&text("title"), 100);
        let content = html! {
            p.meta { a data-go="up" href="/issues" { "Backlog" } " / " span.mono { (text("id")) } }
            (view.heading(&title)?)
            (view.regions.put(ISSUE, || Ok(html! { p.line { span { (if text("review").is_empty() { in_words(&text("status")).into_owned() } else { "needs review".to_owned() }) } span { "P" (detail["priority"]) } span { (text("assignee")) } }
            @if !text("review").is_empty() { p { (visible(&text("review"))) } }
            @for (name, heading) in [("description", ""), ("design", "Design"), ("acceptance_criteria", "Acceptance"), ("notes", "Notes")] {
                @if !text(name).is_empty() { @if !heading.is_empty() { h2 { (heading) } } div.said { p { (visible(&text(name))) } } }
            }
            @if let Some(runs) = detail["runs"].as_array() { @if !runs.is_empty() { h2 { "Runs" }
                ul { @for run in runs { li { (line(&in_words(run["status"].as_str().unwrap_or_default()), 30)) " "
                    @if let Some(session) = run["session"].as_str() { a href=(format!("/sessions/{session}")) { (line(session, 8)) } } } } } } } }))?)
        };
        let command = format!("heirloom issues show {}", line(&id, 40));
        let sheeted = Sheet { title: &title, page: "issue", nav: "/issues", command: &command, ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

pub(super) async fn run(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Asked(place): Asked<Where>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?.with(regions);
        let run = work::work_run(house, place.repo.as_deref(), &id)?;
        let detail = serde_json::to_value(run).unwrap_or_default();
        let issues = detail["issues"].as_array().cloned().unwrap_or_default();
        let closed = issues.iter().filter(|one| one["status"] == "closed").count();
        let title = format!("{closed} of {} issues done", issues.len());
        let content = html! {
            p.meta { a data-go="up" href="/issues" { "Backlog" } " / run " (line(&id, 8)) }
            (view.heading(&title)?)
            (view.regions.put(RUN, || Ok(html! { table { thead { tr { th scope="col" { "Issue" } th scope="col" { "Outcome" } th scope="col" { "Session" } } }
                tbody { @for one in &issues { tr.row {
                    td.mono { (line(one["issue"].as_str().or(one["issue_id"].as_str()).unwrap_or_default(), 40)) }
                    td { (glyph::met(one["status"] == "closed", &in_words(one["status"].as_str().unwrap_or_default()))) }
                    td.mono { @if let Some(session) = one["session"].as_str() { a.open href=(format!("/sessions/{session}")) { (line(session, 8)) } } }
                } } } } }))?)
        };
        let command = format!("heirloom runs show {}", line(&id, 8));
        let sheeted = Sheet { title: &title, page: "run", nav: "/issues", command: &command, ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}
