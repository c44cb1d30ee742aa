//! Repositories that each try something else: with git's own files, with what lies in the place of files, with
//! names. The person's requirement holds in all of them, nothing of theirs runs, and nobody waits.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;

use heirloom_testkit::env::TestEnv;

use crate::env;
use crate::guard::{Guarded, ONE};

type Prepare = fn(&TestEnv);

/// Where a trace of whatever ran is left.
const SING: &str = "touch ../canary";

fn fifo(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A program of the repository's that leaves a trace.
fn program(env: &TestEnv) {
    env.write("evil", "#!/bin/sh\ntouch ../canary ../../canary\ncat\n");
    fs::set_permissions(env.repo().join("evil"), fs::Permissions::from_mode(0o755)).unwrap();
}

const TRICKS: [(&str, Prepare); 16] = [
    ("git's directory is somewhere else", |env| {
        let elsewhere = env.user().join("elsewhere");
        fs::rename(env.repo().join(".git"), &elsewhere).unwrap();
        env.write(".git", &format!("gitdir: {}\n", elsewhere.display()));
        env.git(&["config", "core.fsmonitor", SING]);
        env.git(&["config", "core.pager", SING]);
    }),
    ("the worktree is the person's home", |env| {
        env.git(&["config", "core.worktree", env.user().to_str().unwrap()]);
        env.git(&["config", "core.fsmonitor", SING]);
    }),
    ("settings of git's that are included", |env| {
        env.write("more", &format!("[core]\n\tfsmonitor = {SING}\n\teditor = {SING}\n"));
        env.git(&["config", "include.path", "../more"]);
    }),
    ("settings of git's for one worktree", |env| {
        program(env);
        env.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
        env.git(&["config", "extensions.worktreeConfig", "true"]);
        let text = "[filter \"evil\"]\n\tclean = ./evil\n\tprocess = ./evil\n\trequired = true\n\
                    [diff \"evil\"]\n\ttextconv = ./evil\n\tcommand = ./evil\n";
        env.write(".git/config.worktree", text);
    }),
    ("a repository inside that is bare", |env| {
        env.write("src/HEAD", "ref: refs/heads/main\n");
        fs::create_dir_all(env.repo().join("src/objects")).unwrap();
        fs::create_dir_all(env.repo().join("src/refs")).unwrap();
        env.write("src/config", &format!("[core]\n\tbare = false\n\tfsmonitor = {SING}\n"));
    }),
    ("a submodule with settings of its own", |env| {
        let inner = env.repo().join("vendor/x");
        fs::create_dir_all(&inner).unwrap();
        let run = |arguments: &[&str]| {
            let git = Command::new("git").arg("-C").arg(&inner).args(arguments).output().unwrap();
            assert!(git.status.success());
        };
        run(&["init", "-q"]);
        run(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@localhost",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
        ]);
        run(&["config", "core.fsmonitor", "touch ../../../canary"]);
        env.git(&["add", "vendor/x"]);
    }),
    ("heirloom's directory is a link out of the repository", |env| {
        let outside = env.user().join("outside");
        fs::create_dir_all(&outside).unwrap();
        let off = "enabled: false\nrequirements: {mine: {enabled: false}}\n";
        fs::write(outside.join("config.yaml"), off).unwrap();
        fs::write(outside.join("local.yaml"), off).unwrap();
        symlink(&outside, env.repo().join(".heirloom")).unwrap();
        env.git(&["add", ".heirloom"]);
    }),
    ("settings without an end", |env| {
        fs::create_dir_all(env.repo().join(".heirloom")).unwrap();
        symlink("/dev/zero", env.repo().join(".heirloom/config.yaml")).unwrap();
        symlink("/dev/zero", env.repo().join("NOTES.md")).unwrap();
    }),
    ("settings of three gigabytes", |env| {
        env.write(".heirloom/config.yaml", "requirements: {mine: {enabled: false}}\n");
        let path = env.repo().join(".heirloom/config.yaml");
        fs::OpenOptions::new().append(true).open(path).unwrap().set_len(3 << 30).unwrap();
    }),
    ("FIFOs where agents keep settings", |env| {
        for file in [".claude/settings.json", ".env", ".codex/config.toml", "opencode.json"] {
            fifo(&env.repo().join(file));
        }
    }),
    ("FIFOs where heirloom keeps its own", |env| {
        for file in ["config.yaml", "local.yaml", "repository"] {
            fifo(&env.repo().join(".heirloom").join(file));
        }
        fifo(&env.repo().join(".claude/requirements.yaml"));
    }),
    ("a FIFO among git's settings", |env| {
        fifo(&env.repo().join(".git/config"));
    }),
    ("a FIFO that says what is ignored", |env| {
        fifo(&env.user().join("ignored"));
        env.git(&["config", "core.excludesFile", env.user().join("ignored").to_str().unwrap()]);
        fifo(&env.repo().join(".gitattributes"));
    }),
    ("a key that is a path", |env| {
        env.write(".heirloom/repository", "../../../canary\n");
    }),
    ("a branch with a name for terminals", |env| {
        fs::write(env.repo().join(".git/HEAD"), "ref: refs/heads/\u{1b}]0;evil\u{7}\u{9b}2J\n")
            .unwrap();
    }),
    ("an index that says it is huge", |env| {
        let mut index = b"DIRC\0\0\0\x02\xff\xff\xff\xff".to_vec();
        index.extend([0xff; 64]);
        fs::write(env.repo().join(".git/index"), index).unwrap();
    }),
];

fn try_on(what: &str, prepare: Prepare) {
    let env = env();
    env.write("src/a.rs", "fn a() {}\n");
    env.write_user("requirements: {mine: {}}\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "first"]);
    prepare(&env);
    let guarded = Guarded { env };
    guarded.start(ONE, "startup");
    let denied = guarded.edit(ONE);
    assert!(denied.text().contains("mine"), "{what}: {denied:?}");
    for (directory, arguments) in [
        ("", &["doctor"][..]),
        ("", &["sessions", "list"]),
        ("", &["trust", "--show"]),
        ("", &["req", "status"]),
        ("src", &["ground"]),
        ("", &["heal", "--check"]),
        ("", &["checkpoint"]),
        ("src", &["recover", "1"]),
    ] {
        let ran = guarded.env.run_in(Path::new(directory), arguments);
        assert!((0..=3).contains(&ran.code), "{what} {arguments:?}: {ran}");
        let acts = |c: char| c != '\n' && c.is_control();
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!shown.contains(acts), "{what} {arguments:?}: {shown:?}");
    }
    guarded.stop(ONE);
    let root = guarded.env.repo().parent().unwrap().to_owned();
    for at in [root.clone(), root.join("user"), guarded.env.repo()] {
        assert!(!at.join("canary").exists(), "{what}: something of the repository ran");
    }
    let denied = guarded.edit(ONE);
    assert!(denied.text().contains("mine"), "{what}, in the end: {denied:?}");
}

#[test]
fn no_trick_of_a_repository_runs_anything_weakens_anything_or_keeps_anybody_waiting() {
    // Most of the time some of them wait for git to be ended.
    for some in TRICKS.chunks(4) {
        thread::scope(|threads| {
            for (what, prepare) in some {
                threads.spawn(move || try_on(what, *prepare));
            }
        });
    }
}
