//! Signals that ask to stop, and the exit code that belongs to each.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use heirloom_engine::run::Stopping;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::{Code, FAILED, Failure, INTERRUPTED};

/// How long agents have after a SIGTERM until they are killed: whoever sent it waits only so long.
const GRACE: Duration = Duration::from_secs(3);

/// The last signal that asked to stop.
#[derive(Debug, Clone, Default)]
pub(super) struct StopSignal(Arc<AtomicI32>);

impl StopSignal {
    /// The usual exit code of a program that such a signal ended. `interrupt` and `continue` ask
    /// without a signal, and mean what Ctrl-C does.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self.0.load(Ordering::SeqCst) {
            0 => ExitCode::from(INTERRUPTED),
            signal => ExitCode::from(u8::try_from(128 + signal).unwrap_or(FAILED)),
        }
    }
}

/// Counts the signals that ask to stop. SIGTERM does not ask twice: it stops agents now.
pub(super) fn listen(stopping: &Stopping) -> Result<StopSignal, Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::from_error(Code::Environment, &error))?;
    let (stopping, last) = (stopping.clone(), StopSignal::default());
    let noted = last.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            noted.0.store(signal, Ordering::SeqCst);
            stopping.ask();
            if signal == SIGTERM {
                stopping.ask();
                let stopping = stopping.clone();
                thread::spawn(move || {
                    thread::sleep(GRACE);
                    stopping.ask();
                });
            }
        }
    });
    Ok(last)
}
