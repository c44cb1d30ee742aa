//! A map by row, for thousands of rows a search.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are numbers of our own, which nobody chooses to collide.
pub(super) type Quick<K, V> = HashMap<K, V, BuildHasherDefault<Numbers>>;

/// Hashes numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers(u64);

impl Hasher for Numbers {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        // Tables look at the lowest and the highest bits; the highest of a product are its best.
        self.0.rotate_left(26)
    }
}
