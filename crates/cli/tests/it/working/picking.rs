//! Which issues are taken up, in which order, and what is refused before anything happens.

use super::Yard;

#[test]
fn a_dry_run_says_what_would_be_picked_in_which_order_and_touches_nothing() {
    let yard = Yard::new();
    let base = yard.issue_with("Base", &["ok"], &["-p", "2"]);
    let urgent = yard.issue_with("Urgent", &["ok"], &["-p", "0", "--blocked-by", &base]);
    let later = yard.issue_with("Later", &["ok"], &["-p", "4"]);
    yard.issue_with("Epic", &["ok"], &["-t", "epic", "-p", "0"]);
    let plan = yard.json(&["work", "--dry-run"]);
    let picked: Vec<(&str, bool)> = plan["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| (each["id"].as_str().unwrap(), each["resume_session"].is_null()))
        .collect();
    assert_eq!(picked, [(base.as_str(), true), (&urgent, true), (&later, true)]);
    let text = yard.run(&["work", "--dry-run"]).success().stdout;
    assert!(text.contains(&format!("fresh, blocked by {base} until closed")), "{text}");
    assert_eq!(yard.status(&base), "open");
    assert_eq!(yard.json(&["runs", "list"])["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn only_what_is_asked_for_is_taken_up() {
    let yard = Yard::new();
    let epic = yard.issue_with("Epic", &["ok"], &["-t", "epic"]);
    let part = yard.issue_with("Part", &["ok"], &["--parent", &epic]);
    let other = yard.issue("Other", &["ok"]);
    yard.run(&["work", "--epic", &epic]).success();
    assert_eq!((yard.status(&part).as_str(), yard.status(&other).as_str()), ("closed", "open"));
    let third = yard.issue("Third", &["ok"]);
    yard.run(&["work", "--issue", &third]).success();
    assert_eq!((yard.status(&third).as_str(), yard.status(&other).as_str()), ("closed", "open"));
    let ran = yard.run(&["work", "--issue", "hl-nothing"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("there is no issue hl-nothing"), "{ran}");
}

#[test]
fn a_number_of_issues_is_enough() {
    let yard = Yard::new();
    let issues: Vec<String> = (0..3).map(|n| yard.issue(&format!("{n}"), &["ok"])).collect();
    yard.run(&["work", "--max-issues", "2", "--max-agents", "1"]).success();
    let closed = issues.iter().filter(|issue| yard.status(issue) == "closed").count();
    assert_eq!(closed, 2);
}

#[test]
fn money_that_is_spent_ends_the_run() {
    let yard = Yard::new();
    let issues: Vec<String> = (0..4).map(|n| yard.issue(&format!("{n}"), &["ok"])).collect();
    let ran = yard.run(&["work", "--max-cost", "0.40", "--max-agents", "1"]).success();
    assert!(ran.stdout.contains("completed: the cost limit is reached"), "{ran}");
    let closed = issues.iter().filter(|issue| yard.status(issue) == "closed").count();
    assert_eq!(closed, 2);
}

#[test]
fn strict_without_resume_is_wrong_usage() {
    let ran = Yard::new().run(&["work", "--strict"]);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(ran.stderr.contains("--strict requires --resume"), "{ran}");
}

#[test]
fn a_tracker_that_does_not_answer_is_an_error_and_not_an_empty_backlog() {
    let yard = Yard::new();
    yard.env.write(".beads/issues.jsonl", "<<<<<<< ours\n");
    let ran = yard.run(&["work"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("issues.jsonl:1"), "{ran}");
    assert!(!ran.stdout.contains("completed"), "{ran}");
}

#[test]
fn without_work_nothing_happens_nothing_fails_and_no_run_is_recorded() {
    let yard = Yard::new();
    let hers = yard.issue_with("Hers", &["ok"], &["--assignee", "ada"]);
    yard.run(&["issues", "update", &hers, "--status", "in_progress"]).success();
    for ran in [yard.run(&["work"]).success(), yard.run(&["work", "--dry-run"]).success()] {
        assert_eq!(ran.stdout, "nothing to do\n", "{ran}");
        let left = format!("{hers}: skipped: ada has it in progress");
        assert!(ran.stderr.contains(&left), "{ran}");
    }
    let told = yard.run(&["work", "--json"]).success().stdout;
    let last: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["reason"]), (&"ended".into(), &"nothing to do".into()));
    assert!(last["run"].is_null(), "{last}");
    assert_eq!(yard.json(&["runs", "list"])["runs"].as_array().unwrap().len(), 0);
    let kept = std::fs::read_dir(yard.env.home().join("work")).unwrap().count();
    assert_eq!(kept, 0, "nobody can look on at a run that is none");
    assert_eq!(yard.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}

/// What waits for a person, and what comes only after that, is none of the issues that are ahead.
#[test]
fn the_numbers_of_a_resumed_run_are_those_of_the_issues_that_it_takes_up() {
    let yard = Yard::with_settings("work: {gate: ['! ls bad-*'], max_fixes: 0, max_agents: 1}\n");
    yard.issue_with("First", &["bad", "ok"], &["-p", "0"]);
    let shrugs = yard.issue_with("Shrugs", &["shrug"], &["-p", "1"]);
    yard.issue_with("Last", &["bad", "ok"], &["-p", "2"]);
    assert_eq!(yard.run(&["work"]).code, 1);
    let after = yard.issue("After", &["ok"]);
    yard.run(&["issues", "dep", "add", &after, &shrugs]).success();
    yard.issue_with("Hers", &["ok"], &["--assignee", "ada"]);
    let ran = yard.run(&["work", "--resume"]).success();
    for line in ["started  1 of 2  First", "started  2 of 2  Last"] {
        assert!(ran.stdout.contains(line), "{line}: {ran}");
    }
}

#[test]
fn events_are_lines_of_json_and_end_with_the_end() {
    let yard = Yard::new();
    let issue = yard.issue("One", &["ok"]);
    let ran = yard.run(&["work", "--json"]).success();
    let events: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["event"], "started");
    let ended = events.iter().find(|event| event["event"] == "issue_ended").unwrap();
    assert_eq!(
        (ended["issue"].as_str(), ended["status"].as_str()),
        (Some(issue.as_str()), Some("closed"))
    );
    let last = events.last().unwrap();
    assert_eq!((last["event"].as_str(), last["closed"].as_i64()), (Some("ended"), Some(1)));
}

#[test]
fn issues_are_taken_up_in_the_order_in_which_they_are_named() {
    let yard = Yard::new();
    let ids: Vec<String> = (0..4).map(|n| yard.issue(&format!("{n}"), &["ok"])).collect();
    let plan =
        yard.run(&["work", "--dry-run", "--json", "--issue", &ids[3], &ids[0], &ids[3], &ids[2]]);
    let plan = plan.success();
    assert!(plan.stderr.contains(&format!("{} is named more than once", ids[3])), "{plan}");
    let plan = plan.json();
    let named: Vec<&str> = plan["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["id"].as_str().unwrap())
        .collect();
    assert_eq!(named, [&ids[3], &ids[0], &ids[2]]);
}

#[test]
fn what_somebody_has_is_named_when_nothing_else_is_to_do() {
    let yard = Yard::new();
    let begun = yard.issue("Begun", &["ok"]);
    yard.run(&["issues", "update", &begun, "--status", "in_progress"]).success();
    let hers = yard.issue_with("Hers", &["ok"], &["--assignee", "ada"]);
    let ran = yard.run(&["work"]).success();
    for line in [
        format!("{begun}: skipped: it is in progress (`--resume` continues it)"),
        format!("{hers}: skipped: it is assigned to ada"),
    ] {
        assert!(ran.stderr.contains(&line), "{line}: {ran}");
    }
    assert_eq!((yard.launches(&begun), yard.launches(&hers)), (0, 0));
}

#[test]
fn of_many_that_are_left_alone_the_first_are_named_and_the_rest_counted() {
    let yard = Yard::new();
    for n in 0..12 {
        let begun = yard.issue(&format!("{n}"), &["ok"]);
        yard.run(&["issues", "update", &begun, "--status", "in_progress"]).success();
    }
    for args in [&["work", "--dry-run"][..], &["work"]] {
        let ran = yard.run(args).success();
        assert_eq!(ran.stderr.matches(": skipped: it is in progress").count(), 10, "{ran}");
        assert!(ran.stderr.contains("2 more skipped for similar reasons"), "{ran}");
    }
}

#[test]
fn agents_that_work_at_the_same_time_share_what_may_be_spent() {
    let yard = Yard::new();
    let issues: Vec<String> = (0..2).map(|n| yard.issue(&format!("{n}"), &["slow"])).collect();
    yard.run(&["work", "--max-agents", "2", "--max-cost", "4"]).success();
    let budgets: Vec<f64> = issues
        .iter()
        .map(|issue| yard.given(issue, 1).flag("--max-budget-usd").unwrap().parse().unwrap())
        .collect();
    assert!(budgets.iter().sum::<f64>() <= 4.0, "{budgets:?}");
    let yard = Yard { env: yard.env.var("HEIRLOOM_AGENT_CODEX", "true") };
    let ran = yard.run(&["work", "--agent", "codex", "--max-cost", "4"]);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(ran.stderr.contains("codex does not report what it costs"), "{ran}");
}

/// A run cannot claim it, and what comes after it has to wait for a person.
#[test]
fn a_plan_names_whose_an_issue_is_and_leaves_it_to_them() {
    let yard = Yard::new();
    let hers = yard.issue_with("Hers", &["ok"], &["--assignee", "ada"]);
    let after = yard.issue("After hers", &["ok"]);
    yard.run(&["issues", "dep", "add", &after, &hers]).success();
    let ours = yard.issue("Ours", &["ok"]);
    let plan = yard.run(&["work", "--dry-run", "--json"]).success();
    let told = format!("{hers}: skipped: it is assigned to ada");
    assert!(plan.stderr.contains(&told), "{plan}");
    let planned = plan.json()["issues"].clone();
    assert_eq!((planned[0]["id"].as_str(), planned.as_array().unwrap().len()), (Some(&*ours), 1));
    let ran = yard.run(&["work"]).success();
    assert!(ran.stderr.contains(&told), "{ran}");
    assert_eq!((yard.launches(&hers), yard.launches(&after), yard.launches(&ours)), (0, 0, 1));
}

#[test]
fn of_many_that_need_review_a_resumed_run_names_a_few_and_counts_the_rest() {
    let yard = Yard::with_settings("work: {gate: ['true'], max_agents: 4}\n");
    let ours: Vec<String> = (0..12).map(|n| yard.issue(&format!("{n}"), &["shrug"])).collect();
    assert_eq!(yard.run(&["work"]).code, 1);
    let hers = yard.issue_with("Hers", &["ok"], &["--assignee", "ada"]);
    yard.run(&["issues", "update", &hers, "--status", "in_progress"]).success();
    let ran = yard.run(&["work", "--resume"]).success();
    assert_eq!(ran.stderr.matches(": skipped: ").count(), 10, "{ran}");
    assert!(ran.stderr.contains("3 more skipped for similar reasons"), "{ran}");
    assert_eq!((ran.stdout.as_str(), yard.launches(&ours[0])), ("nothing to do\n", 1), "{ran}");
}

#[test]
fn who_has_nothing_to_do_needs_no_agent_and_who_has_hears_of_the_one_that_is_built_in() {
    let yard = Yard::new();
    let yard = Yard { env: yard.env.var("HEIRLOOM_AGENT_CLAUDE", "/nowhere/claude") };
    assert_eq!(yard.run(&["work"]).success().stdout, "nothing to do\n");
    // Nor does who leaves to a person what there is.
    let begun = yard.issue_with("Begun", &["ok"], &["--assignee", "ada"]);
    yard.run(&["issues", "update", &begun, "--status", "in_progress"]).success();
    assert_eq!(yard.run(&["work", "--resume"]).success().stdout, "nothing to do\n");
    let issue = yard.issue("One", &["ok"]);
    let ran = yard.run(&["work"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("the agent claude is not at /nowhere/claude"), "{ran}");
    assert!(ran.stderr.contains("`--agent sim` is built in"), "{ran}");
    assert_eq!(yard.status(&issue), "open");
    let ran = yard.run(&["run", "ralph", "one", "1", "--permissions", "edits"]);
    assert!(ran.code != 0 && ran.stderr.contains("`--agent sim` is built in"), "{ran}");
}
