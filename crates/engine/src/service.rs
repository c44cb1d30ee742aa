//! The daemon as a service of the person's own session: a unit of systemd, or an agent of launchd.
//!
//! The file is written and removed here; starting it is the person's, with the command that is named.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::here::Here;
use heirloom_repo::file;

/// Which manager of services there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// systemd, as on most of Linux.
    Systemd,
    /// launchd, as on macOS.
    Launchd,
}

impl Manager {
    /// The one of this system.
    pub const fn native() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }

    /// What makes a service that was just written run, and keeps it running.
    pub const fn start(self) -> &'static str {
        match self {
            Self::Systemd => {
                "systemctl --user daemon-reload && systemctl --user enable --now heirloom"
            }
            Self::Launchd => {
                "launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/dev.heirloom.serve.plist"
            }
        }
    }

    /// What ends it, before its file goes.
    pub const fn stop(self) -> &'static str {
        match self {
            Self::Systemd => "systemctl --user disable --now heirloom",
            Self::Launchd => "launchctl bootout gui/$(id -u)/dev.heirloom.serve",
        }
    }
}

/// What the service runs.
#[derive(Debug, Clone)]
pub struct Service {
    pub program: PathBuf,
    /// What it is started with, after `serve`.
    pub arguments: Vec<String>,
    /// Where: the repository that is meant where a request names none.
    pub directory: PathBuf,
}

/// Why the service's file was not written or removed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Nobody can say where it belongs.
    #[error("cannot tell where to install the service: HOME is not set")]
    NoHome,
    /// A value cannot be written down.
    #[error("{what} contains a character that is not allowed in a service file")]
    Unwritable { what: String },
    /// Something is there that heirloom did not write.
    #[error("{} exists, and was not written by heirloom", .0.display())]
    Foreign(PathBuf),
    #[error("cannot write {}", .path.display())]
    File {
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// The first line of what we write, by which we know it again. Without two dashes, which end a comment in XML.
const OURS: &str = "Written by heirloom serve";

/// Variables that the service has to be given: it does not see the person's shell.
const PASSED: [&str; 4] = ["PATH", "HEIRLOOM_HOME", "HEIRLOOM_CONFIG", "HEIRLOOM_LOG"];

/// Where the service's file belongs.
pub fn file(here: &Here, manager: Manager) -> Result<PathBuf, ServiceError> {
    let home = here.var("HOME").map(PathBuf::from).ok_or(ServiceError::NoHome)?;
    Ok(match manager {
        Manager::Systemd => {
            let config = here.var("XDG_CONFIG_HOME").map(PathBuf::from);
            let config = config.filter(|path| path.is_absolute());
            config.unwrap_or_else(|| home.join(".config")).join("systemd/user/heirloom.service")
        }
        Manager::Launchd => home.join("Library/LaunchAgents/dev.heirloom.serve.plist"),
    })
}

/// Writes the service's file, in place of one that we wrote before.
pub fn install(here: &Here, manager: Manager, service: &Service) -> Result<PathBuf, ServiceError> {
    let path = file(here, manager)?;
    refuse_foreign(&path)?;
    let text = text(here, manager, service)?;
    let failed = |source| ServiceError::File { path: path.clone(), source };
    if let Some(directory) = path.parent() {
        file::create_dir_all(directory).map_err(|error| failed(error.source))?;
    }
    heirloom_repo::replace_private(&path, text.as_bytes()).map_err(failed)?;
    Ok(path)
}

/// Removes it; nothing where there is none.
pub fn uninstall(here: &Here, manager: Manager) -> Result<Option<PathBuf>, ServiceError> {
    let path = file(here, manager)?;
    refuse_foreign(&path)?;
    match file::remove_file(&path) {
        Ok(()) => Ok(Some(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ServiceError::File { path, source: error.source }),
    }
}

fn refuse_foreign(path: &Path) -> Result<(), ServiceError> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) => {
            let text = heirloom_repo::read_at_most(path, 64 * 1024).unwrap_or_default();
            let is_ours = found.is_file() && String::from_utf8_lossy(&text).contains(OURS);
            if is_ours { Ok(()) } else { Err(ServiceError::Foreign(path.to_owned())) }
        }
    }
}

/// What the file says.
fn text(here: &Here, manager: Manager, service: &Service) -> Result<String, ServiceError> {
    let mut words = vec![known("the program", &service.program)?, "serve".to_owned()];
    words.extend(service.arguments.iter().cloned());
    let directory = known("the directory", &service.directory)?;
    let passed: Vec<(&str, &str)> =
        PASSED.iter().filter_map(|name| Some((*name, here.var(name)?))).collect();
    let is_plain = |text: &str| !text.chars().any(char::is_control);
    let values = words.iter().map(String::as_str).chain(passed.iter().map(|(_, value)| *value));
    if let Some(wrong) = values.chain([directory.as_str()]).find(|text| !is_plain(text)) {
        return Err(ServiceError::Unwritable { what: format!("{wrong:?}") });
    }
    Ok(match manager {
        Manager::Systemd => systemd(&words, &directory, &passed),
        Manager::Launchd => launchd(&words, &directory, &passed),
    })
}

fn known(what: &str, path: &Path) -> Result<String, ServiceError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| ServiceError::Unwritable { what: what.to_owned() })
}

fn systemd(words: &[String], directory: &str, passed: &[(&str, &str)]) -> String {
    // `%` begins a specifier, `$` a variable, and quotes and backslashes are theirs.
    let quoted = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        format!("\"{text}\"")
    };
    let start: Vec<String> = words.iter().map(|word| quoted(&word.replace('$', "$$"))).collect();
    let mut text = format!(
        "# {OURS}; `heirloom serve --uninstall` removes it.\n[Unit]\nDescription=heirloom\n\n\
         [Service]\nExecStart={}\nWorkingDirectory={}\nRestart=on-failure\nKillMode=process\n",
        start.join(" "),
        directory.replace('%', "%%"),
    );
    for (name, value) in passed {
        let _ = writeln!(text, "Environment={}", quoted(&format!("{name}={value}")));
    }
    text.push_str("\n[Install]\nWantedBy=default.target\n");
    text
}

fn launchd(words: &[String], directory: &str, passed: &[(&str, &str)]) -> String {
    let plain = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- {OURS}; its flag `uninstall` removes it. -->\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>dev.heirloom.serve</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n"
    );
    for word in words {
        let _ = writeln!(text, "    <string>{}</string>", plain(word));
    }
    let _ = write!(
        text,
        "  </array>\n  <key>WorkingDirectory</key>\n  <string>{}</string>\n  <key>RunAtLoad</key>\n  <true/>\n  \
         <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
         <key>AbandonProcessGroup</key>\n  <true/>\n  <key>EnvironmentVariables</key>\n  <dict>\n",
        plain(directory),
    );
    for (name, value) in passed {
        let _ = writeln!(text, "    <key>{name}</key>\n    <string>{}</string>", plain(value));
    }
    text.push_str("  </dict>\n</dict>\n</plist>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::here::Env;

    fn here(home: &Path) -> Here {
        let set = [
            ("HOME", home.to_str().unwrap()),
            ("PATH", "/opt/a b:/usr/bin"),
            ("HEIRLOOM_HOME", "/d"),
        ];
        let env: Env = set.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Here::look(home, env).unwrap()
    }

    fn service() -> Service {
        Service {
            program: "/opt/100%/heirloom".into(),
            arguments: vec!["--listen".to_owned(), "127.0.0.1:7777".to_owned()],
            directory: "/src/pay & ments".into(),
        }
    }

    #[test]
    fn a_unit_says_what_runs_where_and_with_what() {
        let home = tempfile::tempdir().unwrap();
        let here = here(home.path());
        let path = install(&here, Manager::Systemd, &service()).unwrap();
        assert_eq!(path, home.path().join(".config/systemd/user/heirloom.service"));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "# Written by heirloom serve; `heirloom serve --uninstall` removes it.\n\
             [Unit]\nDescription=heirloom\n\n[Service]\n\
             ExecStart=\"/opt/100%%/heirloom\" \"serve\" \"--listen\" \"127.0.0.1:7777\"\n\
             WorkingDirectory=/src/pay & ments\nRestart=on-failure\nKillMode=process\n\
             Environment=\"PATH=/opt/a b:/usr/bin\"\nEnvironment=\"HEIRLOOM_HOME=/d\"\n\n\
             [Install]\nWantedBy=default.target\n"
        );
        install(&here, Manager::Systemd, &service()).unwrap();
        assert_eq!(uninstall(&here, Manager::Systemd).unwrap(), Some(path));
        assert_eq!(uninstall(&here, Manager::Systemd).unwrap(), None);
    }

    #[test]
    fn a_plist_is_xml_whatever_is_in_it() {
        let home = tempfile::tempdir().unwrap();
        let path = install(&here(home.path()), Manager::Launchd, &service()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("<string>/src/pay &amp; ments</string>"), "{text}");
        assert!(text.contains("<string>127.0.0.1:7777</string>"), "{text}");
        assert!(text.contains("<key>PATH</key>\n    <string>/opt/a b:/usr/bin</string>"), "{text}");
        let comment = text.split("<!--").nth(1).unwrap().split("-->").next().unwrap();
        assert!(!comment.contains("--"), "two dashes end a comment: {comment}");
    }

    #[test]
    fn what_somebody_else_wrote_stays() {
        let home = tempfile::tempdir().unwrap();
        let here = here(home.path());
        let path = file(&here, Manager::Systemd).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "[Unit]\nDescription=mine\n").unwrap();
        assert!(matches!(
            install(&here, Manager::Systemd, &service()),
            Err(ServiceError::Foreign(_))
        ));
        assert!(matches!(uninstall(&here, Manager::Systemd), Err(ServiceError::Foreign(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "[Unit]\nDescription=mine\n");
        let odd = Service { directory: "/a\nExecStartPre=id".into(), ..service() };
        fs::remove_file(&path).unwrap();
        assert!(matches!(
            install(&here, Manager::Systemd, &odd),
            Err(ServiceError::Unwritable { .. })
        ));
    }
}
