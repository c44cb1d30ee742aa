//! The pages that every list and every hook reads, with a thousand records behind it and with a million.
//!
//! Counted by the kernel, so the same on a busy machine. Fails if anything grows with history.
//!
//! cargo bench -p heirloom --bench reads

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set the scene has no result")]
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

#[path = "../tests/it/cost/history.rs"]
mod history;

fn main() {
    // `cargo test` runs this too, and only wants to know that it still works.
    let quick = std::env::args().any(|word| word == "--quick" || word == "--test");
    let sizes = if quick { [1_000, 5_000] } else { [1_000, 1_000_000] };
    let [few, many] = sizes.map(|records| history::pages(&history::repository(records)));
    println!("{:>40} {:>10} {:>10}", "pages read, with records", sizes[0], sizes[1]);
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        println!("{what:>40} {few:>10} {many:>10}");
    }
    let grown = history::compare(&few, &many);
    assert!(grown.is_empty(), "{grown:#?}");
}
