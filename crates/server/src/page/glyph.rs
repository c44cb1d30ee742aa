//! Every state is a glyph and a word; the glyph is for the eye only.

use heirloom_core::status::Status;
use maud::{Markup, html};

fn svg(path: &str, filled: bool) -> Markup {
    let fill = if filled { "currentColor" } else { "none" };
    html! { svg.g viewBox="0 0 16 16" aria-hidden="true" fill=(fill) stroke="currentColor" stroke-width="1.6" {
        path d=(path) {}
    } }
}

pub(super) fn mark() -> Markup {
    svg(
        "M8 1a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5M8 6v4M8 10a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5",
        false,
    )
}

const RING: &str = "M8 2a6 6 0 1 1 0 12a6 6 0 1 1 0-12";

/// The state of a session.
pub(super) fn status(status: Status) -> Markup {
    let (path, filled, class, word) = match status {
        Status::Completed => ("M3 8.5l3.5 3.5L13 4.5".to_owned(), false, "", "completed"),
        Status::Failed => ("M4 4l8 8M12 4l-8 8".to_owned(), false, "alarm", "failed"),
        Status::WaitingInput => ("M8 2l6 6l-6 6l-6-6z".to_owned(), true, "acc", "waiting"),
        Status::Interrupted => ("M3 3h10v10H3z".to_owned(), false, "", "interrupted"),
        Status::Archived => ("M3 3h10v10H3z".to_owned(), false, "dim", "hidden"),
        Status::Starting | Status::Running | Status::Interrupting => {
            let word = if status == Status::Interrupting { "stopping" } else { "running" };
            (format!("{RING}M8 6a2 2 0 1 1 0 4a2 2 0 1 1 0-4"), false, "acc", word)
        }
    };
    html! { span class=(format!("state {class}")) { (svg(&path, filled)) (word) } }
}

/// Whether a decision still holds.
pub(super) fn standing(word: &str) -> Markup {
    let (path, class) = match word {
        "holds" => ("M3 8.5l3.5 3.5L13 4.5", ""),
        "moved" => ("M2 8h11M9 4l4 4l-4 4", ""),
        "broken" => ("M3 6h10M3 10h10M11 3l-6 10", "alarm"),
        "replaced" => ("M3 3h10v10H3z", "dim"),
        _ => ("M2 9c2-4 4-4 6 0s4 0 6-1", "dim"),
    };
    html! { span class=(format!("state {class}")) { (svg(path, false)) (word) } }
}

/// A tool use that waits for a person.
pub(super) fn ask(word: &str) -> Markup {
    html! { span.state.acc { (svg("M8 2l6 6l-6 6l-6-6z", true)) (word) } }
}

/// What an agent asks a person.
pub(super) fn question(word: &str) -> Markup {
    let path = format!("{RING}M6 6.5a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1.1M8 11v.6");
    html! { span.state.acc { (svg(&path, false)) (word) } }
}

/// Work that goes no further without a person.
pub(super) fn blocked(word: &str) -> Markup {
    html! { span.state.alarm { (svg(&format!("{RING}M4.5 8h7"), false)) (word) } }
}

/// Whether something is met.
pub(super) fn met(is_met: bool, word: &str) -> Markup {
    let (path, class) =
        if is_met { ("M3 8.5l3.5 3.5L13 4.5", "") } else { ("M4 4l8 8M12 4l-8 8", "alarm") };
    html! { span class=(format!("state {class}")) { (svg(path, false)) (word) } }
}
