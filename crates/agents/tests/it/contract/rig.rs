//! An agent in a home of its own, with a model that follows a script.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heirloom_agents::{
    Agent, CommandLine, Conversation, Env, Event, Feature, Finished, Input, Launch, LaunchError,
    Line, Next, Process, Programs, Support, Taps, by_name,
};
use heirloom_core::config::Config;
use heirloom_testkit::model::{Answer, Part, Script};
use heirloom_testkit::real;
use tempfile::TempDir;

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// One agent, and how it is driven in a test.
pub(super) struct Subject {
    /// Its name.
    pub(super) agent: &'static str,
    /// The command that runs it.
    pub(super) program: fn() -> Vec<String>,
    /// Starts what stands in for its model.
    pub(super) serve: fn(&Rig, &Script) -> Served,
    /// The tool use that runs a shell command.
    pub(super) shell: fn(&str) -> Part,
    /// A config that permits it.
    pub(super) permissive: fn() -> Config,
}

/// A model that is being served.
pub(super) struct Served {
    /// What the agent needs to find it.
    pub(super) env: Vec<(String, String)>,
    /// The requests so far, as text.
    pub(super) requests: Box<dyn Fn() -> Vec<String>>,
    /// Lives as long as the agent.
    pub(super) _keep: Box<dyn Any>,
}

impl Served {
    pub(super) fn nothing() -> Self {
        Self { env: Vec::new(), requests: Box::new(Vec::new), _keep: Box::new(()) }
    }
}

impl From<real::Served> for Served {
    fn from(served: real::Served) -> Self {
        let env = served.env.clone();
        Self { env, requests: Box::new(move || served.requests()), _keep: Box::new(()) }
    }
}

/// The command of a pinned agent.
pub(super) fn pinned(agent: &str) -> Vec<String> {
    let program = real::pinned(agent, by_name(agent).unwrap().tested_version().unwrap());
    vec![program.to_str().unwrap().to_owned()]
}

/// An agent's surroundings, for one test.
pub(super) struct Rig {
    pub(super) subject: &'static Subject,
    pub(super) agent: &'static dyn Agent,
    pub(super) home: TempDir,
    /// Where it works.
    pub(super) work: PathBuf,
    pub(super) programs: Programs,
}

/// What is asked of the agent.
#[derive(Clone)]
pub(super) struct Ask<'a> {
    pub(super) prompt: &'a str,
    pub(super) config: Config,
    pub(super) conversation: Conversation<'a>,
    pub(super) input: Input,
    pub(super) script: Script,
    pub(super) env: Vec<(&'a str, &'a str)>,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self {
            prompt: "hello",
            config: Config::default(),
            conversation: Conversation::New(None),
            input: Input::Once,
            script: Script::default(),
            env: Vec::new(),
        }
    }
}

impl Ask<'_> {
    pub(super) fn answered(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { script: Script::new(answers), ..Self::default() }
    }
}

/// An agent at work.
pub(super) struct Running {
    pub(super) process: Process,
    pub(super) served: Served,
    events: Vec<Event>,
    deadline: Instant,
}

/// An agent that is done.
pub(super) struct Run {
    pub(super) finished: Finished,
    pub(super) events: Vec<Event>,
    pub(super) requests: Vec<String>,
}

impl Rig {
    pub(super) fn new(subject: &'static Subject) -> Self {
        let command = (subject.program)();
        let mut programs = Programs::default();
        programs.replace(subject.agent, command);
        let home = tempfile::Builder::new().prefix("heirloom-agent-").tempdir().unwrap();
        let work = home.path().join("work");
        std::fs::create_dir_all(&work).unwrap();
        Self { subject, agent: by_name(subject.agent).unwrap(), home, work, programs }
    }

    pub(super) fn supports(&self, feature: Feature) -> bool {
        !matches!(self.agent.supports(feature), Support::No(_))
    }

    /// Nothing of the person's: a home of its own, and no way out but loopback.
    pub(super) fn env(&self) -> Env {
        let text = |name: &str, value: &str| (name.into(), value.into());
        let mut env = Env::from([
            text("PATH", &std::env::var("PATH").unwrap()),
            text("LANG", "C.UTF-8"),
            text("HTTPS_PROXY", "http://127.0.0.1:9"),
            text("HTTP_PROXY", "http://127.0.0.1:9"),
            text("NO_PROXY", "127.0.0.1,localhost"),
        ]);
        env.insert("HOME".into(), self.home.path().into());
        env.insert("TMPDIR".into(), self.home.path().into());
        env
    }

    pub(super) fn scratch(&self) -> PathBuf {
        self.home.path().join("scratch")
    }

    /// The command line for `ask`, with a model at `served`.
    pub(super) fn line(&self, ask: &Ask<'_>, served: &Served) -> Result<CommandLine, LaunchError> {
        let mut env = self.env();
        env.extend(served.env.iter().map(|(name, value)| (name.into(), value.into())));
        env.extend(ask.env.iter().map(|(name, value)| (name.into(), value.into())));
        self.agent.launch(&Launch {
            config: &ask.config,
            prompt: ask.prompt,
            conversation: ask.conversation,
            input: ask.input,
            cwd: &self.work,
            env: &env,
            programs: &self.programs,
            scratch: &self.scratch(),
            as_root: is_root(),
        })
    }

    pub(super) fn start(&self, ask: &Ask<'_>) -> Running {
        let served = (self.subject.serve)(self, &ask.script);
        let line = self.line(ask, &served).unwrap();
        let process = Process::spawn(self.agent, line, self.taps()).unwrap();
        Running { process, served, events: Vec::new(), deadline: Instant::now() + PATIENCE }
    }

    pub(super) fn taps(&self) -> Taps {
        Taps { locks: Some(self.home.path().join("locks")), ..Taps::default() }
    }

    pub(super) fn run(&self, ask: &Ask<'_>) -> Run {
        self.start(ask).finish()
    }

    /// A first turn, and its conversation.
    pub(super) fn first_turn(&self) -> String {
        let ask =
            Ask { prompt: "the first prompt", ..Ask::answered([Answer::text("first answer")]) };
        let run = self.run(&ask);
        assert!(run.finished.outcome.is_success(), "{:?}", run.finished);
        run.id()
    }

    /// The launch of `ask` is refused.
    pub(super) fn assert_refused(&self, ask: &Ask<'_>) {
        let error = self.line(ask, &Served::nothing()).unwrap_err();
        assert!(matches!(error, LaunchError::Unsupported { .. }), "{error:?}");
    }

    /// The launch of `ask` is refused, or says what it goes without.
    pub(super) fn assert_gap(&self, ask: &Ask<'_>) {
        match self.line(ask, &Served::nothing()) {
            Err(error) => assert!(matches!(error, LaunchError::Unsupported { .. }), "{error:?}"),
            Ok(line) => assert!(!line.reports.is_empty()),
        }
    }

    /// Runs the tool that runs a shell command.
    pub(super) fn shell(&self, command: &str) -> Answer {
        Answer::Say(vec![(self.subject.shell)(command)])
    }

    pub(super) fn permissive(&self) -> Config {
        (self.subject.permissive)()
    }
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Running {
    pub(super) fn next(&mut self) -> Option<Line> {
        loop {
            match self.process.next_line_within(Duration::from_millis(100)) {
                Next::Line(line) => {
                    self.events.extend(line.parsed.events.iter().cloned());
                    return Some(line);
                }
                Next::Retry(event) => self.events.push(event),
                Next::End => return None,
                Next::Silence => {
                    let waited = Instant::now() > self.deadline;
                    assert!(!waited, "the agent hangs after {:#?}", self.events);
                }
            }
        }
    }

    /// Reads on until an event is what is looked for.
    pub(super) fn until<T>(&mut self, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        while let Some(line) = self.next() {
            if let Some(found) = line.parsed.events.iter().find_map(&mut wanted) {
                return found;
            }
        }
        panic!("the agent ended after {:#?}", self.events);
    }

    /// Waits for a file that a tool makes.
    pub(super) fn until_exists(&mut self, path: &Path) {
        self.until_holds(|_| path.exists());
    }

    /// Waits until the conversation can be called by its name. A tool may run before: opencode's
    /// server starts it while the line that names the session is still on its way to stdout.
    pub(super) fn until_named(&mut self) {
        self.until_holds(|events| {
            events.iter().any(|event| matches!(event, Event::Started { .. }))
        });
    }

    fn until_holds(&mut self, holds: impl Fn(&[Event]) -> bool) {
        while !holds(&self.events) {
            match self.process.next_line_within(Duration::from_millis(20)) {
                Next::Line(line) => self.events.extend(line.parsed.events),
                Next::Retry(event) => self.events.push(event),
                Next::End => panic!("the agent ended after {:#?}", self.events),
                Next::Silence => assert!(Instant::now() < self.deadline, "{:#?}", self.events),
            }
        }
    }

    pub(super) fn finish(mut self) -> Run {
        while self.next().is_some() {}
        let finished = self.process.finish();
        let requests = (self.served.requests)();
        Run { finished, events: self.events, requests }
    }
}

impl Run {
    pub(super) fn id(&self) -> String {
        self.finished.tally.agent_session_id.clone().expect("an agent session id")
    }

    pub(super) fn text(&self) -> &str {
        self.finished.tally.text.as_deref().unwrap_or_default()
    }

    pub(super) fn last_request(&self) -> &str {
        self.requests.last().map(String::as_str).unwrap_or_default()
    }
}
