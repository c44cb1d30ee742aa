use std::fs;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

pub(super) const ID: &str = "0b8e7c1e-3d0e-4a5c-9a67-3f6f2b8a1c11";

/// A conversation that somebody had with Claude Code, of which heirloom knows nothing.
pub(super) fn by_hand(env: &TestEnv) {
    let cwd = env.repo();
    let slug: String = cwd
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let common = json!({"isSidechain": false, "userType": "external", "cwd": cwd, "sessionId": ID,
                        "version": "2.1.325", "gitBranch": "main", "timestamp": "2026-01-12T15:00:00Z"});
    let line = |fields: Value| {
        let mut line = common.clone();
        line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let text = [
        line(json!({"type": "user", "uuid": "u1", "parentUuid": null,
                    "message": {"role": "user", "content": "Why is the billing queue starving?"}})),
        line(
            json!({"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": {"id": "m1", "role": "assistant",
                    "model": "claude-opus-4-6", "content": [{"type": "thinking", "thinking": "hidden thought"},
                    {"type": "text", "text": "The backoff has no ceiling."},
                    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cargo test"}}]}}),
        ),
    ];
    let directory = env.user().join(".claude/projects").join(slug);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(format!("{ID}.jsonl")), text.concat()).unwrap();
}

#[test]
fn a_conversation_that_heirloom_never_launched_is_found_and_resumed_where_it_was() {
    let env = super::env();
    by_hand(&env);
    let plain = crate::env();
    by_hand(&plain);
    let answer = plain.run(&["resume", "billing queue", "--print", "--json"]).success().json();
    assert_eq!(answer["agent"], "claude");
    assert_eq!(answer["agent_session_id"], ID);
    assert_eq!(answer["directory"], "[root]/payments");
    assert_eq!(answer["command"], json!(["claude", "--resume", ID]));
    let ran = plain.run(&["resume", "billing queue", "--print"]).success();
    assert_eq!(ran.stdout, format!("cd [root]/payments && claude --resume {ID}\n"));
    let replaced = env.run(&["resume", "billing queue", "--print", "--json"]).success().json();
    assert_ne!(replaced["command"][0], "claude", "the program that stands in for it");
    let listed = plain.run(&["resume", "--json"]).success().json();
    assert_eq!(listed["sessions"][0]["prompt"], "Why is the billing queue starving?");
    let nothing = plain.run(&["resume", "kangaroo", "--print", "--json"]);
    assert_eq!(nothing.code, 1);
    assert_eq!(nothing.json()["error"]["code"], "session.not-found", "{nothing}");
}

#[test]
fn a_conversation_ended_when_it_was_last_spoken_in_and_not_when_its_file_was_copied() {
    // Written just now, as every file of a home is that was restored or moved to another machine.
    let env = crate::env();
    by_hand(&env);
    // What it ends with is longer than what is looked at first.
    let text = fs::read_to_string(native(&env)).unwrap();
    let long = "words ".repeat(40_000);
    let last = text.lines().next().unwrap().replace("Why is the billing queue starving?", &long);
    fs::write(native(&env), format!("{text}{last}\n")).unwrap();
    let resumed = env.run(&["resume", "--json"]).success().json();
    assert_eq!(resumed["sessions"][0]["at"], "2026-01-12T15:00:00Z", "{resumed}");
    env.run(&["init", "--yes"]).success();
    let listed = env.run(&["sessions", "list", "--json"]).success().json();
    assert_eq!(listed["sessions"][0]["completed_at"], "2026-01-12T15:00:00Z", "{listed}");
    let resumed = env.run(&["resume", "--json"]).success().json();
    assert_eq!(resumed["sessions"][0]["at"], "2026-01-12T15:00:00Z", "{resumed}");
}

#[test]
fn a_search_says_what_a_conversation_is_about() {
    let env = crate::env();
    by_hand(&env);
    env.run(&["init", "--yes"]).success();
    let found = env.run(&["search", "ceiling"]).success();
    let about = "  about       Why is the billing queue starving?\n";
    assert!(found.stdout.contains(about), "{found}");
    let prompt = env.run(&["search", "starving"]).success();
    assert!(!prompt.stdout.contains(about), "it is what was found: {prompt}");
}

#[test]
fn a_conversation_is_carried_over_as_a_copy_and_the_original_stays_as_it_is() {
    let env = crate::env();
    by_hand(&env);
    let file = || {
        let projects = env.user().join(".claude/projects");
        let project = fs::read_dir(projects).unwrap().flatten().next().unwrap().path();
        fs::read(project.join(format!("{ID}.jsonl"))).unwrap()
    };
    let before = file();
    let ran = env.run(&["resume", "billing", "--with", "codex", "--print", "--json"]).success();
    let answer = ran.json();
    let id = answer["agent_session_id"].as_str().unwrap();
    assert_ne!(id, ID);
    assert_eq!(answer["command"], json!(["codex", "resume", id]));
    assert!(ran.stderr.contains("not carried over: the agent's thinking"), "{ran}");
    let rollout = env
        .user()
        .join(format!(".codex/sessions/2026/01/12/rollout-2026-01-12T15-30-00-{id}.jsonl"));
    let rollout = fs::read_to_string(rollout).unwrap();
    assert!(rollout.contains("Why is the billing queue starving?"), "{rollout}");
    assert!(rollout.contains("no ceiling") && rollout.contains("[ran: cargo test]"), "{rollout}");
    assert!(!rollout.contains("hidden thought"), "{rollout}");
    assert_eq!(file(), before);
    let back = env.run(&["resume", id, "--with", "claude", "--print", "--json"]).success().json();
    assert_eq!(back["command"][0], "claude");
    let refused = env.run(&["resume", "billing", "--with", "gemini", "--print"]);
    assert_eq!(refused.code, 64, "{refused}");
}

#[test]
fn a_conversation_is_resumed_by_its_name_though_others_mention_it() {
    let env = crate::env();
    by_hand(&env);
    let text = fs::read_to_string(native(&env)).unwrap();
    let other = "1c9f8d2f-4e1f-4b6d-8b78-4a7a3c9b2d22";
    let text = text.replace(ID, other).replace("Why is the", &format!("As {ID} asked, why is the"));
    let text = text.replace("2026-01-12T15:00", "2026-01-12T15:20");
    fs::write(native(&env).with_file_name(format!("{other}.jsonl")), text).unwrap();
    let answer = env.run(&["resume", ID, "--print", "--json"]).success().json();
    assert_eq!(answer["agent_session_id"], ID, "{answer}");
    env.run(&["init", "--yes"]).success();
    let listed = env.run(&["sessions", "list", "--json"]).success().json();
    let listed = listed["sessions"].as_array().unwrap();
    let one = listed.iter().find(|one| one["agent_session_id"] == ID).unwrap();
    let name = one["name"].as_str().unwrap();
    let answer = env.run(&["resume", name, "--print", "--json"]).success().json();
    assert_eq!(answer["agent_session_id"], ID, "{answer}");
}

#[test]
fn nothing_is_copied_for_an_agent_that_is_not_there() {
    let env = crate::env();
    by_hand(&env);
    env.run(&["init", "--yes"]).success();
    let name = env.run(&["sessions", "list", "--json"]).success().json();
    let name = name["sessions"][0]["name"].as_str().unwrap().to_owned();
    let ran = env.run(&["continue", &name, "go on", "--with", "codex"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("codex is not installed"), "{ran}");
    assert!(!env.user().join(".codex").exists(), "{ran}");
    let listed = env.run(&["sessions", "list", "--all", "--json"]).success().json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
}

fn native(env: &TestEnv) -> std::path::PathBuf {
    let projects = env.user().join(".claude/projects");
    let project = fs::read_dir(projects).unwrap().flatten().next().unwrap().path();
    project.join(format!("{ID}.jsonl"))
}

#[test]
fn a_transcript_that_its_agent_deleted_is_put_back_and_resumed() {
    let env = crate::env();
    by_hand(&env);
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    env.run(&["sync", "--agent", "claude"]).success();
    let (path, before) = (native(&env), fs::read(native(&env)).unwrap());
    fs::remove_file(&path).unwrap();
    let ran = env.run(&["resume", "no ceiling", "--print", "--json"]).success();
    assert_eq!(ran.json()["command"], json!(["claude", "--resume", ID]));
    assert!(ran.stderr.contains("restored from the archive"), "{ran}");
    assert_eq!(fs::read(&path).unwrap(), before);
    let again = env.run(&["resume", "no ceiling", "--print", "--json"]).success();
    assert!(!again.stderr.contains("restored"), "{again}");

    // Another agent gets it from the archive as well, and the original stays deleted.
    fs::remove_file(&path).unwrap();
    let ran = env.run(&["resume", "billing", "--with", "codex", "--print", "--json"]).success();
    assert!(ran.stderr.contains("from the archive"), "{ran}");
    assert!(!path.exists());
    assert_eq!(ran.json()["command"][0], "codex");
    // An agent does not put files back, and is told nothing that only the archive has.
    for with in [&[][..], &["--with", "codex"]] {
        let mut command = env.command(&["resume", ID, "--print", "--json"]);
        command.args(with);
        let output = command.env("HEIRLOOM_TEST_LINE", "bash|claude").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("only a person may"), "{output:?}");
        assert!(!path.exists());
    }
}

#[test]
fn a_session_is_continued_in_another_agent_with_what_was_said() {
    let env = super::env();
    let codex = env.script(
        "codex",
        "#!/bin/sh\necho \"$@\" > \"$HOME/told\"\n\
         echo '{\"type\":\"thread.started\",\"thread_id\":\"01a1dcac-f38a-7ae3-a06c-e6f178f250a4\"}'\n\
         echo '{\"type\":\"turn.completed\",\"usage\":{}}'\n",
    );
    let env = env.var("HEIRLOOM_AGENT_CODEX", codex);
    env.run(&["launch", "Why does production starve?", "--name", "night"]).success();
    let ran = env.run(&["continue", "night", "Mend it", "--with", "codex", "--name", "day"]);
    assert!(ran.stderr.contains("not carried over"), "{ran}");
    // The stand-in keeps no transcript, so what was recorded of it went along.
    assert!(ran.stderr.contains("from the recorded stream"), "{ran}");
    let told = fs::read_to_string(env.user().join("told")).unwrap();
    let day = env.user().join(".codex/sessions/2026/01/12");
    let rollout = fs::read_dir(day).unwrap().flatten().next().unwrap().path();
    let name = rollout.file_stem().unwrap().to_str().unwrap();
    assert!(told.contains(&name[name.len() - 36..]), "{told} resumes {name}");
    let text = fs::read_to_string(rollout).unwrap();
    assert!(text.contains("Why does production starve?") && text.contains("no ceiling"), "{text}");
    assert!(!text.contains("4eC39HqLyjWDarjtT1zdp7dc"), "secrets stay: {text}");
    let lineage = env.run(&["lineage", "day"]).success().stdout;
    assert!(lineage.contains("night"), "{lineage}");
    let refused = env.run(&["continue", "night", "go", "--with", "nobody"]);
    assert_eq!(refused.code, 64, "{refused}");
}

#[test]
fn what_other_agents_keep_is_searched_and_resumed_until_it_is_gone() {
    let env = crate::env();
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    let file = env.user().join(".factory/sessions/payments/5f0c.jsonl");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let line = |role: &str, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": "message", "timestamp": "2026-01-12T15:00:00Z",
               "message": {"role": role, "content": content}})
        .to_string()
    };
    let start = json!({"type": "session_start", "id": "5f0c", "title": "Mend", "cwd": env.repo()});
    let secret = format!("sk_live_{}", "4eC39HqLyjWDarjtT1zdp7dc");
    let mut text = format!("{start}\n{}\n", line("user", "Why does the zeppelin drift?"));
    text.push_str(&line("assistant", &format!("The rudder sticks, key {secret}.")));
    text.push('\n');
    fs::write(&file, &text).unwrap();
    let found = super::results(&env, &["rudder"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["agent"], &found[0]["role"]), (&json!("droid"), &json!("assistant")));
    assert!(!found[0].to_string().contains("4eC39HqLyjWDarjtT1zdp7dc"), "{found:?}");
    assert_eq!(super::results(&env, &["rudder", "--agent", "droid"]).len(), 1);
    assert!(super::results(&env, &["rudder", "--agent", "codex"]).is_empty());
    let around = super::results(&env, &["rudder", "--context", "1"]);
    assert_eq!(around[0]["context"].as_array().unwrap().len(), 2, "{around:?}");
    let listed = env.run(&["resume", "rudder", "--print", "--json"]).success().json();
    assert_eq!(listed["command"], json!(["droid", "--resume", "5f0c"]));
    // What is added is found, what was known is not there twice, and a file that is gone is not found.
    fs::write(&file, text + &line("user", "Grease the gimbal") + "\n").unwrap();
    assert_eq!(super::results(&env, &["gimbal"]).len(), 1);
    assert_eq!(super::results(&env, &["zeppelin"]).len(), 1);
    let carried = env.run(&["resume", "rudder", "--with", "claude", "--print", "--json"]).success();
    assert_eq!(carried.json()["command"][0], "claude");
    fs::remove_file(&file).unwrap();
    assert!(super::results(&env, &["gimbal"]).is_empty());
    // A conversation of a repository that nobody set up is nobody's business.
    let elsewhere = json!({"type": "session_start", "id": "6f0c", "cwd": env.user()});
    fs::write(&file, format!("{elsewhere}\n{}\n", line("user", "Paint the gondola"))).unwrap();
    assert!(super::results(&env, &["gondola", "--all-repos"]).is_empty());
}

#[test]
fn without_a_terminal_one_is_told_what_continues_it_and_not_to_do_the_same_again() {
    let env = crate::env();
    by_hand(&env);
    let found = env.run(&["resume", "billing queue"]).success();
    let hint = "hint: `heirloom resume 0b8e7c1e` at a terminal continues it; with --print it prints the command\n";
    assert_eq!(found.stderr, hint);
    let listed = env.run(&["resume"]).success();
    assert!(
        listed.stderr.contains("at a terminal continues one of them; with --print"),
        "{listed}"
    );
}

#[test]
fn a_conversation_whose_directory_is_gone_goes_on_in_the_repository() {
    let env = crate::env();
    by_hand(&env);
    let root = env.repo().display().to_string();
    let text = fs::read_to_string(native(&env)).unwrap();
    let text = text.replace(&format!("{root}\""), &format!("{root}/trees/gone\""));
    fs::write(native(&env), text).unwrap();
    let ran = env.run(&["resume", "billing queue", "--print"]).success();
    assert_eq!(ran.stdout, format!("cd [root]/payments && claude --resume {ID}\n"));
    let gone = "warning: the directory [root]/payments/trees/gone is gone; it goes on in [root]/payments\n";
    assert_eq!(ran.stderr, gone);
    fs::create_dir_all(env.repo().join("trees/gone")).unwrap();
    let ran = env.run(&["resume", "billing queue", "--print"]).success();
    assert!(ran.stdout.starts_with("cd [root]/payments/trees/gone && "), "{ran}");
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_conversation_of_another_repository_never_goes_on_in_this_one() {
    let env = crate::env();
    by_hand(&env);
    let text = fs::read_to_string(native(&env)).unwrap();
    let root = env.repo().display().to_string();
    let elsewhere = text.replace(&format!("{root}\""), "/nowhere/ledger\"");
    fs::write(native(&env), &elsewhere).unwrap();
    for arguments in [&["--print"][..], &["--with", "codex", "--print"]] {
        let ran = env.run(&[&["resume", "billing queue"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
        assert!(
            ran.stderr.contains("the directory /nowhere/ledger of that conversation is gone"),
            "{ran}"
        );
    }
    assert_eq!(fs::read_to_string(native(&env)).unwrap(), elsewhere);
}
