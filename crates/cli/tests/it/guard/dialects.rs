//! What each agent is told, to the letter: one payload a row, as the agent sends it.

use serde_json::{Value, json};

use super::{Guarded, ONE, said};

const SETTINGS: &str = "
requirements:
  plan: {satisfied_by_skill: arch-review}
  style: {enforcement: warn, trigger_tools: [WebFetch]}
  later: {stop_only: true, trigger_tools: [Read], satisfied_by_skill: verify}
";

/// One event of an agent, with the fields that it alone has.
struct Row {
    agent: &'static str,
    event: &'static str,
    fields: Value,
}

fn row(agent: &'static str, event: &'static str, fields: Value) -> Row {
    Row { agent, event, fields }
}

/// Runs the rows one after the other, and prints what each was answered.
fn told(guarded: &Guarded, rows: &[Row]) -> String {
    let cwd = guarded.env.repo();
    let line = |row: &Row| {
        let mut payload =
            json!({"session_id": ONE, "cwd": cwd, "hook_event_name": row.event, "turn_id": "t1"});
        payload.as_object_mut().unwrap().extend(row.fields.as_object().unwrap().clone());
        let arguments = ["hook", row.agent, row.event];
        let ran = guarded.env.run_with(&arguments, payload.to_string().as_bytes());
        if row.agent != "opencode" {
            said(&ran);
        }
        let answer = if ran.stdout.is_empty() { "-" } else { &ran.stdout };
        format!("{} {} {}\n", row.agent, row.event, answer)
    };
    rows.iter().map(line).collect()
}

/// What the four agents call the same tools.
fn tool(agent: &str, tool: &str) -> Value {
    let (name, input) = match (agent, tool) {
        ("gemini", "edit") => ("replace", json!({"file_path": "a", "new_string": "x"})),
        ("gemini", "fetch") => ("web_fetch", json!({"prompt": "x"})),
        ("gemini", _) => ("read_file", json!({"file_path": "a"})),
        ("opencode", "edit") => ("edit", json!({"filePath": "a", "newString": "x"})),
        ("opencode", "fetch") => ("webfetch", json!({"url": "x"})),
        ("opencode", _) => ("read", json!({"filePath": "a"})),
        (_, "edit") => ("Edit", json!({"file_path": "a", "new_string": "x"})),
        (_, "fetch") => ("WebFetch", json!({"url": "x"})),
        (_, _) => ("Read", json!({"file_path": "a"})),
    };
    json!({"tool_name": name, "tool_input": input})
}

const BEFORE: [(&str, &str); 4] = [
    ("claude", "PreToolUse"),
    ("codex", "PreToolUse"),
    ("gemini", "BeforeTool"),
    ("opencode", "PreToolUse"),
];

#[test]
fn a_tool_use_is_denied_in_the_agents_own_words() {
    let guarded = Guarded::new(SETTINGS);
    let mut rows: Vec<Row> =
        BEFORE.into_iter().map(|(agent, event)| row(agent, event, tool(agent, "edit"))).collect();
    for agent in ["claude", "codex"] {
        rows.push(row(agent, "PermissionRequest", tool(agent, "edit")));
    }
    insta::assert_snapshot!(told(&guarded, &rows), @r#"
    claude PreToolUse {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"plan is not met for this session.\nRun /arch-review. Nothing was written on main.\nA person can waive this."}}
    codex PreToolUse {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"plan is not met for this session.\nRun /arch-review. Nothing was written on main.\nA person can waive this."}}
    gemini BeforeTool {"decision":"deny","reason":"plan is not met for this session.\nRun /arch-review. Nothing was written on main.\nA person can waive this."}
    opencode PreToolUse {"block":"plan is not met for this session.\nRun /arch-review. Nothing was written on main.\nA person can waive this."}
    claude PermissionRequest {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"plan is not met for this session.\nRun /arch-review. Nothing was written on main.\nA person can waive this."}}}
    codex PermissionRequest {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"plan is not met for this session.\nRun /arch-review. Nothing was written on main.\nA person can waive this."}}}
    "#);
}

#[test]
fn a_warning_reaches_the_model_or_where_that_cannot_be_the_person() {
    for (agent, event) in BEFORE {
        let guarded = Guarded::new(SETTINGS);
        let rows =
            [row(agent, event, tool(agent, "fetch")), row(agent, event, tool(agent, "fetch"))];
        let told = told(&guarded, &rows);
        let (first, second) = told.split_once('\n').unwrap();
        let key = match agent {
            "gemini" => "\"systemMessage\":\"style is not met",
            "opencode" => "\"context\":\"style is not met",
            _ => "\"additionalContext\":\"style is not met",
        };
        assert!(first.contains(key), "{first}");
        assert!(second.trim_end().ends_with(" -"), "it is said once: {second}");
    }
}

#[test]
fn a_turn_is_kept_from_ending_in_the_agents_own_words() {
    let rows = [
        row("claude", "Stop", json!({"stop_hook_active": false})),
        row("codex", "Stop", json!({"stop_hook_active": false})),
        row("gemini", "AfterAgent", json!({"stop_hook_active": false})),
        row("opencode", "Stop", json!({})),
    ];
    let guarded = Guarded::new(SETTINGS);
    told(&guarded, &[row("claude", "PreToolUse", tool("claude", "read"))]);
    insta::assert_snapshot!(told(&guarded, &rows), @r#"
    claude Stop {"decision":"block","reason":"Not finished: later is not met for this session.\nRun /verify.\nA person can waive this."}
    codex Stop {"decision":"block","reason":"Not finished: later is not met for this session.\nRun /verify.\nA person can waive this."}
    gemini AfterAgent {"decision":"block","reason":"Not finished: later is not met for this session.\nRun /verify.\nA person can waive this."}
    opencode Stop -
    "#);
}

#[test]
fn giving_up_is_told_to_the_person_in_every_agent_that_asks() {
    for (agent, event) in [("claude", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent")] {
        let guarded = Guarded::new(SETTINGS);
        told(&guarded, &[row("claude", "PreToolUse", tool("claude", "read"))]);
        let rows = [0; 4].map(|_| row(agent, event, json!({})));
        let told = told(&guarded, &rows);
        let lines: Vec<&str> = told.lines().collect();
        assert!(lines[..3].iter().all(|line| line.contains("\"decision\":\"block\"")), "{told}");
        assert!(lines[3].contains(r#"{"systemMessage":"heirloom asked 3 times"#), "{told}");
    }
}

#[test]
fn a_session_starts_in_every_agent_with_how_it_stands() {
    let guarded = Guarded::new(SETTINGS);
    let agents = ["claude", "codex", "gemini", "opencode"];
    let rows = agents.map(|agent| row(agent, "SessionStart", json!({"source": "startup"})));
    insta::assert_snapshot!(told(&guarded, &rows), @r#"
    claude SessionStart {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"heirloom: 0 of 3 requirements met on main.\n/arch-review → plan\n/verify → later\nheirloom req satisfy style --reason WHY → style (not enforced)\nRecord what must outlast this context: `heirloom note decision \"…\" --because \"…\" --evidence src/a.rs:12`; also next-step, progress, warning, learning, question."}}
    codex SessionStart {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"heirloom: 0 of 3 requirements met on main.\n/arch-review → plan\n/verify → later\nheirloom req satisfy style --reason WHY → style (not enforced)\nRecord what must outlast this context: `heirloom note decision \"…\" --because \"…\" --evidence src/a.rs:12`; also next-step, progress, warning, learning, question."}}
    gemini SessionStart {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"heirloom: 0 of 3 requirements met on main.\n/arch-review → plan\n/verify → later\nheirloom req satisfy style --reason WHY → style (not enforced)\nRecord what must outlast this context: `heirloom note decision \"…\" --because \"…\" --evidence src/a.rs:12`; also next-step, progress, warning, learning, question."}}
    opencode SessionStart {"context":"heirloom: 0 of 3 requirements met on main.\n/arch-review → plan\n/verify → later\nheirloom req satisfy style --reason WHY → style (not enforced)\nRecord what must outlast this context: `heirloom note decision \"…\" --because \"…\" --evidence src/a.rs:12`; also next-step, progress, warning, learning, question."}
    "#);
}

#[test]
fn a_skill_satisfies_in_every_agent_that_has_one() {
    for (agent, event, name, field) in [
        ("claude", "PostToolUse", "Skill", "skill"),
        ("gemini", "AfterTool", "activate_skill", "name"),
        ("opencode", "PostToolUse", "skill", "name"),
    ] {
        let guarded = Guarded::new(SETTINGS);
        let skill = json!({"tool_name": name, "tool_input": {field: "arch-review"}});
        let denied = |guarded: &Guarded| guarded.edit(ONE).is_denied();
        assert!(denied(&guarded));
        told(&guarded, &[row(agent, event, skill)]);
        assert!(!denied(&guarded), "{agent}");
    }
    for (agent, event) in [
        ("claude", "UserPromptSubmit"),
        ("codex", "UserPromptSubmit"),
        ("gemini", "BeforeAgent"),
        ("opencode", "UserPromptSubmit"),
    ] {
        let guarded = Guarded::new(SETTINGS);
        told(&guarded, &[row(agent, event, json!({"prompt": "/arch-review now"}))]);
        assert!(!guarded.edit(ONE).is_denied(), "{agent}: a person typed it");
    }
}

#[test]
fn a_field_that_makes_no_sense_costs_only_itself_in_every_agent() {
    for (agent, event) in BEFORE {
        let guarded = Guarded::new(SETTINGS);
        for (field, value) in [
            ("transcript_path", json!({"at": 7})),
            ("permission_mode", json!(["auto", null])),
            ("model", json!(5)),
            ("turn_id", json!({})),
            ("source", Value::Null),
            ("prompt", json!(7)),
            ("stop_hook_active", json!("no")),
            ("tool_use_id", json!(1)),
            ("tool_response", json!([[[]]])),
            ("agent_id", json!(false)),
            ("a_field_of_tomorrow", json!({"deep": [1, 2]})),
        ] {
            let mut fields = tool(agent, "edit");
            fields[field] = value;
            let told = told(&guarded, &[row(agent, event, fields)]);
            assert!(told.contains("plan is not met"), "{agent} {field}: {told}");
        }
    }
}
