use super::*;

/// The first version of the schema, and what was added until the last.
const OLDEST: &str = "
CREATE TABLE sessions (id TEXT PRIMARY KEY, run_id TEXT, claude_session_id TEXT,
  parent_session_id TEXT, query TEXT NOT NULL, model TEXT, working_dir TEXT, max_turns INTEGER,
  system_prompt TEXT, custom_instructions TEXT, status TEXT, created_at TIMESTAMP,
  last_activity_at TIMESTAMP, completed_at TIMESTAMP, cost_usd REAL, total_tokens INTEGER,
  error_message TEXT);
CREATE TABLE mcp_servers (id INTEGER PRIMARY KEY, session_id TEXT, name TEXT, command TEXT,
  args_json TEXT, env_json TEXT);
CREATE TABLE conversation_events (id INTEGER PRIMARY KEY, session_id TEXT, claude_session_id TEXT,
  sequence INTEGER, event_type TEXT, role TEXT, content TEXT, tool_id TEXT, tool_name TEXT,
  tool_input_json TEXT, tool_result_for_id TEXT, tool_result_content TEXT);";

const NEWER: &str = "
ALTER TABLE sessions ADD COLUMN permission_prompt_tool TEXT;
ALTER TABLE sessions ADD COLUMN append_system_prompt TEXT;
ALTER TABLE sessions ADD COLUMN allowed_tools TEXT;
ALTER TABLE sessions ADD COLUMN disallowed_tools TEXT;
ALTER TABLE sessions ADD COLUMN auto_accept_edits BOOLEAN DEFAULT 0;
ALTER TABLE sessions ADD COLUMN archived BOOLEAN DEFAULT FALSE;
ALTER TABLE sessions ADD COLUMN title TEXT DEFAULT '';
ALTER TABLE sessions ADD COLUMN model_id TEXT;
ALTER TABLE sessions ADD COLUMN additional_directories TEXT;
ALTER TABLE sessions ADD COLUMN input_tokens INTEGER;
CREATE TABLE raw_events (id INTEGER PRIMARY KEY, session_id TEXT, event_json TEXT);";

fn daemon(sql: &[&str]) -> (tempfile::TempDir, Daemon) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("daemon.db");
    Connection::open(&path).unwrap().execute_batch(&sql.join("\n")).unwrap();
    let daemon = Daemon::open(&path).unwrap();
    (dir, daemon)
}

#[test]
fn the_oldest_schema_is_read_with_its_servers_and_events() {
    let (_dir, daemon) = daemon(&[
        OLDEST,
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
    assert_eq!((sessions[0].status, sessions[0].cost_usd), (Status::Completed, 0.25));
    let lines = daemon.lines("s1").unwrap();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("done"), "{lines:?}");
}

#[test]
fn in_the_newest_schema_none_empty_and_unreadable_lists_are_three_things() {
    let (_dir, daemon) = daemon(&[
        OLDEST,
        NEWER,
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
    let error = sessions[1].config.as_ref().unwrap_err();
    assert!(error.starts_with("disallowed_tools: "), "{error}");
    assert_eq!(daemon.lines("a").unwrap(), [r#"{"type":"system"}"#]);
}

#[test]
fn what_is_no_daemon_db_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let error = Daemon::open(&path).unwrap_err();
    assert!(error.to_string().ends_with("it is not a daemon.db"), "{error}");
    assert!(matches!(Daemon::open(&dir.path().join("none.db")), Err(DaemonError::File { .. })));
}
