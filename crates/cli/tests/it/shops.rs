//! The agents' own shops: what `init` adds to each agent, and the plugins and extensions that bring the
//! same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use heirloom_testkit::env::TestEnv;
use heirloom_testkit::model::{Answer, Script};
use heirloom_testkit::real;
use serde_json::Value;

use crate::env;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// `UPDATE_DOCS=1` writes them.
#[test]
fn the_plugins_in_this_repository_are_what_init_installs() {
    let is_update = std::env::var_os("UPDATE_DOCS").is_some();
    for (name, text) in heirloom_agents::kit::shop() {
        let file = root().join(&name);
        if is_update {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &text).unwrap();
        }
        let there = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(there, text, "{name}: UPDATE_DOCS=1 writes it anew");
    }
}

/// Everything in a directory, with what is in it.
fn tree(directory: &Path) -> Vec<(PathBuf, Option<String>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.push((path.clone(), None));
            all.extend(tree(&path));
        } else {
            all.push((path.clone(), fs::read_to_string(&path).ok()));
        }
    }
    all.sort();
    all
}

#[test]
fn commands_and_tools_come_with_init_and_leave_without_a_trace() {
    for (agent, command, settings) in [
        ("claude", ".claude/commands/heirloom/recall.md", ".claude.json"),
        ("codex", ".codex/skills/heirloom-recall/SKILL.md", ".codex/config.toml"),
        ("gemini", ".gemini/commands/heirloom/recall.toml", ".gemini/settings.json"),
        (
            "opencode",
            ".config/opencode/command/heirloom-recall.md",
            ".config/opencode/opencode.json",
        ),
    ] {
        let env = env();
        for name in [".claude", ".codex", ".gemini", ".config/opencode"] {
            fs::create_dir_all(env.user().join(name)).unwrap();
        }
        let before = tree(&env.user());
        let ran = env.run(&["init", "--agent", agent]).success();
        assert!(ran.stdout.contains("MCP tools"), "{agent}: {ran}");
        let text = fs::read_to_string(env.user().join(command)).unwrap();
        assert!(text.contains("heirloom search"), "{agent}: {text}");
        let server = fs::read_to_string(env.user().join(settings)).unwrap();
        assert!(server.contains("mcp") && server.contains("/bin/sh"), "{agent}: {server}");
        let again = env.run(&["init", "--agent", agent]).success();
        assert!(!again.stdout.contains("MCP tools"), "{agent}: {again}");
        env.run(&["init", "--uninstall"]).success();
        assert_eq!(tree(&env.user()), before, "{agent}");
    }
}

#[test]
fn a_command_that_a_person_made_their_own_stays_theirs() {
    let env = env();
    let file = env.user().join(".claude/commands/heirloom/note.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "mine").unwrap();
    env.run(&["init", "--agent", "claude"]).success();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    env.run(&["init", "--uninstall"]).success();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(!file.with_file_name("recall.md").exists());
}

#[test]
fn the_mcp_server_that_init_names_answers() {
    let env = env();
    env.run(&["init", "--agent", "claude"]).success();
    let text = fs::read_to_string(env.user().join(".claude.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let server = &settings["mcpServers"]["heirloom"];
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let input = env.user().join("hello");
    fs::write(&input, format!("{hello}\n")).unwrap();
    let vars = env.command(&[]);
    let vars = vars.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let output = Command::new(server["command"].as_str().unwrap())
        .args(server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()))
        .env_clear()
        .envs(vars)
        .current_dir(env.repo())
        .stdin(fs::File::open(input).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("serverInfo"), "{said}");
}

#[test]
fn where_the_plugin_is_installed_init_leaves_it_to_the_plugin() {
    let env = env();
    env.run(&["init", "--agent", "claude"]).success();
    let file = env.user().join(".claude/settings.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    settings["enabledPlugins"] = serde_json::json!({"heirloom@heirloom": true});
    fs::write(&file, settings.to_string()).unwrap();
    let start = format!(r#"{{"session_id":"s","cwd":{:?},"source":"startup"}}"#, env.repo());
    let hook = |last: &[&str]| {
        let words = [&["hook", "claude", "SessionStart"], last].concat();
        env.run_with(&words, start.as_bytes()).stdout
    };
    assert_eq!(
        hook(&["--plugin"]),
        "",
        "the hooks in the settings speak, not the plugin's as well"
    );
    assert!(hook(&[]).contains("heirloom"));

    let ran = env.run(&["init", "--agent", "claude"]).success();
    assert!(ran.stdout.contains("by its plugin"), "{ran}");
    assert!(!fs::read_to_string(&file).unwrap().contains("hook claude"));
    assert!(!env.user().join(".claude/commands").exists());
    assert!(hook(&["--plugin"]).contains("heirloom"), "now the plugin's speak");
}

#[test]
fn where_the_extension_is_installed_init_leaves_it_to_the_extension() {
    let env = env();
    env.run(&["init", "--agent", "gemini"]).success();
    let settings = env.user().join(".gemini/settings.json");
    let start = format!(
        r#"{{"session_id":"s","cwd":{:?},"source":"startup","hook_event_name":"SessionStart"}}"#,
        env.repo()
    );
    let hook = |last: &[&str]| {
        let words = [&["hook", "gemini", "SessionStart"], last].concat();
        env.run_with(&words, start.as_bytes()).stdout
    };
    assert_eq!(
        hook(&["--plugin"]),
        "",
        "the hooks in the settings speak, not the extension's as well"
    );
    assert!(hook(&[]).contains("heirloom"));
    fs::create_dir_all(env.user().join(".gemini/extensions/heirloom")).unwrap();
    let ran = env.run(&["init", "--agent", "gemini"]).success();
    assert!(ran.stdout.contains("by its extension"), "{ran}");
    assert!(!fs::read_to_string(&settings).unwrap_or_default().contains("hook gemini"));
    assert!(hook(&["--plugin"]).contains("heirloom"), "now the extension's speak");
}

#[test]
fn an_extension_that_is_switched_off_leaves_it_to_init() {
    let env = env();
    let extensions = env.user().join(".gemini/extensions");
    fs::create_dir_all(extensions.join("heirloom")).unwrap();
    let said = |rules: &[String]| {
        let rules = serde_json::json!({"heirloom": {"overrides": rules}});
        fs::write(extensions.join("extension-enablement.json"), rules.to_string()).unwrap();
        env.run(&["init", "--agent", "gemini"]).success().stdout
    };
    let user = env.user().display().to_string();
    let elsewhere = "!/srv/other/*".to_owned();
    let on = said(&[format!("!{user}/*"), format!("{user}/*"), elsewhere.clone()]);
    assert!(on.contains("by its extension"), "{on}");
    let off = said(&[format!("{user}/*"), format!("!{user}/*"), elsewhere]);
    assert!(!off.contains("by its extension"), "{off}");
    let settings = fs::read_to_string(env.user().join(".gemini/settings.json")).unwrap();
    assert!(settings.contains("hook gemini"), "{settings}");
}

const PAYLOAD: &str = r#""cost":{"total_cost_usd":1.04},"context_window":{"used_percentage":41.7}"#;

#[test]
fn the_status_line_says_context_cost_what_is_unmet_and_what_is_kept() {
    let env = env();
    let line = |payload: &str| env.run_with(&["statusline"], payload.as_bytes()).success().stdout;
    let payload =
        format!(r#"{{"session_id":"s-1","cwd":{:?},{PAYLOAD}}}"#, env.repo().join("nowhere"));
    assert_eq!(line(&payload), "42 % of context · $1.04\n", "where it is not set up");
    env.write(".heirloom/config.yaml", "requirements: {plan: {}, ticket: {scope: branch}}\n");
    env.run(&["init", "--agent", "claude"]).success();
    assert_eq!(line(&payload), "42 % of context · $1.04 · unmet: plan, ticket · 0 decisions\n");
    env.write("src/a.rs", "fn rotate() {}\n");
    let evidence = ["--because", "replay", "--evidence", "src/a.rs:1"];
    env.run(&[&["note", "decision", "Rotate tokens"], &evidence[..]].concat()).success();
    env.run(&["req", "satisfy", "ticket", "--branch", "main"]).success();
    assert_eq!(line(&payload), "42 % of context · $1.04 · unmet: plan · 1 decision\n");
    assert_eq!(line("\u{0}not json"), "unmet: plan · 1 decision\n");
    let answer = env.run_with(&["statusline", "--json"], b"{}").success().json();
    assert_eq!(answer["cost_usd"], Value::Null, "unknown is not zero");
    assert_eq!(answer["unmet"], serde_json::json!(["plan"]));
}

/// Claude Code with the plugin of this repository, from its marketplace.
struct Plugged {
    env: TestEnv,
    program: PathBuf,
}

impl Plugged {
    fn new() -> Self {
        let version = heirloom_agents::by_name("claude").unwrap().tested_version().unwrap();
        let env = env();
        env.write("README.md", "# payments\n");
        let plugged = Self { program: real::pinned("claude", version), env };
        let market = plugged.env.user().join("market");
        for (name, text) in heirloom_agents::kit::shop() {
            fs::create_dir_all(market.join(&name).parent().unwrap()).unwrap();
            fs::write(market.join(&name), text).unwrap();
        }
        let market = market.to_str().unwrap();
        for words in [
            &["plugin", "validate", market][..],
            &["plugin", "validate", &format!("{market}/plugins/claude")],
            &["plugin", "marketplace", "add", market],
            &["plugin", "install", "heirloom@heirloom"],
        ] {
            let (said, ok) = plugged.claude(words, &[]);
            assert!(ok, "claude {words:?}: {said}");
        }
        plugged
    }

    fn claude(&self, words: &[&str], vars: &[(String, String)]) -> (String, bool) {
        // The plugin looks for the program in PATH.
        let own = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let path = std::iter::once(own.to_owned()).chain(std::env::split_paths(&path));
        let output = Command::new(&self.program)
            .args(words)
            .current_dir(self.env.repo())
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.env.user())
            .env("TMPDIR", self.env.user())
            .env("HEIRLOOM_HOME", self.env.home())
            .env("NO_PROXY", "127.0.0.1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .envs(vars.iter().map(|(name, value)| (name, value)))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].map(|part| String::from_utf8(part).unwrap());
        (said.concat(), output.status.success())
    }

    /// The first request that a prompt leads to.
    fn ask(&self, prompt: &str) -> String {
        let served = real::claude(&self.env.user(), Script::new([Answer::text("ok")]));
        let (said, ok) = self.claude(&["-p", prompt], &served.env);
        assert!(ok, "{said}");
        served.requests().first().cloned().unwrap_or_default()
    }
}

#[test]
#[ignore = "drives the real Claude Code: tools/install-agents claude"]
fn the_plugin_is_valid_and_does_in_the_real_claude_code_what_init_does() {
    let plugged = Plugged::new();
    let ran = plugged.env.run(&["init", "--agent", "claude"]).success();
    assert!(ran.stdout.contains("by its plugin"), "{ran}");
    let text = "Record what must outlast this context";
    let first = plugged.ask("hello");
    assert_eq!(first.matches(text).count(), 1, "{first}");
    assert!(first.contains("mcp__plugin_heirloom_heirloom__note"), "{first}");
    let recalled = plugged.ask("/heirloom:recall rotation");
    assert!(recalled.contains("heirloom search") && recalled.contains("rotation"), "{recalled}");
    let sessions = plugged.env.run(&["sessions", "list", "--json"]).success().json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2, "{sessions}");
    // Hooks of both at once would tell everything twice.
    let settings = plugged.env.user().join(".claude/settings.json");
    let before = fs::read_to_string(&settings).unwrap();
    let disabled = before.replace("\"heirloom@heirloom\": true", "\"heirloom@heirloom\": false");
    fs::write(&settings, &disabled).unwrap();
    plugged.env.run(&["init", "--agent", "claude"]).success();
    let both = fs::read_to_string(&settings).unwrap();
    let both = both.replace("\"heirloom@heirloom\": false", "\"heirloom@heirloom\": true");
    fs::write(&settings, both).unwrap();
    let second = plugged.ask("hello again");
    assert_eq!(second.matches(text).count(), 1, "{second}");
}

/// A real agent in a person's home, with heirloom in its PATH: what comes from a shop looks for it there.
struct Shopping {
    env: TestEnv,
    program: PathBuf,
}

/// What an agent said, and what it asked its model.
struct Heard {
    said: String,
    requests: Vec<String>,
}

impl Shopping {
    fn new(agent: &str) -> Self {
        let version = heirloom_agents::by_name(agent).unwrap().tested_version().unwrap();
        let env = env();
        env.write("README.md", "# payments\n");
        Self { program: real::pinned(agent, version), env }
    }

    fn run(&self, words: &[&str], vars: &[(String, String)], input: &str) -> (String, bool) {
        let own = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let path = std::iter::once(own.to_owned()).chain(std::env::split_paths(&path));
        let file = self.env.user().join("input");
        fs::write(&file, input).unwrap();
        let output = Command::new(&self.program)
            .args(words)
            .current_dir(self.env.repo())
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.env.user())
            .env("TMPDIR", self.env.user())
            .env("HEIRLOOM_HOME", self.env.home())
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .envs(vars.iter().map(|(name, value)| (name, value)))
            .stdin(fs::File::open(file).unwrap())
            .output()
            .unwrap();
        let said =
            [output.stdout, output.stderr].map(|part| String::from_utf8_lossy(&part).into_owned());
        (said.concat(), output.status.success())
    }

    fn ask(
        &self,
        served: &real::Served,
        words: &[&str],
        vars: &[(&str, &str)],
        input: &str,
    ) -> Heard {
        let more = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let vars: Vec<(String, String)> = served.env.iter().cloned().chain(more).collect();
        let (said, ok) = self.run(words, &vars, input);
        let requests = served.requests();
        assert!(ok, "{said}: {requests:?}");
        Heard { said, requests }
    }

    /// Notes something that a new context begins with.
    fn decide(&self) {
        self.env.write("src/a.rs", "fn rotate() {}\n");
        let evidence = ["--because", "replay", "--evidence", "src/a.rs:1"];
        self.env
            .run(&[&["note", "decision", "Rotate tokens nightly"], &evidence[..]].concat())
            .success();
    }

    fn sessions(&self) -> usize {
        let listed = self.env.run(&["sessions", "list", "--json"]).success().json();
        let all = listed["sessions"].as_array().unwrap().iter();
        all.filter(|session| !session["agent"].is_null()).count()
    }
}

const TOLD: &str = "Record what must outlast this context";

#[test]
#[ignore = "drives the real Gemini CLI: tools/install-agents gemini"]
fn the_extension_is_valid_in_the_real_gemini_cli() {
    let version = heirloom_agents::by_name("gemini").unwrap().tested_version().unwrap();
    let env = env();
    let output = Command::new(real::pinned("gemini", version))
        .args(["extensions", "validate"])
        .arg(root().join("plugins/gemini"))
        .current_dir(env.repo())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", env.user())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|part| String::from_utf8(part).unwrap()).concat();
    assert!(output.status.success() && said.contains("success"), "{said}");
}

#[test]
#[ignore = "drives the real Gemini CLI: tools/install-agents gemini"]
fn the_extension_does_in_the_real_gemini_cli_what_init_does_and_never_both() {
    let shopping = Shopping::new("gemini");
    let source = shopping.env.user().join("shop/plugins/gemini");
    for (name, text) in heirloom_agents::kit::shop() {
        let file = shopping.env.user().join("shop").join(&name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let install = ["extensions", "install", source.to_str().unwrap(), "--consent"];
    // It asks whether the place is trusted.
    let (said, ok) = shopping.run(&install, &[], "y\n");
    assert!(ok && said.contains("installed successfully"), "{said}");
    let ran = shopping.env.run(&["init", "--agent", "gemini"]).success();
    assert!(ran.stdout.contains("by its extension"), "{ran}");
    shopping.decide();
    let trusted = [("GEMINI_CLI_TRUST_WORKSPACE", "true")];
    let note = serde_json::json!({"kind": "learning", "text": "Learned through the extension"});
    let answers = |tool: &str| Script::new([Answer::tool(tool, note.clone()), Answer::text("ok")]);
    let ask_with = |prompt: &str, script: Script, more: &[(&str, &str)]| {
        let served = real::gemini(&shopping.env.user(), script);
        let vars = [&trusted, more].concat();
        shopping.ask(&served, &["--approval-mode", "yolo", "-p", prompt], &vars, "")
    };
    let ask = |prompt: &str, script: Script| ask_with(prompt, script, &[]);
    let heard = ask("Make the signer rotate its keys every night", answers("mcp_heirloom_note"));
    let first = &heard.requests[0];
    assert_eq!(first.matches(TOLD).count(), 1, "{first}");
    assert!(first.contains("Rotate tokens nightly"), "{first}");
    assert!(first.contains("mcp_heirloom_note"), "its server is there: {first}");
    assert_eq!(shopping.sessions(), 1, "its hooks recorded it: {}", heard.said);
    let notes = shopping.env.run(&["notes", "--json"]).success().stdout;
    assert!(notes.contains("Learned through the extension"), "{notes}: {:?}", heard.requests);
    // Without a terminal it puts what hooks add before the prompt, which is no command then.
    let alone = [("HEIRLOOM_DISABLE", "1")];
    let heard = ask_with("/heirloom:recall rotation", Script::new([Answer::text("ok")]), &alone);
    let recalled = &heard.requests[0];
    assert!(recalled.contains("heirloom search") && recalled.contains("rotation"), "{recalled}");
    // With the hooks of both, one of them speaks.
    let extensions = shopping.env.user().join(".gemini/extensions");
    let aside = shopping.env.user().join("aside");
    fs::rename(&extensions, &aside).unwrap();
    shopping.env.run(&["init", "--agent", "gemini"]).success();
    fs::rename(&aside, &extensions).unwrap();
    let heard = ask("hello again", Script::new([Answer::text("ok")]));
    assert_eq!(heard.requests[0].matches(TOLD).count(), 1, "{}", heard.requests[0]);
    // What the hooks added the last time is not what the person asked.
    let last = &heard.requests[0];
    assert!(last.contains(r#"Asked last: \"Make the signer rotate"#), "{last}");
    assert!(!last.contains("&lt;hook_context"), "{last}");
}

#[test]
#[ignore = "drives the real Codex: tools/install-agents codex"]
fn skills_from_the_shop_are_in_the_first_request_of_the_real_codex() {
    let shopping = Shopping::new("codex");
    for (name, text) in heirloom_agents::kit::shop() {
        let Some(skill) = name.strip_prefix("plugins/codex/") else { continue };
        let file = shopping.env.user().join(".codex").join(skill);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let served = real::codex(&shopping.env.user(), Script::new([Answer::text("ok")]));
    let heard = shopping.ask(&served, &["exec", "--skip-git-repo-check", "-"], &[], "hello");
    for skill in ["heirloom-recall", "heirloom-note", "heirloom-handoff"] {
        assert!(heard.requests[0].contains(skill), "{skill}: {}", heard.requests[0]);
    }
    // Named, a skill is read: its text reaches the model.
    let served = real::codex(&shopping.env.user(), Script::new([Answer::text("ok")]));
    let prompt = "use $heirloom-recall to find what was said about rotation";
    let heard = shopping.ask(&served, &["exec", "--skip-git-repo-check", "-"], &[], prompt);
    assert!(heard.requests[0].contains("heirloom search"), "{}", heard.requests[0]);
    // The same skills are not there twice once init put its own in that place.
    shopping.env.run(&["init", "--agent", "codex"]).success();
    let served = real::codex(&shopping.env.user(), Script::new([Answer::text("ok")]));
    let heard = shopping.ask(&served, &["exec", "--skip-git-repo-check", "-"], &[], "hello");
    let named = heard.requests[0].matches("heirloom-recall/SKILL.md").count();
    assert_eq!(named, 1, "{}", heard.requests[0]);
}

#[test]
#[ignore = "drives the real opencode: tools/install-agents opencode"]
fn the_package_does_in_the_real_opencode_what_init_does_and_never_both() {
    let shopping = Shopping::new("opencode");
    let place = shopping.env.user().join("heirloom-opencode");
    for (name, text) in heirloom_agents::kit::shop() {
        let Some(file) = name.strip_prefix("plugins/opencode/") else { continue };
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(file), text).unwrap();
    }
    let settings = shopping.env.user().join(".config/opencode/opencode.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let package = format!("file://{}", place.join("heirloom.js").display());
    fs::write(&settings, serde_json::json!({"plugin": [package]}).to_string()).unwrap();
    // Where somebody recorded something, heirloom is at home.
    shopping.decide();
    let block = "requirements: {plan: {}}\n";
    shopping.env.write(".heirloom/config.yaml", block);
    let ask = |prompt: &str, answers: &[Answer]| {
        let script = Script::new(answers.iter().cloned());
        let served = real::opencode(&shopping.env.user(), script);
        shopping.ask(&served, &["run", "--format", "json"], &[], prompt)
    };
    let made = shopping.env.repo().join("made");
    let write = Answer::tool("write", serde_json::json!({"filePath": made, "content": "x"}));
    let heard = ask("hello", &[write, Answer::text("ok")]);
    let first = &heard.requests[0];
    assert_eq!(first.matches(TOLD).count(), 1, "{first}");
    assert!(first.contains("Rotate tokens nightly"), "{first}");
    assert!(heard.requests[1].contains("plan is not met"), "{}", heard.requests[1]);
    assert!(!made.exists(), "its hook kept the tool from being used");
    assert_eq!(shopping.sessions(), 1, "{}", heard.said);
    // With the file that init writes as well, everything is told once.
    shopping.env.run(&["init", "--agent", "opencode"]).success();
    let both = fs::read_to_string(&settings).unwrap();
    assert!(both.contains("heirloom-opencode") && both.matches("heirloom").count() > 1, "{both}");
    let heard = ask("hello again", &[Answer::text("ok")]);
    assert_eq!(heard.requests[0].matches(TOLD).count(), 1, "{}", heard.requests[0]);
    assert_eq!(shopping.sessions(), 2);
}
