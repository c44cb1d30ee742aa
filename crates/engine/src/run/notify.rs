//! A word on the desktop, where there is one.

use heirloom_agents::Env;
use heirloom_agents::program::search;
use heirloom_repo::child;

/// Shows `text`. Nothing waits for it, and nothing depends on it.
pub(super) fn notify(env: &Env, title: &str, text: &str) {
    let is_set = |name: &str| env.get(std::ffi::OsStr::new(name)).is_some_and(|v| !v.is_empty());
    let (program, args) = if cfg!(target_os = "macos") {
        let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let script =
            format!("display notification \"{}\" with title \"{}\"", quote(text), quote(title));
        ("osascript", vec!["-e".to_owned(), script])
    } else if is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") {
        let app = "--app-name=heirloom".to_owned();
        ("notify-send", vec![app, "--".to_owned(), title.to_owned(), text.to_owned()])
    } else {
        return;
    };
    let Some(program) = search(program, env) else { return };
    let started = child::silent(program).args(args).env_clear().envs(env).spawn();
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
}
