//! Where a stopped or crashed session goes on.
//!
//! A stage goes on after its last completed iteration. Iterations after that one (failed, stopped,
//! or cut off with the engine) are made again under their numbers: they were not completed, and a
//! stage whose only iteration failed could otherwise never be finished. Completed ones are never
//! made again.

use super::outcome::Outcome;
use super::status_file::Decision;
use super::stop::Past;

/// What is recorded of one iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The stage, as its directory is called.
    pub stage: String,
    /// Counted from 1 within the stage.
    pub iteration: u32,
    /// How it ended, if it did.
    pub outcome: Option<Outcome>,
    /// What the agent decided.
    pub decision: Option<Decision>,
}

/// Where one stage goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The stage, as its directory is called.
    pub stage: String,
    /// The first iteration to be made.
    pub iteration: u32,
    /// Those before it, oldest first, for the stop rule.
    pub history: Vec<Past>,
    /// Iterations from that one on that were begun before: their files are kept aside, and an agent
    /// process of theirs that still lives is ended first.
    pub begun: Vec<u32>,
}

/// Where a session goes on: in the first of `stages` that is not in `finished`. None when all are.
///
/// A later record of an iteration replaces an earlier one.
pub fn point(stages: &[String], finished: &[String], recorded: &[Recorded]) -> Option<Point> {
    let stage = stages.iter().find(|stage| !finished.contains(stage))?;
    let mut iterations: Vec<&Recorded> = Vec::new();
    for record in recorded.iter().filter(|record| record.stage == *stage) {
        match iterations.iter_mut().find(|known| known.iteration == record.iteration) {
            Some(known) => *known = record,
            None => iterations.push(record),
        }
    }
    iterations.sort_by_key(|record| record.iteration);
    let is_completed = |record: &&&Recorded| record.outcome == Some(Outcome::Completed);
    let last = iterations.iter().rev().find(is_completed).map_or(0, |record| record.iteration);
    let history =
        iterations.iter().filter(|record| record.iteration <= last).filter_map(|record| {
            let outcome = record.outcome.filter(|outcome| outcome.counts())?;
            Some(Past { outcome, decision: record.decision })
        });
    let begun = iterations.iter().map(|record| record.iteration).filter(|number| *number > last);
    Some(Point {
        stage: stage.clone(),
        iteration: last + 1,
        history: history.collect(),
        begun: begun.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(stage: &str, iteration: u32, outcome: Option<Outcome>) -> Recorded {
        Recorded { stage: stage.to_owned(), iteration, outcome, decision: None }
    }

    fn stages() -> Vec<String> {
        vec!["stage-00-plan".to_owned(), "stage-01-tasks".to_owned()]
    }

    #[test]
    fn a_fresh_session_begins_at_the_beginning() {
        let point = point(&stages(), &[], &[]).unwrap();
        assert_eq!((point.stage.as_str(), point.iteration), ("stage-00-plan", 1));
        assert!(point.begun.is_empty());
    }

    #[test]
    fn what_was_cut_off_is_made_again_and_what_was_completed_is_not() {
        let records = [
            recorded("stage-00-plan", 1, Some(Outcome::Completed)),
            recorded("stage-00-plan", 2, Some(Outcome::Failed)),
            recorded("stage-00-plan", 3, Some(Outcome::Completed)),
            recorded("stage-00-plan", 4, Some(Outcome::Interrupted)),
            recorded("stage-00-plan", 5, None),
        ];
        let point = point(&stages(), &[], &records).unwrap();
        assert_eq!((point.iteration, point.begun), (4, vec![4, 5]));
        let outcomes: Vec<_> = point.history.iter().map(|past| past.outcome).collect();
        assert_eq!(outcomes, [Outcome::Completed, Outcome::Failed, Outcome::Completed]);
    }

    #[test]
    fn an_iteration_that_was_made_again_counts_as_it_ended_last() {
        let records = [
            recorded("stage-00-plan", 1, Some(Outcome::Interrupted)),
            recorded("stage-00-plan", 1, Some(Outcome::Completed)),
        ];
        let point = point(&stages(), &[], &records).unwrap();
        assert_eq!((point.iteration, point.history.len()), (2, 1));
    }

    #[test]
    fn finished_stages_are_passed_over() {
        let finished = vec!["stage-00-plan".to_owned()];
        let records = [recorded("stage-00-plan", 1, Some(Outcome::Failed))];
        let found = point(&stages(), &finished, &records).unwrap();
        assert_eq!((found.stage.as_str(), found.iteration), ("stage-01-tasks", 1));
        assert_eq!(point(&stages(), &stages(), &records), None);
    }

    proptest! {
        #[test]
        fn no_completed_iteration_is_ever_made_again(
            records in prop::collection::vec((1u32..12, prop::option::of(0usize..5)), 0..30),
        ) {
            let records: Vec<_> = records
                .into_iter()
                .map(|(n, outcome)| recorded("stage-00-plan", n, outcome.map(|o| Outcome::ALL[o])))
                .collect();
            let point = point(&stages(), &[], &records).unwrap();
            for number in 1..12 {
                let last = records.iter().rev().find(|record| record.iteration == number);
                let is_completed = last.is_some_and(|r| r.outcome == Some(Outcome::Completed));
                prop_assert!(!is_completed || number < point.iteration);
            }
            prop_assert!(point.begun.iter().all(|number| *number >= point.iteration));
        }
    }
}
