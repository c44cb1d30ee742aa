//! The lines at the bottom of a terminal that change while something runs; what stays goes above.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::printer;

const TICK: Duration = Duration::from_millis(500);

/// The changing lines. In a pipe there are none.
#[derive(Debug)]
pub(crate) struct Footer {
    live: bool,
    /// How many lines stand below what stays.
    drawn: usize,
}

impl Footer {
    pub(crate) fn new(json: bool) -> Self {
        Self { live: !json && printer::is_terminal() && can_go_up(), drawn: 0 }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Takes the lines away, lets `above` write what stays, and draws `lines` below it.
    pub(crate) fn redraw(&mut self, above: impl FnOnce(), lines: &[String]) {
        if self.live && self.drawn > 0 {
            printer::erase(self.drawn);
        }
        self.drawn = 0;
        above();
        if self.live {
            self.drawn = lines.len();
            for line in lines {
                put(&format!("{line}\n"));
            }
        }
    }
}

/// Whether the cursor of the terminal can be moved.
fn can_go_up() -> bool {
    std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// How wide the terminal is.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

/// Calls `redraw` on what is shared twice a second, until it says that it is over.
pub(crate) fn keep_fresh<S: Send + 'static>(
    shared: &Arc<Mutex<S>>,
    mut redraw: impl FnMut(&mut S) -> bool + Send + 'static,
) {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        loop {
            thread::sleep(TICK);
            if redraw(&mut lock(&shared)) {
                return;
            }
        }
    });
}

/// What is shared, even if somebody panicked over it.
pub(crate) fn lock<S>(shared: &Mutex<S>) -> MutexGuard<'_, S> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes; nobody is left to tell when the reader is gone, and what runs goes on without one.
pub(crate) fn put(text: &str) {
    if !text.is_empty() {
        let _ = printer::out(text);
    }
}
