//! A limit of the account holds for all agents, so all of them wait for it together.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use heirloom_core::run::backoff::{self, Wait};
use jiff::Timestamp;

const STEP: Duration = Duration::from_millis(50);

/// Until when nothing is launched.
#[derive(Debug, Default)]
pub(super) struct RateLimiter(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    until: Option<Instant>,
    /// How many pauses in a row there were.
    pauses: u32,
}

/// What a limit leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// Everything waits; whether that is news, for how long.
    For { time: Duration, is_news: bool },
    /// It would take too long.
    GiveUp,
}

impl RateLimiter {
    /// Holds everything after an agent met a limit. Several that meet it at once meet one limit.
    /// `scaled` makes waits shorter, for tests.
    pub(super) fn limited(
        &self,
        lifted: Option<Timestamp>,
        now: Timestamp,
        scaled: impl Fn(Duration) -> Duration,
    ) -> Held {
        let mut state = self.state();
        let is_news = state.until.is_none_or(|until| until <= Instant::now());
        if is_news {
            state.pauses += 1;
        }
        let seed = u64::from(std::process::id());
        match backoff::wait(state.pauses, lifted, now, seed) {
            Wait::GiveUp => Held::GiveUp,
            Wait::For(time) => {
                let time = scaled(time);
                let end = Instant::now() + time;
                state.until = Some(state.until.map_or(end, |until| until.max(end)));
                Held::For { time, is_news }
            }
        }
    }

    /// An agent got through: the next limit is a new one.
    pub(super) fn ease(&self) {
        self.state().pauses = 0;
    }

    /// Whether everything waits now.
    pub(super) fn holds(&self) -> bool {
        self.left().is_some()
    }

    /// Waits until nothing holds any more, or `must_stop` says so.
    pub(super) fn wait(&self, must_stop: impl Fn() -> bool) {
        while let Some(left) = self.left() {
            if must_stop() {
                return;
            }
            thread::sleep(left.min(STEP));
        }
    }

    fn left(&self) -> Option<Duration> {
        let until = self.state().until?;
        Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn a_pause_is_news_once_and_everybody_waits_for_its_end() {
        let limiter = RateLimiter::default();
        assert!(!limiter.holds());
        let held = |ms| limiter.limited(None, NOW, move |_| Duration::from_millis(ms));
        assert!(matches!(held(80), Held::For { is_news: true, .. }));
        assert!(matches!(held(10), Held::For { is_news: false, .. }));
        assert!(limiter.holds());
        limiter.wait(|| false);
        assert!(!limiter.holds());
        held(60_000);
        limiter.wait(|| true);
        assert!(limiter.holds());
    }

    #[test]
    fn a_limit_that_is_never_lifted_is_given_up_and_one_that_was_is_forgotten() {
        let limiter = RateLimiter::default();
        let pauses = |limiter: &RateLimiter| {
            (1..100).find(|_| {
                let held = limiter.limited(None, NOW, |_| Duration::ZERO);
                held == Held::GiveUp
            })
        };
        let first = pauses(&limiter).unwrap();
        assert!(first > 10);
        limiter.ease();
        assert_eq!(pauses(&limiter), Some(first));
    }
}
