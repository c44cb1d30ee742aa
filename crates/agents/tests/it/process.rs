//! Supervision: nothing is lost, nothing is left.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use heirloom_agents::{
    CommandLine, Conversation, Env, Event, Exit, Input, Launch, Outcome, Patience, Process,
    Programs, Stop, Taps, by_name,
};
use heirloom_core::config::Config;

/// Long enough for any machine; never waited for when all is well.
const LONG: Duration = Duration::from_mins(1);

fn shell(script: &str, cwd: &Path) -> CommandLine {
    line("command", script, cwd)
}

/// The command line of an agent whose program is `program`.
fn line(agent: &str, program: &str, cwd: &Path) -> CommandLine {
    let mut programs = Programs::default();
    programs.replace(agent, vec![program.to_owned()]);
    let path = std::env::var_os("PATH").unwrap();
    let launch = Launch {
        config: &Config::default(),
        prompt: "the prompt\n",
        conversation: Conversation::New(None),
        input: Input::Once,
        cwd,
        env: &Env::from([("PATH".into(), path)]),
        programs: &programs,
        scratch: cwd,
        as_root: false,
    };
    by_name(agent).unwrap().launch(&launch).unwrap()
}

fn spawn(script: &str, cwd: &Path) -> Process {
    Process::spawn(by_name("command").unwrap(), shell(script, cwd), Taps::default()).unwrap()
}

fn text_of(line: &heirloom_agents::Line) -> &str {
    match line.parsed.events.as_slice() {
        [Event::Text { text }] => text,
        other => panic!("{other:?}"),
    }
}

/// Waits for a line that holds a process id.
fn pid_from(process: &mut Process) -> i32 {
    text_of(&process.next_line().expect("a process id")).trim().parse().unwrap()
}

fn is_running(pid: i32) -> bool {
    heirloom_agents::system::began(pid.unsigned_abs()).is_some()
}

/// A killed process is gone soon, not at once.
fn assert_gone(pid: i32) {
    let start = std::time::Instant::now();
    while is_running(pid) {
        assert!(start.elapsed() < LONG, "process {pid} is left");
        std::thread::yield_now();
    }
}

#[test]
fn the_prompt_is_on_stdin_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let line = shell("cat; tr '\\0' ' ' < /proc/self/cmdline >&2", dir.path());
    let mut process = Process::spawn(by_name("command").unwrap(), line, Taps::default()).unwrap();
    assert_eq!(text_of(&process.next_line().unwrap()), "the prompt");
    let finished = process.finish();
    assert_eq!(finished.outcome, Outcome::Success);
    assert!(!finished.stderr.contains("the prompt"), "{}", finished.stderr);
}

#[test]
fn fifty_thousand_lines_of_a_process_that_is_gone_at_once_all_arrive_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = spawn("seq 1 50000", dir.path());
    for number in 1..=50_000_u64 {
        let line = process.next_line().expect("every line");
        assert_eq!((line.number, text_of(&line)), (number, number.to_string().as_str()));
    }
    assert!(process.next_line().is_none());
    assert_eq!(process.finish().exit, Exit::Code(0));
}

#[test]
fn what_nobody_reads_is_still_kept_and_counted() {
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let (events, stderr) = (Kept::default(), Kept::default());
    let taps = Taps {
        events: Some(Box::new(events.clone())),
        stderr: Some(Box::new(stderr.clone())),
        locks: None,
    };
    let line = shell("seq 1 1000; printf 'no line feed'; seq 1 9 >&2", dir.path());
    let finished = Process::spawn(by_name("command").unwrap(), line, taps).unwrap().finish();
    assert_eq!(finished.tally.lines, 1001);
    assert!(finished.recording.is_none());
    let events = String::from_utf8(events.0.lock().unwrap().clone()).unwrap();
    assert!(events.starts_with("1\n2\n") && events.ends_with("1000\nno line feed"));
    assert_eq!(stderr.0.lock().unwrap().len(), 18);
}

#[test]
fn a_grandchild_that_keeps_the_pipe_open_neither_holds_us_up_nor_survives() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = spawn("sleep 600 & echo $!; echo last words", dir.path());
    let grandchild = pid_from(&mut process);
    assert_eq!(text_of(&process.next_line().unwrap()), "last words");
    assert!(process.next_line().is_none());
    assert_eq!(process.finish().outcome, Outcome::Success);
    assert_gone(grandchild);
}

#[test]
fn a_grandchild_that_floods_the_pipe_does_not_hold_us_up_either() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = spawn("yes & echo $!", dir.path());
    let mut flood = None;
    while let Some(line) = process.next_line() {
        flood = flood.or_else(|| text_of(&line).parse().ok());
    }
    assert_eq!(process.finish().exit, Exit::Code(0));
    assert_gone(flood.unwrap());
}

#[test]
fn a_process_that_ignores_everything_is_killed_with_its_whole_group() {
    let dir = tempfile::tempdir().unwrap();
    let script =
        "trap '' INT TERM; sh -c 'trap \"\" INT TERM; echo $$; while :; do sleep 600; done'";
    let mut process = spawn(script, dir.path());
    let child = pid_from(&mut process);
    let soon = Duration::from_millis(50);
    process.stopper().stop(Patience { interrupt: soon, terminate: soon });
    let finished = process.finish();
    assert_eq!(finished.stopped, Some(Stop::Kill));
    assert_eq!((finished.outcome, finished.exit), (Outcome::Interrupted, Exit::Signal(9)));
    assert_gone(child);
}

#[test]
fn a_polite_process_is_only_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.01; done";
    let mut process = spawn(script, dir.path());
    assert_eq!(text_of(&process.next_line().unwrap()), "ready");
    process.stopper().stop(Patience { interrupt: LONG, terminate: LONG });
    assert_eq!(text_of(&process.next_line().unwrap()), "bye");
    let finished = process.finish();
    assert_eq!((finished.stopped, finished.exit), (Some(Stop::Interrupt), Exit::Code(0)));
    assert_eq!(finished.outcome, Outcome::Interrupted);
}

#[test]
fn a_descendant_that_left_the_group_goes_when_the_agent_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = spawn("setsid sh -c 'echo $$; exec sleep 600' & wait", dir.path());
    let stray = pid_from(&mut process);
    process.stopper().kill();
    assert_eq!(process.finish().outcome, Outcome::Interrupted);
    assert_gone(stray);
}

#[test]
fn a_descendant_that_left_the_group_goes_when_the_agent_crashes() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = spawn("setsid sh -c 'echo $$; exec sleep 600' & kill -9 $$", dir.path());
    let stray = pid_from(&mut process);
    let finished = process.finish();
    assert!(matches!(finished.outcome, Outcome::Crashed { exit: Exit::Signal(9), .. }));
    assert_gone(stray);
}

#[test]
fn what_is_dropped_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = spawn("echo $$; exec sleep 600", dir.path());
    let pid = pid_from(&mut process);
    drop(process);
    assert_gone(pid);
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let line = shell("true", &dir.path().join("missing"));
    let error = Process::spawn(by_name("command").unwrap(), line, Taps::default()).unwrap_err();
    assert!(error.to_string().ends_with("missing is not a directory the agent could work in"));
}

#[test]
fn stopping_what_has_ended_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let process = spawn("exit 3", dir.path());
    let stopper = process.stopper();
    let finished = process.finish();
    stopper.stop(Patience::default());
    stopper.kill();
    assert_eq!(finished.outcome, Outcome::Failed { message: "exit code 3".to_owned() });
    assert_eq!(finished.stopped, None);
}

/// An agent that says it is in the conversation `id`, and again, and stays.
fn announcing(id: &str, dir: &Path) -> CommandLine {
    let program = dir.join("agent");
    let init = format!(r#"{{"type":"system","subtype":"init","session_id":"{id}"}}"#);
    std::fs::write(&program, format!("#!/bin/sh\necho '{init}'\necho '{init}'\n{STAY}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    line("claude", program.to_str().unwrap(), dir)
}

/// Until somebody says `go` in the working directory.
const STAY: &str = "while [ ! -e go ]; do sleep 0.05; done\n\
    echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"bye\"}'";

#[test]
fn an_agent_that_turns_up_in_a_conversation_of_another_process_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let locks = dir.path().join("locks");
    let start = || {
        let taps = Taps { locks: Some(locks.clone()), ..Taps::default() };
        Process::spawn(by_name("claude").unwrap(), announcing("one", dir.path()), taps).unwrap()
    };
    let mut first = start();
    // Twice the same is no conflict with itself.
    first.next_line().unwrap();
    first.next_line().unwrap();

    let second = start();
    let (pid, own) = (i32::try_from(second.pid()).unwrap(), std::process::id());
    let finished = second.finish();
    assert_gone(pid);
    let message = format!("conversation one of claude is in use by process {own}");
    assert_eq!(finished.outcome, Outcome::SessionInUse { id: "one".to_owned(), message });

    std::fs::write(dir.path().join("go"), "").unwrap();
    assert_eq!(first.finish().outcome, Outcome::Success);
    assert_eq!(start().finish().outcome, Outcome::Success);
    assert_eq!(std::fs::read_dir(locks).unwrap().count(), 0);
}
