//! The process group of an agent: signals to it, its end, and who may still send any.
//!
//! A process id is only safe to signal as long as its process has not been reaped, so reaping
//! and signalling share one lock.

use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use super::strays::Mark;
use crate::agent::Interrupt;
use crate::outcome::{Exit, Stop};

#[derive(Debug)]
pub(super) struct Group {
    pid: Option<Pid>,
    mark: Mark,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    child: Child,
    exited: bool,
    end: Option<Exit>,
    stopped: Option<Stop>,
}

impl Group {
    pub(super) fn new(child: Child, mark: Mark) -> Self {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let state = State { child, exited: false, end: None, stopped: None };
        Self { pid, mark, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the agent itself, and leaves it unreaped: its id stays its own.
    pub(super) fn wait_for_exit(&self) {
        if let Some(pid) = self.pid {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        }
        self.state().exited = true;
        self.changed.notify_all();
    }

    /// Ends whatever is left of the group, then reaps the agent. An agent that went by itself may
    /// have left something running on purpose, outside of its group; one that was stopped or
    /// killed has not.
    pub(super) fn reap(&self) {
        self.kill_group();
        let mut state = self.state();
        let exit = match state.child.wait() {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Exit::Code(code),
                (_, Some(signal)) => Exit::Signal(signal),
                _ => Exit::Unknown,
            },
            Err(_) => Exit::Unknown,
        };
        state.end = Some(exit);
        let by_itself = state.stopped.is_none() && matches!(exit, Exit::Code(_));
        drop(state);
        if !by_itself {
            self.mark.kill_strays();
        }
    }

    /// Kills the group, the agent included.
    pub(super) fn kill_group(&self) {
        self.signal(Signal::KILL, true);
    }

    fn signal(&self, signal: Signal, whole_group: bool) {
        let state = self.state();
        let (Some(pid), None) = (self.pid, state.end) else { return };
        // A group that is gone already is what we want.
        let _ =
            if whole_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
    }

    fn note(&self, stop: Stop) {
        let mut state = self.state();
        // What had already ended was not stopped by us.
        if !state.exited {
            state.stopped = state.stopped.max(Some(stop));
        }
    }
}

/// How long each step of a stop may take before the next one.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// After an interrupt.
    pub interrupt: Duration,
    /// After a SIGTERM.
    pub terminate: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { interrupt: Duration::from_secs(10), terminate: Duration::from_secs(5) }
    }
}

/// Stops an agent, from any thread. What it does to one that has ended is nothing.
#[derive(Debug, Clone)]
pub struct Stopper {
    group: Arc<Group>,
    interrupt: Interrupt,
    say: Sender<Option<Vec<u8>>>,
}

impl Stopper {
    pub(super) const fn new(
        group: Arc<Group>,
        interrupt: Interrupt,
        say: Sender<Option<Vec<u8>>>,
    ) -> Self {
        Self { group, interrupt, say }
    }

    /// Asks politely, in the agent's own way. The conversation can be resumed.
    pub fn interrupt(&self) {
        self.group.note(Stop::Interrupt);
        match &self.interrupt {
            Interrupt::Leader => self.group.signal(Signal::INT, false),
            Interrupt::Group => self.group.signal(Signal::INT, true),
            Interrupt::Message(bytes) => {
                self.say(bytes.clone());
                self.hang_up();
            }
        }
    }

    /// SIGTERM to the whole group.
    pub fn terminate(&self) {
        self.group.note(Stop::Terminate);
        self.group.signal(Signal::TERM, true);
    }

    /// SIGKILL to the whole group, and to whatever left it.
    pub fn kill(&self) {
        self.group.note(Stop::Kill);
        self.group.kill_group();
        self.group.mark.kill_strays();
    }

    /// Interrupts, and goes on to harder means as long as that does not help. Returns when the
    /// agent has ended.
    pub fn stop(&self, patience: Patience) {
        self.interrupt();
        if self.ends_within(patience.interrupt) {
            return;
        }
        self.terminate();
        if !self.ends_within(patience.terminate) {
            self.kill();
        }
    }

    /// Whether the agent ends in time.
    pub fn ends_within(&self, patience: Duration) -> bool {
        let state = self.group.state();
        let waited = self.group.changed.wait_timeout_while(state, patience, |state| !state.exited);
        waited.unwrap_or_else(PoisonError::into_inner).0.exited
    }

    /// The agent's process id.
    pub fn pid(&self) -> u32 {
        self.group.pid.map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Writes to the agent's stdin.
    pub fn say(&self, bytes: Vec<u8>) {
        // An agent that no longer listens is about to end.
        let _ = self.say.send(Some(bytes));
    }

    /// Ends the agent's stdin.
    pub fn hang_up(&self) {
        let _ = self.say.send(None);
    }

    pub(super) fn end(&self) -> (Exit, Option<Stop>) {
        let state = self.group.state();
        (state.end.unwrap_or(Exit::Unknown), state.stopped)
    }
}
