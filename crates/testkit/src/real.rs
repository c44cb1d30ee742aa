//! Real agents: where they are, and how each is pointed at a model that follows a script.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::http::Request;
use crate::model::{Dialect, Model, Script};
use crate::openai::{ChatCompletions, Responses};

/// The program of a pinned agent from the cache that `tools/install-agents` fills. A missing one is
/// a failure: a test that drives one is ignored unless it is asked for.
pub fn pinned(agent: &str, version: &str) -> PathBuf {
    let cache = std::env::var_os("HEIRLOOM_TEST_CACHE").map_or_else(default_cache, PathBuf::from);
    let path = cache.join(format!("{agent}-{version}/node_modules/.bin/{agent}"));
    assert!(
        path.exists(),
        "{agent} {version} is not installed: run `tools/install-agents {agent}`",
    );
    path
}

/// A file of a pinned package from the cache that `tools/install-checkers` fills. A missing one is a failure,
/// as for agents.
pub fn checker(name: &str, version: &str, file: &str) -> PathBuf {
    let cache = std::env::var_os("HEIRLOOM_TEST_CACHE").map_or_else(default_cache, PathBuf::from);
    let path = cache.join(format!("{name}-{version}/node_modules/{file}"));
    assert!(path.exists(), "{name} {version} is not installed: run `tools/install-checkers`");
    path
}

fn default_cache() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache");
    cache.unwrap_or_else(home).join("heirloom/agents")
}

/// A model that is being served to an agent.
#[derive(Debug)]
pub struct Served {
    /// What the agent needs to find it.
    pub env: Vec<(String, String)>,
    model: Model,
    is_asked: fn(&Request) -> bool,
}

impl Served {
    fn start(
        dialect: impl Dialect,
        script: Script,
        is_asked: fn(&Request) -> bool,
    ) -> (Self, String) {
        let model = Model::start(dialect, script);
        let url = model.url();
        (Self { env: Vec::new(), model, is_asked }, url)
    }

    fn with(mut self, env: &[(&str, &str)]) -> Self {
        self.env.extend(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self
    }

    /// Waits until the agent asks the model something.
    pub fn wait(&self) {
        self.model.wait_for(1);
    }

    /// What the agent asked the model so far, as text.
    pub fn requests(&self) -> Vec<String> {
        let all = self.model.requests().into_iter().filter(self.is_asked);
        all.map(|request| request.text()).collect()
    }
}

/// Claude Code.
pub fn claude(_home: &Path, script: Script) -> Served {
    let (served, url) =
        Served::start(Anthropic, script, |request| request.path.starts_with("/v1/messages"));
    served.with(&[
        ("ANTHROPIC_BASE_URL", &url),
        ("ANTHROPIC_API_KEY", "sk-scripted"),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ])
}

/// Codex, with what is in `trust.toml` beside its own settings: the trust of a person in hooks.
pub fn codex(home: &Path, script: Script) -> Served {
    let (served, url) = Served::start(Responses, script, |request| request.path == "/v1/responses");
    let home = home.join(".codex");
    let config = format!(
        r#"model = "gpt-5"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 2
[analytics]
enabled = false
[features]
plugins = false
"#
    );
    let trust = fs::read_to_string(home.join("trust.toml")).unwrap_or_default();
    write(&home.join("config.toml"), &(config + &trust));
    served.with(&[("SCRIPTED_KEY", "sk-scripted")])
}

/// Gemini CLI, with the hooks that are in its settings.
pub fn gemini(home: &Path, script: Script) -> Served {
    let (served, url) =
        Served::start(Gemini, script, |request| request.path.contains(":streamGenerateContent"));
    let file = home.join(".gemini/settings.json");
    let settings = json!({
        "hooks": read(&file).get("hooks").cloned().unwrap_or_else(|| json!({})),
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    write(&file, &settings.to_string());
    served.with(&[
        ("GEMINI_API_KEY", "scripted"),
        ("GEMINI_MODEL", "gemini-2.5-flash"),
        ("GOOGLE_GEMINI_BASE_URL", &url),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
    ])
}

/// opencode, with the plugins that are in its settings.
pub fn opencode(home: &Path, script: Script) -> Served {
    let (served, url) =
        Served::start(ChatCompletions, script, |request| request.json()["tools"].is_array());
    let home = home.join(".config/opencode");
    // opencode takes this for the package that it would otherwise fetch for plugins.
    fs::create_dir_all(home.join("node_modules")).expect("a directory for packages");
    let lock = json!({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1"}}}});
    write(&home.join("package-lock.json"), &lock.to_string());
    let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "scripted"});
    let known = json!({
        "name": "m", "reasoning": true, "limit": {"context": 100_000, "output": 1000},
        "cost": {"input": 1000, "output": 1000},
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options,
        "models": {"m": known},
    });
    let file = home.join("opencode.json");
    let settings = json!({
        "plugin": read(&file).get("plugin").cloned().unwrap_or_else(|| json!([])),
        "autoupdate": false, "share": "disabled", "model": "scripted/m",
        "small_model": "scripted/m", "provider": {"scripted": provider},
    });
    write(&file, &settings.to_string());
    served.with(&[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        // Should it want a package after all, it hears at once that there is none: by itself it
        // asks for over a minute before it goes on without.
        ("npm_config_registry", "http://127.0.0.1:9/"),
        ("npm_config_fetch_retries", "0"),
        // It spends half of a short life on compiling itself.
        ("BUN_JSC_useFTLJIT", "0"),
    ])
}

fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn write(file: &Path, text: &str) {
    let directory = file.parent().expect("a file has a directory");
    fs::create_dir_all(directory).expect("a directory for settings");
    fs::write(file, text).expect("a file of settings");
}
