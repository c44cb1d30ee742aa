//! The simulation's program: `heirloom sim-agent`.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use heirloom_repo::file;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::args::Args;
use super::conversation::{Conversation, Refusal};
use super::script::{self, Step};
use super::stream::{Ending, REQUEST_USD, Stream};
use super::tools::{self, Answer, Permission};
use super::work;
use crate::env::{self, Env};

/// The standard streams it works with.
pub struct Streams<'a> {
    /// The prompt, or the control protocol.
    pub stdin: Box<dyn BufRead + Send>,
    /// The stream of events.
    pub stdout: &'a mut dyn Write,
    /// What goes wrong before there is a stream.
    pub stderr: &'a mut dyn Write,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

/// Runs the simulation and returns its exit code. `args` are those after `sim-agent`.
pub fn main(args: &[String], streams: Streams<'_>, env: &Env, cwd: &Path) -> i32 {
    let Streams { stdin, stdout, stderr } = streams;
    let args = match Args::parse(args) {
        Ok(args) => args,
        Err(problem) => return complain(stderr, &format!("Error: {problem}")),
    };
    if args.version {
        let _ = writeln!(stdout, "{} (simulation)", env!("CARGO_PKG_VERSION"));
        return 0;
    }
    let bypass = args.permission_mode.as_deref() == Some("bypassPermissions");
    let sandbox = env.get(std::ffi::OsStr::new("IS_SANDBOX")).is_some_and(|value| value == "1");
    if bypass && !sandbox && rustix::process::geteuid().is_root() {
        return complain(stderr, "permissions cannot be bypassed with root privileges");
    }
    let Some(root) = super::own_root(env) else {
        return complain(stderr, "Error: neither HEIRLOOM_HOME nor HOME is set");
    };
    let model = args.model.clone().unwrap_or_else(|| "sim-1".to_owned());
    let conversation = match Conversation::open(&root, cwd, &args) {
        Ok(conversation) => conversation,
        Err(refusal) => return refuse(&refusal, stdout, stderr, model),
    };
    let mut stdout = BufWriter::new(stdout);
    let mut stream = Stream::new(&mut stdout, conversation.id.clone(), model);
    (stream.cost_usd, stream.before) = (conversation.cost_usd, conversation.requests);
    let heard = listen(stdin, args.stream_input);
    let session = Session {
        args,
        stream,
        stderr,
        conversation,
        steps: None,
        heard,
        waiting: VecDeque::new(),
        interrupted: false,
        env,
        cwd,
    };
    session.run().unwrap_or(1)
}

fn complain(stderr: &mut dyn Write, message: &str) -> i32 {
    let _ = writeln!(stderr, "{message}");
    1
}

fn refuse(refusal: &Refusal, stdout: &mut dyn Write, stderr: &mut dyn Write, model: String) -> i32 {
    if let Some(id) = &refusal.unknown_id {
        let ending = Ending {
            subtype: "error_during_execution",
            is_error: true,
            errors: vec![refusal.message.clone()],
            ..Ending::default()
        };
        let _ = Stream::new(stdout, id.clone(), model).result(ending);
    }
    complain(stderr, &refusal.message)
}

/// What is heard on stdin.
enum Heard {
    Prompt(String),
    Answer(Value),
    Interrupt,
}

fn listen(mut stdin: Box<dyn BufRead + Send>, stream: bool) -> Receiver<Heard> {
    let (say, heard) = mpsc::channel();
    thread::spawn(move || {
        if !stream {
            let mut prompt = String::new();
            let _ = stdin.read_to_string(&mut prompt);
            let _ = say.send(Heard::Prompt(prompt));
            return;
        }
        for line in stdin.lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            let heard = match message["type"].as_str() {
                Some("user") => {
                    let text = message["message"]["content"].as_str().unwrap_or_default();
                    Heard::Prompt(text.to_owned())
                }
                Some("control_request") if message["request"]["subtype"] == "interrupt" => {
                    Heard::Interrupt
                }
                Some("control_response") => Heard::Answer(message["response"].clone()),
                _ => continue,
            };
            if say.send(heard).is_err() {
                return;
            }
        }
    });
    heard
}

/// Whether a tool may be used.
enum Permitted {
    /// It may, with this input.
    With(Value),
    /// It may not, and gets this answer.
    Not(Answer),
}

struct Session<'a> {
    args: Args,
    stream: Stream<'a>,
    stderr: &'a mut dyn Write,
    conversation: Conversation,
    steps: Option<VecDeque<Step>>,
    heard: Receiver<Heard>,
    waiting: VecDeque<Heard>,
    interrupted: bool,
    env: &'a Env,
    cwd: &'a Path,
}

/// What a step leads to.
enum Then {
    GoOn,
    TurnEnds(Ending),
    Exit(i32),
}

impl Session<'_> {
    fn run(mut self) -> io::Result<i32> {
        let mut code = 0;
        while let Some(prompt) = self.next_prompt() {
            let mode = self.args.permission_mode.clone().unwrap_or_else(|| "default".to_owned());
            self.stream.init(&self.cwd.to_string_lossy(), &mode)?;
            let now = self.now();
            self.conversation.add("user", &prompt.clone().into(), now)?;
            self.interrupted = false;
            match self.turn(&prompt)? {
                Then::Exit(code) => return Ok(code),
                Then::TurnEnds(ending) => {
                    code = i32::from(ending.is_error);
                    let (usd, requests) = (self.stream.cost_usd, self.stream.all_requests());
                    self.conversation.keep_cost(usd, requests)?;
                    self.stream.result(ending)?;
                }
                Then::GoOn => {}
            }
        }
        Ok(code)
    }

    /// The time that `HEIRLOOM_CLOCK` holds for everything of heirloom's, or else what it is.
    #[expect(clippy::disallowed_methods, reason = "an agent's transcript has its own clock")]
    fn now(&self) -> Timestamp {
        let held = self.env.get(std::ffi::OsStr::new("HEIRLOOM_CLOCK"));
        held.and_then(|time| time.to_str()?.parse().ok()).unwrap_or_else(Timestamp::now)
    }

    fn next_prompt(&mut self) -> Option<String> {
        loop {
            let heard = self.waiting.pop_front().or_else(|| self.heard.recv().ok())?;
            if let Heard::Prompt(text) = heard {
                return Some(text);
            }
        }
    }

    fn turn(&mut self, prompt: &str) -> io::Result<Then> {
        if self.steps.is_none() {
            match self.script(prompt) {
                Ok(steps) => self.steps = Some(steps.into()),
                Err(problem) => return Ok(Then::Exit(complain(self.stderr, &problem))),
            }
        }
        let (mut turns, mut failures) = (0, 0);
        loop {
            let step = self.next_step();
            if let Some(code) = self.act(&step)? {
                return Ok(Then::Exit(code));
            }
            if !step.is_request() {
                continue;
            }
            self.log_request();
            if let Some(status) = step.fail {
                failures += 1;
                if let Some(ending) = self.fail(&step, status, failures)? {
                    return Ok(Then::TurnEnds(ending));
                }
                continue;
            }
            if self.args.max_turns == Some(turns) {
                return Ok(Then::TurnEnds(too_many_turns(turns)));
            }
            (turns, failures) = (turns + 1, 0);
            match self.answer(&step, turns)? {
                Then::GoOn => {}
                then => return Ok(then),
            }
        }
    }

    fn script(&self, prompt: &str) -> Result<Vec<Step>, String> {
        let Some(path) = env::path(self.env, "HEIRLOOM_SIM_SCRIPT") else {
            return Ok(work::steps(self.env, prompt, self.cwd));
        };
        let text = file::read_to_string(&path)
            .map_err(|error| format!("{}: {}", path.display(), error.source))?;
        script::parse(&text)
    }

    fn next_step(&mut self) -> Step {
        let steps = self.steps.get_or_insert_default();
        match steps.front() {
            Some(step) if step.always => step.clone(),
            Some(_) => steps.pop_front().unwrap_or_default(),
            None => Step { say: Some("done".to_owned()), ..Step::default() },
        }
    }

    /// What a step does outside of the model. A code ends the process.
    fn act(&mut self, step: &Step) -> io::Result<Option<i32>> {
        if let Some(ms) = step.sleep_ms {
            thread::sleep(Duration::from_millis(ms));
        }
        if let Some(line) = &step.raw {
            self.stream.raw(line)?;
        }
        if let Some(text) = &step.stderr {
            writeln!(self.stderr, "{text}")?;
        }
        for number in 0..step.flood.unwrap_or_default() {
            self.stream.raw(&flood_line(number))?;
        }
        if let Some(file) = &step.write {
            file::write(self.cwd.join(&file.path), &file.content)?;
        }
        if let Some(fields) = &step.status {
            work::write_status(self.env, fields)?;
        }
        if let Some(text) = &step.progress {
            work::append_progress(self.env, text)?;
        }
        self.stream.flush()?;
        if step.crash {
            // As dead as a process can be, without a signal handler in the way.
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        }
        Ok(step.exit)
    }

    fn fail(&mut self, step: &Step, status: u16, failures: u32) -> io::Result<Option<Ending>> {
        let max = self.env.get(std::ffi::OsStr::new("CLAUDE_CODE_MAX_RETRIES"));
        let max = max.and_then(|max| max.to_str()?.parse().ok()).unwrap_or(10);
        let is_retried = matches!(status, 0 | 401 | 429 | 500..);
        if is_retried && failures <= max {
            self.stream.retry(failures, max, status)?;
            return Ok(None);
        }
        let message = step.message.clone().unwrap_or_else(|| format!("API Error: {status}"));
        let too_long = status == 413;
        Ok(Some(Ending {
            subtype: "success",
            is_error: true,
            reason: if too_long { "prompt_too_long" } else { "api_error" },
            text: Some(message),
            status: (status > 0).then_some(status),
            turns: 1,
            ..Ending::default()
        }))
    }

    fn answer(&mut self, step: &Step, turns: u32) -> io::Result<Then> {
        if step.hang {
            while !self.is_interrupted() {
                thread::sleep(Duration::from_millis(5));
            }
            return Ok(Then::TurnEnds(aborted("aborted_streaming", turns)));
        }
        self.stream.requests += 1;
        self.stream.cost_usd += REQUEST_USD;
        if let Some(text) = &step.think {
            self.speak(&json!({"type": "thinking", "thinking": text, "signature": ""}))?;
        }
        if let Some(text) = &step.text {
            self.speak(&json!({"type": "text", "text": text}))?;
        }
        if let Some(tool) = &step.tool {
            if !self.use_tool(tool, &step.input)? {
                return Ok(Then::TurnEnds(aborted("aborted_tools", turns)));
            }
            if self.args.max_cost_usd.is_some_and(|max| self.stream.cost_usd >= max) {
                return Ok(Then::TurnEnds(too_expensive(turns)));
            }
        }
        let Some(text) = &step.say else { return Ok(Then::GoOn) };
        self.speak(&json!({"type": "text", "text": text}))?;
        let (subtype, reason, text) = ("success", "completed", Some(text.clone()));
        Ok(Then::TurnEnds(Ending { subtype, reason, text, turns, ..Ending::default() }))
    }

    fn speak(&mut self, block: &Value) -> io::Result<()> {
        self.stream.assistant(block)?;
        let now = self.now();
        self.conversation.add("assistant", &json!([block]), now)
    }

    /// Uses a tool; `false` when it was interrupted.
    fn use_tool(&mut self, tool: &str, input: &Value) -> io::Result<bool> {
        let id = format!("toolu_sim_{}", self.stream.requests);
        self.speak(&json!({"type": "tool_use", "id": id, "name": tool, "input": input}))?;
        let answer = match self.permit(tool, input, &id)? {
            Permitted::With(input) => {
                let (cwd, env) = (self.cwd, self.env);
                tools::run(tool, &input, cwd, env, &mut || self.is_interrupted())
            }
            Permitted::Not(answer) => Some(answer),
        };
        let interrupted = answer.is_none();
        let answer = answer.unwrap_or_else(|| Answer::bad("interrupted"));
        self.stream.tool_result(&id, &answer.text, answer.is_error)?;
        let block = json!([{"type": "tool_result", "tool_use_id": id, "content": answer.text,
                            "is_error": answer.is_error}]);
        let now = self.now();
        self.conversation.add("user", &block, now)?;
        Ok(!interrupted)
    }

    fn permit(&mut self, tool: &str, input: &Value, call: &str) -> io::Result<Permitted> {
        match tools::permission(&self.args, tool) {
            Permission::Allowed => return Ok(Permitted::With(input.clone())),
            Permission::Unknown => {
                let answer = Answer::bad(format!("No such tool available: {tool}"));
                return Ok(Permitted::Not(answer));
            }
            Permission::Denied => {
                let reason = "nobody can be asked for permission";
                self.stream.denied(tool, reason)?;
                return Ok(Permitted::Not(Answer::bad(reason)));
            }
            Permission::Ask => {}
        }
        let request = format!("sim-request-{}", self.stream.requests);
        self.stream.ask(&request, tool, input, call)?;
        loop {
            match self.heard.recv() {
                Ok(Heard::Answer(answer)) if answer["request_id"] == *request => {
                    let decision = &answer["response"];
                    if decision["behavior"] == "allow" {
                        let input = decision.get("updatedInput").unwrap_or(input);
                        return Ok(Permitted::With(input.clone()));
                    }
                    let message = decision["message"].as_str().unwrap_or("denied");
                    return Ok(Permitted::Not(Answer::bad(message)));
                }
                Ok(other) => self.waiting.push_back(other),
                Err(_) => return Ok(Permitted::Not(Answer::bad("nobody answered"))),
            }
        }
    }

    fn is_interrupted(&mut self) -> bool {
        while let Ok(heard) = self.heard.try_recv() {
            match heard {
                Heard::Interrupt => self.interrupted = true,
                other => self.waiting.push_back(other),
            }
        }
        self.interrupted
    }

    /// For tests: what a model would have been sent.
    fn log_request(&self) {
        let Some(path) = env::path(self.env, "HEIRLOOM_SIM_REQUESTS") else { return };
        let read = |path: &std::path::PathBuf| file::read_to_string(path).unwrap_or_default();
        let system: Vec<String> = self.args.prompts.iter().map(read).collect();
        let request = json!({"system": system, "messages": self.conversation.messages});
        let file = file::open_with(fs::OpenOptions::new().create(true).append(true), path);
        let _ = file.map(|mut file| file.write_all(format!("{request}\n").as_bytes()));
    }
}

/// A line of a flood: numbered, so that a lost or swapped one shows.
fn flood_line(number: u64) -> String {
    format!(
        r#"{{"type":"assistant","parent_tool_use_id":null,"message":{{"id":"flood","role":"assistant","content":[{{"type":"text","text":"{number}"}}]}}}}"#
    )
}

fn aborted(reason: &'static str, turns: u32) -> Ending {
    Ending { subtype: "error_during_execution", is_error: true, reason, turns, ..Ending::default() }
}

fn too_many_turns(turns: u32) -> Ending {
    Ending {
        subtype: "error_max_turns",
        is_error: true,
        reason: "max_turns",
        errors: vec![format!("Reached maximum number of turns ({turns})")],
        turns: turns + 1,
        ..Ending::default()
    }
}

fn too_expensive(turns: u32) -> Ending {
    let (subtype, reason) = ("error_max_budget_usd", "budget_exhausted");
    Ending { subtype, is_error: true, reason, turns, ..Ending::default() }
}
