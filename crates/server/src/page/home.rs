//! What needs a person, what runs, what was done.

use std::collections::HashMap;
use std::fmt::Write;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use heirloom_api::{Failure, JudgedNote};
use heirloom_core::approval::{Approval, subject};
use heirloom_core::note::Kind;
use heirloom_core::session::Session;
use heirloom_core::settings::{Broken, Diagnostic};
use heirloom_core::status::Status;
use heirloom_core::words::in_words;
use heirloom_engine::notes::Query;
use heirloom_engine::sessions::{Listed, Listing, Row, list};
use heirloom_engine::{session as engine, usage};
use heirloom_ledger::{IssueRun, SessionFilter};
use jiff::tz::TimeZone;
use maud::{Markup, html};

use super::approval::asks;
use super::region::{Region, Regions};
use super::session::percent_used;
use super::{Sheet, View, about, agent, counted, glyph, line, page, sheet, since};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::sessions::{Filter, statuses};
use crate::routes::{Asked, look};

/// So many broken decisions are listed; the rest is a number and a link.
const BROKEN: usize = 5;

/// So many decisions are checked for the first page, the newest: checking reads the code.
const DECISIONS: usize = 50;

const HEAD: Region = Region::new("head", "session approval note live repo");
const NEEDED: Region = Region::list("needed", "session approval note");
const NONE: Region = Region::new("none", "session note approval");
const RUNNING: Region = Region::list("running", "session approval live keep iteration");
const RECENT: Region = Region::list("recent", "session note");
const LISTED: Region = Region::list("listed", "session live");

const KEYS: [(&str, &str); 6] = [
    ("j", "next"),
    ("k", "previous"),
    ("⏎", "open"),
    ("a", "next approval"),
    ("c", "continue"),
    ("n", "new session"),
];

pub(super) async fn home(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    regions: Regions,
) -> Response {
    page(house.call(move |house| rendered(house, &caller, regions)).await)
}

fn rendered(house: &House, caller: &Caller, regions: Regions) -> Result<Markup, Failure> {
    let mut cx = RequestContext::everywhere(house)?;
    cx.tidy()?;
    let view = View::new(house, caller, &cx.ledger)?.with(regions);
    let wants = |ids: &[&str]| view.regions.want(ids);
    let running = if wants(&["head", "running", "none"]) { running(&cx)? } else { Vec::new() };
    let recent = if wants(&["recent", "none"]) { recent(&cx)? } else { Vec::new() };
    let decisions =
        if wants(&["head", "needed", "recent", "none"]) { newest(&cx) } else { Vec::new() };
    let count = |word: &str| decisions.iter().filter(|one| one.standing == word).count();
    // What an agent only proposed is in force nowhere.
    let live = live(&cx)?;
    let is_broken = |one: &&JudgedNote| {
        let is_inherited = live.iter().any(|session| is_inherited(one, session));
        one.standing == "broken" && one.note.proposed_by.is_none() && is_inherited
    };
    let broken: Vec<_> = decisions.iter().filter(is_broken).collect();
    let unusable = cx.here.settings(&[]).err();
    let things = view.needs.count() + broken.len() + usize::from(unusable.is_some());
    let title = match things {
        0 => "Nothing needs you".to_owned(),
        1 => "1 thing needs you".to_owned(),
        more => format!("{more} things need you"),
    };
    let own = cx.ledger.repository(&cx.here.place.repo)?;
    let mut decided = HashMap::<&str, Vec<&JudgedNote>>::new();
    for one in &decisions {
        decided.entry(one.note.session.as_str()).or_default().push(one);
    }
    let (among, beyond) = if decisions.len() == DECISIONS {
        (format!("of the newest {DECISIONS} decisions "), "; older ones are not checked here")
    } else {
        (String::new(), "")
    };
    let content = html! {
        (view.regions.put(HEAD, || Ok(html! {
            h1 { (title) }
            p.soft {
                (counted(running.len(), "session")) " running · " a href="/usage" { (today(&cx)?) } " · "
                a href="/decisions" { (among) @if count("holds") == 1 { "1 decision holds, " } @else { (count("holds")) " decisions hold, " }
                    (count("moved")) " moved, " (count("broken")) " broken" (beyond) }
            }
        }))?)
        (view.regions.put(NEEDED, || Ok(html! { ul.list aria-label="Needs you" {
            @for approval in view.needs.approvals.iter().filter(|one| !one.is_question()) { (asking(&cx, &view, approval)?) }
            @for approval in view.needs.approvals.iter().filter(|one| one.is_question()) { (asking(&cx, &view, approval)?) }
            @for session in &view.needs.waiting {
                li.item data-row=(session.id) {
                    (glyph::question("question"))
                    div.what { p { (about(session)) } p.meta { (session.status.in_words()) } }
                    div { span.mono { (session.name) } (view.elsewhere(session)) br; span.meta { (agent(session)) } }
                    span.num { (since(session.created_at, view.now)) }
                    div.act { a.btn.open href=(address(session)) { "Open" } }
                }
            }
            @for session in &view.needs.failed {
                li.item data-row=(session.id) {
                    (glyph::status(session.status))
                    div.what { p { (about(session)) }
                        p.meta { (line(session.reason.as_deref().unwrap_or("no reason was given"), 120)) } }
                    div { span.mono { (session.name) } (view.elsewhere(session)) br; span.meta { (agent(session)) } }
                    span.num { (since(session.completed_at.unwrap_or(session.created_at), view.now)) }
                    div.act { a.btn.open href=(address(session)) { "Open" } }
                }
            }
            @for (repo, one) in &view.needs.blocked { (blocked(&view, repo, one)) }
            @if let Some(unusable) = &unusable { (misread(&unusable.broken)) }
            @for one in broken.iter().take(BROKEN) {
                li.item data-row=(one.note.id) {
                    (glyph::standing("broken"))
                    div.what { p { "“" (line(&one.note.text, 100)) "” no longer holds" }
                        p.meta.mono { @if let Some(checked) = &one.checked { (line(&checked.detail, 120)) } } }
                    span.mono { (one.note.session) }
                    span.num { (since(one.note.at, view.now)) }
                    div.act { a.btn.open href=(format!("/notes/{}", one.note.id)) { "Look" } }
                }
            }
        }
        @if broken.len() > BROKEN {
            p { a href="/decisions" { "All " (broken.len()) " broken decisions" } }
        } }))?)
        (view.regions.put(NONE, || Ok(html! { @if things == 0 && running.is_empty() && recent.is_empty() {
            p { "No session yet. " a href="/launch" { "Launch one" } ", or start an agent in a repository where "
                code { "heirloom init" } " was run." }
        } }))?)
        (table(&view, "Running now", RUNNING, &running, &Extra::Context(&cx))?)
        (table(&view, "Recent", RECENT, &recent, &Extra::Decisions { own: &own, decided: &decided })?)
        p { a href="/sessions" { "All sessions" } " · " a href="/requirements" { "Requirements" } " · "
            a href="/usage" { "Usage" } " · " a href="/settings" { "Settings" } }
    };
    let command = "heirloom approvals list";
    // Without the decisions it is not known how many things need somebody.
    let title = if wants(&["head"]) { title.as_str() } else { "" };
    let sheeted = Sheet { title, page: "home", nav: "/", command, keys: &KEYS, ..Sheet::default() };
    Ok(sheet(&view, &sheeted, &content))
}

/// An issue that a run could not finish.
fn blocked(view: &View, repo: &str, one: &IssueRun) -> Markup {
    let status = in_words(one.status.as_str());
    let run = if repo == view.own {
        format!("/runs/{}", one.run)
    } else {
        format!("/runs/{}?repo={}", one.run, encoded(repo))
    };
    html! { li.item data-row=(one.id) {
        (glyph::blocked("blocked"))
        div.what { p { span.mono { (one.issue) } " " (line(&one.title, 100)) }
            p.meta { (status) @if let Some(reason) = &one.reason { ": " (line(reason, 120)) } } }
        div { span.mono { "work" } (view.other(repo)) br; span.meta { (one.agent.as_deref().unwrap_or("unknown agent")) } }
        span.num { (since(one.ended_at.unwrap_or(one.started_at), view.now)) }
        div.act { a.btn.open href=(run) { "Open" } }
    } }
}

/// A text as the value of an address: a repository without a key goes by its path.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                encoded.push(char::from(byte));
            }
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

/// Settings that only a person can correct.
fn misread(broken: &Broken) -> Markup {
    let first = broken.errors.first().map(Diagnostic::located).unwrap_or_default();
    html! { li.item data-row="settings" {
        (glyph::blocked("settings"))
        div.what { p { (line(&first, 160)) } p.meta { (broken.meanwhile()) } }
        div { span.mono { "settings" } }
        span.num {}
        div.act { a.btn.open href="/settings" { "Look" } }
    } }
}

/// Somebody who waits for an answer.
fn asking(cx: &RequestContext, view: &View, approval: &Approval) -> Result<Markup, Failure> {
    let session = cx.ledger.session(approval.session)?;
    let question = approval.question();
    Ok(html! { li.item data-row=(approval.id) {
        @if approval.is_question() { (glyph::question("question")) } @else { (glyph::ask("approve")) }
        div.what {
            @if let Some(question) = question { p { (line(question, 160)) } }
            @else { p { b { (approval.tool) } " " span.mono { (line(&subject(&approval.input), 120)) } } }
            p.meta { (asks(&approval.tool)) }
        }
        div { span.mono { (session.as_ref().map_or_else(String::new, |one| one.name.to_string())) }
            @if let Some(session) = &session { (view.elsewhere(session)) } br; span.meta { (session.as_ref().map_or("", |one| agent(one))) } }
        span.num { (since(approval.requested_at, view.now)) }
        div.act { a.btn.open href=(format!("/approvals/{}", approval.id)) { @if question.is_some() { "Answer" } @else { "Review" } } }
    } })
}

/// The sessions whose agents are at work.
fn running(cx: &RequestContext) -> Result<Vec<Row>, Failure> {
    let active: Vec<Status> = Status::ALL.into_iter().filter(|one| one.is_active()).collect();
    let listing = Listing { statuses: &active, limit: 50, ..Listing::default() };
    let mut rows = list(&cx.here, &cx.ledger, &listing)?.rows;
    rows.retain(|row| row.session.status != Status::WaitingInput);
    Ok(rows)
}

/// The sessions that are not over in the repository whose decisions are shown.
fn live(cx: &RequestContext) -> Result<Vec<Session>, Failure> {
    let active: Vec<Status> = Status::ALL.into_iter().filter(|one| one.is_active()).collect();
    let repo = Some(cx.here.place.repo.as_str());
    let filter = SessionFilter { repo, statuses: &active, limit: 50, ..SessionFilter::default() };
    Ok(cx.ledger.sessions(&filter)?.sessions)
}

/// Whether a session began with a decision of another: what nobody works by needs nobody now.
fn is_inherited(one: &JudgedNote, session: &Session) -> bool {
    one.note.at <= session.created_at && one.note.session != session.name.as_str()
}

/// The sessions that ended last.
fn recent(cx: &RequestContext) -> Result<Vec<Row>, Failure> {
    let ended = [Status::Completed, Status::Interrupted];
    let listing = Listing { statuses: &ended, limit: 8, ..Listing::default() };
    Ok(list(&cx.here, &cx.ledger, &listing)?.rows)
}

/// The newest decisions, each checked. Checking reads the code; where that is not possible the page still has the rest.
fn newest(cx: &RequestContext) -> Vec<JudgedNote> {
    let query = Query { kind: Some(Kind::Decision), limit: Some(DECISIONS), ..Query::default() };
    look::judged_of(cx, &query).map(|list| list.decisions).unwrap_or_default()
}

pub(super) fn address(session: &Session) -> String {
    format!("/sessions/{}", session.id)
}

/// What was spent today, in every repository, as far as agents say.
fn today(cx: &RequestContext) -> Result<String, Failure> {
    let now = cx.here.clock.now();
    let midnight = now.to_zoned(TimeZone::system()).start_of_day();
    let midnight = midnight.map_or(now, |midnight| midnight.timestamp());
    let total = usage::since(&cx.here, &cx.ledger, midnight)?;
    Ok(match total.cost_usd {
        Some(cost) if total.unknown_sessions > 0 => format!("at least ${cost:.2} today"),
        Some(cost) => format!("${cost:.2} today"),
        None if total.sessions > 0 => "cost today unknown".to_owned(),
        None => "$0.00 today".to_owned(),
    })
}

/// What a list of sessions shows besides what every list does.
enum Extra<'a> {
    Nothing,
    /// How full the context is.
    Context(&'a RequestContext),
    /// Which of its decisions hold, for sessions of the repository whose code was looked at.
    Decisions {
        own: &'a str,
        decided: &'a HashMap<&'a str, Vec<&'a JudgedNote>>,
    },
}

impl Extra<'_> {
    fn heading(&self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Context(_) => Some("Context"),
            Self::Decisions { .. } => Some("Decisions"),
        }
    }

    fn cell(&self, session: &Session) -> Markup {
        match self {
            Self::Nothing => html! {},
            Self::Context(cx) => html! { (percent_used(cx, session)) },
            Self::Decisions { own, decided } if *session.repo == **own => {
                let all = decided.get(session.name.as_str()).map(Vec::as_slice).unwrap_or_default();
                let counts = ["broken", "moved", "holds", "unproven"]
                    .map(|word| (word, all.iter().filter(|one| one.standing == word).count()));
                html! { a.plain href=(format!("{}/notes", address(session))) {
                    @for (word, count) in counts { @if count > 0 { span.state { (glyph::standing(word)) " " (count) " " } } }
                    @if all.is_empty() { span.dim { "none" } }
                } }
            }
            Self::Decisions { .. } => html! { span.dim { "elsewhere" } },
        }
    }
}

fn table(
    view: &View,
    title: &str,
    region: Region,
    rows: &[Row],
    extra: &Extra<'_>,
) -> Result<Markup, Failure> {
    let content = view.regions.put(region, || Ok(html! {
        @if !rows.is_empty() {
            h2 { (title) " " small { (rows.len()) } }
            table {
                thead { tr {
                    th scope="col" { "Status" } th scope="col" { "Session" } th scope="col" { "Title" }
                    th scope="col" class="c-agent" { "Agent" } th scope="col" class="c-branch" { "Branch" }
                    @if let Some(heading) = extra.heading() { th scope="col" class="c-doing" { (heading) } }
                    th scope="col" class="num" { "Last active" } th scope="col" class="num" { "Cost" }
                } }
                tbody { @for Row { session, at_work, title, cost, forgotten, .. } in rows {
                    @let last = at_work.as_ref().map(|one| one.last_active_at);
                    tr.row data-row=(session.id) {
                        td { (glyph::status(session.status)) }
                        td.mono { a.open href=(address(session)) { (session.name) } (view.elsewhere(session))
                            @if let Some(author) = &session.author { span.dim { " by " (author) } } }
                        td.soft { @if *forgotten { "(forgotten)" } @else {
                            (title.as_deref().map_or_else(|| about(session), |title| line(title, 80))) } }
                        td.soft.c-agent { (agent(session)) }
                        td.mono.c-branch { (line(session.branch.as_deref().unwrap_or("none"), 30)) }
                        @if extra.heading().is_some() { td.soft.c-doing { (extra.cell(session)) } }
                        td.num.soft { (since(last.or(session.completed_at).unwrap_or(session.created_at), view.now)) }
                        td.num { (cost)
                            @if !forgotten && engine::can_continue(session) {
                                a hidden data-go="continue" href=(format!("{}/continue", address(session))) { "Continue" } } }
                    }
                } }
            }
        }
    }))?;
    Ok(html! { section aria-label=(title) { (content) } })
}

pub(super) async fn sessions(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Asked(filter): Asked<Filter>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let mut cx = RequestContext::everywhere(house)?;
        cx.tidy()?;
        let view = View::new(house, &caller, &cx.ledger)?.with(regions);
        let wanted = statuses(filter.status.as_deref())?;
        let after = filter.cursor.as_deref().and_then(|cursor| cursor.parse().ok());
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let repo = match given(&filter.repo) {
            Some(repo) => Some(RequestContext::of(house, Some(&repo))?.here.place.repo),
            None => None,
        };
        let (agent, text) = (given(&filter.agent), given(&filter.q));
        let listing = Listing {
            repo: repo.as_deref(),
            statuses: &wanted,
            agent: agent.as_deref(),
            text: text.as_deref(),
            after,
            limit: 50,
            leaves: false,
            team: true,
        };
        let Listed { rows, next } = list(&cx.here, &cx.ledger, &listing)?;
        let title = match (rows.len(), next) {
            (0, _) => "No sessions match".to_owned(),
            (1, None) => "1 session".to_owned(),
            (count, None) => format!("{count} sessions"),
            (count, Some(_)) => format!("The newest {count} sessions"),
        };
        let content = html! {
            (view.heading(&title)?)
            form.line method="get" action="/sessions" {
                label { "Text " input name="q" value=(text.as_deref().unwrap_or_default()); }
                label { "Status " select name="status" {
                    @for word in ["", "running", "completed", "failed", "interrupted", "archived"] {
                        option value=(word) selected[filter.status.as_deref().unwrap_or("") == word] {
                            (if word.is_empty() { "any" } else { word }) }
                    }
                } }
                label { "Agent " input name="agent" value=(agent.as_deref().unwrap_or_default()); }
                div { label { "\u{a0}" } button { "Show" } }
            }
            (table(&view, "Sessions", LISTED, &rows, &Extra::Nothing)?)
            @if let Some(next) = next {
                p { a data-go="after" href=(format!("/sessions?cursor={next}&status={}&agent={}&q={}",
                    filter.status.as_deref().unwrap_or_default(), agent.as_deref().unwrap_or_default(),
                    text.as_deref().unwrap_or_default())) { "Older sessions" } }
            }
        };
        let command = "heirloom sessions list --all-repos";
        let sheeted =
            Sheet { title: &title, page: "sessions", nav: "/sessions", command, keys: &KEYS, ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}
