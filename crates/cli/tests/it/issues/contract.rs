//! What every tracker does alike.

use serde_json::json;

use super::{create, each, ids, issues, run};

#[test]
fn what_blocks_stands_in_the_way_until_it_is_closed() {
    for (tracker, env) in each() {
        assert_eq!(ids(&issues(&env, &["ready"])), [""; 0], "{tracker}");
        let first = create(&env, &["First", "-p", "P3"]);
        let urgent = create(&env, &["Urgent", "--priority", "0", "--blocked-by", &first]);
        let other = create(&env, &["Other", "-t", "bug"]);
        assert_eq!(ids(&issues(&env, &["ready"])), [other.clone(), first.clone()], "{tracker}");
        let listed = issues(&env, &["list"]);
        assert_eq!(ids(&listed), [urgent.clone(), other, first.clone()], "{tracker}");
        assert_eq!(listed["issues"][0]["blocked_by"], json!([first]), "{tracker}");
        assert_eq!(issues(&env, &["show", &urgent])["blocked_by"], json!([first]), "{tracker}");

        let closed = issues(&env, &["close", &first, "--reason", "done"]);
        assert_eq!(
            (&closed["status"], &closed["close_reason"]),
            (&json!("closed"), &json!("done"))
        );
        assert_eq!(ids(&issues(&env, &["ready"]))[0], urgent, "{tracker}");
        assert_eq!(ids(&issues(&env, &["list"])).len(), 2, "{tracker}");
        let all = issues(&env, &["list", "--all"]);
        assert_eq!(ids(&all)[2], first, "{tracker}");
        assert_eq!(ids(&issues(&env, &["list", "--status", "closed"])), [first.as_str()]);

        let opened = issues(&env, &["update", &first, "--status", "open"]);
        assert_eq!(
            (&opened["status"], opened.get("closed_at")),
            (&json!("open"), None),
            "{tracker}"
        );
        assert!(!ids(&issues(&env, &["ready"])).contains(&urgent), "{tracker}");
    }
}

#[test]
fn what_an_issue_is_can_be_changed_and_seen() {
    for (tracker, env) in each() {
        let id = create(
            &env,
            &["T", "-d", "-x is a flag", "--acceptance", "- [ ] tests pass", "-l", "auth,web"],
        );
        let change =
            ["update", &id, "--title", "U", "--notes", "- found", "--design", "d", "-p", "1"];
        issues(&env, &change);
        issues(&env, &["update", &id, "--remove-label", "web", "--add-label", "late", "-t", "bug"]);
        issues(&env, &["comment", &id, "--not an option", "--author", "bob"]);
        let issue = issues(&env, &["show", &id]);
        let seen = [
            "title",
            "description",
            "acceptance_criteria",
            "notes",
            "design",
            "priority",
            "issue_type",
            "labels",
            "created_by",
        ]
        .map(|field| issue[field].clone());
        let expected = json!([
            "U",
            "-x is a flag",
            "- [ ] tests pass",
            "- found",
            "d",
            1,
            "bug",
            ["auth", "late"],
            "ada"
        ]);
        assert_eq!(json!(seen), expected, "{tracker}");
        let said = &issue["comments"][0];
        assert_eq!((&said["author"], &said["text"]), (&json!("bob"), &json!("--not an option")));
        let cleared = issues(&env, &["update", &id, "--notes", ""]);
        assert_eq!(cleared.get("notes"), None, "{tracker}");
    }
}

#[test]
fn an_issue_is_claimed_by_one_and_given_back() {
    for (tracker, env) in each() {
        let id = create(&env, &["T"]);
        let claimed = issues(&env, &["update", &id, "--claim", "--lease", "10m"]);
        assert_eq!(
            (&claimed["status"], &claimed["assignee"]),
            (&json!("in_progress"), &json!("ada")),
            "{tracker}"
        );
        // Once more is no harm; somebody else does not get it, nor may they give it back.
        issues(&env, &["update", &id, "--claim"]);
        for how in ["--claim", "--release"] {
            let refused = run(&env, &["update", &id, how, "--actor", "bob", "--json"]);
            assert_eq!(
                (refused.code, &refused.json()["error"]["code"]),
                (1, &json!("issue.taken"))
            );
        }
        assert_eq!(issues(&env, &["show", &id])["claim"]["owner"]["name"], "ada", "{tracker}");
        let released = issues(&env, &["update", &id, "--release"]);
        assert_eq!((&released["status"], released.get("assignee")), (&json!("open"), None));
        assert_eq!(issues(&env, &["show", &id])["claim"], json!(null), "{tracker}");

        issues(&env, &["update", &id, "--claim", "--actor", "bob"]);
        issues(&env, &["close", &id]);
        assert_eq!(issues(&env, &["show", &id])["claim"], json!(null), "{tracker}");
        let refused = run(&env, &["update", &id, "--claim", "--json"]);
        assert_eq!((refused.code, &refused.json()["error"]["code"]), (1, &json!("issue.not-open")));
    }
}

#[test]
fn a_lease_that_ran_out_lets_the_next_one_in() {
    for (tracker, env) in each() {
        let id = create(&env, &["T"]);
        issues(&env, &["update", &id, "--claim", "--lease", "10m"]);
        let env = env.var("HEIRLOOM_CLOCK", "2026-01-12T15:39:59Z");
        let claim = ["update", id.as_str(), "--claim", "--actor", "bob"];
        assert_eq!(run(&env, &claim).code, 1, "{tracker}");
        let env = env.var("HEIRLOOM_CLOCK", "2026-01-12T15:40:00Z");
        assert_eq!(issues(&env, &claim)["assignee"], "bob", "{tracker}");
    }
}

#[test]
fn parts_belong_to_a_whole_and_circles_are_refused() {
    for (tracker, env) in each() {
        let epic = create(&env, &["Epic", "-t", "epic"]);
        let part = create(&env, &["Part", "--parent", &epic]);
        assert_eq!(part, format!("{epic}.1"), "{tracker}");
        let listed = issues(&env, &["list", "-t", "task"]);
        assert_eq!(listed["issues"][0]["parent"], json!(epic), "{tracker}");
        // Nobody can work on a whole.
        assert_eq!(ids(&issues(&env, &["ready"])), [part.as_str()], "{tracker}");
        let (a, b) = (create(&env, &["A"]), create(&env, &["B"]));
        issues(&env, &["dep", &a, &b]);
        let refused = run(&env, &["dep", "add", &b, &a, "--json"]);
        assert_eq!((refused.code, &refused.json()["error"]["code"]), (1, &json!("issue.circle")));
        issues(&env, &["dep", "add", &b, &a, "--type", "related"]);
        let listed = issues(&env, &["dep", "list", &a]);
        assert_eq!(listed["dependencies"][0]["id"], json!(b), "{tracker}");
        assert_eq!(listed["dependencies"][0]["type"], "blocks", "{tracker}");
        issues(&env, &["dep", "remove", &a, &b]);
        assert_eq!(issues(&env, &["dep", "list", &a])["dependencies"], json!([]), "{tracker}");
    }
}

#[test]
fn an_id_that_is_none_brings_the_one_that_was_meant() {
    for (tracker, env) in each() {
        let id = create(&env, &["T"]);
        let slip = format!("{id}x");
        for arguments in
            [&["show", slip.as_str()][..], &["update", &slip, "-p", "1"], &["close", &slip]]
        {
            let refused = run(&env, &[arguments, &["--json"]].concat());
            let error = &refused.json()["error"];
            assert_eq!((refused.code, &error["code"]), (1, &json!("issue.not-found")), "{tracker}");
            let hint = error["hint"].as_str().unwrap();
            assert!(hint.starts_with(&format!("did you mean {id}?")), "{tracker}: {hint}");
        }
        let refused = run(&env, &["show", "../../etc/passwd", "--json"]);
        assert_eq!(refused.json()["error"]["code"], "issue.id", "{tracker}");
        let none = run(&env, &["create", " ", "--json"]);
        assert_eq!((none.code, &none.json()["error"]["code"]), (64, &json!("usage")));
    }
}

#[test]
fn the_doctor_says_which_tracker_it_is_and_what_is_wrong_with_it() {
    let checked = |env: &heirloom_testkit::env::TestEnv| {
        let checks = env.run(&["doctor", "--json"]).json()["checks"].clone();
        let checks = checks.as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "issues").unwrap()
    };
    for ((_, env), detail) in each().iter().zip([
        "heirloom's own, nothing is ready",
        ".beads/issues.jsonl, nothing is ready",
        "br, nothing is ready",
    ]) {
        assert_eq!(checked(env)["detail"], detail);
        create(env, &["T"]);
        assert_eq!(
            checked(env)["detail"],
            detail.replace("nothing is ready", "there is ready work")
        );
    }
    let broken = super::file("{}\n");
    let check = checked(&broken);
    assert_eq!(check["health"], "problem");
    assert!(
        check["detail"].as_str().unwrap().contains("issues.jsonl:1 is not an issue"),
        "{check}"
    );
}
