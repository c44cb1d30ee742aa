use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::evidence::Evidence;
use crate::id::{NoteId, SessionId};
use crate::lineage::End;
use crate::note::{Kind, Note};
use crate::status::Status;

/// Secrets in shape only; put together here so that no scanner takes this file for a leak.
const SECRET: &str = concat!("ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
const OTHER_SECRET: &str = concat!("ghp_", "z9Y8x7W6v5U4t3S2r1Q0p9O8n7M6l5K4j3I2");

fn hold(_: &Evidence) -> Verdict {
    Verdict::Verified
}

fn inherit(nearest: Source, ancestors: Vec<Source>) -> Inherited {
    merge(nearest, ancestors, &Options::default(), &hold)
}

fn source(name: &str, learnings: &[&str]) -> Source {
    let items = learnings.iter().map(|text| Item::new(Category::Learnings, *text)).collect();
    Source { items, status: Some(Status::Completed), ..Source::new(name) }
}

fn note(number: u128, kind: Kind, text: &str) -> Note {
    Note {
        id: NoteId::new(Uuid::from_u128(number)),
        kind,
        text: text.to_owned(),
        rationale: None,
        session: SessionId::new(Uuid::from_u128(1)),
        at: jiff::Timestamp::from_second(i64::try_from(number).unwrap()).unwrap(),
        evidence: Vec::new(),
        basis: None,
        issue: None,
        case: None,
        superseded_by: None,
        source: None,
        author: None,
    }
}

#[test]
fn a_block_has_the_documented_shape() {
    let mut auth = source("auth-v1", &[]);
    auth.completed_at = Some("2026-01-12T15:30:00Z".parse().unwrap());
    auth.progress_page = "## Codebase Patterns\n- a\n\n## Iteration 1\nDid it.\n".to_owned();
    auth.add(note(7, Kind::Learning, "JWT refresh tokens need atomic rotation"));
    let mut decision = note(8, Kind::Decision, "Chose JWT");
    decision.rationale = Some("needed stateless scaling".to_owned());
    decision.evidence =
        vec![Evidence { quote: Some("fn sign()".to_owned()), ..Evidence::at("src/a.rs", 12) }];
    auth.add(decision);
    insta::assert_snapshot!(inherit(auth, vec![]).to_json(), @r###"
    {
      "version": "1",
      "from_session": "auth-v1",
      "from_completed_at": "2026-01-12T15:30:00Z",
      "lineage": [
        "auth-v1"
      ],
      "learnings": [
        "JWT refresh tokens need atomic rotation"
      ],
      "patterns": [],
      "warnings": [],
      "decisions": [
        "Chose JWT - needed stateless scaling"
      ],
      "progress_summary": "## Codebase Patterns\n- a\n\n## Iteration 1\nDid it.",
      "notes": [
        {"id": "00000000-0000-0000-0000-000000000007", "kind": "learning", "text": "JWT refresh tokens need atomic rotation", "from_session": "auth-v1", "at": "1970-01-01T00:00:07Z"},
        {"id": "00000000-0000-0000-0000-000000000008", "kind": "decision", "text": "Chose JWT", "rationale": "needed stateless scaling", "from_session": "auth-v1", "at": "1970-01-01T00:00:08Z", "evidence": [{"path": "src/a.rs", "line": 12, "quote": "fn sign()", "verdict": "verified"}]}
      ],
      "truncated": {
        "learnings": 0,
        "patterns": 0,
        "warnings": 0,
        "decisions": 0,
        "progress": 0
      },
      "redacted": 0,
      "tokens": 274,
      "warnings_raised": []
    }
    "###);
}

#[test]
fn identical_items_appear_once_where_they_appeared_first() {
    let block = inherit(source("b", &["two", "one ", "three", "two"]), vec![source("a", &["one"])]);
    assert_eq!(block.learnings, ["one", "two", "three"]);
    let from: Vec<_> = block.notes.iter().map(|note| note.from_session.as_str()).collect();
    assert_eq!(from, ["a", "b", "b"]);
}

#[test]
fn the_same_words_in_two_categories_are_two_items() {
    let mut both = source("a", &["x"]);
    both.items.push(Item::new(Category::Warnings, "x"));
    let block = inherit(both, vec![]);
    assert_eq!((block.learnings, block.warnings), (vec!["x".to_owned()], vec!["x".to_owned()]));
}

#[test]
fn the_newest_survive_the_caps_in_their_order() {
    let mut full = Source { status: Some(Status::Completed), ..Source::new("full") };
    for number in 0..5000 {
        for category in Category::NOTES {
            full.items.push(Item::new(category, format!("{category} {number}")));
        }
    }
    let block = inherit(full, vec![]);
    let counts = Category::NOTES.map(|category| block.strings(category).len());
    assert_eq!(counts, [100, 50, 30, 30]);
    assert_eq!(block.learnings[0], "learnings 4900");
    assert_eq!(block.decisions[29], "decisions 4999");
    let left_out =
        Truncated { learnings: 4900, patterns: 4950, warnings: 4970, decisions: 4970, progress: 0 };
    assert_eq!(block.truncated, left_out);
    assert_eq!(block.notes.len(), 210);
}

#[test]
fn full_caps_of_ordinary_ledger_notes_fit_without_dropping_any() {
    let mut full = Source { status: Some(Status::Completed), ..Source::new("auth-v1") };
    for number in 0..100 {
        for kind in [Kind::Learning, Kind::Pattern, Kind::Warning, Kind::Decision] {
            full.add(note(number, kind, &format!("{kind} number {number}")));
        }
    }
    let block = inherit(full, vec![]);
    assert_eq!(block.notes.len(), 210);
    assert!(block.tokens <= MAX_TOKENS, "{}", block.tokens);
}

#[test]
fn nothing_is_left_out_so_that_something_else_is_said_twice() {
    let mut full = Source { status: Some(Status::Completed), ..Source::new("auth-v1") };
    for number in 0..75 {
        let text = format!("learning {number}: {}", "x".repeat(290));
        full.add(note(number, Kind::Learning, &text));
    }
    full.add(note(200, Kind::Pattern, "a pattern"));
    let block = inherit(full, vec![]);
    assert_eq!((block.learnings.len(), block.patterns.len()), (75, 1));
    assert_eq!(block.truncated, Truncated::default());
    assert!(block.tokens <= MAX_TOKENS, "{}", block.tokens);
    // Whoever inherits it from there gets all of it as well.
    let next = inherit(Source { inherited: Some(block.clone()), ..source("b", &[]) }, vec![]);
    assert_eq!(next.learnings, block.learnings);
}

#[test]
fn what_was_left_out_is_said_in_words() {
    let left_out = Truncated { learnings: 46, patterns: 1, progress: 300, ..Truncated::default() };
    let words = "46 learnings, 1 pattern, 300 characters of progress";
    assert_eq!(left_out.in_words().as_deref(), Some(words));
    assert_eq!(Truncated::default().in_words(), None);
}

#[test]
fn what_b_inherited_and_learned_is_what_c_gets_from_b() {
    let from_a = inherit(source("a", &["of a"]), vec![]);
    let b = Source { inherited: Some(from_a), ..source("b", &["of b"]) };
    // The ledger that knew `a` may be elsewhere: the stored block is enough.
    let block = inherit(b, vec![]);
    assert_eq!(block.learnings, ["of a", "of b"]);
    assert_eq!(block.lineage, ["b", "a"]);
    assert_eq!(block.notes[0].from_session, "a");
}

#[test]
fn reading_an_ancestor_and_its_stored_block_changes_nothing() {
    let mut a = source("a", &["one"]);
    let mut decision = Item::new(Category::Decisions, "Chose it");
    decision.rationale = Some("why".to_owned());
    a.items.push(decision);
    let from_a = inherit(a.clone(), vec![]);
    let b = Source { inherited: Some(from_a), ..source("b", &["two"]) };
    let with_a = inherit(b.clone(), vec![a]);
    assert_eq!(with_a.learnings, ["one", "two"]);
    assert_eq!(with_a, inherit(b, vec![]));
}

#[test]
fn depth_bounds_the_lineage_even_where_stored_blocks_reach_further() {
    let chain = |options: &Options| {
        let mut stored = None;
        for name in ["s1", "s2", "s3", "s4"] {
            let next = Source { inherited: stored, ..source(name, &[&format!("of {name}")]) };
            stored = Some(merge(next, vec![], options, &hold));
        }
        stored.unwrap()
    };
    let block = chain(&Options::default());
    assert_eq!(block.lineage, ["s4", "s3", "s2"]);
    assert_eq!(block.learnings, ["of s2", "of s3", "of s4"]);
    let deeper = chain(&Options { depth: 9, ..Options::default() });
    assert_eq!(deeper.learnings, ["of s1", "of s2", "of s3", "of s4"]);
}

#[test]
fn select_is_honoured_for_every_category() {
    let mut full = source("a", &["l"]);
    for category in [Category::Patterns, Category::Warnings, Category::Decisions] {
        full.items.push(Item::new(category, "x"));
    }
    full.progress_page = "did it".to_owned();
    for chosen in Category::ALL {
        let select = Select::parse([chosen.as_str()]).unwrap();
        let options = Options { select, ..Options::default() };
        let block = merge(full.clone(), vec![], &options, &hold);
        for category in Category::NOTES {
            assert_eq!(block.strings(category).len(), usize::from(category == chosen), "{chosen}");
        }
        assert_eq!(block.progress_summary.is_empty(), chosen != Category::Progress);
    }
}

#[test]
fn a_superseded_decision_is_gone_from_stored_blocks_too() {
    let mut a = source("a", &[]);
    a.add(note(5, Kind::Decision, "use cookies"));
    let stored = inherit(a, vec![]);
    let mut b = Source { inherited: Some(stored), ..source("b", &[]) };
    b.add(note(6, Kind::Decision, "use headers"));
    let mut replaced = note(5, Kind::Decision, "use cookies");
    replaced.superseded_by = Some(NoteId::new(Uuid::from_u128(6)));
    let mut a_now = source("a", &[]);
    a_now.add(replaced);
    assert_eq!(inherit(b, vec![a_now]).decisions, ["use headers"]);
}

#[test]
fn broken_evidence_is_delivered_marked_and_moved_evidence_with_its_new_place() {
    let verify = |place: &Evidence| match place.path.as_str() {
        "gone.rs" => Verdict::Broken { reason: "the file is gone".to_owned() },
        "moved.rs" => Verdict::Moved { path: "new.rs".to_owned(), line: 31 },
        _ => Verdict::Verified,
    };
    let mut a = source("a", &[]);
    for (text, places) in [
        ("Refresh in middleware", vec!["kept.rs:1", "gone.rs:40"]),
        ("Use RS256", vec!["moved.rs:23"]),
    ] {
        let evidence = places.iter().map(|place| place.parse().unwrap()).collect();
        a.items.push(Item { evidence, ..Item::new(Category::Decisions, text) });
    }
    let block = merge(a, vec![], &Options::default(), &verify);
    assert_eq!(
        block.decisions,
        [
            "[evidence no longer holds: gone.rs:40 (the file is gone)] Refresh in middleware",
            "Use RS256"
        ]
    );
    let moved = &block.notes[1].evidence[0];
    assert_eq!((moved.verdict.as_str(), moved.found_line), ("moved", Some(31)));
    // The next session decides anew, and looks where the quote was last seen.
    let b = Source { inherited: Some(block), ..source("b", &[]) };
    let next = inherit(b, vec![]);
    assert_eq!(next.decisions, ["Refresh in middleware", "Use RS256"]);
    assert_eq!(next.notes[1].evidence[0].path, "new.rs");
}

#[test]
fn secrets_are_taken_out_of_everything_and_counted() {
    let mut a = source("a", &[&format!("key {SECRET}")]);
    a.progress_page = format!("token {SECRET}");
    a.raised.push(format!("bad file {SECRET}"));
    let mut decision = Item::new(Category::Decisions, "d");
    decision.rationale = Some(format!("because {SECRET}"));
    let quote = Some(format!("k = {SECRET}"));
    decision.evidence = vec![Evidence { quote, ..Evidence::at("a", 1) }];
    a.items.push(decision);
    let block = inherit(a, vec![]);
    assert!(!block.to_json().contains(SECRET));
    assert_eq!(block.redacted, 4);
}

#[test]
fn items_that_differ_only_in_a_secret_are_one_item() {
    let (one, other) = (format!("use {SECRET}"), format!("use {OTHER_SECRET}"));
    let block = inherit(source("a", &[&one, "plain", &other]), vec![]);
    assert_eq!(block.learnings.len(), 2);
    assert_eq!(block.learnings[0], "plain");
    assert!(block.learnings[1].starts_with("use [redacted:"));
}

#[test]
fn a_source_that_is_not_completed_is_warned_about() {
    let warned = |status| {
        let source = Source { status, ..source("a", &[]) };
        inherit(source, vec![]).warnings_raised
    };
    assert!(warned(Some(Status::Completed)).is_empty());
    assert_eq!(
        warned(Some(Status::Running)),
        ["session a is still running: what it passes on may be incomplete"]
    );
    assert_eq!(warned(Some(Status::Failed)), ["session a is failed, not completed"]);
    assert_eq!(warned(None), ["it is not known whether session a is completed"]);
}

#[test]
fn a_thousand_broken_files_are_told_in_a_few_lines() {
    let raised = (0..1000).map(|n| format!("file {n} is malformed")).collect();
    let block = inherit(Source { raised, ..source("a", &[]) }, vec![]);
    assert_eq!(block.warnings_raised.len(), 21);
    assert_eq!(block.warnings_raised[20], "and 980 more warnings");
}

#[test]
fn each_end_of_a_walk_but_the_root_is_told() {
    let told = |end: End<&str>| warn_of_end(&end, 3);
    assert_eq!(told(End::Root), None);
    insta::assert_snapshot!(
        [End::Depth("a"), End::Cycle("a"), End::Missing("a")].map(|end| told(end).unwrap()).join("\n"),
        @r"
    the lineage continues with a, but only 3 sessions are inherited
    the lineage is a circle: a is its own ancestor, it is read once
    the lineage names a, which is not known
    ");
}

#[test]
fn progress_comes_from_the_nearest_session_that_has_any() {
    let a = Source { progress_page: "a did it".to_owned(), ..source("a", &[]) };
    let stored = inherit(a.clone(), vec![]);
    let b = source("b", &[]);
    assert_eq!(inherit(b.clone(), vec![a]).progress_summary, "a did it");
    let b = Source { inherited: Some(stored), ..b };
    assert_eq!(inherit(b, vec![]).progress_summary, "a did it");
}

#[test]
fn the_least_valuable_goes_first() {
    let mut full = Source { status: Some(Status::Completed), ..Source::new("a") };
    full.progress_page = "line of progress\n".repeat(50);
    for category in Category::NOTES {
        for number in 0..3 {
            full.items.push(Item::new(category, format!("{number} {}", "w".repeat(200))));
        }
    }
    let at = |max_tokens| {
        let options = Options { max_tokens, ..Options::default() };
        let block = merge(full.clone(), vec![], &options, &hold);
        assert!(block.tokens <= max_tokens, "{} > {max_tokens}", block.tokens);
        let t = block.truncated;
        let p = t.progress;
        format!("{p} {} {} {} {}", t.patterns, t.learnings, t.decisions, t.warnings)
    };
    insta::assert_snapshot!([8000, 950, 850, 700, 500, 300].map(at).join("\n"), @r"
    0 0 0 0 0
    153 0 0 0 0
    544 0 0 0 0
    849 2 0 0 0
    849 3 2 0 0
    849 3 3 3 0
    ");
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{1,3}",
        "[ -~é日本\"\\\\\n\u{1F600}]{0,60}",
        "[xé]{200,900}",
        Just(format!("{SECRET} in the text")),
    ]
}

fn any_source(name: &'static str) -> impl Strategy<Value = Source> {
    let item =
        (prop::sample::select(Category::NOTES.to_vec()), any_text(), prop::option::of(any_text()));
    let items = prop::collection::vec(item, 0..60);
    (items, "(?s).{0,300}", 1usize..20).prop_map(move |(items, page, times)| {
        let mut source = Source { progress_page: page.repeat(times), ..Source::new(name) };
        source.items = items
            .into_iter()
            .map(|(category, text, rationale)| Item { rationale, ..Item::new(category, text) })
            .collect();
        source
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_block_keeps_its_limit_its_caps_and_its_order(
        a in any_source("a"),
        b in any_source("b"),
        max_tokens in 150usize..3000,
        cap in 0usize..20,
    ) {
        let caps = Caps { learnings: cap, patterns: cap, warnings: cap, decisions: cap };
        let options = Options { caps, max_tokens, ..Options::default() };
        let stored = merge(a.clone(), vec![], &Options::default(), &hold);
        let block = merge(Source { inherited: Some(stored), ..b }, vec![a], &options, &hold);
        prop_assert!(block.tokens <= max_tokens, "{} > {}", block.tokens, max_tokens);
        let text = block.to_json();
        prop_assert!(crate::tokens::estimate(&text) <= block.tokens);
        prop_assert!(!text.contains(SECRET));
        let mut notes = block.notes.iter().peekable();
        for category in Category::NOTES {
            let strings = block.strings(category);
            prop_assert!(strings.len() <= cap);
            let distinct: std::collections::HashSet<_> = strings.iter().collect();
            prop_assert_eq!(distinct.len(), strings.len());
            for string in strings {
                // A rich form comes in the order of its string, or not at all.
                let is_of = |note: &&InheritedNote| {
                    let text = note.text.split(" […]").next().unwrap();
                    note.kind == category.kind() && string.starts_with(text)
                };
                if let Some(note) = notes.next_if(is_of) {
                    prop_assert!(block.lineage.contains(&note.from_session));
                }
            }
        }
        prop_assert!(notes.next().is_none());
        prop_assert_eq!(read(&serde_json::from_str(&text).unwrap()), (block, vec![]));
    }

    #[test]
    fn nothing_is_left_out_uncounted(a in any_source("a"), max_tokens in 150usize..3000) {
        let options = Options { max_tokens, ..Options::default() };
        let all = Options { max_tokens: usize::MAX, caps: Caps { learnings: 999, patterns: 999, warnings: 999, decisions: 999 }, ..options };
        let (small, big) = (merge(a.clone(), vec![], &options, &hold), merge(a, vec![], &all, &hold));
        let t = small.truncated;
        let left_out = [t.learnings, t.patterns, t.warnings, t.decisions];
        for (category, left_out) in Category::NOTES.into_iter().zip(left_out) {
            let (kept, all) = (small.strings(category), big.strings(category));
            prop_assert_eq!(kept.len() + left_out, all.len());
            prop_assert_eq!(kept, &all[left_out..]);
        }
    }
}
