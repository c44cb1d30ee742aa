//! What rules make of shell commands: the hidden ones they must see, and the ordinary ones that must
//! not be in anybody's way.

use heirloom_core::guard::requirement::Requirement;
use heirloom_core::guard::settings;
use heirloom_core::guard::shell::{CommandPattern, Fit, parse};
use heirloom_core::guard::trigger::{ToolUse, Workdir, triggered_by};
use serde_json::json;

const HIDDEN: &str = include_str!("../corpus/shell/hidden.txt");
const ORDINARY: &str = include_str!("../corpus/shell/ordinary.txt");

const PLACE: Workdir<'static> =
    Workdir { roots: &["/work/project"], cwd: "/work/project", ignores_case: false };

fn lines(corpus: &str) -> impl Iterator<Item = &str> {
    corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

#[test]
fn a_rule_sees_what_is_hidden_and_leaves_alone_what_is_harmless() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines(HIDDEN) {
        count += 1;
        let (rule, command) = line.split_once(" :: ").unwrap_or_else(|| panic!("{line}"));
        let mut words = rule.split(' ').map(str::to_owned);
        let wanted = match words.next().as_deref() {
            Some("yes") => Fit::Yes,
            Some("maybe") => Fit::Maybe,
            Some("no") => Fit::No,
            other => panic!("{other:?} is no verdict: {line}"),
        };
        let pattern = CommandPattern(words.collect());
        let command = command.replace('⏎', "\n");
        let script = parse(&command);
        let (fit, _) = pattern.fit(&script, &command);
        if fit != wanted {
            wrong.push(format!("{line}\n    is {fit:?}: {script:?}"));
        }
    }
    assert!(count >= 240, "only {count} commands");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

fn dangerous() -> Vec<Requirement> {
    settings::policy(&json!({"requirements": {"dangerous": true}})).requirements
}

#[test]
fn ordinary_commands_are_in_nobodys_way() {
    let requirements = dangerous();
    let mut denied = Vec::new();
    let mut uncertain = Vec::new();
    let mut count = 0;
    for line in lines(ORDINARY) {
        count += 1;
        let input = json!({"command": line.replace('⏎', "\n")});
        let tool_use = ToolUse::read("Bash", &input);
        let hits: Vec<_> = requirements
            .iter()
            .filter_map(|r| Some((r.name.as_str(), triggered_by(r, &tool_use, &PLACE)?)))
            .collect();
        if let Some((name, hit)) = hits.iter().find(|(_, hit)| hit.is_certain()) {
            denied.push(format!("{line}\n    {name}: {:?}", hit.what));
        } else if let Some((name, hit)) = hits.first() {
            uncertain.push(format!("{line}\n    {name}: {:?}", hit.what));
        }
    }
    assert!(count >= 2_000, "only {count} commands");
    assert!(denied.is_empty(), "{} denied:\n{}", denied.len(), denied.join("\n"));
    let most = count / 100;
    assert!(
        uncertain.len() <= most,
        "{} of {count} uncertain, {most} at most:\n{}",
        uncertain.len(),
        uncertain.join("\n")
    );
}

#[test]
fn no_ordinary_command_is_listed_twice() {
    let mut seen = std::collections::HashSet::new();
    let twice: Vec<&str> = lines(ORDINARY).filter(|line| !seen.insert(*line)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
