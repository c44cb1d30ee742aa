//! What of a config lets an agent do more without asking.
//!
//! Whoever launches an agent must not be able to give it what nobody gave them. What only forbids, or says
//! what is to be done, is not meant here.

use crate::config::{Change, Config, Field, Overrides};
use crate::settings::RunPermissions;

/// Modes in which an agent changes nothing.
const LOOKING: [&str; 2] = ["plan", "read-only"];
/// Modes in which it asks before it does.
const ASKING: [&str; 4] = ["", "default", "ask", "untrusted"];

/// Modes in which it edits files and asks about everything else.
const EDITING: [&str; 3] = ["acceptEdits", "auto_edit", "autoEdit"];

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
        let is_new = |(name, server)| known(name) != Some(server);
        servers.iter().filter(|(_, server)| !server.is_disabled()).any(is_new)
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

/// The fields in which a config lets an agent do more than `own` lets whoever launches it.
pub fn beyond(config: &Config, own: &Config) -> Vec<Field> {
    let mut said = Overrides::setting(config.clone());
    // What it does not say, it does not have.
    if config.disallowed_tools.is_none() {
        said.disallowed_tools = Change::Clear;
    }
    if config.permission_mode.is_none() {
        said.permission_mode = Change::Clear;
    }
    let mut wider = fields(&said, own);
    let had = permissions(own);
    wider.retain(|field| match field {
        Field::AutoAcceptEdits => had == RunPermissions::Ask,
        Field::BypassUntil | Field::PermissionMode | Field::AllowedTools => {
            had != RunPermissions::Accept
        }
        _ => true,
    });
    wider
}

/// What a config lets its agent do without asking, in the words of a run.
pub fn permissions(config: &Config) -> RunPermissions {
    let mode = config.permission_mode.as_deref().unwrap_or_default();
    let edits = EDITING.contains(&mode);
    if config.bypass_until.is_some() || (reach(Some(mode)) > 1 && !edits) {
        RunPermissions::Accept
    } else if edits || config.auto_accept_edits == Some(true) {
        RunPermissions::Edits
    } else {
        RunPermissions::Ask
    }
}

/// Whether the first lets an agent do more than the second.
pub fn is_wider(one: RunPermissions, than: RunPermissions) -> bool {
    let rank = |permissions| match permissions {
        RunPermissions::Ask => 0,
        RunPermissions::Edits => 1,
        RunPermissions::Accept => 2,
    };
    rank(one) > rank(than)
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

    #[test]
    fn nobody_gives_on_more_than_they_have() {
        let config = |json: &str| serde_json::from_str::<Config>(json).unwrap();
        let own = config(r#"{"allowed_tools":["Read"],"disallowed_tools":["WebFetch"]}"#);
        assert!(beyond(&own, &own).is_empty());
        let more = config(r#"{"allowed_tools":["Read","Bash"],"permission_mode":"yolo"}"#);
        let fields: Vec<&str> = beyond(&more, &own).into_iter().map(Field::as_str).collect();
        assert_eq!(fields, ["permission_mode", "allowed_tools", "disallowed_tools"]);
        let free = config(r#"{"permission_mode":"bypassPermissions"}"#);
        let same = config(r#"{"bypass_until":"2099-01-12T15:30:00Z","auto_accept_edits":true}"#);
        assert!(beyond(&same, &free).is_empty(), "it may do everything itself");
    }

    #[test]
    fn the_permissions_of_a_run_are_in_its_config() {
        for (json, said) in [
            ("{}", RunPermissions::Ask),
            (r#"{"permission_mode":"plan"}"#, RunPermissions::Ask),
            (r#"{"auto_accept_edits":true}"#, RunPermissions::Edits),
            (r#"{"permission_mode":"acceptEdits"}"#, RunPermissions::Edits),
            (r#"{"permission_mode":"yolo","auto_accept_edits":true}"#, RunPermissions::Accept),
            (r#"{"bypass_until":"2026-01-12T15:30:00Z"}"#, RunPermissions::Accept),
        ] {
            assert_eq!(permissions(&serde_json::from_str(json).unwrap()), said, "{json}");
            assert_eq!(is_wider(said, RunPermissions::Ask), said != RunPermissions::Ask);
        }
    }
}
