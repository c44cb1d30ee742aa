//! The page: what a person sees in a browser. Rendered here, whole, so that it works without script;
//! script adds keys and live values.
//!
//! What agents wrote is data: it is shown as text, with whatever could deceive the reader written out.

mod approval;
mod backlog;
mod difference;
mod glyph;
mod go_on;
mod home;
mod question;
mod recall;
mod region;
mod rest;
mod said;
mod session;
mod usage;

use std::collections::HashMap;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use heirloom_api::Failure;
use heirloom_core::approval::Approval;
use heirloom_core::session::Session;
use heirloom_core::status::Status;
use heirloom_core::usage::Tokens;
use heirloom_core::visible::visible;
use heirloom_engine::usage as engine_usage;
use heirloom_ledger::{ApprovalFilter, IssueRun, Ledger, SessionFilter};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, html};

use region::{Region, Regions};

use crate::answer::{self, Refused};
use crate::gate::Caller;
use crate::house::House;
use crate::keys;

/// What a page is made with.
pub(crate) struct View {
    now: Timestamp,
    /// What forms carry.
    form: String,
    needs: Needs,
    /// What the repository is called in which the daemon was started.
    repo: String,
    /// What the ledger knows that repository by, and what people call the others.
    own: String,
    names: HashMap<String, String>,
    regions: Regions,
}

/// What waits for a person, besides what only checking the code can tell.
#[derive(Default)]
struct Needs {
    approvals: Vec<Approval>,
    /// Sessions that wait for a person, though nothing is to be approved.
    waiting: Vec<Session>,
    failed: Vec<Session>,
    /// Issues that the newest run could not finish, with the repository of each.
    blocked: Vec<(String, IssueRun)>,
}

impl Needs {
    fn read(house: &House, ledger: &Ledger) -> Result<Self, Failure> {
        let filter = ApprovalFilter { repo: None, session: None, pending: true };
        let mut failed = ledger
            .sessions(&SessionFilter {
                statuses: &[Status::Failed],
                limit: 20,
                ..SessionFilter::default()
            })?
            .sessions;
        // What was gone on with is no longer the last word.
        let mut open = Vec::new();
        for session in failed.drain(..) {
            if ledger.children(session.id)?.is_empty() {
                open.push(session);
            }
        }
        let approvals = ledger.approvals(filter)?;
        let statuses = &[Status::WaitingInput];
        let filter = SessionFilter { statuses, limit: 20, ..SessionFilter::default() };
        let mut waiting = ledger.sessions(&filter)?.sessions;
        waiting.retain(|session| approvals.iter().all(|one| one.session != session.id));
        let blocked = crate::house::blocked(house, ledger)?;
        // What failed for an issue is listed as the issue.
        open.retain(|session| blocked.iter().all(|(_, one)| one.session != Some(session.id)));
        Ok(Self { approvals, waiting, failed: open, blocked })
    }

    fn count(&self) -> usize {
        self.approvals.len() + self.waiting.len() + self.failed.len() + self.blocked.len()
    }
}

impl View {
    fn new(house: &House, caller: &Caller, ledger: &Ledger) -> Result<Self, Failure> {
        let here = house.here()?;
        let form = match caller {
            Caller::Person(cookie) => keys::form_token(cookie),
            Caller::Program => String::new(),
        };
        let (now, repo) = (here.clock.now(), here.place.label().to_owned());
        let own = ledger.repository(&here.place.repo)?;
        let (names, needs) = (engine_usage::names(ledger)?, Needs::read(house, ledger)?);
        Ok(Self { now, form, needs, repo, own, names, regions: Regions::default() })
    }

    /// For a page that may lie open and ask for some of its regions.
    fn with(self, regions: Regions) -> Self {
        Self { regions, ..self }
    }

    /// The answer to the page's question, which changes with what is below it.
    fn heading(&self, title: &str) -> Result<Markup, Failure> {
        self.regions.put(HEADING, || Ok(html! { h1 { (title) } }))
    }

    /// Which repository a session is of, where it is not the one that the page is named after.
    fn elsewhere(&self, session: &Session) -> Markup {
        self.other(session.repo.as_str())
    }

    /// The same of a repository.
    fn other(&self, repo: &str) -> Markup {
        html! { @if repo != self.own {
            " " span.dim { "in " (line(self.names.get(repo).map_or(repo, String::as_str), 40)) }
        } }
    }

    /// The hidden field by which a form is known to be ours.
    fn token(&self) -> Markup {
        html! { input type="hidden" name="form" value=(self.form); }
    }
}

/// What is particular to a page.
#[derive(Default)]
struct Sheet<'a> {
    /// The answer to the page's question, for the tab.
    title: &'a str,
    /// Which page it is, for keys.
    page: &'a str,
    /// Which part of the navigation it belongs to.
    nav: &'a str,
    /// The session it is about.
    session: &'a str,
    /// The command that does what the page does.
    command: &'a str,
    keys: &'a [(&'a str, &'a str)],
}

const HEADING: Region = Region::new("heading", "");
const NEEDED: Region = Region::wide("needs", "approval session");

const PLACES: [(&str, &str); 4] =
    [("/", "Home"), ("/sessions", "Sessions"), ("/recall", "Recall"), ("/issues", "Backlog")];

fn sheet(view: &View, sheet: &Sheet<'_>, content: &Markup) -> Markup {
    let count = view.needs.count();
    let number = if count == 0 { String::new() } else { format!("({count}) ") };
    let title = match sheet.title {
        "" => String::new(),
        title => format!("{number}{title} · {}", view.repo),
    };
    let needed = view.regions.put(NEEDED, || {
        Ok(html! { @if count == 0 {
            span.needs.none { "Nothing needs you" }
        } @else {
            a.needs href="/approvals" aria-keyshortcuts="a" {
                "◆ " (count) @if count == 1 { " needs you" } @else { " need you" }
            }
        } })
    });
    // Nothing in it can fail.
    let needed = needed.unwrap_or_default();
    if let Some(regions) = view.regions.alone(&title, &view.needs) {
        return regions;
    }
    let places = |class: &str| {
        html! { nav class=(class) aria-label=(if class == "tabs" { "Places, at the foot" } else { "Places" }) {
            @for (href, name) in PLACES {
                a href=(href) aria-current=[(sheet.nav == href).then_some("page")] { (name) }
            }
        } }
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="stylesheet" href="/assets/style.css";
                link rel="icon" href="data:,";
                script src="/assets/script.js" defer {}
            }
            body data-page=(sheet.page) data-session=(sheet.session) data-live data-needs=(count)
                data-approvals=(view.needs.approvals.len()) data-failed=(view.needs.failed.len())
                data-version=(env!("CARGO_PKG_VERSION")) {
                a.skip href="#main" { "Skip to the content" }
                header.bar {
                    a.name href="/" { (glyph::mark()) span.word { "heirloom" } " " span.dim { (view.repo) } }
                    (places(""))
                    form action="/recall" role="search" {
                        input type="search" name="q" id="q" aria-label="Search sessions and notes"
                            placeholder="Search" aria-keyshortcuts="/";
                    }
                    (needed)
                    span.live { "● " span { "page" } }
                }
                div.cut id="cut" role="status" hidden { span {} " " a href="" { "Reload" } }
                main id="main" tabindex="-1" {
                    button.new type="button" id="new" hidden { span {} kbd { "." } }
                    (content)
                }
                div id="voice" class="legend" aria-live="polite" {}
                footer.foot aria-label="Keys and the command" {
                    @for (key, what) in sheet.keys { span { kbd { (key) } (what) } }
                    span { kbd { "?" } "all keys" }
                    code { (sheet.command) }
                }
                (places("tabs"))
                (rest::keys())
            }
        }
    }
}

/// A page, or why there is none, in the words of the command.
fn page(made: Result<Markup, Refused>) -> Response {
    match made {
        Ok(markup) => Html(markup.into_string()).into_response(),
        Err(Refused(failure)) => refusal(&failure),
    }
}

/// Why there is no page, in the words of the command.
pub(crate) fn refusal(failure: &Failure) -> Response {
    let body = html! { (DOCTYPE) html lang="en" {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            title { (failure.message) " · heirloom" }
            link rel="stylesheet" href="/assets/style.css";
        }
        body { main { h1 { (visible(&failure.message)) }
            @for hint in &failure.hints { p { (visible(hint)) } }
            p.dim { "Code " code { (failure.code) } ". " a href="/" { "Home" } }
        } }
    } };
    (answer::status(failure), Html(body.into_string())).into_response()
}

/// What went wrong with a form, where it was filled in.
fn mishap(failure: Option<&Failure>) -> Markup {
    html! { @if let Some(failure) = failure {
        div.err role="alert" {
            p { b { (visible(&failure.message)) } }
            @for hint in &failure.hints { p { (visible(hint)) } }
            p.dim { code { (failure.code) } }
        }
    } }
}

/// How long ago something was, counted on by script.
fn since(at: Timestamp, now: Timestamp) -> Markup {
    let seconds = (now.as_second() - at.as_second()).max(0);
    let words = match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    };
    html! { time datetime=(at) data-since title=(at) { (words) } }
}

/// Tokens in and out, as far as anybody counted.
fn tokens(used: Option<Tokens>) -> String {
    used.map_or_else(|| "unknown".to_owned(), |used| format!("{}, {}", used.input, used.output))
}

/// A number with what is counted.
fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// A line of text that came from elsewhere.
fn line(text: &str, most: usize) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let shown = visible(first);
    if shown.chars().count() <= most {
        return shown.into_owned();
    }
    let cut: String = shown.chars().take(most).collect();
    format!("{cut}…")
}

/// What a session is about, in a line.
fn about(session: &Session) -> String {
    let title = session.config.as_ref().ok().and_then(|config| config.title.as_deref());
    line(title.or(session.prompt.as_deref()).unwrap_or("no prompt"), 80)
}

/// The agent's name for people.
fn agent(session: &Session) -> &str {
    match session.agent.as_deref() {
        Some("claude") => "Claude Code",
        Some("codex") => "Codex",
        Some("gemini") => "Gemini CLI",
        Some(other) => other,
        None => "by hand",
    }
}

/// Everything below `/` that is no API.
pub(crate) fn routes() -> Router<House> {
    Router::new()
        .route("/", get(home::home))
        .route("/sessions", get(home::sessions))
        .route("/sessions/{id}", get(session::session))
        .route("/sessions/{id}/{part}", get(session::part))
        .route("/sessions/{id}/continue", get(go_on::form).post(go_on::submit))
        .route("/sessions/{id}/difference", get(difference::shown))
        .route("/sessions/{id}/interrupt", axum::routing::post(go_on::interrupt))
        .route("/launch", get(go_on::launch).post(go_on::launched))
        .route("/approvals", get(approval::inbox))
        .route("/approvals/next", get(approval::next))
        .route("/approvals/{id}", get(approval::show).post(approval::decide))
        .route("/recall", get(recall::recall))
        .route("/decisions", get(recall::decisions))
        .route("/notes/{id}", get(recall::note))
        .route("/issues", get(backlog::issues).post(backlog::create))
        .route("/issues/{id}", get(backlog::issue))
        .route("/runs/{id}", get(backlog::run))
        .route("/requirements", get(rest::requirements))
        .route("/settings", get(rest::settings))
        .route("/usage", get(usage::shown))
        .route("/trust", get(rest::trust))
        .route("/records/{id}", get(rest::record))
        .route("/keys", get(rest::all_keys))
        .route("/assets/style.css", get(style))
        .route("/assets/script.js", get(script))
}

/// How every page looks.
pub(crate) const STYLE: &str = include_str!("style.css");

async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE)
}

async fn script() -> Response {
    asset("text/javascript; charset=utf-8", include_str!("script.js"))
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    (StatusCode::OK, [(header::CONTENT_TYPE, kind)], text).into_response()
}
