//! The terminal that a person sits at, taken as a whole and given back as it was.
//!
//! It is the terminal itself and not stdout, so that what is chosen can be printed to a pipe. What is drawn
//! goes through the printer, like everything else.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGTERM};

use crate::printer;

/// After so long without more of it, an escape is the key and not the beginning of another.
const ALONE: Duration = Duration::from_millis(40);
/// How often the size is looked at while nobody types.
const LOOK: Duration = Duration::from_millis(250);

/// A key that was pressed, or a terminal that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Escape,
    Back,
    /// Takes back all that was typed.
    Clear,
    Up,
    Down,
    PageUp,
    PageDown,
    /// Nothing that means something here, or another size.
    Other,
    /// The terminal is gone, or somebody wants this to end.
    Gone,
}

/// The whole screen. Dropping it gives the terminal back.
#[derive(Debug)]
pub(crate) struct Screen {
    tty: File,
    before: Termios,
    size: (usize, usize),
    has_colours: bool,
    /// The signal that asked to end; 0 for none.
    asked: Arc<AtomicUsize>,
    heard: Vec<SigId>,
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn open() -> io::Result<Self> {
        let mut tty =
            heirloom_repo::file::open_with(OpenOptions::new().read(true).write(true), "/dev/tty")?;
        let before = tcgetattr(&tty)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&tty, OptionalActions::Flush, &raw)?;
        // Another screen, without wrapping: a line that is too wide is cut, not broken.
        let taken = tty.write_all(b"\x1b[?1049h\x1b[?7l");
        let has_colours = !matches!(AutoStream::choice(&tty), ColorChoice::Never);
        let asked = Arc::new(AtomicUsize::new(0));
        let mut screen =
            Self { tty, before, size: (80, 24), has_colours, asked, heard: Vec::new() };
        taken?;
        // Without a word of ours the terminal would be left as it is now.
        for signal in [SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or(0);
            let asked = Arc::clone(&screen.asked);
            screen.heard.push(signal_hook::flag::register_usize(signal, asked, number)?);
        }
        screen.look();
        Ok(screen)
    }

    /// Columns and lines.
    pub(crate) fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Looks how large the terminal is. Returns whether that changed.
    fn look(&mut self) -> bool {
        let found = tcgetwinsize(&self.tty).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        let size = found.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()));
        let changed = size != self.size;
        self.size = size;
        changed
    }

    /// Draws lines, and puts the cursor behind `column` characters of the first.
    pub(crate) fn draw(&mut self, lines: &[String], column: usize) -> io::Result<()> {
        let mut text = String::from("\x1b[H");
        for (place, line) in lines.iter().take(self.size.1).enumerate() {
            if place > 0 {
                text.push_str("\r\n");
            }
            text.push_str("\x1b[2K");
            let shown = printer::shown(line);
            if self.has_colours {
                text.push_str(&shown);
            } else {
                let _ = write!(text, "{}", strip_str(&shown));
            }
        }
        text.push_str("\x1b[J");
        let _ = write!(text, "\x1b[1;{}H", column + 1);
        self.tty.write_all(text.as_bytes())?;
        self.tty.flush()
    }

    fn waits(&self, time: Duration) -> bool {
        let mut polled = [PollFd::new(&self.tty, PollFlags::IN)];
        let time = Timespec::try_from(time).ok();
        poll(&mut polled, time.as_ref()).is_ok_and(|count| count > 0)
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.tty.read_exact(&mut byte).ok().map(|()| byte[0])
    }

    /// Waits for a key.
    pub(crate) fn key(&mut self) -> Key {
        while !self.waits(LOOK) {
            if self.asked.load(Ordering::SeqCst) > 0 {
                return Key::Gone;
            }
            if self.look() {
                return Key::Other;
            }
        }
        match self.byte() {
            None => Key::Gone,
            Some(b'\r' | b'\n') => Key::Enter,
            Some(0x03 | 0x04 | 0x07) => Key::Escape,
            Some(0x7f | 0x08) => Key::Back,
            Some(0x15 | 0x17) => Key::Clear,
            Some(0x10 | 0x0b) => Key::Up,
            Some(0x0e) => Key::Down,
            Some(0x1b) => self.escape(),
            Some(byte) if byte < 0x20 => Key::Other,
            Some(byte) => self.char(byte),
        }
    }

    fn escape(&mut self) -> Key {
        if !self.waits(ALONE) {
            return Key::Escape;
        }
        if !matches!(self.byte(), Some(b'[' | b'O')) {
            return Key::Other;
        }
        let mut number = 0;
        loop {
            match self.byte() {
                Some(digit @ b'0'..=b'9') => number = u32::from(digit - b'0'),
                Some(b';') => {}
                Some(b'A') => return Key::Up,
                Some(b'B') => return Key::Down,
                Some(b'~') if number == 5 => return Key::PageUp,
                Some(b'~') if number == 6 => return Key::PageDown,
                None => return Key::Gone,
                Some(_) => return Key::Other,
            }
        }
    }

    /// The character that begins with a byte.
    fn char(&mut self, first: u8) -> Key {
        let more = match first {
            0xc0..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf7 => 3,
            _ => 0,
        };
        let mut bytes = vec![first];
        for _ in 0..more {
            bytes.extend(self.byte());
        }
        let text = String::from_utf8(bytes).ok();
        text.and_then(|text| text.chars().next()).map_or(Key::Other, Key::Char)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nobody is left to tell when it is gone.
        let _ = self.tty.write_all(b"\x1b[?7h\x1b[?1049l");
        let _ = tcsetattr(&self.tty, OptionalActions::Flush, &self.before);
        for id in self.heard.drain(..) {
            signal_hook::low_level::unregister(id);
        }
        let asked = i32::try_from(self.asked.load(Ordering::SeqCst)).unwrap_or(0);
        if asked > 0 {
            // Now it may end as it would have.
            let _ = signal_hook::low_level::emulate_default_handler(asked);
        }
    }
}
