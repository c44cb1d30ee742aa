//! What a turn needs of the machine: processes to start, and time that passes.
//!
//! Behind a trait so that agents which hang, flood, die and lie, and clocks that run for hours, are
//! unit tests.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use heirloom_agents::process::{Finished, SpawnError};
use heirloom_agents::{Agent, CommandLine, Next, Patience, Process, Tally, Taps};

/// A machine.
pub trait System: fmt::Debug + Sync {
    /// Starts what `agent` made `line` for.
    fn spawn(
        &self,
        agent: &'static dyn Agent,
        line: CommandLine,
        taps: Taps,
    ) -> Result<Box<dyn AgentProcess>, SpawnError>;

    /// The time, for how long something took.
    fn now(&self) -> Instant;

    /// Lets time pass.
    fn sleep(&self, time: Duration);
}

/// An agent's process ([`Process`] is the real one).
pub trait AgentProcess {
    /// Its id, which is also its group's.
    fn pid(&self) -> u32;
    /// What it says next, if it says anything in time.
    fn next_within(&mut self, patience: Duration) -> Next;
    /// What it said so far.
    fn tally(&self) -> &Tally;
    /// Whether it does nothing but wait for more on its stdin.
    fn is_starving(&self) -> bool;
    /// Whether it turned up in a conversation that another process writes to.
    fn is_in_use(&self) -> bool;
    /// Writes to its stdin.
    fn say(&self, bytes: Vec<u8>);
    /// Ends its stdin.
    fn hang_up(&self);
    /// Asks it to stop, harder and harder. Does not wait.
    fn stop(&self, patience: Patience);
    /// Ends it.
    fn kill(&self);
    /// Reads what is left, waits for the end and says how it was.
    fn finish(self: Box<Self>) -> Finished;
}

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Real;

impl System for Real {
    fn spawn(
        &self,
        agent: &'static dyn Agent,
        line: CommandLine,
        taps: Taps,
    ) -> Result<Box<dyn AgentProcess>, SpawnError> {
        let spawned = Process::spawn(agent, line, taps);
        match &spawned {
            Ok(process) => {
                tracing::info!(agent = agent.name(), pid = process.pid(), "started an agent");
            }
            Err(error) => tracing::warn!(agent = agent.name(), %error, "cannot start an agent"),
        }
        Ok(Box::new(spawned?))
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}

impl AgentProcess for Process {
    fn pid(&self) -> u32 {
        Self::pid(self)
    }

    fn next_within(&mut self, patience: Duration) -> Next {
        self.next_line_within(patience)
    }

    fn tally(&self) -> &Tally {
        Self::tally(self)
    }

    fn is_starving(&self) -> bool {
        Self::is_starving(self)
    }

    fn is_in_use(&self) -> bool {
        Self::is_in_use(self)
    }

    fn say(&self, bytes: Vec<u8>) {
        Self::say(self, bytes);
    }

    fn hang_up(&self) {
        Self::hang_up(self);
    }

    fn stop(&self, patience: Patience) {
        let stopper = self.stopper();
        // Its stream is read on while it is being stopped, or it could not end.
        thread::spawn(move || stopper.stop(patience));
    }

    fn kill(&self) {
        self.stopper().kill();
    }

    fn finish(self: Box<Self>) -> Finished {
        Self::finish(*self)
    }
}
