use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::evidence::Evidence;
use crate::id::{NoteId, SessionId};
use crate::note::{Kind, Note};

fn note(number: u128, kind: Kind, text: &str) -> Note {
    Note {
        id: NoteId::new(Uuid::from_u128(number)),
        kind,
        text: text.to_owned(),
        rationale: None,
        session: SessionId::new(Uuid::from_u128(2)),
        at: "2026-01-12T14:30:00Z".parse().unwrap(),
        evidence: Vec::new(),
        basis: None,
        issue: None,
        superseded_by: None,
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

#[test]
fn a_new_page_has_the_structure_of_the_protocol() {
    insta::assert_snapshot!(render(None, &model()), @r"
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

    #### 2026-01-12T14:30:00Z - Rotate refresh tokens <!-- hl:00000000-0000-0000-0000-000000000001 -->
    **Decision**: Rotate refresh tokens
    **Rationale**: replay attacks
    **Evidence**:
    - `fn rotate()` [${PROJECT_ROOT}/src/auth.rs:12]

    ### Pending Questions
    - [ ] Per client? <!-- hl:00000000-0000-0000-0000-000000000002 -->

    ### Active Sub-Goals
    - [ ] Clock skew <!-- hl:00000000-0000-0000-0000-000000000003 -->

    ### Test Scenarios
    - Expires at the boundary <!-- hl:00000000-0000-0000-0000-000000000004 -->

    <!-- heirloom:end -->
    ");
}

#[test]
fn what_was_rendered_is_read_back_and_rendering_again_changes_nothing() {
    let text = render(None, &model());
    let page = read(&text);
    assert_eq!(page.task.as_deref(), Some("hl-4f2 rotate tokens"));
    assert_eq!(page.reasoning.as_deref(), Some("grace period done"));
    assert_eq!(page.decisions.len(), 1);
    let decision = &page.decisions[0];
    assert_eq!(decision.id, Some(model().decisions[0].id));
    assert_eq!(
        (decision.text.as_str(), decision.rationale.as_deref()),
        ("Rotate refresh tokens", Some("replay attacks"))
    );
    assert_eq!(decision.evidence, model().decisions[0].evidence);
    assert_eq!(page.items.len(), 3);
    assert!(page.items.iter().all(|item| item.id.is_some() && !item.done));
    assert!(page.violations.is_empty());
    assert_eq!(render(Some(&text), &model()), text);
}

#[test]
fn what_others_wrote_stays_where_it_is() {
    let text = render(None, &model());
    let text = text
        .replace("# Notes\n", "# Our project\n\nHand-written intro.\n")
        .replace("- **Reasoning State**: grace", "- **Owner**: Ada\n- **Reasoning State**: grace")
        .replace("|---------------|\n", "|---------------|\n| ${PROJECT_ROOT}/src/mine.rs:3 | by hand | today |\n")
        .replace("[${PROJECT_ROOT}/src/auth.rs:12]\n", "[${PROJECT_ROOT}/src/auth.rs:12]\nSee the RFC, too.\n")
        .replace("### Pending Questions\n", "### Pending Questions\nAsk Bob about these.\n")
        .replace("<!-- heirloom:end -->\n", "### Retrospective\nIt went well.\n\n<!-- heirloom:end -->\n\n## Appendix\n\n- [ ] not an item of ours\n");
    let again = render(Some(&text), &model());
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
    assert_eq!(render(Some(&again), &model()), again);
}

#[test]
fn edits_and_new_entries_are_seen() {
    let text = render(None, &model())
        .replace("**Decision**: Rotate refresh tokens", "**Decision**: Rotate access tokens")
        .replace("- [ ] Clock skew", "- [x] Clock skew")
        .replace("### Pending Questions\n", "### Pending Questions\n- [ ] Who pays?\n")
        .replace("### Decision Log\n", "### Decision Log\n\n#### 2026-01-13T00:00:00Z - Grace\n**Decision**: 15 minutes grace\n**Rationale**: UX\n**Test Scenarios**:\n1. Happy\n2. Edge\n");
    let page = read(&text);
    assert_eq!(page.decisions.len(), 2);
    assert_eq!((page.decisions[0].id, page.decisions[0].text.as_str()), (None, "15 minutes grace"));
    assert_eq!(page.decisions[0].scenarios, ["Happy", "Edge"]);
    assert_eq!(page.decisions[1].text, "Rotate access tokens");
    let item = |text: &str| page.items.iter().find(|item| item.text == text).unwrap();
    assert!(item("Clock skew").done && item("Clock skew").id.is_some());
    assert_eq!(item("Who pays?").id, None);
}

#[test]
fn a_heading_in_a_fence_is_not_one() {
    let text = "# A\n```md\n## Session Continuity\n### Decision Log\n#### x\n**Decision**: not one\n```\n~~~~\n## B\n~~~\n~~~~\n## C\n";
    let titles: Vec<String> = outline(text).into_iter().map(|block| block.title).collect();
    assert_eq!(titles, ["A", "C"]);
    assert!(read(text).decisions.is_empty());
    assert!(render(Some(text), &Model::default()).contains("**Decision**: not one\n```"));
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
    let text = render(None, &model());
    assert!(!is_truncated(&text));
    assert!(is_truncated(&text[..text.len() - 40]));
    assert!(!is_truncated("# Notes by hand\n"));
}

proptest! {
    #[test]
    fn rendering_is_stable_whatever_is_on_the_page(
        intro in "[a-z#` \n|\\[\\]-]{0,80}", texts in proptest::collection::vec(".{1,60}", 0..4)
    ) {
        let notes = |kind| {
            let kept = texts.iter().enumerate().filter(|(_, text)| !plain(text).is_empty());
            kept.map(move |(number, text)| note(number as u128 + 10, kind, text)).collect::<Vec<_>>()
        };
        let model = Model { decisions: notes(Kind::Decision), items: notes(Kind::Question), ..Model::default() };
        let once = render(Some(&intro), &model);
        prop_assert_eq!(render(Some(&once), &model), once.clone());
        let fenced = intro.contains("```");
        if !fenced {
            prop_assert_eq!(read(&once).decisions.iter().filter(|d| d.id.is_some()).count(), model.decisions.len());
        }
    }
}
