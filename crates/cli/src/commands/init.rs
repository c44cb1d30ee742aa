use std::fmt::Write;
use std::io::IsTerminal;
use std::process::ExitCode;

use heirloom_api::{Setup, SetupStep};
use heirloom_engine::init::{self, Request, SetupAction};
use heirloom_engine::person::PersonError;
use heirloom_repo::Head;

use super::{App, Done, backfill, given, trust};
use crate::failure::{Code, FAILED, Failure};
use crate::ui::{BAD, DIM, GOOD, hang};

/// Set up heirloom in this repository
///
/// Writes the settings file and ignore rules, and adds hooks to the settings of each agent it finds.
/// Safe to run again: existing settings are merged, never replaced.
///
/// It also trusts what the repository already comes with: the commands, wider permissions and instructions to agents
/// that `heirloom trust --show` lists. At a terminal you see the list first and are asked; --yes agrees to it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this agent, installed or not; repeat for more
    #[arg(long, value_name = "NAME", value_parser = given::hooked_agent())]
    agent: Vec<String>,
    /// Answer every question with its default
    #[arg(long)]
    yes: bool,
    /// Remove heirloom from this repository
    ///
    /// Hooks are removed from your agents' settings with the last repository that uses them.
    #[arg(long)]
    uninstall: bool,
    /// With --uninstall: remove it from every repository, hooks included
    #[arg(long, requires = "uninstall")]
    everywhere: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let program = init::program(&app.here).map_err(|error| {
        Failure::new(Code::Environment, format!("cannot tell where heirloom itself is: {error}"))
    })?;
    let request = Request {
        agents: &args.agent,
        program: &program,
        is_rehearsal: args.dry_run,
        is_everywhere: args.everywhere,
    };
    let work = if args.uninstall { init::take_out } else { init::set_up };
    let mut steps = work(&app.here, request)?;
    let (mut is_refused, mut brought) = (false, String::new());
    if !args.uninstall {
        match trusted(app, args) {
            Ok(Some((step, list))) => {
                steps.push(step);
                brought = list;
            }
            Ok(None) => {}
            Err(PersonError::NotAPerson(_)) => is_refused = true,
            Err(error) => return Err(error.into()),
        }
    }
    if !args.dry_run && !args.uninstall {
        steps.extend(backfill::switch_on(app, args.yes)?);
    }
    let is_whole = !steps.iter().any(SetupAction::is_failed);
    let answer = Setup {
        ok: is_whole,
        dry_run: args.dry_run,
        uninstall: args.uninstall,
        steps: steps.iter().map(SetupStep::from).collect(),
    };
    app.ui.answer(&answer, || describe(app, args, &steps, &brought));
    if is_refused {
        app.ui.hint("a person has to review what this repository comes with: heirloom trust");
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Trusts what the repository comes with, once whoever sets it up has seen it. Also what it is, where that was not
/// shown before.
fn trusted(app: &App, args: &Args) -> Result<Option<(SetupAction, String)>, PersonError> {
    let Some(standing) = init::untrusted(&app.here, args.dry_run)? else { return Ok(None) };
    let asks = !args.yes && !args.dry_run && !app.ui.is_json() && std::io::stdin().is_terminal();
    if !asks {
        let step = init::trust(&app.here, &standing, args.dry_run)?;
        return Ok(Some((step, trust::brought(&standing, !args.dry_run))));
    }
    let list = trust::brought(&standing, false);
    app.ui.say(&format!("This repository comes with settings of its own.\n{list}"));
    if app.ui.confirm("Trust all of this?") {
        return Ok(Some((init::trust(&app.here, &standing, false)?, String::new())));
    }
    let detail = "not trusted, so none of it takes effect: heirloom trust";
    let step = SetupAction::new("skipped", "what this repository comes with", detail);
    Ok(Some((SetupAction { needs_you: true, ..step }, String::new())))
}

fn describe(app: &App, args: &Args, steps: &[SetupAction], brought: &str) -> String {
    const INDENT: usize = 11;
    /// A narrower column for details would be all line breaks.
    const NOTE: usize = 30;
    let place = &app.here.place;
    let under = match &place.head {
        Head::None => "not under git".to_owned(),
        Head::Branch(branch) => format!("git, branch {branch}"),
        head => format!("git, {head}"),
    };
    let would = if args.dry_run { "Would " } else { "" };
    let (set, remove) = if args.dry_run { ("set", "remove") } else { ("Set", "Removed") };
    let doing = if args.uninstall {
        format!("{remove} heirloom from")
    } else {
        format!("{set} up heirloom in")
    };
    if args.uninstall && steps.is_empty() {
        return format!("There was nothing to remove from {} ({under})", place.label());
    }
    let mut text = format!("{would}{doing} {} ({under})\n", place.label());
    let width = steps.iter().map(|step| step.what.chars().count()).max().unwrap_or(0).min(60);
    let is_narrow = crate::layout::width().is_some_and(|room| room < INDENT + width + NOTE);
    for step in steps {
        let style = if step.is_failed() {
            BAD
        } else if step.done == "skipped" {
            DIM
        } else {
            GOOD
        };
        let (done, what) = (step.done, &step.what);
        let line = if step.detail.is_empty() {
            format!("  {style}{done:8}{style:#} {what}")
        } else if is_narrow {
            let line = format!("  {style}{done:8}{style:#} {what}  {DIM}{}{DIM:#}", step.detail);
            let below = format!("{:INDENT$}{DIM}{}{DIM:#}", "", step.detail);
            match crate::layout::width() {
                Some(room) if crate::printer::plain_breadth(&line) <= room => line,
                _ => format!("  {style}{done:8}{style:#} {what}\n{}", hang(&below, 0)),
            }
        } else {
            format!("  {style}{done:8}{style:#} {what:width$}  {DIM}{}{DIM:#}", step.detail)
        };
        let _ = writeln!(text, "{}", if is_narrow { line } else { hang(&line, INDENT) });
    }
    if !brought.is_empty() {
        let _ = writeln!(text, "{brought}");
    }
    let needs_you = steps.iter().any(|step| step.needs_you);
    let is_hooked = steps.iter().any(|step| step.done == "hooked");
    let is_missing = steps.iter().any(|step| step.detail == "not installed");
    text.push_str(match args.uninstall {
        false if app.settings.is_err() => {
            "Then correct the settings (see the warnings above): heirloom doctor"
        }
        false if is_missing && !is_hooked => {
            "No agent was found: install one, then run heirloom init again.\n\
             To see heirloom at work without one: heirloom demo"
        }
        false if needs_you => "Then try: heirloom doctor",
        false => "Nothing else to do. Try: heirloom doctor",
        true => "Everything recorded so far stays in the ledger.",
    });
    text
}
