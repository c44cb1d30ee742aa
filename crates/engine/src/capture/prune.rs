//! Letting go of text that was kept long enough, or of the oldest where there is too much.
//!
//! To find out what that is all that is kept has to be looked at, so it is remembered what was found: how much there
//! was, and when the oldest was from. Until one of them can be due, nothing is looked at.

use std::time::Duration;

use heirloom_ledger::Facts;
use jiff::{SignedDuration, Timestamp};

use super::{Archive, CaptureError, PATIENCE};
use crate::here::Here;

/// What is remembered: when it was looked at, the oldest in seconds, and the bytes there may be by now.
const REMEMBERED: &str = "archive";

/// After this long it is looked at again, whatever is remembered.
const AGAIN: i64 = 24 * 60 * 60;

/// How long text is kept, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keeping {
    pub long: Duration,
    /// In bytes.
    pub most: u64,
}

/// Lets go what was kept long enough. `grown` is by how much there may be more than the last time. Returns how many
/// texts went.
pub fn prune(here: &Here, keeping: Keeping, grown: u64) -> Result<usize, CaptureError> {
    let facts = Facts::open(&here.home, PATIENCE)?;
    let now = here.clock.now();
    let long = i64::try_from(keeping.long.as_secs()).unwrap_or(i64::MAX);
    let before = now.checked_sub(SignedDuration::from_secs(long)).unwrap_or(Timestamp::MIN);
    let remembered = facts.noted(REMEMBERED)?.and_then(|text| Remembered::parse(&text));
    if let Some(known) = remembered.filter(|known| !known.is_due(now, before, keeping.most, grown))
    {
        if grown > 0 {
            let total = known.total + grown;
            facts.note(REMEMBERED, &Remembered { total, ..known }.to_string())?;
        }
        return Ok(0);
    }
    let pruned = Archive::new(&here.home).prune(before, keeping.most)?;
    let remembered = Remembered {
        looked_at: now.as_second(),
        oldest: pruned.oldest.map_or(i64::MAX, Timestamp::as_second),
        total: pruned.total,
    };
    facts.note(REMEMBERED, &remembered.to_string())?;
    Ok(pruned.gone)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Remembered {
    looked_at: i64,
    oldest: i64,
    total: u64,
}

impl Remembered {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        Some(Self {
            looked_at: parts.next()?.parse().ok()?,
            oldest: parts.next()?.parse().ok()?,
            total: parts.next()?.parse().ok()?,
        })
    }

    /// Whether something may have to go by now.
    fn is_due(self, now: Timestamp, before: Timestamp, most: u64, grown: u64) -> bool {
        let since = now.as_second() - self.looked_at;
        self.oldest <= before.as_second()
            || self.total.saturating_add(grown) > most
            || !(0..AGAIN).contains(&since)
    }
}

impl std::fmt::Display for Remembered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.looked_at, self.oldest, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_looked_at_before_something_can_be_due() {
        let second = |at: i64| Timestamp::from_second(at).unwrap();
        let known = Remembered { looked_at: 1000, oldest: 500, total: 60 };
        assert_eq!(Remembered::parse(&known.to_string()), Some(known));
        let is_due = |now, before, grown| known.is_due(second(now), second(before), 100, grown);
        assert!(!is_due(1001, 499, 40));
        assert!(is_due(1001, 500, 40), "the oldest was kept long enough");
        assert!(is_due(1001, 499, 41), "there may be too much");
        assert!(is_due(1000 + AGAIN, 499, 0), "it is long ago");
        assert!(is_due(999, 499, 0), "the clock was set back");
    }
}
