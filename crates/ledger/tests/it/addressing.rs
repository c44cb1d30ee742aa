use heirloom_core::id::SessionId;
use heirloom_ledger::{Found, Ledger, Scope};

use crate::fixture::{Home, REPO, at, created};

const A: &str = "cad0ac4d-3933-45ad-9a1c-14aec05bb940";
const B: &str = "cad0ac4d-77aa-4111-8222-333344445555";

fn add(ledger: &mut Ledger, second: i64, id: &str, name: &str, agent_session_id: Option<&str>) {
    let id: SessionId = id.parse().unwrap();
    let mut session = created(name);
    session.agent_session_id = agent_session_id.map(str::to_owned);
    ledger.append(at(second), Scope::session(id, REPO), &session).unwrap();
}

fn found(ledger: &Ledger, text: &str) -> Vec<String> {
    match ledger.find(REPO, text).unwrap() {
        Found::None => Vec::new(),
        Found::One(session) => vec![session.name.to_string()],
        Found::Many(sessions) => sessions.iter().map(|session| session.name.to_string()).collect(),
    }
}

#[test]
fn a_name_an_id_and_a_prefix_mean_the_same_session() {
    let home = Home::new();
    let mut ledger = home.open();
    add(&mut ledger, 0, A, "auth-v1", None);
    for text in ["auth-v1", A, "cad0ac4d", "CAD0AC4D", "cad0ac4d-3933", "cad0ac4d393345"] {
        assert_eq!(found(&ledger, text), ["auth-v1"], "{text}");
    }
    for text in ["auth", "cad0ac4", "cad0ac4e", "deadbeef-0000"] {
        assert_eq!(found(&ledger, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn sessions_that_share_eight_characters_are_never_confused() {
    let home = Home::new();
    let mut ledger = home.open();
    add(&mut ledger, 0, A, "auth-v1", None);
    add(&mut ledger, 1, B, "auth-v2", None);
    assert_eq!(found(&ledger, "cad0ac4d"), ["auth-v1", "auth-v2"]);
    assert_eq!(found(&ledger, "cad0ac4d-3"), ["auth-v1"]);
    assert_eq!(found(&ledger, "cad0ac4d-7"), ["auth-v2"]);
    assert_eq!(found(&ledger, B), ["auth-v2"]);
}

#[test]
fn a_name_that_looks_like_another_sessions_id_is_ambiguous() {
    let home = Home::new();
    let mut ledger = home.open();
    add(&mut ledger, 0, A, "auth-v1", None);
    add(&mut ledger, 1, "11111111-77aa-4111-8222-333344445555", "cad0ac4d", None);
    assert_eq!(found(&ledger, "cad0ac4d"), ["cad0ac4d", "auth-v1"]);
    assert_eq!(found(&ledger, "11111111"), ["cad0ac4d"]);
}

#[test]
fn a_conversation_means_the_newest_session_that_went_on_with_it() {
    let home = Home::new();
    let mut ledger = home.open();
    add(&mut ledger, 0, A, "auth-v1", Some("ses_conversation"));
    add(
        &mut ledger,
        1,
        "22222222-77aa-4111-8222-333344445555",
        "auth-v2",
        Some("ses_conversation"),
    );
    assert_eq!(found(&ledger, "ses_conv"), ["auth-v2"]);
    add(&mut ledger, 2, "33333333-77aa-4111-8222-333344445555", "other", Some("ses_convent"));
    assert_eq!(found(&ledger, "ses_conv"), ["other", "auth-v2"]);
}

#[test]
fn the_newest_session_of_a_name_is_the_one_the_name_means() {
    let home = Home::new();
    let mut ledger = home.open();
    add(&mut ledger, 5, A, "auth", None);
    add(&mut ledger, 6, B, "auth", None);
    let Found::One(session) = ledger.find(REPO, "auth").unwrap() else { panic!("not one") };
    assert_eq!(session.id.to_string(), B);
    assert_eq!(ledger.find("/src/elsewhere", "auth").unwrap(), Found::None);
}

#[test]
fn a_conversation_of_many_sessions_hides_no_other() {
    let home = Home::new();
    let mut ledger = home.open();
    for n in 0..30 {
        let id = format!("{n:08}-77aa-4111-8222-333344445555");
        add(&mut ledger, n, &id, &format!("auth-v{n}"), Some("ses_conversation"));
    }
    add(&mut ledger, 40, A, "other", Some("ses_convocation"));
    assert_eq!(found(&ledger, "ses_conv"), ["auth-v29", "other"]);
}
