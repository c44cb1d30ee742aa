//! Forty issues with dependencies and every fate there is; the end of each is checked.

use std::collections::BTreeMap;

use super::Yard;

#[test]
fn forty_issues_of_every_kind_each_come_to_their_own_end() {
    let yard = Yard::with_settings("work: {gate: ['! ls bad-*'], max_fixes: 2, silence: 3s}\n");
    let fates: [(&[&str], &str); 11] = [
        (&["ok"], "closed"),
        (&["bad", "ok"], "closed"),
        (&["bad"], "in_progress"),
        (&["crash"], "in_progress"),
        (&["hang", "ok"], "closed"),
        (&["limit", "ok"], "closed"),
        (&["long", "ok"], "closed"),
        (&["nothing"], "in_progress"),
        (&["limit", "stale", "ok"], "closed"),
        (&["shows"], "closed"),
        (&["bad", "lies"], "in_progress"),
    ];
    let mut ends = BTreeMap::new();
    let mut before: Option<(String, &str)> = None;
    for n in 0..40 {
        let (steps, mut end) = fates[n % fates.len()];
        let blocker = before.clone().filter(|_| n % 3 == 2);
        let flags: Vec<&str> = match &blocker {
            Some((id, _)) => vec!["--blocked-by", id],
            None => vec![],
        };
        // What waits for something that is never done is never begun.
        if blocker.as_ref().is_some_and(|(_, end)| *end != "closed") {
            end = "open";
        }
        let issue = yard.issue_with(&format!("issue {n}"), steps, &flags);
        before = Some((issue.clone(), end));
        ends.insert(issue, end);
    }
    let ran = yard.run(&["work", "--max-agents", "4"]);
    assert_eq!(ran.code, 1, "{ran}");
    let all = yard.json(&["issues", "list", "--all", "--limit", "0"]);
    let found: BTreeMap<String, &str> = all["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| (each["id"].as_str().unwrap().to_owned(), each["status"].as_str().unwrap()))
        .collect();
    for (issue, end) in &ends {
        assert_eq!(found.get(issue), Some(end), "{issue}: {ran}");
    }
    let closed = ends.values().filter(|end| **end == "closed").count();
    let run = yard.json(&["runs", "show"]);
    assert_eq!(run["closed"], closed, "{run}");
    yard.run(&["ledger", "verify"]).success();
}
