//! The vault: secrets of configs, beside the ledger and never in it.
//!
//! One file a secret, named by a random id, readable by its owner only. The ledger holds the id, so
//! a copy of the ledger gives nothing away, and a session whose vault is on another machine says
//! what is missing instead of running without it. A secret that a child inherits keeps its id:
//! nothing is copied, and the provenance of a field can be seen without looking at it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use heirloom_core::config::{self, Config, Reference};
use uuid::Uuid;

use super::dir;
use super::error::ServeError;

#[derive(Debug)]
pub(super) struct Vault {
    path: PathBuf,
    /// The ids of secrets that are there already.
    known: BTreeMap<String, Reference>,
}

impl Vault {
    pub(super) fn new(home: &Path) -> Self {
        Self { path: dir::vault(home), known: BTreeMap::new() }
    }

    /// The config with its secrets, as the agent must get it. `session` is for the error.
    pub(super) fn unseal(&mut self, session: &str, sealed: &Config) -> Result<Config, ServeError> {
        config::unseal(sealed, |reference| self.look_up(reference))
            .map_err(|lost| ServeError::Lost { session: session.to_owned(), lost })
    }

    /// The config without its secrets, as the ledger may have it. They are on disk when it returns.
    pub(super) fn seal(&mut self, clear: &Config) -> Result<Config, ServeError> {
        config::seal(clear, |secret| self.keep(secret))
    }

    /// Keeps a secret, unless it was met before.
    pub(super) fn keep(&mut self, secret: &str) -> Result<Reference, ServeError> {
        if let Some(reference) = self.known.get(secret) {
            return Ok(*reference);
        }
        let reference = Reference::new(Uuid::new_v4());
        let file = self.file(reference);
        write(&self.path, &file, secret.as_bytes()).map_err(|source| ServeError::File {
            doing: "keep a secret in",
            path: file,
            source,
        })?;
        self.known.insert(secret.to_owned(), reference);
        Ok(reference)
    }

    /// The secret, if it is there.
    pub(super) fn look_up(&mut self, reference: Reference) -> Option<String> {
        let secret = fs::read_to_string(self.file(reference)).ok()?;
        self.known.insert(secret.clone(), reference);
        Some(secret)
    }

    fn file(&self, reference: Reference) -> PathBuf {
        self.path.join(reference.uuid().to_string())
    }
}

fn write(dir: &Path, file: &Path, secret: &[u8]) -> io::Result<()> {
    dir::make(dir)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(secret)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn config(token: &str) -> Config {
        let json = format!(
            r#"{{"mcp_servers":{{"db":{{"type":"stdio","command":"db","env":{{"T":"{token}"}}}}}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_secret_is_for_its_owners_eyes_and_keeps_its_id_when_inherited() {
        let home = tempfile::tempdir().unwrap();
        let sealed = Vault::new(home.path()).seal(&config("t0p")).unwrap();
        assert!(!serde_json::to_string(&sealed).unwrap().contains("t0p"));
        let dir = dir::vault(home.path());
        assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
        let file = fs::read_dir(&dir).unwrap().next().unwrap().unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

        let mut vault = Vault::new(home.path());
        let clear = vault.unseal("a", &sealed).unwrap();
        assert_eq!(clear, config("t0p"));
        assert_eq!(vault.seal(&clear).unwrap(), sealed);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn a_secret_that_is_elsewhere_is_named() {
        let home = tempfile::tempdir().unwrap();
        let sealed = Vault::new(home.path()).seal(&config("t0p")).unwrap();
        fs::remove_dir_all(dir::vault(home.path())).unwrap();
        let error = Vault::new(home.path()).unseal("auth-v2", &sealed).unwrap_err();
        assert_eq!(
            error.to_string(),
            "mcp_servers.db.env.T of auth-v2 is not in the vault of this machine"
        );
    }
}
