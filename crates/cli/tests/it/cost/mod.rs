//! Cost grows with what is asked, not with history: counted in pages that are read.
//!
//! `cargo bench -p heirloom --bench reads` does the same with a million records.

pub(crate) mod history;

#[test]
fn every_list_and_every_hook_reads_as_many_pages_with_twenty_times_the_history() {
    let few = history::pages(&history::repository(1_000));
    let many = history::pages(&history::repository(20_000));
    let grown = history::compare(&few, &many);
    assert!(grown.is_empty(), "{grown:#?}\n{few:?}\n{many:?}");
}
