//! How a run looks while it runs: one calm view on a terminal, plain lines in a pipe, JSON for
//! scripts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use heirloom_core::cost::Cost;
use heirloom_core::run::outcome::Outcome;
use heirloom_core::run::stop::reason_in_words;
use heirloom_core::settings::RunPermissions;
use heirloom_core::status::Status;
use heirloom_engine::clock::Clock;
use heirloom_engine::events::{AnyEvent, Event, RunEnded, RunEvent, Watcher, to_line};
use jiff::Timestamp;

use crate::footer::{Footer, aside, keep_fresh, lock, put, width};
use crate::moment::lasted;
use crate::printer;
use crate::ui::{BAD, BOLD, CARE, DIM, GOOD, counted, dollars, first_line, grouped, priced};

/// Shows what happens in a run.
pub(crate) struct View {
    screen: Arc<Mutex<Screen>>,
}

struct Screen {
    json: bool,
    footer: Footer,
    clock: Clock,
    /// Iterations that run now, by their stage.
    running: BTreeMap<String, Current>,
    is_pipeline: bool,
    stopping: Option<bool>,
    /// How many tool uses were denied, while agents may not do everything.
    denied: u64,
    may_do_all: bool,
    closed: bool,
}

struct Current {
    iteration: u32,
    since: Timestamp,
    doing: String,
    cost_usd: Option<f64>,
    tokens: Option<u64>,
    /// Its stage, where there are several.
    stage: Option<String>,
    waits_until: Option<Timestamp>,
}

impl View {
    pub(crate) fn new(json: bool, clock: Clock) -> Self {
        let footer = Footer::new(json);
        let live = footer.is_live();
        let screen = Screen {
            json,
            footer,
            clock,
            running: BTreeMap::new(),
            is_pipeline: false,
            stopping: None,
            denied: 0,
            may_do_all: false,
            closed: false,
        };
        let screen = Arc::new(Mutex::new(screen));
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
        screen.running.clear();
        screen.redraw("");
        screen.closed = true;
    }
}

impl Watcher for View {
    fn see(&self, at: Timestamp, event: &Event) {
        let mut screen = lock(&self.screen);
        if screen.json {
            let _ = printer::json(&format!("{}\n", to_line(at, event)));
            return;
        }
        let text = match event {
            Event::Any(AnyEvent::Warning { message, .. }) => {
                let text = format!("{CARE}warning:{CARE:#} {message}\n");
                screen.redraw_with(|| aside(&text));
                return;
            }
            Event::Any(AnyEvent::Stopping { now }) => screen.stop(*now),
            Event::Run(event) => {
                screen.apply(at, event);
                screen.lines(event)
            }
            // Another view shows these.
            Event::Work(_) => return,
        };
        screen.redraw(&text);
    }
}

impl Screen {
    fn stop(&mut self, now: bool) -> String {
        self.stopping = Some(now);
        let what = if now { "stopping the agent" } else { "stopping after this iteration" };
        if self.footer.is_live() { String::new() } else { format!("    {what}\n") }
    }

    fn apply(&mut self, at: Timestamp, event: &RunEvent) {
        match event {
            RunEvent::Started { max, permissions, .. } => {
                self.is_pipeline = max.is_none();
                self.may_do_all = *permissions == Some(RunPermissions::Accept);
            }
            RunEvent::IterationStarted { stage, iteration, .. } => {
                let current = Current {
                    iteration: *iteration,
                    since: at,
                    doing: "starting".to_owned(),
                    cost_usd: None,
                    tokens: None,
                    stage: self.is_pipeline.then(|| stage.clone()),
                    waits_until: None,
                };
                self.running.insert(stage.clone(), current);
            }
            RunEvent::Activity { stage, tool, text, cost_usd, tokens, .. } => {
                if let Some(current) = self.running.get_mut(stage) {
                    current.doing = match tool {
                        Some(tool) => format!("{tool}  {text}"),
                        None => text.clone(),
                    };
                    current.cost_usd = cost_usd.or(current.cost_usd);
                    current.tokens = tokens.or(current.tokens);
                }
            }
            RunEvent::Waiting { stage, wait_ms, why, .. } => {
                if let Some(current) = self.running.get_mut(stage) {
                    let wait = i64::try_from(*wait_ms).unwrap_or(i64::MAX);
                    let until = at.as_millisecond().saturating_add(wait);
                    current.waits_until = Timestamp::from_millisecond(until).ok();
                    current.doing.clone_from(why);
                }
            }
            RunEvent::IterationEnded { stage, denied, .. } => {
                self.denied += denied.values().sum::<u64>();
                self.running.remove(stage);
            }
            RunEvent::StageEnded { stage, .. } => {
                self.running.remove(stage);
            }
            RunEvent::Ended(_) => self.running.clear(),
            _ => {}
        }
    }

    /// What stays of an event.
    fn lines(&self, event: &RunEvent) -> String {
        match event {
            RunEvent::Started {
                session,
                plan,
                agent,
                model,
                max,
                branch,
                resumed,
                worktree,
                permissions,
                ..
            } => {
                let mut parts = vec![plan.clone()];
                if let Some(agent) = agent {
                    let model = model.as_ref().map(|model| format!(" {model}"));
                    parts.push(format!("{agent}{}", model.unwrap_or_default()));
                }
                parts.extend(
                    max.map(|max| format!("up to {}", counted(u64::from(max), "iteration"))),
                );
                parts.extend(branch.as_ref().map(|branch| format!("on {branch}")));
                let may = permissions.map(|may| format!("permissions {}", may.as_str()));
                parts.extend(may);
                parts.extend(resumed.then(|| "resumed".to_owned()));
                let place = worktree.as_ref().map(|path| format!("    works in {path}\n"));
                let place = place.unwrap_or_default();
                format!("{BOLD}{session}{BOLD:#}  {}\n{place}", parts.join(" · "))
            }
            RunEvent::Inherited { .. } => inherited(event),
            RunEvent::StageStarted { id, agent, max, .. } if self.is_pipeline => {
                let most = counted((*max).into(), "iteration");
                format!("{BOLD}{id}{BOLD:#}  {agent} · up to {most}\n")
            }
            RunEvent::IterationEnded { .. } => self.iteration(event),
            RunEvent::Waiting { wait_ms, why, .. } if !self.footer.is_live() => {
                format!("    waiting {}: {why}\n", lasted(*wait_ms))
            }
            RunEvent::Checked { what, holds, .. } if !what.is_empty() => {
                let (style, word) = if *holds { (GOOD, "holds") } else { (CARE, "does not hold") };
                format!("    {DIM}{}{DIM:#} {style}{word}{style:#}\n", first_line(what, 60))
            }
            RunEvent::StageEnded { reason, status, .. } if self.is_pipeline => {
                format!("    {status}: {}\n", reason_in_words(reason))
            }
            RunEvent::Ended(run) => ended(run) + &self.about_denials(),
            _ => String::new(),
        }
    }

    /// What could be done about tool uses that were denied.
    fn about_denials(&self) -> String {
        match self.denied {
            0 => String::new(),
            count if self.may_do_all => {
                let many = counted(count, "tool use");
                format!(
                    "{CARE}{many} denied{CARE:#}, by the agent's own rules or by a requirement\n"
                )
            }
            count => {
                let many = counted(count, "tool use");
                format!(
                    "{CARE}{many} denied{CARE:#}: --permissions accept lets agents run commands\n"
                )
            }
        }
    }

    fn iteration(&self, event: &RunEvent) -> String {
        let RunEvent::IterationEnded {
            stage,
            iteration,
            outcome,
            summary,
            why,
            cost_usd,
            duration_ms,
            learnings,
            denied,
            ..
        } = event
        else {
            return String::new();
        };
        let is_good = *outcome == Outcome::Completed;
        let (style, mark) = if is_good { (GOOD, '✔') } else { (BAD, '✗') };
        let words = if is_good { summary } else { why };
        let words = words.as_deref().or(summary.as_deref()).unwrap_or_default();
        let learned = match learnings {
            0 => String::new(),
            count => format!("  {DIM}+{}{DIM:#}", counted(*count as u64, "learning")),
        };
        let denials = match denied.values().sum() {
            0 => String::new(),
            count => format!("  {CARE}{} denied{CARE:#}", counted(count, "tool use")),
        };
        let lane = if self.is_pipeline && stage.starts_with("parallel-") {
            format!("{} ", stage.split('/').nth(1).unwrap_or_default())
        } else {
            String::new()
        };
        format!(
            "{iteration:>2}  {style}{mark}{style:#} {}  {}  {lane}{}{learned}{denials}\n",
            lasted(*duration_ms),
            priced(*cost_usd),
            first_line(words, 72),
        )
    }

    /// Puts `text` above what is being redrawn.
    fn redraw(&mut self, text: &str) {
        self.redraw_with(|| put(text));
    }

    fn redraw_with(&mut self, work: impl FnOnce()) {
        let lines = if self.closed { Vec::new() } else { self.below() };
        self.footer.redraw(work, &lines);
    }

    /// What is being redrawn.
    fn below(&self) -> Vec<String> {
        let (width, now) = (width(), self.clock.now());
        let mut lines: Vec<String> =
            self.running.values().map(|current| current.line(now, width)).collect();
        if !lines.is_empty() {
            let hint = match self.stopping {
                None => "ctrl-c finishes this iteration, twice stops it",
                Some(false) => "stopping after this iteration, ctrl-c stops it now",
                Some(true) => "stopping",
            };
            lines.push(format!("    {DIM}{hint}{DIM:#}"));
        }
        lines
    }
}

impl Current {
    fn line(&self, now: Timestamp, width: usize) -> String {
        let since = |from: Timestamp, to: Timestamp| {
            u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
        };
        let room = width.saturating_sub(26).max(10);
        if let Some(until) = self.waits_until {
            let left = lasted(since(now, until));
            return format!(
                "{:>2}  {CARE}…{CARE:#} {left}  {}",
                self.iteration,
                first_line(&self.doing, room)
            );
        }
        let mut facts = vec![lasted(since(self.since, now))];
        facts.extend(self.cost_usd.map(dollars));
        facts.extend(self.tokens.map(|tokens| format!("{} tokens", grouped(tokens))));
        facts.extend(self.stage.clone());
        let facts = facts.join("  ");
        let room = width.saturating_sub(facts.chars().count() + 10).max(10);
        format!("{:>2}  ● {facts}  {}", self.iteration, first_line(&self.doing, room))
    }
}

fn inherited(event: &RunEvent) -> String {
    let RunEvent::Inherited {
        lineage,
        learnings,
        patterns,
        warnings,
        decisions,
        tokens,
        holding,
        broken,
        left_out,
        ..
    } = event
    else {
        return String::new();
    };
    let parts: Vec<String> = [
        (*learnings, "learning"),
        (*patterns, "pattern"),
        (*warnings, "warning"),
        (*decisions, "decision"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, noun)| counted(count as u64, noun))
    .collect();
    let what = if parts.is_empty() { "its progress".to_owned() } else { parts.join(", ") };
    let mut text = format!("inherits {}: {what} ({tokens} tokens)\n", lineage.join(" ← "));
    if let Some(left_out) = left_out.in_words() {
        let _ = writeln!(text, "         {CARE}left out{CARE:#} to save space: {left_out}");
    }
    if *holding + broken.len() > 0 {
        let holds = if *holding == 1 { "holds" } else { "hold" };
        let _ = write!(text, "         {} {holds}", counted(*holding as u64, "decision"));
        if let Some(first) = broken.first() {
            let no_longer = if broken.len() == 1 { "no longer does" } else { "no longer do" };
            let _ = write!(text, ", {} {no_longer}: \"{}\"", broken.len(), first_line(first, 50));
        }
        text.push('\n');
    }
    text
}

fn ended(run: &RunEnded) -> String {
    let RunEnded {
        session, status, reason, iterations, cost_usd, cost_partial, duration_ms, ..
    } = run;
    let style = match *status {
        Status::Completed => GOOD,
        Status::Failed => BAD,
        _ => CARE,
    };
    let reason = reason.as_deref().map(|reason| format!(": {}", reason_in_words(reason)));
    let reason = reason.unwrap_or_default();
    let status = status.in_words();
    let made = counted(u64::from(*iterations), "iteration");
    let mut text = format!(
        "{style}{status}{style:#}{reason} · {made}, {}, {}\n",
        lasted(*duration_ms),
        priced(Cost::new(*cost_usd, *cost_partial))
    );
    if status != Status::Completed.in_words() {
        let _ = writeln!(
            text,
            "{DIM}resume it with the same command and --resume; `heirloom status {session}` says more{DIM:#}"
        );
    }
    text
}
