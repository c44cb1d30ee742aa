//! Which hooks Codex runs: only those a person has trusted, and it passes over the rest without
//! a word. Trust is a hash of the hook in `config.toml`, under the place where the hook stands.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::hooks::OURS;
use crate::hook::Obstacle;

/// What Codex waits for a hook that does not say how long.
const DEFAULT_TIMEOUT: u64 = 600;

/// Why Codex would pass over our hooks in `text`, the content of the hooks file `file`, with
/// `config` as the content of its `config.toml`.
pub(super) fn obstacle(file: &Path, text: &str, config: &str) -> Option<Obstacle> {
    let hooks: Value = serde_json::from_str(text).ok()?;
    if is_switched_off(config) && ours(file, &hooks).next().is_some() {
        let why =
            "hooks are switched off in Codex's config.toml ([features] hooks = false)".to_owned();
        let remedy = "remove that line, or run `codex features enable hooks`".to_owned();
        return Some(Obstacle { why, remedy });
    }
    let untrusted: Vec<_> =
        ours(file, &hooks).filter(|(key, hash)| !is_trusted(config, key, hash)).collect();
    let (first, _) = untrusted.first()?;
    let why = format!("Codex does not trust {} of its hooks yet ({first})", untrusted.len());
    let remedy = "start `codex` here and trust the hooks of heirloom with /hooks".to_owned();
    Some(Obstacle { why, remedy })
}

/// Key and hash of each hook of ours.
fn ours(file: &Path, hooks: &Value) -> impl Iterator<Item = (String, String)> {
    let events = OURS.entries.iter().map(|entry| entry.event);
    events.flat_map(move |event| {
        let groups = hooks["hooks"][event].as_array().cloned().unwrap_or_default();
        let file = file.display().to_string();
        groups.into_iter().enumerate().flat_map(move |(at, group)| keys(&file, event, at, &group))
    })
}

fn keys(file: &str, event: &str, at: usize, group: &Value) -> Vec<(String, String)> {
    let event = snake(event);
    let handlers = group["hooks"].as_array().cloned().unwrap_or_default();
    let ours = handlers.iter().enumerate().filter(|(_, handler)| OURS.is_ours(handler));
    ours.map(|(index, handler)| {
        let matcher = group["matcher"].as_str();
        (format!("{file}:{event}:{at}:{index}"), hash(&event, matcher, handler))
    })
    .collect()
}

/// Codex's hash of one hook: SHA-256 over its JSON with sorted keys and the defaults filled in.
fn hash(event: &str, matcher: Option<&str>, handler: &Value) -> String {
    let timeout = handler["timeout"].as_u64().unwrap_or(DEFAULT_TIMEOUT);
    let handler = json!({
        "async": handler["async"].as_bool().unwrap_or(false),
        "command": handler["command"],
        "timeout": timeout,
        "type": "command",
    });
    let mut hook = json!({"event_name": event, "hooks": [handler]});
    if let Some(matcher) = matcher {
        hook["matcher"] = matcher.into();
    }
    let digest = Sha256::digest(hook.to_string());
    let hex: Vec<_> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", hex.concat())
}

/// Codex writes a table of its own for each hook. Read by lines: whatever else is in the file is
/// none of our business.
fn is_trusted(config: &str, key: &str, hash: &str) -> bool {
    let head = format!("[hooks.state.{}]", Value::from(key));
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != head).skip(1);
    let mut table = lines.by_ref().take_while(|line| !line.starts_with('['));
    table.any(|line| {
        let trusted = line.strip_prefix("trusted_hash").and_then(|rest| {
            rest.trim_start().strip_prefix('=').map(|value| value.trim().trim_matches('"'))
        });
        trusted == Some(hash)
    })
}

/// Whether the feature that runs hooks is off, under its name or the one it had before. It is on where nobody says
/// otherwise.
fn is_switched_off(config: &str) -> bool {
    const NAMES: [&str; 2] = ["hooks", "codex_hooks"];
    let value = |line: &str, key: &str| {
        let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim_start();
        Some(rest.split([' ', '#', ',', '}']).next() == Some("false"))
    };
    let mut table = "";
    config.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            table = line.split('#').next().unwrap_or_default().trim();
            return false;
        }
        match table {
            "[features]" => NAMES.iter().any(|name| value(line, name) == Some(true)),
            "" => line
                .strip_prefix("features.")
                .is_some_and(|line| NAMES.iter().any(|name| value(line, name) == Some(true))),
            _ => false,
        }
    })
}

fn snake(event: &str) -> String {
    let mut snake = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The tables that a person's trust in our hooks puts into Codex's `config.toml`, where `text` is
/// the content of the hooks file `file`.
pub fn trusting(file: &Path, text: &str) -> String {
    let hooks: Value = serde_json::from_str(text).unwrap_or_default();
    let each = ours(file, &hooks).map(|(key, hash)| {
        format!("\n[hooks.state.{}]\ntrusted_hash = \"{hash}\"\n", Value::from(key))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/home/dev/.codex/hooks.json";

    #[test]
    fn the_hash_is_the_one_codex_computes() {
        // That Codex takes such a hash for its own is asserted by a contract test.
        let handler = json!({"type": "command", "command": "/opt/hook a"});
        let expected = "sha256:194ddf03a00018ea47d161ae576c3b3bb457d9d6b50360ff900b4cebf92e5252";
        assert_eq!(hash("stop", None, &handler), expected);
    }

    #[test]
    fn hooks_are_an_obstacle_until_every_one_is_trusted() {
        let file = Path::new(FILE);
        let text = OURS.install(file, None, "/usr/bin/heirloom").unwrap();
        let config = trusting(file, &text);
        insta::assert_snapshot!(obstacle(file, &text, "").unwrap().why, @"Codex does not trust 9 of its hooks yet (/home/dev/.codex/hooks.json:session_start:0:0)");
        assert_eq!(obstacle(file, &text, &config), None);
        let moved = OURS.install(file, None, "/usr/local/bin/heirloom").unwrap();
        assert!(obstacle(file, &moved, &config).is_some());
        assert_eq!(obstacle(file, "{}", ""), None);
    }

    #[test]
    fn hooks_that_are_switched_off_are_an_obstacle_however_trusted() {
        let file = Path::new(FILE);
        let text = OURS.install(file, None, "/usr/bin/heirloom").unwrap();
        let trusted = trusting(file, &text);
        for off in [
            "[features]\nhooks = false # for now\n",
            "features.hooks=false\n",
            "[features]\ncodex_hooks=false\n",
        ] {
            let why = obstacle(file, &text, &format!("{off}{trusted}")).unwrap().why;
            assert!(why.contains("switched off"), "{why}");
        }
        for on in ["", "[features]\nhooks = true\n", "[other]\nhooks = false\n"] {
            assert_eq!(obstacle(file, &text, &format!("{on}{trusted}")), None, "{on}");
        }
    }
}
