//! What was decided and tried before, and whether it still holds.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use heirloom_api::{Code, Failure};
use heirloom_core::visible::visible;
use heirloom_core::words::in_words;
use maud::html;

use super::region::{Region, Regions};
use super::session::listed;
use super::{Sheet, View, counted, line, page, sheet, since};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::recall::{Looked, found};
use crate::routes::{Asked, look};

const DECISIONS: Region = Region::list("decisions", "note");
const NOTE: Region = Region::new("note", "note session");

pub(super) async fn recall(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Asked(looked): Asked<Looked>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?.with(regions);
        let q = looked.q.trim();
        let wanted = Looked { q: q.to_owned(), all_repos: true, limit: Some(50), ..Looked::default() };
        let found = if q.is_empty() { Vec::new() } else { found(house, wanted)?.list.results };
        let decisions = look::judged(house, None).map(|list| list.decisions).unwrap_or_default();
        let words: Vec<String> = q.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let fits: Vec<_> = decisions
            .into_iter()
            .filter(|one| words.is_empty() || words.iter().any(|word| one.note.text.to_lowercase().contains(word)))
            .collect();
        let title = match (q.is_empty(), found.len()) {
            (true, _) => "What are you looking for?".to_owned(),
            (false, 0) => format!("No results for “{}”", line(q, 60)),
            (false, 1) => format!("1 result for “{}”", line(q, 60)),
            (false, count) => format!("{count} results for “{}”", line(q, 60)),
        };
        let content = html! {
            h1 { (title) }
            form action="/recall" { label for="recall" { "Search sessions and notes of all repositories" }
                input id="recall" type="search" name="q" value=(q) size="50"; " " button { "Search" } }
            div.cols {
                section aria-label="Found" { h2 { "Said" }
                    @for one in &found {
                        @let place = match (&one.id, one.sort.as_str(), &one.session_id) {
                            (Some(id), "note", _) => format!("/notes/{id}"),
                            (_, _, Some(session)) => format!("/sessions/{session}"),
                            _ => "/sessions".to_owned(),
                        };
                        div.note data-row=(place) {
                            p { a.open href=(place) { (line(if one.snippet.is_empty() { &one.text } else { &one.snippet }, 200)) } }
                            p.meta { (in_words(&one.kind)) @if let Some(session) = &one.session { " · " (line(session, 60)) } }
                        }
                    }
                    @if found.is_empty() && !q.is_empty() { p { "Try other words." } } }
                div.side { section aria-label="Decisions" { (view.regions.put(DECISIONS, || Ok(html! {
                    h2 { "True today" small { (counted(fits.len(), "decision")) } } (listed(&fits, 12)) }))?)
                    p { a href="/decisions" { "All decisions" } } } }
            }
        };
        let command = format!("heirloom search {:?} --all-repos", line(q, 60));
        let sheeted = Sheet { title: &title, page: "recall", nav: "/recall", command: &command, ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

pub(super) async fn decisions(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?.with(regions);
        let all = look::judged(house, None)?.decisions;
        let broken = all.iter().filter(|one| one.standing == "broken").count();
        let title = match broken {
            0 => "No decision is broken".to_owned(),
            1 => "1 decision is broken".to_owned(),
            more => format!("{more} decisions are broken"),
        };
        let content = html! {
            (view.heading(&title)?)
            (view.regions.put(DECISIONS, || Ok(listed(&all, usize::MAX)))?)
        };
        let sheeted = Sheet {
            title: &title,
            page: "decisions",
            nav: "/recall",
            command: "heirloom ground --all",
            ..Sheet::default()
        };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

/// One note: the quote then, the code now.
pub(super) async fn note(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let cx = RequestContext::everywhere(house)?;
        let view = View::new(house, &caller, &cx.ledger)?.with(regions);
        let found = cx.ledger.note(&id)?.into_iter().next();
        let missing = || Failure::new(Code::NoteNotFound, format!("there is no note {}", line(&id, 60)));
        let note = found.ok_or_else(missing)?;
        let (cx, session) = RequestContext::session(house, &note.session.to_string())?;
        let title = line(&note.text, 100);
        let content = html! {
            p.meta { a data-go="up" href="/decisions" { "Decisions" } " / " (in_words(note.kind.as_str())) }
            (view.heading(&title)?)
            (view.regions.put(NOTE, || Ok(html! { p.line { span { (in_words(note.kind.as_str())) } a href=(super::home::address(&session)) { (session.name) }
                @if let Some(author) = &note.author { span { "by " (author) } } (since(note.at, view.now))
                a href=(format!("/records/{}", note.id)) { "record" } }
            p { (visible(&note.text)) }
            @if let Some(why) = &note.rationale { blockquote { (visible(why)) } }
            @if let Some(newer) = note.superseded_by { p { "Replaced by " a href=(format!("/notes/{newer}")) { (newer.short()) } "." } }
            @for evidence in &note.evidence {
                h2 { span.mono { (evidence.to_string()) } }
                @if let Some(quote) = &evidence.quote { p.meta { "The quote then" } pre tabindex="0" { (visible(quote)) } }
                p.meta { "The code now" } pre tabindex="0" { (now_at(&cx, evidence)) }
            } }))?)
        };
        let sheeted = Sheet { title: &title, page: "note", nav: "/recall", command: "heirloom ground", ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

/// The lines around a place, as they are now.
fn now_at(cx: &RequestContext, evidence: &heirloom_core::evidence::Evidence) -> String {
    let path = std::path::Path::new(&evidence.path);
    match heirloom_repo::read_within(&cx.here.place.root, path) {
        Ok(Some(text)) => {
            let first = (evidence.line as usize).saturating_sub(4);
            let lines = text.lines().enumerate().skip(first).take(10);
            let lines = lines.map(|(at, text)| format!("{:>5}  {}", at + 1, visible(text)));
            lines.collect::<Vec<_>>().join("\n")
        }
        Ok(None) => "the file is gone".to_owned(),
        Err(error) => error.to_string(),
    }
}
