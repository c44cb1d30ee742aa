//! What checking all claims of a session came to.

use super::claim::Claim;
use super::verdict::Verdict;

/// A claim that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<'a> {
    pub claim: Claim<'a>,
    /// The verdict on it.
    pub verdict: Verdict,
    /// The verdict on each place it rests on.
    pub verdicts: Vec<Verdict>,
}

/// What checking came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// How many claims there are.
    pub claims: usize,
    /// How many of them are grounded.
    pub grounded: usize,
    /// How many are assumptions that say so.
    pub assumptions: usize,
    /// The part that must be grounded.
    pub threshold: f64,
}

impl Report {
    /// Counts.
    pub fn new(checked: &[Checked<'_>], threshold: f64) -> Self {
        let count = |is: fn(&Verdict) -> bool| {
            checked.iter().filter(|checked| is(&checked.verdict)).count()
        };
        Self {
            claims: checked.len(),
            grounded: count(Verdict::is_grounded),
            assumptions: count(|verdict| *verdict == Verdict::Assumption),
            threshold,
        }
    }

    /// The part of the claims that is grounded; all of none.
    #[expect(clippy::cast_precision_loss, reason = "no session has 2^52 claims")]
    pub fn ratio(&self) -> f64 {
        if self.claims == 0 { 1.0 } else { self.grounded as f64 / self.claims as f64 }
    }

    /// Whether enough is grounded.
    pub fn passes(&self) -> bool {
        self.ratio() >= self.threshold
    }

    /// The ratio for people: two decimals, and more where rounding would hide that it is too low.
    pub fn shown_ratio(&self) -> String {
        let ratio = self.ratio();
        let shown = format!("{ratio:.2}");
        let misleads =
            shown.parse().is_ok_and(|shown: f64| (shown >= self.threshold) != self.passes());
        if misleads { format!("{ratio:.6}") } else { shown }
    }
}
