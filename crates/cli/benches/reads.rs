//! The pages that every list and every hook reads, with a thousand records behind it and with a million.
//!
//! Counted by the kernel, so the same on a busy machine. Fails if anything grows with history.
//!
//! cargo bench -p heirloom --bench reads
//!
//! A number after `--` is compared with instead of a million.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

#[path = "../tests/it/cost/history.rs"]
mod history;

fn main() {
    // `cargo test` runs this too, and only wants to know that it still works.
    let has = |flag: &str| std::env::args().any(|word| word == flag);
    let quick = has("--quick") || !has("--bench");
    let given = std::env::args().find_map(|word| word.parse().ok());
    let sizes = [1_000, if quick { 5_000 } else { given.unwrap_or(1_000_000) }];
    let [few, many] = sizes.map(|records| history::pages(&history::repository(records)));
    println!("{:>40} {:>10} {:>10}", "pages read, with records", sizes[0], sizes[1]);
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        println!("{what:>40} {few:>10} {many:>10}");
    }
    let grown = history::compare(&few, &many);
    assert!(grown.is_empty(), "{grown:#?}");
}
