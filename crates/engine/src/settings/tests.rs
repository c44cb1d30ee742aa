use std::ffi::OsString;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A home and a repository of their own.
struct Scene {
    dir: TempDir,
    environment: Environment,
    flags: Vec<Flag>,
}

impl Scene {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let home = dir.path().join("home").into_os_string();
        let environment = Environment::from_vars([("HOME".into(), home)]);
        Self { dir, environment, flags: Vec::new() }
    }

    fn write(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn user(self, content: &str) -> Self {
        self.write("home/.config/heirloom/config.yaml", content)
    }

    fn repo(self, content: impl AsRef<[u8]>) -> Self {
        self.write("repo/.heirloom/config.yaml", content)
    }

    fn local(self, content: &str) -> Self {
        self.write("repo/.heirloom/local.yaml", content)
    }

    fn load(&self) -> Result<Loaded, Box<Unusable>> {
        let repo = self.dir.path().join("repo");
        let (environment, flags) = (&self.environment, &self.flags[..]);
        load(&Request { environment, repo: Some(&repo), flags, say: Say::Everything })
    }

    fn errors(&self) -> String {
        let errors = self.load().unwrap_err().broken.errors;
        let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        text.replace(self.dir.path().to_str().unwrap(), "[DIR]")
    }
}

fn source_of(loaded: &Loaded, path: &str) -> String {
    loaded.rows.iter().find(|row| row.path == path).unwrap().source.describe()
}

fn vars(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn nowhere_is_the_defaults() {
    let loaded = Scene::new().load().unwrap();
    assert_eq!(loaded.settings, heirloom_core::settings::Settings::default());
    assert!(loaded.files.iter().all(|file| file.state == FileState::Absent));
    assert_eq!(loaded.files.len(), 4);
}

#[test]
fn user_repository_local_environment_and_flags_in_rising_precedence() {
    let keys = ["max_agents", "max_fixes", "max_issues", "max_cost"];
    let layer = |from: usize, value: u32| {
        let lines = keys[from..].iter().map(|key| format!("  {key}: {value}\n"));
        format!("work:\n{}", lines.collect::<String>())
    };
    let mut scene = Scene::new().user(&layer(0, 1)).repo(layer(1, 2)).local(&layer(2, 3));
    let agent = |layer: &str| format!("agents: {{claude: {{command: [{layer}]}}}}\n");
    scene = scene.write("repo/.heirloom/local.yaml", layer(2, 3) + &agent("local"));
    scene.environment.variables.push(("HEIRLOOM_AGENT_CLAUDE".into(), Some("/bin/env".into())));
    scene.flags.push(Flag {
        name: "--max-cost".into(),
        path: "work.max_cost".into(),
        value: json!(4),
    });
    let loaded = scene.load().unwrap();
    assert!(source_of(&loaded, "work.max_agents").ends_with("heirloom/config.yaml:2:15"));
    assert_eq!(source_of(&loaded, "work.max_fixes"), ".heirloom/config.yaml:2:14");
    assert_eq!(source_of(&loaded, "work.max_issues"), ".heirloom/local.yaml:2:15");
    assert_eq!(source_of(&loaded, "work.max_cost"), "--max-cost");
    assert_eq!(source_of(&loaded, "agents.claude.command"), "$HEIRLOOM_AGENT_CLAUDE");
    assert_eq!(source_of(&loaded, "work.gate"), "default");
}

#[test]
fn a_broken_file_is_reported_every_time_and_no_other_is_used() {
    let scene = Scene::new().user("work: {max_agents: 4}\n").repo("work: {max_agents: [\n");
    let first = scene.errors();
    assert_snapshot!(first, @"error: .heirloom/config.yaml:1:20: not valid YAML: unclosed bracket '['");
    assert_eq!(scene.errors(), first);
}

#[test]
fn all_files_are_reported_at_once() {
    let scene = Scene::new().user("agent: codx\n").repo("a: 1\na: 2\n").local("[]\n");
    assert_snapshot!(scene.errors(), @"
    error: [DIR]/home/.config/heirloom/config.yaml:1:8: `agent` cannot be `codx`
    hint: did you mean `codex`? allowed: `claude`, `codex`, `gemini`, `opencode`, `command`, `sim`
    error: .heirloom/config.yaml:2:1: the key `a` is given twice
    hint: it is on line 1 already; keep one of the two
    error: .heirloom/local.yaml:1:1: a settings file is a map of keys, this is a list
    hint: write `key: value` lines
    ");
}

#[test]
fn a_file_that_is_not_utf8_is_an_error_with_its_place() {
    let scene = Scene::new().repo(b"work:\n  gate: [\xff]\n");
    assert_snapshot!(scene.errors(), @"
    error: .heirloom/config.yaml:2:10: the file is not UTF-8 text
    hint: save it as UTF-8
    ");
    let scene = Scene::new().repo(b"\xff\xfea\0:\0");
    assert_snapshot!(scene.errors(), @"
    error: .heirloom/config.yaml:1:1: the file is not UTF-8 text
    hint: save it as UTF-8
    ");
}

#[test]
fn a_file_that_is_too_large_is_an_error() {
    let scene = Scene::new().repo("# comment\n".repeat(200_000));
    assert_snapshot!(scene.errors(), @"error: .heirloom/config.yaml: the file is larger than 1 MiB");
}

#[test]
fn what_is_no_file_is_an_error() {
    let scene = Scene::new().write("repo/.heirloom/config.yaml/file", "");
    assert_snapshot!(scene.errors(), @"error: .heirloom/config.yaml: this is not a file");
    let scene = Scene::new().write("repo/.heirloom", "");
    assert_snapshot!(scene.errors(), @"
    error: .heirloom/config.yaml: the file cannot be read: Not a directory (os error 20)
    hint: [DIR]/repo/.heirloom is not a directory
    error: .heirloom/local.yaml: the file cannot be read: Not a directory (os error 20)
    hint: [DIR]/repo/.heirloom is not a directory
    ");
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_an_error() {
    let scene = Scene::new().local("");
    let link = scene.dir.path().join("repo/.heirloom/config.yaml");
    std::os::unix::fs::symlink("gone.yaml", link).unwrap();
    assert_snapshot!(scene.errors(), @"error: .heirloom/config.yaml: the file is a link to nothing");
}

#[test]
fn a_named_user_file_must_be_there() {
    let mut scene = Scene::new().user("work: {max_agents: 4}\n");
    let named = scene.dir.path().join("mine.yaml");
    scene.environment.config_file = Some(named);
    assert_snapshot!(scene.errors(), @"
    error: [DIR]/mine.yaml: the file is not there
    hint: create it, or unset HEIRLOOM_CONFIG, which names it
    ");
    let scene = scene.write("mine.yaml", "work: {max_agents: 7}\n");
    assert_eq!(scene.load().unwrap().settings.work.max_agents.get(), 7);
}

#[cfg(unix)]
#[test]
fn the_null_device_stands_for_no_user_settings() {
    let mut scene = Scene::new().user("work: {max_agents: 4}\n");
    scene.environment.config_file = Some("/dev/null".into());
    assert_eq!(scene.load().unwrap().settings.work.max_agents.get(), 2);
}

#[test]
fn without_a_repository_there_are_the_users_settings() {
    let scene = Scene::new().user("work: {max_agents: 4}\n").repo("work: {max_agents: 5}\n");
    let request =
        Request { environment: &scene.environment, repo: None, flags: &[], say: Say::Everything };
    assert_eq!(load(&request).unwrap().settings.work.max_agents.get(), 4);
}

#[cfg(unix)]
#[test]
fn the_users_file_is_where_the_base_directories_say() {
    let path = |pairs: &[(&str, &str)]| {
        let environment = Environment::from_vars(vars(pairs));
        let user = places(&environment, None).into_iter().find(|place| place.role == Role::User);
        user.map(|place| place.path)
    };
    let at = |path: &str| Some(Path::new(path).to_owned());
    let home = ("HOME", "/h");
    assert_eq!(path(&[home]), at("/h/.config/heirloom/config.yaml"));
    assert_eq!(path(&[home, ("XDG_CONFIG_HOME", "/x")]), at("/x/heirloom/config.yaml"));
    assert_eq!(path(&[home, ("XDG_CONFIG_HOME", "x")]), at("/h/.config/heirloom/config.yaml"));
    assert_eq!(path(&[home, ("HEIRLOOM_CONFIG", "/c.yaml")]), at("/c.yaml"));
    assert_eq!(path(&[home, ("HEIRLOOM_CONFIG", "")]), at("/h/.config/heirloom/config.yaml"));
    assert_eq!(path(&[]), None);
}
