//! The gate: heirloom runs the commands itself, and believes nobody else about them.

use std::time::Instant;

use heirloom_core::work::Checked;

use super::on_issue::OnIssue;
use crate::events::WorkEvent;
use crate::run::shell;

/// Runs every command of the gate, the rest too when one fails: an agent mends all of it at once.
pub(super) fn check(on: &OnIssue<'_, '_>) -> Vec<Checked> {
    let mut results = Vec::new();
    let must_stop = || on.must_stop().is_some();
    for command in &on.context.options.gate {
        let began = Instant::now();
        let is_late = || began.elapsed() >= on.context.options.gate_timeout;
        let mut failed =
            shell::check(command, &on.tree.path, &on.here.env, &|| must_stop() || is_late());
        if let Some(failed) =
            failed.as_mut().filter(|failed| failed.exit_code.is_none() && is_late())
        {
            let seconds = on.context.options.gate_timeout.as_secs();
            let why = format!("\nit was stopped after {seconds} s (work.gate_timeout)");
            failed.output.push_str(&why);
        }
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
        on.context.tell(WorkEvent::Checked {
            issue: on.job.issue.id.to_string(),
            command: command.clone(),
            passed: checked.passed,
            duration_ms,
        });
        results.push(checked);
        if must_stop() {
            break;
        }
    }
    results
}
