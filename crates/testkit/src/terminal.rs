//! A pseudo-terminal, for what a command does when a person sits in front of it.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// A command on a terminal of its own.
pub struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Screen>,
    /// How much of the screen was already waited for.
    seen: usize,
}

#[derive(Default)]
struct Screen {
    shown: Mutex<Shown>,
    changed: Condvar,
}

#[derive(Default)]
struct Shown {
    bytes: Vec<u8>,
    ended: bool,
}

impl Shown {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).replace("\r\n", "\n")
    }
}

impl Terminal {
    /// Starts `command`, with a terminal as its streams and as the one that its signals come from.
    ///
    /// Its program must be `setsid --ctty`, with the actual one as its argument: only a process can
    /// say of itself which terminal controls it.
    pub fn start(command: Command) -> Self {
        Self::of_width(command, 80)
    }

    /// The same, on a terminal of so many columns and 24 lines.
    pub fn of_width(mut command: Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&master).expect("a terminal of our own");
        unlockpt(&master).expect("an unlocked one");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let no_control = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).expect("a small flag");
        let slave = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(no_control)
            .open(name.to_str().expect("a plain name"))
            .expect("the other end");
        let end = || Stdio::from(slave.try_clone().expect("one more descriptor"));
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("setsid");
        let keys = File::from(master);
        let screen = Arc::new(Screen::default());
        let (shown, mut output) = (Arc::clone(&screen), keys.try_clone().expect("a descriptor"));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The other end is gone when reading fails.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                shown.add(&bytes[..count]);
            }
            shown.end();
        });
        Self { child, keys, screen, seen: 0 }
    }

    /// Waits until the screen shows `text`, behind everything that was waited for before.
    #[track_caller]
    pub fn sees(&mut self, text: &str) {
        let seen = self.seen;
        let shown = self.screen.wait(|shown| shown.text()[seen..].contains(text));
        match shown[seen..].find(text) {
            Some(at) => self.seen += at + text.len(),
            None => panic!("`{text}` never came:\n{}", &shown[seen..]),
        }
    }

    pub fn types(&mut self, line: &str) {
        self.presses(format!("{line}\n").as_bytes());
    }

    /// Presses keys; control and C is `\x03`.
    pub fn presses(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).expect("a terminal that listens");
    }

    /// Whether it is as a shell wants it: lines are edited and shown as they are typed.
    pub fn is_as_before(&self) -> bool {
        let modes = tcgetattr(&self.keys).expect("a terminal").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Waits until it is so.
    pub fn waits_to_be_as_before(&self) {
        let begun = std::time::Instant::now();
        while !self.is_as_before() {
            assert!(begun.elapsed() < PATIENCE, "the terminal was not given back");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The process behind it.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end. Returns the exit status, -1 if a signal ended it, and all that was shown.
    pub fn ends(mut self) -> (i32, String) {
        let status = self.child.wait().expect("a child");
        (status.code().unwrap_or(-1), self.screen.wait(|_| false))
    }
}

impl Screen {
    /// What is shown once `is_enough` says so, or there is no more to come.
    fn wait(&self, is_enough: impl Fn(&Shown) -> bool) -> String {
        let shown = self.lock();
        let waited = self
            .changed
            .wait_timeout_while(shown, PATIENCE, |shown| !is_enough(shown) && !shown.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.text()
    }

    fn add(&self, bytes: &[u8]) {
        self.lock().bytes.extend_from_slice(bytes);
        self.changed.notify_all();
    }

    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("pid", &self.child.id()).finish_non_exhaustive()
    }
}
