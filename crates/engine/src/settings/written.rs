//! Whether an agent wrote a person's settings for one repository.
//!
//! `.heirloom/local.yaml` is a person's word, and lies where an agent can write. What it held after an
//! agent's tool had changed it is remembered beside the ledger: as long as it holds just that, it is
//! the repository's word. Once a person has changed it, it is theirs again.

use std::path::{Path, PathBuf};

use heirloom_repo::{make_private_dir, read_text, replace_private};

use super::places::LOCAL;

/// An agent's tool changed the file in the repository at `root`.
pub(crate) fn note(home: &Path, root: &Path) {
    let Ok(Some(text)) = read_text(&root.join(LOCAL)) else { return };
    let mark = mark(home, root);
    // Where nothing can be written, nothing of the person's counts less.
    let _ = mark.parent().map(make_private_dir);
    let hash = hash(&text);
    let _ = replace_private(&mark, hash.as_bytes());
    crate::trust::renew(home, &hash);
}

/// Whether what the file holds is what an agent left in it.
pub(crate) fn is_by_agent(home: &Path, root: &Path, text: &str) -> bool {
    read_text(&mark(home, root)).ok().flatten().is_some_and(|noted| noted == hash(text))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn mark(home: &Path, root: &Path) -> PathBuf {
    let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    home.join("written").join(&name[..32])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_an_agent_left_is_told_apart_from_what_a_person_wrote() {
        let dir = tempfile::TempDir::new().unwrap();
        let (home, root) = (dir.path().join("home"), dir.path().join("repo"));
        fs::create_dir_all(root.join(".heirloom")).unwrap();
        fs::write(root.join(LOCAL), "enabled: false\n").unwrap();
        assert!(!is_by_agent(&home, &root, "enabled: false\n"));
        note(&home, &root);
        assert!(is_by_agent(&home, &root, "enabled: false\n"));
        assert!(!is_by_agent(&home, &root, "enabled: false # mine\n"));
        assert!(!is_by_agent(&home, &dir.path().join("other"), "enabled: false\n"));
    }
}
