//! Waiting out a rate limit or an overload.
//!
//! A wait is no failure and costs no iteration. Where the agent said when the limit is lifted, that
//! is when; otherwise waits double up to a bound. Many engines on one account must not all come
//! back in the same second, so each wait is spread by a number that comes in from outside.

use std::time::Duration;

use jiff::Timestamp;

const FIRST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_mins(5);
/// The longest that is waited for a limit whose end is known; a weekly limit is a person's to decide.
const LONGEST_KNOWN: Duration = Duration::from_hours(24);
/// How often in a row a limit of unknown end is waited out: about an hour in all.
const MOST_ATTEMPTS: u32 = 16;

/// What to do about a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Try again after this time.
    For(Duration),
    /// It would take too long: stop, to be resumed later.
    GiveUp,
}

/// How long to wait after `attempt` limited launches in a row, the first being 1.
///
/// `until` is when the limit is lifted, as far as the agent said. `seed` spreads the waits; the
/// same seed gives the same wait.
pub fn wait(attempt: u32, until: Option<Timestamp>, now: Timestamp, seed: u64) -> Wait {
    if let Some(until) = until.filter(|until| *until > now) {
        let known = Duration::try_from(until.duration_since(now)).unwrap_or_default();
        if known > LONGEST_KNOWN {
            return Wait::GiveUp;
        }
        return Wait::For(known + spread(FIRST, attempt, seed));
    }
    if attempt > MOST_ATTEMPTS {
        return Wait::GiveUp;
    }
    let doubled = FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(LONGEST);
    Wait::For(doubled / 2 + spread(doubled / 2, attempt, seed))
}

/// A part of `range`, chosen by `seed` and `attempt`.
fn spread(range: Duration, attempt: u32, seed: u64) -> Duration {
    let thousandths = u32::try_from(mix(seed ^ u64::from(attempt)) % 1000).unwrap_or(0);
    range * thousandths / 1000
}

/// The finaliser of `SplitMix64`: near seeds give far numbers.
const fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(wait: Wait) -> u64 {
        match wait {
            Wait::For(time) => time.as_secs(),
            Wait::GiveUp => u64::MAX,
        }
    }

    #[test]
    fn a_limit_with_a_known_end_is_waited_out_to_just_after_it() {
        let now = Timestamp::UNIX_EPOCH;
        let until = Timestamp::from_second(600).unwrap();
        assert!((600..606).contains(&seconds(wait(1, Some(until), now, 7))));
        let next_week = Timestamp::from_second(7 * 24 * 3600).unwrap();
        assert_eq!(wait(1, Some(next_week), now, 7), Wait::GiveUp);
        // An end that is past says nothing: the ordinary waits apply.
        assert!(seconds(wait(1, Some(now), until, 7)) <= 5);
    }

    #[test]
    fn a_limit_of_unknown_end_is_given_up_at_last() {
        let now = Timestamp::UNIX_EPOCH;
        assert_ne!(wait(MOST_ATTEMPTS, None, now, 1), Wait::GiveUp);
        assert_eq!(wait(MOST_ATTEMPTS + 1, None, now, 1), Wait::GiveUp);
    }

    proptest! {
        #[test]
        fn waits_are_bounded_and_the_same_for_the_same_seed(attempt in 1u32..17, seed: u64) {
            let once = wait(attempt, None, Timestamp::UNIX_EPOCH, seed);
            prop_assert_eq!(once, wait(attempt, None, Timestamp::UNIX_EPOCH, seed));
            let Wait::For(time) = once else { panic!("given up at {attempt}") };
            let whole = (5u64 << (attempt - 1)).min(300);
            prop_assert!(time >= Duration::from_secs(whole) / 2 && time <= Duration::from_secs(whole));
        }
    }
}
