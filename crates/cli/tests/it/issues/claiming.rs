//! Many that want one issue at once.

use std::process::Stdio;

use super::{create, each, issues};

#[test]
fn of_twenty_that_claim_one_issue_one_wins() {
    for (tracker, env) in each() {
        let id = create(&env, &["T"]);
        let racers: Vec<_> = (0..20)
            .map(|number| {
                let actor = format!("racer-{number}");
                let mut command =
                    env.command(&["issues", "update", &id, "--claim", "--actor", &actor]);
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let codes: Vec<i32> = racers
            .into_iter()
            .map(|racer| racer.wait_with_output().unwrap())
            .map(|ended| {
                let said = String::from_utf8_lossy(&ended.stderr).into_owned();
                assert!(
                    ended.status.success() || said.contains(&format!("{id} is racer-")),
                    "{said}"
                );
                ended.status.code().unwrap()
            })
            .collect();
        assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{tracker}: {codes:?}");
        assert!(codes.iter().all(|code| [0, 1].contains(code)), "{tracker}: {codes:?}");
        let issue = issues(&env, &["show", &id]);
        assert_eq!(issue["assignee"], issue["claim"]["owner"]["name"], "{tracker}");
    }
}

#[test]
fn what_many_write_at_once_is_all_there() {
    for (tracker, env) in each() {
        let id = create(&env, &["T"]);
        let writers: Vec<_> = (0..12)
            .map(|number| {
                let text = format!("comment {number}");
                let mut command = env.command(&["issues", "comment", &id, &text]);
                command.stdout(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success(), "{tracker}");
        }
        let issue = issues(&env, &["show", &id]);
        let mut said: Vec<&str> = issue["comments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|comment| comment["text"].as_str().unwrap())
            .collect();
        said.sort_unstable();
        said.dedup();
        assert_eq!(said.len(), 12, "{tracker}");
    }
}
