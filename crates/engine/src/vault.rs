//! The vault: secrets of configs, beside the ledger and never in it.
//!
//! One file a secret, named by a random id, readable by its owner only. The ledger holds the id, so
//! a copy of the ledger gives nothing away, and a session whose vault is on another machine says
//! what is missing instead of running without it. A secret that a child inherits keeps its id:
//! nothing is copied, and the provenance of a field can be seen without looking at it.
//!
//! A secret is on disk before the ledger refers to it. Whoever puts one there holds the vault open
//! until the reference is recorded, so that nobody takes it for one that nothing refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use heirloom_core::config::{self, Config, Field, Lost, Reference};
use heirloom_repo::{FileError, LockFile, file};
use uuid::Uuid;

use crate::turn::dir;

/// Locked by everybody who adds to the vault, and alone by whoever clears it out.
const LOCK: &str = ".lock";

#[derive(Debug)]
pub(crate) struct Vault {
    path: PathBuf,
    /// The ids of secrets that are there already, or will be.
    known: BTreeMap<String, Reference>,
    /// Those that are not there yet.
    new: Vec<(Reference, String)>,
}

/// The vault is not cleared out as long as this is there.
#[derive(Debug)]
pub(crate) struct Open {
    _lock: Option<LockFile>,
}

impl Vault {
    pub(crate) fn new(home: &Path) -> Self {
        Self { path: dir::vault(home), known: BTreeMap::new(), new: Vec::new() }
    }

    /// The config with its secrets, as the agent must get it, but for the fields in `given`, which
    /// are given anew; what of it is not here, if something is not.
    pub(crate) fn unseal(&mut self, sealed: &Config, given: &[Field]) -> Result<Config, Vec<Lost>> {
        config::unseal(sealed, given, |reference| self.look_up(reference))
    }

    /// The config without its secrets, as the ledger may have it. They are on disk once they were
    /// [stored](Self::store).
    pub(crate) fn seal(&mut self, clear: &Config) -> Config {
        let Ok(sealed) = config::seal(clear, |secret| Ok::<_, Infallible>(self.keep(secret)));
        sealed
    }

    /// The id of a secret: a new one, unless it was met before.
    pub(crate) fn keep(&mut self, secret: &str) -> Reference {
        if let Some(reference) = self.known.get(secret) {
            return *reference;
        }
        let reference = Reference::new(Uuid::new_v4());
        self.known.insert(secret.to_owned(), reference);
        self.new.push((reference, secret.to_owned()));
        reference
    }

    /// The secret, if it is there.
    pub(crate) fn look_up(&mut self, reference: Reference) -> Option<String> {
        let secret = file::read_to_string(self.file(reference)).ok()?;
        self.known.insert(secret.clone(), reference);
        Some(secret)
    }

    /// Puts the new secrets on disk. To be held until the ledger refers to them.
    pub(crate) fn store(&mut self) -> Result<Open, FileError> {
        if self.new.is_empty() {
            return Ok(Open { _lock: None });
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| FileError { doing: "keep a secret in", path, source }
        };
        let lock = self.lock_file().map_err(failed(&self.path))?;
        lock.lock_shared().map_err(failed(&self.path))?;
        for (reference, secret) in std::mem::take(&mut self.new) {
            let file = self.file(reference);
            write(&file, secret.as_bytes()).map_err(failed(&file))?;
        }
        Ok(Open { _lock: Some(lock) })
    }

    /// The secrets that nothing in `wanted` refers to, with the vault closed to everybody else;
    /// `None` if somebody is adding to it.
    pub(crate) fn unwanted<E: From<FileError>>(
        &self,
        wanted: impl FnOnce() -> Result<BTreeSet<Reference>, E>,
    ) -> Result<Option<(Open, Vec<PathBuf>)>, E> {
        let failed = |source| FileError { doing: "look into", path: self.path.clone(), source };
        if !self.path.is_dir() {
            return Ok(Some((Open { _lock: None }, Vec::new())));
        }
        let lock = self.lock_file().map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(source)) => return Err(failed(source).into()),
        }
        let wanted = wanted()?;
        let mut unwanted = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // What has another name was not put there by us.
            let reference = Uuid::try_parse(name).ok().map(Reference::new);
            if reference.is_some_and(|reference| !wanted.contains(&reference)) {
                unwanted.push(path);
            }
        }
        Ok(Some((Open { _lock: Some(lock) }, unwanted)))
    }

    fn lock_file(&self) -> io::Result<LockFile> {
        dir::make(&self.path)?;
        dir::append(&self.path.join(LOCK)).map(LockFile::new)
    }

    fn file(&self, reference: Reference) -> PathBuf {
        self.path.join(reference.uuid().to_string())
    }
}

fn write(file: &Path, secret: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = file::open_with(&options, file).map_err(|error| error.source)?;
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

    fn stored(home: &Path, token: &str) -> Config {
        let mut vault = Vault::new(home);
        let sealed = vault.seal(&config(token));
        vault.store().unwrap();
        sealed
    }

    fn secrets(home: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(dir::vault(home)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| !path.ends_with(LOCK)).collect()
    }

    #[test]
    fn a_secret_is_for_its_owners_eyes_and_keeps_its_id_when_inherited() {
        let home = tempfile::tempdir().unwrap();
        let sealed = stored(home.path(), "t0p");
        assert!(!serde_json::to_string(&sealed).unwrap().contains("t0p"));
        let dir = dir::vault(home.path());
        assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
        let file = secrets(home.path()).remove(0);
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);

        let mut vault = Vault::new(home.path());
        let clear = vault.unseal(&sealed, &[]).unwrap();
        assert_eq!(clear, config("t0p"));
        assert_eq!(vault.seal(&clear), sealed);
        vault.store().unwrap();
        assert_eq!(secrets(home.path()).len(), 1);
    }

    #[test]
    fn a_secret_that_is_elsewhere_is_named() {
        let home = tempfile::tempdir().unwrap();
        let sealed = stored(home.path(), "t0p");
        fs::remove_dir_all(dir::vault(home.path())).unwrap();
        let lost = Vault::new(home.path()).unseal(&sealed, &[]).unwrap_err();
        let places: Vec<&str> = lost.iter().map(|lost| lost.place.as_str()).collect();
        assert_eq!(places, ["mcp_servers.db.env.T"]);
    }

    #[test]
    fn what_is_sealed_and_never_recorded_leaves_no_file() {
        let home = tempfile::tempdir().unwrap();
        Vault::new(home.path()).seal(&config("t0p"));
        assert!(!dir::vault(home.path()).exists());
    }

    #[test]
    fn nobody_clears_out_a_secret_that_is_about_to_be_recorded() {
        let home = tempfile::tempdir().unwrap();
        let kept = stored(home.path(), "kept");
        let wanted = || {
            let json = serde_json::to_string(&kept).unwrap();
            let id = json.split("{vault:").nth(1).unwrap().split('}').next().unwrap().to_owned();
            Ok::<_, FileError>(BTreeSet::from([
                Reference::parse(&format!("{{vault:{id}}}")).unwrap()
            ]))
        };
        let mut vault = Vault::new(home.path());
        vault.seal(&config("new"));
        let open = vault.store().unwrap();
        assert!(Vault::new(home.path()).unwanted(wanted).unwrap().is_none());
        drop(open);
        let (_lock, unwanted) = Vault::new(home.path()).unwanted(wanted).unwrap().unwrap();
        let texts: Vec<String> =
            unwanted.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        assert_eq!(texts, ["new"]);
    }
}
