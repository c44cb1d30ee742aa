use heirloom_ledger::Problem;

use crate::fixture::{Home, fill};

/// What verifying says after `sql` changed a ledger of ten records behind its back.
fn problems_after(sql: &str) -> Vec<(&'static str, u64)> {
    let home = Home::new();
    fill(&mut home.open(), 9);
    home.tamper(sql);
    let report = home.open().verify().unwrap();
    assert_eq!(report.ok, report.problems.is_empty());
    let in_chain =
        |problem: &Problem| (!problem.host.is_empty()).then_some((problem.problem, problem.seq));
    report.problems.iter().filter_map(in_chain).collect()
}

#[test]
fn an_untouched_ledger_verifies() {
    let home = Home::new();
    fill(&mut home.open(), 9);
    let report = home.open().verify().unwrap();
    assert_eq!((report.ok, report.records, report.hosts), (true, 10, 1));
    assert_eq!(report.problems, []);
}

#[test]
fn a_changed_record_is_named_whatever_was_changed() {
    for change in [
        r#"body = '{"text":"something else"}'"#,
        "body = body || ' '",
        "at = at + 1",
        "kind = 'note.removed'",
        "session = NULL",
        "session = '00000000-0000-0000-0000-000000000009'",
        "repo = '/src/other'",
        "repo = NULL",
        "id = '01950000-0000-7000-8000-000000000000'",
        "hash = zeroblob(32)",
    ] {
        let sql = format!("UPDATE record SET {change} WHERE seq = 5");
        let problems = problems_after(&sql);
        assert!(problems.contains(&("changed", 5)), "{change}: {problems:?}");
    }
}

#[test]
fn a_record_that_cannot_be_read_any_more_is_named() {
    for change in ["id = 'x'", "session = 'x'", "hash = x'00'"] {
        let problems = problems_after(&format!("UPDATE record SET {change} WHERE seq = 5"));
        assert!(problems.contains(&("changed", 5)), "{change}: {problems:?}");
    }
}

#[test]
fn a_missing_record_is_named_at_either_end_and_in_the_middle() {
    for seq in [1, 5, 10] {
        let problems = problems_after(&format!("DELETE FROM record WHERE seq = {seq}"));
        assert_eq!(problems, [("missing", seq)]);
    }
    assert_eq!(problems_after("DELETE FROM record WHERE seq IN (4, 5, 6)"), [("missing", 4)]);
    assert_eq!(problems_after("DELETE FROM record"), [("missing", 1)]);
}

#[test]
fn records_that_changed_places_are_named() {
    let swap = "UPDATE record SET seq = -1 WHERE seq = 4;
                UPDATE record SET seq = 4 WHERE seq = 7;
                UPDATE record SET seq = 7 WHERE seq = -1;";
    let problems = problems_after(swap);
    assert!(problems.contains(&("reordered", 4)), "{problems:?}");
    assert!(problems.contains(&("reordered", 7)), "{problems:?}");
}

#[test]
fn neighbours_that_changed_places_are_named_and_nobody_else() {
    let swap = "UPDATE record SET seq = -1 WHERE seq = 4;
                UPDATE record SET seq = 4 WHERE seq = 5;
                UPDATE record SET seq = 5 WHERE seq = -1;";
    let mut problems = problems_after(swap);
    problems.retain(|problem| *problem != ("reordered", 0));
    problems.dedup();
    assert!(problems.contains(&("reordered", 4)), "{problems:?}");
    assert!(problems.contains(&("reordered", 5)), "{problems:?}");
    assert!(
        problems.iter().all(|(problem, seq)| *problem == "reordered" && (4..=5).contains(seq)),
        "{problems:?}"
    );
}

#[test]
fn a_head_that_is_gone_or_forged_is_noticed() {
    let home = Home::new();
    fill(&mut home.open(), 2);
    home.tamper("UPDATE head SET hash = zeroblob(32)");
    let report = home.open().verify().unwrap();
    assert_eq!((report.problems[0].problem, report.problems[0].seq), ("changed", 3));
    home.tamper("DELETE FROM head");
    let report = home.open().verify().unwrap();
    let kinds: Vec<&str> = report.problems.iter().map(|problem| problem.problem).collect();
    assert_eq!(kinds, ["missing", "damaged"]);
}

#[test]
fn damage_deep_in_the_file_is_a_problem_and_not_the_end_of_verifying() {
    let home = Home::new();
    fill(&mut home.open(), 200);
    home.checkpoint();
    let mut bytes = std::fs::read(home.file()).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    std::fs::write(home.file(), bytes).unwrap();
    let report = home.open().verify().unwrap();
    assert!(!report.ok && report.problems.iter().any(|problem| problem.problem == "damaged"));
}

#[test]
fn text_that_is_no_text_any_more_is_a_problem_and_not_the_end_of_verifying() {
    let home = Home::new();
    fill(&mut home.open(), 2);
    home.tamper("UPDATE note SET text = CAST(x'ff41' AS TEXT)");
    let report = home.open().verify().unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert_eq!(report.problems[0].problem, "projection");
}

#[test]
fn records_that_arrived_in_another_order_are_named() {
    let swap = "UPDATE record SET arrival = -1 WHERE seq = 4;
                UPDATE record SET arrival = 4 WHERE seq = 7;
                UPDATE record SET arrival = 7 WHERE seq = 4;";
    let problems = problems_after(swap);
    assert!(problems.iter().any(|(problem, _)| *problem == "reordered"), "{problems:?}");
}

#[test]
fn a_forged_record_at_the_end_is_named() {
    let forge =
        "INSERT INTO record SELECT 11, host, 11, '01950000-0000-7000-8000-000000000000', at,
                 kind, session, repo, body, hash, prev FROM record WHERE seq = 10";
    let problems = problems_after(forge);
    assert!(problems.contains(&("changed", 11)), "{problems:?}");
    assert!(problems.contains(&("added", 11)), "{problems:?}");
}

#[test]
fn missing_triggers_are_noticed() {
    let home = Home::new();
    fill(&mut home.open(), 1);
    let db = rusqlite::Connection::open(home.file()).unwrap();
    db.execute_batch("DROP TRIGGER record_no_update").unwrap();
    let report = home.open().verify().unwrap();
    assert_eq!(report.problems.len(), 1);
    assert!(report.problems[0].to_string().contains("triggers"));
}
