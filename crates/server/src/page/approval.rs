//! The inbox, and one approval: who asks what, exactly, and what a person says to it.

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use heirloom_api::{Code, Failure};
use heirloom_core::approval::{Approval, Rule, State as Standing, subject};
use heirloom_core::visible::visible;
use heirloom_engine::session as engine;
use heirloom_ledger::ApprovalFilter;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::region::{Region, Regions};
use super::{Sheet, View, agent, glyph, line, mishap, page, question, sheet, since};
use crate::gate::{Caller, check_form};
use crate::house::{House, RequestContext};
use crate::routes::approvals::{Decision, Lasts, Word, decided};

const KEYS: [(&str, &str); 6] = [
    ("e", "edit"),
    ("a", "approve"),
    ("s", "for session"),
    ("d", "deny"),
    ("n", "next"),
    ("v", "event in session"),
];

/// What a tool does, after the name of who asks.
pub(super) fn asks(tool: &str) -> &'static str {
    match tool {
        "Bash" | "shell" | "run_shell_command" => "asks to run a command",
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "apply_patch" => "asks to change a file",
        "WebFetch" | "WebSearch" => "asks to use the network",
        "AskUserQuestion" => "asks you a question",
        _ => "asks to use a tool",
    }
}

/// The input as a person may read it: whole, and with nothing hidden in it.
fn whole(input: &Value) -> String {
    let text = serde_json::to_string_pretty(input).unwrap_or_default();
    visible(&text).into_owned()
}

/// What was shown, so that nothing else is decided.
fn seen(approval: &Approval) -> String {
    blake3::hash(approval.input.to_string().as_bytes()).to_hex()[..32].to_owned()
}

const WAITING: Region = Region::list("waiting", "approval session");
const NEXT: Region = Region::new("next", "approval session");
const STATE: Region = Region::new("state", "approval session");
const INPUT: Region = Region::new("asked", "approval session");
const EARLIER: Region = Region::new("earlier", "approval");
const DECIDE: Region = Region::new("decide", "approval session");
const DECIDED: Region = Region::new("decided", "approval session");

pub(super) async fn inbox(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let mut cx = RequestContext::everywhere(house)?;
        cx.tidy()?;
        let view = View::new(house, &caller, &cx.ledger)?.with(regions);
        let waiting = &view.needs.approvals;
        let all = cx.ledger.approvals(ApprovalFilter { repo: None, session: None, pending: false })?;
        let title = match waiting.len() {
            0 => "No approval waits".to_owned(),
            1 => "1 approval waits for you".to_owned(),
            more => format!("{more} approvals wait for you"),
        };
        let content = html! {
            (view.heading(&title)?)
            (view.regions.put(WAITING, || Ok(html! { ul.list aria-label="Waiting" { @for approval in waiting {
                @let session = cx.ledger.session(approval.session)?;
                li.item data-row=(approval.id) {
                    (glyph::ask("approve"))
                    div.what { p { b { (approval.tool) } } pre { (line(&subject(&approval.input), 400)) } }
                    span.mono { (session.map_or_else(String::new, |one| one.name.to_string())) }
                    span.num { (since(approval.requested_at, view.now)) }
                    div.act { a.btn.open href=(format!("/approvals/{}", approval.id)) { "Review" } }
                }
            } } }))?)
            h2 { "Decided" }
            (view.regions.put(DECIDED, || Ok(html! { table {
                thead { tr { th scope="col" { "Outcome" } th scope="col" { "What" } th scope="col" class="num" { "When" } } }
                tbody { @for approval in all.iter().rev().filter(|one| one.state != Standing::Pending).take(20) {
                    tr.row data-row=(approval.id) {
                        td { (approval.state) }
                        td { a.open href=(format!("/approvals/{}", approval.id)) {
                            b { (approval.tool) } " " span.mono { (line(&subject(&approval.input), 90)) } } }
                        td.num { @if let Some(at) = approval.decided_at { (since(at, view.now)) } }
                    }
                } }
            } }))?)
        };
        let command = "heirloom approvals list";
        let sheeted = Sheet { title: &title, page: "approvals", nav: "/", command, keys: &KEYS[..0], ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

/// The one that waits longest.
pub(super) async fn next(State(house): State<House>) -> Response {
    let first = house.call(|house| {
        let filter = ApprovalFilter { repo: None, session: None, pending: true };
        Ok(house.ledger()?.approvals(filter)?.into_iter().next())
    });
    match first.await {
        Ok(Some(approval)) => Redirect::to(&format!("/approvals/{}", approval.id)).into_response(),
        Ok(None) => Redirect::to("/approvals").into_response(),
        Err(refused) => refused.into_response(),
    }
}

pub(super) async fn show(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    regions: Regions,
) -> Response {
    let made = house
        .call(move |house| rendered(house, &caller, &id, Filled { regions, ..Filled::default() }));
    page(made.await)
}

/// What is shown besides the approval.
#[derive(Default)]
struct Filled<'a> {
    typed: Option<&'a Typed>,
    failure: Option<&'a Failure>,
    regions: Regions,
}

fn rendered(
    house: &House,
    caller: &Caller,
    id: &str,
    filled: Filled<'_>,
) -> Result<Markup, Failure> {
    let Filled { typed, failure, regions } = filled;
    let mut cx = RequestContext::everywhere(house)?;
    cx.tidy()?;
    let view = View::new(house, caller, &cx.ledger)?.with(regions);
    let approval = engine::approval(&cx.here, &cx.ledger, id)?;
    let session = cx.ledger.session(approval.session)?;
    let name = session.as_ref().map_or_else(|| "a session".to_owned(), |one| one.name.to_string());
    let title = format!("{name} {}", asks(&approval.tool));
    let is_open = approval.state == Standing::Pending;
    let next = view.needs.approvals.iter().find(|one| one.id != approval.id);
    let asked = whole(&approval.input);
    let earlier =
        cx.ledger.approvals(ApprovalFilter { repo: None, session: None, pending: false })?;
    let rules = rules(&approval, &earlier);
    let earlier: Vec<&Approval> = earlier
        .iter()
        .rev()
        .filter(|one| {
            one.id != approval.id && one.tool == approval.tool && one.state != Standing::Pending
        })
        .take(5)
        .collect();
    let content = html! {
        (view.regions.put(NEXT, || Ok(html! { p.meta { a data-go="up" href="/approvals" { "Approvals" }
            @if let Some(next) = next { " · next: "
                a data-go="next" href=(format!("/approvals/{}", next.id)) { (next.tool) " " (line(&subject(&next.input), 40)) } } } }))?)
        (view.heading(&title)?)
        (view.regions.put(STATE, || Ok(html! { p.line { @if is_open { span { (glyph::ask("waiting")) " " (since(approval.requested_at, view.now)) } } @else { b { (approval.state) } }
            @if let Some(session) = &session { span { (agent(session)) }
                @if let Some(branch) = &session.branch { span.mono { (line(branch, 40)) } }
                a data-go="event" href=(super::home::address(session)) { "the session" } } } }))?)
        (mishap(failure))
        form.cols method="post" {
            (view.token())
            input type="hidden" name="seen" value=(seen(&approval));
            div {
                h2 id="tool" { (approval.tool) }
                @if let Some(command) = approval.input.get("command").and_then(Value::as_str) {
                    pre.ask { (visible(command)) }
                }
                @if let (Some(old), Some(new)) = (text(&approval, "old_string"), text(&approval, "new_string")) {
                    (difference(text(&approval, "file_path").unwrap_or_default(), old, new))
                }
                (view.regions.put(INPUT, || Ok(html! { @if is_open {
                    @if approval.is_question() { (question::form(&approval.input))
                        p { button.primary id="do-answer" name="do" value="answer" { "Answer" } } }
                    label for="input" { "The whole input; edit it to approve something else" }
                    textarea.code id="input" name="input" rows="8" data-asked=(asked) spellcheck="false" {
                        (typed.map_or(asked.as_str(), |typed| typed.input.as_str())) }
                } @else { pre { (asked) }
                    @if let Some(edited) = &approval.edited { p.meta { "Approved with this input instead" } pre { (whole(edited)) } }
                } }))?)
                (view.regions.put(EARLIER, || Ok(html! { @if !earlier.is_empty() {
                    h2 { "Earlier, with this tool" }
                    table { tbody { @for one in &earlier { tr {
                        td { (one.state) } td.mono { (line(&subject(&one.input), 80)) }
                        td.soft { (line(one.reason.as_deref().unwrap_or_default(), 60)) }
                    } } } }
                } }))?)
            }
            div.side {
                h2 { "Decide" }
                (view.regions.put(DECIDE, || Ok(html! { @if is_open { div.stack.decide {
                    div { button.primary id="do-approve" name="do" value="approve" data-go="approve" aria-keyshortcuts="a" { "Approve as asked" kbd { "a" } } }
                    div { button id="do-edit" name="do" value="edit" data-edit aria-keyshortcuts="e" { "Approve edited" kbd { "e" } } }
                    div { button id="do-session" name="do" value="session" data-go="session" aria-keyshortcuts="s" { "Approve for this session" kbd { "s" } }
                        label for="rule" { "Approve without asking, for the rest of the session" }
                        select id="rule" name="rule" { @for (rule, covered) in &rules {
                            option value=(rule) { (visible(&rule.to_string())) " · " (covered) } } } }
                    div { label for="reason" { "Reason, sent to the agent" }
                        textarea id="reason" name="reason" { (typed.map_or("", |typed| typed.reason.as_str())) }
                        button.danger id="do-deny" name="do" value="deny" data-go="deny" aria-keyshortcuts="d" { "Deny" kbd { "d" } } }
                    p.meta { "A key moves to its button; Enter decides. Decisions are recorded in the ledger." }
                } } @else {
                    p role="status" tabindex="-1" id="outcome" { b { (approval.state) }
                        @if let Some(at) = approval.decided_at { ", " (since(at, view.now)) " ago" }
                        @if let Some(by) = approval.by { ", " (by.in_words()) } }
                    @if let Some(reason) = &approval.reason { blockquote { (visible(reason)) } }
                    @if let Some(next) = next { a.btn href=(format!("/approvals/{}", next.id)) { "Next approval" kbd { "n" } } }
                    @else { p { "Nothing else waits. " a href="/" { "Home" } } }
                } }))?)
            }
        }
    };
    let command = format!("heirloom approvals approve {}", approval.id.short());
    let sheeted = Sheet {
        title: &title,
        page: "approval",
        nav: "/",
        command: &command,
        keys: &KEYS,
        ..Sheet::default()
    };
    Ok(sheet(&view, &sheeted, &content))
}

fn text<'a>(approval: &'a Approval, key: &str) -> Option<&'a str> {
    approval.input.get(key)?.as_str()
}

/// What could be approved for the rest of the session, narrow to wide, with how many earlier requests it would have
/// covered.
fn rules(approval: &Approval, all: &[Approval]) -> Vec<(Rule, String)> {
    let covered = |rule: &Rule| {
        let others = all.iter().filter(|one| one.id != approval.id);
        match others.filter(|one| rule.covers(&one.tool, &one.input)).count() {
            0 => "no earlier request".to_owned(),
            1 => "1 earlier request".to_owned(),
            count => format!("{count} earlier requests"),
        }
    };
    let rules = Rule::around(&approval.tool, &approval.input);
    rules.into_iter().map(|rule| (rule.clone(), covered(&rule))).collect()
}

/// What goes and what comes.
pub(super) fn difference(path: &str, old: &str, new: &str) -> Markup {
    html! { div.diff tabindex="0" role="group" aria-label=(format!("Change of {path}")) {
        div.f { (visible(path)) }
        @for line in old.lines() { div.d { span.legend { "removed " } span aria-hidden="true" { "− " } (visible(line)) } }
        @for line in new.lines() { div.a { span.legend { "added " } span aria-hidden="true" { "+ " } (visible(line)) } }
    } }
}

/// What a person filled in.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Typed {
    #[serde(default)]
    form: String,
    #[serde(default)]
    seen: String,
    #[serde(default, rename = "do")]
    word: String,
    #[serde(default)]
    input: String,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    reason: String,
    /// The answers to what is asked.
    #[serde(flatten)]
    rest: BTreeMap<String, String>,
}

pub(super) async fn decide(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Form(typed): Form<Typed>,
) -> Response {
    let outcome = house.call(move |house| {
        let Err(failure) = taken(house, &caller, &id, &typed) else { return Ok(Ok(id)) };
        if failure.code == Code::RequestRefused {
            return Err(failure);
        }
        let status = crate::answer::status(&failure);
        let (typed, failure) = (Some(&typed), Some(&failure));
        let filled = Filled { typed, failure, ..Filled::default() };
        Ok(Err((status, rendered(house, &caller, &id, filled)?)))
    });
    match outcome.await {
        Ok(Ok(id)) => Redirect::to(&format!("/approvals/{id}")).into_response(),
        Ok(Err((status, markup))) => (status, page(Ok(markup))).into_response(),
        Err(refused) => page(Err(refused)),
    }
}

fn taken(house: &House, caller: &Caller, id: &str, typed: &Typed) -> Result<(), Failure> {
    if let Caller::Person(cookie) = caller {
        check_form(cookie, &typed.form)?;
    }
    let approval = engine::approval(&house.here()?, &house.ledger()?, id)?;
    if seen(&approval) != typed.seen {
        let message = "the request has changed since it was shown; nothing was decided";
        return Err(Failure::new(Code::ApprovalOver, message).hint("look at it again"));
    }
    let mut decision =
        Decision { word: Word::Approve, reason: None, input: None, lasts: None, rule: None };
    match typed.word.as_str() {
        "approve" => {}
        "edit" => {
            let input = serde_json::from_str(&typed.input).map_err(|error| {
                Failure::new(Code::RequestInvalid, format!("the input is not JSON: {error}"))
            })?;
            decision.input = Some(input);
        }
        "answer" => {
            let answered = question::answered(&approval.input, &typed.rest);
            decision.input = Some(answered.ok_or_else(|| {
                Failure::new(Code::RequestInvalid, "every question needs an answer")
            })?);
        }
        "session" => {
            decision.lasts = Some(Lasts::Session);
            // Browsers send the lines of a command with the ends of lines of a form.
            let rule = typed.rule.replace("\r\n", "\n").trim().to_owned();
            decision.rule = Some(rule).filter(|rule| !rule.is_empty());
        }
        "deny" => {
            decision.word = Word::Deny;
            decision.reason = Some(typed.reason.clone());
        }
        _ => return Err(Failure::new(Code::RequestInvalid, "that is not a decision")),
    }
    decided(house, caller, id, decision).map(drop)
}
