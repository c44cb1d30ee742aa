//! How often somebody asked a run to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often somebody asked: once finishes the iteration, twice stops the agent, three times kills
/// it.
#[derive(Debug, Clone, Default)]
pub struct Stopping(Arc<AtomicU32>);

impl Stopping {
    /// Nobody asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks once more.
    pub fn ask(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// How often somebody asked.
    pub fn asked(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits, unless somebody asks in the meantime. Returns whether it waited to the end.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        const STEP: Duration = Duration::from_millis(50);
        let end = Instant::now() + time;
        while self.asked() == 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(STEP));
        }
        false
    }
}
