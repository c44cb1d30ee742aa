//! One line that is kept elsewhere is enough to notice what was done to a ledger.

use heirloom_ledger::{Head, Ledger, Report, read_heads};

use crate::fixture::{Home, fill};

fn against(ledger: &Ledger, heads: &[Head]) -> Report {
    let mut report = ledger.verify().unwrap();
    ledger.compare(heads, &mut report).unwrap();
    report
}

#[test]
fn a_ledger_that_went_on_is_what_its_old_end_says() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 3);
    let heads = ledger.heads().unwrap();
    assert_eq!((heads.len(), heads[0].seq), (1, 4));
    fill(&mut ledger, 5);
    let report = against(&ledger, &heads);
    assert!(report.ok, "{:?}", report.problems);
}

#[test]
fn a_tail_that_was_cut_off_and_a_chain_that_was_rewritten_are_found_though_all_witnesses_here_fit()
{
    let (home, other) = (Home::new(), Home::new());
    let mut ledger = home.open();
    fill(&mut ledger, 3);
    let mut export = Vec::new();
    ledger.export(&mut export).unwrap();
    // The same beginning, and another end: as if somebody had begun again from a copy.
    let kept: Vec<&[u8]> = export.split_inclusive(|byte| *byte == b'\n').collect();
    let mut short = other.open();
    short.import(&kept[..2].concat()[..]).unwrap();
    let report = against(&short, &read_heads(&export[..]).unwrap());
    assert!(!report.ok);
    let found: Vec<(&str, u64)> =
        report.problems.iter().map(|problem| (problem.problem, problem.seq)).collect();
    assert_eq!(found, [("missing", 3)]);
    // A hash that is not the one that is here.
    let mut heads = ledger.heads().unwrap();
    heads[0].seq -= 1;
    let report = against(&ledger, &heads);
    assert_eq!(report.problems[0].problem, "changed", "{:?}", report.problems);
}

#[test]
fn ends_are_read_from_exports_and_from_texts_that_say_other_things_too() {
    let home = Home::new();
    let mut ledger = home.open();
    fill(&mut ledger, 2);
    let heads = ledger.heads().unwrap();
    let mut export = Vec::new();
    ledger.export(&mut export).unwrap();
    let json = serde_json::json!({ "heads": heads }).to_string();
    let signed = format!("The ledger today\n\n{}\n-----BEGIN SIGNATURE-----\nabc\n", heads[0]);
    for text in [&export[..], json.as_bytes(), signed.as_bytes()] {
        assert_eq!(read_heads(text).unwrap(), heads);
    }
    assert!(read_heads(&b"nothing of the kind\n"[..]).is_err());
    let error = read_heads(&b"{\"host\":\n"[..]).unwrap_err();
    assert!(error.to_string().starts_with("line 1 is not a record"), "{error}");
}
