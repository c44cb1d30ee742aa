//! The commands: one file each. The doc comment of a command is its help.

mod agents;
mod alone;
mod app;
mod approvals;
mod archive;
mod backfill;
mod checkpoint;
mod complete;
mod completions;
mod config;
mod context;
mod continue_;
mod conversation;
mod demo;
mod doctor;
mod dry_run;
mod examples;
mod fork;
mod fork_check;
mod gate_offer;
mod given;
mod ground;
mod handoffs;
mod heal;
mod help;
mod home;
mod hook;
mod how;
mod hub;
mod import;
mod inherit;
mod init;
mod interrupt;
mod issues;
mod launch;
mod ledger;
mod lineage;
mod looks;
mod man;
mod mcp;
mod note;
mod notes;
mod output;
mod permitting;
mod picking;
mod pipelines;
mod recover;
mod repo;
mod req;
mod resume;
mod rules;
mod run;
mod runs;
mod schema;
mod search;
mod serve;
mod session;
mod sessions;
mod stages;
mod status;
mod statusline;
mod stop_signals;
mod sync;
mod trust;
mod unrecorded;
mod usage;
mod watch;
mod why;
mod work;
mod work_clean;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args as _, CommandFactory, FromArgMatches, Parser, Subcommand};
use heirloom_engine::here::Here;

pub(crate) use app::App;

use crate::failure::{Code, Failure, USAGE, exit};
use crate::pager;
use crate::ui::Ui;

/// Kept apart, so that what is special about a command comes first in its help.
const GLOBAL: &str = "Global options";

/// The continuity layer for coding agents
///
/// heirloom records the sessions of your coding agents, and starts each new one with what earlier ones
/// learned, decided and proved.
#[derive(Debug, Parser)]
#[command(name = "heirloom", version, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,

    #[command(subcommand)]
    command: Option<Command>,
}

/// What every command takes.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Global {
    /// Print the answer as one JSON document
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,

    /// Log what happens; twice logs more
    #[arg(short, long, global = true, help_heading = GLOBAL, action = clap::ArgAction::Count)]
    verbose: u8,

    /// Print answers and errors only
    #[arg(short, long, global = true, help_heading = GLOBAL, conflicts_with = "verbose")]
    quiet: bool,

    /// Do not show long answers in a pager
    #[arg(long, global = true, help_heading = GLOBAL)]
    no_pager: bool,
}

/// The commands by their names, of which each can be had alone: to make the parsers of all of them costs as much as
/// most commands do.
macro_rules! commands {
    ($($(#[$about:meta])* $name:literal $variant:ident($module:ident),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$about])* $variant($module::Args),)*
        }

        impl Command {
            /// The parser of the command of that name.
            fn alone(name: &str) -> Option<clap::Command> {
                match name {
                    $($name => Some($module::Args::augment_args(clap::Command::new($name))),)*
                    _ => None,
                }
            }
        }
    };
}

commands! {
    "init" Init(init),
    "doctor" Doctor(doctor),
    "trust" Trust(trust),
    "usage" Usage(usage),
    "demo" Demo(demo),
    "run" Run(run),
    "watch" Watch(watch),
    "stages" Stages(stages),
    "pipelines" Pipelines(pipelines),
    "inherit" Inherit(inherit),
    "note" Note(note),
    "notes" Notes(notes),
    "rules" Rules(rules),
    "ground" Ground(ground),
    "checkpoint" Checkpoint(checkpoint),
    "handoffs" Handoffs(handoffs),
    "recover" Recover(recover),
    "context" Context(context),
    "fork-check" ForkCheck(fork_check),
    "heal" Heal(heal),
    "search" Search(search),
    "why" Why(why),
    "how" How(how),
    "resume" Resume(resume),
    "sync" Sync(sync),
    "archive" Archive(archive),
    "req" Req(req),
    "work" Work(work),
    "runs" Runs(runs),
    "issues" Issues(issues),
    "hook" Hook(hook),
    "sessions" Sessions(sessions),
    "status" Status(status),
    "lineage" Lineage(lineage),
    "launch" Launch(launch),
    "continue" Continue(continue_),
    "fork" Fork(fork),
    "interrupt" Interrupt(interrupt),
    "conversation" Conversation(conversation),
    "approvals" Approvals(approvals),
    "serve" Serve(serve),
    "mcp" Mcp(mcp),
    "statusline" Statusline(statusline),
    "ledger" Ledger(ledger),
    "import" Import(import),
    "repo" Repo(repo),
    "hub" Hub(hub),
    "agents" Agents(agents),
    "config" Config(config),
    "schema" Schema(schema),
    #[command(hide = true)]
    "complete" Complete(complete),
    "completions" Completions(completions),
    "man" Man(man),
}

impl Command {
    /// Whether it should say what happened to the ledger. Those that look at just that say it
    /// themselves.
    const fn uses_the_ledger(&self) -> bool {
        !matches!(
            self,
            Self::Doctor(_)
                | Self::Heal(_)
                | Self::Demo(_)
                | Self::Hook(_)
                | Self::Statusline(_)
                | Self::Config(_)
                | Self::Complete(_)
                | Self::Completions(_)
                | Self::Man(_)
        )
    }
}

/// How a command that could do what it was asked ended.
type Done = Result<ExitCode, Failure>;

pub(crate) fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let command = parser(&arguments);
    let arguments = alone::complete(&command, arguments);
    let parsed = command.try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|matches| {
        let only_looks = looks::only_looks(&matches);
        Ok((Cli::from_arg_matches(&matches)?, only_looks))
    });
    let (cli, only_looks) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return refuse(error, &arguments),
    };
    let ui = Ui::new(cli.global.json);
    if let Err(why) = crate::logging::begin(cli.global.verbose) {
        ui.fail(&Failure::new(Code::Environment, why));
        return ExitCode::from(USAGE);
    }
    match attend(cli, only_looks) {
        Ok(code) => code,
        Err(failure) => {
            ui.fail(&failure);
            ExitCode::from(exit(&failure))
        }
    }
}

/// What parses these arguments: the command that they name and no other, or all of them where that is not clear.
fn parser(arguments: &[OsString]) -> clap::Command {
    match alone::named(arguments).and_then(Command::alone) {
        Some(command) => {
            let root = clap::Command::new("heirloom").disable_help_subcommand(true);
            Global::augment_args(root).subcommand(command)
        }
        None => Cli::command(),
    }
}

fn attend(cli: Cli, only_looks: bool) -> Done {
    let mut app =
        look_around(Ui::new(cli.global.json).quiet(cli.global.quiet), cli.global.verbose)?;
    app.here.only_looks = only_looks;
    if !cli.global.no_pager {
        app.ui.paged_by(pager::choose(&app.here));
    }
    let app = app;
    let Some(command) = cli.command else {
        app.report_settings();
        let done = home::run(&app);
        app.report_offers();
        return done;
    };
    // It says so itself, with everything else.
    let is_told = !matches!(command, Command::Doctor(_));
    if is_told {
        app.report_settings();
    }
    if command.uses_the_ledger() {
        for notice in heirloom_engine::attend::attend(&app.here)? {
            app.ui.warn(&notice.to_string());
        }
    }
    let done = carry_out(&app, command);
    app.report_offers();
    if is_told { done.or_else(|failure| app.end(failure)) } else { done }
}

fn carry_out(app: &App, command: Command) -> Done {
    match command {
        Command::Init(args) => init::run(app, &args),
        Command::Doctor(args) => doctor::run(app, &args),
        Command::Trust(args) => trust::run(app, &args),
        Command::Usage(args) => usage::run(app, &args),
        Command::Demo(args) => demo::run(app, &args),
        Command::Run(args) => run::run(app, &args),
        Command::Watch(args) => watch::run(app, &args),
        Command::Stages(args) => stages::run(app, &args),
        Command::Pipelines(args) => pipelines::run(app, &args),
        Command::Inherit(args) => inherit::run(app, &args),
        Command::Note(args) => note::run(app, args),
        Command::Notes(args) => notes::run(app, args),
        Command::Handoffs(args) => handoffs::run(app, &args),
        Command::Rules(args) => rules::run(app, &args),
        Command::Ground(args) => ground::run(app, &args),
        Command::Checkpoint(args) => checkpoint::run(app, &args),
        Command::Recover(args) => recover::run(app, &args),
        Command::Context(args) => context::run(app, &args),
        Command::ForkCheck(args) => fork_check::run(app, &args),
        Command::Heal(args) => heal::run(app, &args),
        Command::Search(args) => search::run(app, args),
        Command::Why(args) => why::run(app, &args),
        Command::How(args) => how::run(app, &args),
        Command::Resume(args) => resume::run(app, &args),
        Command::Sync(args) => sync::run(app, &args),
        Command::Archive(args) => archive::run(app, &args),
        Command::Req(args) => req::run(app, args),
        Command::Work(args) => work::run(app, &args),
        Command::Runs(args) => runs::run(app, &args),
        Command::Issues(args) => issues::run(app, args),
        Command::Hook(args) => hook::run(&args),
        Command::Sessions(args) => sessions::run(app, args),
        Command::Status(args) => status::run(app, &args),
        Command::Lineage(args) => lineage::run(app, &args),
        Command::Launch(args) => launch::run(app, args),
        Command::Continue(args) => continue_::run(app, args),
        Command::Fork(args) => fork::run(app, args),
        Command::Interrupt(args) => interrupt::run(app, &args),
        Command::Conversation(args) => conversation::run(app, &args),
        Command::Approvals(args) => approvals::run(app, args),
        Command::Serve(args) => serve::run(app, &args),
        Command::Mcp(args) => mcp::run(app, &args),
        Command::Statusline(args) => statusline::run(app, &args),
        Command::Ledger(args) => ledger::run(app, args),
        Command::Import(args) => import::run(app, &args),
        Command::Repo(args) => repo::run(app, &args),
        Command::Hub(args) => hub::run(app, &args),
        Command::Agents(args) => agents::run(app, &args),
        Command::Config(args) => config::run(app, &args),
        Command::Schema(args) => schema::run(app, &args),
        Command::Complete(args) => complete::run(app, &args),
        Command::Completions(args) => completions::run(app, &args),
        Command::Man(args) => man::run(app, &args),
    }
}

fn look_around(ui: Ui, verbose: u8) -> Result<App, Failure> {
    let directory = std::env::current_dir().map_err(|error| {
        Failure::from_error(Code::Environment, &error)
            .hint("the current directory may have been deleted")
    })?;
    let here = Here::look_for_command(&directory, std::env::vars_os().collect())?;
    let settings = here.settings(&[]);
    Ok(App { ui, verbose, here, directory, settings })
}

/// What clap says about arguments it cannot take. Help and version are answers, not errors.
fn refuse(error: clap::Error, arguments: &[OsString]) -> ExitCode {
    // Only here somebody reads help, and to make all of it costs more than most commands do.
    let tree = tree();
    let command = named(&tree, arguments);
    let hidden: Vec<String> = tree
        .get_subcommands()
        .filter(|command| command.is_hide_set())
        .map(|command| command.get_name().to_owned())
        .collect();
    let mut error = tree.try_get_matches_from(arguments).err().unwrap_or(error);
    // What is not listed is not for people to type.
    if let Some(ContextValue::Strings(meant)) = error.get(ContextKind::SuggestedSubcommand) {
        let meant = meant.iter().filter(|name| !hidden.contains(name)).cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
    }
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let ui = Ui::new(arguments.iter().any(|argument| argument == "--json"));
    let text = negative(arguments, &error).unwrap_or_else(|| error.to_string());
    let failure = Failure { code: code_of(&error), ..misuse(&text, &command) };
    ui.fail(&failure);
    ExitCode::from(USAGE)
}

/// What scripts know a misuse by. That there is no such agent has a code of its own, wherever one is named.
fn code_of(error: &clap::Error) -> Code {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return Code::Usage;
    };
    let names_agent =
        ["--agent ", "--with ", "--review "].iter().any(|flag| given.starts_with(flag));
    if error.kind() == ErrorKind::InvalidValue && names_agent {
        Code::AgentUnknown
    } else {
        Code::Usage
    }
}

/// The command that was typed, as far as there is one: `heirloom sessions list`.
fn named(tree: &clap::Command, arguments: &[OsString]) -> String {
    let (mut command, mut words) = (tree, vec![tree.get_name()]);
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        match command.find_subcommand(word) {
            Some(below) => {
                command = below;
                words.push(below.get_name());
            }
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    words.join(" ")
}

/// What is said of a negative number, which clap takes for an option that nobody knows.
fn negative(arguments: &[OsString], error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_number = |word: &str| {
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if error.kind() != ErrorKind::UnknownArgument || !is_number(given) {
        return None;
    }
    // Of `-5m` clap names the first letter alone.
    let at = arguments.iter().position(|word| {
        word.to_str().is_some_and(|word| is_number(word) && word.starts_with(given.as_str()))
    })?;
    let typed = arguments[at].to_string_lossy();
    let option = arguments[at - 1].to_str().filter(|before| before.starts_with("--"));
    let whose = option.map(|option| format!(" for '{option}'")).unwrap_or_default();
    let rest = error.to_string();
    let rest = rest.split_once("\n\n").map_or("", |(_, rest)| rest);
    let rest: Vec<&str> = rest.split("\n\n").filter(|part| !part.contains("tip:")).collect();
    Some(format!("invalid value '{typed}'{whose}: it cannot be negative\n\n{}", rest.join("\n\n")))
}

/// Why a number is refused, without the words of the language it was written in: `9 is not in 1..=3`.
fn reworded(message: &str) -> String {
    let why = if message.contains("invalid value '-") {
        "it cannot be negative"
    } else {
        "it has to be a whole number"
    };
    let message = message.replace("invalid digit found in string", why);
    let message = message.replace("number too large to fit in target type", "it is too large");
    if message.ends_with("is not a duration") {
        return format!("{message}, such as 90s, 10m or 1h30m");
    }
    let Some((before, range)) = message.rsplit_once(" is not in ") else { return message };
    let given = before.rsplit_once(": ").map(|(given, _)| given);
    let Some((given, (least, most))) = given.zip(range.split_once("..")) else { return message };
    match most.strip_prefix('=') {
        // A bound that is only that of the type is nobody's business.
        Some(most) if most.len() <= 6 => format!("{given}: it has to be from {least} to {most}"),
        _ => format!("{given}: it has to be at least {least}"),
    }
}

/// What clap says about `command`, in our form: the first paragraph is the message, tips and the rest are hints.
fn misuse(text: &str, command: &str) -> Failure {
    let mut paragraphs = text.split("\n\n").map(|paragraph| {
        let lines = paragraph.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    });
    let first = paragraphs.next().unwrap_or_default();
    let first = reworded(first.trim_start_matches("error: "));
    let failure = Failure::new(Code::Usage, first).usage();
    paragraphs.filter(|paragraph| !paragraph.is_empty()).fold(failure, |failure, paragraph| {
        if paragraph.starts_with("For more information") {
            return failure.hint(format!("`{command} --help` shows how it is used"));
        }
        failure.hint(paragraph.trim_start_matches("tip: ").replacen("Usage: ", "usage: ", 1))
    })
}

/// The whole command tree, with all that its help says.
fn tree() -> clap::Command {
    help::dress(Cli::command())
}
