//! Which commands only look, and so make nothing: who checks a machine must leave it as it was.

use clap::ArgMatches;

/// Their words; of some only with a flag, and of one without.
const LOOKS: &[&str] = &[
    "agents",
    "approvals list",
    "approvals show",
    "archive list",
    "archive show",
    "complete",
    "config path",
    "config schema",
    "config show",
    "context rules",
    "context status",
    "conversation",
    "doctor",
    "handoffs list",
    "handoffs show",
    "heal",
    "how",
    "hub status",
    "issues list",
    "issues ready",
    "issues show",
    "ledger heads",
    "ledger stats",
    "ledger verify",
    "lineage",
    "notes",
    "pipelines list",
    "pipelines show",
    "repo",
    "repo show",
    "req",
    "req explain",
    "req status",
    "rules list",
    "runs list",
    "runs show",
    "search",
    "sessions list",
    "sessions show",
    "stages list",
    "stages show",
    "status",
    "trust",
    "usage",
    "watch",
    "why",
];

/// Whether the command that was given only looks.
pub(super) fn only_looks(matches: &ArgMatches) -> bool {
    let Some((name, own)) = matches.subcommand() else { return true };
    let words = match own.subcommand_name() {
        Some(sub) => format!("{name} {sub}"),
        None => name.to_owned(),
    };
    let has = |flag: &str| matches!(own.try_get_one::<bool>(flag), Ok(Some(true)));
    LOOKS.contains(&words.as_str())
        && match words.as_str() {
            "doctor" => !has("fix"),
            "heal" => has("check"),
            "trust" => has("show"),
            _ => true,
        }
}
