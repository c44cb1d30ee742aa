use super::*;
use proptest::prelude::*;
use serde_json::json;

const PLACE: Workdir<'static> =
    Workdir { roots: &["/private/repo", "/repo"], cwd: "/repo/sub", ignores_case: false };

fn requirement(triggers: &Value) -> Requirement {
    let tree = json!({"requirements": {"x": {"trigger_tools": triggers}}});
    let mut policy = super::super::settings::policy(&tree);
    assert_eq!(policy.problems, []);
    policy.requirements.remove(0)
}

fn triggers(trigger: Value, tool: &str, input: Value) -> bool {
    fit(trigger, tool, input) == Fit::Yes
}

#[expect(clippy::needless_pass_by_value, reason = "a table of literals reads better")]
fn fit(trigger: Value, tool: &str, input: Value) -> Fit {
    let requirement = requirement(&json!([trigger]));
    triggered_by(&requirement, &ToolUse::read(tool, &input), &PLACE).map_or(Fit::No, |hit| hit.fit)
}

#[test]
fn a_tool_is_named_or_matched() {
    assert!(triggers(json!("Edit"), "Edit", json!({})));
    assert!(!triggers(json!("Edit"), "Read", json!({})));
    assert!(triggers(json!("mcp__github__*"), "mcp__github__create_issue", json!({})));
    let gemini =
        ToolUse { own_name: Some("write_file".into()), ..ToolUse::read("Write", &Value::Null) };
    for tool in ["Write", "write_file"] {
        assert!(triggered_by(&requirement(&json!([tool])), &gemini, &PLACE).is_some());
    }
}

#[test]
fn a_command_is_what_runs_and_a_pattern_is_what_is_written() {
    let bash =
        |trigger: Value, command: &str| triggers(trigger, "Bash", json!({"command": command}));
    let parsed = json!({"tool": "Bash", "command": ["git", "push"]});
    assert!(bash(parsed.clone(), "cd x && git -C y push"));
    assert!(!bash(parsed.clone(), "echo git push"));
    assert!(!triggers(parsed, "Bash", json!({})));
    let raw = json!({"tool": "Bash", "command_pattern": r"git\s+push"});
    assert!(bash(raw.clone(), "echo GIT  push") && !bash(raw.clone(), "git -C . push"));
    assert!(!triggers(raw, "Edit", json!({"command": "git push"})));
}

#[test]
fn a_path_is_the_same_however_it_is_written() {
    let edit = |pattern: &str, path: &str| {
        triggers(json!({"tool": "Edit", "path": pattern}), "Edit", json!({"file_path": path}))
    };
    for path in [
        "/repo/src/a.rs",
        "../src/a.rs",
        "../src/../src/./b//c.rs",
        "/private/repo/src/a.rs",
        "/x/../repo/src/a",
    ] {
        assert!(edit("src/**", path), "{path}");
    }
    for path in [
        "/other/src/a.rs",
        "src/a.rs",
        "/repository/src/a.rs",
        "/src/a.rs",
        "/repo/src/../a.rs",
        "",
        "/repo/SRC/a.rs",
    ] {
        assert!(!edit("src/**", path), "{path}");
    }
    assert!(edit("*.rs", "/repo/x/y.rs") && !edit("*.rs", "/tmp/y.rs"));
    assert!(edit("/etc/**", "/etc/passwd"));
    assert!(!triggers(json!({"tool": "Edit", "path": "**"}), "Edit", json!({})));
}

#[test]
fn the_case_of_a_path_matters_where_the_file_system_says_so() {
    let place = Workdir { ignores_case: true, ..PLACE };
    let input = json!({"file_path": "/Repo/SRC/a.rs"});
    let src = requirement(&json!([{"tool": "Edit", "path": "Src/**"}]));
    assert!(triggered_by(&src, &ToolUse::read("Edit", &input), &place).is_some());
    assert!(triggered_by(&src, &ToolUse::read("Edit", &input), &PLACE).is_none());
}

fn shell_fit(pattern: &str, command: &str) -> Fit {
    let place = Workdir { cwd: "/repo", ..PLACE };
    let requirement = requirement(&json!([{"tool": "Edit", "path": pattern}]));
    let input = json!({"command": command});
    triggered_by(&requirement, &ToolUse::read("Bash", &input), &place)
        .map_or(Fit::No, |hit| hit.fit)
}

#[test]
fn a_command_edits_the_files_that_it_writes() {
    for command in [
        "echo x > src/a",
        "echo x >> src/a.rs",
        "cd src && echo x > a",
        "(cd src; echo x > a)",
        "cd src/deep && cat > ../b <<'EOF'\nx\nEOF",
        "pushd src; touch a",
        "echo x | tee src/a",
        "echo x | tee -a src/a > /dev/null",
        "dd if=/dev/zero of=src/a bs=1 count=1",
        "sed -i s/a/b/ src/a.rs",
        "sed -i.bak -e s/a/b/ src/a.rs",
        "sed -i '' 's/a/b/' src/a.rs",
        "sed --in-place 's/a/b/' lib/x src/a.rs",
        "perl -pi -e 's/a/b/' src/a.rs",
        "perl -i -pe 's/a/b/' src/a.rs",
        "cp x src/a",
        "cp x src",
        "cp -t src x",
        "mv src/a x",
        "mv x src/",
        "install -m 755 x src/x",
        "ln -s x src/x",
        "touch src/a",
        "truncate -s 0 src/a",
        "rm src/a",
        "rm -rf src/deep",
        "find src -name '*.rs' -delete",
        "find src -name '*.rs' -exec sed -i s/a/b/ {} +",
        "for f in src/*.rs; do sed -i s/a/b/ \"$f\"; done",
        "git apply <<'EOF'\n--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-a\n+b\nEOF",
        "patch -p1 <<'EOF'\n--- a/src/a\n+++ b/src/a\nEOF",
        "git checkout -- src/a",
        "git restore src/a",
        "git rm src/a",
        "git mv a src/a",
        "curl -o src/a https://example.com",
        "bash -c 'echo x > src/a'",
        "echo x > \"$(git rev-parse --show-toplevel)/src/a\"",
        "echo x > \"$PWD/src/a\"",
        "echo x > src/$NAME.rs",
        "tar xf a.tar -C src",
    ] {
        assert_eq!(shell_fit("src/**", command), Fit::Yes, "{command}");
    }
}

#[test]
fn a_command_that_may_write_a_file_is_not_certain() {
    for command in [
        "git apply fix.patch",
        "curl https://example.com/x | patch -p1",
        "echo x > \"$FILE\"",
        "cd \"$DIR\" && echo x > a",
        "sed -i s/a/b/ $(cat list)",
        "python3 -c \"open('src/a', 'w').write('x')\"",
    ] {
        assert_eq!(shell_fit("src/**", command), Fit::Maybe, "{command}");
    }
}

#[test]
fn who_changes_a_directory_changes_the_files_in_it() {
    for command in [
        "rm -r src",
        "rm -rf src/",
        "rm -rf ./src/../src",
        "rm -rf .",
        "mv src old",
        "git rm -rq src",
        "git restore src",
        "git checkout -- src/",
        "git checkout src/db/a.sql",
        "git checkout .",
        "prettier --write src",
        "black src",
        "ruff format src",
        "ruff check --fix src",
        "eslint --fix src",
    ] {
        assert_eq!(shell_fit("src/db/**", command), Fit::Yes, "{command}");
    }
    for command in [
        "rm -r target",
        "rm -rf node_modules dist",
        "rm src",
        "mv lib old",
        "cp x src/",
        "mkdir -p src/db",
        "git checkout main",
        "git checkout -b src/db",
        "git checkout src/other",
        "git add src",
        "black --check src",
        "ruff format --check src",
        "prettier --check src",
        "ls src/",
    ] {
        assert_eq!(shell_fit("src/db/**", command), Fit::No, "{command}");
        assert_eq!(shell_fit("**/*.sql", command), Fit::No, "{command}");
    }
    for command in [
        "ed -s src/a <<< w",
        "vim -c wq src/a",
        "ex -s -c wq src/a",
        "sd a b src/a",
        "yq -i '.a = 1' src/a.yaml",
        "gzip src/a",
        "dos2unix src/a",
        "openssl enc -in x -out src/a",
    ] {
        assert_eq!(shell_fit("src/**", command), Fit::Yes, "{command}");
    }
    for command in ["gzip -c src/a > x", "sd -p a b src/a", "vim -R src/a", "yq .a src/a.yaml"] {
        assert_eq!(shell_fit("src/**", command), Fit::No, "{command}");
    }
}

#[test]
fn whatever_else_writes_a_file_edits_it() {
    let mut wrong = Vec::new();
    let mut check = |command: &str, wanted: Fit| {
        let fit = shell_fit("src/**", command);
        if fit != wanted {
            wrong.push(format!("{command}: {fit:?}"));
        }
    };
    for command in [
        "split -l 10 x src/part-",
        "csplit -f src/part- x 10",
        "csplit --prefix=src/part- x 10",
        "find . | cpio -pdm src",
        "cpio -id -D src < x.cpio",
        "pax -rw . src",
        "bsdtar -xf x.tar -C src",
        "tar -czf src/x.tgz docs",
        "tar cf src/x.tar docs",
        "zip -r src/x.zip docs",
        "7z x x.7z -osrc",
        "git -C src restore a",
        "git -C src/deep checkout -- ../a",
        "git --work-tree=src checkout -- a",
        "git reset --hard",
        "cd docs && git reset --hard HEAD~1",
        "git clean -fd src",
        "git clone https://example.com/x src/x",
        "git worktree add src/x",
        "git checkout-index -f src/a",
        "git merge-file src/a b c",
        "git diff --output=src/a",
        "git archive -o src/x.tar HEAD",
        "git config -f src/x.ini a.b c",
        "env -C src tee a < x",
        "sudo -D src touch a",
        "uv run --directory src touch a",
        "curl -osrc/a https://example.com",
        "curl -O --output-dir src https://example.com/a",
        "cd src && wget https://example.com/a",
        "wget -P src https://example.com/a",
        "sort -osrc/a x",
        "sort -uo src/a x",
        "uniq x src/a",
        "xxd -r x src/a",
        "gcc -o src/a x.c",
        "objcopy x src/a",
        "sed -n 'w src/a' x",
        "sed 's/a/b/w src/a' x",
        "awk 'BEGIN { print 1 }' > src/a",
        "vim -es '+w! src/a' x",
        "ed -s x <<< 'w src/a'",
        "perl -0777pi -e 's/a/b/' src/a",
        "cd src && ln -s ../x",
        "cp --target-dir=src x",
        "sed --in-pl s/a/b/ src/a",
        "gcp x src/a",
        "docker cp c:/x src/a",
        "kubectl cp pod:/x src/a",
        "python3 -m json.tool x src/a",
        "echo x >! src/a",
        "echo x > ~+/src/a",
        "echo x > /proc/self/cwd/src/a",
        "exec 3> src/a; echo x >&3",
        "echo x >& src/a",
        ": <> src/a",
        "mkfifo src/a",
        "fallocate -l 1 src/a",
        "rename 's/a/b/' src/a",
        "nano src/a",
        "autopep8 -i src/a.py",
        "biome format --write src",
        "terraform fmt src",
    ] {
        check(command, Fit::Yes);
    }
    for command in [
        "git stash pop",
        "git stash apply stash@{1}",
        "git cherry-pick -n abc",
        "awk 'BEGIN { print 1 > \"src/a\" }'",
        "python3 -c \"import os; os.system('echo x > src/a')\"",
        "python3 -c \"import subprocess; subprocess.run(['rm', 'src/a'])\"",
        "python3 -c \"import shutil; shutil.move('x', 'src/a')\"",
        "perl -e 'open(F, \">src/a\")'",
        "php -r 'file_put_contents(\"src/a\", 1);'",
        "node -e 'fs.createWriteStream(\"src/a\")'",
        "git ls-files | xargs sed -i s/a/b/",
        "find . -name '*.rs' -delete",
        "echo x > ~-/a",
    ] {
        check(command, Fit::Maybe);
    }
    for command in [
        "git stash",
        "git stash list",
        "git -C src log --oneline",
        "git clean -n src",
        "git config --get a.b",
        "split -l 10 src/a /tmp/part-",
        "tar -tf src/x.tar",
        "tar czf /tmp/x.tgz src",
        "uniq src/a",
        "xxd src/a",
        "find src | cpio -o > /tmp/x",
        "sed -n 's/w /x/p' src/a",
        "awk '$1 > 5' src/a",
        "curl -fsSL https://example.com/src/a",
        "docker cp src/a c:/x",
        "env -C src ls",
        "python3 -c \"import subprocess; subprocess.run(['cat', 'src/a'])\"",
        "vim -c ':w' docs/a",
        "gcc -c src/a.c -o build/a.o",
        "terraform fmt -check src",
    ] {
        check(command, Fit::No);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(shell_fit("src/db/**", "rsync -a --delete x/ src/"), Fit::Maybe);
    assert_eq!(shell_fit("src/db/**", "cp -r x/. src"), Fit::Maybe);
}

#[test]
fn reading_a_file_is_no_edit_of_it() {
    for command in [
        "cat src/a",
        "sed -n 1,5p src/a.rs",
        "sed 's/a/b/' src/a.rs > out.txt",
        "grep -rn x src",
        "cp src/a /tmp/x",
        "diff src/a src/b",
        "ls src > list",
        "cd src && ls",
        "cd src && cargo test > ../log",
        "git diff src/a",
        "git apply --stat fix.patch",
        "git apply --check fix.patch",
        "perl -ne 'print' src/a",
        "wc -l src/*.rs",
        "cargo test 2>/dev/null >&2",
        "git restore --staged src/a",
        "ssh host 'echo x > src/a'",
        "find src -name '*.rs'",
        "python3 -c \"print(open('src/a').read())\"",
        "echo x > docs/$NAME.md",
    ] {
        assert_eq!(shell_fit("src/**", command), Fit::No, "{command}");
    }
}

#[test]
fn a_trigger_that_names_a_command_and_a_path_looks_at_its_words() {
    let trigger = json!({"tool": "Bash", "command": "cat", "path": "secrets/**"});
    let place = Workdir { cwd: "/repo", ..PLACE };
    let requirement = requirement(&json!([trigger]));
    let hit = |command: &str| {
        let input = json!({"command": command});
        triggered_by(&requirement, &ToolUse::read("Bash", &input), &place).map(|hit| hit.what)
    };
    assert_eq!(hit("ls; cat secrets/a"), Some(Some("cat secrets/a".to_owned())));
    assert_eq!(hit("cat docs/a; ls secrets/a"), None);
}

#[test]
fn a_patch_is_an_edit_of_every_file_in_it_however_it_is_applied() {
    let patch = "*** Begin Patch\n*** Add File: docs/a.md\n+x\n*** Update File: src/b.rs\n+DROP TABLE\n*** End Patch";
    let by_shell = format!("cd x && apply_patch <<'EOF'\n{patch}\nEOF");
    let shown = format!("cat <<'EOF'\n{patch}\nEOF");
    for trigger in [
        json!("Edit"),
        json!({"tool": "Edit", "path": "sub/src/**"}),
        json!({"tool": "Edit", "path": "sub/docs/*.md"}),
        json!({"tool": "Edit", "content": "drop table"}),
    ] {
        for key in ["command", "patch", "input"] {
            assert!(triggers(trigger.clone(), "Edit", json!({key: patch})), "{trigger} {key}");
        }
        assert!(triggers(trigger.clone(), "Bash", json!({"command": by_shell})), "{trigger}");
        assert!(!triggers(trigger.clone(), "Bash", json!({"command": shown})), "{trigger}");
    }
    assert!(triggers(json!("Bash"), "Bash", json!({"command": by_shell})));
}

#[test]
fn content_is_what_would_be_written() {
    let has = |tool: &str, input: Value| {
        triggers(json!({"tool": [tool], "content": r"todo!?\("}), tool, input)
    };
    assert!(has("Write", json!({"content": "fn a() { TODO!() }"})));
    assert!(has("Edit", json!({"old_string": "x", "new_string": "todo()"})));
    assert!(has("MultiEdit", json!({"edits": [{"new_string": "a"}, {"new_string": "todo()"}]})));
    assert!(!has("Edit", json!({"old_string": "todo()", "new_string": "x"})));
    assert!(!has("Edit", json!({"new_string": 3, "edits": "x"})));
}

#[test]
fn a_single_use_is_used_by_its_command_where_it_names_one() {
    let both = requirement(&json!(["Edit", {"tool": "Bash", "command": ["git", "commit"]}]));
    let edit = ToolUse::read("Edit", &Value::Null);
    let input = json!({"command": "git commit"});
    let commit = ToolUse::read("Bash", &input);
    assert!(triggered_by(&both, &edit, &PLACE).is_some() && !uses_up(&both, &edit, &PLACE));
    assert!(uses_up(&both, &commit, &PLACE));
    assert!(uses_up(&requirement(&json!(["Edit"])), &edit, &PLACE));
}

#[test]
fn only_heirloom_alone_is_heirloom() {
    let is = |command: &str| ToolUse::read("Bash", &json!({"command": command})).is_heirloom();
    assert!(is("heirloom req status") && is("cd x && /usr/bin/heirloom req pause --reason 'a; b'"));
    for command in [
        "git push; heirloom req pause",
        "heirloom req status > src/a.rs",
        "heirloom run x y",
        "echo heirloom",
        "heirloom req status $(git push)",
        "cd x",
    ] {
        assert!(!is(command), "{command}");
    }
}

#[test]
fn plans_are_exempt_wherever_they_are_kept() {
    let exempt = super::super::policy::Policy::default().exempt;
    let is =
        |path: &str| ToolUse::read("Write", &json!({"file_path": path})).is_exempt(&exempt, &PLACE);
    assert!(
        is("/home/me/.claude/plans/a.md")
            && is("/repo/docs/plans/a.md")
            && is("/repo/.claude/plans/x/a.md")
    );
    assert!(
        !is("/repo/src/a.rs")
            && !is("/other/docs/plans/a.md")
            && !is("/repo/.claude/plans/../../src/a.rs")
    );
    assert!(!ToolUse::read("Bash", &json!({"command": "x"})).is_exempt(&exempt, &PLACE));
}

proptest! {
    #[test]
    fn a_text_without_the_words_is_never_found(pattern in r"(\\b)?[a-cA-C]{0,3}([*+?|. ]|\{0\}|\(a\)|\(\?-i\)|\[a\]|\\s[+*?]?|\\x61|\\.){0,2}[a-c]{0,2}[*+?]?[a-c]?", text in "[a-cA-C ]{0,12}") {
        if let Ok(regex) = crate::settings::compile_pattern(&pattern) {
            prop_assert_eq!(finds(&pattern, &text), regex.is_match(text.as_bytes()));
        }
    }

    #[test]
    fn a_path_never_gets_out_of_its_directory_unnoticed(path in r"[a-c./]{0,20}") {
        let located = Located::new(&format!("/repo/{path}"), &PLACE);
        prop_assert!(!located.absolute.contains("/../") && !located.absolute.contains("//"));
        prop_assert_eq!(located.relative.is_some(), located.absolute.starts_with("/repo/"));
    }
}
