//! What is installed, through the days: the program is moved, replaced or removed, a second repository
//! comes along, one is taken out, a teammate clones.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use heirloom_testkit::env::{Ran, TestEnv};
use serde_json::{Value, json};

use crate::env;

const RULE: &str = "requirements: {plan: {satisfied_by_skill: arch-review}}\n";

/// The line that Claude Code hands to its shell for an event.
fn line(env: &TestEnv, event: &str) -> String {
    let text = fs::read_to_string(env.user().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

/// What that shell prints for an event in `repo`, with these directories in `PATH`.
fn fire(env: &TestEnv, repo: &Path, event: &str, path: &[&Path]) -> Ran {
    fire_line(env, &line(env, event), repo, event, path)
}

fn fire_line(env: &TestEnv, line: &str, repo: &Path, event: &str, path: &[&Path]) -> Ran {
    let payload = json!({
        "session_id": "8272974a-8223-4415-954c-99d01904a037", "cwd": repo, "hook_event_name": event,
        "source": "startup", "tool_name": "Edit", "tool_input": {"file_path": repo.join("a.rs")},
    });
    let file = env.user().join("payload.json");
    fs::write(&file, payload.to_string()).unwrap();
    // Nothing else of the machine's is in the way of what is looked for.
    let output = Command::new("/bin/sh")
        .args(["-c", line])
        .env_clear()
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", env.user())
        .env("HEIRLOOM_HOME", env.home())
        .current_dir(repo)
        .stdin(Stdio::from(fs::File::open(file).unwrap()))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Ran { stdout: text(output.stdout), stderr: text(output.stderr), code }
}

fn is_denied(ran: &Ran) -> bool {
    ran.stdout.contains("\"permissionDecision\":\"deny\"")
}

/// A copy of the program that can be moved about.
fn copy(env: &TestEnv, directory: &str) -> PathBuf {
    let directory = env.user().join(directory);
    fs::create_dir_all(&directory).unwrap();
    let copy = directory.join("heirloom");
    // By another process: what this one starts meanwhile for another test would have the file open for writing,
    // and such a file cannot be run.
    let from = env!("CARGO_BIN_EXE_heirloom");
    assert!(Command::new("cp").arg(from).arg(&copy).status().unwrap().success());
    copy
}

/// Runs a copy of the program in `place`, with these directories in `PATH` before those of the machine.
fn run_copy(env: &TestEnv, program: &Path, place: &Path, path: &[&Path], arguments: &[&str]) {
    let mut command = Command::new(program);
    let vars = env.command(&[]);
    let vars = vars.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let path = std::env::join_paths(path.iter().copied().chain([Path::new("/usr/bin")])).unwrap();
    command.env_clear().envs(vars).env("PATH", path).current_dir(place);
    let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn init_with(env: &TestEnv, program: &Path, path: &[&Path]) {
    run_copy(env, program, &env.repo(), path, &["init", "--agent", "claude"]);
}

#[test]
fn a_program_that_was_moved_or_removed_is_no_error_of_the_agents() {
    let env = env();
    env.write(".heirloom/config.yaml", RULE);
    let program = copy(&env, "old");
    init_with(&env, &program, &[]);
    let (repo, new) = (env.repo(), env.user().join("new"));
    assert!(is_denied(&fire(&env, &repo, "PreToolUse", &[])), "where it was");
    fs::create_dir_all(&new).unwrap();
    fs::rename(&program, new.join("heirloom")).unwrap();
    assert!(is_denied(&fire(&env, &repo, "PreToolUse", &[&new])), "where PATH has it");
    for event in ["PreToolUse", "SessionStart", "Stop", "SessionEnd"] {
        let gone = fire(&env, &repo, event, &[&env.user().join("nothing")]);
        assert_eq!((gone.code, &*gone.stdout, &*gone.stderr), (0, "", ""), "{event}");
    }
}

/// The lines that an agent hands to its shell, wherever in its settings they are.
fn lines(settings: &Value) -> Vec<String> {
    match settings {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value {
                Value::String(line) if key == "command" => vec![line.clone()],
                other => lines(other),
            })
            .collect(),
        Value::Array(all) => all.iter().flat_map(lines).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_program_that_is_gone_is_no_error_of_any_agents() {
    for (agent, file) in [("codex", ".codex/hooks.json"), ("gemini", ".gemini/settings.json")] {
        let env = env();
        env.write(".heirloom/config.yaml", RULE);
        let program = copy(&env, "old");
        run_copy(&env, &program, &env.repo(), &[], &["init", "--agent", agent]);
        let text = fs::read_to_string(env.user().join(file)).unwrap();
        let mut lines = lines(&serde_json::from_str(&text).unwrap());
        lines.retain(|line| line.contains(&format!(" hook {agent} ")));
        assert!(lines.len() > 3, "{agent}: {lines:?}");
        fs::remove_file(&program).unwrap();
        for line in lines {
            let gone = fire_line(&env, &line, &env.repo(), "", &[&env.user().join("nothing")]);
            assert_eq!((gone.code, &*gone.stdout, &*gone.stderr), (0, "", ""), "{line}");
        }
    }
}

/// opencode has no lines but a plugin, which starts the program itself.
#[test]
#[ignore = "needs node"]
fn a_program_that_is_gone_is_no_error_of_opencodes() {
    let env = env();
    env.write(".heirloom/config.yaml", RULE);
    let program = copy(&env, "old");
    run_copy(&env, &program, &env.repo(), &[], &["init", "--agent", "opencode"]);
    fs::remove_file(&program).unwrap();
    let plugin = fs::read_to_string(env.user().join(".config/opencode/heirloom.js")).unwrap();
    let own = env.user().join("plugin.mjs");
    let ask = "\nconst all = await Heirloom({ directory: process.cwd() })\n\
        const input = { sessionID: 's', callID: 'c', tool: 'edit' }\n\
        await all['tool.execute.before'](input, { args: { filePath: 'a.rs' } })\n\
        console.log('went on')\n";
    fs::write(&own, plugin + ask).unwrap();
    let nothing = env.user().join("nothing");
    let node = Command::new("node")
        .arg(own)
        .env("NODE_NO_WARNINGS", "1")
        .env("HOME", env.user())
        .env("PATH", std::env::join_paths([&*nothing, Path::new("/usr/bin")]).unwrap())
        .current_dir(env.repo())
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!((said(&node.stdout), said(&node.stderr)), ("went on\n".into(), String::new()));
}

#[test]
#[ignore = "needs node"]
fn of_opencodes_package_and_the_plugin_of_init_one_speaks() {
    let env = env();
    env.run(&["init", "--agent", "opencode"]).success();
    let places = ["init", "package"].map(|name| env.user().join(format!("{name}.mjs")));
    fs::copy(env.user().join(".config/opencode/heirloom.js"), &places[0]).unwrap();
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/opencode/heirloom.js");
    fs::copy(package, &places[1]).unwrap();
    let [init, package] = &places;
    let script = format!(
        "const speaks = async (file) => {{
           const {{ Heirloom }} = await import(file)
           return Object.keys(await Heirloom({{ directory: '/r' }})).length > 0
         }}
         console.log(await speaks({init:?}), await speaks({package:?}), await speaks({init:?}))"
    );
    let node = Command::new("node").args(["--input-type=module", "-e", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&node.stdout);
    assert_eq!(said, "true false true\n", "{}", String::from_utf8_lossy(&node.stderr));
}

#[test]
fn a_program_that_a_link_leads_to_may_be_replaced_by_the_next_version() {
    let env = env();
    env.write(".heirloom/config.yaml", RULE);
    let first = copy(&env, "cellar/1.0");
    let bin = env.user().join("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(&first, bin.join("heirloom")).unwrap();
    init_with(&env, &bin.join("heirloom"), &[&bin]);
    assert!(line(&env, "Stop").contains("/bin/heirloom hook"), "{}", line(&env, "Stop"));
    let second = copy(&env, "cellar/2.0");
    fs::remove_file(bin.join("heirloom")).unwrap();
    fs::remove_file(first).unwrap();
    symlink(second, bin.join("heirloom")).unwrap();
    assert!(is_denied(&fire(&env, &env.repo(), "PreToolUse", &[])));
}

#[test]
fn the_line_takes_the_shells_place_so_an_event_costs_one_program() {
    let env = env();
    env.run(&["init", "--agent", "claude"]).success();
    // A program that says which process it is, and the shell that was asked to run it.
    let script = env.script("heirloom-told", "#!/bin/sh\necho $$\n");
    let line = line(&env, "Stop").replace(env!("CARGO_BIN_EXE_heirloom"), script.to_str().unwrap());
    let line = format!("echo $$; {line}");
    let ran = fire_line(&env, &line, &env.repo(), "Stop", &[Path::new("/usr/bin")]);
    let ids: Vec<&str> = ran.stdout.lines().collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "{ran}");
}

/// A second repository of the same person's, set up by `program`.
fn second(env: &TestEnv, program: &Path) -> PathBuf {
    let other = env.user().join("billing");
    fs::create_dir_all(other.join(".heirloom")).unwrap();
    env.git(&["init", "-q", "-b", "main", other.to_str().unwrap()]);
    fs::write(other.join(".heirloom/config.yaml"), RULE).unwrap();
    run_copy(env, program, &other, &[], &["init", "--agent", "claude"]);
    other
}

fn built() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_heirloom"))
}

#[test]
fn taking_one_repository_out_leaves_the_other_as_it_is() {
    let env = env();
    env.write(".heirloom/config.yaml", RULE);
    env.run(&["init", "--agent", "claude"]).success();
    let other = second(&env, built());
    let denied = |repo: &Path| is_denied(&fire(&env, repo, "PreToolUse", &[]));
    assert!(denied(&env.repo()) && denied(&other));

    let out = env.run(&["init", "--uninstall"]).success();
    assert!(out.stdout.contains("another repository uses them"), "{out}");
    // What the team committed stays, and asks for nothing here any more.
    assert_eq!(env.read(".heirloom/config.yaml"), RULE);
    assert!(!denied(&env.repo()), "taken out");
    assert!(denied(&other), "the other one");
    let start = fire(&env, &env.repo(), "SessionStart", &[]);
    assert_eq!((&*start.stdout, &*start.stderr), ("", ""), "nothing is said where it is out");
    assert!(env.run(&["req", "status"]).stderr.contains("not set up"));

    env.run(&["init", "--agent", "claude"]).success();
    assert!(denied(&env.repo()), "set up again");
    env.run(&["init", "--uninstall"]).success();
    env.run_in(&other, &["init", "--uninstall"]).success();
    assert!(
        !env.user().join(".claude/settings.json").exists(),
        "the last one takes the hooks along"
    );
}

#[test]
fn everywhere_takes_the_hooks_out_of_all() {
    let env = env();
    env.run(&["init", "--agent", "claude"]).success();
    second(&env, built());
    let rehearsed = env.run(&["init", "--uninstall", "--everywhere", "--dry-run"]).success();
    assert!(rehearsed.stdout.contains(".claude/settings.json"), "{rehearsed}");
    assert!(env.user().join(".claude/settings.json").exists());
    env.run(&["init", "--uninstall", "--everywhere"]).success();
    assert!(!env.user().join(".claude/settings.json").exists());
    assert_eq!(env.run(&["init", "--everywhere"]).code, 64);
}

/// A day with everything in it: two repositories, the program moves, one repository is taken out, then all are.
#[test]
fn a_moved_program_serves_both_repositories_and_leaves_them_one_by_one() {
    let env = env();
    env.write(".heirloom/config.yaml", RULE);
    let old = copy(&env, "old");
    init_with(&env, &old, &[]);
    let (repo, other) = (env.repo(), second(&env, &old));
    let new = env.user().join("new");
    fs::create_dir_all(&new).unwrap();
    fs::rename(&old, new.join("heirloom")).unwrap();
    let fired = |repo: &Path| fire(&env, repo, "PreToolUse", &[&new]);
    assert!(is_denied(&fired(&repo)) && is_denied(&fired(&other)), "both are guarded");

    let moved = new.join("heirloom");
    let run = |place: &Path, arguments: &[&str]| run_copy(&env, &moved, place, &[], arguments);
    let silent = |ran: &Ran| ran.code == 0 && ran.stdout.is_empty() && ran.stderr.is_empty();
    run(&repo, &["init", "--uninstall"]);
    assert!(silent(&fired(&repo)), "{}", fired(&repo));
    assert!(is_denied(&fired(&other)), "the other one stays guarded");

    // An agent that is running still has the line that it read when it started.
    let remembered = line(&env, "PreToolUse");
    run(&other, &["init", "--uninstall", "--everywhere"]);
    assert!(!env.user().join(".claude/settings.json").exists());
    for repo in [&repo, &other] {
        let ran = fire_line(&env, &remembered, repo, "PreToolUse", &[&new]);
        assert!(silent(&ran), "{ran}");
    }
    fs::remove_dir_all(&new).unwrap();
    let gone = fire_line(&env, &remembered, &repo, "PreToolUse", &[Path::new("/usr/bin")]);
    assert!(silent(&gone), "{gone}");
}

/// What the person at the agent is shown.
fn told(ran: &Ran) -> String {
    let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    said["systemMessage"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_teammate_who_cloned_is_told_once_what_to_do() {
    let env = env();
    env.run(&["init", "--agent", "claude"]).success();
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "use heirloom"]);
    // Another person on another machine, who uses heirloom elsewhere.
    let ada = TestEnv::new(env!("CARGO_BIN_EXE_heirloom"));
    ada.run(&["init", "--agent", "claude"]).success();
    let clone = ada.user().join("clone");
    ada.git(&["clone", "-q", env.repo().to_str().unwrap(), clone.to_str().unwrap()]);
    let first = told(&fire(&ada, &clone, "SessionStart", &[]));
    assert!(first.contains("heirloom init"), "{first}");
    let again = told(&fire(&ada, &clone, "SessionStart", &[]));
    assert!(!again.contains("heirloom init"), "{again}");
    let own = told(&fire(&ada, &ada.repo(), "SessionStart", &[]));
    assert!(!own.contains("heirloom init"), "{own}");

    let bob = TestEnv::new(env!("CARGO_BIN_EXE_heirloom"));
    bob.run(&["init", "--agent", "claude"]).success();
    let clone = bob.user().join("clone");
    bob.git(&["clone", "-q", env.repo().to_str().unwrap(), clone.to_str().unwrap()]);
    bob.run_in(&clone, &["init", "--agent", "claude"]).success();
    let said = told(&fire(&bob, &clone, "SessionStart", &[]));
    assert!(!said.contains("heirloom init"), "{said}");
}
