//! An agent's process, from its start to its end.
//!
//! Each agent runs in a process group of its own. A thread reads its stdout line by line and
//! hands the lines over through a short queue: when nobody takes them, the agent waits, and
//! memory stays flat. The stream is read to its end before the process is reaped, so that
//! whatever an agent prints last is not lost, and a descendant that keeps the pipe open does not
//! hold us up.
//!
//! The invariant: when [`Process::finish`] returns, or a [`Process`] is dropped, nothing of the
//! agent's process group is left.

mod drain;
mod group;
mod lines;
pub mod orphan;
mod starving;
mod stderr;
pub(crate) mod strays;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use heirloom_repo::child;

use self::drain::Drain;
use self::group::Group;
pub use self::group::{Patience, Stopper};
use self::lines::Lines;
pub use self::lines::MAX_LINE;
pub use self::orphan::end_orphan;
use self::stderr::{Retries, Tail};
use self::strays::Mark;
use crate::agent::Agent;
use crate::event::{Event, Line};
use crate::launch::{CommandLine, Input, ScratchFile};
use crate::lock::{LockError, SessionLock};
use crate::outcome::{End, Exit, Outcome, Stop};
use crate::tally::Tally;

/// Where things go while an agent runs. The default keeps nothing and locks nothing.
#[derive(Default)]
pub struct Taps {
    /// Gets every byte of its stdout, as it comes.
    pub events: Option<Box<dyn Write + Send>>,
    /// Gets every byte of its stderr.
    pub stderr: Option<Box<dyn Write + Send>>,
    /// Where the locks of the conversations are.
    pub locks: Option<PathBuf>,
}

impl std::fmt::Debug for Taps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Taps").field("locks", &self.locks).finish_non_exhaustive()
    }
}

/// Why an agent did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// Its conversation is in use, or the lock failed.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no such directory.
    #[error("{} is not a directory the agent could work in", cwd.display())]
    Cwd { cwd: PathBuf },
    /// The system refused.
    #[error("cannot start {}", program.display())]
    Start {
        program: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// How long an agent gets that writes where another one does.
const AT_ONCE: Patience = Patience { interrupt: Duration::ZERO, terminate: Duration::from_secs(2) };

/// A running agent.
#[derive(Debug)]
pub struct Process {
    agent: &'static dyn Agent,
    stopper: Stopper,
    batches: Option<Receiver<Vec<Line>>>,
    ready: VecDeque<Line>,
    tally: Tally,
    waiter: Option<JoinHandle<Option<io::Error>>>,
    tail: Arc<Tail>,
    retries: Arc<Retries>,
    asked_for: Option<String>,
    expected_id: Option<String>,
    mark: Mark,
    locks: Option<PathBuf>,
    lock: Option<SessionLock>,
    /// What becomes of it because another process writes to its conversation.
    in_use: Option<Outcome>,
    // Removed when the process is gone.
    _files: Vec<ScratchFile>,
}

/// How it ended, with all there is to say about it.
#[derive(Debug)]
pub struct Finished {
    /// What it comes to.
    pub outcome: Outcome,
    /// What the stream said.
    pub tally: Tally,
    /// How the process exited.
    pub exit: Exit,
    /// The end of its stderr.
    pub stderr: String,
    /// The hardest stop that was asked for.
    pub stopped: Option<Stop>,
    /// Why the stream could not be kept in full. Never stops an agent.
    pub recording: Option<io::Error>,
}

impl Process {
    /// Starts `line`, which `agent` made.
    pub fn spawn(
        agent: &'static dyn Agent,
        line: CommandLine,
        taps: Taps,
    ) -> Result<Self, SpawnError> {
        if !line.cwd.is_dir() {
            return Err(SpawnError::Cwd { cwd: line.cwd });
        }
        let mark = Mark::new(&line.env);
        let lock = match (&taps.locks, &line.expected_id) {
            (Some(dir), Some(id)) => Some(lock(dir, agent, id, &mark)?),
            _ => None,
        };
        let mut process = start(agent, line, taps, mark)?;
        process.lock = lock;
        process.name_holder();
        Ok(process)
    }

    /// The agent's process id, which is also its group's.
    pub fn pid(&self) -> u32 {
        self.stopper.pid()
    }

    /// Stops it, from any thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Writes to its stdin, where that stays open ([`crate::Dialogue`] makes the bytes).
    pub fn say(&self, bytes: Vec<u8>) {
        self.stopper.say(bytes);
    }

    /// Ends its stdin.
    pub fn hang_up(&self) {
        self.stopper.hang_up();
    }

    /// Whether it does nothing but wait for more on its stdin. Not known everywhere: `false` then.
    pub fn is_starving(&self) -> bool {
        starving::is_starving(self.pid())
    }

    /// Whether it turned up in a conversation that another process writes to, and is being stopped.
    pub const fn is_in_use(&self) -> bool {
        self.in_use.is_some()
    }

    /// What the stream said so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The next line; `None` when there will be no more.
    pub fn next_line(&mut self) -> Option<Line> {
        while self.ready.is_empty() {
            self.ready.extend(self.batches.as_ref()?.recv().ok()?);
        }
        self.take_ready()
    }

    /// The next line, if one comes in time.
    pub fn next_line_within(&mut self, patience: Duration) -> Next {
        if let Some(retry) = self.retries.next() {
            return Next::Retry(retry);
        }
        if self.ready.is_empty() {
            let Some(batches) = &self.batches else { return Next::End };
            match batches.recv_timeout(patience) {
                Ok(batch) => self.ready.extend(batch),
                Err(RecvTimeoutError::Timeout) => return Next::Silence,
                Err(RecvTimeoutError::Disconnected) => return Next::End,
            }
        }
        self.take_ready().map_or(Next::Silence, Next::Line)
    }

    /// Reads what is left, waits for the end and says how it was.
    pub fn finish(mut self) -> Finished {
        while self.next_line().is_some() {}
        let recording = self.join();
        let (exit, stopped) = self.stopper.end();
        let stderr = self.tail.text();
        let tally = std::mem::take(&mut self.tally);
        let outcome = self.in_use.take().unwrap_or_else(|| {
            self.agent.classify(&End {
                tally: &tally,
                exit,
                stderr: &stderr,
                stopped,
                asked_for: self.asked_for.as_deref(),
                expected_id: self.expected_id.as_deref(),
            })
        });
        Finished { outcome, tally, exit, stderr, stopped, recording }
    }

    fn take_ready(&mut self) -> Option<Line> {
        let line = self.ready.pop_front()?;
        self.tally.fold(&line.parsed);
        for event in &line.parsed.events {
            if let Event::Started { agent_session_id, .. } | Event::Renamed { agent_session_id } =
                event
            {
                self.hold(agent_session_id);
            }
        }
        Some(line)
    }

    /// Locks a conversation whose id was not known before. If another process writes to it, this
    /// agent must not: it is stopped at once.
    fn hold(&mut self, id: &str) {
        let is_held = self.lock.as_ref().is_some_and(|lock| lock.agent_session_id() == id);
        let Some(dir) = self.locks.as_ref().filter(|_| !is_held && self.in_use.is_none()) else {
            return;
        };
        match lock(dir, self.agent, id, &self.mark) {
            Ok(lock) => {
                self.lock = Some(lock);
                self.name_holder();
            }
            Err(error @ LockError::Held { .. }) => {
                let (id, message) = (id.to_owned(), error.to_string());
                self.in_use = Some(Outcome::SessionInUse { id, message });
                let stopper = self.stopper.clone();
                thread::spawn(move || stopper.stop(AT_ONCE));
            }
            // A lock that cannot be had protects nobody, and helps nobody either.
            Err(LockError::Io { .. }) => {}
        }
    }

    fn name_holder(&mut self) {
        let pid = self.pid();
        if let Some(lock) = &mut self.lock {
            // The lock itself is what counts; the name only helps after a crash of ours.
            let _ = lock.names_agent(pid);
        }
    }

    fn join(&mut self) -> Option<io::Error> {
        self.batches = None;
        self.waiter.take().and_then(|waiter| waiter.join().ok()).flatten()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.waiter.is_some() {
            self.stopper.kill();
            self.join();
        }
    }
}

/// What comes next from an agent.
#[derive(Debug)]
pub enum Next {
    Line(Line),
    /// What it says beside its stream: a request to the model is made again.
    Retry(Event),
    /// Nothing so far.
    Silence,
    /// Nothing ever again.
    End,
}

/// Starts the program, and the threads that look after it.
fn start(
    agent: &'static dyn Agent,
    line: CommandLine,
    taps: Taps,
    mark: Mark,
) -> Result<Process, SpawnError> {
    let failed = |source| SpawnError::Start { program: line.program.clone(), source };
    // Closed by the agent's exit, which both readers of its pipes must see.
    let (exit_seen, exit) = io::pipe().map_err(failed)?;
    let exit_seen = [exit_seen.try_clone().map_err(failed)?, exit_seen];
    let mut child = command(&line, &mark).spawn().map_err(failed)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(failed(io::Error::other("no standard streams")));
    };
    let group = Arc::new(Group::new(child, mark.clone()));
    let say = write_stdin(stdin, line.stdin, line.input);
    let stopper = Stopper::new(Arc::clone(&group), agent.interrupt(line.input), say);

    let [stdout_exit, stderr_exit] = exit_seen;
    let stdout = Drain::new(stdout.into(), stdout_exit, Arc::clone(&group));
    let stderr = Drain::new(stderr.into(), stderr_exit, Arc::clone(&group));
    let (batches, lines) = mpsc::sync_channel(lines::QUEUE);
    let reading = Lines::new(stdout, agent.reader(), taps.events);
    let reading = thread::spawn(move || reading.run(&batches));
    let tail = Arc::new(Tail::default());
    let retries = Arc::new(Retries::default());
    let noting = stderr::note(agent, stderr, taps.stderr, (&tail, &retries));
    let waiter = thread::spawn(move || {
        group.wait_for_exit();
        drop(exit);
        let recording = reading.join().ok().flatten();
        let _ = noting.join();
        group.reap();
        recording
    });
    Ok(Process {
        agent,
        stopper,
        batches: Some(lines),
        ready: VecDeque::new(),
        tally: Tally::default(),
        waiter: Some(waiter),
        tail,
        retries,
        asked_for: line.asked_for,
        expected_id: line.expected_id,
        mark,
        locks: taps.locks,
        lock: None,
        in_use: None,
        _files: line.files,
    })
}

/// Locks a conversation for an agent with that mark. An agent that outlives us is known by it from
/// its first moment on.
fn lock(
    dir: &Path,
    agent: &'static dyn Agent,
    id: &str,
    mark: &Mark,
) -> Result<SessionLock, LockError> {
    let mut lock = SessionLock::acquire(dir, agent.name(), id)?;
    // The lock itself is what counts; the mark only helps after a crash of ours.
    let _ = lock.names_mark(mark.own());
    Ok(lock)
}

fn command(line: &CommandLine, mark: &Mark) -> Command {
    let mut command = child::leader(&line.program, &line.env);
    command
        .args(&line.args)
        .env(strays::VARIABLE, mark.value())
        .current_dir(&line.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Writes to the agent from a thread of its own: an agent that does not read must not hold us up.
/// `None` ends the stdin.
fn write_stdin(mut stdin: ChildStdin, first: Vec<u8>, input: Input) -> Sender<Option<Vec<u8>>> {
    let (say, said) = mpsc::channel::<Option<Vec<u8>>>();
    thread::spawn(move || {
        // An agent that closes its stdin, or dies, has heard enough.
        if stdin.write_all(&first).is_err() || input == Input::Once {
            return;
        }
        while let Ok(Some(bytes)) = said.recv() {
            if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    say
}
