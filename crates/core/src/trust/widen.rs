//! What of a config lets an agent do more without asking.
//!
//! A program that launches an agent must not be able to give it what nobody gave the program itself. What
//! only forbids, or says what is to be done, is not meant here.

use crate::config::{Change, Field, Overrides};

/// Modes in which every agent still asks, or does nothing at all.
const ASKING: [&str; 6] = ["", "default", "plan", "ask", "untrusted", "read-only"];

/// The fields by which a launch would let tools be used that nobody was asked about.
pub fn fields(overrides: &Overrides) -> Vec<Field> {
    let mut fields = Vec::new();
    if matches!(overrides.bypass_until, Change::Set(_)) {
        fields.push(Field::BypassUntil);
    }
    if matches!(overrides.auto_accept_edits, Change::Set(true)) {
        fields.push(Field::AutoAcceptEdits);
    }
    if let Change::Set(mode) = &overrides.permission_mode
        && !ASKING.contains(&mode.as_str())
    {
        fields.push(Field::PermissionMode);
    }
    // Somebody else would be asked in the person's place.
    if matches!(overrides.permission_prompt_tool, Change::Set(_)) {
        fields.push(Field::PermissionPromptTool);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_less_is_wider_and_what_forbids_is_not() {
        let wider = |json: &str| {
            let fields = fields(&Overrides::parse(json).unwrap());
            fields.into_iter().map(Field::as_str).collect::<Vec<_>>()
        };
        assert!(wider(r#"{"model":"opus","disallowed_tools":["Bash"]}"#).is_empty());
        assert!(wider(r#"{"permission_mode":"plan","auto_accept_edits":false}"#).is_empty());
        assert!(wider(r#"{"bypass_until":null,"permission_prompt_tool":null}"#).is_empty());
        assert_eq!(wider(r#"{"permission_mode":"bypassPermissions"}"#), ["permission_mode"]);
        assert_eq!(wider(r#"{"auto_accept_edits":true}"#), ["auto_accept_edits"]);
        assert_eq!(wider(r#"{"bypass_until":"2026-01-12T15:30:00Z"}"#), ["bypass_until"]);
        assert_eq!(wider(r#"{"permission_prompt_tool":"mcp__x__y"}"#), ["permission_prompt_tool"]);
    }
}
