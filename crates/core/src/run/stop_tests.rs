use std::time::Duration;

use proptest::prelude::*;

use super::outcome::Outcome;
use super::status_file::Decision;
use super::stop::*;
use crate::status::Status;

/// A history in letters: c(ontinue), s(top), f(ailed), t(imed out), h(opeless).
fn history(letters: &str) -> Vec<Past> {
    letters
        .chars()
        .map(|letter| match letter {
            's' => Past { outcome: Outcome::Completed, decision: Some(Decision::Stop) },
            'f' => Past { outcome: Outcome::Failed, decision: Some(Decision::Stop) },
            't' => Past { outcome: Outcome::TimedOut, decision: Some(Decision::Stop) },
            'h' => Past { outcome: Outcome::Hopeless, decision: None },
            _ => Past { outcome: Outcome::Completed, decision: Some(Decision::Continue) },
        })
        .collect()
}

fn budget() -> Budget {
    Budget { max_failures: 3, ..Budget::default() }
}

fn after(rule: &Rule, max: u32, letters: &str, answers: Answers) -> Next {
    let stop = Stop { rule: rule.clone(), max };
    next(&stop, false, &history(letters), &budget(), answers)
}

const NONE: Answers = Answers {
    stop_asked: false,
    has_work: None,
    command_succeeds: None,
    judge_agrees: None,
    judge_failed: false,
    is_verified: None,
};

#[test]
fn fixed_runs_its_number_unless_an_agent_stops() {
    let fixed = |letters| after(&Rule::Fixed, 3, letters, NONE);
    assert_eq!(fixed(""), Next::Run);
    assert_eq!(fixed("cc"), Next::Run);
    assert_eq!(fixed("ccc"), Next::End(End::MaxIterations));
    assert_eq!(fixed("cs"), Next::End(End::AgentStopped));
    assert_eq!(fixed("sc"), Next::Run);
    assert_eq!(fixed("cf"), Next::Run);
    assert_eq!(fixed("cfc"), Next::End(End::MaxIterations));
    assert_eq!(fixed("ccf"), Next::End(End::LastFailed));
    assert_eq!(fixed("cct"), Next::End(End::LastFailed));
    assert_eq!(after(&Rule::Fixed, 9, "ftt", NONE), Next::End(End::TooManyFailures));
}

#[test]
fn judgment_needs_its_minimum_and_a_consensus_in_a_row() {
    let rule = Rule::Judgment { min: 3, consensus: 2, judge: None };
    let judgment = |letters| after(&rule, 6, letters, NONE);
    assert_eq!(judgment("ss"), Next::Run);
    assert_eq!(judgment("css"), Next::End(End::Consensus));
    assert_eq!(judgment("scs"), Next::Run);
    assert_eq!(judgment("ssfs"), Next::Run);
    assert_eq!(judgment("cscscs"), Next::End(End::NoConsensus));
}

#[test]
fn a_judge_is_asked_only_when_it_matters_and_can_refuse() {
    let judge = Some(Judge { agent: "claude".to_owned(), model: None });
    let rule = Rule::Judgment { min: 1, consensus: 2, judge };
    let says = |judge_agrees| Answers { judge_agrees, ..NONE };
    assert_eq!(after(&rule, 9, "cs", NONE), Next::Run);
    assert_eq!(after(&rule, 9, "ss", NONE), Next::Ask(Question::JudgeAgrees));
    assert_eq!(after(&rule, 9, "ss", says(Some(true))), Next::End(End::Consensus));
    assert_eq!(after(&rule, 9, "ss", says(Some(false))), Next::Run);
}

#[test]
fn a_queue_is_looked_at_before_each_iteration_and_decides_alone() {
    let says = |has_work| Answers { has_work, ..NONE };
    assert_eq!(after(&Rule::Queue, 3, "", NONE), Next::Ask(Question::HasWork));
    assert_eq!(after(&Rule::Queue, 3, "", says(Some(false))), Next::End(End::QueueEmpty));
    assert_eq!(after(&Rule::Queue, 3, "ss", says(Some(true))), Next::Run);
    assert_eq!(after(&Rule::Queue, 3, "ccc", says(Some(true))), Next::End(End::MaxIterations));
    assert_eq!(after(&Rule::Queue, 3, "ccc", says(Some(false))), Next::End(End::QueueEmpty));
}

#[test]
fn a_command_decides_after_at_least_one_iteration() {
    let rule = Rule::Command { command: "make test".to_owned() };
    let says = |command_succeeds| Answers { command_succeeds, ..NONE };
    assert_eq!(after(&rule, 2, "", NONE), Next::Run);
    assert_eq!(after(&rule, 2, "s", NONE), Next::Ask(Question::CommandSucceeds));
    assert_eq!(after(&rule, 2, "s", says(Some(false))), Next::Run);
    assert_eq!(after(&rule, 2, "cc", says(Some(true))), Next::End(End::CommandSucceeded));
    assert_eq!(after(&rule, 2, "cc", says(Some(false))), Next::End(End::NeverSucceeded));
}

#[test]
fn done_is_done_only_when_it_is_verified() {
    let stop = Stop { rule: Rule::Fixed, max: 3 };
    let verified = |letters, is_verified| {
        next(&stop, true, &history(letters), &budget(), Answers { is_verified, ..NONE })
    };
    assert_eq!(verified("c", None), Next::Run);
    assert_eq!(verified("s", None), Next::Ask(Question::IsVerified));
    assert_eq!(verified("s", Some(false)), Next::Run);
    assert_eq!(verified("s", Some(true)), Next::End(End::AgentStopped));
    assert_eq!(verified("css", Some(false)), Next::End(End::NotVerified));
    assert_eq!(verified("ccc", Some(true)), Next::End(End::MaxIterations));
    let queue = Stop { rule: Rule::Queue, max: 3 };
    let nothing_made =
        next(&queue, true, &[], &budget(), Answers { has_work: Some(false), ..NONE });
    assert_eq!(nothing_made, Next::End(End::QueueEmpty));
}

#[test]
fn failures_in_a_row_money_time_and_people_end_any_stage() {
    assert_eq!(after(&Rule::Fixed, 9, "cfff", NONE), Next::End(End::TooManyFailures));
    assert_eq!(after(&Rule::Fixed, 9, "ffcff", NONE), Next::Run);
    assert_eq!(after(&Rule::Queue, 9, "ch", NONE), Next::End(End::Hopeless));
    let asked = Answers { stop_asked: true, ..NONE };
    assert_eq!(after(&Rule::Fixed, 9, "c", asked), Next::End(End::StopAsked));
    let stop = Stop { rule: Rule::Fixed, max: 9 };
    let with = |budget: Budget| next(&stop, false, &history("c"), &budget, NONE);
    let spent = Budget { max_cost_usd: Some(2.0), cost_usd: 2.0, ..budget() };
    assert_eq!(with(spent), Next::End(End::MaxCost));
    assert_eq!(with(Budget { cost_usd: 1.99, ..spent }), Next::Run);
    let hour = Duration::from_hours(1);
    let late = Budget { max_time: Some(hour), elapsed: hour, ..budget() };
    assert_eq!(with(late), Next::End(End::MaxTime));
}

#[test]
fn each_end_leaves_the_session_in_its_status() {
    let of = |status| {
        let ends = [
            End::AgentStopped,
            End::Consensus,
            End::QueueEmpty,
            End::CommandSucceeded,
            End::MaxIterations,
            End::NeverSucceeded,
            End::NotVerified,
            End::Hopeless,
            End::TooManyFailures,
            End::MaxCost,
            End::MaxTime,
            End::StopAsked,
        ];
        let ends = ends.into_iter().filter(|end| end.status() == status).map(End::as_str);
        ends.collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(
        [Status::Completed, Status::Failed, Status::Interrupted].map(of).join("\n"),
        @r"
    agent_stopped consensus queue_empty command_succeeded max_iterations
    never_succeeded not_verified hopeless too_many_failures
    max_cost max_time stop_asked
    ");
}

fn any_rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        Just(Rule::Fixed),
        (0u32..4, 0u32..4).prop_map(|(min, consensus)| Rule::Judgment {
            min,
            consensus,
            judge: None
        }),
        Just(Rule::Queue),
        Just(Rule::Command { command: "x".to_owned() }),
    ]
}

proptest! {
    #[test]
    fn no_stage_runs_past_its_maximum_and_every_question_has_an_end(
        rule in any_rule(),
        max in 1u32..8,
        letters in "[csf]{0,12}",
        yes: bool,
        verifies: bool,
    ) {
        let all = Answers {
            stop_asked: false,
            has_work: Some(yes),
            command_succeeds: Some(yes),
            judge_agrees: Some(yes),
            is_verified: Some(yes),
            judge_failed: false,
        };
        let stop = Stop { rule, max };
        let decided = next(&stop, verifies, &history(&letters), &budget(), all);
        prop_assert!(!matches!(decided, Next::Ask(_)));
        if letters.len() >= max as usize {
            prop_assert!(matches!(decided, Next::End(_)));
        }
    }
}
