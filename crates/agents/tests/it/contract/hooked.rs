//! An agent with our hooks in its settings: installed by the adapter, called by the program, their
//! payloads read and their answers rendered by the adapter.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use heirloom_agents::hook::{HookAnswer, HookEvent, Hooks};

use super::rig::{Rig, Subject};

/// Stands in for heirloom: keeps each payload, and prints the answer that was prepared.
const PROGRAM: &str = r#"#!/bin/sh
dir=$(dirname "$0")
payload=$(mktemp "$dir/payloads/XXXXXXXX")
cat > "$payload"
mv "$payload" "$payload.$3"
[ -e "$dir/answers/$3" ] && cat "$dir/answers/$3" && rm "$dir/answers/$3"
exit 0
"#;

pub(super) struct Hooked {
    pub(super) rig: Rig,
    dir: PathBuf,
}

impl Hooked {
    pub(super) fn new(subject: &'static Subject) -> Self {
        let rig = Rig::new(subject);
        let hooks = rig.agent.hooks().unwrap();
        let dir = rig.home.path().join("our hooks");
        fs::create_dir_all(dir.join("payloads")).unwrap();
        fs::create_dir_all(dir.join("answers")).unwrap();
        let program = dir.join("heirloom");
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        for file in hooks.files(&rig.work, &rig.env()) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let text = hooks.install(&file, None, program.to_str().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        Self { rig, dir }
    }

    pub(super) fn hooks(&self) -> &'static dyn Hooks {
        self.rig.agent.hooks().unwrap()
    }

    /// What the hook will answer once, as the adapter renders it for such an event.
    pub(super) fn prepare(&self, name: &str, answer: &HookAnswer) {
        let payload = format!(r#"{{"session_id":"s","hook_event_name":"{name}"}}"#);
        let event = self.hooks().parse(name, payload.as_bytes()).unwrap();
        let text = self.hooks().render(&event, answer).expect("an answer");
        fs::write(self.dir.join("answers").join(name), text).unwrap();
    }

    /// The calls of one hook, as the adapter reads them.
    pub(super) fn calls(&self, name: &str) -> Vec<HookEvent> {
        let files = fs::read_dir(self.dir.join("payloads")).unwrap().flatten();
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.sort_by_key(|path| path.metadata().unwrap().modified().unwrap());
        let is_it = |path: &PathBuf| path.extension().is_some_and(|each| each == name);
        let read = |path: PathBuf| self.hooks().parse(name, &fs::read(path).unwrap()).unwrap();
        files.into_iter().filter(is_it).map(read).collect()
    }
}

pub(super) fn block(reason: &str) -> HookAnswer {
    HookAnswer { block: Some(reason.to_owned()), ..HookAnswer::default() }
}

pub(super) fn context(text: &str) -> HookAnswer {
    HookAnswer { context: Some(text.to_owned()), ..HookAnswer::default() }
}
