//! What of a config lets an agent do more without asking.
//!
//! A program that launches an agent must not be able to give it what nobody gave the program itself. What
//! only forbids, or says what is to be done, is not meant here.

use crate::config::{Change, Config, Field, Overrides};

/// Modes in which an agent changes nothing.
const LOOKING: [&str; 2] = ["plan", "read-only"];
/// Modes in which it asks before it does.
const ASKING: [&str; 4] = ["", "default", "ask", "untrusted"];

/// How much an agent may do unasked in a mode.
fn reach(mode: Option<&str>) -> u8 {
    match mode {
        Some(mode) if LOOKING.contains(&mode) => 0,
        Some(mode) if !ASKING.contains(&mode) => 2,
        _ => 1,
    }
}

/// The fields by which a launch would let an agent do more than with the config `before`: that of the session
/// it continues, or an empty one. What the session had already is no more than it had.
pub fn fields(overrides: &Overrides, before: &Config) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut wider = |field: Field, is_wider: bool| {
        if is_wider {
            fields.push(field);
        }
    };
    let dirs = &overrides.additional_dirs;
    wider(Field::AdditionalDirs, adds(dirs, before.additional_dirs.as_ref()));
    let mode = match &overrides.permission_mode {
        Change::Inherit => None,
        Change::Set(mode) => Some(reach(Some(mode))),
        Change::Clear => Some(reach(None)),
    };
    let was = reach(before.permission_mode.as_deref());
    wider(Field::PermissionMode, mode.is_some_and(|mode| mode > was));
    // Somebody else would be asked in the person's place.
    let tool = &overrides.permission_prompt_tool;
    let same_tool = tool.as_set() == before.permission_prompt_tool.as_ref();
    wider(Field::PermissionPromptTool, tool.as_set().is_some() && !same_tool);
    let allowed = &overrides.allowed_tools;
    wider(Field::AllowedTools, adds(allowed, before.allowed_tools.as_ref()));
    let forbidden = &overrides.disallowed_tools;
    wider(Field::DisallowedTools, drops(forbidden, before.disallowed_tools.as_ref()));
    let servers = overrides.mcp_servers.as_set().is_some_and(|servers| {
        let known = |name| before.mcp_servers.as_ref().and_then(|known| known.get(name));
        servers.iter().any(|(name, server)| known(name) != Some(server))
    });
    wider(Field::McpServers, servers);
    let accepts = before.auto_accept_edits == Some(true);
    let set = overrides.auto_accept_edits == Change::Set(true);
    wider(Field::AutoAcceptEdits, set && !accepts);
    let until = overrides.bypass_until.as_set();
    wider(
        Field::BypassUntil,
        until.is_some_and(|until| Some(until) > before.bypass_until.as_ref()),
    );
    wider(Field::Env, adds(&overrides.env, before.env.as_ref()));
    fields
}

/// What of a config would be wider than nothing at all.
pub fn fields_of(config: Config) -> Vec<Field> {
    fields(&Overrides::setting(config), &Config::default())
}

/// Whether something is in the list that was not.
fn adds(change: &Change<Vec<String>>, before: Option<&Vec<String>>) -> bool {
    let is_known = |item| before.is_some_and(|before| before.contains(item));
    change.as_set().is_some_and(|now| now.iter().any(|item| !is_known(item)))
}

/// Whether something is no longer in the list that was.
fn drops(change: &Change<Vec<String>>, before: Option<&Vec<String>>) -> bool {
    let Some(before) = before else { return false };
    match change {
        Change::Inherit => false,
        Change::Clear => !before.is_empty(),
        Change::Set(now) => before.iter().any(|item| !now.contains(item)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wider(json: &str, before: &str) -> Vec<&'static str> {
        let before = Overrides::parse(before).unwrap();
        let before = serde_json::from_value(serde_json::to_value(before).unwrap()).unwrap();
        let fields = fields(&Overrides::parse(json).unwrap(), &before);
        fields.into_iter().map(Field::as_str).collect()
    }

    #[test]
    fn what_asks_less_is_wider_and_what_forbids_is_not() {
        for narrow in [
            r#"{"model":"opus","disallowed_tools":["Bash"]}"#,
            r#"{"permission_mode":"plan","auto_accept_edits":false}"#,
            r#"{"bypass_until":null,"permission_prompt_tool":null}"#,
            r#"{"allowed_tools":[],"env":[],"mcp_servers":{},"additional_dirs":null}"#,
        ] {
            assert!(wider(narrow, "{}").is_empty(), "{narrow}");
        }
        for (field, value) in [
            ("permission_mode", r#""bypassPermissions""#),
            ("auto_accept_edits", "true"),
            ("bypass_until", r#""2026-01-12T15:30:00Z""#),
            ("permission_prompt_tool", r#""mcp__x__y""#),
            ("allowed_tools", r#"["Bash"]"#),
            ("additional_dirs", r#"["/etc"]"#),
            ("env", r#"["AWS_SECRET_ACCESS_KEY"]"#),
            ("mcp_servers", r#"{"x":{"type":"stdio","command":"sh"}}"#),
        ] {
            let json = format!(r#"{{"{field}":{value}}}"#);
            assert_eq!(wider(&json, "{}"), [field]);
            assert!(wider(&json, &json).is_empty(), "{json} is no more than there was");
        }
    }

    #[test]
    fn a_continued_session_is_measured_by_the_one_before() {
        let before = r#"{"permission_mode":"plan","disallowed_tools":["Bash","Write"],
                         "allowed_tools":["Read"],"bypass_until":"2026-01-12T15:30:00Z"}"#;
        assert!(wider(r#"{"allowed_tools":[],"title":"x"}"#, before).is_empty());
        assert_eq!(wider(r#"{"permission_mode":null}"#, before), ["permission_mode"]);
        assert_eq!(wider(r#"{"permission_mode":"default"}"#, before), ["permission_mode"]);
        assert_eq!(wider(r#"{"disallowed_tools":null}"#, before), ["disallowed_tools"]);
        assert_eq!(wider(r#"{"disallowed_tools":["Bash"]}"#, before), ["disallowed_tools"]);
        assert_eq!(wider(r#"{"allowed_tools":["Read","Edit"]}"#, before), ["allowed_tools"]);
        let later = r#"{"bypass_until":"2026-01-12T16:30:00Z"}"#;
        assert_eq!(wider(later, before), ["bypass_until"]);
        assert!(wider(r#"{"bypass_until":"2026-01-12T14:30:00Z"}"#, before).is_empty());
    }

    #[test]
    fn a_config_is_measured_by_itself() {
        let config = Config { allowed_tools: Some(vec!["Bash".to_owned()]), ..Config::default() };
        assert_eq!(fields_of(config), [Field::AllowedTools]);
        assert!(fields_of(Config::default()).is_empty());
    }
}
