//! A stretch of time as people write it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};

const UNITS: [(&str, u64); 5] =
    [("w", 7 * 24 * 3600), ("d", 24 * 3600), ("h", 3600), ("m", 60), ("s", 1)];

/// A stretch of time: `90s`, `10m`, `1h30m`, `2d`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(Duration);

/// Why a text is no stretch of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// Nothing there.
    #[error("a duration cannot be empty")]
    Empty,
    /// Something else than a number where a number is due.
    #[error("`{text}` is not a duration")]
    NotANumber {
        /// The whole text.
        text: String,
    },
    /// A unit that there is not.
    #[error("`{unit}` is not a unit of time (`s`, `m`, `h`, `d` or `w`)")]
    Unit {
        /// The unit.
        unit: String,
    },
    /// Longer than can be counted.
    #[error("`{text}` is too long")]
    TooLong {
        /// The whole text.
        text: String,
    },
}

impl Period {
    /// So many seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// As the standard library has it.
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// Whole seconds.
    pub const fn as_secs(self) -> u64 {
        self.0.as_secs()
    }
}

impl FromStr for Period {
    type Err = PeriodError;

    fn from_str(text: &str) -> Result<Self, PeriodError> {
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(PeriodError::Empty);
        }
        let mut total = 0_u64;
        while !rest.is_empty() {
            let (seconds, after) = part(rest, text)?;
            total = total
                .checked_add(seconds)
                .ok_or_else(|| PeriodError::TooLong { text: text.to_owned() })?;
            rest = after.trim_start();
        }
        Ok(Self::from_secs(total))
    }
}

/// The first `<number><unit>`, in seconds, and what is left. A bare number is seconds.
fn part<'a>(rest: &'a str, text: &str) -> Result<(u64, &'a str), PeriodError> {
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(digits);
    if number.is_empty() {
        return Err(PeriodError::NotANumber { text: text.to_owned() });
    }
    let too_long = || PeriodError::TooLong { text: text.to_owned() };
    let number: u64 = number.parse().map_err(|_| too_long())?;
    let after = after.trim_start();
    let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
    let (unit, after) = after.split_at(end);
    let scale = match unit {
        // As users of the earlier framework may write it.
        "min" => 60,
        "" if after.is_empty() => 1,
        "" => return Err(PeriodError::NotANumber { text: text.to_owned() }),
        _ => UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, scale)| *scale)
            .ok_or_else(|| PeriodError::Unit { unit: unit.to_owned() })?,
    };
    Ok((number.checked_mul(scale).ok_or_else(too_long)?, after))
}

/// The shortest form that reads back as the same: `1h30m`.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.as_secs();
        if left == 0 {
            return f.write_str("0s");
        }
        for (unit, scale) in UNITS {
            // A year is said as 365d, not as 52w1d.
            let fits = unit != "w" || left.is_multiple_of(scale);
            if left >= scale && fits {
                write!(f, "{}{unit}", left / scale)?;
                left %= scale;
            }
        }
        Ok(())
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_time_in_many_ways() {
        let cases = [
            ("90", 90),
            ("90s", 90),
            ("10m", 600),
            ("1h30m", 5400),
            ("1h 30m", 5400),
            ("2d", 172_800),
        ];
        for (text, seconds) in cases {
            assert_eq!(text.parse(), Ok(Period::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_says_why() {
        let error = |text: &str| text.parse::<Period>().unwrap_err().to_string();
        assert_eq!(error(""), "a duration cannot be empty");
        assert_eq!(error("soon"), "`soon` is not a duration");
        assert_eq!(error("1.5h"), "`1.5h` is not a duration");
        assert_eq!(error("-5m"), "`-5m` is not a duration");
        assert_eq!(error("3y"), "`y` is not a unit of time (`s`, `m`, `h`, `d` or `w`)");
        assert_eq!(error("99999999999999999w"), "`99999999999999999w` is too long");
    }

    proptest::proptest! {
        #[test]
        fn a_period_reads_back(seconds in 0_u64..10_000_000_000) {
            let period = Period::from_secs(seconds);
            proptest::prop_assert_eq!(period.to_string().parse(), Ok(period));
        }
    }
}
