//! Reads a pipe to its end, or to the end of what matters.
//!
//! A pipe ends when its last writer closes it. That is usually the agent's end; but a descendant
//! that keeps the pipe open may live for ever. So once the agent has exited, what is in the pipe
//! is still read, and then we wait only as long as something keeps coming, and for no more than a
//! pipe can have held.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::group::Group;

/// How long a pipe may be silent after the agent's exit.
const QUIET: Duration = Duration::from_millis(500);

/// How much may come after the agent's exit: what the largest pipe holds.
const LEFTOVER: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Drain {
    from: File,
    exit: PipeReader,
    group: Arc<Group>,
    exited: bool,
    leftover: usize,
    killed: bool,
}

impl Drain {
    pub(super) fn new(from: OwnedFd, exit: PipeReader, group: Arc<Group>) -> Self {
        let from = File::from(from);
        Self { from, exit, group, exited: false, leftover: LEFTOVER, killed: false }
    }

    /// Waits until there is something to read, or the pipe's end; `false` when there is no point
    /// in waiting any longer.
    fn is_readable(&mut self) -> io::Result<bool> {
        if !self.exited {
            let mut fds =
                [PollFd::new(&self.from, PollFlags::IN), PollFd::new(&self.exit, PollFlags::IN)];
            wait(&mut fds, None)?;
            let readable = !fds[0].revents().is_empty();
            self.exited = !fds[1].revents().is_empty();
            if readable || !self.exited {
                return Ok(true);
            }
        }
        let quiet = Timespec::try_from(QUIET).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(&self.from, PollFlags::IN)];
        Ok(self.leftover > 0 && wait(&mut fds, Some(&quiet))? > 0)
    }
}

impl Read for Drain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_readable()? {
            if self.killed {
                return Ok(0);
            }
            // Somebody else holds the pipe, or floods it. Without them it ends.
            self.group.kill_group();
            self.killed = true;
            self.leftover = LEFTOVER;
            return self.read(buffer);
        }
        let count = self.from.read(buffer)?;
        if self.exited {
            self.leftover = self.leftover.saturating_sub(count);
        }
        Ok(count)
    }
}

fn wait(fds: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> io::Result<usize> {
    loop {
        match poll(fds, timeout) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}
