use std::fs;

use crate::env;

const THEIRS: &str = "{\n    \"model\": \"opus\",\n    \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}";

#[test]
fn setting_up_says_what_it_did_and_twice_is_the_same_as_once() {
    let env = env();
    let ran = env.run(&["init", "--agent", "claude"]).success();
    insta::assert_snapshot!(ran.stdout, @"
    Set up heirloom in payments (git, branch main)
      wrote    .heirloom/config.yaml                 your settings, commit this
      wrote    .heirloom/repository                  identifies this repository, commit this
      ignored  .heirloom/runs, .heirloom/local.yaml
      hooked   Claude Code                           user settings, active only where .heirloom/ is
      added    Claude Code                           commands such as /heirloom:recall, and MCP tools
    Nothing else to do. Try: heirloom doctor
    ");
    let file = env.user().join(".claude/settings.json");
    let once = fs::read_to_string(&file).unwrap();
    assert!(once.contains(" hook claude PreToolUse"));
    let again = env.run(&["init", "--agent", "claude"]).success();
    assert!(again.stdout.contains("kept     .heirloom/config.yaml"), "{}", again.stdout);
    assert_eq!(fs::read_to_string(&file).unwrap(), once);
    assert_eq!(
        env.git(&["status", "--porcelain", "--ignored", "-uall"]),
        "?? .heirloom/.gitignore\n?? .heirloom/config.yaml\n?? .heirloom/repository\n"
    );
}

#[test]
fn what_is_there_is_merged_with_and_taking_out_restores_it_to_the_byte() {
    let env = env();
    let file = env.user().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, THEIRS).unwrap();
    env.run(&["init", "--agent", "claude"]).success();
    let with = fs::read_to_string(&file).unwrap();
    assert!(with.contains("\"mine\"") && with.contains(" hook claude Stop"));
    env.run(&["init", "--uninstall"]).success();
    assert_eq!(fs::read_to_string(&file).unwrap(), THEIRS);
    assert_eq!(env.git(&["status", "--porcelain", "--ignored", "-uall"]), "");
    let nothing = env.run(&["init", "--uninstall"]).success();
    assert!(nothing.stdout.contains("There was nothing to remove"), "{}", nothing.stdout);
}

#[test]
fn what_others_changed_since_stays() {
    let env = env();
    let file = env.user().join(".claude/settings.json");
    env.run(&["init", "--agent", "claude"]).success();
    let with = fs::read_to_string(&file).unwrap();
    fs::write(&file, with.replacen('{', "{\n  \"model\": \"opus\",", 1)).unwrap();
    env.write(".heirloom/config.yaml", "requirements: {}\n");
    let out = env.run(&["init", "--uninstall"]).success();
    let left: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left["model"], "opus");
    assert!(!left.to_string().contains("hook claude"), "{left}");
    assert!(out.stdout.contains("you changed it, so it stays"), "{}", out.stdout);
    assert_eq!(env.read(".heirloom/config.yaml"), "requirements: {}\n");
}

#[test]
fn a_rehearsal_writes_nothing() {
    let env = env();
    let ran = env.run(&["init", "--agent", "claude", "--dry-run"]).success();
    assert!(ran.stdout.starts_with("Would set up heirloom"), "{}", ran.stdout);
    assert!(!env.repo().join(".heirloom").exists() && !env.user().join(".claude").exists());
}

#[test]
fn a_settings_file_that_is_no_settings_file_is_left_alone() {
    let env = env();
    let file = env.user().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{ not json").unwrap();
    let ran = env.run(&["init", "--agent", "claude"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("failed"), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ not json");
}

#[test]
fn an_agent_that_nobody_knows_is_refused() {
    let ran = env().run(&["init", "--agent", "clod"]);
    assert_eq!((ran.code, ran.stderr.contains("invalid value 'clod'")), (64, true), "{ran:?}");
}

#[test]
fn codex_is_hooked_and_says_that_it_wants_trust() {
    let env = env();
    let ran = env.run(&["init", "--agent", "codex"]).success();
    assert!(
        ran.stdout.contains("needs you once") && ran.stdout.contains("/hooks"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("Nothing else to do"), "{}", ran.stdout);
    assert!(env.user().join(".codex/hooks.json").exists());
}

#[test]
fn every_agents_own_file_is_merged_with_and_restored_to_the_byte() {
    let odd = "{\r\n\t\"theme\" : \"dark\" ,\r\n\t\"hooks\":{ }\r\n}";
    let commented = "{\n  // mine\n  \"plugin\": [\"other\"],\n}\n";
    for (agent, file, theirs) in [
        ("claude", ".claude/settings.json", odd),
        ("codex", ".codex/hooks.json", odd),
        ("gemini", ".gemini/settings.json", odd),
        ("opencode", ".config/opencode/opencode.jsonc", commented),
    ] {
        for before in [Some(theirs), None] {
            let env = env();
            let path = env.user().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
            env.run(&["init", "--agent", agent]).success();
            let names = || -> Vec<String> {
                let entries = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
                let mut names: Vec<String> =
                    entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
                names.sort();
                names
            };
            assert!(!names().is_empty(), "{agent}");
            if before.is_some() {
                let with = fs::read_to_string(&path).unwrap();
                assert!(with.contains("heirloom") && with != theirs, "{agent}: {with}");
                assert_eq!(with.contains("mine"), theirs.contains("mine"), "{agent}: {with}");
            }
            let project = env.git(&["status", "--porcelain", "-uall"]);
            assert!(!project.contains("opencode") && !project.contains("gemini"), "{project}");
            let out = env.run(&["init", "--uninstall"]).success();
            assert!(out.stdout.contains("all your repositories"), "{agent}: {out}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), before, "{agent}");
            assert_eq!(names().len(), usize::from(before.is_some()), "{agent}: {:?}", names());
        }
    }
}

#[test]
fn where_something_is_left_to_do_it_is_said() {
    let env = env().without_agents();
    let alone = env.run(&["init"]).success().stdout;
    assert!(
        alone.ends_with(
            "No agent was found: install one, then run heirloom init again.\n\
             To see heirloom at work without one: heirloom demo\n"
        ),
        "{alone}"
    );
    env.write(".heirloom/config.yaml", "work: {max_agents: many}\n");
    let broken = env.run(&["init", "--agent", "claude"]).success().stdout;
    assert!(broken.contains("Then correct the settings"), "{broken}");
    assert!(!broken.contains("Nothing else to do"), "{broken}");
}
