use std::fmt::Write;

use super::*;

/// The first version of the schema.
const OLDEST: &str = "
CREATE TABLE sessions (id TEXT PRIMARY KEY, run_id TEXT, claude_session_id TEXT,
  parent_session_id TEXT, query TEXT NOT NULL, summary TEXT, model TEXT, working_dir TEXT,
  max_turns INTEGER, system_prompt TEXT, custom_instructions TEXT,
  status TEXT NOT NULL DEFAULT 'starting', created_at TIMESTAMP NOT NULL,
  last_activity_at TIMESTAMP, completed_at TIMESTAMP, cost_usd REAL, total_tokens INTEGER,
  duration_ms INTEGER, num_turns INTEGER, result_content TEXT, error_message TEXT);
CREATE TABLE mcp_servers (id INTEGER PRIMARY KEY, session_id TEXT, name TEXT, command TEXT,
  args_json TEXT, env_json TEXT);
CREATE TABLE conversation_events (id INTEGER PRIMARY KEY, session_id TEXT, claude_session_id TEXT,
  sequence INTEGER, event_type TEXT, role TEXT, content TEXT, tool_id TEXT, tool_name TEXT,
  tool_input_json TEXT, tool_result_for_id TEXT, tool_result_content TEXT);
CREATE TABLE raw_events (id INTEGER PRIMARY KEY, session_id TEXT, event_json TEXT);
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);";

/// What each later version added to a table. The second was never released; the sixteenth and the
/// seventeenth changed places between releases, which the eighteenth made up for.
const STEPS: &[(u8, &str, &str)] = &[
    (3, "sessions", "permission_prompt_tool TEXT"),
    (3, "sessions", "append_system_prompt TEXT"),
    (3, "sessions", "allowed_tools TEXT"),
    (3, "sessions", "disallowed_tools TEXT"),
    (6, "conversation_events", "parent_tool_use_id TEXT"),
    (8, "sessions", "auto_accept_edits BOOLEAN DEFAULT 0"),
    (9, "sessions", "archived BOOLEAN DEFAULT FALSE"),
    (10, "sessions", "title TEXT DEFAULT ''"),
    (11, "sessions", "dangerously_skip_permissions BOOLEAN DEFAULT 0"),
    (11, "sessions", "dangerously_skip_permissions_expires_at TIMESTAMP"),
    (12, "sessions", "model_id TEXT"),
    (13, "sessions", "input_tokens INTEGER"),
    (13, "sessions", "output_tokens INTEGER"),
    (13, "sessions", "cache_creation_input_tokens INTEGER"),
    (13, "sessions", "cache_read_input_tokens INTEGER"),
    (13, "sessions", "effective_context_tokens INTEGER"),
    (15, "sessions", "proxy_enabled BOOLEAN DEFAULT 0"),
    (15, "sessions", "proxy_base_url TEXT"),
    (15, "sessions", "proxy_model_override TEXT"),
    (15, "sessions", "proxy_api_key TEXT"),
    (18, "sessions", "additional_directories TEXT"),
    (20, "sessions", "editor_state TEXT"),
    (21, "sessions", "dangerously_skip_permissions_timeout_ms INTEGER"),
];

/// Tables that later versions added, and that hold nothing we take over.
const OTHERS: &[(u8, &str)] = &[(4, "approvals"), (7, "file_snapshots"), (16, "user_settings")];

const NEWEST: u8 = 22;

/// The schema of one version.
fn schema(version: u8) -> String {
    let mut sql = OLDEST.to_owned();
    for (_, table) in OTHERS.iter().filter(|(at, _)| *at <= version) {
        write!(sql, "CREATE TABLE {table} (id TEXT PRIMARY KEY);").unwrap();
    }
    for (_, table, column) in STEPS.iter().filter(|(at, ..)| *at <= version) {
        write!(sql, "ALTER TABLE {table} ADD COLUMN {column};").unwrap();
    }
    if version >= 13 {
        sql.push_str("ALTER TABLE sessions DROP COLUMN total_tokens;");
    }
    write!(sql, "INSERT INTO schema_version VALUES ({version});").unwrap();
    sql
}

/// A column, the version that added it, a value, and the field of the config that comes of it.
const COLUMNS: &[(u8, &str, &str, &str, &str)] = &[
    (1, "model", "'opus'", "model", "\"opus\""),
    (1, "working_dir", "'/w'", "working_dir", "\"/w\""),
    (1, "system_prompt", "'s'", "system_prompt", "\"s\""),
    (1, "custom_instructions", "'c'", "custom_instructions", "\"c\""),
    (3, "permission_prompt_tool", "'mcp__x__y'", "permission_prompt_tool", "\"mcp__x__y\""),
    (3, "append_system_prompt", "'a'", "append_system_prompt", "\"a\""),
    (3, "allowed_tools", "'[\"Bash\"]'", "allowed_tools", "[\"Bash\"]"),
    (3, "disallowed_tools", "'[\"WebFetch\"]'", "disallowed_tools", "[\"WebFetch\"]"),
    (8, "auto_accept_edits", "1", "auto_accept_edits", "true"),
    (10, "title", "'t'", "title", "\"t\""),
    (11, "dangerously_skip_permissions", "1", "bypass_until", "\"2025-06-28T01:16:02Z\""),
    (
        11,
        "dangerously_skip_permissions_expires_at",
        "'2025-06-27 18:16:02-07:00'",
        "bypass_until",
        "\"2025-06-28T01:16:02Z\"",
    ),
    (12, "model_id", "'claude-opus-4'", "resolved_model", "\"claude-opus-4\""),
    (18, "additional_directories", "'[\"/x\"]'", "additional_dirs", "[\"/x\"]"),
];

#[test]
fn every_version_gives_all_it_has() {
    for version in (1..=NEWEST).filter(|version| *version != 2) {
        let there: Vec<_> = COLUMNS.iter().filter(|(since, ..)| *since <= version).collect();
        let names: Vec<&str> = there.iter().map(|(_, name, ..)| *name).collect();
        let values: Vec<&str> = there.iter().map(|(_, _, value, ..)| *value).collect();
        let insert = format!(
            "INSERT INTO sessions (id, claude_session_id, parent_session_id, query, status,
               created_at, max_turns, cost_usd, {})
             VALUES ('s', 'c', 'p', 'do it', 'completed', '2025-06-27 18:01:02', 7, 0.25, {});
             INSERT INTO mcp_servers VALUES (1, 's', 'db', 'db', '[]', '{{\"T\":\"t\"}}');
             INSERT INTO raw_events VALUES (1, 's', '{{\"type\":\"system\"}}');",
            names.join(", "),
            values.join(", "),
        );
        let (_dir, daemon) = daemon(&[&schema(version), &insert]);
        let session = daemon.sessions().unwrap().remove(0);
        let fields = there.iter().map(|(.., field, json)| {
            ((*field).to_owned(), serde_json::from_str::<Value>(json).unwrap())
        });
        let mut expected: serde_json::Map<_, _> = fields.collect();
        // A limit on turns was meant for one stretch of work.
        expected.insert(
            "mcp_servers".to_owned(),
            json!({"db": {"type": "stdio", "command": "db", "args": [], "env": {"T": "t"}}}),
        );
        let expected: Config = serde_json::from_value(expected.into()).unwrap();
        assert_eq!(session.config, Ok(expected), "version {version}");
        assert_eq!((session.parent.as_deref(), session.cost_usd), (Some("p"), Some(0.25)));
        assert_eq!(session.agent_session_id.as_deref(), Some("c"));
        assert_eq!(daemon.lines("s").unwrap().len(), 1, "version {version}");
    }
}

fn daemon(sql: &[&str]) -> (tempfile::TempDir, Daemon) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("daemon.db");
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "synchronous", "OFF").unwrap();
    db.execute_batch(&sql.join("\n")).unwrap();
    let daemon = Daemon::open(&path).unwrap();
    (dir, daemon)
}

#[test]
fn the_oldest_schema_is_read_with_its_servers_and_events() {
    let (_dir, daemon) = daemon(&[
        &schema(1),
        "INSERT INTO sessions (id, claude_session_id, query, model, working_dir, status, created_at,
           cost_usd) VALUES ('s1', 'c1', 'do it', 'opus', '/w', 'completed',
           '2025-06-27 18:01:02.5-07:00', 0.25);
         INSERT INTO mcp_servers VALUES
           (1, 's1', 'db', 'db-mcp', '[\"--ro\"]', '{\"TOKEN\":\"t\",\"HUMANLAYER_RUN_ID\":\"r\"}'),
           (2, 's1', 'web', 'http', '[\"http://x/\"]', '{\"Authorization\":\"Bearer t\"}'),
           (3, 's1', 'codelayer', 'hlyr', '[]', 'null');
         INSERT INTO conversation_events VALUES
           (1, 's1', 'c1', 1, 'message', 'user', 'do it', NULL, NULL, NULL, NULL, NULL),
           (2, 's1', 'c1', 2, 'message', 'assistant', 'done', NULL, NULL, NULL, NULL, NULL);",
    ]);
    let sessions = daemon.sessions().unwrap();
    let config = sessions[0].config.clone().unwrap();
    let servers = serde_json::to_value(&config.mcp_servers).unwrap();
    assert_eq!(
        servers,
        json!({"db": {"type": "stdio", "command": "db-mcp", "args": ["--ro"], "env": {"TOKEN": "t"}},
               "web": {"type": "http", "url": "http://x/", "headers": {"Authorization": "Bearer t"}}})
    );
    assert_eq!(sessions[0].created_at.unwrap().to_string(), "2025-06-28T01:01:02.5Z");
    assert_eq!((sessions[0].status, sessions[0].cost_usd), (Status::Completed, Some(0.25)));
    let lines = daemon.lines("s1").unwrap();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("done"), "{lines:?}");
}

#[test]
fn in_the_newest_schema_none_empty_and_unreadable_lists_are_three_things() {
    let (_dir, daemon) = daemon(&[
        &schema(NEWEST),
        "INSERT INTO sessions (id, query, status, created_at, allowed_tools, disallowed_tools,
           permission_prompt_tool, archived, input_tokens)
         VALUES ('a', 'q', 'running', '2025-06-27 18:01:02', 'null', '[]',
                 'mcp__codelayer__request_permission', 1, 7),
                ('b', 'q', 'failed', '2025-06-27T18:01:03Z', NULL, '[\"WebFetch\"', NULL, 0, 0),
                ('c', 'q', 'draft', '2025-06-27 18:01:04', NULL, NULL, NULL, 0, 0);
         INSERT INTO raw_events VALUES (1, 'a', '{\"type\":\"system\"}');",
    ]);
    let sessions = daemon.sessions().unwrap();
    assert_eq!(sessions.len(), 2);
    let first = sessions[0].config.as_ref().unwrap();
    assert_eq!((&first.allowed_tools, &first.disallowed_tools), (&None, &Some(Vec::new())));
    assert_eq!(first.permission_prompt_tool, None);
    assert!(sessions[0].archived && sessions[0].status == Status::Interrupted);
    assert_eq!(sessions[0].input_tokens, 7);
    assert!(sessions[0].left_behind.is_empty());
    let error = sessions[1].config.as_ref().unwrap_err();
    assert!(error.starts_with("disallowed_tools: "), "{error}");
    assert_eq!(daemon.lines("a").unwrap(), [r#"{"type":"system"}"#]);
}

#[test]
fn what_cannot_be_taken_over_is_said() {
    let (_dir, daemon) = daemon(&[
        &schema(NEWEST),
        "INSERT INTO sessions (id, query, status, created_at, proxy_enabled, proxy_base_url,
           proxy_api_key, dangerously_skip_permissions)
         VALUES ('a', 'q', 'completed', '2025-06-27 18:01:02', 1, 'https://proxy.example', 'k', 1);",
    ]);
    let session = daemon.sessions().unwrap().remove(0);
    assert_eq!(session.config.unwrap().bypass_until, None);
    insta::assert_snapshot!(session.left_behind.join("\n"), @"
    it reached its model through https://proxy.example, and no longer does
    it approved everything without end, and now asks again
    ");
}

#[test]
fn what_is_no_daemon_db_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let error = Daemon::open(&path).unwrap_err();
    assert!(
        error.to_string().ends_with("is not a daemon.db: it has no table of sessions"),
        "{error}"
    );
    assert!(matches!(Daemon::open(&dir.path().join("none.db")), Err(DaemonError::Missing { .. })));
}
