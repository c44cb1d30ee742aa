//! Estimated tokens: four characters are about one.
//!
//! No public tokenizer matches the agents' own, and its tables would be larger than heirloom. Where
//! the agent reports usage, that is used instead of this.

/// Characters that are counted as one token.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// The number of tokens `text` is estimated to cost, rounded up.
pub fn estimate(text: &str) -> usize {
    text.chars().count().div_ceil(CHARACTERS_PER_TOKEN)
}

/// The longest beginning of `text` that is estimated to cost at most `tokens`.
pub fn beginning(text: &str, tokens: usize) -> &str {
    let characters = tokens.saturating_mul(CHARACTERS_PER_TOKEN);
    match text.char_indices().nth(characters) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The longest end of `text` that is estimated to cost at most `tokens`.
pub fn end(text: &str, tokens: usize) -> &str {
    let characters = tokens.saturating_mul(CHARACTERS_PER_TOKEN);
    if characters == 0 {
        return "";
    }
    match text.char_indices().rev().nth(characters - 1) {
        Some((start, _)) => &text[start..],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn four_characters_are_a_token() {
        assert_eq!(["", "a", "four", "fives"].map(estimate), [0, 1, 1, 2]);
        assert_eq!(estimate("日本語です"), 2);
    }

    proptest! {
        #[test]
        fn a_cut_never_splits_a_character_and_keeps_the_budget(text in ".{0,80}", tokens in 0usize..30) {
            let start = beginning(&text, tokens);
            let finish = end(&text, tokens);
            prop_assert!(text.starts_with(start) && text.ends_with(finish));
            prop_assert!(estimate(start) <= tokens && estimate(finish) <= tokens);
            if estimate(&text) <= tokens {
                prop_assert_eq!(start, text.as_str());
                prop_assert_eq!(finish, text.as_str());
            }
        }
    }
}
