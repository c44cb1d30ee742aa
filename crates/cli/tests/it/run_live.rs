//! What a person sees of a run: on a terminal, and on the desktop.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use heirloom_testkit::env::TestEnv;

use crate::env;
use crate::run::{WORKS, wait_for, with_agent};

/// A terminal as far as the view needs one: lines, and a cursor that goes up and clears.
#[derive(Debug, Default)]
struct Terminal {
    lines: Vec<String>,
    row: usize,
}

impl Terminal {
    /// What stands on a terminal that was sent `bytes`.
    fn showing(bytes: &[u8]) -> Self {
        let mut terminal = Self::default();
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut rest = text.as_str();
        while let Some(next) = rest.chars().next() {
            rest = &rest[next.len_utf8()..];
            match next {
                '\u{1b}' => {
                    let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
                    let (numbers, behind) = rest.split_at(end);
                    terminal.obey(numbers.trim_start_matches('['), behind.chars().next());
                    rest = behind.get(1..).unwrap_or_default();
                }
                '\n' => terminal.row += 1,
                '\r' => {}
                other => terminal.line().push(other),
            }
        }
        terminal
    }

    fn line(&mut self) -> &mut String {
        let row = self.row;
        if self.lines.len() <= row {
            self.lines.resize(row + 1, String::new());
        }
        &mut self.lines[row]
    }

    fn obey(&mut self, numbers: &str, order: Option<char>) {
        match order {
            Some('A') => self.row = self.row.saturating_sub(numbers.parse().unwrap_or(1)),
            Some('K') => self.line().clear(),
            Some('J') => self.lines.truncate(self.row),
            _ => {}
        }
    }

    /// Its lines, without the empty ones that were cleared at its end.
    fn text(&self) -> String {
        self.lines.join("\n").trim_end().to_owned()
    }
}

/// heirloom on a terminal.
struct OnTerminal {
    child: Child,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl OnTerminal {
    fn start(env: &TestEnv, arguments: &[&str], vars: &[(&str, &str)]) -> Self {
        let plain = env.command(arguments);
        let words: Vec<&str> = std::iter::once(plain.get_program())
            .chain(plain.get_args())
            .map(|word| word.to_str().unwrap())
            .collect();
        let mut command = Command::new("script");
        command.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(env.repo()).env_clear();
        for (name, value) in plain.get_envs() {
            // Time passes on a terminal.
            if let Some(value) = value.filter(|_| name != "HEIRLOOM_CLOCK") {
                command.env(name, value);
            }
        }
        let vars = [&[("TERM", "xterm"), ("SHELL", "/bin/sh")], vars].concat();
        let pipes = command.envs(vars).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (mut output, sent) = (child.stdout.take().unwrap(), Arc::default());
        let seen: Arc<Mutex<Vec<u8>>> = Arc::clone(&sent);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..length]);
            }
        });
        Self { child, sent }
    }

    fn screen(&self) -> String {
        Terminal::showing(&self.sent.lock().unwrap()).text()
    }

    /// Waits until the screen shows all of `words` at once.
    fn wait_for(&self, words: &[&str]) {
        wait_for(|| {
            let screen = self.screen();
            words.iter().all(|word| screen.contains(word))
        });
    }

    /// What is left on the screen at the end, and the exit status.
    fn end(mut self) -> (String, Option<i32>) {
        let code = self.child.wait().unwrap().code();
        wait_for(|| Arc::strong_count(&self.sent) == 1);
        (self.screen(), code)
    }
}

/// An agent that says what it does, and goes on when it may.
fn talking() -> TestEnv {
    let env = env();
    env.write(
        "agent.sh",
        r#"cat > /dev/null
id=11111111-1111-4111-8111-111111111111
echo '{"type":"system","subtype":"init","session_id":"'$id'","model":"m"}'
echo '{"type":"assistant","session_id":"'$id'","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test -p auth"}}],"usage":{"input_tokens":1200,"output_tokens":34}}}'
while [ ! -e go ]; do sleep 0.05; done
printf '{"decision":"continue","summary":"Rotate tokens"}' > "$HEIRLOOM_STATUS"
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.25,"session_id":"'$id'"}'
"#,
    );
    env.write(
        "p.yaml",
        "name: p\nagent: sim\nnodes:\n- {id: plan, prompt: 'Plan. ${STATUS}', max: 2}\n",
    );
    env.var("HEIRLOOM_AGENT_SIM", "sh agent.sh")
}

#[test]
fn a_terminal_shows_what_happens_now_and_keeps_only_what_happened() {
    let env = talking();
    let shown = OnTerminal::start(&env, &["run", "p.yaml", "s"], &[]);
    shown.wait_for(&[
        " 1  ● 0m01s",
        "1,234 tokens",
        "stage-00-plan",
        "Bash  cargo test -p auth",
        "ctrl-c finishes this iteration, twice stops it",
    ]);
    env.run(&["sessions", "stop", "s"]).success();
    shown.wait_for(&["stopping after this iteration, ctrl-c stops it now"]);
    env.write("go", "");
    let (screen, code) = shown.end();
    assert_eq!(code, Some(130));
    insta::with_settings!({filters => vec![(r"\dm\d\ds", "[time]")]}, {
        insta::assert_snapshot!(screen, @r"
        s  p · sim · on main
        plan  sim · up to 2 iterations
         1  ✔ [time]  $0.25  Rotate tokens
            interrupted: stopped on request
        interrupted: stopped on request · 1 iteration, [time], $0.25
        resume it with the same command and --resume; `heirloom status s` says more
        ");
    });
}

/// Lines typed while something runs would push up what is drawn, and leave it behind.
#[test]
fn what_is_typed_meanwhile_leaves_no_ghost_of_the_changing_lines() {
    let env = talking();
    let mut terminal = env.terminal(&["run", "p.yaml", "s"]);
    terminal.sees("ctrl-c finishes this iteration");
    assert!(!terminal.is_as_before(), "typing is shown");
    for _ in 0..5 {
        terminal.types("hello");
        terminal.sees("ctrl-c finishes this iteration");
    }
    env.write("go", "");
    terminal.waits_to_be_as_before();
    let (code, sent) = terminal.ends();
    assert_eq!(code, 0, "{sent}");
    let screen = Terminal::showing(sent.as_bytes()).text();
    assert!(!screen.contains("hello") && !screen.contains('●'), "{screen}");
    assert!(!screen.contains("ctrl-c"), "{screen}");
    assert_eq!(screen.matches("Rotate tokens").count(), 2, "{screen}");
}

#[test]
fn a_terminal_without_colours_is_left_as_clean() {
    let env = talking();
    for (session, vars) in [("quiet", ("NO_COLOR", "1")), ("dumb", ("TERM", "dumb"))] {
        let shown = OnTerminal::start(&env, &["run", "p.yaml", session], &[vars]);
        wait_for(|| env.repo().join(format!(".heirloom/runs/{session}/run.jsonl")).exists());
        // Longer than it takes to draw what happens now several times.
        thread::sleep(std::time::Duration::from_millis(1500));
        env.write("go", "");
        let (screen, code) = shown.end();
        assert_eq!(code, Some(0), "{screen}");
        assert!(!screen.contains('●') && !screen.contains("ctrl-c"), "{session}: {screen}");
        assert_eq!(screen.matches("Rotate tokens").count(), 2, "{session}: {screen}");
        assert!(!screen.contains("[2K") && !screen.contains("[1m"), "{session}: {screen}");
        std::fs::remove_file(env.repo().join("go")).unwrap();
    }
}

/// A desktop that writes down what it is told.
fn with_desktop(env: TestEnv) -> TestEnv {
    let bin = env.user().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let told = env.user().join("told");
    let program = bin.join("notify-send");
    let script = format!("#!/bin/sh\nIFS='|'; echo \"$*\" >> {}\n", told.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    env.var("PATH", format!("{}:{path}", bin.display())).var("DISPLAY", ":7")
}

fn told(env: &TestEnv) -> String {
    std::fs::read_to_string(env.user().join("told")).unwrap_or_default()
}

#[test]
fn the_desktop_is_told_when_a_run_ends_and_when_nobody_understood_what_was_inherited() {
    let env = with_desktop(with_agent(WORKS));
    env.run(&["run", "ralph", "first", "2", "--agent", "command"]).success();
    wait_for(|| told(&env) == "--app-name=heirloom|--|first|completed after 2 iterations\n");
    env.write(
        ".heirloom/stages/careful/stage.yaml",
        "name: careful\nagent: command\ncomprehension: required\nstop: {rule: fixed, max: 1}\n",
    );
    env.write(".heirloom/stages/careful/prompt.md", "Work. ${STATUS}\n");
    env.run(&["run", "careful", "second", "--inherit", "first"]).success();
    wait_for(|| told(&env).contains("|second|completed after 1 iteration\n"));
    wait_for(|| told(&env).contains("|second|Agent did not acknowledge inherited context\n"));
    let stopped = with_desktop(with_agent("cat > /dev/null\nexit 3\n"));
    assert_eq!(stopped.run(&["run", "ralph", "s", "1", "--agent", "command"]).code, 1);
    wait_for(|| told(&stopped).contains("|s|failed after "));
}
