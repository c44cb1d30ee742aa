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
        let last = unpack(&bytes).last().copied().unwrap_or(0);
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
pub(super) fn unpack(bytes: &[u8]) -> Vec<u32> {
    let (mut numbers, mut last) = (Vec::with_capacity(bytes.len()), 0_i64);
    let (mut bits, mut shift) = (0_u64, 0_u32);
    for byte in bytes {
        bits |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte & 0x80 == 0 {
            let by = (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed();
            last = last.wrapping_add(by);
            numbers.push(u32::try_from(last).unwrap_or(0));
            (bits, shift) = (0, 0);
        }
    }
    numbers
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
            prop_assert_eq!(unpack(packed.bytes()), [numbers, more].concat());
        }

        #[test]
        fn damage_is_no_failure(bytes: Vec<u8>) {
            unpack(&bytes);
        }
    }
}
