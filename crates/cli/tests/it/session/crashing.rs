//! A driver that is killed leaves nothing hanging.

use super::Fixture;

#[test]
fn a_killed_driver_is_noticed_its_question_closed_and_its_agent_ended() {
    let fixture = Fixture::new();
    let mut launch = fixture.spawn(&["launch", "ask once, then hang", "--name", "a"]);
    let id = fixture.open(1).remove(0);
    launch.kill().unwrap();
    launch.wait().unwrap();
    let ran = fixture.run(&["sessions", "list", "--json"]).success();
    assert!(ran.stderr.contains("warning: a is interrupted"), "{ran}");
    let shown = fixture.json(&["sessions", "show", "a"]);
    assert_eq!(shown["status"], "interrupted");
    assert!(shown["reason"].as_str().unwrap().contains("is gone"), "{shown}");
    let late = fixture.run(&["approvals", "approve", &id, "--json"]).json();
    assert_eq!(late["error"]["code"], "approval.settled", "{late}");
    assert_eq!(std::fs::read_dir(fixture.env.home().join("run")).unwrap().count(), 0);
    let child = fixture.json(&["continue", "a", "go on"]);
    assert_eq!(child["status"], "completed");
}

#[test]
fn an_agent_whose_driver_was_killed_is_ended() {
    let fixture = Fixture::new();
    let mut launch = fixture.spawn(&["launch", "hang", "--name", "a"]);
    let pid = fixture.wait(|fixture| {
        let started = fixture.has_announced("a");
        started.then(|| fixture.given(1).file("pid")).flatten()?.trim().parse::<u32>().ok()
    });
    launch.kill().unwrap();
    launch.wait().unwrap();
    fixture.run(&["sessions", "list"]).success();
    fixture.wait(|_| {
        let gone = heirloom_agents::system::began(pid).is_none();
        gone.then_some(())
    });
}
