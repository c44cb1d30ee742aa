//! Properties of the whole: no planted secret survives, nothing else changes.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{has_secret, redact, redact_json};

/// One secret of each reader, put together here so that no scanner takes this file for a leak.
fn secrets() -> Vec<String> {
    let body = "a8Kq2ZrT5vXw9LmN3pYc7BdF1gHj4sUe6QtR0xVy";
    vec![
        format!("ghp{}{}", "_", &body[..36]),
        format!("glpat{}{}", "-", &body[..20]),
        format!("sk-ant{}api03-{body}", "-"),
        format!("xoxb{}123456789012-1234567890123-{}", "-", &body[..24]),
        format!("sk{}live_{}", "_", &body[..24]),
        format!("dop{}v1_{}", "_", "0f1e2d3c4b5a6978".repeat(4)),
        format!("AIza{}", &body[..35]),
        format!("SG.{}.{}", &body[..22], body),
    ]
}

fn surrounding() -> impl Strategy<Value = String> {
    prop_oneof![
        // Any text that does not run on into the secret.
        "\\PC{0,40}[ \n\"'(,;=>]",
        "[a-zA-Z_ ]{0,20}(=|: |=\"|\": \")",
        Just(String::new()),
        Just("\\n".to_owned()),
        Just("https://host/?token=".to_owned()),
        Just("Authorization: Bearer ".to_owned()),
        Just("日本語:".to_owned()),
    ]
}

proptest! {
    #[test]
    fn a_planted_secret_never_survives(
        before in surrounding(),
        secret in prop::sample::select(secrets()),
        after in "([ \n\"'),;&é]\\PC{0,40})?",
    ) {
        let text = format!("{before}{secret}{after}");
        let redacted = redact(&text);
        prop_assert!(!redacted.text.contains(&secret), "{:?}", redacted.text);
    }

    #[test]
    fn redacting_twice_changes_nothing(
        before in surrounding(),
        secret in prop::sample::select(secrets()),
        after in "\\PC{0,40}",
    ) {
        let once = redact(&format!("{before}{secret}{after}")).text.into_owned();
        prop_assert_eq!(redact(&once).text, once.as_str());
    }

    #[test]
    fn what_looks_like_settings_is_redacted_once_and_for_all(text in SETTINGS) {
        let once = redact(&text).text.into_owned();
        prop_assert_eq!(redact(&once).text, once.as_str());
    }

    #[test]
    fn any_text_is_read_without_panic_and_spans_are_in_order(text in "(?s).{0,200}") {
        check_spans(&text)?;
    }

    #[test]
    fn what_is_called_clean_is_left_as_it_is(name in "[a-zA-Z_-]{0,9}", text in SETTINGS, more in KEYWORDS) {
        let mut value = json!({name.clone(): text, "name": name, "value": more, "list": [more, text]});
        let is_clean = super::is_clean_json(&value.to_string());
        prop_assert!(!is_clean || redact_json(&mut value) == 0, "{value}");
    }

    #[test]
    fn any_text_of_keywords_is_read_without_panic(text in KEYWORDS) {
        check_spans(&text)?;
    }

    #[test]
    fn plain_words_come_back_borrowed(text in "([a-z]{1,12}[ ,.]){0,40}") {
        prop_assert!(matches!(redact(&text).text, Cow::Borrowed(_)));
    }

    #[test]
    fn a_json_value_keeps_no_planted_secret(
        secret in prop::sample::select(secrets()),
        name in "[a-z]{1,8}",
        depth in 0usize..4,
    ) {
        let mut value = json!({ name.clone(): [1, { "said": format!("it is {secret} here") }] });
        for _ in 0..depth {
            value = json!([value, { format!("x {secret}"): null, "t": { secret.clone(): secret } }]);
        }
        let count = redact_json(&mut value);
        prop_assert!(count > 0 && !value.to_string().contains(&secret));
        prop_assert_eq!(redact_json(&mut value), 0);
    }

    #[test]
    fn a_json_text_has_a_secret_if_redacting_it_finds_one(value in any_json()) {
        let text = value.to_string();
        prop_assert_eq!(has_secret(&text).unwrap(), redact_json(&mut value.clone()) > 0);
    }

    #[test]
    fn a_secret_is_found_however_its_letters_are_spelled(secret in prop::sample::select(secrets())) {
        let letters: Vec<String> =
            secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let spelled = letters.concat();
        let text = format!(r#"{{"said":"it is {spelled} here"}}"#);
        prop_assert!(has_secret(&text).unwrap());
        let slashes = json!({ "said": secret }).to_string().replace('/', "\\/");
        prop_assert!(has_secret(&slashes).unwrap());
    }
}

/// JSON with the names and the values that matter, in any combination.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        prop::sample::select(vec!["name", "value", "key", "--token", "password", "text", "id"])
            .prop_map(str::to_owned),
        Just("q9w8e7r6t5y4u3i2o1p0".to_owned()),
        prop::sample::select(secrets()),
        "[a-z ]{0,12}",
        SETTINGS,
    ];
    let leaf = prop_oneof![
        word.clone().prop_map(Value::String),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        let entries = prop::collection::vec((word.clone(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
            entries.prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

const SETTINGS: &str = concat!(
    r#"(password|api_key|TOKEN|secret|auth|Authorization|key|url)(=|: |":"| = ")"#,
    r#"(Bearer |Basic |postgres://u:)?[!-~]{0,40}(@host/db)?["\n ]?(password|token)?[=:]?[!-~]{0,12}"#
);
const KEYWORDS: &str = concat!(
    r#"(-----BEGIN |PRIVATE KEY|-----|-----END |://|password|=|:|"|\\|token|'|Bearer |ü|"#,
    "@|\n|Cookie: |curl|-u |AKIA|eyJ|\\.|[a-zA-Z0-9+/]{0,70}|<|>|is |login | ){0,30}"
);

fn check_spans(text: &str) -> Result<(), TestCaseError> {
    let redacted = redact(text);
    let mut at = 0;
    for finding in &redacted.found {
        prop_assert!(finding.span.start >= at && !finding.span.is_empty());
        prop_assert!(text.get(finding.span.clone()).is_some(), "{finding:?} splits a character");
        at = finding.span.end;
    }
    Ok(())
}

#[test]
fn the_sentence_around_a_secret_survives() {
    let url = format!("postgres://app:{}@db/app is where it writes.", "s3cr3t");
    insta::assert_snapshot!(redact(&url).text, @"postgres://app:[redacted:password]@db/app is where it writes.");
    let header = format!("Authorization: Bearer {}", "q9w8e7r6t5y4u3i2o1p0");
    insta::assert_snapshot!(redact(&header).text, @"Authorization: Bearer [redacted:bearer-token]");
}

#[test]
fn of_two_readers_the_more_specific_names_the_kind() {
    let text = format!("GITHUB_TOKEN={}", &secrets()[0]);
    let redacted = redact(&text);
    assert_eq!(redacted.found.len(), 1);
    assert_eq!(redacted.found[0].kind, "github-token");
}

#[test]
fn a_json_string_is_judged_by_its_name() {
    let mut value = json!({
        "password": "hunter2",
        "env": [{ "name": "API_KEY", "value": "q9w8e7r6t5y4u3i2o1p0" }],
        "argv": ["run", "--token", "q9w8e7r6t5y4u3i2o1p0", "--level", "3"],
        "tokens": 812,
        "token_type": "Bearer",
    });
    assert_eq!(redact_json(&mut value), 3);
    insta::assert_snapshot!(value, @r#"{"password":"[redacted:password]","env":[{"name":"API_KEY","value":"[redacted:api-key]"}],"argv":["run","--token","[redacted:token]","--level","3"],"tokens":812,"token_type":"Bearer"}"#);
}

#[test]
fn two_secret_keys_lose_no_entry() {
    let mut value = json!({ (secrets()[0].clone()): 1, (secrets()[0].replace('a', "b")): 2 });
    assert_eq!(redact_json(&mut value), 2);
    assert_eq!(value, json!({ "[redacted:github-token]": 1, "[redacted:github-token] 2": 2 }));
}

#[test]
fn a_value_that_is_no_string_is_left_alone() {
    let mut value: Value = json!({ "password": 12, "token": null, "secret": true });
    assert_eq!(redact_json(&mut value), 0);
}

#[test]
fn every_kind_fits_in_a_marker() {
    for kind in super::kinds() {
        assert!(kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
    }
}

#[test]
fn a_text_that_is_called_clean_has_nothing_that_is_taken_out() {
    let clean = |value: &serde_json::Value| super::is_clean_json(&value.to_string());
    for plain in [
        json!({"file": "2026-01-03T00-00-00_1.json", "run": "run-1", "issues": [{"issue": "bd-1-2",
            "agent_session_id": "0c1e7f52-3f1e-4d55-9d0c-000000000001", "status": "failed"}]}),
        json!({"text": "made by hand, and told: it fails at 10:30", "number": 17}),
        json!({"reason": "the gate fails at /src/path.rs: no such pattern", "log_path": "x"}),
    ] {
        assert!(clean(&plain), "{plain}");
        assert_eq!(redact_json(&mut plain.clone()), 0);
    }
    let random = "aB3xK9mQ7zP2wL5v";
    for name in [
        "DB_PASSWORD",
        "clientSecret",
        "github_pat",
        "githubPat2",
        "wifiPw",
        "GH_PAT",
        "patTest",
        "PATTest",
        "identifiedBy",
    ] {
        assert!(!clean(&json!({"a": {name: random}})), "{name}");
        assert!(!clean(&json!({"name": name, "value": random})), "{name}");
        assert!(!clean(&json!([format!("--{name}"), random])), "{name}");
    }
    // Whatever a reader looks for is the same in a JSON text: nothing of it is written otherwise there. What stands
    // before it may be.
    for rule in super::rules::all() {
        assert_eq!(json!(rule.literal).to_string(), format!("\"{}\"", rule.literal));
        assert!(!clean(&json!(format!("\n{}", rule.literal))), "{}", rule.literal);
    }
    for secret in secrets() {
        for text in [secret.clone(), format!("it is {secret}."), format!("a\n{secret}\nb")] {
            assert!(!clean(&json!({"said": [text]})), "{text}");
        }
    }
}
