//! The labelled corpus: what must be found, and what must pass.

use heirloom_core::redact::redact;
use serde::Deserialize;

#[derive(Deserialize)]
struct Positive {
    kind: String,
    text: String,
    want: String,
}

#[derive(Deserialize)]
struct Negative {
    label: String,
    text: String,
}

/// Splits a secret in the files, so that no scanner takes the corpus for a leak.
const SPLIT: &str = "\u{2039}\u{203a}";

fn positives() -> Vec<Positive> {
    let lines = include_str!("../corpus/redact/positives.jsonl").lines();
    let parsed = lines.map(|line| serde_json::from_str::<Positive>(line).expect("a positive"));
    parsed.map(|p| Positive { text: p.text.replace(SPLIT, ""), ..p }).collect()
}

fn negatives() -> Vec<Negative> {
    let lines = include_str!("../corpus/redact/negatives.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("a negative")).collect()
}

#[test]
fn every_secret_of_the_corpus_is_replaced_in_place() {
    let misses: Vec<_> = positives()
        .into_iter()
        .filter(|p| redact(&p.text).text != p.want)
        .map(|p| format!("{}\n  want {:?}\n  got  {:?}", p.kind, p.want, redact(&p.text).text))
        .collect();
    assert!(misses.is_empty(), "{} missed:\n{}", misses.len(), misses.join("\n"));
}

#[test]
fn no_ordinary_text_of_the_corpus_is_touched() {
    let touched: Vec<_> = negatives()
        .into_iter()
        .filter(|n| !redact(&n.text).found.is_empty())
        .map(|n| format!("{}\n  was {:?}\n  got {:?}", n.label, n.text, redact(&n.text).text))
        .collect();
    assert!(touched.is_empty(), "{} touched:\n{}", touched.len(), touched.join("\n"));
}

#[test]
fn the_corpus_is_broad_enough_to_mean_something() {
    let kinds: std::collections::BTreeSet<_> = positives().into_iter().map(|p| p.kind).collect();
    assert!(positives().len() >= 150 && kinds.len() >= 30 && negatives().len() >= 300);
}
