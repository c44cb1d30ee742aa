//! What others were told of a session that is forgotten goes with it, wherever the repository is checked out, and what
//! they say themselves is theirs.

use std::fs;
use std::process::Command;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::capture::{ID, env, found, json as answer};
use crate::handing_over::{agent, hook};
use crate::talk::Talk;

const NEXT: &str = "1b554780-986f-49f2-9a58-edfafd0188dd";
const CANARY: &str = "canaryinthecoalmine";

/// What a hook tells an agent.
fn told(said: &str) -> String {
    let answer: Value = serde_json::from_str(said).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// Writes down what a hook told an agent, as Claude Code does.
fn attach(talk: &mut Talk<'_>, text: &str) {
    let mut line: Value = serde_json::from_str(&talk.line("attachment", &Value::Null)).unwrap();
    line["attachment"] = json!({"type": "hook_additional_context", "content": [text],
                                "hookName": "SessionStart:startup"});
    talk.write(&format!("{line}\n"));
}

/// A session that says the word in every way there is.
fn says_it(env: &TestEnv, talk: &mut Talk<'_>) {
    talk.prompt(&format!("Rename the {CANARY} service. Never deploy {CANARY} on a Friday!"));
    talk.answers(&format!("The {CANARY} service is renamed."));
    talk.runs(&format!("echo {CANARY}"), &format!("{CANARY} it is"));
    talk.fails(&format!("./ship {CANARY} --fast"), &format!("error: {CANARY} is locked"));
    talk.runs(&format!("./ship {CANARY} --slow"), "shipped");
    let file = env.repo().join(format!("src/{CANARY}.rs"));
    let used = json!({"id": "m77", "model": "claude-opus-5-5", "content": [
        {"type": "tool_use", "id": "t77", "name": "Edit", "input": {"file_path": file}},
        {"type": "tool_use", "id": "t78", "name": "TodoWrite", "input": {"todos": [
            {"content": format!("tell the {CANARY} team"), "status": "pending"}]}}]});
    let line = talk.line("assistant", &used);
    talk.write(&line);
    let came = json!({"content": [
        {"type": "tool_result", "tool_use_id": "t77", "is_error": false, "content": "done"}]});
    let line = talk.line("user", &came);
    talk.write(&line);
    talk.fails("cargo test -p parser", &format!("test {CANARY}::nested ... FAILED"));
    talk.write(&format!(
        "{}\n",
        json!({"type": "ai-title", "aiTitle": format!("The {CANARY} service")})
    ));
}

#[test]
fn what_a_brief_quoted_of_a_session_is_forgotten_with_it_in_every_byte_of_the_home() {
    let env = env();
    env.run(&["init", "--yes"]).success();
    let mut person = agent();
    let pid = person.id();
    hook(&env, "SessionStart", ID, pid, &json!({"source": "startup"}));
    let mut first = Talk::new(&env, ID);
    says_it(&env, &mut first);
    let noted = format!("the {CANARY} service keeps its port");
    answer(
        &env,
        &[
            "note",
            "decision",
            &noted,
            "--because",
            &format!("{CANARY} is known by it"),
            "--session",
            ID,
        ],
    );
    hook(&env, "SessionEnd", ID, pid, &json!({"reason": "prompt_input_exit"}));

    let mut next = Talk::new(&env, NEXT);
    next.minute = 90;
    let brief = told(&hook(&env, "SessionStart", NEXT, pid, &json!({"source": "startup"})));
    for quoted in [
        format!("Rename the {CANARY} service."),
        format!("Never deploy {CANARY} on a Friday!"),
        format!("src/{CANARY}.rs"),
        format!("tell the {CANARY} team"),
        format!("Failing: {CANARY}::nested"),
        format!("./ship {CANARY} --fast"),
        noted,
        format!("The {CANARY} service"),
    ] {
        assert!(brief.contains(&quoted), "{quoted} in {brief}");
    }
    assert!(!brief.contains(&env.repo().join("src").display().to_string()), "{brief}");
    next.prompt("go on please, and run the tests");
    attach(&mut next, &brief);
    let input =
        json!({"tool_name": "Bash", "tool_input": {"command": format!("./ship {CANARY} --fast")}});
    let warned = told(&hook(&env, "PreToolUse", NEXT, pid, &input));
    assert!(warned.contains(&format!("./ship {CANARY} --slow")), "{warned}");
    attach(&mut next, &warned);
    next.runs("cargo test -p parser", "test parser::nested ... ok");
    hook(&env, "SessionEnd", NEXT, pid, &json!({"reason": "prompt_input_exit"}));
    answer(&env, &["sync"]);
    answer(&env, &["search", CANARY]);
    assert!(found(&env.home().join("archive").join(NEXT), CANARY).len() == 1);

    answer(&env, &["sessions", "forget", ID, "--yes"]);
    let nowhere = Vec::<String>::new();
    assert_eq!(found(&env.home(), CANARY), nowhere);
    // The agent's own file has the brief still. Written anew, it is read anew.
    let text = fs::read_to_string(&next.file).unwrap();
    assert!(text.contains(CANARY));
    fs::write(&next.file, text.replacen("go on please", "now go on", 1)).unwrap();
    for name in
        ["facts.db", "facts.db-wal", "facts.db-shm", "index.db", "index.db-wal", "index.db-shm"]
    {
        let _ = fs::remove_file(env.home().join(name));
    }
    answer(&env, &["sync"]);
    answer(&env, &["search", CANARY]);
    assert_eq!(found(&env.home(), CANARY), nowhere);
    let shown = answer(&env, &["sessions", "show", NEXT]);
    assert_eq!(shown["prompts"][0]["text"], "now go on, and run the tests");
    assert_eq!(shown["commands"][0]["command"], "cargo test -p parser", "others run it too");
    person.kill().unwrap();
    person.wait().unwrap();
}

/// Of two sessions at once the older one is told of the newer one too.
#[test]
fn an_older_session_that_was_told_of_a_newer_one_forgets_it_too() {
    let env = env();
    env.run(&["init", "--yes"]).success();
    let mut person = agent();
    let pid = person.id();
    hook(&env, "SessionStart", NEXT, pid, &json!({"source": "startup"}));
    let mut older = Talk::new(&env, NEXT);
    older.prompt("paint the pump in green");
    hook(&env, "SessionStart", ID, pid, &json!({"source": "startup"}));
    let mut newer = Talk::new(&env, ID);
    newer.minute = 10;
    newer.prompt(&format!("Rename the {CANARY} service."));
    hook(&env, "SessionEnd", ID, pid, &json!({"reason": "prompt_input_exit"}));
    let brief = told(&hook(&env, "SessionStart", NEXT, pid, &json!({"source": "compact"})));
    assert!(brief.contains(CANARY), "{brief}");
    older.minute = 20;
    attach(&mut older, &brief);
    hook(&env, "SessionEnd", NEXT, pid, &json!({"reason": "prompt_input_exit"}));
    answer(&env, &["sync"]);
    answer(&env, &["sessions", "forget", ID, "--yes"]);
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
    person.kill().unwrap();
    person.wait().unwrap();
}

/// Where nobody touched an agent's own file, a search reads that and not our copy: it still has the words.
#[test]
fn a_search_shows_what_another_session_quoted_as_it_was_masked_and_not_as_its_agent_has_it() {
    let env = env();
    env.run(&["init", "--yes"]).success();
    let noted = format!("the {CANARY} service keeps its port and its name");
    Talk::new(&env, ID).prompt("find out what the service is called");
    let mut next = Talk::new(&env, NEXT);
    next.minute = 90;
    next.prompt("paint the pump in purple");
    next.answers(&format!("It was said: {noted}. The pump is painted in turquoise."));
    answer(&env, &["sync"]);
    answer(&env, &["note", "decision", &noted, "--session", ID]);
    let shown = || answer(&env, &["search", "turquoise"]).to_string();
    assert!(shown().contains(CANARY), "{}", shown());
    let own = fs::read(&next.file).unwrap();
    answer(&env, &["sessions", "forget", ID, "--yes"]);
    assert!(String::from_utf8_lossy(&own).contains(CANARY));
    assert_eq!(fs::read(&next.file).unwrap(), own);
    let shown = shown();
    assert!(shown.contains("turquoise") && shown.contains("It was said: ***"), "{shown}");
    assert!(!shown.contains(CANARY), "{shown}");
}

#[test]
fn what_another_session_noted_stays_though_it_says_the_same_and_more() {
    let env = env();
    env.run(&["init", "--yes"]).success();
    for name in ["first", "second"] {
        env.run(&["launch", "say hello", "--agent", "sim", "--name", name]).success();
    }
    let said = "every request of the pump is signed with the old key";
    answer(&env, &["note", "decision", said, "--session", "first"]);
    let longer = format!("We measured it: {said}, until the new one is there.");
    answer(&env, &["note", "learning", &longer, "--session", "second"]);
    answer(&env, &["sessions", "forget", "first", "--yes"]);
    let notes = answer(&env, &["notes", "--all"]);
    let texts: Vec<&str> = notes["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, [longer.as_str()]);
    let learned = answer(&env, &["sessions", "show", "second", "--learnings"]).to_string();
    assert!(learned.contains(&longer), "{learned}");
}

#[test]
fn a_session_is_forgotten_in_all_checkouts_from_any_of_them() {
    let env = env();
    env.write("src/a.rs", "fn rotate() {}\n");
    env.run(&["init", "--yes"]).success();
    env.run(&["run", "ralph", "first", "1", "--agent", "sim"]).success();
    let said = format!("everything that rotates is called {CANARY} here");
    answer(&env, &["note", "decision", &said, "--because", "it was", "--session", "first"]);
    env.run(&["checkpoint", "--session", "first"]);
    env.run(&["run", "ralph", "second", "1", "--agent", "sim", "--inherit", "first"]).success();
    let main = env.repo();
    let has_it = || {
        let page = fs::read_to_string(main.join("NOTES.md")).unwrap();
        (found(&main.join(".heirloom"), CANARY).len(), page.contains(CANARY))
    };
    assert!(has_it().0 > 0 && has_it().1, "{:?}", has_it());
    let other = main.with_file_name("other-worktree");
    let git = |arguments: &[&str]| {
        let ran = Command::new("git").current_dir(&main).args(arguments).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    };
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "-q", "-b", "other", other.to_str().unwrap()]);
    let forgot =
        env.command(&["sessions", "forget", "first", "--yes"]).current_dir(&other).output();
    let forgot = forgot.unwrap();
    assert!(forgot.status.success(), "{forgot:?}");
    let said = String::from_utf8_lossy(&forgot.stderr).into_owned();
    let removed = format!("its notes were removed from {}", main.join("NOTES.md").display());
    assert!(said.contains(&removed), "{said}");
    assert_eq!(has_it(), (0, false));
    assert!(!main.join(".heirloom/runs/first").exists());
    assert!(main.join(".heirloom/runs/second").exists());
    assert_eq!(found(&env.home(), CANARY), Vec::<String>::new());
    let again = env.run(&["sessions", "forget", "first", "--yes"]).success();
    assert!(again.stdout.contains("first was forgotten already"), "{}", again.stdout);
    assert_eq!(answer(&env, &["sessions", "forget", "first", "--yes"])["already"], true);
}

/// A short line says nothing of who said it, but it does where heirloom passed it on.
#[test]
fn short_lines_that_a_run_inherited_are_forgotten_and_those_of_others_stay() {
    let env = env();
    env.write("src/a.rs", "fn rotate() {}\n");
    env.run(&["init", "--yes"]).success();
    let run = |name: &str, more: &[&str]| {
        env.run(&[&["run", "ralph", name, "1", "--agent", "sim"], more].concat()).success();
    };
    let (short, canary) = ("all green", "moonpie");
    run("first", &[]);
    let page = env.repo().join(".heirloom/runs/first/progress-first.md");
    let lines = format!(
        "# Progress\n\n## {canary} 1\n- {canary}\n  - \"{canary}\" 2\n{short}\n{canary} 3\n"
    );
    fs::write(&page, lines).unwrap();
    answer(&env, &["note", "decision", canary, "--because", "moonpie 4", "--session", "first"]);
    answer(&env, &["note", "next_step", "moonpie 5", "--session", "first"]);
    run("second", &["--inherit", "first"]);
    fs::write(env.repo().join(".heirloom/runs/second/progress-second.md"), format!("- {short}\n"))
        .unwrap();
    answer(&env, &["note", "learning", "moons", "--session", "second"]);
    run("third", &["--inherit", "second"]);
    env.run(&["fork-check", "--claim", "never moonpie"]);
    answer(&env, &["sync"]);
    answer(&env, &["search", canary]);
    let runs = env.repo().join(".heirloom/runs");
    for name in ["second", "third"] {
        assert!(!found(&runs.join(name), canary).is_empty());
    }

    answer(&env, &["sessions", "forget", "first", "--yes"]);
    let nowhere = Vec::<String>::new();
    assert_eq!((found(&env.home(), canary), found(&runs, canary)), (nowhere.clone(), nowhere));
    let third = env.read(".heirloom/runs/third/stage-00-ralph/iterations/001/prompt.md");
    assert!(third.contains(&format!("\n- {short}\n")) && third.contains("- moons\n"), "{third}");
    let block = answer(&env, &["inherit", "third"]).to_string();
    assert!(block.contains("moons") && !block.contains("**"), "{block}");
}
