//! What something cost, as far as anybody said.

use std::fmt;
use std::iter::Sum;

/// What something cost, in USD. Not every agent says: what nobody said is not nothing, and a sum in
/// which a part is missing is not a sum.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Cost {
    /// Nobody said.
    #[default]
    Unknown,
    /// So much was told, and there is more that nobody priced.
    AtLeast(f64),
    /// All of it was told.
    Known(f64),
}

impl Cost {
    /// What was told, and whether there is more that nobody priced.
    pub const fn new(told: Option<f64>, is_partial: bool) -> Self {
        match told {
            None => Self::Unknown,
            Some(usd) if is_partial => Self::AtLeast(usd),
            Some(usd) => Self::Known(usd),
        }
    }

    /// As much of it as was told.
    pub const fn told(self) -> Option<f64> {
        match self {
            Self::Unknown => None,
            Self::AtLeast(usd) | Self::Known(usd) => Some(usd),
        }
    }

    /// All of it, where all of it was told.
    pub const fn whole(self) -> Option<f64> {
        match self {
            Self::Known(usd) => Some(usd),
            Self::Unknown | Self::AtLeast(_) => None,
        }
    }

    /// Whether there is more than was told.
    pub const fn is_partial(self) -> bool {
        matches!(self, Self::AtLeast(_))
    }
}

/// One amount, if it was told.
impl From<Option<f64>> for Cost {
    fn from(told: Option<f64>) -> Self {
        Self::new(told, false)
    }
}

/// The sum of nothing is nothing, and known.
impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        let (mut sum, mut is_told, mut is_whole) = (0.0, false, true);
        for cost in costs {
            sum += cost.told().unwrap_or(0.0);
            is_told |= cost.told().is_some();
            is_whole &= cost.whole().is_some();
        }
        match (is_told, is_whole) {
            (_, true) => Self::Known(sum),
            (true, false) => Self::AtLeast(sum),
            (false, false) => Self::Unknown,
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::AtLeast(usd) => write!(f, "at least ${usd:.2}"),
            Self::Known(usd) => write!(f, "${usd:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(costs: &[Cost]) -> String {
        costs.iter().copied().sum::<Cost>().to_string()
    }

    #[test]
    fn a_sum_says_when_a_part_of_it_is_not_known() {
        assert_eq!(sum(&[]), "$0.00");
        assert_eq!(sum(&[Cost::Known(1.0), Cost::Known(0.2)]), "$1.20");
        assert_eq!(sum(&[Cost::Known(1.2), Cost::Unknown]), "at least $1.20");
        assert_eq!(sum(&[Cost::AtLeast(1.0), Cost::Known(0.2)]), "at least $1.20");
        assert_eq!(sum(&[Cost::Unknown, Cost::Unknown]), "unknown");
        // Told to be free is not unknown.
        assert_eq!(sum(&[Cost::Known(0.0), Cost::Unknown]), "at least $0.00");
    }
}
