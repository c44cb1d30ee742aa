//! Inheritance, field by field: each one absent, set, set to nothing, and cleared.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

const NOW: &str = "2026-01-12T15:30:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// A config in which every field is set.
pub(super) fn full() -> Config {
    serde_json::from_value(json!({
        "model": "opus", "resolved_model": "claude-opus-5-5", "working_dir": "/w",
        "additional_dirs": ["/a"], "system_prompt": "s", "append_system_prompt": "a",
        "custom_instructions": "c", "permission_mode": "plan",
        "permission_prompt_tool": "mcp__x__y", "allowed_tools": ["Bash"],
        "disallowed_tools": ["WebFetch"],
        "mcp_servers": {"db": {"type": "stdio", "command": "db", "args": [], "env": {"A": "b"}}},
        "auto_accept_edits": true, "bypass_until": "2026-01-12T16:00:00Z", "env": ["HOME"],
        "title": "t", "max_turns": 3, "max_cost_usd": 1.5,
    }))
    .unwrap()
}

/// Another value for each field, and the emptiest one.
fn others(field: Field) -> Vec<Value> {
    match field {
        Field::AdditionalDirs | Field::AllowedTools | Field::DisallowedTools | Field::Env => {
            vec![json!(["other"]), json!([])]
        }
        Field::McpServers => {
            vec![json!({"web": {"type": "http", "url": "http://x/", "headers": {}}}), json!({})]
        }
        Field::AutoAcceptEdits => vec![json!(false)],
        Field::BypassUntil => vec![json!("2026-01-12T17:00:00Z")],
        Field::MaxTurns => vec![json!(9)],
        Field::MaxCostUsd => vec![json!(9.5)],
        _ => vec![json!("other"), json!("")],
    }
}

fn continued(parent: &Config, overrides: &Value) -> Child {
    let overrides: Overrides = serde_json::from_value(overrides.clone()).unwrap();
    inherit(parent, &overrides, Handover { parent: &["p"], child: "c", now: now() })
}

#[test]
fn absent_inherits_every_field_but_the_turn_limit() {
    let child = continued(&full(), &json!({}));
    assert_eq!(child.config, Config { max_turns: None, ..full() });
    assert!(child.overridden.is_empty());
}

#[test]
fn a_value_replaces_and_says_so_for_every_field() {
    for field in Field::ALL {
        for value in others(*field) {
            let child = continued(&full(), &json!({ field.as_str(): value }));
            assert_eq!(field.value(&child.config), value, "{field}");
            assert_eq!(child.overridden, [*field]);
            assert_rest_is_inherited(*field, &child.config);
        }
    }
}

#[test]
fn a_clear_removes_and_says_so_for_every_field() {
    for field in Field::ALL {
        let child = continued(&full(), &json!({ field.as_str(): null }));
        assert_eq!(field.value(&child.config), Value::Null, "{field}");
        assert_eq!(child.overridden, [*field]);
        assert_rest_is_inherited(*field, &child.config);
    }
}

fn assert_rest_is_inherited(changed: Field, config: &Config) {
    for field in Field::ALL.iter().filter(|field| **field != changed) {
        let follows = changed == Field::Model && *field == Field::ResolvedModel;
        let expected =
            if follows || *field == Field::MaxTurns { Value::Null } else { field.value(&full()) };
        assert_eq!(field.value(config), expected, "{field} when {changed} changes");
    }
}

#[test]
fn what_a_parent_does_not_have_stays_absent() {
    assert_eq!(continued(&Config::default(), &json!({})).config, Config::default());
}

#[test]
fn a_bypass_keeps_its_end_and_an_ended_one_does_not_apply() {
    let until = |until: &str| Config { bypass_until: Some(until.parse().unwrap()), ..full() };
    let inherited = |config| continued(&config, &json!({})).config.bypass_until;
    assert_eq!(
        inherited(until("2026-01-12T15:30:01Z")),
        until("2026-01-12T15:30:01Z").bypass_until
    );
    assert_eq!(inherited(until(NOW)), None);
}

#[test]
fn the_resolved_model_is_kept_as_long_as_the_model_is() {
    let resolved = |overrides| continued(&full(), &overrides).config.resolved_model;
    assert_eq!(resolved(json!({"model": "opus"})).as_deref(), Some("claude-opus-5-5"));
    assert_eq!(resolved(json!({"model": "haiku"})), None);
    assert_eq!(resolved(json!({"model": "haiku", "resolved_model": "h"})).as_deref(), Some("h"));
}

#[test]
fn what_identifies_the_parent_identifies_the_child() {
    let parent: Config = serde_json::from_value(json!({"mcp_servers": {
        "db": {"type": "stdio", "command": "db", "args": [],
               "env": {"HEIRLOOM_SESSION": "anything", "WHO": "p", "KEEP": "pp"}},
        "web": {"type": "http", "url": "http://x/",
                "headers": {"X-Session-ID": "old", "Authorization": "Bearer t"}},
    }}))
    .unwrap();
    let child = continued(&parent, &json!({})).config;
    assert_eq!(
        Field::McpServers.value(&child),
        json!({
            "db": {"type": "stdio", "command": "db", "args": [],
                   "env": {"HEIRLOOM_SESSION": "c", "WHO": "c", "KEEP": "pp"}},
            "web": {"type": "http", "url": "http://x/",
                    "headers": {"X-Session-ID": "c", "Authorization": "Bearer t"}},
        })
    );
}

#[test]
fn servers_that_are_given_again_identify_the_child_too() {
    let servers = json!({"web": {"type": "http", "url": "http://x/",
        "headers": {"X-Session-ID": "p", "X-Copied": "p", "X-Other": "q"}}});
    let headers = |config: &Config| {
        Field::McpServers.value(config)["web"]["headers"].as_object().unwrap().clone()
    };
    let child = continued(&full(), &json!({"mcp_servers": servers})).config;
    let expected = json!({"X-Session-ID": "c", "X-Copied": "c", "X-Other": "q"});
    assert_eq!(Value::Object(headers(&child)), expected);

    // A session without a parent says of itself what it likes.
    let overrides = serde_json::from_value(json!({"mcp_servers": servers})).unwrap();
    let handover = Handover { parent: &[], child: "c", now: now() };
    let launched = inherit(&Config::default(), &overrides, handover).config;
    assert_eq!(headers(&launched)["X-Session-ID"], "p");
}

#[test]
fn each_field_knows_the_session_it_comes_from() {
    let first = full();
    let second = continued(&first, &json!({"model": "haiku", "allowed_tools": null}));
    let third = continued(&second.config, &json!({"title": "t", "disallowed_tools": []}));
    let generation = |name, child: &'static Child| Generation {
        name,
        config: &child.config,
        overridden: &child.overridden,
    };
    let (second, third) = (Box::leak(Box::new(second)), Box::leak(Box::new(third)));
    let ancestors =
        [generation("v2", second), Generation { name: "v1", config: &first, overridden: &[] }];
    let rows = provenance(generation("v3", third), &ancestors);
    let row = |field: Field| {
        let row = rows.iter().find(|row| row.field == field).unwrap();
        format!("{} from {}{}", row.value, row.from, if row.overridden { ", here" } else { "" })
    };
    assert_eq!(row(Field::SystemPrompt), "\"s\" from v1");
    assert_eq!(row(Field::Model), "\"haiku\" from v2");
    assert_eq!(row(Field::AllowedTools), "null from v2");
    assert_eq!(row(Field::DisallowedTools), "[] from v3, here");
    assert_eq!(row(Field::Title), "\"t\" from v3, here");
    assert_eq!(row(Field::MaxTurns), "null from v3");
    assert_eq!(row(Field::ResolvedModel), "null from v2");
}

#[test]
fn a_session_without_a_parent_overrides_nothing() {
    let config = full();
    let alone = Generation { name: "v1", config: &config, overridden: &[Field::Model] };
    assert!(provenance(alone, &[]).iter().all(|row| row.from == "v1" && !row.overridden));
}
