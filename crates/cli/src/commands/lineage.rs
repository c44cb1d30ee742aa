use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::Lineage;
use heirloom_core::session::{Link, Session};
use heirloom_engine::sessions::{self, Contribution, Family, FindError};

use super::{App, Done, unrecorded};
use crate::failure::Failure;
use crate::moment::ago;
use crate::ui::{BOLD, DIM, counted, hang};

/// Show a session's ancestors and descendants
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session's name, id or id prefix
    session: String,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = app.here.ledger()?;
    super::session::tidy(app, &mut ledger)?;
    let session = match sessions::find(&app.here, &ledger, &args.session) {
        Err(FindError::None { .. }) if unrecorded::show(app, &ledger, &args.session)? => {
            return Ok(ExitCode::SUCCESS);
        }
        found => found?,
    };
    let family = sessions::family(&ledger, session)?;
    if let Some(warning) = &family.warning {
        app.ui.warn(warning);
    }
    let contributed = |session: &Session| sessions::contribution(&ledger, session);
    let beyond = sessions::beyond(&ledger, &family)?;
    let mut text = render(app, &family, &contributed)?;
    if !beyond.is_empty() {
        let _ = writeln!(
            text,
            "{DIM}before that, known from what was inherited: {}{DIM:#}",
            beyond.join(", ")
        );
    }
    let answer = Lineage::new(&family, beyond, contributed)?;
    app.ui.answer(&answer, || text);
    Ok(ExitCode::SUCCESS)
}

fn render(
    app: &App,
    family: &Family,
    contributed: &impl Fn(&Session) -> Result<Contribution, heirloom_ledger::Error>,
) -> Result<String, Failure> {
    let now = app.here.clock.now();
    let chain: Vec<&Session> = std::iter::once(&family.session).chain(&family.ancestors).collect();
    let width =
        chain.iter().enumerate().map(|(depth, session)| depth * 3 + session.name.as_str().len());
    let width = width.max().unwrap_or(0);
    let mut text = String::new();
    for (depth, session) in chain.iter().enumerate() {
        let branch =
            if depth == 0 { String::new() } else { format!("{}└─ ", "   ".repeat(depth - 1)) };
        let padding = width - depth * 3 - session.name.as_str().len();
        let when = session
            .completed_at
            .map_or_else(|| session.status.in_words().to_owned(), |at| ago(at, now));
        let Contribution { learnings, decisions } = contributed(session)?;
        let line = format!(
            "{DIM}{branch}{DIM:#}{BOLD}{}{BOLD:#}{:padding$}  {when:16}  {}, {}{}{}",
            session.name,
            "",
            counted(learnings, "learning"),
            counted(decisions, "decision"),
            came(session, chain.get(depth + 1)),
            by(session),
        );
        // What does not fit stands below the rest of it, left of the tree's next branch.
        let _ = writeln!(text, "{}", hang(&line, depth * 3 + 3));
    }
    if let Some((at, link)) = family.continued.last() {
        let times = counted(family.continued.len() as u64, "time");
        let _ = writeln!(text, "continued {times}, last {} {}", link.as_str(), ago(*at, now));
    }
    text.push_str(&descendants(family));
    Ok(text)
}

/// What came of the session, by how it left it: what continues a fork belongs to the fork.
fn descendants(family: &Family) -> String {
    let mut groups =
        [("continued by", Vec::new()), ("forks", Vec::new()), ("inherited by", Vec::new())];
    let mut group = 0;
    for (depth, session) in &family.descendants {
        if *depth == 1 {
            group = match session.link {
                Some(Link::Forked) => 1,
                Some(Link::Inherited) => 2,
                _ => 0,
            };
        }
        groups[group].1.push(format!(
            "{} ({}{})",
            session.name,
            session.status.in_words(),
            by(session)
        ));
    }
    let mut text = String::new();
    for (how, sessions) in groups.iter().filter(|(_, sessions)| !sessions.is_empty()) {
        let _ = writeln!(text, "{}", hang(&format!("{how}: {}", sessions.join(", ")), 2));
    }
    text
}

/// How a session came from the one below it, where it went on with its conversation.
fn came(session: &Session, parent: Option<&&Session>) -> String {
    match (session.link, parent) {
        (Some(Link::Forked), Some(parent)) => format!(", fork of {}", parent.name),
        (Some(Link::Resumed), Some(parent)) => format!(", continues {}", parent.name),
        _ => String::new(),
    }
}

/// Whose it is, where it is a colleague's.
fn by(session: &Session) -> String {
    session.author.as_ref().map(|author| format!(", by {author}")).unwrap_or_default()
}
