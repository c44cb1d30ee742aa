use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::Why;
use heirloom_core::words::in_words;
use heirloom_engine::recall::why::{Origin, Proof, Why as Known, why};
use jiff::Timestamp;

use super::{App, Done, given};
use crate::moment::ago;
use crate::ui::{BOLD, DIM, first_line, hang};

/// Show which session, prompt and decision a line comes from
///
/// Follows a committed line through git to the session that made the commit, or whose work on an issue was committed,
/// and through recorded edits to the prompt. Without a line, lists the sessions that changed the file.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file, or a line of one
    #[arg(value_name = "PATH[:LINE]", value_parser = given::text)]
    place: String,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let now = app.here.clock.now();
    let found = why(&app.here, &app.here.ledger()?, &app.directory, &args.place)?;
    app.ui.answer(&Why::from(&found), || shown(&found, now));
    if found.origins.is_empty() && !app.ui.is_json() {
        let whose = match &found.blamed {
            Some(blamed) if blamed.commit.is_some() => {
                format!("{} made that commit outside any recorded session", blamed.author)
            }
            _ => "no session is known to have changed it".to_owned(),
        };
        app.ui.hint(&format!("{whose}; `heirloom sync` imports the agents' transcripts"));
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(why: &Known, now: Timestamp) -> String {
    let mut text = String::new();
    if let (Some(line), Some(said)) = (why.line, &why.text) {
        let _ = writeln!(text, "{BOLD}{}:{line}{BOLD:#} {}", why.path, said.trim());
        if let Some(blamed) = &why.blamed {
            let commit = match &blamed.commit {
                Some(hash) => format!("{} {}", hash.get(..8).unwrap_or(hash), blamed.subject),
                None => "not committed".to_owned(),
            };
            let _ = writeln!(text, "  {DIM}{commit}{DIM:#}");
        }
    } else {
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}", why.path);
    }
    for origin in &why.origins {
        one(&mut text, origin, why.line.is_some(), now);
    }
    for (note, session) in &why.notes {
        let said = first_line(&note.text, 200);
        let kind = in_words(note.kind.as_str());
        let line = format!("{kind:9} {said} {DIM}({session}){DIM:#}");
        let _ = writeln!(text, "\n{}", hang(&line, 10));
        if let Some(rationale) = &note.rationale {
            let line = format!("          {DIM}because{DIM:#} {}", first_line(rationale, 200));
            let _ = writeln!(text, "{}", hang(&line, 2));
        }
    }
    text
}

fn one(text: &mut String, origin: &Origin, of_line: bool, now: Timestamp) {
    let session = &origin.session;
    let agent = session.agent.as_deref().unwrap_or("unknown agent");
    let at = origin.at.map(|at| format!(" {}", ago(at, now))).unwrap_or_default();
    let how = match origin.proof {
        Proof::Edit => "wrote this line",
        Proof::Commit => "made the commit",
        Proof::Subject => "made a commit with the same subject",
        Proof::File if of_line => "changed the file; which session wrote the line is unknown",
        Proof::File => "changed the file",
    };
    let (name, id) = (&session.name, session.id.short());
    let _ = writeln!(text, "\n{BOLD}{name}{BOLD:#} {DIM}{id} {agent}{at}{DIM:#} {how}");
    let mut line = |label: &str, said: &str| {
        let line = format!("  {DIM}{label:9}{DIM:#} {}", first_line(said, 200));
        let _ = writeln!(text, "{}", hang(&line, 10));
    };
    if let Some(title) = &origin.title {
        line("title", title);
    }
    if let Some(issue) = &origin.issue {
        line("issue", issue);
    }
    if let Some(prompt) = &origin.prompt {
        line("prompt", &prompt.text);
    }
    if let Some(said) = &origin.said {
        line("said", said);
    }
    if let Some(commit) = &origin.commit {
        line("commit", &format!("{} {}", commit.hash, commit.subject));
    }
    for note in &origin.decisions {
        let replaced = if note.superseded_by.is_some() { " (replaced)" } else { "" };
        line("decision", &format!("{}{replaced}", note.text));
        if let Some(rationale) = &note.rationale {
            line("because", rationale);
        }
    }
}
