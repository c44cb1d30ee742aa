//! Finding many texts at once by how they begin.
//!
//! A sum of a few bytes is brought on through all of them, a byte at a time; where one of the texts begins with the same
//! sum, it may stand. That holds a few bytes for each text, however long it is, and sums are all that it has to know.

use super::SHORTEST;

/// How each of some texts begins.
#[derive(Debug, Clone)]
pub(super) struct Heads {
    factor: u64,
    /// A bit for the upper half of each sum that one of them begins with: most places are passed over by it.
    may_begin: Vec<u64>,
    /// The sums, and the number of the text that begins with it.
    sums: Vec<(u32, usize)>,
}

impl Heads {
    /// Of texts that begin with these sums, in their order.
    pub(super) fn new(factor: u64, sums: impl IntoIterator<Item = u32>) -> Self {
        let mut sums: Vec<(u32, usize)> =
            sums.into_iter().enumerate().map(|(number, sum)| (sum, number)).collect();
        sums.sort_unstable();
        let mut may_begin = vec![0; (1 << 16) / 64];
        for (sum, _) in &sums {
            let (word, bit) = place(*sum);
            may_begin[word] |= bit;
        }
        Self { factor, may_begin, sums }
    }

    /// Tells of each place where one of them may stand: where that is, and its number.
    pub(super) fn each(&self, bytes: &[u8], mut found: impl FnMut(usize, usize)) {
        if self.sums.is_empty() || bytes.len() < SHORTEST {
            return;
        }
        let mut rolling = Rolling::over(self.factor, bytes);
        for start in 0..=bytes.len() - SHORTEST {
            if start > 0 {
                rolling.go_on(bytes[start - 1], bytes[start + SHORTEST - 1]);
            }
            let sum = rolling.sum();
            let (word, bit) = place(sum);
            if self.may_begin[word] & bit != 0 {
                let first = self.sums.partition_point(|(known, _)| *known < sum);
                let same = self.sums[first..].iter().take_while(|(known, _)| *known == sum);
                same.for_each(|(_, number)| found(start, *number));
            }
        }
    }
}

/// The sum of how a text begins, which has at least [`SHORTEST`] bytes.
pub(super) fn begins(factor: u64, text: &[u8]) -> u32 {
    Rolling::over(factor, text).sum()
}

fn place(sum: u32) -> (usize, u64) {
    let upper = (sum >> 16) as usize;
    (upper / 64, 1 << (upper % 64))
}

/// The sum of the last few bytes, brought on by one byte at a time.
pub(super) struct Rolling {
    sum: u64,
    factor: u64,
    /// By how much the first of them counts.
    first: u64,
}

impl Rolling {
    pub(super) fn over(factor: u64, bytes: &[u8]) -> Self {
        let bytes = bytes.iter().take(SHORTEST);
        let sum =
            bytes.fold(0, |sum: u64, byte| sum.wrapping_mul(factor).wrapping_add(u64::from(*byte)));
        let first = (1..SHORTEST).fold(1_u64, |power, _| power.wrapping_mul(factor));
        Self { sum, factor, first }
    }

    pub(super) fn go_on(&mut self, goes: u8, comes: u8) {
        let gone = u64::from(goes).wrapping_mul(self.first);
        let kept = self.sum.wrapping_sub(gone).wrapping_mul(self.factor);
        self.sum = kept.wrapping_add(u64::from(comes));
    }

    /// The best mixed bits.
    pub(super) fn sum(&self) -> u32 {
        (self.sum >> 32) as u32
    }
}
