//! Requirements, settings, trust, records and keys. Read only, with the command to type.

use axum::Extension;
use axum::extract::{Path, State as AxumState};
use axum::response::Response;
use heirloom_core::redact::redact;
use heirloom_core::trust::State;
use heirloom_core::visible::visible;
use heirloom_core::words::in_words;
use heirloom_engine::trust as engine_trust;
use maud::{Markup, html};

use super::region::{Region, Regions};
use super::session::plain;
use super::{Sheet, View, counted, glyph, line, page, sheet};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::Asked;
use crate::routes::look::{self, Whose};

const REQUIREMENTS: Region =
    Region::new("requirements", "requirement requirements session settings trust");
const SETTINGS: Region = Region::new("settings", "settings trust");
const TRUST: Region = Region::new("trust", "settings trust repo");

pub(super) async fn requirements(
    AxumState(house): AxumState<House>,
    Extension(caller): Extension<Caller>,
    Asked(whose): Asked<Whose>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?.with(regions);
        let status = look::asked_for(house, &whose)?;
        let unmet = status.requirements.iter().filter(|one| !one.satisfied).count();
        let title = match unmet {
            0 => format!("Nothing blocks on {}", status.branch),
            1 => format!("1 requirement is not met on {}", status.branch),
            more => format!("{more} requirements are not met on {}", status.branch),
        };
        let content = html! {
            (view.heading(&title)?)
            @if !status.enabled { p { "Requirements are switched off in the settings." } }
            (view.regions.put(REQUIREMENTS, || Ok(html! { table { thead { tr { th scope="col" { "Requirement" } th scope="col" { "Scope" } th scope="col" { "Satisfied by" } } }
                tbody { @for one in &status.requirements { tr.row { td { (glyph::met(one.satisfied, &one.name)) } td { (in_words(&one.scope)) }
                    td.soft { (one.satisfied_by.as_deref().unwrap_or("nothing yet")) } } } } }
                @if status.requirements.is_empty() { p.dim { "None; add them to " code { ".heirloom/config.yaml" } "." } } }))?)
        };
        let sheeted = Sheet { title: &title, page: "requirements", nav: "/", command: "heirloom req status", ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

pub(super) async fn settings(
    AxumState(house): AxumState<House>,
    Extension(caller): Extension<Caller>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let cx = RequestContext::everywhere(house)?;
        let view = View::new(house, &caller, &cx.ledger)?.with(regions);
        let switches = [
            ("notify-approvals", "on", "Notify me on the desktop when an approval is waiting"),
            ("notify-failed", "on", "Notify me on the desktop when a session has failed"),
            ("keys", "off", "No single-letter keys"),
            ("theme", "dark", "Always dark"),
            ("theme", "light", "Always light"),
        ];
        let content = html! {
            h1 { "Settings" }
            section aria-label="This browser" { h2 { "This browser" }
                @for (name, value, words) in switches { p { label.plain { input type="checkbox" data-setting=(name) value=(value); " " (words) } } } }
            section aria-label="heirloom" { h2 { "heirloom" }
                (view.regions.put(SETTINGS, || Ok(in_effect(&cx)))?)
                p { a href="/trust" { "What this repository would run" } " · " a href="/requirements" { "Requirements" } " · " a href="/keys" { "Keys" } } }
            form method="post" action="/signout" { (view.token()) button { "Sign out" } }
        };
        let sheeted = Sheet { title: "Settings", page: "settings", nav: "/", command: "heirloom config show --sources", ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

/// The settings in effect and where they come from; or why there are none.
fn in_effect(cx: &RequestContext) -> Markup {
    let loaded = match cx.here.settings(&[]) {
        Ok(loaded) => loaded,
        Err(unusable) => {
            return html! { pre.alarm tabindex="0" { (visible(&unusable.to_string())) } };
        }
    };
    html! { table {
        thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th scope="col" { "From" } } }
        tbody { @for row in &loaded.rows { tr {
            th scope="row" { code { (line(&row.path, 80)) } }
            td { (line(&redact(&plain(&row.value)).text, 120)) }
            td.soft { (line(&row.source.describe(), 120)) }
        } } }
    } }
}

pub(super) async fn trust(
    AxumState(house): AxumState<House>,
    Extension(caller): Extension<Caller>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let cx = RequestContext::everywhere(house)?;
        let view = View::new(house, &caller, &cx.ledger)?.with(regions);
        let standing = engine_trust::standing(&cx.here, &cx.ledger)?;
        let answer = heirloom_api::Trust::new(&cx.here.place.repo, &standing);
        let commands = counted(answer.commands.len(), "command");
        let repo = &view.repo;
        let title = match standing.state {
            _ if standing.survey.covered.is_empty() => format!("Nothing in {repo} needs your trust"),
            State::Trusted => format!("{repo} is trusted, and may run {commands}"),
            State::Untrusted => format!("{repo} is not trusted: it would run {commands}"),
            State::Changed => {
                format!("{repo} has changed since you trusted it: it would run {commands}")
            }
        };
        let (why, how) = match standing.state {
            State::Trusted => ("To take that back, type ", "heirloom trust --revoke"),
            _ => ("None of this is in effect. To review and allow it, type ", "heirloom trust"),
        };
        let content = html! {
            (view.heading(&title)?)
            @if !standing.survey.covered.is_empty() { p { (why) code { (how) } " in a terminal." } }
            (view.regions.put(TRUST, || Ok(html! { table { thead { tr { th scope="col" { "Setting" } th scope="col" { "What it says" } } }
                tbody { @for one in answer.commands.iter().chain(&answer.others) { tr { td { (line(&one.key, 80)) }
                    td { code { (visible(&one.command)) } } } } } } }))?)
        };
        let sheeted = Sheet { title: &title, page: "trust", nav: "/", command: "heirloom trust --show", ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

pub(super) async fn record(
    AxumState(house): AxumState<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?;
        let entry = look::entry(house, &id)?;
        let title = format!("Record {}", entry.kind);
        let body = serde_json::to_string_pretty(&entry.body).unwrap_or_default();
        let content = html! { h1 { (title) } p.meta { (entry.at) " · " code { (entry.id) } } pre tabindex="0" { (visible(&body)) } };
        let sheeted = Sheet { title: &title, page: "record", nav: "/", command: "heirloom ledger export", ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

const KEYS: [(&str, &[(&str, &str)]); 5] = [
    (
        "Everywhere",
        &[
            ("/", "search"),
            ("a", "longest waiting approval"),
            ("g h, g s, g r, g b", "Home, Sessions, Recall, Backlog"),
            ("n", "new session"),
            ("r", "reconnect"),
            (".", "take in new rows"),
            ("y", "copy link"),
            ("Esc", "back, or leave a field"),
            ("?", "keys"),
        ],
    ),
    (
        "Lists",
        &[
            ("j k", "next, previous"),
            ("Enter", "open"),
            ("c", "continue"),
            ("[ ]", "previous, next page"),
        ],
    ),
    (
        "Session",
        &[
            ("j k", "event"),
            ("J K", "your prompts"),
            ("o", "fold"),
            ("O", "fold all"),
            ("G", "follow"),
            ("1–5", "panel"),
            ("i", "write"),
            ("c", "continue"),
            ("f", "fork here"),
            ("x", "interrupt"),
            ("p", "parent"),
        ],
    ),
    (
        "Approval",
        &[
            ("a", "approve as asked"),
            ("e", "edit; again: approve edited"),
            ("s", "for the session"),
            ("d", "deny"),
            ("n", "next"),
            ("v", "the session"),
        ],
    ),
    (
        "Continue",
        &[
            ("j k", "field"),
            ("i", "inherit"),
            ("o", "override"),
            ("x", "clear"),
            ("p", "prompt"),
            ("⌘⏎ Ctrl⏎", "continue"),
        ],
    ),
];

fn table() -> Markup {
    html! { table { thead { tr { th scope="col" { "Where" } th scope="col" { "Key" } th scope="col" { "What" } } } tbody {
        @for (place, keys) in KEYS { @for (key, what) in keys { tr { td.dim { (place) } td { kbd { (key) } } td { (what) } } } }
    } } }
}

/// The dialog that `?` opens.
pub(super) fn keys() -> Markup {
    html! { dialog id="keys" aria-label="Keys" { form method="dialog" { p.line { b { "Keys" } input aria-label="Find a key" placeholder="Find"; button { "Close" } } } (table()) } }
}

pub(super) async fn all_keys(
    AxumState(house): AxumState<House>,
    Extension(caller): Extension<Caller>,
) -> Response {
    let made = house.call(move |house| {
        let view = View::new(house, &caller, &house.ledger()?)?;
        let content = html! { h1 { "Keys" } (table()) };
        let sheeted = Sheet {
            title: "Keys",
            page: "keys-page",
            nav: "/",
            command: "heirloom --help",
            ..Sheet::default()
        };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}
