use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::SearchResults;
use heirloom_engine::keep::search::{self, Found, Query};
use jiff::{Span, Timestamp};

use super::{App, Done, note};
use crate::failure::{Code, Failure};
use crate::moment::ago;
use crate::ui::{BOLD, DIM, first_line};

/// Search notes and sessions by their words
///
/// The query is plain text: any of its words may fit, the best fit comes first.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to look for
    #[arg(required = true, allow_hyphen_values = true)]
    query: String,
    /// Only this kind: a kind of note, or session
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only what sessions of this agent hold
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Nothing older: a date, a time, or a distance such as 7d or 12h
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Search all repositories
    #[arg(long)]
    all_repos: bool,
    /// The most to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let now = app.here.clock.now();
    let kind = match args.kind.as_deref() {
        Some("session" | "sessions") => Some("session".to_owned()),
        Some(kind) => Some(note::kind(kind)?.to_string()),
        None => None,
    };
    let since = args.since.as_deref().map(|when| moment(when, now)).transpose()?;
    let query = Query {
        text: args.query,
        kind,
        agent: args.agent,
        since,
        everywhere: args.all_repos,
        limit: args.limit,
    };
    let found = search::search(&app.here, &app.here.ledger()?, &query)?;
    app.ui.answer(&SearchResults::from(found.as_slice()), || {
        found.iter().map(|found| as_text(found, now)).collect()
    });
    if found.is_empty() && !app.ui.is_json() {
        app.ui.hint("nothing fits; other words, or --all-repos, may find it");
    }
    Ok(ExitCode::SUCCESS)
}

fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let date = || text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let distance = || now.checked_sub(text.parse::<Span>().ok().and_then(hours)?).ok();
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| date().map(|zoned| zoned.timestamp()))
        .or_else(distance)
        .ok_or_else(|| {
            Failure::new(Code::Usage, format!("`{text}` is not a time"))
                .hint("write 2026-01-12, 2026-01-12T15:30:00Z, 7d or 12h")
                .usage()
        })
}

/// A distance in hours, in which a day always has 24.
fn hours(span: Span) -> Option<Span> {
    let days = i64::from(span.get_weeks()) * 7 + i64::from(span.get_days());
    if span.get_years() != 0 || span.get_months() != 0 {
        return None;
    }
    let rest = span.weeks(0).days(0);
    Span::new().try_hours(days * 24).ok()?.checked_add(rest).ok()
}

fn as_text(found: &Found, now: Timestamp) -> String {
    let session = &found.session;
    let mut text = String::new();
    match &found.note {
        Some(note) => {
            let replaced = if note.superseded_by.is_some() { " (replaced)" } else { "" };
            let _ = writeln!(
                text,
                "{BOLD}{:9}{BOLD:#} {}{replaced} {DIM}{} {}{DIM:#}",
                note.kind,
                first_line(&note.text, 70),
                session.name,
                ago(note.at, now)
            );
        }
        None => {
            let _ = writeln!(
                text,
                "{BOLD}session  {BOLD:#} {} {DIM}{} {}{DIM:#}",
                session.name,
                session.status,
                ago(session.created_at, now)
            );
        }
    }
    text
}
