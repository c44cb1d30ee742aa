//! One session: what it does now, what it changed, where it comes from, what of it still holds.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_api::{Code, Failure, JudgedNote, Said};
use heirloom_core::approval::subject;
use heirloom_core::cost::Cost;
use heirloom_core::session::Session;
use heirloom_core::visible::visible;
use heirloom_core::words::in_words;
use heirloom_engine::notes::Query;
use heirloom_engine::session as engine;
use heirloom_engine::sessions::{Family, family};
use heirloom_ledger::ApprovalFilter;
use maud::{Markup, html};
use serde_json::Value;

use super::home::address;
use super::region::{Region, Regions};
use super::{Sheet, View, about, agent, counted, glyph, line, page, said, sheet, since, tokens};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::look::{Whose, asked_for, judged_of};
use crate::routes::session::hide;

/// How many events are shown at first.
const LAST: usize = 200;
const STATE: Region = Region::new("state", "session live");
const SAID: Region = Region::new("said", "output session approval");
const ASKS: Region = Region::new("asks", "approval");
const COST: Region = Region::new("cost", "session keep iteration");
const NOTES: Region = Region::new("notes", "note");
const REQUIRED: Region = Region::new("required", "requirement requirements");
const CONFIG: Region = Region::new("config", "session");
const LINEAGE: Region = Region::wide("lineage", "session");
const ACTS: Region = Region::new("acts", "session");
const PROMPT: Region = Region::new("prompted", "session");
const PART: Region = Region::new("part", "session note keep iteration");
const KEYS: [(&str, &str); 7] = [
    ("j", "next event"),
    ("J", "next prompt"),
    ("o", "unfold"),
    ("O", "unfold all"),
    ("G", "follow"),
    ("1–5", "panel"),
    ("i", "write"),
];

pub(super) async fn session(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    regions: Regions,
) -> Response {
    let made =
        house.call(move |house| rendered(house, &caller, &id, Shown { all: false, regions }));
    page(made.await)
}

/// How much of a session is shown.
struct Shown {
    /// All events, not only the last.
    all: bool,
    regions: Regions,
}

fn rendered(house: &House, caller: &Caller, id: &str, shown: Shown) -> Result<Markup, Failure> {
    let Shown { all, regions } = shown;
    let (cx, session) = RequestContext::session(house, id)?;
    let view = View::new(house, caller, &cx.ledger)?.with(regions);
    let wants = |ids: &[&str]| view.regions.want(ids);
    let (events, left) = if wants(&["said"]) { last(&cx, &session, all)? } else { (Vec::new(), 0) };
    let family = wants(&["state", "lineage"]).then(|| family(&cx.ledger, session.clone()));
    let family = family.transpose()?;
    let query = Query { session: Some(session.id.to_string()), ..Query::default() };
    let judged = || judged_of(&cx, &query).map(|list| list.decisions).unwrap_or_default();
    let notes = if wants(&["notes"]) { judged() } else { Vec::new() };
    let filter = ApprovalFilter { repo: None, session: Some(session.id), pending: true };
    let title = about(&session);
    let here = address(&session);
    let content = html! {
        p.meta { a data-go="up" href="/sessions" { "Sessions" } " / " span.mono { (session.name) } }
        div.head {
            div {
                (view.heading(&title)?)
                (view.regions.put(STATE, || Ok(html! { p.line data-running[session.status.is_active()] {
                    (glyph::status(session.status))
                    span { (agent(&session)) @if let Ok(config) = &session.config { @if let Some(model) = &config.model { ", " (line(model, 40)) } } }
                    @if let Some(branch) = &session.branch { span.mono { (line(branch, 40)) } }
                    @if let Some(parent) = family.as_ref().and_then(|family| family.ancestors.first()) {
                        span { (session.link.map_or("from", heirloom_core::session::Link::as_str)) " "
                            a data-go="parent" href=(address(parent)) { (parent.name) } } }
                    span { "since " (since(session.created_at, view.now)) }
                    @if let Some(reason) = &session.reason { span.alarm { (line(reason, 160)) } }
                } }))?)
            }
            (view.regions.put(ACTS, || Ok(html! { div.acts {
                @if engine::can_continue(&session) {
                    a.btn data-go="continue" href=(format!("{here}/continue")) aria-keyshortcuts="c" { "Continue" kbd { "c" } }
                    a.btn data-go="fork" href=(format!("{here}/continue?fork=true")) aria-keyshortcuts="f" { "Fork" kbd { "f" } }
                }
                @if session.status.is_active() {
                    form method="post" action=(format!("{here}/interrupt")) { (view.token())
                        button data-go="interrupt" aria-keyshortcuts="x" { "Interrupt" kbd { "x" } } }
                }
            } }))?)
        }
        div.cols {
            section aria-label="Conversation" {
                h2.legend { "Conversation" }
                (view.regions.put(SAID, || Ok(html! {
                    @if left > 0 { p { a href=(format!("{here}/all")) { "Show " (left) " earlier events" } } }
                    (said::conversation(&session, &events))
                }))?)
                (view.regions.put(ASKS, || Ok(html! { @for approval in cx.ledger.approvals(filter)? {
                    div.err { p { (glyph::ask("waiting")) " " b { (approval.tool) } " " span.mono { (line(&subject(&approval.input), 200)) } }
                        a.btn.primary href=(format!("/approvals/{}", approval.id)) { "Review" } }
                } }))?)
                button type="button" id="below" hidden { span {} kbd { "G" } }
                (view.regions.put(PROMPT, || Ok(html! { @if !session.status.is_active() && engine::can_continue(&session) {
                    form method="post" action=(format!("{here}/continue")) data-send { (view.token())
                        label for="prompt" { "Continue " (session.name) }
                        textarea id="prompt" name="prompt" required placeholder="What should it do next?" {}
                        p { button.primary { "Continue" kbd { "⌘⏎" } } }
                    }
                } }))?)
            }
            div.side {
                section aria-labelledby="part1" { h2 id="part1" tabindex="-1" { "Context and cost" }
                    (view.regions.put(COST, || { let total = engine::totals(&cx.ledger, &session)?; Ok(html! { dl {
                        dt { "Context" } dd { (context(&cx, &session)) } dd.from {}
                        dt { "This session" } dd { a.plain href=(format!("{here}/cost")) { (session.cost) } } dd.from {}
                        dt { "With its lineage" } dd { (total.cost) } dd.from { (counted(usize::try_from(total.sessions).unwrap_or(usize::MAX), "session")) }
                        dt { "Tokens in, out" } dd { (tokens(total.tokens)) } dd.from {}
                    } }) })?) }
                section aria-labelledby="part2" { h2 id="part2" tabindex="-1" { "Lineage" }
                    (view.regions.put(LINEAGE, || Ok(html! { @if let Some(family) = &family { (tree(family)) } }))?) }
                section aria-labelledby="part3" { (view.regions.put(NOTES, || Ok(html! {
                    h2 id="part3" tabindex="-1" { "Notes" small { (notes.len()) } }
                    (listed(&notes, 6))
                    @if notes.len() > 6 { a href=(format!("{here}/notes")) { "All " (notes.len()) } }
                }))?) }
                section aria-labelledby="part4" { h2 id="part4" tabindex="-1" { "Config" }
                    (view.regions.put(CONFIG, || { let config = engine::config_of(&cx.ledger, &session).unwrap_or_default(); Ok(html! { dl { @for row in config.iter().filter(|row| row.overridden || !row.value.is_null()).take(8) {
                        dt { (in_words(row.field.as_str())) } dd { (plain(&row.value)) } dd.from { (origin(&row.value, row.overridden, &row.from)) }
                    } }
                    p { a href=(format!("{here}/config")) { "All " (config.len()) " fields" } } }) })?) }
                section aria-labelledby="part5" { h2 id="part5" tabindex="-1" { "Requirements" }
                    (view.regions.put(REQUIRED, || Ok(requirements(house, &session)))?) }
            }
        }
    };
    let (command, name) = (format!("heirloom status {}", session.name), session.id.to_string());
    let sheeted = Sheet {
        title: &title,
        page: "session",
        nav: "/sessions",
        session: &name,
        command: &command,
        keys: &KEYS,
    };
    Ok(sheet(&view, &sheeted, &content))
}

/// The last events of a session, or all of them, and how many came before.
fn last(cx: &RequestContext, session: &Session, all: bool) -> Result<(Vec<Said>, usize), Failure> {
    let held = engine::conversation(&cx.here, &cx.ledger, session)?;
    let mut events: Vec<Said> = held.items.into_iter().map(Said::from).collect();
    let left = if all { 0 } else { events.len().saturating_sub(LAST) };
    events.drain(..left);
    events.iter_mut().for_each(hide);
    Ok((events, left))
}

/// How full the agent's context is, as far as it says.
fn context(cx: &RequestContext, session: &Session) -> Markup {
    let Some(used) = heirloom_engine::keep::context::usage(&cx.here, session) else {
        return html! { span.dim { "unknown" } };
    };
    let thousands = |tokens: u64| format!("{}k", tokens.div_ceil(1000));
    let (Some(share), Some(window)) = (used.share(), used.window) else {
        return html! { (thousands(used.tokens)) " tokens of an unknown window" };
    };
    let percent = (share * 100.0).round().clamp(0.0, 100.0);
    html! { meter min="0" max="100" value=(percent) aria-label="Context used" {}
    " " (percent) " %, " (thousands(used.tokens)) " of " (thousands(window)) " tokens" }
}

/// How full the agent's context is, short enough for a list.
pub(super) fn percent_used(cx: &RequestContext, session: &Session) -> Markup {
    let used = heirloom_engine::keep::context::usage(&cx.here, session);
    let Some(share) = used.and_then(|used| used.share()) else {
        return html! { span.dim { "unknown" } };
    };
    let percent = (share * 100.0).round().clamp(0.0, 100.0);
    html! { meter min="0" max="100" value=(percent) aria-label="Context used" {} " " (percent) " %" }
}

fn tree(family: &Family) -> Markup {
    let mut inner = html! { li { span aria-current="true" { (glyph::status(family.session.status)) " " (family.session.name) }
    @if !family.descendants.is_empty() { ul { @for (_, child) in &family.descendants {
        li { (glyph::status(child.status)) " " a href=(address(child)) { (child.name) } } } } } } };
    for ancestor in &family.ancestors {
        inner = html! { li { (glyph::status(ancestor.status)) " " a href=(address(ancestor)) { (ancestor.name) } ul { (inner) } } };
    }
    html! { ul.tree { (inner) } }
}

/// Notes with whether they still hold, broken ones first.
pub(super) fn listed(notes: &[JudgedNote], most: usize) -> Markup {
    let rank = |one: &JudgedNote| {
        ["broken", "moved", "holds", "unproven", "replaced"]
            .iter()
            .position(|word| *word == one.standing)
    };
    let mut sorted: Vec<&JudgedNote> = notes.iter().collect();
    sorted.sort_by_key(|one| rank(one));
    html! { @for one in sorted.into_iter().take(most) { div.note data-row=(one.note.id) {
        p { (glyph::standing(one.standing)) " " span.dim { (in_words(&one.note.kind)) } }
        p { a.plain.open href=(format!("/notes/{}", one.note.id)) { (line(&one.note.text, 160)) } }
        @if let Some(checked) = &one.checked { @if let Some(path) = &checked.path {
            p.meta.mono { (line(path, 60)) @if let Some(line) = checked.line { ":" (line) }
                @if let Some(found) = checked.found_line { " → " (checked.found_path.as_deref().unwrap_or("")) ":" (found) } } } }
        p.meta { (one.note.session) @if let Some(author) = &one.note.author { " by " (author) } }
    } } @if notes.is_empty() { p.dim { "none" } } }
}

fn requirements(house: &House, session: &Session) -> Markup {
    let whose = Whose { session: Some(session.id.to_string()), ..Whose::default() };
    match asked_for(house, &whose) {
        Ok(status) => {
            html! { @for one in &status.requirements { p { (glyph::met(one.satisfied, &one.name)) " " span.meta { (in_words(&one.scope)) } } }
            @if status.requirements.is_empty() { p.dim { "none" } } }
        }
        Err(failure) => html! { p.dim { (line(&failure.message, 120)) } },
    }
}

/// A value for people.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => line(text, 120),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            map.keys().map(|key| visible(key).into_owned()).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

pub(super) fn origin(value: &Value, overridden: bool, from: &str) -> Markup {
    match (overridden, value.is_null()) {
        (true, true) => html! { b.acc { "cleared here" } },
        (true, false) => html! { b.acc { "set here" } },
        (false, true) => html! { "not set" },
        (false, false) => html! { (from) },
    }
}

/// The whole of one section.
pub(super) async fn part(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path((id, part)): Path<(String, String)>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        if part == "all" {
            return rendered(house, &caller, &id, Shown { all: true, regions });
        }
        let (cx, session) = RequestContext::session(house, &id)?;
        let view = View::new(house, &caller, &cx.ledger)?.with(regions);
        let (title, command, content) = match part.as_str() {
            "config" => {
                let rows = engine::config_of(&cx.ledger, &session)?;
                let content = html! { table { thead { tr { th scope="col" { "Field" } th scope="col" { "Value" } th scope="col" { "From" } } }
                    tbody { @for row in &rows { tr { th scope="row" { (in_words(row.field.as_str())) } td { (plain(&row.value)) }
                        td { (origin(&row.value, row.overridden, &row.from)) } } } } } };
                (format!("How {} was launched", session.name), format!("heirloom sessions show {} --config", session.name), content)
            }
            "lineage" => {
                let content = tree(&family(&cx.ledger, session.clone())?);
                (format!("Where {} comes from", session.name), format!("heirloom lineage {}", session.name), content)
            }
            "notes" => {
                let query = Query { session: Some(session.id.to_string()), superseded: true, ..Query::default() };
                let notes = judged_of(&cx, &query)?.decisions;
                (format!("What {} noted", session.name), format!("heirloom notes --session {}", session.name), listed(&notes, usize::MAX))
            }
            "cost" => {
                let iterations = cx.ledger.iterations(session.id)?;
                let content = html! { p { "This session " b { (session.cost) } @if session.input_tokens > 0 || session.output_tokens > 0 { ", " (session.input_tokens) " tokens in, " (session.output_tokens) " out" } "." }
                    table { thead { tr { th scope="col" { "Iteration" } th scope="col" class="num" { "Cost" } } }
                        tbody { @for one in &iterations { tr { td { (one.iteration) } td.num { (Cost::from(one.cost_usd)) } } } } } };
                (format!("What {} cost", session.name), format!("heirloom sessions show {}", session.name), content)
            }
            _ => return Err(Failure::new(Code::RequestNotFound, "there is nothing at this address")),
        };
        let content = html! { p.meta { a data-go="up" href=(address(&session)) { (session.name) } } h1 { (title) } (view.regions.put(PART, || Ok(content))?) };
        let sheeted = Sheet { title: &title, page: "part", nav: "/sessions", command: &command, ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}
