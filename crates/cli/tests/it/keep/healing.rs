use heirloom_testkit::env::TestEnv;

use super::{env, records};

/// Where the damaged copy is.
fn kept(env: &TestEnv, repair: &serde_json::Value) -> String {
    let root = env.home().parent().unwrap().to_string_lossy().into_owned();
    repair["kept"].as_str().unwrap().replace("[root]", &root)
}

fn kept_page(env: &TestEnv) -> String {
    env.run(&["note", "decision", "Rotate tokens"]).success();
    env.run(&["checkpoint"]).success();
    let page = env.read("NOTES.md").replace("# Notes\n", "# Notes\n\nBy a person.\n");
    env.write("NOTES.md", &page);
    env.run(&["checkpoint"]).success();
    env.read("NOTES.md")
}

#[test]
fn every_kind_of_damage_is_found_and_repaired_from_the_last_commit_and_the_ledger() {
    let env = env();
    let page = kept_page(&env);
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "notes"]);
    env.git(&["rm", "-q", "--cached", "NOTES.md"]);
    env.run(&["note", "decision", "After the commit"]).success();
    let page = page.len().min(env.read("NOTES.md").len());
    let damages: [(&[u8], &str); 4] = [
        (b"", "empty"),
        (b" \n\t\n", "only white space"),
        (&[0xff, 0xfe, b'x'], "not UTF-8"),
        (b"# Notes\n\n## Session Continuity\n### Decision Log\n#### x <!-- hl:4c7f3d23-7e78-4d06-84a1-a257dd166e07 -->\n**Deci", "cut off"),
    ];
    for (damage, found) in damages {
        std::fs::write(env.repo().join("NOTES.md"), damage).unwrap();
        let checked = env.run(&["heal", "--check", "--json"]);
        assert_eq!(
            (checked.code, checked.json()["damaged"][0]["found"].as_str()),
            (1, Some(found))
        );
        assert_eq!(
            std::fs::read(env.repo().join("NOTES.md")).unwrap(),
            damage,
            "--check changed it"
        );
        let healed = env.run(&["heal", "--json"]).success().json();
        let repair = &healed["repaired"][0];
        assert!(repair["from"].as_str().unwrap().starts_with("commit "), "{repair}");
        let text = env.read("NOTES.md");
        assert!(
            text.contains("By a person.")
                && text.contains("Rotate tokens")
                && text.contains("After the commit"),
            "{text}"
        );
        assert!(text.len() >= page);
        if !damage.is_empty() {
            assert_eq!(std::fs::read(kept(&env, repair)).unwrap(), damage);
        }
        env.run(&["heal", "--check"]).success();
    }
    assert_eq!(records(&env, "keep.self_heal"), 4);
}

#[test]
fn the_index_comes_before_the_last_commit() {
    let env = env();
    let page = kept_page(&env);
    env.git(&["add", "."]);
    std::fs::remove_file(env.repo().join("NOTES.md")).unwrap();
    insta::assert_snapshot!(env.run(&["heal"]), @"✔ NOTES.md was missing, repaired from the index and the ledger");
    assert_eq!(env.read("NOTES.md"), page);
}

#[test]
fn outside_git_the_ledger_is_enough_and_a_template_is_the_last_resort() {
    let env = env();
    let outside = env.home().join("elsewhere");
    std::fs::create_dir_all(&outside).unwrap();
    insta::assert_snapshot!(env.run_in(&outside, &["heal"]), @"✔ NOTES.md was missing, repaired from a template");
    assert!(
        std::fs::read_to_string(outside.join("NOTES.md"))
            .unwrap()
            .contains("## Session Continuity")
    );
    env.run_in(&outside, &["note", "decision", "Rotate tokens"]).success();
    std::fs::remove_file(outside.join("NOTES.md")).unwrap();
    insta::assert_snapshot!(env.run_in(&outside, &["heal"]), @"✔ NOTES.md was missing, repaired from the ledger");
    assert!(std::fs::read_to_string(outside.join("NOTES.md")).unwrap().contains("Rotate tokens"));
}

#[test]
fn a_page_that_was_never_here_is_not_damaged_and_one_that_was_is() {
    let env = env();
    let check = || env.run(&["heal", "--check"]).code;
    env.run(&["note", "decision", "Rotate tokens"]).success();
    let _ = std::fs::remove_file(env.repo().join("NOTES.md"));
    std::fs::remove_dir_all(env.repo().join(".git/heirloom")).unwrap_or_default();
    assert_eq!(check(), 0, "nobody has begun a page");
    env.run(&["checkpoint"]).success();
    std::fs::remove_file(env.repo().join("NOTES.md")).unwrap();
    assert_eq!(check(), 1, "it was here");
    env.run(&["heal"]).success();
    env.git(&["checkout", "-q", "-b", "with-the-page"]);
    env.git(&["add", "-f", "NOTES.md"]);
    env.git(&["commit", "-q", "-m", "notes"]);
    env.git(&["checkout", "-q", "-"]);
    assert!(!env.repo().join("NOTES.md").exists(), "git took it away");
    assert_eq!(check(), 0, "this branch has none");
    env.git(&["worktree", "add", "-q", "../beside"]);
    let beside = env.repo().parent().unwrap().join("beside");
    assert_eq!(env.run_in(&beside, &["heal", "--check"]).code, 0, "nor has this worktree");
}

#[test]
fn a_page_without_its_part_gets_it_back_and_keeps_what_is_left() {
    let env = env();
    kept_page(&env);
    env.write("NOTES.md", "# Notes\n\nBy a person.\n");
    let checked = env.run(&["heal", "--check", "--json"]);
    let found = "without its part \"Session Continuity\"";
    assert_eq!((checked.code, &checked.json()["damaged"][0]["found"]), (1, &found.into()));
    assert_eq!(env.read("NOTES.md"), "# Notes\n\nBy a person.\n");
    env.run(&["heal"]).success();
    let page = env.read("NOTES.md");
    assert!(page.starts_with("# Notes\n\nBy a person.\n"), "{page}");
    assert!(page.contains("**Decision**: Rotate tokens"), "{page}");
    env.run(&["heal", "--check"]).success();
}

#[test]
fn a_damaged_index_is_made_anew() {
    let env = env();
    env.run(&["note", "decision", "Rotate tokens"]).success();
    env.run(&["heal"]).success();
    env.run(&["search", "rotate"]).success();
    std::fs::write(env.home().join("index.db"), "no database").unwrap();
    assert_eq!(env.run(&["heal", "--check"]).code, 1);
    env.run(&["heal"]).success();
    assert!(env.run(&["search", "rotate"]).stdout.contains("Rotate tokens"));
}

/// Damages the ledger of a repository with some decisions in it.
fn with_damaged_ledger(damage: impl FnOnce(Vec<u8>) -> Vec<u8>) -> TestEnv {
    let env = env();
    for n in 0..40 {
        let text = format!("Decision number {n}: {}", "rotate tokens on every use ".repeat(8));
        env.run(&["note", "decision", &text]).success();
    }
    let file = env.home().join("ledger.db");
    let bytes = std::fs::read(&file).unwrap();
    for log in ["ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(env.home().join(log));
    }
    std::fs::write(file, damage(bytes)).unwrap();
    env
}

#[test]
fn a_damaged_ledger_is_kept_and_what_can_be_read_of_it_goes_on() {
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() * 3 / 4 / 4096 * 4096 + 100].to_vec();
    let env = with_damaged_ledger(cut);
    let damaged = std::fs::read(env.home().join("ledger.db")).unwrap();
    let checked = env.run(&["heal", "--check", "--json"]);
    assert_eq!(checked.code, 1, "{checked}");
    assert_eq!(checked.json()["damaged"][0]["what"], "the ledger");
    assert_eq!(std::fs::read(env.home().join("ledger.db")).unwrap(), damaged, "it was changed");
    let healed = env.run(&["heal", "--json"]).success().json();
    let repair = &healed["repaired"][0];
    let from = repair["from"].as_str().unwrap();
    assert!(from.ends_with("records of it that could be read"), "{healed}");
    assert_eq!(std::fs::read(kept(&env, repair)).unwrap(), damaged);
    let notes = env.run(&["notes"]).success().stdout;
    assert!(notes.contains("Decision number 0:"), "{notes}");
    env.run(&["ledger", "verify"]).success();
    env.run(&["heal", "--check"]).success();
    assert_eq!(records(&env, "keep.self_heal"), healed["repaired"].as_array().unwrap().len());
}

#[test]
fn a_ledger_of_which_nothing_is_left_is_said_to_be_lost() {
    let damages: [(&str, &[u8]); 4] =
        [("empty", b""), ("blank", b" \n\n "), ("bytes", &[0xff; 5000]), ("text", b"no database")];
    for (name, damage) in damages {
        let env = with_damaged_ledger(|_| damage.to_vec());
        assert_eq!(env.run(&["heal", "--check"]).code, 1, "{name}");
        let healed = env.run(&["heal"]).success();
        let said = "nothing of it could be read, so a new one was started";
        assert!(healed.stdout.contains(said), "{name}: {healed}");
        env.run(&["heal", "--check"]).success();
        env.run(&["ledger", "verify"]).success();
    }
}

#[test]
fn one_zeroed_page_is_found_and_healed_and_what_it_took_is_named() {
    let zeroed = |bytes: Vec<u8>| {
        // The last page of the table of records: the newest ones are on it.
        let page = |at: usize| &bytes[at * 4096..(at + 1) * 4096];
        let last = (1..bytes.len() / 4096)
            .filter(|at| page(*at)[0] == 0x0d && page(*at).windows(10).any(|w| w == b"note.added"))
            .nth(1)
            .unwrap();
        let mut bytes = bytes.clone();
        bytes[last * 4096..(last + 1) * 4096].fill(0);
        bytes
    };
    let env = with_damaged_ledger(zeroed);
    let checked = env.run(&["heal", "--check", "--json"]);
    assert_eq!((checked.code, checked.json()["ok"].as_bool()), (1, Some(false)), "{checked}");
    let doctor = env.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor}");
    assert!(doctor.stdout.contains("is damaged"), "{doctor}");
    let healed = env.run(&["heal", "--json"]).success().json();
    assert_eq!(healed["ok"], true);
    let gap = &healed["missing"][0];
    let lost = gap["to"].as_u64().unwrap() - gap["from"].as_u64().unwrap() + 1;
    assert!((1..20).contains(&lost), "{healed}");
    assert_eq!(healed["kept"].as_array().unwrap().len(), 1);
    let verified = env.run(&["ledger", "verify", "--json"]).success().json();
    assert_eq!((&verified["ok"], &verified["gaps"][0]), (&true.into(), gap));
    let notes = env.run(&["notes", "--json"]).success().json();
    assert_eq!(notes["notes"].as_array().unwrap().len() as u64, 40 - lost);
}

#[test]
fn a_check_in_an_empty_home_makes_nothing() {
    let env = env();
    let home = env.home().join("never-made");
    let env = env.var("HEIRLOOM_HOME", home.as_os_str());
    let checked = env.run(&["heal", "--check"]).success();
    assert!(!home.exists(), "{checked}");
}

#[test]
fn a_page_that_nobody_has_begun_is_not_damaged_and_one_that_is_gone_is() {
    let env = env();
    env.run(&["heal", "--check"]).success();
    env.run(&["note", "decision", "Rotate tokens"]).success();
    env.run(&["heal"]).success();
    env.run(&["heal", "--check"]).success();
    std::fs::remove_file(env.repo().join("NOTES.md")).unwrap();
    let checked = env.run(&["heal", "--check"]);
    assert_eq!(checked.code, 1, "{checked}");
    assert!(checked.stdout.contains("NOTES.md is missing"), "{checked}");
}

#[test]
fn damage_that_a_hook_meets_first_is_told_on_the_agents_channel_and_by_the_next_command() {
    let env = with_damaged_ledger(|_| b"no database".to_vec());
    env.write(".heirloom/config.yaml", "requirements: {}\n");
    let payload = |event: &str| {
        let (cwd, id) = (env.repo(), "11111111-2222-4333-8444-555555555555");
        serde_json::json!({
            "session_id": id, "cwd": cwd, "hook_event_name": event, "source": "startup",
            "prompt": "go on",
        })
        .to_string()
    };
    let prompt = payload("UserPromptSubmit");
    let met = env.run_with(&["hook", "claude", "UserPromptSubmit"], prompt.as_bytes());
    let message = met.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("is damaged") && message.contains("heirloom heal"), "{met}");
    // From then on the ledger is a new one, and empty: it is said why, until it is healed.
    let start = payload("SessionStart");
    let started = env.run_with(&["hook", "claude", "SessionStart"], start.as_bytes());
    let message = started.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("set aside as") && message.contains("heirloom heal"), "{started}");
    let listed = env.run(&["notes"]).success();
    assert!(listed.stderr.contains("warning: the ledger was damaged and set aside"), "{listed}");
    env.run(&["heal"]).success();
    assert!(!env.run(&["notes"]).success().stderr.contains("warning"));
}

#[test]
fn a_backup_is_a_copy_that_import_takes_and_a_copied_home_is_a_host_of_its_own() {
    let env = env();
    env.run(&["note", "decision", "Rotate tokens"]).success();
    let copy = env.repo().join("copy.db");
    let backed_up = env.run(&["ledger", "backup", "copy.db", "--json"]).success().json();
    assert!(backed_up["records"].as_u64().unwrap() > 1 && copy.exists(), "{backed_up}");
    let refused = env.run(&["ledger", "backup", env.home().join("ledger.db").to_str().unwrap()]);
    assert!(refused.stderr.contains("belongs to the ledger itself"), "{refused}");
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "views.db", "heads.json"] {
        let _ = std::fs::remove_file(env.home().join(name));
    }
    let imported = env.run(&["ledger", "import", "copy.db", "--json"]).success().json();
    assert_eq!(imported["added"], backed_up["records"]);
    assert!(env.run(&["notes"]).success().stdout.contains("Rotate tokens"));
    let rehosted = env.run(&["ledger", "rehost", "--json"]).success().json();
    assert_ne!(rehosted["host"], rehosted["succeeds"]);
    env.run(&["ledger", "verify"]).success();
}
