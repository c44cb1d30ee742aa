//! The daemon moves records by itself.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use heirloom_testkit::env::TestEnv;

use super::{Team, note, notes};

/// Long enough for a hub that was away to be asked again, on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_mins(3);

struct Daemon {
    child: Child,
    /// Kept open: a daemon must not end because nobody reads what it prints.
    _stdout: BufReader<ChildStdout>,
}

impl Daemon {
    fn start(env: &TestEnv) -> Self {
        let mut command = env.command(&["serve", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.starts_with('{'), "{line}");
        Self { child, _stdout: stdout }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_note_reaches_a_colleague_with_nobody_typing_push_or_pull() {
    let mut team = Team::new();
    let ada = team.colleague("ada");
    let (_here, _there) = (Daemon::start(&team.owner), Daemon::start(&ada));
    note(&team.owner, "the cache is keyed by tenant");
    wait_for("the first note", || notes(&ada) == ["the cache is keyed by tenant"]);

    // The hub goes away: nothing here waits for it, and it is said what is wrong.
    team.postgres.kill();
    note(&team.owner, "while it was away");
    wait_for("the trouble", || {
        let status = team.owner.run(&["hub", "status", "--json"]).json();
        status["trouble"].as_str().is_some_and(|why| why.contains("cannot reach the hub"))
    });
    team.postgres.run();
    wait_for("the second note", || notes(&ada).contains(&"while it was away".to_owned()));
    wait_for("the end of the trouble", || {
        team.owner.run(&["hub", "status", "--json"]).json()["trouble"].is_null()
    });
    ada.run(&["ledger", "verify"]).success();
}
