use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::ExitCode;

use heirloom_agents::Programs;
use heirloom_agents::program::quote;
use heirloom_api::{PastList, ResumeCommand};
use heirloom_engine::agents::programs;
use heirloom_engine::recall::Kept;
use heirloom_engine::recall::back::{self, Back};
use heirloom_engine::recall::carry::{self, Carry, CarryError};
use heirloom_engine::recall::resume::{Past, past};
use heirloom_ledger::Ledger;
use heirloom_repo::child;

use super::{App, Done, given, picking};
use crate::failure::{Code, Failure};
use crate::moment::ago;
use crate::ui::{BOLD, Columns, DIM, counted, one_line};

/// Find a past conversation and continue it in its agent
///
/// Searches recorded sessions and the agents' own history by title, prompt, file, commit, branch, directory, id
/// and content. A single match is resumed in its directory. At a terminal, you choose among several on a screen that
/// narrows down as you type; in a pipe they are listed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to look for [default: list the newest]
    #[arg(value_parser = given::text)]
    query: Option<String>,
    /// Print the command instead of running it
    #[arg(long)]
    print: bool,
    /// Continue in this agent instead, with a copy of the conversation
    #[arg(long, value_name = "AGENT", value_parser = given::agent())]
    with: Option<String>,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = given::count)]
    limit: usize,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    let watched = !app.ui.is_json() && is_watched(args);
    let mut all = if args.query.is_none() && watched {
        Vec::new()
    } else {
        past(&app.here, &ledger, args.query.as_deref())?
    };
    let is_one = args.query.is_some() && (args.print || args.with.is_some() || all.len() == 1);
    if watched && !is_one {
        let typed = args.query.clone().unwrap_or_default();
        match picking::choose(app, &ledger, typed, args.with.is_some())? {
            Some(chosen) => all = vec![chosen],
            None => return Ok(ExitCode::SUCCESS),
        }
    } else if !is_one || !(args.print || watched || args.with.is_some()) {
        // What an agent cannot go on with is offered only to others.
        all.retain(|past| args.with.is_some() || past.is_resumable());
        all.truncate(args.limit);
        return list(app, &all, args);
    }
    let settings = app.settings.as_ref().ok().map(|loaded| &loaded.settings);
    let programs = programs(&app.here, settings);
    let Some(mut chosen) = all.into_iter().next() else {
        return Err(Failure::new(Code::SessionNotFound, "no past conversation matches")
            .hint("`heirloom resume` without a query lists them all"));
    };
    if let Some(gone) = chosen.leave_gone_directory(&app.here, &ledger)? {
        let instead = app.here.place.root.display();
        app.ui.warn(&format!("the directory {} is gone; it goes on in {instead}", gone.display()));
    }
    if let Some(gone) = chosen.directory.as_ref().filter(|directory| !directory.is_dir()) {
        let message = format!("the directory {} of that conversation is gone", gone.display());
        let id = &chosen.agent_session_id;
        return Err(Failure::new(Code::Environment, message).hint(format!(
            "`heirloom resume {id}` in a checkout of its repository goes on there"
        )));
    }
    if let Some(agent) = args.with.as_deref().filter(|agent| *agent != chosen.agent) {
        match carry::is_there(&app.here, &programs, agent) {
            // Whoever only wants the command may run it elsewhere.
            Err(missing @ CarryError::NoProgram(_)) if args.print => {
                app.ui.warn(&missing.to_string());
            }
            found => found?,
        }
        let carried = carry::carry(&app.here, &mut ledger, &programs, &chosen, agent)?;
        say(app, &carried);
        chosen = Past {
            agent: agent.to_owned(),
            agent_session_id: carried.session.agent_session_id.clone().unwrap_or_default(),
            transcript: carried.path,
            session: Some(carried.session),
            ..chosen
        };
    } else {
        bring_back(app, &mut ledger, &programs, &mut chosen)?;
    }
    go_on(app, args, &programs, &chosen)
}

/// Whether a person can be let choose: at a terminal, or where the command is printed for one by a key
/// of the shell.
fn is_watched(args: &Args) -> bool {
    let is_smart = std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    let looks = crate::printer::is_terminal() || (args.print && crate::printer::is_err_terminal());
    is_smart && looks && std::io::IsTerminal::is_terminal(&std::io::stdin())
}

fn list(app: &App, all: &[Past], args: &Args) -> Done {
    let now = app.here.clock.now();
    app.ui.answer(&PastList::from(all), || {
        let mut columns = Columns::new(&["session", "agent", "id", "when", "branch", "about"])
            .yielding(5)
            .dispensable(&[4, 3]);
        for past in all {
            let name = past.session.as_ref().map(|session| session.name.to_string());
            columns.row(vec![
                // One that heirloom never recorded has none.
                name.unwrap_or_else(|| "-".to_owned()),
                past.agent.clone(),
                past.agent_session_id.chars().take(8).collect(),
                past.at.map(|at| ago(at, now)).unwrap_or_default(),
                past.branch.clone().unwrap_or_default(),
                one_line(&past.title),
            ]);
        }
        if all.is_empty() { String::new() } else { columns.render() }
    });
    if !app.ui.is_json() {
        // Where nobody looks there is no agent to start, and the same again would only list it again.
        let hint = match (&args.query, all) {
            (Some(_), [one]) => {
                let id = || one.agent_session_id.chars().take(8).collect();
                let name = one.session.as_ref().map_or_else(id, |one| one.name.to_string());
                format!(
                    "`heirloom resume {name}` at a terminal continues it; with --print it prints the command"
                )
            }
            (_, [_, ..]) => {
                "`heirloom resume NAME` or `heirloom resume ID` at a terminal continues one \
                             of them; with --print it prints the command"
                    .to_owned()
            }
            (Some(_), []) => {
                "no past conversation matches; `heirloom resume` lists them all".to_owned()
            }
            (None, []) => "no agent has a conversation of this repository to resume yet; \
                           `heirloom sessions` lists what is recorded"
                .to_owned(),
        };
        app.ui.hint(&hint);
    }
    Ok(ExitCode::SUCCESS)
}

/// Gives the agent a conversation back that it no longer has, where something of it is kept.
fn bring_back(
    app: &App,
    ledger: &mut Ledger,
    programs: &Programs,
    chosen: &mut Past,
) -> Result<(), Failure> {
    match back::bring_back(&app.here, ledger, programs, chosen)? {
        Back::There => {}
        Back::Restored(path) => app.ui.say(&format!(
            "{} no longer had its transcript; restored from the archive {DIM}{}{DIM:#}",
            chosen.agent,
            path.display()
        )),
        Back::Copied(carried) => say(app, &carried),
        Back::Gone => app.ui.warn(&format!(
            "{} no longer has its transcript, and nothing of it is archived",
            chosen.agent
        )),
    }
    Ok(())
}

pub(super) fn say(app: &App, carried: &Carry) {
    let turns = counted(carried.turns as u64, "turn");
    let path = carried.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    app.ui.say(&format!(
        "{BOLD}{}{BOLD:#} has {turns} of it {DIM}{path}{DIM:#}",
        carried.session.name
    ));
    match carried.from {
        Kept::Native => {}
        Kept::Archive => app.ui.hint("from the archive: the agent's own transcript is gone"),
        Kept::Stream => app.ui.hint("from the recorded stream: no transcript is left"),
    }
    app.ui.hint(&format!("not carried over: {}", carry::LEFT_BEHIND.join(", ")));
    if carried.left_out > 0 {
        app.ui
            .warn(&format!("the oldest {} did not fit", counted(carried.left_out as u64, "turn")));
    }
}

fn go_on(app: &App, args: &Args, programs: &Programs, chosen: &Past) -> Done {
    let Some(mut command) = chosen.command() else {
        let message = format!("{} has no command that resumes a conversation", chosen.agent);
        let failure = Failure::new(Code::SessionNotFound, message);
        return Err(match &chosen.session {
            Some(session) => {
                failure.hint(format!("`heirloom continue {} \"…\"` continues it", session.name))
            }
            None => failure,
        });
    };
    let is_agents = chosen.agents_command().is_some();
    if let Some(replaced) = programs.replacement(&chosen.agent).filter(|_| is_agents) {
        command.splice(0..1, replaced.iter().cloned());
    }
    if args.print {
        let answer = ResumeCommand::of(chosen, command.clone());
        app.ui.answer_verbatim(&answer, || {
            let words: Vec<String> = command.iter().map(|word| quote(word)).collect();
            match &chosen.directory {
                Some(directory) => {
                    format!("cd {} && {}", quote(&directory.display().to_string()), words.join(" "))
                }
                None => words.join(" "),
            }
        });
        return Ok(ExitCode::SUCCESS);
    }
    // What is ours may not be where the shell looks for programs.
    let own = std::env::current_exe().ok().filter(|_| !is_agents);
    let mut run = child::successor(own.as_deref().unwrap_or(Path::new(&command[0])));
    run.args(&command[1..]);
    if let Some(directory) = &chosen.directory {
        run.current_dir(directory);
    }
    // It takes our place: what it prints and how it ends is its own.
    let error = run.exec();
    Err(Failure::from_error(Code::Environment, &error)
        .hint(format!("could not start {}", command[0])))
}
