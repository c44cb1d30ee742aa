//! The brake: a limit of the account holds for all agents, so all of them wait for it together.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::Stopping;

const STEP: Duration = Duration::from_millis(50);

/// Until when nothing is launched.
#[derive(Debug, Default)]
pub(super) struct Brake(Mutex<Option<Instant>>);

impl Brake {
    /// Holds everything for `time`. Returns whether that is news: a pause that others are already
    /// in is only told once.
    pub(super) fn hold(&self, time: Duration) -> bool {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = until.is_none_or(|until| until <= Instant::now());
        let end = Instant::now() + time;
        *until = Some(until.map_or(end, |until| until.max(end)));
        is_news
    }

    /// Waits until nothing holds any more. Returns whether nobody asked to stop in the meantime.
    pub(super) fn wait(&self, stopping: &Stopping) -> bool {
        loop {
            if stopping.asked() > 0 {
                return false;
            }
            let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            match left.filter(|left| !left.is_zero()) {
                None => return true,
                Some(left) => thread::sleep(left.min(STEP)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_news_once_and_everybody_waits_for_its_end() {
        let brake = Brake::default();
        let stopping = Stopping::new();
        assert!(brake.wait(&stopping));
        assert!(brake.hold(Duration::from_millis(80)));
        assert!(!brake.hold(Duration::from_millis(10)));
        let began = Instant::now();
        assert!(brake.wait(&stopping));
        assert!(began.elapsed() >= Duration::from_millis(50));
        assert!(brake.hold(Duration::from_mins(1)));
        stopping.ask();
        assert!(!brake.wait(&stopping));
    }
}
