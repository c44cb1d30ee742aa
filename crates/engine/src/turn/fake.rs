//! A machine for tests: agents that do what a script says, and a clock that only runs while somebody
//! waits for them.

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use heirloom_agents::process::{Finished, SpawnError};
use heirloom_agents::{
    Agent, CommandLine, End, Exit, Line, Next, Patience, Reader, Stop, Tally, Taps,
};
use serde_json::{Value, json};

use super::system::{AgentProcess, System};
use crate::here::{Env, Here};

/// A place of its own below `dir`, where Claude Code is a program that nobody ever runs.
pub(crate) fn place(dir: &Path) -> Here {
    let program = dir.join("claude");
    fs::write(&program, "").unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let repo = dir.join("repo");
    fs::create_dir(&repo).unwrap();
    let env: Env = [
        ("HEIRLOOM_HOME".into(), dir.join("home").into()),
        ("HEIRLOOM_AGENT_CLAUDE".into(), program.into()),
    ]
    .into();
    Here::look(&repo, env).unwrap()
}

/// Longer than anything may take.
const FOR_EVER: Duration = Duration::from_hours(24);

/// One thing an agent does.
pub(crate) enum Act {
    /// Prints a line.
    Print(String),
    /// Prints what depends on how it was started.
    Answer(Box<dyn FnOnce(&CommandLine) -> String + Send>),
    /// Does something to the files that its environment names.
    Do(Box<dyn FnOnce(&CommandLine) + Send>),
    /// Is silent for that long.
    Wait(Duration),
    /// Is silent until it is stopped.
    UntilStopped,
    /// Is silent until it is killed: it listens to nothing else.
    UntilKilled,
    /// Is silent until its stdin ends.
    UntilHungUp,
    /// Is silent until it was told something that contains this.
    UntilTold(&'static str),
    /// Ends with this code.
    Exit(i32),
    /// heirloom itself fails while it looks after the agent.
    Fault(&'static str),
}

impl Act {
    pub(crate) fn print(line: &Value) -> Self {
        Self::Print(line.to_string())
    }

    /// Says which conversation this is.
    pub(crate) fn started(id: &str) -> Self {
        let line = json!({"type": "system", "subtype": "init", "session_id": id, "model": "m"});
        Self::print(&line)
    }

    /// Says something.
    pub(crate) fn says(text: &str) -> Self {
        let content = json!([{"type": "text", "text": text}]);
        Self::print(&json!({"type": "assistant", "message": {"content": content}}))
    }

    /// Ends its turn well.
    pub(crate) fn result() -> Self {
        Self::print(&json!({
            "type": "result", "subtype": "success", "is_error": false, "result": "done",
            "session_id": "x", "total_cost_usd": 0.5, "num_turns": 1,
            "usage": {"input_tokens": 3, "output_tokens": 4},
        }))
    }
}

/// What was done to an agent.
#[derive(Debug, Default, Clone)]
pub(crate) struct Done {
    pub(crate) stopped: bool,
    pub(crate) killed: bool,
    pub(crate) hung_up: bool,
    pub(crate) told: Vec<String>,
}

/// A machine with agents that are started one after the other.
#[derive(Default)]
pub(crate) struct Fake {
    scripts: Mutex<VecDeque<Vec<Act>>>,
    clock: Arc<Mutex<Duration>>,
    done: Arc<Mutex<Vec<Arc<Mutex<Done>>>>>,
    began: std::sync::OnceLock<Instant>,
    /// Whether agents do nothing but wait for more until they are told.
    pub(crate) starving: bool,
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

impl Fake {
    /// With agents that do this. One that is started after the last of them panics, which is a fault
    /// of the machine's.
    pub(crate) fn new(scripts: impl IntoIterator<Item = Vec<Act>>) -> Self {
        Self { scripts: Mutex::new(scripts.into_iter().collect()), ..Self::default() }
    }

    /// How much time has passed.
    pub(crate) fn passed(&self) -> Duration {
        *self.clock.lock().unwrap()
    }

    /// What was done to the agent that was started as the `n`th, from 0.
    pub(crate) fn done(&self, n: usize) -> Done {
        self.done.lock().unwrap()[n].lock().unwrap().clone()
    }

    /// How many agents were started.
    pub(crate) fn started(&self) -> usize {
        self.done.lock().unwrap().len()
    }
}

impl System for Fake {
    fn spawn(
        &self,
        agent: &'static dyn Agent,
        line: CommandLine,
        taps: Taps,
    ) -> Result<Box<dyn AgentProcess>, SpawnError> {
        let acts = self.scripts.lock().unwrap().pop_front().expect("an agent too many");
        let done = Arc::<Mutex<Done>>::default();
        self.done.lock().unwrap().push(Arc::clone(&done));
        Ok(Box::new(FakeProcess {
            agent,
            reader: agent.reader(),
            acts: acts.into(),
            waited: Duration::ZERO,
            tally: Tally::default(),
            clock: Arc::clone(&self.clock),
            done,
            exit: None,
            line,
            taps,
            starving: self.starving,
        }))
    }

    fn now(&self) -> Instant {
        *self.began.get_or_init(Instant::now) + self.passed()
    }

    fn sleep(&self, time: Duration) {
        *self.clock.lock().unwrap() += time;
    }
}

struct FakeProcess {
    agent: &'static dyn Agent,
    reader: Box<dyn Reader>,
    acts: VecDeque<Act>,
    waited: Duration,
    tally: Tally,
    clock: Arc<Mutex<Duration>>,
    done: Arc<Mutex<Done>>,
    exit: Option<i32>,
    line: CommandLine,
    taps: Taps,
    starving: bool,
}

impl FakeProcess {
    fn print(&mut self, text: &str) -> Next {
        if let Some(events) = &mut self.taps.events {
            writeln!(events, "{text}").unwrap();
        }
        let parsed = self.reader.read(text.as_bytes());
        self.tally.fold(&parsed);
        let number = self.tally.lines;
        Next::Line(Line { number, raw: text.as_bytes().to_vec(), cut: false, parsed })
    }

    /// Whether what an agent waits for has come about.
    fn goes_on(&self, act: &Act) -> bool {
        let done = self.done.lock().unwrap();
        match act {
            Act::Wait(time) => self.waited >= *time || done.stopped || done.killed,
            Act::UntilStopped => done.stopped || done.killed,
            Act::UntilKilled => done.killed,
            Act::UntilHungUp => done.hung_up || done.stopped || done.killed,
            Act::UntilTold(text) => done.told.iter().any(|told| told.contains(text)),
            Act::Print(_) | Act::Answer(_) | Act::Do(_) | Act::Exit(_) | Act::Fault(_) => true,
        }
    }
}

impl AgentProcess for FakeProcess {
    fn pid(&self) -> u32 {
        // Nobody's: no process can have it.
        i32::MAX.unsigned_abs()
    }

    fn next_within(&mut self, patience: Duration) -> Next {
        loop {
            let Some(act) = self.acts.front() else { return Next::End };
            if !self.goes_on(act) {
                self.waited += patience;
                assert!(self.waited < FOR_EVER, "it would have waited for ever");
                *self.clock.lock().unwrap() += patience;
                return Next::Silence;
            }
            self.waited = Duration::ZERO;
            match self.acts.pop_front() {
                Some(Act::Print(text)) => return self.print(&text),
                Some(Act::Answer(answer)) => {
                    let text = answer(&self.line);
                    return self.print(&text);
                }
                Some(Act::Do(act)) => act(&self.line),
                Some(Act::Exit(code)) => {
                    self.exit = Some(code);
                    return Next::End;
                }
                Some(Act::Fault(words)) => panic!("{words}"),
                // One that was killed does nothing more.
                _ if self.done.lock().unwrap().killed => return Next::End,
                _ => {}
            }
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn is_starving(&self) -> bool {
        self.starving
    }

    fn is_in_use(&self) -> bool {
        false
    }

    fn say(&self, bytes: Vec<u8>) {
        self.done.lock().unwrap().told.push(String::from_utf8(bytes).unwrap());
    }

    fn hang_up(&self) {
        self.done.lock().unwrap().hung_up = true;
    }

    fn stop(&self, _: Patience) {
        self.done.lock().unwrap().stopped = true;
    }

    fn kill(&self) {
        self.done.lock().unwrap().killed = true;
    }

    fn finish(mut self: Box<Self>) -> Finished {
        while !matches!(self.next_within(Duration::from_secs(1)), Next::End) {}
        let done = self.done.lock().unwrap().clone();
        let exit = match (self.exit, done.killed) {
            (Some(code), _) => Exit::Code(code),
            (None, true) => Exit::Signal(9),
            (None, false) => Exit::Code(0),
        };
        let stopped = match (done.stopped, done.killed) {
            (_, true) => Some(Stop::Kill),
            (true, _) => Some(Stop::Interrupt),
            _ => None,
        };
        let end = End {
            tally: &self.tally,
            exit,
            stderr: "",
            stopped,
            asked_for: self.line.asked_for.as_deref(),
            expected_id: self.line.expected_id.as_deref(),
        };
        let outcome = self.agent.classify(&end);
        let tally = std::mem::take(&mut self.tally);
        Finished { outcome, tally, exit, stderr: String::new(), stopped, recording: None }
    }
}
