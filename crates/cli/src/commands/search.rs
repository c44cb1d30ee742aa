use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::SearchResults;
use heirloom_core::id::SessionId;
use heirloom_core::recall::{Kind, Named, Snippet, date};
use heirloom_core::words::in_words;
use heirloom_engine::recall::{Around, Found, Query, SearchHit, search};
use heirloom_engine::{capture, reach, sessions};
use heirloom_ledger::Ledger;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::{App, Done, backfill, given, note};
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
    /// Only from then on: a date, a time, an age such as 7d, or words such as "late October"
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only up to then; a day or a month that is named counts to its end
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
    let mut ledger = app.here.ledger()?;
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
        if found.places.is_empty() {
            backfill::hint_untaken(app, capture::untaken(&app.here, &mut ledger));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn query(args: Args, now: Timestamp) -> Result<Query, Failure> {
    let time = |when: Option<String>| when.map(|when| bounds(&when, now)).transpose();
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
        since: time(args.since)?.map(|(from, _)| from),
        until: time(args.until)?.map(|(_, to)| to),
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

/// The moment that is meant, or that what is meant begins with.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    bounds(text, now).map(|(from, _)| from)
}

/// Where a time begins and ends: a day, a month or a part of one, in the words that a query takes too, or a moment.
fn bounds(text: &str, now: Timestamp) -> Result<(Timestamp, Timestamp), Failure> {
    let midnight = |day: Date| day.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let today = || now.to_zoned(TimeZone::UTC).date();
    let named = || {
        let whole = || text.parse::<Date>().ok().map(|day| (day, day));
        let (first, last) = date::alone(text, &today).map(Named::span).or_else(whole)?;
        let end = last.tomorrow().ok().and_then(midnight)?;
        midnight(first).zip(end.checked_sub(Span::new().milliseconds(1)).ok())
    };
    let distance = || now.checked_sub(text.parse::<Span>().ok().and_then(hours)?).ok();
    let at = text.parse::<Timestamp>().ok().or_else(distance);
    at.map(|at| (at, at)).or_else(named).ok_or_else(|| {
        Failure::new(Code::Usage, format!("`{text}` is not a time"))
            .hint("write 2026-01-12, 2026-01-12T15:30:00Z, 7d, yesterday or \"late October\"")
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
        let mut hits = Vec::new();
        for (other, is_shown) in shown.iter_mut().enumerate().skip(first) {
            let each = &found.places[other];
            if *is_shown || session_of(each) != session_of(place) {
                continue;
            }
            *is_shown = true;
            hits.push(each);
            hits.extend(&each.more);
        }
        let mut shown = String::new();
        for hit in hits.iter().filter(|hit| hit.context.is_empty()) {
            say(&mut shown, hit);
        }
        in_context(&mut shown, &hits);
        text.push_str(&shown);
    }
    text
}

/// The places of a session with what was said around them, in the order in which it was said: a message that is near
/// several places, or is one itself, is shown once.
fn in_context(text: &mut String, hits: &[&SearchHit]) {
    let mut near: BTreeMap<(&str, u64), &Around> = BTreeMap::new();
    for hit in hits {
        near.extend(hit.context.iter().map(|one| ((hit.key.as_str(), one.event), one)));
    }
    let mut last: Option<(&str, u64)> = None;
    for ((key, event), around) in near {
        if last.is_some_and(|last| last != (key, event - 1)) {
            let _ = writeln!(text, "  {DIM}…{DIM:#}");
        }
        last = Some((key, event));
        match hits.iter().find(|hit| hit.key == key && hit.event == Some(event)) {
            Some(hit) => line(text, hit),
            None => self::around(text, around),
        }
    }
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
    let said = in_short(near, 200);
    let line = format!("  {DIM}{:11} {said}{DIM:#}", label(near.kind));
    let _ = writeln!(text, "{}", hang(&line, 12));
}

/// The first line of what was said, or a use of a tool with what it was given or printed.
fn in_short(near: &Around, most: usize) -> String {
    let text = near.text.trim();
    if !matches!(near.kind, Kind::ToolUse | Kind::ToolResult) {
        return first_line(text, most);
    }
    first_line(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
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
        let said = if is_it { near.text.clone() } else { in_short(near, 300) };
        let _ = writeln!(text, "\n{DIM}{} {}{DIM:#}\n{said}", near.event, label(near.kind));
    }
    text
}
