//! Retrieval of sessions: how often the session that answers a question comes first, or among the first five.
//!
//! Talk of our own, or a public benchmark from a file that somebody has: `LoCoMo` (`locomo10.json`) and
//! `LongMemEval` (`longmemeval_s.json`) are read as they are published.

use std::fs;
use std::path::Path;

use heirloom_testkit::corpus::Corpus;
use heirloom_testkit::env::TestEnv;
use heirloom_testkit::talks::{Question, Talk, Talks, made};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::scene;

/// How many pairs of people we make up.
const PAIRS: usize = 4;
/// How far down a list is looked.
const DEEP: &str = "20";

/// Asks, and prints what was found.
pub(crate) fn measure(file: Option<&Path>) {
    let all: Vec<Talks> = match file {
        None => (0..PAIRS).map(made).collect(),
        Some(file) => read(&serde_json::from_slice(&fs::read(file).unwrap()).unwrap()),
    };
    let found = ask(&all);
    let share = |count: u32| 100.0 * f64::from(count) / f64::from(found.asked.max(1));
    println!(
        "\n{:>28} {} questions, {} collections: hit@1 {:.1}, hit@5 {:.1}, MRR {:.3}",
        "sessions retrieved",
        found.asked,
        all.len(),
        share(found.first),
        share(found.among_five),
        found.ranks / f64::from(found.asked.max(1))
    );
}

/// Files of the shapes that are read, small ones of our own: every question is understood and answered.
pub(crate) fn check() {
    for (file, questions) in
        [(include_str!("fixtures/locomo.json"), 3), (include_str!("fixtures/longmemeval.json"), 1)]
    {
        let found = ask(&read(&serde_json::from_str(file).unwrap()));
        assert_eq!((found.asked, found.first), (questions, questions), "{file}");
    }
}

/// What came of the questions.
#[derive(Default)]
struct Retrieved {
    asked: u32,
    first: u32,
    among_five: u32,
    /// The sum of what the places are worth.
    ranks: f64,
}

fn ask(all: &[Talks]) -> Retrieved {
    let mut found = Retrieved::default();
    for talks in all {
        let env = taken_in(talks);
        for question in &talks.questions {
            let rank = rank(&env, talks, question);
            found.asked += 1;
            found.first += u32::from(rank == Some(1));
            found.among_five += u32::from(rank.is_some_and(|rank| rank <= 5));
            found.ranks += rank.map_or(0.0, |rank| 1.0 / f64::from(rank));
        }
    }
    found
}

/// Each collection has a home of its own.
fn taken_in(talks: &Talks) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_heirloom"));
    for (number, talk) in talks.sessions.iter().enumerate() {
        let file = scene::path(&env, number);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = talk.transcript(&Corpus::id(number), &env.repo().to_string_lossy());
        fs::write(file, text).unwrap();
    }
    env.run(&["init", "--yes", "--agent", "claude"]).success();
    env.run(&["sync", "--agent", "claude"]).success();
    env
}

/// The place of the first session that answers a question, from 1.
fn rank(env: &TestEnv, talks: &Talks, question: &Question) -> Option<u32> {
    let answering = talks.sessions.iter().enumerate();
    let answering = answering.filter(|(_, talk)| question.sessions.contains(&talk.name));
    let wanted: Vec<Value> = answering
        .map(|(number, _)| {
            let shown = env.run(&["sessions", "show", &Corpus::id(number), "--json"]);
            shown.success().json()["id"].clone()
        })
        .collect();
    // What is in quotes would be looked for word for word, which a question does not ask for.
    let text = question.text.replace('"', " ");
    let answer = env.run(&["search", &text, "--limit", DEEP, "--json"]).success().json();
    let mut seen: Vec<&Value> = Vec::new();
    for result in answer["results"].as_array().unwrap() {
        if !seen.contains(&&result["session_id"]) {
            seen.push(&result["session_id"]);
        }
    }
    let place = seen.iter().position(|session| wanted.contains(session))?;
    u32::try_from(place + 1).ok()
}

/// A published benchmark, told by its shape.
fn read(document: &Value) -> Vec<Talks> {
    let all = document.as_array().expect("a list of conversations or questions");
    let talks = all.iter().map(|each| {
        if each.get("haystack_sessions").is_some() { long_mem_eval(each) } else { locomo(each) }
    });
    talks.filter(|talks| !talks.questions.is_empty()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn moment(text: &str, format: &str) -> String {
    let at = DateTime::strptime(format, text).ok();
    let at = at.and_then(|at| at.to_zoned(TimeZone::UTC).ok());
    at.map_or_else(|| "2023-01-01T00:00:00Z".to_owned(), |at| at.timestamp().to_string())
}

/// A conversation of `LoCoMo`: `session_N` with its date, and questions with the turns that answer them (`D3:11` is
/// the eleventh of the third session). Questions without such turns are left out.
fn locomo(sample: &Value) -> Talks {
    let conversation = &sample["conversation"];
    let mut talks = Talks::default();
    for number in 1..1000 {
        let Some(turns) = conversation[format!("session_{number}")].as_array() else { continue };
        let said = turns.iter().map(|turn| {
            let words = format!("{} {}", text(&turn["text"]), text(&turn["blip_caption"]));
            (text(&turn["speaker"]), words.trim().to_owned())
        });
        let date = text(&conversation[format!("session_{number}_date_time")]);
        talks.sessions.push(Talk {
            name: format!("D{number}"),
            at: moment(&date, "%I:%M %p on %d %B, %Y"),
            said: said.collect(),
        });
    }
    for question in sample["qa"].as_array().into_iter().flatten() {
        let mut sessions = Vec::new();
        for turns in question["evidence"].as_array().into_iter().flatten() {
            let turns = text(turns);
            let named = turns.split([';', ' ', ',']).filter_map(|turn| turn.split_once(':'));
            sessions.extend(named.map(|(session, _)| session.to_owned()));
        }
        if !sessions.is_empty() {
            talks.questions.push(Question { text: text(&question["question"]), sessions });
        }
    }
    talks
}

/// A question of `LongMemEval`, with sessions of its own.
fn long_mem_eval(each: &Value) -> Talks {
    let list = |name: &str| each[name].as_array().cloned().unwrap_or_default();
    let (names, dates) = (list("haystack_session_ids"), list("haystack_dates"));
    let mut talks = Talks::default();
    for (number, turns) in list("haystack_sessions").iter().enumerate() {
        let said = turns.as_array().into_iter().flatten();
        let date = dates.get(number).map(text).unwrap_or_default();
        talks.sessions.push(Talk {
            name: names.get(number).map(text).unwrap_or_default(),
            at: moment(&date, "%Y/%m/%d (%a) %H:%M"),
            said: said.map(|turn| (text(&turn["role"]), text(&turn["content"]))).collect(),
        });
    }
    let sessions: Vec<String> = list("answer_session_ids").iter().map(text).collect();
    if !sessions.is_empty() {
        talks.questions.push(Question { text: text(&each["question"]), sessions });
    }
    talks
}
