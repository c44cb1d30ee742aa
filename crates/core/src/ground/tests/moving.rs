//! What has moved, what is gone, and what nobody can tell.

use super::{AUTH, Files, cited, verdict};
use crate::ground::{Cited, Verdict};

const TWO: &str = "fn rotate(token: &str) {\n    check(token)?;\n    go();\n}\n\nfn revoke(token: &str) {\n    check(token)?;\n    end();\n}\n";

fn inside(line: u32, symbol: &str) -> Cited<'_> {
    Cited { symbol: Some(symbol.into()), ..cited("a.rs", line, "check(token)?;") }
}

#[test]
fn a_check_that_was_deleted_from_one_function_is_not_the_one_in_another() {
    let mut files = Files::default().with("a.rs", TWO);
    assert_eq!(verdict(&mut files, inside(2, "rotate")), Verdict::Verified);
    assert_eq!(verdict(&mut files, inside(7, "revoke")), Verdict::Verified);
    let deleted = TWO.replacen("    check(token)?;\n", "", 1);
    let mut files = Files::default().with("a.rs", &deleted);
    assert_eq!(verdict(&mut files, inside(2, "rotate")), Verdict::QuoteAbsent);
    assert_eq!(verdict(&mut files, inside(7, "revoke")), Verdict::Nearby { line: 6 });
    // The other one came to stand exactly where it was.
    let shifted =
        TWO.replacen("fn rotate(token: &str) {\n    check(token)?;\n    go();\n}\n\n", "", 1);
    let shifted = format!("{shifted}\nfn rotate(token: &str) {{\n    go();\n}}\n");
    let mut files = Files::default().with("a.rs", &shifted);
    assert_eq!(verdict(&mut files, inside(2, "rotate")), Verdict::QuoteAbsent);
    // A function that has another name now, or is gone: that another one has the same line, however near,
    // says nothing.
    let renamed = deleted.replace("fn rotate", "fn turn");
    let mut files = Files::default().with("a.rs", &renamed);
    assert_eq!(verdict(&mut files, inside(2, "rotate")), Verdict::Ambiguous { places: 1 });
    let method =
        "class Auth {\n  revoke(token) {\n    if (a) {\n      check(token)?;\n    }\n  }\n}\n";
    let mut files = Files::default().with("a.rs", method);
    assert_eq!(verdict(&mut files, inside(3, "rotate")), Verdict::Ambiguous { places: 1 });
    // What stands in no function at all is not another one's.
    let outside = "use a::b;\n\nif ready(a) {\n    check(token)?;\n}\n";
    let mut files = Files::default().with("a.rs", outside);
    assert_eq!(verdict(&mut files, inside(2, "rotate")), Verdict::Nearby { line: 4 });
    let far = format!("{}{renamed}", "use a::b;\n".repeat(30));
    let mut files = Files::default().with("a.rs", &far);
    assert_eq!(verdict(&mut files, inside(2, "rotate")), Verdict::Ambiguous { places: 1 });
}

#[test]
fn a_comment_is_not_code_and_a_quote_of_a_comment_is() {
    let text = "// check(token)?; was here\nfn rotate() {}\n// grace is 900\n";
    let mut files = Files::default().with("a.rs", text).with("a.md", text);
    assert_eq!(verdict(&mut files, cited("a.rs", 1, "check(token)?;")), Verdict::QuoteAbsent);
    assert_eq!(
        verdict(&mut files, cited("a.rs", 9, "check(token)?;")),
        Verdict::LineOutOfRange { lines: 3 }
    );
    assert_eq!(verdict(&mut files, cited("a.rs", 3, "// grace is 900")), Verdict::Verified);
    assert_eq!(verdict(&mut files, cited("a.md", 1, "check(token)?;")), Verdict::Verified);
}

#[test]
fn code_has_moved_to_another_file_only_if_that_did_not_always_have_it() {
    let quote = "fn rotate(token: &str) {";
    let files = || Files::default().with("a.rs", "mod b;\n").with("b.rs", AUTH);
    let moved = Verdict::Moved { path: Some("b.rs".to_owned()), line: 3 };
    assert_eq!(verdict(&mut files(), cited("a.rs", 1, quote)), moved);
    let mut always = Files { always: vec!["b.rs"], ..files() };
    assert_eq!(verdict(&mut always, cited("a.rs", 1, quote)), Verdict::QuoteAbsent);
    let in_rotate = || Cited { symbol: Some("rotate".into()), ..cited("a.rs", 1, quote) };
    assert_eq!(verdict(&mut always, in_rotate()), moved, "it is the same function");
    let mut unknown = Files { unknown: vec!["b.rs"], ..files() };
    assert_eq!(verdict(&mut unknown, cited("a.rs", 1, quote)), Verdict::Ambiguous { places: 1 });
    assert_eq!(
        verdict(&mut unknown, cited("a.rs", 1, quote)).to_string(),
        "no longer there; the quote is in one other place, which need not be the same"
    );
}

#[test]
fn a_quote_of_whole_lines_stands_only_where_whole_lines_say_it() {
    let whole = |line, quote| Cited { whole: true, ..cited("a.rs", line, quote) };
    let (line, grown) = ("retries = 3", "retries = 3 * attempts");
    let text = |line: &str| format!("fn go() {{\n    {line}\n\n}}\n");
    let mut files = Files::default().with("a.rs", &text(line));
    assert_eq!(verdict(&mut files, whole(2, line)), Verdict::Verified);
    assert_eq!(verdict(&mut files, whole(1, "fn go() {\n    retries = 3")), Verdict::Verified);
    assert_eq!(verdict(&mut files, whole(2, "retries = 3\n\n}")), Verdict::Verified);
    // The line grew behind a word, before one, and in another file.
    for grown in [grown, "let retries = 3"] {
        let mut files = Files::default().with("a.rs", &text(grown)).with("b.rs", &text(grown));
        assert_eq!(verdict(&mut files, whole(2, line)), Verdict::QuoteAbsent, "{grown}");
        assert_eq!(verdict(&mut files, cited("a.rs", 2, line)), Verdict::Verified, "{grown}");
    }
    let mut files = Files::default().with("a.rs", &text(grown)).with("b.rs", &text(line));
    let moved = Verdict::Moved { path: Some("b.rs".to_owned()), line: 2 };
    assert_eq!(verdict(&mut files, whole(2, line)), moved);
}
