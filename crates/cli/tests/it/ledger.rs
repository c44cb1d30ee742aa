use crate::{env, stable};

#[test]
fn a_sound_ledger_verifies() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    insta::assert_snapshot!(env.run(&["ledger", "verify"]), @"ok  4 records from 1 host, chain unbroken, projections equal a rebuild");
    let json = env.run(&["ledger", "verify", "--json"]).json();
    assert_eq!((&json["ok"], &json["records"]), (&true.into(), &4.into()));
    assert_eq!(json["problems"].as_array().unwrap().len(), 0);
}

#[test]
fn an_export_is_merged_into_another_home_once() {
    let (here, there) = (env(), env());
    here.run(&["note", "learning", "one"]).success();
    let file = here.home().join("export.jsonl");
    let file = file.to_str().unwrap();
    insta::assert_snapshot!(here.run(&["ledger", "export", file]), @"✔ wrote 4 records to [root]/home/export.jsonl");
    assert_eq!(there.run(&["ledger", "import", file]).stdout, "✔ 4 records added\n");
    assert_eq!(
        there.run(&["ledger", "import", file]).stdout,
        "✔ 0 records added, 4 known already\n"
    );
    let piped = here.run(&["ledger", "export"]).stdout;
    assert_eq!(there.run_with(&["ledger", "import", "-"], piped.as_bytes()).code, 0);
    assert!(there.run(&["ledger", "verify"]).success().stdout.starts_with("ok  4 records"));
}

#[test]
fn an_export_goes_into_what_is_not_a_regular_file_and_through_a_link() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    // Not by `run`, which makes paths look the same everywhere.
    let printed = |arguments: &[&str]| {
        let output = env.command(arguments).output().unwrap();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [plain, _] = printed(&["ledger", "export"]);
    let [stdout, stderr] = printed(&["ledger", "export", "/dev/stdout"]);
    assert_eq!(stdout, plain);
    assert_eq!(stderr, "✔ wrote 4 records to /dev/stdout\n");
    // A shell opened that file: what was in it stays, and so does the file.
    let redirected = env.repo().join("redirected");
    std::fs::write(&redirected, "before\n").unwrap();
    let opened = std::fs::File::options().append(true).open(&redirected).unwrap();
    let mut command = env.command(&["ledger", "export", "/dev/stdout"]);
    assert!(command.stdout(opened).status().unwrap().success());
    assert_eq!(env.read("redirected"), format!("before\n{plain}"));

    std::os::unix::fs::symlink("real.jsonl", env.repo().join("link.jsonl")).unwrap();
    env.run(&["ledger", "export", "link.jsonl"]).success();
    assert_eq!(env.read("real.jsonl"), plain);
    assert!(env.repo().join("link.jsonl").is_symlink());

    let fifo = env.repo().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn(move || std::fs::read_to_string(fifo).unwrap());
    env.run(&["ledger", "export", "fifo"]).success();
    assert_eq!(reader.join().unwrap(), plain);
}

#[test]
fn a_file_that_is_there_is_replaced_only_by_force() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    env.run(&["issues", "create", "Rotate tokens"]).success();
    for command in [["ledger", "backup"], ["ledger", "export"], ["issues", "export"]] {
        let [of, what] = command;
        env.write("mine", "the only copy\n");
        let ran = env.run(&[of, what, "mine"]);
        assert_eq!(ran.code, 1, "{ran}");
        assert_eq!(ran.stderr, "error: mine already exists\nhint: --force replaces it\n");
        assert_eq!(env.read("mine"), "the only copy\n");
        let code = env.run(&[of, what, "mine", "--json"]).json()["error"]["code"].clone();
        assert_eq!(code, "file.exists");
        env.run(&[of, what, "--force", "mine"]).success();
        assert_ne!(std::fs::read(env.repo().join("mine")).unwrap(), b"the only copy\n");
    }
}

#[test]
fn an_export_never_replaces_the_ledger_itself() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    for name in ["ledger.db", "ledger.db-wal", "views.db"] {
        let file = env.home().join(name);
        let ran = env.run(&["ledger", "export", file.to_str().unwrap()]);
        assert_eq!(ran.code, 64, "{ran}");
    }
    assert!(env.run(&["ledger", "verify"]).success().stdout.starts_with("ok  4 records"));
}

#[test]
fn a_ledger_that_was_set_aside_is_not_forgotten() {
    let env = env();
    std::fs::write(env.home().join("ledger.db"), "not a ledger").unwrap();
    assert_eq!(env.run(&["notes"]).code, 1);
    for arguments in [&["ledger", "verify"][..], &["ledger", "stats"]] {
        let said = env.run(arguments).stderr;
        assert!(
            said.contains(
                "warning: the ledger was damaged and set aside as [root]/home/ledger.db.damaged"
            ),
            "{said}"
        );
    }
    let ran = env.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("ledger.db.damaged"), "{ran}");
}

#[test]
fn a_bad_export_is_refused_by_its_line() {
    let env = env();
    insta::assert_snapshot!(env.run_with(&["ledger", "import", "-"], b"\n{}\n"), @r"
    ------- stderr -------
    error: line 2 is not a record: missing field `v` at line 1 column 2
    hint: nothing was imported
    [exit 1]
    ");
}

#[test]
fn a_rebuild_says_what_it_read() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    insta::assert_snapshot!(env.run(&["ledger", "rebuild"]), @"✔ rebuilt every projection from 4 records");
    let stats = env.run(&["ledger", "stats", "--json"]).json();
    assert_eq!(
        (&stats["records"], &stats["sessions"], &stats["notes"]),
        (&4.into(), &1.into(), &1.into())
    );
    assert_eq!(stats["kinds"]["note.added"], 1);
    let told = stable(&env.run(&["ledger", "stats"]).stdout);
    assert!(told.contains("4 records in 1 session, 1 note"), "{told}");
    assert!(told.contains("host [host]            4  this one"), "{told}");
}

#[test]
fn a_damaged_ledger_is_set_aside_with_a_name_that_says_so() {
    let env = env();
    std::fs::write(env.home().join("ledger.db"), "not a ledger").unwrap();
    insta::assert_snapshot!(env.run(&["notes"]), @r"
    ------- stderr -------
    error: the ledger at [root]/home/ledger.db is damaged: file is not a database
    hint: the file was moved, whole, to [root]/home/ledger.db.damaged; the next command starts a new ledger, and `heirloom heal` takes over every record of the old one that can still be read
    [exit 1]
    ");
    assert_eq!(std::fs::read(env.home().join("ledger.db.damaged")).unwrap(), b"not a ledger");
    env.run(&["notes"]).success();
}

#[test]
fn the_end_of_the_chain_is_kept_in_a_git_note_and_a_rewritten_ledger_does_not_pass() {
    let env = env();
    env.run(&["note", "learning", "one"]).success();
    env.run(&["note", "learning", "two"]).success();
    let heads = env.run(&["ledger", "heads"]).success().stdout;
    env.git(&["notes", "--ref=heirloom", "add", "-m", &heads]);
    let note = env.git(&["notes", "--ref=heirloom", "show"]);
    env.write("heads", &note);
    env.run(&["note", "learning", "three"]).success();
    env.run(&["ledger", "verify", "--against", "heads"]).success();
    // Another ledger in its place, as somebody leaves it who knows what lies beside it.
    std::fs::remove_dir_all(env.home()).unwrap();
    env.run(&["note", "learning", "one"]).success();
    env.run(&["ledger", "verify"]).success();
    let said = env.run(&["ledger", "verify", "--against", "heads"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stdout.contains("missing record 1 of host"), "{said}");
    let said = env.run(&["ledger", "verify", "--against", "nowhere"]);
    assert!(said.stderr.contains("cannot read nowhere"), "{said}");
}
