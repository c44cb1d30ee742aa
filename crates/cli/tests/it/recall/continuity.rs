//! The benchmark, small: everything that is hidden is found first, and what was replaced never is.

use heirloom_testkit::corpus::{Corpus, Size};

use super::scene;

#[test]
fn every_needle_is_found_first_and_no_decision_that_was_replaced() {
    let env = crate::env();
    let corpus = Corpus::new(Size::SMALL);
    scene::write(&env, &corpus, 0..corpus.sessions());
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    env.run(&["sync", "--agent", "claude"]).success();
    let (first, five, lost) = scene::needles(&env, &corpus);
    assert_eq!((first, five), (corpus.needles.len(), corpus.needles.len()), "{lost:#?}");
    assert_eq!(scene::decisions(&env, 6), (6, 0));
}
