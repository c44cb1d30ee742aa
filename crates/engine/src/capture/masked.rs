//! Words that were forgotten, by their sums, for each repository.
//!
//! An agent's own file still has what it was told of a session that was forgotten, and so has every copy that somebody goes
//! on with. Where such a file is read, for the first time or again, the words are masked before anything is made of it.

use std::io;
use std::path::{Path, PathBuf};

use heirloom_agents::Agent;
use heirloom_agents::transcript::entry::{self, What};
use heirloom_core::mask::{Secret, Sums, Words};
use heirloom_repo::{FileError, file, make_private_dir, open_lock, replace_private};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What was forgotten in a repository.
pub(super) struct Masked {
    known: Vec<Known>,
    secret: Secret,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    /// When it was forgotten.
    at: Timestamp,
    sums: Sums,
}

/// How a transcript begins.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// When its first entry is from.
    first: Option<Timestamp>,
    /// The conversations that it has copies from.
    pub(super) forked_from: Vec<String>,
}

impl Beginning {
    /// Of these bytes, as its agent wrote them.
    pub(super) fn read(agent: &dyn Agent, bytes: &[u8]) -> Self {
        let mut begins = Self::default();
        let Some(kept) = agent.transcripts() else { return begins };
        entry::scan(&mut *kept.entries(), bytes, 0, &mut |entry| {
            begins.first = [begins.first, entry.at].into_iter().flatten().min();
            if let What::Whereabouts(place) = entry.what {
                begins.forked_from.extend(place.forked_from);
            }
        });
        begins
    }
}

impl Masked {
    /// What was forgotten in a repository; nothing where nothing was.
    pub(super) fn of(home: &Path, repo: &str) -> Result<Option<Self>, FileError> {
        let path = path(home, repo);
        if !path.exists() {
            return Ok(None);
        }
        let known = read(&path)?;
        // Another one would know none of the words, and all of them would come back.
        let secret = secret(home)?.ok_or_else(|| FileError {
            doing: "read",
            path: directory(home).join(SECRET),
            source: io::Error::new(io::ErrorKind::NotFound, "it was deleted"),
        })?;
        Ok(Some(Self { known, secret }))
    }

    /// Leaves what a transcript may have that was never met before: it was there when the words were forgotten, or it
    /// is a copy of one. What began later is somebody's own. Returns whether there is any.
    pub(super) fn retain(&mut self, begins: &Beginning) -> bool {
        let is_older = |at: Timestamp| begins.first.is_none_or(|first| first <= at);
        let is_copy = !begins.forked_from.is_empty();
        self.known.retain(|known| is_copy || is_older(known.at));
        !self.known.is_empty()
    }

    /// Masks the words in a transcript, or in a part of one.
    pub(super) fn mask(&self, bytes: &mut [u8]) {
        for known in &self.known {
            known.sums.mask(&self.secret, bytes);
        }
    }
}

/// Remembers that words were forgotten in a repository.
pub(super) fn remember(
    home: &Path,
    repo: &str,
    words: &Words,
    now: Timestamp,
) -> Result<(), FileError> {
    let _lock = lock(home)?;
    let sums = Sums::of(words, &the_secret(home)?);
    add(&path(home, repo), vec![Known { at: now, sums }])
}

/// What was forgotten in a repository is known of what it is called from now on.
pub(super) fn rename(home: &Path, from: &str, to: &str) -> Result<(), FileError> {
    let (from, to) = (path(home, from), path(home, to));
    if from == to || !from.exists() {
        return Ok(());
    }
    let _lock = lock(home)?;
    add(&to, read(&from)?)?;
    file::remove_file(&from)
}

fn directory(home: &Path) -> PathBuf {
    home.join("capture").join("words")
}

/// What a repository is called may be an address, and is no name of a file.
fn path(home: &Path, repo: &str) -> PathBuf {
    let name = &blake3::hash(repo.as_bytes()).to_hex()[..32];
    directory(home).join(format!("{name}.json"))
}

fn lock(home: &Path) -> Result<heirloom_repo::LockFile, FileError> {
    let path = directory(home).join(".lock");
    let failed = |source| FileError { doing: "lock", path: path.clone(), source };
    make_private_dir(&directory(home)).map_err(failed)?;
    let lock = open_lock(&path).map_err(failed)?;
    lock.lock().map_err(failed)?;
    Ok(lock)
}

/// As it is written, or as an earlier build wrote it, which put all that was forgotten together.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Each(Vec<Known>),
    Together(Known),
}

fn read(path: &Path) -> Result<Vec<Known>, FileError> {
    match serde_json::from_slice(&file::read(path)?) {
        Ok(Written::Each(all)) => Ok(all),
        Ok(Written::Together(all)) => Ok(vec![all]),
        Err(error) => Err(FileError { doing: "read", path: path.to_owned(), source: error.into() }),
    }
}

fn add(path: &Path, new: Vec<Known>) -> Result<(), FileError> {
    let mut all = if path.exists() { read(path)? } else { Vec::new() };
    // Whoever was ended in the middle of it forgets the same once more.
    let is_new = |new: &Known| !new.sums.is_empty() && all.iter().all(|old| old.sums != new.sums);
    let new: Vec<Known> = new.into_iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(());
    }
    all.extend(new);
    let failed = |source| FileError { doing: "write", path: path.to_owned(), source };
    let text = serde_json::to_vec(&all).map_err(|error| failed(error.into()))?;
    replace_private(path, &text).map_err(failed)
}

/// What the file of the secret is called.
const SECRET: &str = "secret";

/// The secret of this home, if it has one.
fn secret(home: &Path) -> Result<Option<Secret>, FileError> {
    let path = directory(home).join(SECRET);
    match file::read(&path) {
        Ok(known) => {
            let short = io::Error::new(io::ErrorKind::InvalidData, "not 32 bytes");
            let is_short = |_| FileError { doing: "read", path: path.clone(), source: short };
            Secret::try_from(&known[..]).map(Some).map_err(is_short)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The same, made when something is first forgotten.
fn the_secret(home: &Path) -> Result<Secret, FileError> {
    if let Some(known) = secret(home)? {
        return Ok(known);
    }
    let random = [Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes).concat();
    let secret = *blake3::hash(&random).as_bytes();
    let path = directory(home).join(SECRET);
    let failed = |source| FileError { doing: "write", path: path.clone(), source };
    replace_private(&path, &secret).map_err(failed)?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_forgotten_is_known_of_its_repository_whatever_that_is_called_and_of_no_other() {
        let home = tempfile::tempdir().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let said = ["the moon is made of green cheese", "the sun is made of yellow butter"];
        for (repo, said) in ["one", "two"].into_iter().zip(said) {
            remember(home.path(), repo, &Words::new([said.to_owned()], []), now).unwrap();
        }
        let is_masked = |repo: &str, said: &str| {
            let mut bytes = said.as_bytes().to_vec();
            if let Some(masked) = Masked::of(home.path(), repo).unwrap() {
                masked.mask(&mut bytes);
            }
            bytes != said.as_bytes()
        };
        assert!(is_masked("one", said[0]) && !is_masked("one", said[1]));
        rename(home.path(), "two", "one").unwrap();
        assert!(is_masked("one", said[0]) && is_masked("one", said[1]));
        assert!(!is_masked("two", said[1]));
    }

    #[test]
    fn what_began_after_words_were_forgotten_may_say_them_though_others_were_forgotten_later() {
        let home = tempfile::tempdir().unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        let said = ["the moon is made of green cheese", "the sun is made of yellow butter"];
        for (second, said) in [10, 30].into_iter().zip(said) {
            let words = Words::new([said.to_owned()], []);
            remember(home.path(), "one", &words, at(second)).unwrap();
        }
        let begins = Beginning { first: Some(at(20)), forked_from: Vec::new() };
        let mut masked = Masked::of(home.path(), "one").unwrap().unwrap();
        assert!(masked.retain(&begins));
        let mut bytes = said.map(|said| said.as_bytes().to_vec());
        for bytes in &mut bytes {
            masked.mask(bytes);
        }
        assert_eq!(bytes[0], said[0].as_bytes());
        assert_ne!(bytes[1], said[1].as_bytes());
        let copy = Beginning { first: Some(at(40)), forked_from: vec!["other".to_owned()] };
        assert!(Masked::of(home.path(), "one").unwrap().unwrap().retain(&copy));
        let later = Beginning { first: Some(at(40)), forked_from: Vec::new() };
        assert!(!Masked::of(home.path(), "one").unwrap().unwrap().retain(&later));
    }

    #[test]
    fn what_an_earlier_build_wrote_in_one_is_known_and_added_to() {
        let home = tempfile::tempdir().unwrap();
        let said = ["the moon is made of green cheese", "the sun is made of yellow butter"];
        make_private_dir(&directory(home.path())).unwrap();
        file::write(directory(home.path()).join(SECRET), [7; 32]).unwrap();
        // As that build wrote it of the first one, with this secret.
        let written = r#"{"at":"1970-01-01T00:00:00Z","sums":[{"begins":1698701278,"length":32,"hash":"d275f3b318c722e65ac74a4e974ac420","stands":"anywhere"}]}"#;
        file::write(path(home.path(), "one"), written).unwrap();
        let words = Words::new([said[1].to_owned()], []);
        remember(home.path(), "one", &words, Timestamp::UNIX_EPOCH).unwrap();
        let masked = Masked::of(home.path(), "one").unwrap().unwrap();
        for said in said {
            let mut bytes = said.as_bytes().to_vec();
            masked.mask(&mut bytes);
            assert_ne!(bytes, said.as_bytes());
        }
    }

    #[test]
    fn words_do_not_come_back_because_the_secret_is_gone() {
        let home = tempfile::tempdir().unwrap();
        let words = Words::new(["the moon is made of green cheese".to_owned()], []);
        remember(home.path(), "one", &words, Timestamp::UNIX_EPOCH).unwrap();
        file::remove_file(directory(home.path()).join(SECRET)).unwrap();
        assert!(Masked::of(home.path(), "one").is_err());
    }
}
