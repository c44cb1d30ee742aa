use std::collections::{BTreeMap, HashMap, HashSet};

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::evidence::Evidence;
use crate::id::{NoteId, SessionId};
use crate::note::{Kind, Note, Origin, Source};

mod losing;

fn id(number: u128) -> NoteId {
    NoteId::new(Uuid::from_u128(number))
}

fn note(number: u128, kind: Kind, text: &str) -> Note {
    Note {
        id: id(number),
        kind,
        text: text.to_owned(),
        rationale: None,
        session: SessionId::new(Uuid::from_u128(2)),
        at: "2026-01-12T14:30:00Z".parse().unwrap(),
        evidence: Vec::new(),
        basis: None,
        issue: None,
        case: None,
        superseded_by: None,
        source: None,
        author: None,
    }
}

fn model() -> Model {
    let mut rotate = note(1, Kind::Decision, "Rotate refresh tokens");
    rotate.rationale = Some("replay attacks".to_owned());
    rotate.evidence =
        vec![Evidence { quote: Some("fn rotate()".to_owned()), ..Evidence::at("src/auth.rs", 12) }];
    Model {
        task: Some("hl-4f2 rotate tokens".to_owned()),
        checkpoint: Some("2026-01-12T15:00:00Z".parse().unwrap()),
        reasoning: Some("grace period done".to_owned()),
        identifiers: vec![Identifier {
            place: "src/auth.rs:12".to_owned(),
            purpose: "Rotate refresh tokens".to_owned(),
            verified: "2026-01-12".to_owned(),
        }],
        decisions: vec![rotate],
        items: vec![
            note(2, Kind::Question, "Per client?"),
            note(3, Kind::NextStep, "Clock skew"),
            note(4, Kind::Scenario, "Expires at the boundary"),
        ],
    }
}

/// What the ledger knows of a page that shows `model`.
fn known(model: &Model) -> Known {
    let notes = model.decisions.iter().chain(&model.items);
    let values = [&model.task, &model.reasoning].into_iter().flatten();
    Known {
        notes: notes.map(|note| (note.id, note.clone())).collect(),
        rows: model.identifiers.iter().map(row).collect(),
        values: values.map(|value| plain(value)).collect(),
        oldest: HashMap::new(),
    }
}

fn written(existing: Option<&str>, model: &Model) -> String {
    render(existing, model, &known(model), &BTreeMap::new())
}

#[test]
fn a_new_page_has_the_structure_of_the_protocol() {
    insta::assert_snapshot!(written(None, &model()), @r"
    # Notes

    ## Session Continuity
    <!-- CRITICAL: Load this section FIRST after /clear (~100 tokens) -->
    <!-- Kept by heirloom from its ledger; edits are taken in -->

    ### Active Context
    - **Current Bead**: hl-4f2 rotate tokens
    - **Last Checkpoint**: 2026-01-12T15:00:00Z
    - **Reasoning State**: grace period done

    ### Lightweight Identifiers
    | Identifier | Purpose | Last Verified |
    |------------|---------|---------------|
    | ${PROJECT_ROOT}/src/auth.rs:12 <!-- hl --> | Rotate refresh tokens | 2026-01-12 |

    ### Decision Log
    <!-- Decisions survive context wipes - permanent record -->

    #### 2026-01-12T14:30:00Z - Rotate refresh tokens <!-- hl:00000000-0000-0000-0000-000000000001 -->
    **Decision**: Rotate refresh tokens
    **Rationale**: replay attacks
    **Evidence**:
    - `fn rotate()` [${PROJECT_ROOT}/src/auth.rs:12]
    <!-- /hl:00000000 -->

    ### Pending Questions
    <!-- Carry forward across sessions -->

    - [ ] Per client? <!-- hl:00000000-0000-0000-0000-000000000002 -->

    ### Active Sub-Goals
    <!-- What comes next -->

    - [ ] Clock skew <!-- hl:00000000-0000-0000-0000-000000000003 -->

    ### Test Scenarios
    <!-- Cases the work must be tested with -->

    - Expires at the boundary <!-- hl:00000000-0000-0000-0000-000000000004 -->

    <!-- heirloom:end -->
    ");
}

#[test]
fn what_was_rendered_is_read_back_and_rendering_again_changes_nothing() {
    let text = written(None, &model());
    let page = read(&text);
    assert_eq!(page.tasks, ["hl-4f2 rotate tokens"]);
    assert_eq!(page.reasonings, ["grace period done"]);
    assert_eq!(page.decisions.len(), 1);
    let decision = &page.decisions[0];
    assert_eq!(decision.mark, Some(Mark::of(id(1))));
    assert!(decision.says(&model().decisions[0]));
    assert_eq!(
        (decision.text.as_str(), decision.rationale.as_deref()),
        ("Rotate refresh tokens", Some("replay attacks"))
    );
    assert_eq!(decision.evidence, model().decisions[0].evidence);
    assert_eq!(page.items.len(), 3);
    assert!(page.items.iter().all(|item| item.mark.is_some() && !item.done));
    assert!(page.violations.is_empty());
    assert_eq!(written(Some(&text), &model()), text);
}

#[test]
fn what_others_wrote_stays_where_it_is() {
    let text = written(None, &model());
    let text = text
        .replace("# Notes\n", "# Our project\n\nHand-written intro.\n")
        .replace("- **Reasoning State**: grace", "- **Owner**: Ada\n- **Reasoning State**: grace")
        .replace("|---------------|\n", "|---------------|\n| ${PROJECT_ROOT}/src/mine.rs:3 | by hand | today |\n")
        .replace("[${PROJECT_ROOT}/src/auth.rs:12]\n", "[${PROJECT_ROOT}/src/auth.rs:12]\nSee the RFC, too.\n")
        .replace("### Pending Questions\n", "### Pending Questions\nAsk Bob about these.\n")
        .replace("<!-- heirloom:end -->\n", "### Retrospective\nIt went well.\n\n<!-- heirloom:end -->\n\n## Appendix\n\n- [ ] not an item of ours\n");
    let again = written(Some(&text), &model());
    for kept in [
        "# Our project",
        "Hand-written intro.",
        "- **Owner**: Ada",
        "src/mine.rs:3",
        "See the RFC, too.",
        "Ask Bob about these.",
        "### Retrospective\nIt went well.",
        "## Appendix\n\n- [ ] not an item of ours",
    ] {
        assert_eq!(again.matches(kept).count(), 1, "{kept}\n{again}");
    }
    assert_eq!(written(Some(&again), &model()), again);
}

#[test]
fn edits_and_new_entries_are_seen() {
    let text = written(None, &model())
        .replace("**Decision**: Rotate refresh tokens", "**Decision**: Rotate access tokens")
        .replace("- [ ] Clock skew", "- [x] Clock skew")
        .replace("### Pending Questions\n", "### Pending Questions\n- [ ] Who pays?\n")
        .replace("### Decision Log\n", "### Decision Log\n\n#### 2026-01-13T00:00:00Z - Grace\n**Decision**: 15 minutes grace\n**Rationale**: UX\n**Test Scenarios**:\n1. Happy\n2. Edge\n");
    let page = read(&text);
    assert_eq!(page.decisions.len(), 2);
    let grace = &page.decisions[0];
    assert_eq!((grace.mark.clone(), grace.text.as_str()), (None, "15 minutes grace"));
    assert_eq!((grace.title.as_str(), grace.date), ("Grace", "2026-01-13T00:00:00Z".parse().ok()));
    assert_eq!(page.decisions[0].scenarios, ["Happy", "Edge"]);
    assert_eq!(page.decisions[1].text, "Rotate access tokens");
    let item = |text: &str| page.items.iter().find(|item| item.text == text).unwrap();
    assert!(item("Clock skew").done && item("Clock skew").mark.is_some());
    assert_eq!(item("Who pays?").mark, None);
}

#[test]
fn a_heading_in_a_fence_is_not_one() {
    let text = "# A\n```md\n## Session Continuity\n### Decision Log\n#### x\n**Decision**: not one\n```\n~~~~\n## B\n~~~\n~~~~\n## C\n";
    let titles: Vec<String> = outline(text).into_iter().map(|block| block.title).collect();
    assert_eq!(titles, ["A", "C"]);
    assert!(read(text).decisions.is_empty());
    assert!(written(Some(text), &Model::default()).contains("**Decision**: not one\n```"));
}

#[test]
fn paths_that_are_not_from_the_root_are_reported() {
    let text = "- `x` [src/auth.rs:45]\n- `x` [./src/a.rs:4]\n- `x` [/home/u/a.rs:4-9]\n- `x` [${PROJECT_ROOT}/a.rs:4]\n- [ ] todo\n[link](http://x:80)\n| src/b.rs:3 | p | t |\n```\n[src/c.rs:1]\n```\n";
    let found: Vec<(usize, String)> =
        read(text).violations.into_iter().map(|found| (found.line, found.path)).collect();
    assert_eq!(
        found,
        [
            (1, "src/auth.rs:45".to_owned()),
            (2, "./src/a.rs:4".to_owned()),
            (3, "/home/u/a.rs:4-9".to_owned()),
            (7, "src/b.rs:3".to_owned())
        ]
    );
}

#[test]
fn a_page_that_was_cut_off_is_noticed() {
    let text = written(None, &model());
    assert!(!is_truncated(&text));
    assert!(is_truncated(&text[..text.len() - 40]));
    assert!(!is_truncated("# Notes by hand\n"));
}

/// A page with an edit on it, as `marks` and the ledger make of it.
#[test]
fn what_the_ledger_replaced_is_replaced_in_its_place_and_only_if_heirloom_wrote_it() {
    let before = model();
    let text = written(None, &before);
    let mut after = before.clone();
    after.decisions[0] = note(9, Kind::Decision, "Rotate them all");
    let mut known = known(&before);
    known.notes.get_mut(&id(1)).unwrap().superseded_by = Some(id(9));
    let page = render(Some(&text), &after, &known, &BTreeMap::new());
    assert!(page.contains(&format!("<!-- hl:{} was:{} -->", id(9), id(1))), "{page}");
    assert!(!page.contains("replay attacks"));
    let by_hand = text.replace("replay attacks", "replay attacks, see the RFC");
    let page = render(Some(&by_hand), &after, &known, &BTreeMap::new());
    assert!(page.contains("see the RFC") && page.contains("**Decision**: Rotate them all"));
}

#[test]
fn what_is_done_is_ticked_so_that_other_ledgers_see_it() {
    let before = model();
    let text = written(None, &before).replace("- [ ] Clock skew", "- [ ]  Clock skew,  by hand");
    let mut known = known(&before);
    known.notes.get_mut(&id(2)).unwrap().superseded_by = Some(id(9));
    known.notes.get_mut(&id(3)).unwrap().superseded_by = Some(id(9));
    let after = Model { items: vec![before.items[2].clone()], ..before };
    let page = render(Some(&text), &after, &known, &BTreeMap::new());
    assert!(page.contains("- [x] Per client? <!-- hl:"), "{page}");
    assert!(page.contains("- [x]  Clock skew,  by hand <!-- hl:"), "{page}");
    assert_eq!(render(Some(&page), &after, &known, &BTreeMap::new()), page);
}

#[test]
fn the_example_of_the_protocol_keeps_its_title_its_date_and_every_line() {
    let text = "## Session Continuity\n<!-- CRITICAL: Load this section FIRST after /clear (~100 tokens) -->\n\n### Decision Log\n<!-- Decisions survive context wipes - permanent record -->\n\n#### 2024-01-15T14:30:00Z - Decision Title\n**Decision**: What we decided\n**Rationale**: Why we decided it\n**Evidence**:\n- `code quote` [${PROJECT_ROOT}/file.ts:line]\n**Test Scenarios**:\n1. Happy path scenario\n2. Edge case scenario\n\n### Pending Questions\n<!-- Carry forward across sessions -->\n- [ ] Open question 1\n";
    let page = read(text);
    let decision = &page.decisions[0];
    assert_eq!(decision.title, "Decision Title");
    assert_eq!(decision.date, "2024-01-15T14:30:00Z".parse().ok());
    assert_eq!(decision.scenarios.len(), 2);
    assert_eq!(page.unclear.iter().map(|unclear| unclear.line).collect::<Vec<_>>(), [11]);
    let mark = Mark { by: Some("Ada".to_owned()), ..Mark::of(id(7)) };
    let marks = BTreeMap::from([(decision.lines.start, mark)]);
    let mut taken = note(7, Kind::Decision, "What we decided");
    taken.source = Some(Source {
        origin: Origin::Page,
        at: decision.date,
        title: Some(decision.title.clone()),
        ..Source::default()
    });
    let model = Model { decisions: vec![taken], ..Model::default() };
    let after = render(Some(text), &model, &known(&model), &marks);
    let heading =
        format!("#### 2024-01-15T14:30:00Z - Decision Title <!-- hl:{} by Ada -->\n", id(7));
    assert!(after.contains(&heading), "{after}");
    assert_eq!(
        after.replace(&heading, "#### 2024-01-15T14:30:00Z - Decision Title\n"),
        format!("{text}\n{END}\n")
    );
    // Elsewhere, where the page has to be written anew, they are the same.
    let anew = written(None, &model);
    assert!(anew.contains("#### 2024-01-15T14:30:00Z - Decision Title <!-- hl:"), "{anew}");
}

#[test]
fn a_part_that_somebody_took_away_comes_back_only_with_something_to_put_into_it() {
    let text = written(None, &Model::default());
    let text =
        text.replace("### Test Scenarios\n<!-- Cases the work must be tested with -->\n\n", "");
    assert_eq!(written(Some(&text), &Model::default()), text);
    let page = written(Some(&text), &model());
    assert!(page.contains("### Test Scenarios\n<!-- Cases the work must be tested with -->\n\n- Expires at the boundary <!-- hl:"), "{page}");
    assert!(page.ends_with("\n\n<!-- heirloom:end -->\n"), "{page}");
}

#[test]
fn what_git_made_of_two_pages_is_one_page_again() {
    let one = written(None, &model());
    let doubled = one
        .replace("- **Last Checkpoint**: 2026-01-12T15:00:00Z\n", "- **Last Checkpoint**: 2026-01-12T15:00:00Z\n- **Last Checkpoint**: 2026-01-11T15:00:00Z\n")
        .replace("- [ ] Clock skew", "- [ ] Per client? <!-- hl:00000000-0000-0000-0000-000000000002 -->\n- [ ] Clock skew");
    assert_eq!(written(Some(&doubled), &model()).matches("Last Checkpoint").count(), 1);
    let again = written(Some(&doubled), &model());
    // The second is under another heading, where it is no question.
    assert_eq!(again.matches("Per client?").count(), 2, "{again}");
}

#[test]
fn a_page_that_cannot_be_understood_is_left_as_it_is_and_named() {
    let ours = written(None, &model());
    let conflict = ours
        .replace("- [ ] Clock skew", "<<<<<<< HEAD\n- [ ] Clock skew\n=======\n>>>>>>> b\n- [ ] x");
    let unclosed = ours.replace("### Decision Log\n", "### Decision Log\n```\n");
    let alone = "# Mine\n\n<!-- a comment\n".to_owned();
    for text in [conflict, unclosed, alone] {
        assert!(read(&text).blocked.is_some(), "{text}");
        assert_eq!(written(Some(&text), &model()), text);
    }
    let behind = format!("{ours}\n## Mine\n```\nunclosed\n");
    assert_eq!(read(&behind).blocked, None);
}

#[test]
fn entries_beyond_what_is_shown_go_many_at_a_time() {
    let notes: Vec<Note> =
        (0..60).map(|n| note(100 + n, Kind::Decision, &format!("number {n}"))).collect();
    let all = Model { decisions: notes.clone(), ..Model::default() };
    let text = written(None, &all);
    let mut known = known(&all);
    let kept = note(200, Kind::Decision, "the newest");
    known.oldest.insert(Kind::Decision, "2026-01-13T00:00:00Z".parse().unwrap());
    let model = Model { decisions: vec![kept], ..Model::default() };
    let page = render(Some(&text), &model, &known, &BTreeMap::new());
    assert_eq!(read(&page).decisions.len(), 1, "{page}");
    let few = Model { decisions: notes[..40].to_vec(), ..Model::default() };
    let page = render(Some(&written(None, &few)), &model, &known, &BTreeMap::new());
    assert_eq!(read(&page).decisions.len(), 41);
}

#[test]
fn what_is_forgotten_is_taken_off_and_all_else_stays() {
    let mut model = model();
    model.decisions.push(note(5, Kind::Decision, "Log refusals in full"));
    model.reasoning = Some("Rotate refresh tokens".to_owned());
    let before = render(Some("# Notes\n\nOurs.\n"), &model, &known(&model), &BTreeMap::new());
    let gone = [model.decisions[0].clone(), model.items[1].clone()];
    let after = without(&before, &gone);
    for words in ["Rotate refresh", "replay attacks", "fn rotate()", "Clock skew"] {
        assert!(before.contains(words) && !after.contains(words), "{words}: {after}");
    }
    for words in
        ["Ours.", "Log refusals in full", "Per client?", "- **Reasoning State**: none", END]
    {
        assert!(after.contains(words), "{words}: {after}");
    }
    assert_eq!(without(&after, &gone), after);
    assert_eq!(without("no page", &gone), "no page");
}

#[test]
fn a_person_s_lines_and_line_endings_stay_when_notes_are_forgotten() {
    let mut model = model();
    model.reasoning = Some("Rotate refresh tokens".to_owned());
    let page = render(Some("# Notes\n"), &model, &known(&model), &BTreeMap::new());
    let theirs =
        "- **Ours**: Rotate refresh tokens\n- **Reasoning State**: Rotate refresh tokens\n";
    let page = page.replace(END, &format!("- **Ours**: Rotate refresh tokens\n{END}"));
    let page = format!("{page}\n## Rules\n{theirs}").replace('\n', "\r\n");
    let other = note(9, Kind::Decision, "Nothing that the page shows");
    assert_eq!(without(&page, &[other]), page);
    let after = without(&page, &[model.decisions[0].clone()]);
    assert!(after.ends_with(&format!("## Rules\r\n{}", theirs.replace('\n', "\r\n"))), "{after}");
    assert_eq!(after.matches("- **Ours**: Rotate refresh tokens\r\n").count(), 2, "{after}");
    assert!(after.contains("- **Reasoning State**: none\r\n"), "{after}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
}
