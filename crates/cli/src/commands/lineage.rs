use std::fmt::Write;
use std::process::ExitCode;

use heirloom_api::Lineage;
use heirloom_core::session::Session;
use heirloom_engine::sessions::{self, Contribution, Family, FindError};

use super::{App, Done, unrecorded};
use crate::failure::Failure;
use crate::moment::ago;
use crate::ui::{BOLD, DIM, counted};

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
        let _ = writeln!(
            text,
            "{DIM}{branch}{DIM:#}{BOLD}{}{BOLD:#}{:padding$}  {when:16}  {}, {}{}",
            session.name,
            "",
            counted(learnings, "learning"),
            counted(decisions, "decision"),
            by(session),
        );
    }
    if let Some((at, link)) = family.continued.last() {
        let times = counted(family.continued.len() as u64, "time");
        let _ = writeln!(text, "continued {times}, last {} {}", link.as_str(), ago(*at, now));
    }
    if !family.descendants.is_empty() {
        let row = |s: &Session| format!("{} ({}{})", s.name, s.status, by(s));
        let rows = family.descendants.iter().map(|(_, session)| row(session));
        let _ = writeln!(text, "continued by: {}", rows.collect::<Vec<_>>().join(", "));
    }
    Ok(text)
}

/// Whose it is, where it is a colleague's.
fn by(session: &Session) -> String {
    session.author.as_ref().map(|author| format!(", by {author}")).unwrap_or_default()
}
