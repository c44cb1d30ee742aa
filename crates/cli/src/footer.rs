//! The lines at the bottom of a terminal that change while something runs; what stays goes above.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use crate::{layout, printer};

const TICK: Duration = Duration::from_millis(500);

/// The changing lines. In a pipe there are none.
#[derive(Debug)]
pub(crate) struct Footer {
    live: bool,
    /// How many lines stand below what stays.
    drawn: usize,
    /// Keeps what is typed off the screen while lines stand there.
    hush: Option<Hush>,
}

impl Footer {
    pub(crate) fn new(json: bool) -> Self {
        Self { live: !json && printer::is_terminal() && can_go_up(), drawn: 0, hush: None }
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
            if lines.is_empty() {
                self.hush = None;
            } else if self.hush.is_none() {
                self.hush = Hush::begin();
            }
            let width = width();
            for line in lines {
                // A line that wraps is two, and only one of them would be taken away.
                put(&format!("{}\n", clip(line, width)));
            }
        }
    }
}

/// A terminal that does not show what is typed. A line that somebody ends with Enter would move everything up by one,
/// and what is then erased is not what was drawn. Dropping it gives the terminal back.
#[derive(Debug)]
struct Hush {
    before: Termios,
}

impl Hush {
    /// Where there is no terminal, or it belongs to another program now, nothing is changed: whoever changes a terminal
    /// from the background is stopped for it.
    fn begin() -> Option<Self> {
        let stdin = std::io::stdin();
        let is_ours = tcgetpgrp(&stdin).ok()? == rustix::process::getpgrp();
        let before = tcgetattr(&stdin).ok().filter(|_| is_ours)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }
}

impl Drop for Hush {
    fn drop(&mut self) {
        let stdin = std::io::stdin();
        if tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp()) {
            let _ = tcsetattr(&stdin, OptionalActions::Now, &self.before);
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
        let _ = printer::out(&fitted(text, layout::width()));
    }
}

/// Says what is not the answer.
pub(crate) fn aside(lines: &str) {
    printer::err(&fitted(lines, layout::err_width()));
}

/// Whole lines, broken to fit; what follows stands below the words of its line, not below its mark.
fn fitted(lines: &str, room: Option<usize>) -> String {
    room.map_or_else(|| lines.to_owned(), |room| layout::wrap(lines, room, 4) + "\n")
}

/// As much of a line as a terminal of this width shows in one row. Styles take no room.
fn clip(line: &str, width: usize) -> String {
    let (mut out, mut taken, mut cut_at) = (String::with_capacity(line.len()), 0, None);
    let mut in_style = false;
    for c in line.chars() {
        if in_style || c == '\u{1b}' {
            in_style = c != 'm';
            out.push(c);
            continue;
        }
        taken += layout::character_breadth(c);
        // The last column is for the mark that there is more, if there is.
        if cut_at.is_none() && taken >= width {
            cut_at = Some(out.len());
        }
        if taken > width {
            out.truncate(cut_at.unwrap_or(0));
            out.push_str("…\u{1b}[0m");
            return out;
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_takes_more_than_a_row() {
        assert_eq!(clip("twelve chars", 12), "twelve chars");
        assert_eq!(clip("thirteen char", 12), "thirteen ch…\u{1b}[0m");
        assert_eq!(clip("\u{1b}[2mdim\u{1b}[0m", 3), "\u{1b}[2mdim\u{1b}[0m");
        assert_eq!(clip("\u{1b}[2mdimmer\u{1b}[0m", 3), "\u{1b}[2mdi…\u{1b}[0m");
        assert_eq!(clip("日本語", 6), "日本語");
        assert_eq!(clip("日本語", 5), "日本…\u{1b}[0m");
        assert_eq!(clip("x", 0), "…\u{1b}[0m");
    }
}
