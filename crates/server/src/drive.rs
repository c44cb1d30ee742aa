//! Sessions that were launched over HTTP, each driven by a process of its own.
//!
//! The daemon does not drive agents itself: it starts `heirloom drive`, which does just what `launch` and
//! `continue` do in a terminal. So a session goes on when the daemon is stopped, killed or replaced, its
//! approvals wait in the ledger, and whoever serves next finds it there. What is to be done goes to the
//! process through a pipe, for it may hold secrets; what comes back is one line: the session, or why there
//! is none.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use heirloom_api::{Code, Failure, Kind};
use heirloom_core::config::Overrides;
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_core::trust::person::Who;
use heirloom_engine::here::{Env, Here};
use heirloom_engine::session::{self as engine, Continue, Launch, LaunchContext, Supervisor};
use heirloom_engine::turn::system::Real;
use heirloom_engine::{agents, guard, person};
use heirloom_ledger::Options;
use heirloom_repo::{FileError, child};
use serde::{Deserialize, Serialize};

use crate::house::House;
use crate::keys::Keys;

/// The word by which the command is asked to drive.
pub const WORD: &str = "drive";

/// What is to be launched or gone on with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) directory: PathBuf,
    /// What the agent is to do.
    pub(crate) prompt: String,
    /// The name of the session.
    pub(crate) name: Option<String>,
    /// The agent, where it is not the usual one.
    pub(crate) agent: Option<String>,
    /// A saved config.
    pub(crate) template: Option<String>,
    /// The session that goes on, where one does.
    pub(crate) session: Option<SessionId>,
    /// Whether it goes another way.
    pub(crate) fork: bool,
    pub(crate) at: Option<String>,
    /// What is said about the config.
    pub(crate) config: Overrides,
    /// The sign-in of the person who asks, where it is one. It goes through the pipe and is looked at there,
    /// so that an order which somebody else wrote gives its agent nothing.
    pub(crate) signed_in: Option<String>,
}

/// What the process says, once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Session(SessionId),
    Refused { code: Code, message: String, hints: Vec<String>, usage: bool },
}

/// Starts a process for the order and waits until its session is there.
pub(crate) fn start(house: &House, order: &Order) -> Result<SessionId, Failure> {
    let failed = |error: std::io::Error| Failure::from_error(Code::SessionFailed, &error);
    let logs = house.home().join("logs");
    let log = logs.join("drive.log");
    let unusable = |error: FileError| Failure::from_error(Code::SessionFailed, &error);
    heirloom_repo::make_private_dir(&logs)
        .map_err(FileError::new("make the directory", &logs))
        .map_err(unusable)?;
    let log = heirloom_repo::append_private(&log)
        .map_err(FileError::new("write", &log))
        .map_err(unusable)?;
    let mut child = child::ourselves()
        .map_err(failed)?
        .arg(WORD)
        .current_dir(&order.directory)
        .env_clear()
        .envs(house.env())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(failed)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let text = serde_json::to_vec(order).unwrap_or_default();
    // One that does not read it says why.
    let _ = stdin.map(|mut stdin| stdin.write_all(&text));
    let mut line = String::new();
    if let Some(stdout) = stdout {
        BufReader::new(stdout).read_line(&mut line).map_err(failed)?;
    }
    look_after(child);
    match serde_json::from_str(&line) {
        Ok(Word::Session(id)) => Ok(id),
        Ok(Word::Refused { code, message, hints, usage }) => {
            let kind = if usage { Kind::Usage } else { Kind::Failed };
            Err(Failure { code, message, hints, kind })
        }
        Err(_) => Err(Failure::new(Code::SessionFailed, "the session could not be started")
            .hint("logs/drive.log in heirloom's home may say why")),
    }
}

/// Waits for a process, so that it does not stay as a zombie. It needs no more than a page of stack.
fn look_after(mut child: Child) {
    let name = format!("drive-{}", child.id());
    let thread = std::thread::Builder::new().name(name).stack_size(64 * 1024);
    // Without a thread it stays a zombie until the daemon ends, which harms nobody.
    let _ = thread.spawn(move || child.wait());
}

/// Drives the session that `order` asks for, to its end. `tell` is called once, with the line for whoever
/// started this.
pub fn drive(order: &[u8], env: Env, tell: &mut dyn FnMut(&str)) -> bool {
    // A terminal that goes away does not end the session.
    let _ = rustix::process::setsid();
    let mut first = First { tell, told: false };
    match driven(order, env, &mut first) {
        Ok(session) => {
            first.say(&Word::Session(session));
            true
        }
        Err(Failure { code, message, hints, kind }) => {
            first.say(&Word::Refused { code, message, hints, usage: kind == Kind::Usage });
            false
        }
    }
}

/// Tells the session as soon as there is one.
struct First<'a> {
    tell: &'a mut dyn FnMut(&str),
    told: bool,
}

impl First<'_> {
    fn say(&mut self, word: &Word) {
        if !std::mem::replace(&mut self.told, true) {
            (self.tell)(&serde_json::to_string(word).unwrap_or_default());
        }
    }
}

impl Supervisor for First<'_> {
    fn started(&mut self, session: &Session, _pid: u32) {
        self.say(&Word::Session(session.id));
    }
}

fn driven(order: &[u8], env: Env, first: &mut First<'_>) -> Result<SessionId, Failure> {
    let order: Order = serde_json::from_slice(order)
        .map_err(|error| Failure::from_error(Code::RequestInvalid, &error))?;
    let mut here = Here::look(&order.directory, env)?;
    let is_signed_in =
        |cookie: &String| Keys::new(&here.home).is_signed_in(cookie, here.clock.now());
    let is_signed_in = order.signed_in.as_ref().is_some_and(is_signed_in);
    let loaded = here.settings(&[]).map_err(|unusable| {
        Failure::new(Code::Settings, unusable.to_string())
            .hint("`heirloom doctor` shows all that is wrong")
    })?;
    let programs = agents::programs(&here, Some(&loaded.settings));
    // Of many that end at once, each is worth waiting for.
    let wait = std::time::Duration::from_mins(2);
    let mut ledger = here.ledger_with(Options { wait, ..Options::COMMAND })?;
    // The daemon has looked at what its token may. An agent that writes orders itself is one still.
    here.asks = Some(match person::who(&here, &ledger) {
        agent @ Who::Agent(_) if !is_signed_in => agent,
        _ => Who::Person,
    });
    guard::tidy(&here, &mut ledger)?;
    engine::close_crashed(&here, &mut ledger)?;
    let context = LaunchContext {
        here: &here,
        programs: &programs,
        settings: &loaded.settings,
        directory: &order.directory,
        system: &Real,
    };
    let name = order.name.as_deref().map(str::parse).transpose();
    let name = name.map_err(|error| Failure::from_error(Code::SessionName, &error).usage())?;
    let prepared = match order.session {
        None => {
            let (prompt, agent, template) = (order.prompt, order.agent, order.template);
            let config = order.config;
            let launch = Launch { prompt, name, agent, config, template, ..Launch::default() };
            engine::prepare_launch(&context, &ledger, launch)?
        }
        Some(id) => {
            let session = ledger.session(id)?;
            let session = session.ok_or(heirloom_ledger::Error::NoSession { id })?;
            let request = Continue {
                session,
                prompt: order.prompt,
                name,
                overrides: order.config,
                fork: order.fork,
                same_conversation: false,
                at: order.at,
            };
            engine::prepare_continue(&context, &mut ledger, request)?
        }
    };
    Ok(engine::run(&context, &mut ledger, prepared, first)?.session.id)
}
