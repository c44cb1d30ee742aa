//! What was said and done in a session: prose, edits and failures open; reading, searching and commands that
//! ended folded into one counted line.

use std::fmt::Write as _;

use heirloom_api::Said;
use heirloom_core::approval::subject;
use heirloom_core::session::Session;
use heirloom_core::visible::visible;
use maud::{Markup, html};
use serde_json::Value;

use super::approval::difference;
use super::{agent, counted, line};

/// A conversation, event by event.
pub(super) fn conversation(session: &Session, events: &[Said]) -> Markup {
    let groups = grouped(events);
    html! {
        @for group in &groups {
            @if let [said] = group[..] { (one(session, said)) }
            @else { (folded(group)) }
        }
        @if events.is_empty() { p.dim { "Nothing was said yet." } }
    }
}

/// Neighbours that are folded together.
fn grouped(events: &[Said]) -> Vec<Vec<&Said>> {
    let mut groups: Vec<Vec<&Said>> = Vec::new();
    for said in events.iter().filter(|said| !is_silent(said)) {
        match groups.last_mut() {
            Some(group) if is_folded(said) && group.iter().all(|one| is_folded(one)) => {
                group.push(said);
            }
            _ => groups.push(vec![said]),
        }
    }
    groups
}

/// The end of a turn says nothing that was not said.
fn is_silent(said: &Said) -> bool {
    said.kind == "result" && said.is_error != Some(true)
}

fn is_folded(said: &Said) -> bool {
    match said.kind.as_str() {
        "tool_call" => edit(said).is_none(),
        "tool_result" => said.is_error != Some(true),
        _ => false,
    }
}

/// What an event changes in a file: the file, what goes, what comes.
fn edit(said: &Said) -> Option<(&str, &str, &str)> {
    let input = said.input.as_ref()?;
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let path = field("file_path")?;
    match (field("old_string"), field("new_string"), field("content")) {
        (Some(old), Some(new), _) => Some((path, old, new)),
        (_, _, Some(new)) => Some((path, "", new)),
        _ => None,
    }
}

fn at(said: &Said) -> Markup {
    html! { time { @if let Some(at) = said.at { (at.strftime("%H:%M")) } } }
}

fn one(session: &Session, said: &Said) -> Markup {
    let class = if said.kind == "prompt" { "ev you" } else { "ev" };
    html! { div class=(class) id=(format!("e{}", said.number)) tabindex="-1" {
        (at(said)) div { (event(session, said)) }
    } }
}

/// Several uses of tools with what came of them, in one line.
fn folded(group: &[&Said]) -> Markup {
    let calls: Vec<&&Said> = group.iter().filter(|said| said.kind == "tool_call").collect();
    let first = group.first().map_or(0, |said| said.number);
    let title = match &calls[..] {
        [] => html! { b { (counted(group.len(), "tool result")) } },
        [call] => html! { (used(call)) },
        _ => html! { b { (counted(calls.len(), "tool call")) } " " span.dim { (tally(&calls)) } },
    };
    html! { div.ev id=(format!("e{first}")) tabindex="-1" {
        @if let Some(said) = group.first() { (at(said)) }
        div { details id=(format!("d{first}")) {
            summary { (title) }
            @for said in group { div id=[(said.number != first).then(|| format!("e{}", said.number))] {
                @if said.kind == "tool_call" && calls.len() > 1 { p { (used(said)) } }
                pre tabindex="0" { (visible(&whole(said))) }
            } }
        } }
    } }
}

/// How often each tool was used, in the order of its first use.
fn tally(calls: &[&&Said]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        let tool = call.tool.as_deref().unwrap_or("a tool");
        match counts.iter_mut().find(|(known, _)| *known == tool) {
            Some((_, count)) => *count += 1,
            None => counts.push((tool, 1)),
        }
    }
    let mut text = String::new();
    for (tool, count) in counts {
        let dot = if text.is_empty() { "" } else { " · " };
        let _ = write!(text, "{dot}{} {count}", line(tool, 40));
    }
    text
}

fn used(said: &Said) -> Markup {
    let subject = said.input.as_ref().map(subject).unwrap_or_default();
    html! { b { (line(said.tool.as_deref().unwrap_or_default(), 60)) } " " span.mono { (line(&subject, 100)) } }
}

fn whole(said: &Said) -> String {
    match &said.input {
        Some(input) => serde_json::to_string_pretty(input).unwrap_or_default(),
        None => said.text.clone().unwrap_or_default(),
    }
}

fn event(session: &Session, said: &Said) -> Markup {
    let text = said.text.as_deref().unwrap_or_default();
    match said.kind.as_str() {
        "prompt" => html! { span.who { "You" } (prose(text)) },
        "text" => html! { span.who { (agent(session)) } (prose(text)) },
        "error" => html! { p.alarm { "error " (visible(text)) } },
        "tool_call" => {
            if let Some((path, old, new)) = edit(said) {
                return difference(path, old, new);
            }
            html! { details id=(format!("d{}", said.number)) {
                summary { (used(said)) }
                pre tabindex="0" { (visible(&whole(said))) }
            } }
        }
        kind => html! { details id=(format!("d{}", said.number)) {
            summary { @if said.is_error == Some(true) { span.alarm { "failed " } } (kind.replace('_', " ")) " " span.dim { (line(text, 90)) } }
            pre tabindex="0" { (visible(text)) }
        } },
    }
}

/// Text of an agent: paragraphs, and code where it says so. Nothing of it is markup.
fn prose(text: &str) -> Markup {
    html! { div.said { @for (at, part) in text.split("```").enumerate() {
        @if at % 2 == 1 { pre tabindex="0" { (visible(part.split_once('\n').map_or(part, |(_, code)| code))) } }
        @else if !part.trim().is_empty() { p { (visible(part.trim())) } }
    } } }
}
