//! What is read and written: nothing outside of the repository, nothing that git would run, nothing that waits.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use heirloom_testkit::env::TestEnv;

use crate::env;
use crate::run::{WORKS, with_agent};

fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn session_start(env: &TestEnv) {
    let payload = serde_json::json!({
        "session_id": "8272974a-8223-4415-954c-99d01904a037",
        "cwd": env.repo(), "hook_event_name": "SessionStart", "source": "startup",
    });
    let ran = env.run_with(&["hook", "claude", "SessionStart"], payload.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn a_page_that_is_a_link_out_of_the_repository_is_neither_read_nor_written() {
    let env = env();
    let outside = env.user().join("secret");
    fs::write(&outside, "# Mine\n\n## Decisions\n\n- theirs\n").unwrap();
    symlink(&outside, env.repo().join("NOTES.md")).unwrap();
    env.run(&["note", "decision", "Use RS256", "--because", "keys rotate"]);
    let ran = env.run(&["checkpoint"]);
    assert!(ran.stdout.contains("NOTES.md: it leads out of the repository"), "{ran}");
    let doctor = env.run(&["doctor"]);
    assert!(doctor.stdout.contains("NOTES.md: it leads out of the repository"), "{doctor}");
    session_start(&env);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "# Mine\n\n## Decisions\n\n- theirs\n");
    assert!(!env.run(&["notes"]).stdout.contains("theirs"));
}

#[test]
fn a_page_is_never_a_hook_of_git() {
    let env = env();
    env.write(".heirloom/config.yaml", "notes:\n  file: .git/hooks/pre-commit\n");
    env.run(&["note", "decision", "Use RS256", "--because", "keys rotate"]);
    let ran = env.run(&["checkpoint"]);
    assert!(ran.stdout.contains("pre-commit: it is inside of .git"), "{ran}");
    let doctor = env.run(&["doctor"]);
    assert!(doctor.stdout.contains(".git/hooks/pre-commit: it is inside of .git"), "{doctor}");
    env.write(".heirloom/config.yaml", "notes: {file: ../NOTES.md}\n");
    let doctor = env.run(&["doctor"]);
    assert!(
        doctor.stdout.contains("`notes.file` must be a path inside the repository"),
        "{doctor}"
    );
    env.write(".heirloom/config.yaml", "notes: {file: docs/PAGE.md}\n");
    assert!(!env.run(&["doctor"]).stdout.contains("neither read nor written"));
    session_start(&env);
    assert!(!env.repo().join(".git/hooks/pre-commit").exists());
}

#[test]
fn a_fifo_in_the_place_of_a_file_keeps_nobody_waiting() {
    let env =
        with_agent("cat > /dev/null\nrm -f \"$HEIRLOOM_STATUS\"\nmkfifo \"$HEIRLOOM_STATUS\"\n");
    fifo(&env.repo().join("NOTES.md"));
    fifo(&env.repo().join(".heirloom/stages/evil/stage.yaml"));
    let ran = env.run(&["checkpoint"]);
    assert!(ran.stdout.contains("NOTES.md: it is a FIFO, not a regular file"), "{ran}");
    let doctor = env.run(&["doctor"]);
    assert!(doctor.stdout.contains("NOTES.md: it is a FIFO, not a regular file"), "{doctor}");
    session_start(&env);
    for command in [&["recover", "1"][..], &["ground"], &["status"], &["stages", "list"], &["heal"]]
    {
        env.run(command);
    }
    let ran = env.run(&["run", "ralph", "s", "1", "--agent", "command"]);
    assert_eq!(ran.code, 1, "{ran}");
}

#[test]
fn what_was_unpacked_with_a_fifo_among_gits_own_files_is_guarded_all_the_same() {
    let env = env();
    env.write_user("requirements: {mine: {}}\n");
    let payload = serde_json::json!({
        "session_id": "8272974a-8223-4415-954c-99d01904a037",
        "cwd": env.repo(), "hook_event_name": "PreToolUse",
        "tool_name": "Edit", "tool_input": {"file_path": "src/a.rs", "new_string": "x"},
    });
    for name in ["HEAD", "index", "packed-refs", "commondir"] {
        let file = env.repo().join(".git").join(name);
        let before = fs::read(&file).ok();
        let _ = fs::remove_file(&file);
        fifo(&file);
        session_start(&env);
        let ran = env.run_with(&["hook", "claude", "PreToolUse"], payload.to_string().as_bytes());
        assert!(ran.stdout.contains("\"deny\""), "{name}: {ran}");
        fs::remove_file(&file).unwrap();
        if let Some(before) = before {
            fs::write(&file, before).unwrap();
        }
    }
}

#[test]
fn a_page_of_three_gigabytes_is_refused_before_it_is_read() {
    let env = env();
    let page = fs::File::create(env.repo().join("NOTES.md")).unwrap();
    page.set_len(3 << 30).unwrap();
    let ran = env.run(&["checkpoint"]);
    assert!(ran.stdout.contains("NOTES.md: it has 3221225472 bytes"), "{ran}");
}

#[test]
fn a_run_directory_behind_a_link_is_neither_read_nor_written() {
    let env = with_agent(WORKS);
    let outside = env.user().join("runs");
    fs::create_dir_all(outside.join("theirs")).unwrap();
    fs::write(outside.join("theirs/state.json"), r#"{"status":"completed"}"#).unwrap();
    fs::create_dir_all(env.repo().join(".heirloom")).unwrap();
    symlink(&outside, env.repo().join(".heirloom/runs")).unwrap();
    let ran = env.run(&["run", "ralph", "s", "1", "--agent", "command"]);
    assert!(ran.stderr.contains("it leads out of the repository"), "{ran}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    let ran = env.run(&["inherit", "theirs"]);
    assert_ne!(ran.code, 0, "{ran}");
}

#[test]
fn a_home_that_an_earlier_version_left_open_is_closed() {
    let env = with_agent(WORKS);
    env.run(&["init", "--agent", "claude"]).success();
    env.run(&["note", "learning", "tokens rotate"]).success();
    let mode = || fs::metadata(env.home()).unwrap().permissions().mode() & 0o777;
    let open = || fs::set_permissions(env.home(), fs::Permissions::from_mode(0o755)).unwrap();
    open();
    env.run(&["notes"]).success();
    assert_eq!(mode(), 0o700, "by the next command");
    open();
    session_start(&env);
    assert_eq!(mode(), 0o700, "by the start of a session");
}

#[test]
fn whatever_lies_in_the_home_and_the_run_directory_is_its_owners_alone() {
    let env = with_agent(WORKS);
    fs::remove_dir(env.home()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    env.run(&["run", "ralph", "s", "1", "--agent", "command"]).success();
    env.run(&["search", "learned"]).success();
    env.run(&["checkpoint"]).success();
    session_start(&env);
    let mut open = vec![env.home(), env.repo().join(".heirloom/runs/s")];
    let mut files = 0;
    while let Some(directory) = open.pop() {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            // The agent makes its own report.
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else if entry.file_name() != "status.json" {
                assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files > 10, "{files}");
}

#[test]
fn what_heirloom_writes_into_a_run_directory_holds_no_secret() {
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let env = with_agent(&format!(
        "cat > /dev/null\necho 'token={token}'\necho 'export GH={token}' >&2\n\
         printf '{{\"decision\":\"continue\",\"summary\":\"used {token}\"}}' > \"$HEIRLOOM_STATUS\"\n"
    ));
    let context = format!("log in with {token}");
    env.run(&["run", "ralph", "s", "1", "--agent", "command", "--context", &context]).success();
    let mut open = vec![env.repo().join(".heirloom/runs/s")];
    let mut files = 0;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else if entry.file_name() != "status.json" {
                let text = fs::read_to_string(entry.path()).unwrap();
                assert!(!text.contains(&token), "{}: {text}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files > 5, "{files}");
}

#[test]
fn no_hook_of_the_repository_runs_because_heirloom_looks_at_it() {
    let env = env();
    env.write("src/a.rs", "fn a() {}\nfn b() {}\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "second"]);
    let trace = env.user().join("trace");
    for hook in
        ["post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"]
    {
        let path = env.repo().join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\necho {hook} >> {}\n", trace.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    env.run(&["note", "decision", "a is first", "--because", "order", "--evidence", "src/a.rs:1"])
        .success();
    fs::rename(env.repo().join("src/a.rs"), env.repo().join("src/b.rs")).unwrap();
    for command in [&["ground"][..], &["recover", "1"], &["checkpoint"], &["status"], &["heal"]] {
        env.run(command);
    }
    session_start(&env);
    assert_eq!(fs::read_to_string(&trace).unwrap_or_default(), "");
}
