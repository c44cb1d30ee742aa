use std::process::ExitCode;

use heirloom_core::words::size;
use heirloom_engine::session::{self as engine, Collected};

use super::super::{App, Done, session};
use crate::ui::{DIM, GOOD, counted};

/// Free disk space
///
/// Compresses the output of finished sessions, and removes unused secrets and files left behind by
/// killed processes. Records, output and the secrets of sessions are never removed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut ledger = session::open(app)?;
    let collected = engine::collect(&app.here, &mut ledger, args.dry_run)?;
    if collected.secrets.in_use {
        app.ui.warn("the vault was left alone: another process is writing to it");
    }
    app.ui.answer(&heirloom_api::LedgerCollected::from(&collected), || describe(&collected));
    Ok(ExitCode::SUCCESS)
}

fn describe(collected: &Collected) -> String {
    let Collected { dry_run, streams, secrets, leftovers, ledger } = collected;
    let (mark, would) = if *dry_run {
        (format!("{DIM}·{DIM:#}"), "would be ")
    } else {
        (format!("{GOOD}✔{GOOD:#}"), "")
    };
    let sizes = |before: u64, after: Option<u64>| {
        let after = after.map(|after| format!(", now {}", size(after)));
        let both = format!(" ({}{})", size(before), after.unwrap_or_default());
        if before == 0 { String::new() } else { both }
    };
    let mut lines = vec![
        format!(
            "{mark} {} {would}compressed{}",
            counted(streams.files, "stream"),
            sizes(streams.bytes_before, streams.bytes_after)
        ),
        format!("{mark} {} {would}removed", counted(secrets.removed, "unused secret")),
        format!("{mark} {} {would}removed", counted(leftovers.len() as u64, "leftover")),
    ];
    lines.extend(leftovers.iter().map(|path| format!("  {DIM}{}{DIM:#}", path.display())));
    let (is, after) = if *dry_run { ("is", "about") } else { ("was", "now") };
    lines.push(format!(
        "{mark} the ledger {is} {}, {would}{after} {}; no record is ever removed",
        size(ledger.bytes_before),
        size(ledger.bytes_after)
    ));
    lines.join("\n")
}
