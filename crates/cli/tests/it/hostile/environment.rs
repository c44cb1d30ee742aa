//! An agent that changes the environment of what it runs: other settings, another ledger, a switch.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use heirloom_testkit::env::TestEnv;
use serde_json::json;

use crate::env;
use crate::guard::ONE;

/// A person who lets nobody but people satisfy what they ask for.
const MINE: &str = "requirements: {mine: {may_satisfy: [person]}}\n";
const HEIRLOOM: &str = env!("CARGO_BIN_EXE_heirloom");

fn payload(env: &TestEnv, event: &str) -> PathBuf {
    let file = env.user().join(format!("{event}.json"));
    let payload = json!({
        "session_id": ONE, "cwd": env.repo(), "hook_event_name": event, "source": "startup",
        "tool_name": "Edit", "tool_input": {"file_path": "src/a.rs", "new_string": "x"},
    });
    fs::write(&file, payload.to_string()).unwrap();
    file
}

/// A program that has the name of an agent.
fn agent(env: &TestEnv, directory: &str, script: &str) -> PathBuf {
    let directory = env.user().join(directory);
    fs::create_dir_all(&directory).unwrap();
    let program = directory.join("claude");
    fs::write(&program, format!("#!/bin/sh\nexec 2>&1\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

/// What an agent prints that its person started and heirloom guards.
fn guarded(env: &TestEnv, script: &str) -> String {
    let start = payload(env, "SessionStart");
    let begin = format!(
        "CLAUDE_PID=$$ {HEIRLOOM} hook claude SessionStart < {} > /dev/null\n",
        start.display()
    );
    started(env, &(begin + script))
}

/// What an agent prints that a person started. It is nobody's child: whether an agent runs the tests
/// must make no difference.
fn started(env: &TestEnv, script: &str) -> String {
    let program = agent(env, "bin", script);
    let staged = env.command(&[]);
    let vars = staged.get_envs().filter(|(name, _)| *name != "HEIRLOOM_TEST_LINE");
    let output = Command::new("setsid")
        .arg("-f")
        .arg(program)
        .current_dir(env.repo())
        .env_clear()
        .envs(vars.filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn mine() -> TestEnv {
    let env = env();
    env.write_user(MINE);
    fs::create_dir_all(env.user().join("evil/heirloom")).unwrap();
    fs::write(env.user().join("evil/heirloom/config.yaml"), "requirements: {mine: {}}\n").unwrap();
    env
}

#[test]
fn other_settings_do_not_let_an_agent_satisfy_what_only_a_person_may() {
    let env = mine();
    let evil = env.user().join("evil");
    let evil = evil.display();
    let satisfy = format!("{HEIRLOOM} req satisfy mine --reason trivial");
    for (variable, set) in [
        ("HEIRLOOM_CONFIG", format!("HEIRLOOM_CONFIG={evil}/heirloom/config.yaml")),
        ("XDG_CONFIG_HOME", format!("XDG_CONFIG_HOME={evil}")),
        ("HOME", format!("HOME={evil}")),
        ("HEIRLOOM_HOME", format!("HEIRLOOM_HOME={evil}/ledger")),
    ] {
        let said = guarded(&env, &format!("{set} {satisfy}"));
        let words = format!("an agent may not set {variable} for heirloom");
        assert!(said.contains(&words), "{set}: {said}");
        assert!(said.contains("in another terminal"), "{said}");
    }
    assert!(!env.user().join("evil/ledger").exists());
    let status = env.run(&["req", "status", "--session", ONE]);
    assert!(!status.stdout.contains("✔ mine"), "{status}");
    // What leads to the same places is no change, and the rest of the environment is the agent's.
    let same = format!("HEIRLOOM_HOME={} FOO=bar {HEIRLOOM} notes", env.home().display());
    let said = guarded(&env, &format!("{same}; echo status $?"));
    assert!(said.ends_with("status 0\n"), "{said}");
}

#[test]
fn an_agent_launches_none_that_is_held_to_less() {
    let env = mine();
    for set in ["HEIRLOOM_DISABLE=1", "HEIRLOOM_AGENT_SIM=./evil", "HEIRLOOM_CONFIG=/dev/null"] {
        let said = guarded(&env, &format!("{set} {HEIRLOOM} run ralph a 1 --agent sim"));
        let variable = set.split('=').next().unwrap();
        assert!(said.contains(&format!("an agent may not set {variable}")), "{set}: {said}");
    }
    // Nor does it go around heirloom: the hooks of the one it starts itself know what holds.
    let edit = payload(&env, "PreToolUse");
    let hook = format!("{HEIRLOOM} hook claude PreToolUse < {}", edit.display());
    let below = agent(&env, "below", &hook);
    let nowhere = env.user().join("nowhere");
    for set in [
        "HEIRLOOM_DISABLE=1".to_owned(),
        "HEIRLOOM_CONFIG=/dev/null".to_owned(),
        format!("HEIRLOOM_HOME={}", nowhere.display()),
        format!("XDG_CONFIG_HOME={}", nowhere.display()),
        format!("XDG_DATA_HOME={0} XDG_CONFIG_HOME={0}", nowhere.display()),
    ] {
        let said = guarded(&env, &format!("{set} {}", below.display()));
        assert!(said.contains("\"deny\"") && said.contains("mine"), "{set}: {said}");
        assert!(!nowhere.exists(), "{set}: something was written there");
    }
}

#[test]
fn an_agent_that_was_started_without_what_led_to_its_rules_is_held_to_them_all_the_same() {
    let env = mine();
    let config = env.user().join("own.yaml");
    fs::write(&config, "requirements: {stricter: {}}\n").unwrap();
    let env = env.var("HEIRLOOM_CONFIG", config.to_str().unwrap());
    let (start, edit) = (payload(&env, "SessionStart"), payload(&env, "PreToolUse"));
    let hooks = format!(
        "{HEIRLOOM} hook claude SessionStart < {} > /dev/null\n\
         rm -f $HOME/.local/share/heirloom/misled\n\
         {HEIRLOOM} hook claude PreToolUse < {}",
        start.display(),
        edit.display()
    );
    let below = agent(&env, "below", &hooks);
    let elsewhere = env.user().join("elsewhere");
    let marks = env.user().join(".local/share/heirloom/misled");
    for without in [
        "env -u HEIRLOOM_HOME".to_owned(),
        "env -u HEIRLOOM_CONFIG".to_owned(),
        "env -u HEIRLOOM_HOME -u HEIRLOOM_CONFIG -u HEIRLOOM_CLOCK".to_owned(),
        "env -i PATH=$PATH HOME=$HOME".to_owned(),
        "env -i PATH=$PATH".to_owned(),
        format!("env -i PATH=$PATH HOME={}", elsewhere.display()),
    ] {
        let said = guarded(&env, &format!("{without} {}", below.display()));
        assert!(said.contains("\"deny\"") && said.contains("stricter"), "{without}: {said}");
        let ledger = env.user().join(".local/share/heirloom/ledger.db");
        assert!(!ledger.exists(), "{without}: another ledger was begun");
    }
    // Once whoever did it is gone, nobody looks any more.
    let alone = agent(&env, "alone", &hooks);
    started(&env, &format!("env -i PATH=$PATH HOME=$HOME {}", alone.display()));
    assert!(!marks.exists());
}

/// What an agent lets go of has no agent above it any more. It is no person for that.
#[test]
fn what_an_agent_lets_go_of_is_no_person() {
    // By the real clock: when a process began is told by no other.
    let env = mine().var("HEIRLOOM_CLOCK", "");
    let said = env.user().join("said");
    let satisfy = format!("{HEIRLOOM} req satisfy mine --session {ONE} --reason trivial");
    let pause = format!("{HEIRLOOM} req pause --repo");
    let same = "PATH=$PATH HOME=$HOME HEIRLOOM_HOME=$HEIRLOOM_HOME HEIRLOOM_CLOCK=$HEIRLOOM_CLOCK";
    let hidden = env.user().join("hidden");
    fs::write(&hidden, "mount -t tmpfs none /proc && \"$@\"").unwrap();
    let hidden = hidden.display();
    let may = "--user --map-root-user";
    let namespace = format!("{may} --pid --fork");
    for (number, (before, command)) in [
        ("setsid -f".to_owned(), &satisfy),
        (format!("setsid -f env -i {same}"), &satisfy),
        (format!("setsid -f env -i {same}"), &pause),
        (format!("env -i {same}"), &pause),
        ("nohup".to_owned(), &pause),
        // In a namespace of its own it is the first process, and has nobody above it.
        (format!("unshare {namespace} env -i {same}"), &pause),
        (format!("unshare {namespace} --mount-proc env -i {same}"), &pause),
        (format!("unshare {namespace} --mount-proc env -i {same} setsid -w"), &pause),
        // Where nothing says who started what.
        (format!("unshare {may} --mount sh {hidden} env -i {same}"), &pause),
    ]
    .into_iter()
    .enumerate()
    {
        // The command ends last, so that whoever waits for its word also waits for what it did.
        let file = said.with_extension(number.to_string());
        let script = format!("{command} > {0}.part 2>&1; mv {0}.part {0}", file.display());
        guarded(&env, &format!("{before} sh -c '{script}' > /dev/null"));
        let told = until_said(&file);
        assert!(told.contains("only a person may"), "{before} {command}: {told}");
    }
    let status = env.run(&["req", "status", "--session", ONE]);
    assert!(!status.stdout.contains("✔ mine") && !status.stdout.contains("paused"), "{status}");
}

/// What somebody wrote whom nobody waits for.
fn until_said(file: &std::path::Path) -> String {
    let began = std::time::Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(file) {
            return text;
        }
        assert!(began.elapsed() < std::time::Duration::from_mins(1), "nothing was said");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn who_heirloom_does_not_guard_goes_where_they_like() {
    let env = mine();
    let elsewhere = env.user().join("elsewhere");
    let said = started(&env, &format!("HEIRLOOM_HOME={} {HEIRLOOM} notes", elsewhere.display()));
    assert!(!said.contains("does not change"), "{said}");
}

#[test]
fn a_repository_that_moves_a_persons_settings_or_data_moves_nothing() {
    let env = mine();
    let nowhere = env.repo().join("nowhere");
    let set = json!({"env": {"XDG_CONFIG_HOME": nowhere, "XDG_DATA_HOME": nowhere,
                             "HEIRLOOM_HOME": nowhere.join("ledger")}});
    env.write(".claude/settings.json", &set.to_string());
    let edit = payload(&env, "PreToolUse");
    let hook = format!(
        "XDG_CONFIG_HOME={0} XDG_DATA_HOME={0} HEIRLOOM_HOME={0}/ledger \
         {HEIRLOOM} hook claude PreToolUse < {1}",
        nowhere.display(),
        edit.display()
    );
    // Also when the agent was started without any of them: then they are not set at all.
    for begin in [guarded, started] {
        let said = begin(&env, &hook);
        assert!(said.contains("\"deny\"") && said.contains("mine"), "{said}");
        assert!(!nowhere.exists());
    }
}

/// An agent hands on what a file of the repository sets to all that it starts, hooks among them.
#[test]
fn a_repository_that_names_another_path_has_none_of_its_programs_run() {
    let env = env();
    let (theirs, own) = (env.repo().join("tools"), env.user().join("own"));
    let (ran, told) = (env.user().join("ran"), env.user().join("told"));
    let program = |directory: &std::path::Path, name: &str, log: &std::path::Path| {
        fs::create_dir_all(directory).unwrap();
        let script = format!("#!/bin/sh\necho {name} \"$@\" >> {}\n", log.display());
        fs::write(directory.join(name), script).unwrap();
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    for name in ["git", "br", "bd", "sh", "ps", "claude", "codex", "hostname", "heirloom"] {
        program(&theirs, name, &ran);
    }
    program(&own, "br", &told);
    fs::create_dir(env.repo().join(".beads")).unwrap();
    let path = format!("{}:/usr/bin:/bin", theirs.display());
    env.write(".claude/settings.json", &json!({"env": {"PATH": path}}).to_string());
    env.write("src/a.rs", "fn rotate() {}\n");
    let env = env.var("PATH", format!("{}:/usr/bin:/bin", own.display()));
    env.run(&["init", "--yes"]).success();
    env.run(&["note", "decision", "Rotate", "--issue", "hl-1", "--evidence", "src/a.rs:1"])
        .success();
    let mut script = format!("export PATH={path}\n");
    for event in ["UserPromptSubmit", "PreToolUse", "Stop", "PreCompact", "SessionStart"] {
        let payload = payload(&env, event);
        writeln!(script, "{HEIRLOOM} hook claude {event} < {}", payload.display()).unwrap();
    }
    for command in ["recover", "ground", "notes", "checkpoint", "sync", "status", "repo"] {
        writeln!(script, "{HEIRLOOM} {command}").unwrap();
    }
    let said = guarded(&env, &script);
    assert!(!ran.exists(), "{}\n{said}", fs::read_to_string(&ran).unwrap_or_default());
    let told = fs::read_to_string(&told).unwrap_or_default();
    assert!(
        told.contains("br comments add hl-1 DECISION: Rotate"),
        "the person's own: {told}\n{said}"
    );
}
