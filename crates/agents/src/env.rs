//! The environment an agent runs in, as data.
//!
//! Nothing in this crate reads the process's own environment: the caller hands it over, so that
//! a test can run an agent with an empty one and a daemon with a person's.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::agent::Agent;

/// Variables by name.
pub type Env = BTreeMap<OsString, OsString>;

/// What every program needs to run at all: never secret, never specific to a project.
const BASE: &[&str] = &[
    "ALL_PROXY",
    "COLORTERM",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

const BASE_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// The part of `all` that `agent` gets to see.
///
/// Without a list everything passes, because agents run the person's own tools. With one (a
/// config's `env`) only the base, the agent's own variables and the named ones do. Either way the
/// marks that an agent leaves in the environment of its children are dropped: an agent that
/// starts below another one must not take itself for its child.
pub fn pass_on(all: &Env, agent: &dyn Agent, names: Option<&[String]>) -> Env {
    let nested = crate::ALL.iter().flat_map(|agent| agent.nested_env()).collect::<Vec<_>>();
    all.iter()
        .filter(|(name, _)| !nested.iter().any(|mark| name.as_os_str() == OsStr::new(mark)))
        .filter(|(name, _)| names.is_none_or(|names| is_wanted(name, agent, names)))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn is_wanted(name: &OsStr, agent: &dyn Agent, names: &[String]) -> bool {
    let text = name.to_string_lossy();
    BASE.contains(&text.as_ref())
        || BASE_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
        || agent.env_prefixes().iter().any(|prefix| text.starts_with(prefix))
        || names.iter().any(|wanted| *wanted == text)
}

/// The value of a variable that holds a path, if it is set and not empty.
pub fn path(env: &Env, name: &str) -> Option<PathBuf> {
    env.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// heirloom's data directory: `HEIRLOOM_HOME`, or the platform's place for data and `heirloom`.
pub fn home(env: &Env) -> Option<PathBuf> {
    let path = |name: &str| path(env, name);
    if let Some(home) = path("HEIRLOOM_HOME") {
        return Some(home);
    }
    let data = if cfg!(target_os = "macos") {
        path("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        path("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| path("HOME").map(|home| home.join(".local/share")))
    };
    data.map(|data| data.join("heirloom"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(names: &[&str]) -> Env {
        names.iter().map(|name| (OsString::from(name), OsString::from("x"))).collect()
    }

    fn passed(all: &[&str], names: Option<&[String]>) -> Vec<String> {
        let agent = crate::by_name("claude").unwrap();
        let kept = pass_on(&env(all), agent, names);
        kept.into_keys().map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn without_a_list_everything_but_the_marks_of_an_outer_agent_passes() {
        assert_eq!(passed(&["CLAUDECODE", "CARGO_HOME", "PATH"], None), ["CARGO_HOME", "PATH"]);
    }

    #[test]
    fn a_list_keeps_the_base_the_agents_own_and_the_named() {
        let all = ["ANTHROPIC_API_KEY", "AWS_SECRET", "DATABASE_URL", "LC_ALL", "PATH"];
        let kept = passed(&all, Some(&["DATABASE_URL".to_owned()]));
        assert_eq!(kept, ["ANTHROPIC_API_KEY", "DATABASE_URL", "LC_ALL", "PATH"]);
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn the_home_is_where_it_was_said_to_be_or_with_the_platforms_data() {
        let home = |pairs: &[(&str, &str)]| {
            home(&pairs.iter().map(|(name, value)| (name.into(), value.into())).collect())
        };
        assert_eq!(home(&[("HEIRLOOM_HOME", "/h"), ("HOME", "/u")]), Some("/h".into()));
        assert_eq!(home(&[("HOME", "/u")]), Some("/u/.local/share/heirloom".into()));
        let pairs = [("HOME", "/u"), ("XDG_DATA_HOME", "/d"), ("HEIRLOOM_HOME", "")];
        assert_eq!(home(&pairs), Some("/d/heirloom".into()));
        assert_eq!(
            home(&[("XDG_DATA_HOME", "relative"), ("HOME", "/u")]),
            Some("/u/.local/share/heirloom".into())
        );
        assert_eq!(home(&[]), None);
    }
}
