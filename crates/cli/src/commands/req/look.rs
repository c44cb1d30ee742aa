use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::{Explanation, RequirementLog, RequirementState, RequirementStatus};
use heirloom_core::guard::decide::paused_banner;
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::state::{BY_AGENT, BY_PERSON, short_session};
use heirloom_core::words::in_words;
use heirloom_engine::guard::status::{self, Happened, Question, Row};
use heirloom_ledger::Ledger;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{anyone, branch, policy};
use crate::commands::{App, Done, given};
use crate::failure::FAILED;
use crate::moment::{ago, by_the_clock};
use crate::ui::{BAD, CARE, DIM, GOOD, first_line, hang};

#[derive(Debug, Default, clap::Args)]
pub(super) struct StatusArgs {
    /// The session's name, id or id prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// The tool: Edit, Bash, …
    tool: String,
    /// The shell command it would run
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// The file it would touch
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// What it would write
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The session's name, id or id prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct StateArgs {
    /// The branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct LogArgs {
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = given::count)]
    limit: usize,
}

pub(super) fn status(app: &App, ledger: &mut Ledger, args: &StatusArgs) -> Done {
    let policy = policy(app)?;
    let subject = anyone(app, ledger, args.session.as_deref())?;
    let branch = branch(app, args.branch.as_deref());
    let overview = status::overview(&app.here, &policy, &subject, &branch)?;
    for problem in policy.problems.iter().filter(|problem| !app.is_told(&problem.at)) {
        app.ui.warn(&problem.to_string());
    }
    let paused = overview.paused.as_ref();
    let answer = RequirementStatus {
        branch: branch.to_string(),
        session: subject.key().map(str::to_owned),
        enabled: policy.enabled,
        paused: paused.map(Into::into),
        requirements: overview.rows.iter().map(Into::into).collect(),
    };
    app.ui.answer(&answer, || {
        let session = subject.key().map_or_else(
            || "no session".to_owned(),
            |key| format!("session {}", short_session(key)),
        );
        let mut text = format!("{branch} · {session}\n");
        if !policy.enabled {
            let _ = writeln!(text, "{CARE}requirements are switched off in the settings{CARE:#}");
        }
        if let Some(pause) = paused {
            let session = args.session.is_some().then(|| subject.key()).flatten();
            let session = session.map(short_session);
            let banner = paused_banner(pause.told(session.as_deref()));
            let _ = writeln!(text, "{}", hang(&format!("{CARE}{banner}{CARE:#}"), 0));
        }
        if overview.rows.is_empty() {
            text.push_str("  no requirements; add them to .heirloom/config.yaml\n");
        }
        let width = overview.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        for row in &overview.rows {
            let line = describe(row, width, subject.key().is_some(), app.here.clock.now());
            let _ = writeln!(text, "{}", hang(&line, width + 6));
        }
        for (name, why) in unusable(&policy) {
            let line = format!("  {BAD}✗{BAD:#} {name:width$}  not enforced: {why}");
            let _ = writeln!(text, "{}", hang(&line, width + 6));
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

/// The requirements that are not enforced because of what their settings say.
fn unusable(policy: &Policy) -> Vec<(&str, &str)> {
    let fatal = policy.problems.iter().filter(|problem| problem.fatal);
    let named = fatal.filter_map(|problem| {
        let name = problem.at.strip_prefix("requirements.")?.split('.').next()?;
        policy.get(name).is_none().then_some((name, problem.message.as_str()))
    });
    let mut rows: Vec<_> = named.collect();
    rows.dedup_by_key(|(name, _)| *name);
    rows
}

fn describe(row: &Row, width: usize, in_session: bool, now: Timestamp) -> String {
    let (style, mark) = match (row.satisfied, row.triggered) {
        (true, _) => (GOOD, "✔"),
        (false, true) => (BAD, "✗"),
        (false, false) => (DIM, "·"),
    };
    let scope = in_words(row.scope);
    let how = match (&row.satisfied_by, row.satisfied) {
        (Some(by), _) => {
            let by = match row.metadata.get("skill").and_then(Value::as_str) {
                Some(skill) => format!("/{skill}"),
                None if by == BY_AGENT => {
                    let reason = row.metadata.get("reason").and_then(Value::as_str);
                    let reason = reason.map(|reason| format!(" ({})", first_line(reason, 60)));
                    format!("the agent's word{}", reason.unwrap_or_default())
                }
                None => who(by),
            };
            let from = row.metadata.get("carried_from").and_then(Value::as_str);
            let from = from.map(|id| format!(", carried from {}", short_session(id)));
            let when = row.satisfied_at.map(|at| format!(", {}", ago(at, now))).unwrap_or_default();
            let until = row.expires_at.map(|at| format!(", until {}", by_the_clock(at, now)));
            let until = until.unwrap_or_default();
            format!("by {by}{when}{until}{}", from.unwrap_or_default())
        }
        (None, true) => match &row.reason {
            Some(why) => format!("allows it: {why}"),
            None => "holds".to_owned(),
        },
        (None, false) => {
            let triggered = (!row.triggered).then_some("not triggered yet");
            let known: Vec<&str> = triggered.into_iter().chain(row.reason.as_deref()).collect();
            let gap = if known.is_empty() { "" } else { " " };
            // Outside a session somebody has to say which one is meant.
            let is_of_one = !matches!(row.scope, "branch" | "permanent");
            let is_typed = row.resolution.starts_with("heirloom req ");
            let which =
                if is_typed && is_of_one && !in_session { " --session SESSION" } else { "" };
            format!("{}{gap}→ {}{which}", known.join("; "), row.resolution)
        }
    };
    format!("  {style}{mark}{style:#} {:width$}  {scope:10}  {DIM}{how}{DIM:#}", row.name)
}

pub(super) fn explain(app: &App, ledger: &mut Ledger, args: &ExplainArgs) -> Done {
    let policy = policy(app)?;
    let subject = anyone(app, ledger, args.session.as_deref())?;
    let fields =
        [("command", &args.command), ("file_path", &args.path), ("content", &args.content)];
    let input: Map<String, Value> = fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), Value::from(value.as_deref()?))))
        .collect();
    let cwd = app.directory.to_string_lossy();
    let branch = branch(app, None);
    let input = Value::Object(input);
    let question = Question { tool: &args.tool, input: &input, cwd: &cwd, branch: &branch };
    let before = status::explain(&app.here, &policy, &subject, question);
    let seen = ledger.requirements(&app.here.place.repo, &branch, &subject.keys)?;
    let is_paused = seen.paused(app.here.clock.now()).is_some();
    warn_of_case(app, &policy, &args.tool);
    let answer = Explanation::new(&before, is_paused);
    app.ui.answer(&answer, || {
        let mut out = match answer.verdict.as_str() {
            "deny" => format!("{BAD}denied{BAD:#}\n"),
            "warn" => format!("{CARE}allowed, with a warning{CARE:#}\n"),
            "ask" => format!("{CARE}uncertain: you would be asked{CARE:#}\n"),
            _ if answer.requirements.is_empty() => "no requirement applies to this\n".to_owned(),
            _ => format!("{GOOD}allowed{GOOD:#}\n"),
        };
        for row in &answer.requirements {
            let _ = write!(out, "  {}: {}", row.name, in_words(&row.standing));
            if let Some(reason) = &row.reason {
                let _ = write!(out, " {DIM}{reason}{DIM:#}");
            }
            out.push('\n');
            let matches = if row.certain { "matches" } else { "may match" };
            let what = row.matched.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
            let _ = writeln!(out, "    {DIM}{matches} {}{what}{DIM:#}", row.trigger);
        }
        if let Some(text) = &answer.text {
            let _ = writeln!(out, "\n{text}");
        }
        out
    });
    Ok(if answer.verdict == "deny" { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// Tools are told apart by their letters' case, so one in another case fits nothing.
fn warn_of_case(app: &App, policy: &Policy, tool: &str) {
    let named = policy.requirements.iter().flat_map(|each| &each.triggers).map(|each| &*each.tool);
    let known = ["Bash", "Edit", "MultiEdit", "NotebookEdit", "Read", "Skill", "Task", "Write"];
    let mut all = named.chain(known);
    let is_other_case = |name: &&str| *name != tool && name.eq_ignore_ascii_case(tool);
    if let Some(meant) = all.find(is_other_case) {
        app.ui.warn(&format!("no agent calls a tool `{tool}`; did you mean `{meant}`?"));
    }
}

pub(super) fn state(app: &App, ledger: &Ledger, args: &StateArgs) -> Done {
    let policy = policy(app)?;
    let branch = branch(app, args.branch.as_deref());
    let state = status::state(&app.here, ledger, &policy, &branch)?;
    let state = RequirementState(state);
    app.ui.answer(&state, || serde_json::to_string_pretty(&state).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

pub(super) fn log(app: &App, ledger: &Ledger, args: &LogArgs) -> Done {
    let log = status::log(&app.here, ledger, args.limit)?;
    let answer = RequirementLog { log: log.iter().map(Into::into).collect() };
    app.ui.answer(&answer, || {
        if log.is_empty() {
            return String::new();
        }
        let now = app.here.clock.now();
        log.iter().map(|each| happened(each, now)).collect::<Vec<_>>().join("\n")
    });
    if log.is_empty() && !app.ui.is_json() {
        app.ui.hint("no requirement has been satisfied or cleared here yet");
    }
    Ok(ExitCode::SUCCESS)
}

/// Who or what satisfied a requirement.
fn who(by: &str) -> String {
    if by == BY_PERSON { "a person".to_owned() } else { by.replace('_', " ") }
}

fn happened(each: &Happened, now: Timestamp) -> String {
    let mut line = format!("{:18} {:12}", ago(each.at, now), each.what.replace('_', " "));
    if !each.name.is_empty() {
        let _ = write!(line, " {}", each.name);
    }
    if let Some(how) = &each.how {
        let _ = write!(line, " by {}", who(how));
    }
    if let Some(skill) = each.metadata.get("skill").and_then(Value::as_str) {
        let _ = write!(line, " /{skill}");
    }
    if let Some(reason) = each.metadata.as_str() {
        let _ = write!(line, ": {reason}");
    }
    if let Some(session) = &each.session {
        let _ = write!(line, " {DIM}session {}{DIM:#}", short_session(session));
    }
    if let Some(branch) = &each.branch {
        let _ = write!(line, " {DIM}on {branch}{DIM:#}");
    }
    line
}
