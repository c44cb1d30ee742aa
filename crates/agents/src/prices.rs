//! What models cost, for agents that do not say it themselves.
//!
//! List prices of the providers, as of [`AS_OF`]. They change, and a discount or a subscription is not
//! known here, so what comes of them is an estimate: good enough to stop at a limit, and never recorded
//! as a cost. Where a model has several prices, by the length of the context for instance, the highest
//! counts: a limit may be reached too early, never too late.

use crate::event::Tokens;

/// When the prices were looked up.
pub const AS_OF: &str = "2026-05";

/// US dollars for a million tokens.
struct Price {
    /// What the name of the model begins with.
    model: &'static str,
    read: f64,
    written: f64,
    cached: f64,
}

const fn price(model: &'static str, read: f64, written: f64, cached: f64) -> Price {
    Price { model, read, written, cached }
}

/// The longest that fits counts.
const PRICES: &[Price] = &[
    price("gpt-5", 1.25, 10.0, 0.125),
    price("gpt-5.1", 1.25, 10.0, 0.125),
    price("gpt-5.2", 1.75, 14.0, 0.175),
    price("gpt-5.2-pro", 21.0, 168.0, 21.0),
    price("gpt-5.3", 1.75, 14.0, 0.175),
    price("gpt-5.4", 2.5, 15.0, 0.25),
    price("gpt-5.4-mini", 0.75, 4.52, 0.075),
    price("gpt-5.5", 5.0, 30.0, 0.5),
    price("gpt-5-mini", 0.25, 2.0, 0.025),
    price("gpt-5-nano", 0.05, 0.4, 0.005),
    price("gpt-5-pro", 15.0, 120.0, 15.0),
    price("gpt-4.1", 2.0, 8.0, 0.5),
    price("gpt-4o", 2.5, 10.0, 1.25),
    price("o3", 2.0, 8.0, 0.5),
    price("o4-mini", 1.1, 4.4, 0.275),
    price("gemini-2.5-pro", 2.5, 15.0, 0.625),
    price("gemini-2.5-flash", 0.3, 2.5, 0.075),
    price("gemini-2.5-flash-lite", 0.1, 0.4, 0.025),
    price("gemini-3-pro", 4.0, 18.0, 0.4),
    price("gemini-3-flash", 0.5, 3.0, 0.05),
    price("claude-opus", 15.0, 75.0, 1.5),
    price("claude-sonnet", 6.0, 22.5, 0.6),
    price("claude-haiku", 1.0, 5.0, 0.1),
];

/// What so many tokens of a model cost, estimated; nothing where its price is not known.
pub fn estimate(model: &str, tokens: Tokens) -> Option<f64> {
    const MILLION: f64 = 1e6;
    let name = model.rsplit('/').next().unwrap_or(model);
    // Another version is another model, with a price that is not known here.
    let is_other = |rest: &str| rest.starts_with(|c: char| c == '.' || c.is_ascii_digit());
    let is_of = |price: &&Price| name.strip_prefix(price.model).is_some_and(|rest| !is_other(rest));
    let fits = PRICES.iter().filter(is_of);
    let price = fits.max_by_key(|price| price.model.len())?;
    #[expect(clippy::cast_precision_loss, reason = "nobody uses 2^52 tokens")]
    let of = |tokens: u64, usd: f64| tokens as f64 * usd / MILLION;
    Some(
        of(tokens.input + tokens.cache_write, price.read)
            + of(tokens.output, price.written)
            + of(tokens.cache_read, price.cached),
    )
}

/// Whether the price of a model is known.
pub fn is_known(model: &str) -> bool {
    estimate(model, Tokens::default()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_that_fits_counts_and_an_unknown_model_has_no_price() {
        let tokens = Tokens { input: 1_000_000, output: 1_000_000, cache_read: 0, cache_write: 0 };
        let usd = |model| estimate(model, tokens).map(|usd| (usd * 100.0).round() / 100.0);
        assert_eq!(usd("gpt-5-mini-2025-08-07"), Some(2.25));
        assert_eq!(usd("openai/gpt-5"), Some(11.25));
        assert_eq!(usd("gpt-5.5-codex"), Some(35.0));
        // A version that came later is not charged like one that is known.
        assert_eq!((usd("gpt-5.99"), usd("gpt-50"), usd("gemini-3.5-pro")), (None, None, None));
        assert_eq!(usd("mystery-1"), None);
        assert!(is_known("gemini-2.5-flash") && !is_known(""));
    }
}
