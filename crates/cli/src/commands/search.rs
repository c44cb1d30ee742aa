use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::SearchResults;
use heirloom_core::id::SessionId;
use heirloom_core::recall::{Kind, Snippet};
use heirloom_core::words::in_words;
use heirloom_engine::recall::{Around, Found, Query, SearchHit, search};
use heirloom_engine::{reach, sessions};
use heirloom_ledger::Ledger;
use jiff::{Span, Timestamp};

use super::{App, Done, given, note};
use crate::failure::{Code, Failure};
use crate::moment::ago;
use crate::ui::{BOLD, CARE, DIM, counted, first_line, hang};

/// Search notes, prompts, answers and tool uses
///
/// The query is plain text; the best match comes first. "Quotes" match exact words, `prod*` matches words
/// that start with prod, and a time (`in March`, `last Friday`) prefers what was said then. Secrets are
/// removed before anything is indexed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to look for
    #[arg(required = true, allow_hyphen_values = true, value_parser = given::text)]
    query: String,
    /// Only this kind: a kind of note, `note`, `session`, `message`, `tool_use` or `tool_result`
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Only in sessions of this agent
    #[arg(long, value_name = "AGENT", value_parser = given::searched_agent())]
    agent: Option<String>,
    /// Only on this branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only in this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only by this speaker: user, assistant, tool or system
    #[arg(long, value_name = "ROLE", value_parser = ["user", "assistant", "tool", "system"])]
    role: Option<String>,
    /// Only uses of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only about this file or directory
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only notes by this author
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Only newer than this: a date, a time, or an age such as 7d or 12h
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only older than this
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Sort by best match or newest first
    #[arg(long, value_name = "ORDER", value_parser = ["best", "recent"], default_value = "best")]
    sort: String,
    /// Search all repositories
    #[arg(long)]
    all_repos: bool,
    /// Search another repository: its key or path
    #[arg(long, value_name = "REPOSITORY", conflicts_with = "all_repos")]
    repo: Option<String>,
    /// Show this many messages before and after each match
    #[arg(long, value_name = "N", default_value_t = 0)]
    context: usize,
    /// Show the best match in full, with the messages around it
    #[arg(long)]
    open: bool,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = given::count)]
    limit: usize,
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let now = app.here.clock.now();
    let open = args.open;
    let ledger = app.here.ledger()?;
    let repo = args.repo.as_deref().map(|name| repository(app, &ledger, name)).transpose()?;
    let query = Query { repo, ..query(args, now)? };
    let found = search(&app.here, &ledger, &query)?;
    let is_json = app.ui.is_json();
    let shown = found.places.iter().filter(|_| !is_json).filter_map(|place| place.session.as_ref());
    let titles = sessions::titles(&app.here, shown)?;
    app.ui.answer(&SearchResults::from(&found), || {
        if open { opened(&found, now) } else { listed(&found, &titles, now) }
    });
    if !is_json {
        explain(app, &found, &query);
    }
    Ok(ExitCode::SUCCESS)
}

fn query(args: Args, now: Timestamp) -> Result<Query, Failure> {
    let time = |when: Option<String>| when.map(|when| moment(&when, now)).transpose();
    let kinds = args.kind.iter().map(|kind| kind_of(kind)).collect::<Result<_, _>>()?;
    Ok(Query {
        text: args.query,
        kinds,
        agent: args.agent,
        branch: args.branch,
        session: args.session,
        role: args.role,
        tool: args.tool,
        path: args.path,
        author: args.author,
        since: time(args.since)?,
        until: time(args.until)?,
        by_time: args.sort == "recent",
        everywhere: args.all_repos,
        repo: None,
        context: if args.open { args.context.max(3) } else { args.context },
        limit: if args.open { 1 } else { args.limit },
    })
}

/// The repository that is meant, by its key or a path as seen from here. Nothing is found in one that nobody knows, and
/// that would look as if nothing had been said there.
fn repository(app: &App, ledger: &Ledger, name: &str) -> Result<String, Failure> {
    // First: whether there is one is nothing for an agent to find out.
    reach::everywhere(&app.here, ledger)?;
    let path = app.directory.join(name);
    let path = path.canonicalize().unwrap_or(path).display().to_string();
    for known in [name, &path] {
        if *known == *app.here.place.repo || ledger.has_recorded(known)? {
            return Ok(known.to_owned());
        }
    }
    Err(Failure::new(Code::RepoNotFound, format!("no repository {name} is known"))
        .hint("give its key (hr_…) or its path; `heirloom repo` prints them in that repository"))
}

fn kind_of(kind: &str) -> Result<String, Failure> {
    match kind {
        "note" | "session" | "message" | "tool_use" | "tool_result" => Ok(kind.to_owned()),
        "notes" => Ok("note".to_owned()),
        "sessions" => Ok("session".to_owned()),
        "messages" => Ok("message".to_owned()),
        kind => {
            let more =
                "to search something other than notes: session, message, tool_use or tool_result";
            Ok(note::kind(kind).map_err(|failure| failure.hint(more))?.to_string())
        }
    }
}

pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
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

/// What was looked for instead, and what to try.
fn explain(app: &App, found: &Found, query: &Query) {
    for (typed, instead) in &found.instead {
        app.ui.hint(&format!("no matches for \"{typed}\"; showing \"{instead}\" instead"));
    }
    if found.unread > 0 {
        let unread = counted(found.unread as u64, "message");
        app.ui.warn(&format!("{unread} with these words were not compared with the quote"));
    }
    if found.places.is_empty() {
        let more =
            if query.everywhere { "" } else { ", or search every repository with --all-repos" };
        app.ui.hint(&format!("no matches; try other words{more}"));
    }
}

/// The places by session: the session's line, then a line for each place.
fn listed(found: &Found, titles: &BTreeMap<SessionId, String>, now: Timestamp) -> String {
    let mut text = String::new();
    let mut shown: Vec<bool> = vec![false; found.places.len()];
    for first in 0..found.places.len() {
        if shown[first] {
            continue;
        }
        let place = &found.places[first];
        let _ = writeln!(text, "{}", heading(place, now));
        about(&mut text, first, found, titles);
        // The iterations of a run are told the same, each in a conversation of its own.
        let mut said = BTreeSet::new();
        let mut say = |text: &mut String, each: &SearchHit| {
            let mut shown = String::new();
            line(&mut shown, each);
            if said.insert(shown.clone()) {
                text.push_str(&shown);
            }
        };
        for (other, is_shown) in shown.iter_mut().enumerate().skip(first) {
            let each = &found.places[other];
            if *is_shown || session_of(each) != session_of(place) {
                continue;
            }
            *is_shown = true;
            for near in &each.context {
                if Some(near.event) == each.event {
                    say(&mut text, each);
                } else {
                    around(&mut text, near);
                }
            }
            if each.context.is_empty() {
                say(&mut text, each);
            }
            for more in &each.more {
                say(&mut text, more);
            }
        }
    }
    text
}

/// What the session of a place is about, unless that is among what is shown of it.
fn about(text: &mut String, first: usize, found: &Found, titles: &BTreeMap<SessionId, String>) {
    let session = found.places[first].session.as_ref();
    let Some((session, title)) = session.and_then(|it| Some((it, titles.get(&it.id)?))) else {
        return;
    };
    let of_it = |place: &&SearchHit| place.session.as_ref().is_some_and(|it| it.id == session.id);
    let says = |place: &SearchHit| place.kind == Kind::Prompt && place.text.starts_with(title);
    let mut places = found.places[first..].iter().filter(of_it);
    let is_shown = places.any(|place| says(place) || place.more.iter().any(says));
    if !is_shown && title != session.name.as_str() {
        let line = format!("  {DIM}{:11}{DIM:#} {}", "about", first_line(title, 100));
        let _ = writeln!(text, "{}", hang(&line, 12));
    }
}

/// A message before or after a match.
fn around(text: &mut String, near: &Around) {
    let said = first_line(near.text.trim(), 200);
    let line = format!("  {DIM}{:11} {said}{DIM:#}", label(near.kind));
    let _ = writeln!(text, "{}", hang(&line, 12));
}

fn session_of(place: &SearchHit) -> String {
    place.session.as_ref().map_or_else(|| place.key.clone(), |session| session.id.to_string())
}

fn heading(place: &SearchHit, now: Timestamp) -> String {
    let at = place.at.map(|at| ago(at, now)).unwrap_or_default();
    let Some(session) = &place.session else {
        let agent = place.agent.as_deref().unwrap_or("unknown agent");
        // The path of the agent's own file is what it is known by.
        let name = place.key.splitn(3, ':').last().unwrap_or_default();
        return format!("{BOLD}{name}{BOLD:#} {DIM}{agent} {at}{DIM:#}");
    };
    let agent = session.agent.as_deref().map(|agent| format!(" {agent}")).unwrap_or_default();
    let agent = format!("{agent}{}", by(session.author.as_deref()));
    format!("{BOLD}{}{BOLD:#} {DIM}{}{agent} {at}{DIM:#}", session.name, session.id.short())
}

/// Whose it is, where it is a colleague's.
fn by(author: Option<&str>) -> String {
    author.map(|author| format!(" by {author}")).unwrap_or_default()
}

fn line(text: &mut String, place: &SearchHit) {
    if place.kind == Kind::Session {
        return;
    }
    let replaced = place.note.as_ref().is_some_and(|note| note.superseded_by.is_some());
    let replaced = if replaced { " (replaced)" } else { "" };
    // The heading says whose session it is; a note in it may be somebody else's.
    let of_session = place.session.as_ref().and_then(|session| session.author.as_deref());
    let by = if place.author() == of_session { String::new() } else { by(place.author()) };
    let by = if by.is_empty() { by } else { format!("{DIM}{by}{DIM:#}") };
    let shown = if place.text.is_empty() {
        format!("{DIM}(the text is gone){DIM:#}")
    } else {
        highlighted(&place.snippet)
    };
    let line = format!("  {DIM}{:11}{DIM:#} {shown}{replaced}{by}", label(place.kind));
    let _ = writeln!(text, "{}", hang(&line, 12));
}

fn label(kind: Kind) -> Cow<'static, str> {
    match kind {
        Kind::Prompt => "prompt".into(),
        Kind::Answer => "answer".into(),
        Kind::Thinking => "thinking".into(),
        Kind::Summary => "summary".into(),
        Kind::Injected => "system".into(),
        other => in_words(other.as_str()),
    }
}

fn highlighted(snippet: &Snippet) -> String {
    let (mut shown, mut at) = (String::new(), 0);
    for range in &snippet.marked {
        let _ = write!(
            shown,
            "{}{CARE}{}{CARE:#}",
            &snippet.text[at..range.start],
            &snippet.text[range.clone()]
        );
        at = range.end;
    }
    shown + &snippet.text[at..]
}

/// The best place, whole, with what was said around it.
fn opened(found: &Found, now: Timestamp) -> String {
    let Some(place) = found.places.first() else { return String::new() };
    let mut text = format!("{}\n", heading(place, now));
    if place.context.is_empty() {
        let _ = writeln!(text, "\n{DIM}{}{DIM:#}\n{}", label(place.kind), place.text);
    }
    for near in &place.context {
        let is_it = Some(near.event) == place.event;
        let said = if is_it { near.text.clone() } else { first_line(&near.text, 300) };
        let _ = writeln!(text, "\n{DIM}{} {}{DIM:#}\n{said}", near.event, label(near.kind));
    }
    text
}
