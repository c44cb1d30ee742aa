//! What fits best.
//!
//! A message is scored by the words of the question it holds (BM25 with every word counted once), a
//! conversation by its best messages, each counting half of the one before, and by how many of its
//! messages hold the words. Then come the time the question names, that a note was worth noting, and,
//! gently, how long ago it was.

const K1: f64 = 0.9;
/// How much it tells against a message that it is long, and against a conversation, which is long where there was much
/// to say.
const B_OF_MESSAGE: f64 = 0.45;
const B_OF_CONVERSATION: f64 = 0.2;

/// How many of a conversation's best messages count.
pub const COUNTED: usize = 8;

/// How much more a note counts than what was only said.
pub const NOTE: f64 = 1.5;

/// How much less a note counts that a later one replaces.
pub const REPLACED: f64 = 0.4;

/// How much a word that only begins like the one that was asked for counts.
pub const BEGINNING: f64 = 0.5;

/// How much a word counts that one of `asked` was probably meant to be. Beside others it is a guess: a word that nobody
/// said is not always a mistake, and the more there are, the less they need it.
pub fn near(asked: usize) -> f64 {
    1.0 / f64::from(u32::try_from(asked.max(1)).unwrap_or(u32::MAX))
}

/// How rare a word is that `having` of `all` have.
pub fn rarity(all: f64, having: f64) -> f64 {
    let having = having.min(all);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// What one word is worth in a message of `length` words where `mean` is usual.
pub fn in_message(rarity: f64, length: f64, mean: f64) -> f64 {
    rarity * (K1 + 1.0) / (1.0 + K1 * relative(B_OF_MESSAGE, length, mean))
}

/// What one word is worth in a conversation of `messages`, `holding` of which have it.
pub fn in_conversation(rarity: f64, holding: f64, messages: f64, mean: f64) -> f64 {
    rarity * holding * (K1 + 1.0) / (holding + K1 * relative(B_OF_CONVERSATION, messages, mean))
}

fn relative(b: f64, length: f64, mean: f64) -> f64 {
    1.0 - b + b * length / mean.max(1.0)
}

/// What the messages of a conversation are worth together.
pub fn together(scores: &mut [f64]) -> f64 {
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.iter().take(COUNTED).rev().fold(0.0, |sum, score| score + sum / 2.0)
}

/// How much it counts that something was said so many days ago.
pub fn recency(days: f64) -> f64 {
    1.0 + 0.1 * 0.5_f64.powf(days.max(0.0) / 30.0)
}

/// A length as one byte, fine where it is small.
pub fn to_byte(length: usize) -> u8 {
    #[expect(clippy::cast_precision_loss, reason = "a byte cannot tell such lengths apart")]
    let log = ((length + 1) as f64).log2() * 12.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a byte"
    )]
    let byte = log.round().clamp(0.0, 255.0) as u8;
    byte
}

/// The length that a byte stands for.
pub fn from_byte(byte: u8) -> f64 {
    (f64::from(byte) / 12.0).exp2() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_word_is_worth_more_and_a_word_that_all_have_is_worth_something() {
        assert!(rarity(1000.0, 1.0) > rarity(1000.0, 100.0));
        assert!(rarity(1000.0, 1000.0) > 0.0);
        assert!(rarity(10.0, 50.0) > 0.0, "an estimate may be above the number there is");
    }

    #[test]
    fn a_short_message_says_more_with_a_word_than_a_long_one() {
        assert!(in_message(2.0, 5.0, 50.0) > in_message(2.0, 500.0, 50.0));
    }

    #[test]
    fn the_best_message_counts_whole_and_each_further_one_half() {
        assert!((together(&mut [1.0, 4.0, 2.0]) - (4.0 + 1.0 + 0.25)).abs() < 1e-9);
        assert!(together(&mut []).abs() < 1e-9);
        assert!(together(&mut [1.0; 500]) < 2.0);
    }

    #[test]
    fn age_costs_a_tenth_at_most() {
        assert!((recency(0.0) - 1.1).abs() < 1e-9);
        assert!(recency(30.0) > recency(300.0) && recency(3000.0) >= 1.0);
        assert!((recency(-5.0) - 1.1).abs() < 1e-9);
    }

    #[test]
    fn a_length_survives_its_byte_nearly() {
        for length in [0_u32, 1, 7, 50, 1000, 100_000] {
            let back = from_byte(to_byte(length as usize));
            assert!(
                (back - f64::from(length)).abs() <= f64::from(length) * 0.04,
                "{length}: {back}"
            );
        }
    }
}
