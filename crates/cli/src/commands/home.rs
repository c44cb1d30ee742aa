use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::Home as Answer;
use heirloom_core::status::Status;
use heirloom_core::trust::{Reason, State};
use heirloom_core::words::in_words;
use heirloom_engine::capture;
use heirloom_engine::home::{self, Handoff, Home, Last};
use heirloom_engine::sessions::Row;
use heirloom_engine::trust::Standing;

use super::session::report::subject;
use super::{App, Done, session};
use crate::layout;
use crate::moment::{ago, lasted};
use crate::ui::{BOLD, CARE, DIM, counted, first_line, priced};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How wide the screen is taken to be where nobody says.
const USUAL: usize = 100;

/// What lines have besides a title, and what a narrow screen leaves of one.
const REST: usize = 52;
const TITLE: usize = 48;

/// `heirloom` alone: what is going on here.
pub(super) fn run(app: &App) -> Done {
    let place = &app.here.place;
    if place.git_dir.is_none() && !place.is_set_up() {
        app.ui.answer(&Answer::outside(VERSION), super::help::short);
        return Ok(ExitCode::SUCCESS);
    }
    let mut ledger = app.here.ledger()?;
    session::tidy(app, &mut ledger)?;
    let found = home::home(&app.here, &mut ledger)?;
    let branch = place.head.branch();
    app.ui.answer(&Answer::new(&found, VERSION, place.label(), branch), || {
        let mut text = header(app, branch);
        for line in lines(app, &found) {
            text.push_str(&line.shown(room()));
        }
        text
    });
    for problem in &found.problems {
        app.ui.warn(problem);
    }
    Ok(ExitCode::SUCCESS)
}

fn room() -> usize {
    layout::width().unwrap_or(USUAL).min(120)
}

/// A title, as much of it as there is room for.
fn titled(text: &str) -> String {
    first_line(text, room().saturating_sub(REST).max(TITLE))
}

fn header(app: &App, branch: Option<&str>) -> String {
    let label = app.here.place.label();
    let branch = branch.map(|branch| format!(" · {branch}")).unwrap_or_default();
    format!("{BOLD}{label}{BOLD:#}{branch}  {DIM}heirloom {VERSION}{DIM:#}\n")
}

/// A line of the screen: what it is about, what there is to say, and the command that shows more.
struct Line {
    label: &'static str,
    needs_you: bool,
    text: String,
    command: Option<String>,
}

impl Line {
    fn new(label: &'static str, text: String, command: &str) -> Self {
        let command = (!command.is_empty()).then(|| command.to_owned());
        Self { label, needs_you: false, text, command }
    }

    /// The command stands at the end of the line, or below it where there is no room.
    fn shown(&self, room: usize) -> String {
        const INDENT: usize = 13;
        let style = if self.needs_you { CARE } else { DIM };
        let mut text = format!("  {style}{:11}{style:#}{}", self.label, self.text);
        if let Some(command) = &self.command {
            let taken = INDENT + layout::breadth(&self.text);
            let wanted = taken + 2 + layout::breadth(command);
            if wanted <= room {
                let fill = " ".repeat(room - wanted + 2);
                let _ = write!(text, "{fill}{DIM}{command}{DIM:#}");
            } else {
                text = layout::wrap(&text, room, INDENT - 2);
                let _ = write!(text, "\n{:INDENT$}{DIM}{command}{DIM:#}", "");
            }
        }
        text.push('\n');
        text
    }
}

fn lines(app: &App, home: &Home) -> Vec<Line> {
    let mut lines = Vec::new();
    for (approval, session) in &home.approvals {
        let who = session.as_deref().unwrap_or("a session");
        let what = titled(&subject(&approval.input));
        let text = match approval.question() {
            Some(question) => format!("{who} asks: {}", titled(question)),
            None => format!("{who} wants to use {}: {what}", approval.tool),
        };
        lines.push(Line { needs_you: true, ..Line::new("needs you", text, "heirloom approvals") });
    }
    if let Some(standing) = &home.untrusted {
        let line = Line::new("untrusted", brings(standing), "heirloom trust");
        lines.push(Line { needs_you: true, ..line });
    }
    for row in &home.unmet {
        let text = format!("{} is not met: {}", row.name, row.resolution);
        let line = Line::new("required", text, "heirloom req status");
        lines.push(Line { needs_you: true, ..line });
    }
    lines.extend(to_review(home));
    lines.extend(unfinished(home));
    lines.extend(home.running.iter().map(|row| running(app, row)));
    lines.extend(to_merge(home));
    lines.extend(home.last.as_ref().map(|last| ended(app, last)));
    lines.extend(home.handoff.as_ref().map(|handoff| handed_over(app, handoff)));
    lines.extend(issues(home));
    let (sessions, decisions) =
        (counted(home.sessions, "session"), counted(home.decisions as u64, "decision"));
    if home.sessions > 0 || home.decisions > 0 {
        let text = format!("{sessions} · {decisions}");
        let more = if home.decisions > 0 { "heirloom ground" } else { "heirloom sessions" };
        lines.push(Line::new("memory", text, more));
    }
    if home.untaken > 0 {
        let text = capture::untaken_in_words(home.untaken);
        lines.push(Line::new("history", text, "heirloom sync"));
    }
    let next = home.next();
    lines.push(Line::new("next", next.why, &next.command));
    lines
}

/// What a repository brings that takes no effect until somebody has looked at it.
fn brings(standing: &Standing) -> String {
    let count = |reason| standing.survey.covered.iter().filter(|one| one.reason == reason).count();
    let wants = |count: usize, singular: &str| (count > 0).then(|| counted(count as u64, singular));
    let wants: Vec<String> = [
        wants(count(Reason::Command), "command"),
        wants(count(Reason::Widens), "wider permission"),
        wants(count(Reason::Text), "instruction"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let how = if standing.state == State::Changed { "now comes with" } else { "comes with" };
    format!("this repository {how} {}; none is in effect", wants.join(", "))
}

fn running(app: &App, row: &Row) -> Line {
    let session = &row.session;
    let now = app.here.clock.now();
    let since = u64::try_from(now.as_millisecond() - session.created_at.as_millisecond());
    let mut facts = vec![session.name.to_string()];
    facts.extend(session.agent.clone().map(String::from));
    facts.extend(since.ok().map(lasted));
    facts.extend(row.cost.told().map(|_| priced(row.cost)));
    if session.status != Status::Running {
        facts.push(session.status.in_words().to_owned());
    }
    let about = row.title.clone().or_else(|| session.prompt.clone());
    facts.extend(about.map(|about| titled(&about)));
    let needs_you = session.status == Status::WaitingInput;
    let command = format!("heirloom watch {}", session.name);
    Line { needs_you, ..Line::new("running", facts.join("  "), &command) }
}

fn ended(app: &App, last: &Last) -> Line {
    let session = &last.row.session;
    let title = last.row.title.clone().or_else(|| session.prompt.clone());
    let mut facts = vec![match title {
        Some(title) => format!("\"{}\" ({})", titled(&title), session.name),
        None => session.name.to_string(),
    }];
    let at = session.completed_at.unwrap_or(session.created_at);
    facts.push(ago(at, app.here.clock.now()));
    let mut did = Vec::new();
    did.extend(last.commits.filter(|count| *count > 0).map(|n| counted(n as u64, "commit")));
    let failing = last.failing_tests.filter(|count| *count > 0);
    did.extend(failing.map(|count| {
        let verb = if count == 1 { "fails" } else { "fail" };
        format!("{} still {verb}", counted(count as u64, "test"))
    }));
    if session.status != Status::Completed {
        did.insert(0, session.status.in_words().to_owned());
    }
    if !did.is_empty() {
        facts.push(did.join(", "));
    }
    Line::new("last", facts.join("  "), &last.going_on())
}

fn handed_over(app: &App, handoff: &Handoff) -> Line {
    let when = ago(handoff.at, app.here.clock.now());
    let from = handoff.session.as_deref().map(|name| format!(" from {name}")).unwrap_or_default();
    let next = handoff.next_steps.first();
    let next = next.map(|step| format!(": {}", titled(step))).unwrap_or_default();
    Line::new("handoff", format!("{when}{from}{next}"), "heirloom handoffs show")
}

fn to_review(home: &Home) -> Option<Line> {
    let first = home.to_review.first()?;
    let words = titled(home.reviews.of(first)?);
    let (text, command) = match home.to_review.len() {
        1 => (format!("{}: {words}", first.id), format!("heirloom issues show {}", first.id)),
        count => (
            format!("{}, first {}: {words}", counted(count as u64, "issue"), first.id),
            "heirloom issues list".to_owned(),
        ),
    };
    Some(Line { needs_you: true, ..Line::new("to review", text, &command) })
}

fn unfinished(home: &Home) -> Option<Line> {
    let (first, status) = home.unfinished.first()?;
    let status = in_words(status.as_str());
    let title = titled(&first.title);
    let (text, command) = match home.unfinished.len() {
        1 => (format!("{} {title}: {status}", first.id), home::resuming(first.id.as_str())),
        count => (
            format!("{}, first {} {title}: {status}", counted(count as u64, "issue"), first.id),
            "heirloom work --resume".to_owned(),
        ),
    };
    Some(Line { needs_you: true, ..Line::new("not done", text, &command) })
}

fn to_merge(home: &Home) -> Option<Line> {
    let first = home.unmerged.first()?;
    let commits = counted(first.commits as u64, "commit");
    let more = match home.unmerged.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let text = format!("finished work: {commits} on {}{more}", first.branch);
    Some(Line::new("to merge", text, &first.command))
}

fn issues(home: &Home) -> Option<Line> {
    let Some(open) = home.open_issues else {
        let text = "unknown: the tracker cannot be read".to_owned();
        return Some(Line::new("issues", text, "heirloom issues"));
    };
    match home.ready.first() {
        Some(first) => {
            let count = counted(home.ready.len() as u64, "issue");
            let title = titled(&first.title);
            let first = format!("{count}, first {} {title}", first.id);
            Some(Line::new("ready", first, "heirloom work"))
        }
        None if open > 0 => {
            let open = counted(open as u64, "open issue");
            Some(Line::new("issues", format!("{open}, none ready"), "heirloom issues"))
        }
        None => None,
    }
}
