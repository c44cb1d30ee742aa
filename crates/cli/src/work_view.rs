//! How a run through the issues looks: a table of agents on a terminal, plain lines in a pipe, JSON
//! for scripts.

use heirloom_core::cost::Cost;
use heirloom_core::words::in_words;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use heirloom_core::work::{IssueRunStatus, WorkStatus};
use heirloom_engine::clock::Clock;
use heirloom_engine::events::{AnyEvent, Event, Phase, Watcher, WorkEnded, WorkEvent, to_line};
use jiff::Timestamp;

use crate::footer::{Footer, aside, keep_fresh, lock, put, width};
use crate::moment::lasted;
use crate::printer;
use crate::ui::{BAD, BOLD, CARE, DIM, GOOD, counted, dollars, first_line, grouped, priced};

/// Shows what happens in a run.
pub(crate) struct WorkView {
    screen: Arc<Mutex<Screen>>,
}

struct Screen {
    json: bool,
    /// Whether resumptions are told.
    verbose: bool,
    footer: Footer,
    clock: Clock,
    /// Issues that are worked on now.
    working: BTreeMap<String, Working>,
    paused_until: Option<Timestamp>,
    stopping: Option<bool>,
    /// Whether another agent approved something.
    approved: bool,
    closed: bool,
}

struct Working {
    since: Timestamp,
    title: String,
    /// The how manieth issue of the run it is, and of how many.
    place: (usize, usize),
    phase: Phase,
    doing: String,
    cost_usd: Option<f64>,
}

impl WorkView {
    pub(crate) fn new(json: bool, verbose: bool, clock: Clock) -> Self {
        let footer = Footer::new(json);
        let live = footer.is_live();
        let screen = Arc::new(Mutex::new(Screen {
            json,
            verbose,
            footer,
            clock,
            working: BTreeMap::new(),
            paused_until: None,
            stopping: None,
            approved: false,
            closed: false,
        }));
        if live {
            keep_fresh(&screen, |screen: &mut Screen| {
                if !screen.closed {
                    screen.redraw("");
                }
                screen.closed
            });
        }
        Self { screen }
    }

    /// Leaves the terminal as it should be.
    pub(crate) fn close(&self) {
        let mut screen = lock(&self.screen);
        screen.working.clear();
        screen.closed = true;
        screen.redraw("");
    }
}

impl Watcher for WorkView {
    fn see(&self, at: Timestamp, event: &Event) {
        let mut screen = lock(&self.screen);
        if screen.json {
            let _ = printer::json(&format!("{}\n", to_line(at, event)));
            return;
        }
        screen.apply(at, event);
        if let Some(text) = screen.aside(event) {
            let below = screen.below();
            screen.footer.redraw(|| aside(&text), &below);
            return;
        }
        let text = screen.lines(event);
        screen.redraw(&text);
    }
}

impl Screen {
    fn apply(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Work(WorkEvent::IssueStarted { issue, title, number, of, .. }) => {
                let working = Working {
                    since: at,
                    title: title.clone(),
                    place: (*number, *of),
                    phase: Phase::Working,
                    doing: "starting".to_owned(),
                    cost_usd: None,
                };
                self.working.insert(issue.clone(), working);
            }
            Event::Work(WorkEvent::Phase { issue, phase }) => {
                if let Some(working) = self.working.get_mut(issue) {
                    working.phase = *phase;
                }
            }
            Event::Work(WorkEvent::Activity { issue, tool, text, cost_usd }) => {
                if let Some(working) = self.working.get_mut(issue) {
                    working.cost_usd = cost_usd.or(working.cost_usd);
                    match tool {
                        Some(tool) => working.doing = format!("{tool}  {text}"),
                        None if !text.is_empty() => working.doing.clone_from(text),
                        None => {}
                    }
                }
            }
            Event::Work(WorkEvent::Checked { issue, command, .. }) => {
                if let Some(working) = self.working.get_mut(issue) {
                    working.doing.clone_from(command);
                }
            }
            Event::Work(WorkEvent::Paused { wait_ms, .. }) => {
                let wait = i64::try_from(*wait_ms).unwrap_or(i64::MAX);
                let until = at.as_millisecond().saturating_add(wait);
                self.paused_until = Timestamp::from_millisecond(until).ok();
            }
            Event::Work(WorkEvent::IssueEnded { issue, .. }) => {
                self.working.remove(issue);
            }
            Event::Work(WorkEvent::Reviewed { approved: Some(true), .. }) => self.approved = true,
            Event::Any(AnyEvent::Stopping { now }) => self.stopping = Some(*now),
            Event::Work(WorkEvent::Ended(_)) => self.working.clear(),
            _ => {}
        }
    }

    /// What belongs on stderr.
    fn aside(&self, event: &Event) -> Option<String> {
        match event {
            Event::Any(AnyEvent::Warning { issue, message }) => {
                let about = issue.as_ref().map(|issue| format!("{issue}: ")).unwrap_or_default();
                Some(format!("{CARE}warning:{CARE:#} {about}{message}\n"))
            }
            Event::Work(WorkEvent::Resuming { issue, agent, agent_session_id }) if self.verbose => {
                Some(format!("{issue}: resuming {agent} session {agent_session_id}\n"))
            }
            Event::Work(WorkEvent::Importing { done, total }) => {
                let (done, total) = (grouped(*done as u64), grouped(*total as u64));
                Some(format!("importing runs of the original: {done} of {total}\n"))
            }
            Event::Work(WorkEvent::Paused { wait_ms, why }) => {
                let wait = lasted(*wait_ms);
                Some(format!("{CARE}paused{CARE:#} for {wait}: {why}\n"))
            }
            Event::Any(AnyEvent::Stopping { now }) => {
                let what = if *now { "stopping the agents" } else { "agents finish their turn" };
                Some(format!("{what}; `heirloom work --resume` continues\n"))
            }
            _ => None,
        }
    }

    /// What stays of an event.
    fn lines(&self, event: &Event) -> String {
        match event {
            Event::Work(WorkEvent::Started { tracker, agent, max_agents, run, .. }) => {
                let run = run.short();
                let agents = counted(*max_agents as u64, "agent");
                format!(
                    "{BOLD}work{BOLD:#} {run}  {agent} · up to {agents} · issues in {tracker}\n"
                )
            }
            Event::Work(WorkEvent::IssueStarted { issue, title, number, of, .. })
                if !self.footer.is_live() =>
            {
                format!("{issue}  started  {number} of {of}  {}\n", first_line(title, 60))
            }
            Event::Work(WorkEvent::Checked { issue, command, passed, duration_ms }) if !passed => {
                let took = lasted(*duration_ms);
                format!(
                    "{issue}  {CARE}gate failed{CARE:#}  {} ({took})\n",
                    first_line(command, 60)
                )
            }
            Event::Work(WorkEvent::Reviewed { issue, agent, approved, findings })
                if *approved != Some(true) =>
            {
                let found = first_line(findings, 60);
                format!("{issue}  {CARE}review{CARE:#}  {agent}: {found}\n")
            }
            Event::Work(WorkEvent::IssueEnded {
                issue,
                title,
                status,
                reason,
                cost_usd,
                duration_ms,
                ..
            }) => {
                let (style, mark) = match *status {
                    IssueRunStatus::Closed => (GOOD, "✔"),
                    IssueRunStatus::Failed | IssueRunStatus::TimedOut => (BAD, "✗"),
                    IssueRunStatus::NeedsReview => (CARE, "?"),
                    _ => (CARE, "…"),
                };
                let (took, status) = (lasted(*duration_ms), in_words(status.as_str()));
                let reason = reason.as_deref().unwrap_or_default();
                format!(
                    "{style}{mark}{style:#} {issue}  {status}  {took}  {}  {}\n  \
                     {DIM}{}{DIM:#}\n",
                    priced(*cost_usd),
                    first_line(title, 60),
                    first_line(reason, 160)
                )
            }
            Event::Work(WorkEvent::Ended(ended)) => {
                let WorkEnded { run, status, reason, tally, gate, branch, .. } = ended;
                if run.is_none() {
                    return "nothing to do\n".to_owned();
                }
                let style = match *status {
                    WorkStatus::Completed => GOOD,
                    WorkStatus::Failed => BAD,
                    _ => CARE,
                };
                let status = status.as_str();
                let reason = reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                let mut lines = format!(
                    "{style}{status}{style:#}{reason} · {} · {}\n",
                    tally.words(),
                    priced(Cost::new(ended.cost_usd, ended.cost_partial))
                );
                if gate.is_empty() && !self.approved {
                    lines.push_str("no gate is set: only the agents' own reports were checked\n");
                }
                if let Some(branch) = branch {
                    let _ = writeln!(lines, "to merge the finished work: git merge {branch}");
                }
                lines
            }
            _ => String::new(),
        }
    }

    fn redraw(&mut self, text: &str) {
        let below = self.below();
        self.footer.redraw(|| put(text), &below);
    }

    /// The table of agents.
    fn below(&self) -> Vec<String> {
        self.table(width())
    }

    fn table(&self, width: usize) -> Vec<String> {
        if self.working.is_empty() {
            return Vec::new();
        }
        let now = self.clock.now();
        let since = |from: Timestamp, to: Timestamp| {
            u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
        };
        let widest = self.working.keys().map(|issue| issue.chars().count()).max().unwrap_or(0);
        let row = |(issue, working): (&String, &Working)| {
            let elapsed = lasted(since(working.since, now));
            let (number, of) = working.place;
            let cost =
                working.cost_usd.map(|usd| format!("  {}", dollars(usd))).unwrap_or_default();
            let facts = format!("{number}/{of}  {:8}  {elapsed:>6}{cost}", working.phase.as_str());
            let room = width.saturating_sub(widest + facts.chars().count() + 6);
            // What it is about comes before what it does; on a narrow terminal there is room for one.
            let title = first_line(&working.title, if room < 30 { room } else { room / 2 });
            let rest = room.saturating_sub(title.chars().count() + 2);
            let doing = if rest < 8 { String::new() } else { first_line(&working.doing, rest) };
            format!("● {issue:widest$}  {facts}  {title}  {DIM}{doing}{DIM:#}")
        };
        let mut lines: Vec<String> = self.working.iter().map(row).collect();
        if let Some(until) = self.paused_until.filter(|until| *until > now) {
            let left = lasted(since(now, until));
            lines.push(format!("  {CARE}paused{CARE:#}, continuing in {left}"));
        }
        let hint = match self.stopping {
            None => "ctrl-c lets the agents finish their turn, twice stops them",
            Some(false) => "agents finish their turn, ctrl-c stops them now",
            Some(true) => "stopping",
        };
        lines.push(format!("  {DIM}{hint}{DIM:#}"));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_sixty_columns_the_table_still_says_which_of_how_many_and_what_about() {
        let clock = Clock::from_setting(Some("2026-01-12T12:00:12Z")).unwrap();
        let mut screen = Screen {
            json: false,
            verbose: false,
            footer: Footer::new(true),
            clock,
            working: BTreeMap::new(),
            paused_until: None,
            stopping: None,
            approved: false,
            closed: false,
        };
        let at: Timestamp = "2026-01-12T12:00:00Z".parse().unwrap();
        screen.apply(
            at,
            &Event::from(WorkEvent::IssueStarted {
                issue: "hl-4f2".to_owned(),
                title: "Rotate refresh tokens when they are used".to_owned(),
                worktree: None,
                branch: None,
                number: 3,
                of: 40,
            }),
        );
        let table = |width| {
            let row = &screen.table(width)[0];
            anstream::adapter::strip_str(&crate::printer::shown(row))
                .to_string()
                .trim_end()
                .to_owned()
        };
        let narrow = "● hl-4f2  3/40  working    0m12s  Rotate refresh";
        assert!(table(60).starts_with(narrow), "{}", table(60));
        assert!(table(100).ends_with("starting"), "{}", table(100));
        for width in [40, 60, 80, 100] {
            assert!(table(width).chars().count() <= width, "{width}: {}", table(width));
        }
    }
}
