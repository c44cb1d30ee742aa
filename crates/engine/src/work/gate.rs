//! The gate: heirloom runs the commands itself, and believes nobody else about them.

use std::path::Path;
use std::time::Instant;

use heirloom_agents::Env;
use heirloom_core::work::Checked;

use super::event::Event;
use super::shop::Shop;
use crate::run::shell;

/// Runs every command of the gate, the rest too when one fails: an agent mends all of it at once.
pub(super) fn check(shop: &Shop<'_>, issue: &str, cwd: &Path, env: &Env) -> Vec<Checked> {
    let mut results = Vec::new();
    for command in &shop.options.gate {
        let began = Instant::now();
        let failed = shell::check(command, cwd, env, &shop.stopping);
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let checked = match failed {
            None => Checked {
                command: command.clone(),
                passed: true,
                exit_code: Some(0),
                duration_ms,
                output: String::new(),
            },
            Some(failed) => Checked {
                command: command.clone(),
                passed: false,
                exit_code: failed.exit_code,
                duration_ms,
                output: failed.output,
            },
        };
        shop.tell(&Event::Checked {
            issue: issue.to_owned(),
            command: command.clone(),
            passed: checked.passed,
            duration_ms,
        });
        results.push(checked);
        if shop.stopping.asked() > 1 {
            break;
        }
    }
    results
}
