use super::{env, records};

#[test]
fn edits_of_people_are_taken_in_and_never_overwritten() {
    let env = env();
    env.run(&[
        "note",
        "decision",
        "Rotate tokens",
        "--because",
        "replay",
        "--evidence",
        "src/auth.rs:3",
    ])
    .success();
    env.run(&["note", "question", "Per client?"]).success();
    env.run(&["note", "next-step", "clock skew"]).success();
    env.run(&["checkpoint"]).success();
    let page = env
        .read("NOTES.md")
        .replace("# Notes\n", "# Payments\n\nOurs, by hand.\n")
        .replace("**Rationale**: replay", "**Rationale**: replay attacks in March")
        .replace("- [ ] clock skew", "- [x] clock skew")
        .replace("### Pending Questions\n", "### Pending Questions\n- [ ] Who pays?\n")
        .replace("### Decision Log\n", "### Decision Log\n\n#### 2026-01-13T00:00:00Z - Grace\n**Decision**: A grace of 15 minutes\n**Evidence**:\n- `let grace = 900;` [${PROJECT_ROOT}/src/auth.rs:4]\n");
    env.write("NOTES.md", &page);
    env.run(&["checkpoint"]).success();
    let notes = env.run(&["notes", "--json"]).json();
    let notes: Vec<(String, String)> = notes["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| {
            (note["kind"].as_str().unwrap().to_owned(), note["text"].as_str().unwrap().to_owned())
        })
        .collect();
    for (kind, text) in [
        ("question", "Who pays?"),
        ("question", "Per client?"),
        ("decision", "A grace of 15 minutes"),
        ("progress", "done: clock skew"),
    ] {
        assert!(notes.contains(&(kind.to_owned(), text.to_owned())), "{kind} {text} in {notes:?}");
    }
    assert!(!notes.contains(&("next_step".to_owned(), "clock skew".to_owned())));
    let after = env.read("NOTES.md");
    for kept in [
        "# Payments\n\nOurs, by hand.\n",
        "replay attacks in March",
        "A grace of 15 minutes",
        "Who pays?",
    ] {
        assert!(after.contains(kept), "{kept} in {after}");
    }
    assert_eq!(env.run(&["ground", "--json"]).json()["ratio"], 1.0);
    env.run(&["checkpoint"]).success();
    assert_eq!(env.read("NOTES.md"), after);
}

#[test]
fn a_note_is_on_the_page_the_moment_it_is_made() {
    let env = env();
    env.write("NOTES.md", "# By hand\n\n```\n## Session Continuity\n```\n\n## Mine\n\ntext\n");
    env.run(&["note", "decision", "Rotate tokens"]).success();
    let page = env.read("NOTES.md");
    assert!(page.contains("**Decision**: Rotate tokens"), "{page}");
    assert!(
        page.contains("```\n## Session Continuity\n```") && page.ends_with("## Mine\n\ntext\n")
    );
}

#[test]
fn an_entry_that_somebody_took_off_the_page_stays_off_it() {
    let env = env();
    env.run(&["note", "question", "Per client?"]).success();
    env.run(&["checkpoint"]).success();
    let page = env.read("NOTES.md");
    let rest: Vec<&str> = page.lines().filter(|line| !line.contains("Per client?")).collect();
    env.write("NOTES.md", &(rest.join("\n") + "\n"));
    env.run(&["note", "question", "Who pays?"]).success();
    let page = env.read("NOTES.md");
    assert!(!page.contains("Per client?") && page.contains("Who pays?"));
    assert!(env.run(&["notes"]).stdout.contains("Per client?"));
}

#[test]
fn a_page_that_contradicts_the_ledger_is_a_fork_and_both_texts_are_kept() {
    let env = env();
    env.run(&["note", "decision", "Use rotating refresh tokens", "--because", "replays"]).success();
    env.run(&["checkpoint"]).success();
    let page = env.read("NOTES.md").replace(
        "### Decision Log\n",
        "### Decision Log\n\n#### 2026-01-13T00:00:00Z - x\n**Decision**: Use stateless tokens\n",
    );
    env.write("NOTES.md", &page);
    let answer = env.run(&["checkpoint", "--json"]).success().json();
    assert_eq!(records(&env, "keep.fork_detected"), 1);
    assert_eq!(answer["steps"][2]["status"], "passed");
    let decisions = env.run(&["notes", "--kind", "decision"]).stdout;
    assert!(decisions.contains("rotating") && !decisions.contains("stateless"), "{decisions}");
    assert!(
        env.read("NOTES.md")
            .contains("Use stateless tokens (the ledger says: Use rotating refresh tokens)")
    );
}

#[test]
fn paths_in_the_wrong_form_are_reported() {
    let env = env();
    env.write("NOTES.md", "# Notes\n\n- `x` [src/auth.rs:3]\n");
    let answer = env.run(&["checkpoint", "--json"]).success().json();
    let detail = answer["steps"][2]["detail"].as_str().unwrap();
    assert!(detail.contains("src/auth.rs:3 is not from ${PROJECT_ROOT}"), "{detail}");
    assert_eq!(answer["steps"][2]["status"], "warned");
}
