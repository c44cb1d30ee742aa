//! How many tokens the window of a model holds.
//!
//! Neither its transcripts nor its hooks say so, and a guess is worse than none: an alarm that comes at
//! a fifth of the window is switched off. What is not in this table is not known.

/// A model, or all whose names begin like that; its window; and who says so.
type Row = (&'static str, u64, &'static str);

const LONG: u64 = 1_000_000;
const USUAL: u64 = 200_000;

/// The first that fits counts.
const TABLE: &[Row] = &[
    ("claude-opus-5-5", LONG, "status line and result of Claude Code 2.1.325"),
    ("claude-opus-4", USUAL, "Anthropic's overview of its models"),
    ("claude-sonnet-4", USUAL, "Anthropic's overview of its models"),
    ("claude-haiku-4", USUAL, "Anthropic's overview of its models"),
    ("claude-3", USUAL, "Anthropic's overview of its models"),
];

/// The window of `model`, where that is known.
pub(super) fn of(model: &str) -> Option<u64> {
    let model = model.to_ascii_lowercase();
    // Asked for by name.
    if model.contains("[1m]") {
        return Some(LONG);
    }
    TABLE.iter().find(|(name, ..)| model.starts_with(name)).map(|(_, window, _)| *window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_known_or_it_is_not_guessed() {
        let windows = [
            ("claude-opus-5-5", Some(1_000_000)),
            ("claude-opus-4-6", Some(200_000)),
            ("claude-opus-4-6[1m]", Some(1_000_000)),
            ("claude-next", None),
            ("gpt-5", None),
        ];
        for (model, window) in windows {
            assert_eq!(of(model), window, "{model}");
        }
        assert!(TABLE.iter().all(|(_, _, source)| !source.is_empty()));
    }
}
