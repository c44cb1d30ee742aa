//! What a command does not say itself, and is looked up: git's aliases, and what a patch changes.

use super::{Guarded, ONE, Said};

const PUSH: &str = "requirements:
  reviewed: {trigger_tools: [{tool: Bash, command: [git, push]}]}
";

#[test]
fn an_alias_in_gits_settings_is_the_command_it_stands_for() {
    let guarded = Guarded::new(PUSH);
    let env = &guarded.env;
    assert_eq!(guarded.bash(ONE, "git p origin main"), Said::Nothing, "there is no such alias yet");
    env.git(&["config", "alias.p", "push"]);
    env.git(&["config", "alias.ship", "!git fetch && git push"]);
    env.git(&["config", "alias.st", "status"]);
    std::fs::write(env.user().join(".gitconfig"), "[alias]\n\tmine = push --tags\n").unwrap();
    for command in ["git p origin main", "cd . && sudo git ship", "git mine", "git -C . p"] {
        let said = guarded.bash(ONE, command);
        assert!(said.is_denied() && said.text().contains("reviewed"), "{command}: {said:?}");
    }
    for command in ["git st", "git status", "git unknown-to-anybody"] {
        assert_eq!(guarded.bash(ONE, command), Said::Nothing, "{command}");
    }
    let explained = guarded.req(&["explain", "Bash", "--command", "git p", "--session", ONE]);
    assert_eq!(explained.code, 1, "{explained}");
    assert!(explained.stdout.contains("git push"), "{explained}");
    // Another repository's aliases are its own.
    let other = env.repo().join("other");
    std::fs::create_dir(&other).unwrap();
    env.git(&["init", "-q", "other"]);
    env.git(&["-C", "other", "config", "alias.q", "push"]);
    assert_eq!(guarded.bash(ONE, "git q"), Said::Nothing);
    assert!(guarded.bash(ONE, "git -C other q").is_denied());
    assert!(guarded.bash(ONE, "cd other && git q").is_denied());
}

#[test]
fn one_word_is_what_it_stands_for_in_each_directory() {
    let guarded = Guarded::new(PUSH);
    let env = &guarded.env;
    for (directory, text) in [("a", "push"), ("b", "status")] {
        env.git(&["init", "-q", directory]);
        env.git(&["-C", directory, "config", "alias.x", text]);
    }
    let verdict = |command: &str| {
        let ran = guarded.req(&["explain", "Bash", "--command", command, "--json"]);
        ran.json()["verdict"].as_str().unwrap().to_owned()
    };
    for (command, expected) in [
        ("cd a && git x; cd ../b && git x", "deny"),
        ("cd b && git x; cd ../a && git x", "deny"),
        ("git -C b x && git -C a x", "deny"),
        ("git -C b x && git -C b x", "silent"),
        ("(cd b && git x); git -C a status", "silent"),
        ("git x", "silent"),
        ("cd a && (false && git config alias.x log; git x)", "deny"),
    ] {
        assert_eq!(verdict(command), expected, "{command}");
    }
    // More directories than anybody looks into: what it stands for in the last is not known.
    let many: Vec<String> = ('a'..='k').map(|name| format!("git -C {name} x")).collect();
    let many = many[1..].join("; ");
    assert_eq!(verdict(&many), "ask", "{many}");
}

#[test]
fn a_patch_is_an_edit_of_the_files_that_it_names() {
    let guarded =
        Guarded::new("requirements:\n  plan: {trigger_tools: [{tool: Edit, path: 'src/db/**'}]}\n");
    let patch = |file: &str| {
        let text = format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n");
        guarded.env.write("fix.patch", &text);
    };
    for (file, is_covered) in [("src/db/a.sql", true), ("docs/a.md", false)] {
        patch(file);
        for command in ["git apply fix.patch", "patch -p1 < fix.patch", "patch -p1 -i fix.patch"] {
            let said = guarded.bash(ONE, command);
            assert_eq!(said.is_denied(), is_covered, "{file}: {command}: {said:?}");
            // What a patch does besides is never certain.
            let ran = guarded.req(&["explain", "Bash", "--command", command, "--json"]);
            assert!(is_covered || ran.json()["verdict"] == "ask", "{file}: {command}: {ran}");
        }
    }
    // What guards agents is not changed by way of a patch either.
    patch(".heirloom/config.yaml");
    for command in ["git apply fix.patch", "patch -p1 < fix.patch", "git am fix.patch"] {
        let said = guarded.bash(ONE, command);
        assert!(said.text().contains("guards agents here"), "{command}: {said:?}");
    }
    let below = "git apply --directory=.heirloom fix.patch";
    patch("config.yaml");
    assert!(guarded.bash(ONE, below).text().contains("guards agents here"));
    // Where it is not known what comes back, a person is asked.
    for command in ["git stash pop", "git stash apply", "curl -s x | git apply"] {
        let ran = guarded.req(&["explain", "Bash", "--command", command, "--json"]);
        assert_eq!(ran.json()["verdict"], "ask", "{command}: {ran}");
    }
    for command in
        ["git checkout -- src/db/a.sql", "git restore src/db", "git checkout HEAD~1 -- ."]
    {
        assert!(guarded.bash(ONE, command).is_denied(), "{command}");
    }
}
