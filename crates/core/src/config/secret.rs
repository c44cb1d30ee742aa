//! Keeping secrets out of a config that is written down.
//!
//! The values of MCP environments and headers are what agents log in with, so they never stand in
//! a stored config: a [`Reference`] does, and the value is kept elsewhere by whoever stores it. So
//! is any other text that redaction would change, because a continued session must get exactly
//! what its parent had, and not `[redacted:…]`.

use std::fmt;

use serde_json::Value;
use uuid::Uuid;

use super::{Config, Field};
use crate::redact::redact_json;

/// What people see in the place of a secret.
pub const MASK: &str = "********";

/// How a reference begins.
const BEGIN: &str = "{vault:";

/// Stands for a text that is kept elsewhere.
///
/// In braces, which redaction takes for a template: a reference survives where a secret would not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference(Uuid);

impl Reference {
    /// A reference with a fresh id.
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// Its id.
    pub const fn uuid(self) -> Uuid {
        self.0
    }

    /// Reads a reference; `None` if the text is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let id = text.strip_prefix(BEGIN)?.strip_suffix('}')?;
        (id.len() == 36).then(|| Uuid::try_parse(id).ok()).flatten().map(Self)
    }

    /// Every reference in a stored text, whatever else it holds and whether or not it can be read.
    pub fn all_in(text: &str) -> impl Iterator<Item = Self> + '_ {
        let marked = text.match_indices(BEGIN).map(|(start, _)| &text[start..]);
        marked.filter_map(|rest| Self::parse(&rest[..=rest.find('}')?]))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGIN}{}}}", self.0)
    }
}

/// A secret that is not where it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Where it stands in the config: `mcp_servers.db.env.TOKEN`.
    pub place: String,
    /// What stands there.
    pub reference: Reference,
}

/// The config with a reference in the place of each secret. `keep` is given each secret.
pub fn seal<E>(
    config: &Config,
    mut keep: impl FnMut(&str) -> Result<Reference, E>,
) -> Result<Config, E> {
    let value = to_value(config);
    let mut redacted = value.clone();
    redact_json(&mut redacted);
    let mut sealed = value;
    let mut failed = None;
    visit(&mut sealed, &mut Vec::new(), &mut |place, text| {
        let at = place.iter().try_fold(&redacted, |value, key| child(value, key));
        let changed = at.and_then(Value::as_str) != Some(text.as_str());
        if failed.is_none() && (is_credential(place) || changed || Reference::parse(text).is_some())
        {
            match keep(text) {
                Ok(reference) => *text = reference.to_string(),
                Err(error) => failed = Some(error),
            }
        }
    });
    failed.map_or_else(|| Ok(from_value(sealed)), Err)
}

/// The config with each secret in its place again, or all those that were lost. The fields in
/// `given` are about to be replaced: what is lost of them is no loss.
pub fn unseal(
    config: &Config,
    given: &[Field],
    mut look_up: impl FnMut(Reference) -> Option<String>,
) -> Result<Config, Vec<Lost>> {
    let mut value = to_value(config);
    let mut lost = Vec::new();
    visit(&mut value, &mut Vec::new(), &mut |place, text| {
        let Some(reference) = Reference::parse(text) else { return };
        match look_up(reference) {
            Some(secret) => *text = secret,
            None if given.iter().any(|field| place[0] == field.as_str()) => {}
            None => lost.push(Lost { place: place.join("."), reference }),
        }
    });
    if lost.is_empty() { Ok(from_value(value)) } else { Err(lost) }
}

/// A value of a config as people may see it.
pub fn mask(value: &Value) -> Value {
    let mut value = value.clone();
    visit(&mut value, &mut Vec::new(), &mut |place, text| {
        let credential = place.iter().rev().nth(1).is_some_and(|key| is_credential_map(key));
        if credential || Reference::parse(text).is_some() {
            MASK.clone_into(text);
        }
    });
    value
}

/// `mcp_servers.NAME.env.KEY` and `mcp_servers.NAME.headers.KEY`.
fn is_credential(place: &[String]) -> bool {
    matches!(place, [field, _, map, _] if field == "mcp_servers" && is_credential_map(map))
}

fn is_credential_map(key: &str) -> bool {
    matches!(key, "env" | "headers")
}

fn visit(value: &mut Value, place: &mut Vec<String>, see: &mut impl FnMut(&[String], &mut String)) {
    match value {
        Value::String(text) => see(place, text),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                place.push(index.to_string());
                visit(item, place, see);
                place.pop();
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                place.push(key.clone());
                visit(item, place, see);
                place.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn child<'a>(value: &'a Value, key: &String) -> Option<&'a Value> {
    match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    }
}

fn to_value(config: &Config) -> Value {
    serde_json::to_value(config).expect("a config has string keys only")
}

fn from_value(value: Value) -> Config {
    serde_json::from_value(value).expect("texts were put in the place of texts")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use super::*;

    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    fn config() -> Config {
        let json = format!(
            r#"{{"system_prompt":"use {TOKEN}","model":"opus","allowed_tools":["Bash"],
                "mcp_servers":{{"db":{{"type":"stdio","command":"db","args":["--token","{TOKEN}"],
                  "env":{{"PASSWORD":"hunter2","API_TOKEN":"{TOKEN}","MODE":"ro"}}}},
                "web":{{"type":"http","url":"https://u:p4ssw0rd!x@host/","headers":{{"Authorization":"Bearer abc"}}}}}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn sealed(kept: &mut HashMap<Reference, String>) -> Config {
        let Ok(sealed) = seal(&config(), |text| {
            let reference = Reference::new(Uuid::from_u128(kept.len() as u128 + 1));
            kept.insert(reference, text.to_owned());
            Ok::<_, Infallible>(reference)
        });
        sealed
    }

    #[test]
    fn what_is_sealed_holds_no_secret_and_comes_back_as_it_was() {
        let mut kept = HashMap::new();
        let sealed = sealed(&mut kept);
        let text = serde_json::to_string(&sealed).unwrap();
        for secret in [TOKEN, "hunter2", "Bearer", "p4ssw0rd", "\"ro\""] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains("opus") && text.contains("Bash"));
        assert_eq!(
            unseal(&sealed, &[], |reference| kept.get(&reference).cloned()).unwrap(),
            config()
        );
    }

    #[test]
    fn every_reference_in_a_text_is_found() {
        let mut kept = HashMap::new();
        let text = serde_json::to_string(&sealed(&mut kept)).unwrap();
        let mut found: Vec<Reference> = Reference::all_in(&text).collect();
        let mut expected: Vec<Reference> = kept.into_keys().collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        let torn = format!("{{vault:x}} {{vault: \"a\\{}\" {{vault:", expected[0]);
        assert_eq!(Reference::all_in(&torn).collect::<Vec<_>>(), [expected[0]]);
    }

    #[test]
    fn redaction_leaves_references_alone() {
        let sealed = to_value(&sealed(&mut HashMap::new()));
        let mut redacted = sealed.clone();
        assert_eq!(redact_json(&mut redacted), 0);
        assert_eq!(redacted, sealed);
    }

    #[test]
    fn a_lost_secret_is_named_by_its_place() {
        let sealed = sealed(&mut HashMap::new());
        let lost = unseal(&sealed, &[Field::SystemPrompt], |_| None).unwrap_err();
        let places: Vec<_> = lost.iter().map(|lost| lost.place.as_str()).collect();
        assert!(places.contains(&"mcp_servers.db.env.PASSWORD"), "{places:?}");
        assert!(places.contains(&"mcp_servers.web.headers.Authorization"), "{places:?}");
        // What is given again is not missed.
        assert!(!places.contains(&"system_prompt"), "{places:?}");
        assert!(unseal(&sealed, &[Field::SystemPrompt, Field::McpServers], |_| None).is_ok());
    }

    #[test]
    fn a_person_sees_neither_secret_nor_reference() {
        for config in [config(), sealed(&mut HashMap::new())] {
            let shown = mask(&Field::McpServers.value(&config)).to_string();
            assert!(shown.contains("\"PASSWORD\":\"********\""), "{shown}");
            assert!(!shown.contains("hunter2") && !shown.contains("vault"), "{shown}");
        }
    }
}
