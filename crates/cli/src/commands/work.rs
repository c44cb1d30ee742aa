use std::fmt::Write as _;
use std::process::ExitCode;

use heirloom_api::{PlannedIssue, WorkPlan};
use heirloom_core::causes;
use heirloom_core::issue::{Issue, IssueId, IssueStatus};
use heirloom_core::settings::Period;
use heirloom_core::work::WorkStatus;
use heirloom_engine::agents;
use heirloom_engine::issues::{self, Tracker};
use heirloom_engine::run::Stopping;
use heirloom_engine::trust;
use heirloom_engine::turn::system::Real;
use heirloom_engine::work::{self, Fleet, Options, Planned, Reviewer, With};

use heirloom_hub::HubFleet;

use super::run::dollars;
use super::{App, Done, gate_offer, given, stop_signals, work_clean};
use crate::failure::{Code, FAILED, Failure, LIMITED};
use crate::moment::ago;
use crate::ui::{Columns, one_line};
use crate::work_view::WorkView;

/// Let agents work through ready issues
///
/// Each issue gets its own agent, worktree and branch. The gate in the settings decides whether it is
/// done: its commands run here, and failures go back to the same agent. Finished work is merged into a
/// branch heirloom/work/…; your own branches and files are never touched. Ctrl-C lets agents finish
/// their turn, twice stops them; --resume continues.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Start with issues in progress, and resume their agents' sessions
    #[arg(long, short)]
    resume: bool,
    /// With --resume: fail an issue whose session cannot be resumed
    #[arg(long)]
    strict: bool,
    /// With --resume: start new sessions for issues in progress
    #[arg(long, conflicts_with = "strict")]
    fresh: bool,
    /// Run at most this many agents at once
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    max_agents: Option<u32>,
    /// Stop after this many issues
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_issues: Option<u32>,
    /// Stop once this much has been spent, in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Stop after this time (90s, 10m, 1h30m)
    #[arg(long, value_name = "TIME")]
    max_time: Option<Period>,
    /// Time limit for one issue
    #[arg(long, value_name = "TIME")]
    issue_timeout: Option<Period>,
    /// Only these issues, in this order
    #[arg(long, value_name = "ID", num_args = 1..)]
    issue: Vec<String>,
    /// Only the children of this issue
    #[arg(long, value_name = "ID", conflicts_with = "issue")]
    epic: Option<String>,
    /// The agent for issues without a session to resume
    #[arg(long, value_parser = given::agent())]
    agent: Option<String>,
    /// The model to use
    #[arg(long)]
    model: Option<String>,
    /// Work without the team's hub: claim issues on this machine only
    #[arg(long)]
    local: bool,
    /// Work in this directory with one agent, without worktrees
    #[arg(long)]
    in_place: bool,
    /// A command that must succeed before an issue is closed; repeat for more
    #[arg(long, value_name = "COMMAND")]
    gate: Vec<String>,
    /// The agent that reviews finished work before an issue is closed
    #[arg(long, value_name = "AGENT", value_parser = given::agent())]
    review: Option<String>,
    /// Show which issues would be worked on, in order, and run nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Clean(work_clean::Args),
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    if let Some(What::Clean(args)) = &args.what {
        return work_clean::run(app, args);
    }
    let loaded = app.settings()?;
    trust::needs(loaded, &["work", "agents"])?;
    let settings = &loaded.settings;
    let mut tracker = issues::find(&app.here)?;
    let fleet = if args.local || args.dry_run { None } else { share(app)? };
    let mut options = options(app, args, Options::of(settings), &mut *tracker)?;
    if args.dry_run {
        return dry_run(app, &mut *tracker, &options);
    }
    if options.gate.is_empty() {
        options.gate = gate_offer::offer(app, loaded);
    }
    if fleet.is_some() {
        options.adopt();
    }
    let programs = agents::programs(&app.here, Some(settings));
    let stopping = Stopping::new();
    let signal = stop_signals::listen(&stopping)?;
    let view = WorkView::new(app.ui.is_json(), app.verbose > 0, app.here.clock);
    let with = With {
        here: &app.here,
        programs: &programs,
        settings,
        system: &Real,
        watcher: &view,
        stopping: &stopping,
        fleet: fleet.as_ref().map(|fleet| fleet as &dyn Fleet),
    };
    let ended = work::work(with, &mut *tracker, &options);
    view.close();
    if let Some(Err(error)) = fleet.as_ref().map(HubFleet::close) {
        app.ui.warn(&format!("{}; `heirloom hub push` tries again", causes::told(&error)));
    }
    let ended = ended?;
    if let Some(run) = ended.run.filter(|_| ended.tally.open() > 0 && !app.ui.is_json()) {
        // What needs a person is not continued by itself.
        let next = if ended.tally.open() == ended.tally.needs_review {
            "close the issue once you have looked, or `heirloom work --resume --issue ID` continues it"
        } else {
            "`heirloom work --resume` continues"
        };
        app.ui.hint(&format!("`heirloom runs show {}` says more; {next}", run.short()));
    }
    Ok(match ended.status {
        WorkStatus::Interrupted => signal.exit_code(),
        WorkStatus::Completed if ended.tally.open() == 0 => ExitCode::SUCCESS,
        WorkStatus::Completed if ended.limited => ExitCode::from(LIMITED),
        _ => ExitCode::from(FAILED),
    })
}

/// Who lends out the issues, where this repository shares its backlog with a team.
fn share(app: &App) -> Result<Option<HubFleet>, Failure> {
    let holder = format!("work, process {}", std::process::id());
    HubFleet::open(&app.here, &holder).map_err(|error| {
        Failure::from(error)
            .hint("--local works without the team: another machine may take the same issue")
    })
}

fn options(
    app: &App,
    args: &Args,
    settings: Options,
    tracker: &mut dyn Tracker,
) -> Result<Options, Failure> {
    let mut options = settings;
    let resume = args.resume || options.wanted.resume;
    if args.strict && !resume {
        let failure = Failure::new(Code::Usage, "--strict requires --resume").usage();
        return Err(failure.hint("--strict decides what happens when a session cannot be resumed"));
    }
    if args.fresh && !resume {
        let failure = Failure::new(Code::Usage, "--fresh requires --resume").usage();
        return Err(failure.hint("open issues always start over"));
    }
    let number = |number: u32| number as usize;
    options.wanted.resume = resume;
    options.fresh = args.fresh;
    for id in &args.issue {
        let issue = tracker.find(id)?;
        if options.wanted.only.contains(&issue.id) {
            app.ui.warn(&format!("{} is named more than once", issue.id));
            continue;
        }
        if issue.status.is_closed() {
            app.ui.warn(&format!("{} is closed", issue.id));
        } else if issue.issue_type == Issue::EPIC {
            app.ui.warn(&format!("{0} is an epic: --epic {0} works on its children", issue.id));
        }
        options.wanted.only.push(issue.id);
    }
    if let Some(epic) = &args.epic {
        options.wanted.epic = Some(tracker.find(epic)?.id);
    }
    options.strict |= args.strict;
    options.in_place = args.in_place;
    if let Some(agent) = &args.agent {
        // A model is of an agent: another agent does not know it.
        if *agent != options.agent {
            options.model = None;
        }
        options.agent.clone_from(agent);
    }
    options.model = args.model.clone().or(options.model);
    options.max_agents = match args.max_agents {
        Some(agents) => number(agents),
        None if args.in_place => 1,
        None => options.max_agents,
    };
    if !args.gate.is_empty() {
        options.gate.clone_from(&args.gate);
    }
    if let Some(agent) = &args.review {
        options.review = Some(Reviewer::by(&app.settings()?.settings, agent));
    }
    options.max_issues = args.max_issues.map(number).or(options.max_issues);
    options.max_cost_usd = args.max_cost.or(options.max_cost_usd);
    options.max_time = args.max_time.map(Period::duration).or(options.max_time);
    options.issue_timeout = args.issue_timeout.map(Period::duration).or(options.issue_timeout);
    Ok(options)
}

fn dry_run(app: &App, tracker: &mut dyn Tracker, options: &Options) -> Done {
    let ledger = app.here.ledger()?;
    let planned = work::plan(&app.here, &ledger, tracker, options)?;
    let issues = planned.iter().map(PlannedIssue::from).collect();
    app.ui.answer(&WorkPlan { issues }, || {
        if planned.is_empty() { "nothing to do".to_owned() } else { table(app, &planned) }
    });
    let entries = tracker.backlog()?;
    let mut left = work::left_alone(&app.here, &ledger, &entries, &options.wanted)?;
    left.retain(|(entry, _)| planned.iter().all(|each| each.entry.id != entry.id));
    for (issue, words) in work::tell_left_alone(&left) {
        app.ui.warn(&issue.map_or_else(|| words.clone(), |issue| format!("{issue}: {words}")));
    }
    Ok(ExitCode::SUCCESS)
}

fn table(app: &App, planned: &[Planned]) -> String {
    let mut columns = Columns::new(&["", "id", "title", "status", "session"]);
    columns = columns.right(0).yielding(2).dispensable(&[3]);
    for (number, each) in planned.iter().enumerate() {
        let entry = &each.entry;
        let state = match &entry.status {
            IssueStatus::InProgress => "in progress".to_owned(),
            status => format!("{status} P{}", entry.priority),
        };
        columns.row(vec![
            (number + 1).to_string(),
            entry.id.to_string(),
            one_line(&entry.title),
            state,
            begins(app, each),
        ]);
    }
    columns.render()
}

/// How an issue would be begun, and what it waits for.
fn begins(app: &App, planned: &Planned) -> String {
    if let Some(why) = &planned.refused {
        return format!("refused by --strict: {why}");
    }
    let mut what = match &planned.resumes {
        Some(resumes) => {
            let id: String = resumes.agent_session_id.chars().take(8).collect();
            format!("resumes {} {id} ({})", resumes.agent, ago(resumes.at, app.here.clock.now()))
        }
        None => "fresh".to_owned(),
    };
    if planned.waits {
        let blockers: Vec<&str> = planned.entry.blocked_by.iter().map(IssueId::as_str).collect();
        let _ = write!(what, ", blocked by {} until closed", blockers.join(", "));
    }
    what
}
