mod moving;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;

use super::ghost::{Pattern, SearchError, Sighting, patterns};
use super::*;
use crate::note::Basis;

/// Files by path; what a file became by the old path.
#[derive(Default)]
struct Files {
    texts: BTreeMap<String, Opened>,
    became: BTreeMap<String, Vec<String>>,
    sighting: Sighting,
    opened: usize,
    surveys: usize,
    too_many: bool,
    /// Files that always had what is in them, and files nobody knows the past of.
    always: Vec<&'static str>,
    unknown: Vec<&'static str>,
}

impl Files {
    fn with(mut self, path: &str, text: &str) -> Self {
        self.texts.insert(path.to_owned(), Opened::Text(Text::of(path, text)));
        self
    }
}

impl Sources for Files {
    fn open(&mut self, path: &str) -> Rc<Opened> {
        self.opened += 1;
        Rc::new(self.texts.get(path).cloned().unwrap_or(Opened::Missing))
    }

    fn became(&mut self, path: &str, _: Option<&str>) -> Vec<String> {
        self.became.get(path).cloned().unwrap_or_default()
    }

    fn survey(&mut self, alike: &str, see: &mut dyn FnMut(&str, &Text)) -> bool {
        self.surveys += 1;
        for (path, opened) in self.texts.iter().filter(|(path, _)| kin(path) == alike) {
            if let Opened::Text(text) = opened {
                see(path, text);
            }
        }
        !self.too_many
    }

    fn had(&mut self, path: &str, _: Quote<'_>, _: Option<&str>) -> Option<bool> {
        (!self.unknown.contains(&path)).then(|| self.always.contains(&path))
    }

    fn look_for(&mut self, _: &[String]) -> Sighting {
        self.sighting.clone()
    }
}

fn cited<'a>(path: &'a str, line: u32, quote: &'a str) -> Cited<'a> {
    Cited { path: path.into(), line, quote: Some(quote.into()), ..Cited::default() }
}

fn claim<'a>(id: &'a str, evidence: Vec<Cited<'a>>) -> Claim<'a> {
    Claim { id: id.into(), text: id.into(), basis: None, evidence }
}

fn based(id: &str, basis: Basis) -> Claim<'_> {
    Claim { basis: Some(Cow::Owned(basis)), ..claim(id, Vec::new()) }
}

fn verdict(files: &mut Files, cited: Cited<'_>) -> Verdict {
    check(vec![claim("c", vec![cited])], files).remove(0).verdict
}

const AUTH: &str = "use std::fs;\n\nfn rotate(token: &str) {\n\tlet grace  =  900;\r\n}\n\nfn other() {\n    let x = 1;\n}\n";

#[test]
fn a_quote_that_stands_at_its_line_is_verified_whatever_its_white_space() {
    let mut files = Files::default().with("a.rs", AUTH);
    for (line, quote) in [
        (3, "fn rotate(token: &str) {"),
        (4, "let grace = 900;"),
        (4, "  let\tgrace = 900;  \r\n"),
        (3, "fn rotate(token: &str) {\n    let grace = 900;\n}"),
        (3, "fn rotate(token: &str) { let grace = 900; }"),
    ] {
        assert_eq!(verdict(&mut files, cited("a.rs", line, quote)), Verdict::Verified, "{quote}");
    }
}

#[test]
fn nothing_but_white_space_is_forgiven() {
    let mut files = Files::default().with("a.rs", AUTH);
    for quote in
        ["fn Rotate(token: &str) {", "fn rotate(token: str) {", "fn rotate(tok", "n rotate(token"]
    {
        assert_eq!(verdict(&mut files, cited("a.rs", 3, quote)), Verdict::QuoteAbsent, "{quote}");
    }
}

#[test]
fn a_quote_a_few_lines_off_is_nearby_and_one_far_away_has_moved() {
    let far = format!("{}fn rotate(token: &str) {{\n", "// filler\n".repeat(40));
    let mut files = Files::default().with("a.rs", AUTH).with("far.rs", &far);
    let quote = "fn rotate(token: &str) {";
    assert_eq!(verdict(&mut files, cited("a.rs", 7, quote)), Verdict::Nearby { line: 3 });
    assert_eq!(
        verdict(&mut files, cited("far.rs", 3, quote)),
        Verdict::Moved { path: None, line: 41 }
    );
}

#[test]
fn a_quote_that_is_in_several_other_places_is_ambiguous_unless_one_is_near() {
    let filler = "// filler\n".repeat(30);
    let text = format!("return None;\n{filler}return None;\n{filler}fn last() {{}}\n");
    let mut files = Files::default().with("a.rs", &text);
    assert_eq!(
        verdict(&mut files, cited("a.rs", 60, "return None;")),
        Verdict::Ambiguous { places: 2 }
    );
    assert_eq!(verdict(&mut files, cited("a.rs", 5, "return None;")), Verdict::Nearby { line: 1 });
}

#[test]
fn what_cannot_be_opened_says_why() {
    let mut files = Files::default().with("a.rs", AUTH);
    files.texts.insert("b.png".to_owned(), Opened::Unreadable);
    files.texts.insert("../x".to_owned(), Opened::Outside);
    let quote = "let invented = true;";
    assert_eq!(verdict(&mut files, cited("nope.rs", 1, quote)), Verdict::PathMissing);
    assert_eq!(verdict(&mut files, cited("b.png", 1, quote)), Verdict::Unreadable);
    assert_eq!(verdict(&mut files, cited("../x", 1, quote)), Verdict::Outside);
    assert_eq!(verdict(&mut files, cited("a.rs", 99, quote)), Verdict::LineOutOfRange { lines: 9 });
    assert_eq!(verdict(&mut files, cited("a.rs", 3, quote)), Verdict::QuoteAbsent);
}

#[test]
fn a_trivially_short_quote_proves_nothing() {
    let mut files = Files::default().with("a.rs", AUTH);
    for quote in ["}", "{", "fn", "= 1", "( ) { } ;"] {
        let verdict = verdict(&mut files, cited("a.rs", 5, quote));
        assert_eq!(verdict, Verdict::QuoteTooShort, "{quote}");
        assert!(!verdict.is_grounded());
    }
}

#[test]
fn a_quote_follows_its_file_across_a_rename() {
    let mut files = Files::default().with("new.rs", AUTH).with("copy.rs", AUTH);
    files.became.insert("old.rs".to_owned(), vec!["new.rs".to_owned()]);
    files.became.insert("two.rs".to_owned(), vec!["new.rs".to_owned(), "copy.rs".to_owned()]);
    let quote = "fn rotate(token: &str) {";
    assert_eq!(
        verdict(&mut files, cited("old.rs", 1, quote)),
        Verdict::Moved { path: Some("new.rs".to_owned()), line: 3 }
    );
    assert_eq!(verdict(&mut files, cited("two.rs", 1, quote)), Verdict::Ambiguous { places: 2 });
    assert_eq!(verdict(&mut files, cited("old.rs", 1, "not in the new one")), Verdict::PathMissing);
}

#[test]
fn a_claim_is_as_good_as_the_worst_it_rests_on() {
    let mut files = Files::default().with("a.rs", AUTH);
    let good = cited("a.rs", 3, "fn rotate(token: &str) {");
    let bad = cited("a.rs", 3, "let invented = true;");
    let checked = check(vec![claim("both", vec![good.clone(), bad])], &mut files);
    assert_eq!(checked[0].verdict, Verdict::QuoteAbsent);
    assert_eq!(checked[0].verdicts, [Verdict::Verified, Verdict::QuoteAbsent]);
    let checked = check(vec![claim("none", Vec::new())], &mut files);
    assert_eq!(checked[0].verdict, Verdict::NoEvidence);
    assert_eq!(check(vec![claim("one", vec![good])], &mut files)[0].verdict, Verdict::Verified);
}

#[test]
fn a_file_is_opened_once_however_many_claims_rest_on_it() {
    let mut files = Files::default().with("a.rs", AUTH);
    let ids: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    let claims = ids.iter().map(|id| claim(id, vec![cited("a.rs", 3, "fn rotate(token: &str)")]));
    assert_eq!(Report::new(&check(claims.collect(), &mut files), 0.95).grounded, 50);
    assert_eq!(files.opened, 1);
}

#[test]
fn the_ratio_counts_claims_by_id_and_later_entries_supersede() {
    let mut files = Files::default().with("a.rs", AUTH);
    let good = || vec![cited("a.rs", 3, "fn rotate(token: &str) {")];
    let bad = || vec![cited("a.rs", 3, "let invented = true;")];
    let entries = [
        claim("a", bad()),
        claim("a", good()),
        claim("b", good()),
        claim("b", bad()),
        based("c", Basis::Assumption),
        based("d", Basis::UserInput),
    ];
    let report = Report::new(&check(current(entries), &mut files), 0.95);
    assert_eq!((report.claims, report.grounded, report.assumptions), (4, 2, 1));
    assert!((report.ratio() - 0.5).abs() < 1e-9 && !report.passes());
}

#[test]
fn no_claims_pass_and_a_ratio_is_not_rounded_up_to_the_threshold() {
    assert!(Report::new(&[], 0.95).passes());
    let report = Report { claims: 10000, grounded: 9499, assumptions: 0, threshold: 0.95 };
    assert!(!report.passes());
    assert_eq!(report.shown_ratio(), "0.949900");
    let report = Report { claims: 20, grounded: 19, assumptions: 0, threshold: 0.95 };
    assert!(report.passes());
    assert_eq!(report.shown_ratio(), "0.95");
}

#[test]
fn what_is_said_not_to_exist_is_looked_for() {
    let absence = || based("no limiter", Basis::Absence(vec!["rate limiter".to_owned()]));
    let mut files = Files::default();
    assert_eq!(check(vec![absence()], &mut files)[0].verdict, Verdict::ConfirmedGhost);
    files.sighting.documents = 3;
    assert_eq!(
        check(vec![absence()], &mut files)[0].verdict,
        Verdict::HighAmbiguity { documents: 3 }
    );
    files.sighting.code = Some(("a.rs".to_owned(), 7));
    let there = Verdict::NotAGhost { path: "a.rs".to_owned(), line: 7 };
    assert_eq!(check(vec![absence()], &mut files)[0].verdict, there);
}

#[test]
fn two_searches_differ_and_one_is_made_two() {
    let searches =
        |texts: &[&str]| patterns(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    assert_eq!(
        searches(&["rate limiter"]),
        Ok(vec![
            Pattern::Phrase("ratelimiter".to_owned()),
            Pattern::Stems(vec!["rate".to_owned(), "limit".to_owned()])
        ])
    );
    assert_eq!(searches(&["rate limiter", "throttle"]).unwrap().len(), 2);
    let same = SearchError::Same { text: "RateLimiter".to_owned() };
    assert_eq!(searches(&["rate_limiter", "RateLimiter"]), Err(same));
    assert!(matches!(searches(&["--"]), Err(SearchError::TooShort { .. })));
}

#[test]
fn a_search_finds_every_way_of_writing_a_name() {
    let found = |line: &str| {
        patterns(&["rate limiter".to_owned()]).unwrap().iter().any(|pattern| pattern.is_on(line))
    };
    for line in
        ["struct RateLimiter;", "fn rate_limiter()", "RATE-LIMITER: 1", "limits the rate of calls"]
    {
        assert!(found(line), "{line}");
    }
    assert!(!found("struct Limiter;"));
}

#[test]
fn every_shape_of_a_citation_is_read() {
    let text = r#"
{"phase":"cite","claim":"one","grounding":"citation","evidence":{"quote":"fn a()","path":"${PROJECT_ROOT}/src/a.rs","line":3}}
{"ts":"x","phase":"cite","citations":[{"claim":"two","code":"fn b()","path":"src/b.rs","line":"4-6","grounding":"citation"},{"claim":"three","grounding":"assumption"}]}
{
  "timestamp": "x",
  "action": "four",
  "grounding": {"type": "code_reference", "refs": [{"file": "src/c.rs", "lines": "7", "quote": "fn c()"}]}
}
{"phase": "cite", "claim": "five", "grounding": "user_input", "evidence": null}
{"phase":"cite","claim":"one","grounding":"assumption"}
{"phase":"negative_ground","claim":"no x","query1":"alpha","query2":"beta","status":"unverified"}
{"phase":"intent","grounding":"citation","claim":"not one"}
{}
"#;
    let read = trajectory::read(text, None);
    assert_eq!(read.unreadable, Vec::<usize>::new());
    let claims = current(read.claims);
    let seen: Vec<_> = claims.iter().map(|claim| (&*claim.text, claim.evidence.len())).collect();
    assert_eq!(seen, [("one", 0), ("two", 1), ("three", 0), ("four", 1), ("five", 0), ("no x", 0)]);
    assert_eq!(claims[0].basis.as_deref(), Some(&Basis::Assumption));
    let two = &claims[1].evidence[0];
    assert_eq!((&*two.path, two.line, two.end_line), ("src/b.rs", 4, Some(6)));
    assert_eq!((&*claims[3].evidence[0].path, claims[3].evidence[0].line), ("src/c.rs", 7));
    assert_eq!(claims[4].basis.as_deref(), Some(&Basis::UserInput));
    let searches = vec!["alpha".to_owned(), "beta".to_owned()];
    assert_eq!(claims[5].basis.as_deref(), Some(&Basis::Absence(searches)));
}

#[test]
fn corrupt_lines_are_named_and_cost_nothing_else() {
    let text = "\u{0}garbage\n{\"phase\":\"cite\",\"claim\":\"x\"}\n{\"phase\":\"cite\",\"cla\n\n[1]\n{\"phase\":\"cite\",\"claim\":\"y\"}\n";
    let read = trajectory::read(text, None);
    assert_eq!(read.unreadable, [1, 3, 5]);
    assert_eq!(read.claims.iter().map(|claim| &*claim.text).collect::<Vec<_>>(), ["x", "y"]);
}

#[test]
fn only_the_entries_of_the_session_count() {
    let text = "{\"phase\":\"cite\",\"claim\":\"x\",\"session_id\":\"s1\"}\n{\"phase\":\"cite\",\"claim\":\"y\",\"session_id\":\"s2\"}\n{\"phase\":\"cite\",\"claim\":\"z\"}\n";
    let of = |session| {
        let claims = trajectory::read(text, session).claims;
        claims.iter().map(|claim| claim.text.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(Some("s1")), ["x", "z"]);
    assert_eq!(of(None), ["x", "y", "z"]);
}

proptest! {
    #[test]
    fn folding_leaves_the_words_with_one_space_between_them(text in "[a-b \\t\\n\\x0b\\r\u{a0}\u{2003}é]{0,16}") {
        let words: Vec<&str> = text.split_whitespace().collect();
        prop_assert_eq!(fold(&text), words.join(" "));
    }

    #[test]
    fn a_line_of_a_file_is_verified_at_its_place_however_it_is_set(
        lines in proptest::collection::vec("[a-z(){}=; ]{0,24}", 1..30), pick in 0usize..30, spaces in "[ \t]{0,3}"
    ) {
        let text = lines.join("\r\n");
        let line = pick % lines.len();
        let quote = fold(&lines[line]);
        prop_assume!(says_enough(&quote));
        let set = format!("{spaces}{}{spaces}\n", quote.replace(' ', " \t "));
        let number = u32::try_from(line + 1).unwrap();
        prop_assert_eq!(place(&Text::new(&text), Quote::part(&fold(&set)), (number, None), None), Verdict::Verified);
    }

    #[test]
    fn a_new_place_really_has_the_quote(
        lines in proptest::collection::vec("[a-c]{4,6}", 1..60), quote in "[a-c]{5,6}", at in 1u32..60
    ) {
        let text = lines.join("\n");
        let found = match place(&Text::new(&text), Quote::part(&quote), (at, None), None) {
            Verdict::Verified => Some(at),
            Verdict::Nearby { line } | Verdict::Moved { line, .. } => Some(line),
            _ => None,
        };
        let stands = |line: u32| lines[line as usize - 1] == quote;
        if let Some(line) = found {
            prop_assert!(stands(line));
        } else {
            let count = lines.iter().filter(|line| **line == quote).count();
            prop_assert_ne!(count, 1);
        }
    }

    #[test]
    fn no_text_makes_the_trajectory_reader_fail(text in "[ -~\n{}\"]{0,200}") {
        let read = trajectory::read(&text, None);
        prop_assert!(read.claims.len() + read.unreadable.len() <= text.lines().count() + 1);
    }
}

#[test]
fn a_quote_that_went_to_another_file_is_followed_there_if_it_is_there_only_once() {
    let quote = "fn rotate(token: &str) {";
    let mut files = Files::default()
        .with("a.rs", "mod b;\n")
        .with("b.rs", AUTH)
        .with("notes.md", AUTH)
        .with("record.jsonl", AUTH);
    let moved = Verdict::Moved { path: Some("b.rs".to_owned()), line: 3 };
    assert_eq!(verdict(&mut files, cited("a.rs", 1, quote)), moved);
    assert_eq!(verdict(&mut files, cited("a.rs", 90, quote)), moved, "the file became shorter");
    assert_eq!(
        verdict(&mut files, cited("a.rs", 1, "fn rotate(token")),
        moved,
        "words are whole, lines need not be"
    );
    assert_eq!(verdict(&mut files, cited("a.rs", 1, "fn rotat(token")), Verdict::QuoteAbsent);
    let mut twice = files;
    twice.texts.insert("c.rs".to_owned(), Opened::Text(Text::new(AUTH)));
    assert_eq!(verdict(&mut twice, cited("a.rs", 1, quote)), Verdict::Ambiguous { places: 2 });
    twice.too_many = true;
    assert_eq!(verdict(&mut twice, cited("a.rs", 1, quote)), Verdict::QuoteAbsent);
}

#[test]
fn the_repository_is_surveyed_once_and_only_for_what_would_be_gone() {
    let mut files = Files::default().with("a.rs", AUTH).with("b.rs", "let other = 17;\n");
    let held = vec![claim("1", vec![cited("a.rs", 3, "fn rotate(token: &str) {")])];
    check(held, &mut files);
    assert_eq!(files.surveys, 0);
    let gone = |id: &'static str, quote: &'static str| claim(id, vec![cited("a.rs", 3, quote)]);
    let claims = vec![gone("1", "let other = 17;"), gone("2", "let other"), gone("3", "never was")];
    let verdicts: Vec<_> = check(claims, &mut files).into_iter().map(|c| c.verdict).collect();
    let moved = Verdict::Moved { path: Some("b.rs".to_owned()), line: 1 };
    assert_eq!(verdicts, [moved.clone(), moved, Verdict::QuoteAbsent]);
    assert_eq!(files.surveys, 1);
}

#[test]
fn languages_that_share_code_are_kin() {
    for (one, other) in [("a.ts", "src/b.jsx"), ("a.h", "b.cpp"), ("a.yml", "b.yaml")] {
        assert_eq!(kin(one), kin(other));
    }
    for (one, other) in [("a.rs", "a.md"), ("Makefile", "a.mk"), ("src.d/a", "a.d")] {
        assert_ne!(kin(one), kin(other));
    }
}

proptest! {
    #[test]
    fn a_quote_is_found_in_another_file_where_a_plain_search_finds_it(
        words in prop::collection::vec("[a-c_]{1,3}|[.;(){}=]", 6..60),
        from in 0usize..40, length in 2usize..8,
    ) {
        let from = from.min(words.len() - 2);
        let quote = words[from..(from + length).min(words.len())].join(" ");
        prop_assume!(says_enough(&fold(&quote)));
        let text: String = words.chunks(5).map(|line| line.join(" ") + "\n").collect();
        let mut files = Files::default().with("a.rs", "mod b;\n").with("b.rs", &text);
        let found = verdict(&mut files, cited("a.rs", 1, &quote));
        // Those that overlap count here, and not there.
        let lines = match Text::new(&text).search(Quote::part(&fold(&quote)), 0, 0) {
            Search::Elsewhere(lines) => lines,
            _ => Vec::new(),
        };
        match found {
            Verdict::QuoteAbsent => prop_assert!(lines.is_empty()),
            Verdict::Moved { path, line } => {
                prop_assert_eq!((path.as_deref(), vec![line]), (Some("b.rs"), lines));
            }
            Verdict::Ambiguous { places } => prop_assert!(places >= lines.len().max(2)),
            other => prop_assert!(false, "{}", other),
        }
    }
}

#[test]
fn a_quote_is_not_verified_by_part_of_a_longer_word_or_number() {
    let text = "let retries = 10;\nlet max_tries = 1;\nlet tries = 1.5;\nlet tries = 12;\nlet tries = 1;\n";
    let mut files = Files::default().with("a.rs", text);
    for line in 1..=4 {
        let verdict = verdict(&mut files, cited("a.rs", line, "tries = 1"));
        assert_eq!(verdict, Verdict::Nearby { line: 5 }, "line {line}");
    }
    assert_eq!(verdict(&mut files, cited("a.rs", 5, "tries = 1")), Verdict::Verified);
    assert_eq!(verdict(&mut files, cited("a.rs", 3, "tries = 1.5")), Verdict::Verified);
    assert_eq!(verdict(&mut files, cited("a.rs", 3, "let tries = 5;")), Verdict::QuoteAbsent);
}
