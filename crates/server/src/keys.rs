//! What lets somebody in: the token of programs, the one-time code of a link, the cookie of a person.
//!
//! All of it is in files of the owner's alone, below `serve/` in heirloom's home. Codes and cookies are kept
//! only as hashes, each a file: taking a code is removing its file, so that it is valid once whoever asks,
//! and a sign-in outlives the daemon. Codes are made by the command, in a person's terminal; there is no
//! request that makes one.

use std::path::{Path, PathBuf};
use std::{fs, io};

use heirloom_repo::file;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// How long a link can be used.
const LINK_LASTS: SignedDuration = SignedDuration::from_hours(1);
/// How long a person stays signed in.
const SIGN_IN_LASTS: SignedDuration = SignedDuration::from_hours(24 * 30);

/// The keys of one home.
#[derive(Debug, Clone)]
pub struct Keys {
    directory: PathBuf,
}

impl Keys {
    /// The keys in `home`.
    pub fn new(home: &Path) -> Self {
        Self { directory: home.join("serve") }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The token of programs; made if there is none. It stays the same when the daemon is started again.
    pub(crate) fn token(&self) -> io::Result<String> {
        heirloom_repo::make_private_dir(&self.directory)?;
        let path = self.directory.join("token");
        let kept = heirloom_repo::read_at_most(&path, 256).ok();
        let kept = kept.and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(token) = kept.filter(|token| token.len() == 64) {
            return Ok(token);
        }
        let token = secret();
        heirloom_repo::replace_private(&path, token.as_bytes())?;
        Ok(token)
    }

    /// A code for one sign-in, which only a person should be given.
    pub fn mint(&self, now: Timestamp) -> io::Result<String> {
        let code = secret();
        self.sweep("codes", now);
        self.keep("codes", &code, now, LINK_LASTS)?;
        Ok(code)
    }

    /// Takes a code and gives the cookie for it, where the code is a valid one.
    pub(crate) fn sign_in(&self, code: &str, now: Timestamp) -> io::Result<Option<String>> {
        let path = self.file("codes", code);
        let lasts = lasts(&path, now);
        // Whoever removes it had it.
        if file::remove_file(&path).is_err() || !lasts {
            return Ok(None);
        }
        let cookie = secret();
        self.sweep("signins", now);
        self.keep("signins", &cookie, now, SIGN_IN_LASTS)?;
        Ok(Some(cookie))
    }

    /// Whether the cookie is one of a person who signed in.
    pub(crate) fn is_signed_in(&self, cookie: &str, now: Timestamp) -> bool {
        lasts(&self.file("signins", cookie), now)
    }

    /// Ends a sign-in.
    pub(crate) fn sign_out(&self, cookie: &str) {
        let _ = file::remove_file(self.file("signins", cookie));
    }

    fn keep(
        &self,
        kind: &str,
        secret: &str,
        now: Timestamp,
        lasts: SignedDuration,
    ) -> io::Result<()> {
        heirloom_repo::make_private_dir(&self.directory.join(kind))?;
        let until = now.checked_add(lasts).unwrap_or(Timestamp::MAX);
        heirloom_repo::write_private(&self.file(kind, secret), until.to_string().as_bytes())
    }

    /// By its hash: how long the lookup takes says nothing about the secret.
    fn file(&self, kind: &str, secret: &str) -> PathBuf {
        self.directory.join(kind).join(blake3::hash(secret.as_bytes()).to_hex().as_str())
    }

    /// Removes what is over.
    fn sweep(&self, kind: &str, now: Timestamp) {
        for entry in fs::read_dir(self.directory.join(kind)).into_iter().flatten().flatten() {
            if !lasts(&entry.path(), now) {
                let _ = file::remove_file(entry.path());
            }
        }
    }
}

/// Whether what is kept in a file is there and still valid.
fn lasts(path: &Path, now: Timestamp) -> bool {
    let until = heirloom_repo::read_at_most(path, 64).ok();
    let until = until.and_then(|bytes| String::from_utf8(bytes).ok()?.parse::<Timestamp>().ok());
    until.is_some_and(|until| now < until)
}

/// 244 random bits.
fn secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// What nobody can know before it is used, once.
pub(crate) fn nonce() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Whether two secrets are the same, in a time that does not depend on where they differ.
pub(crate) fn same(one: &str, other: &str) -> bool {
    blake3::hash(one.as_bytes()) == blake3::hash(other.as_bytes())
}

/// What a form of somebody with this cookie carries, so that no other page can make one.
pub(crate) fn form_token(cookie: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("heirloom 2026 form token");
    hasher.update(cookie.as_bytes()).finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_code_is_good_once_and_for_an_hour() {
        let home = tempfile::tempdir().unwrap();
        let keys = Keys::new(home.path());
        let now = at("2026-01-12T15:30:00Z");
        let code = keys.mint(now).unwrap();
        let cookie = keys.sign_in(&code, now).unwrap().expect("a fresh code");
        assert_eq!(keys.sign_in(&code, now).unwrap(), None);
        assert!(keys.is_signed_in(&cookie, now));
        assert!(!keys.is_signed_in("else", now));
        assert!(!keys.is_signed_in(&cookie, at("2026-02-12T15:30:00Z")));
        keys.sign_out(&cookie);
        assert!(!keys.is_signed_in(&cookie, now));
        let late = keys.mint(now).unwrap();
        assert_eq!(keys.sign_in(&late, at("2026-01-12T16:31:00Z")).unwrap(), None);
    }

    #[test]
    fn the_token_stays_and_only_its_owner_can_read_it() {
        let home = tempfile::tempdir().unwrap();
        let keys = Keys::new(home.path());
        let token = keys.token().unwrap();
        assert_eq!(keys.token().unwrap(), token);
        assert_eq!(token.len(), 64);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&home.path().join("serve/token")), 0o600);
        assert_eq!(mode(&home.path().join("serve")), 0o700);
    }

    #[test]
    fn a_form_of_one_sign_in_is_no_form_of_another() {
        assert_eq!(form_token("a"), form_token("a"));
        assert_ne!(form_token("a"), form_token("b"));
        assert!(same("x", "x") && !same("x", "y") && !same("x", "xx"));
    }
}
