//! Numbers that hardly differ from the one before, in few bytes: where messages begin, and when they were said.

/// Numbers in order, each kept as what it differs by from the one before.
#[derive(Debug, Clone, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    last: u32,
}

impl Packed {
    /// What was kept as bytes.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let last = numbers(&bytes).last().unwrap_or(0);
        Self { bytes, last }
    }

    pub(super) fn push(&mut self, number: u32) {
        let by = i64::from(number) - i64::from(self.last);
        // Small ones have few bits, whichever way they go.
        let mut bits = (by << 1 ^ by >> 63).cast_unsigned();
        while bits >= 0x80 {
            self.bytes.push((bits & 0x7f) as u8 | 0x80);
            bits >>= 7;
        }
        self.bytes.push((bits & 0x7f) as u8);
        self.last = number;
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The numbers that were kept. Damaged bytes give other numbers, and no failure.
///
/// A search asks hundreds of pages for one or two numbers each, so no list of all of them is made.
pub(super) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (mut bytes, mut last) = (bytes.iter(), 0_i64);
    std::iter::from_fn(move || {
        let (mut bits, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = bytes.next()?;
            bits |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                let by = (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed();
                last = last.wrapping_add(by);
                return Some(u32::try_from(last).unwrap_or(0));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_hardly_differs_takes_hardly_any_room() {
        let mut packed = Packed::default();
        for minute in 0..100 {
            packed.push(1_735_700_000 + 60 * minute);
        }
        assert!(packed.bytes().len() < 210, "{}", packed.bytes().len());
    }

    proptest! {
        #[test]
        fn all_numbers_come_back(numbers: Vec<u32>, more: Vec<u32>) {
            let mut packed = Packed::default();
            for number in &numbers {
                packed.push(*number);
            }
            let mut packed = Packed::new(packed.bytes().to_vec());
            for number in &more {
                packed.push(*number);
            }
            let kept: Vec<u32> = super::numbers(packed.bytes()).collect();
            prop_assert_eq!(kept, [numbers, more].concat());
        }

        #[test]
        fn damage_is_no_failure(bytes: Vec<u8>) {
            super::numbers(&bytes).for_each(drop);
        }
    }
}
