//! Which file of a beads directory holds the issues.

use std::path::{Path, PathBuf};

use heirloom_repo::read_text;
use serde_json::Value;

use crate::issues::TrackerError;

/// The names the file has had, the present one first.
const NAMES: [&str; 2] = ["issues.jsonl", "beads.jsonl"];

/// The file of issues in the directory `beads`, if there is one.
pub(in crate::issues) fn file_in(beads: &Path) -> Result<Option<PathBuf>, TrackerError> {
    let said = named(beads)?;
    let names = said.iter().map(String::as_str).chain(NAMES);
    Ok(names.map(|name| beads.join(name)).find(|path| path.is_file()))
}

/// The file that the directory itself says it is.
fn named(beads: &Path) -> Result<Option<String>, TrackerError> {
    let path = beads.join("metadata.json");
    let Some(text) = read_text(&path)? else { return Ok(None) };
    let bad = |why: String| TrackerError::Shape { tracker: path.display().to_string(), why };
    let metadata: Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let name = metadata.get("jsonl_export").and_then(Value::as_str);
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(None) };
    // A name from outside must not lead out of the directory.
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(bad(format!("`{name}` is not the name of a file beside it")));
    }
    Ok(Some(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn found(files: &[(&str, &str)]) -> Result<Option<String>, String> {
        let dir = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let file = file_in(dir.path()).map_err(|error| error.to_string())?;
        Ok(file.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()))
    }

    #[test]
    fn the_directory_says_which_file_it_is() {
        let (issues, beads) = (("issues.jsonl", ""), ("beads.jsonl", ""));
        assert_eq!(found(&[issues, beads]), Ok(Some("issues.jsonl".to_owned())));
        assert_eq!(found(&[beads]), Ok(Some("beads.jsonl".to_owned())));
        assert_eq!(found(&[("config.yaml", "")]), Ok(None));
        let metadata = ("metadata.json", r#"{"database":"beads.db","jsonl_export":"other.jsonl"}"#);
        assert_eq!(found(&[metadata, issues]), Ok(Some("issues.jsonl".to_owned())));
        let other = ("other.jsonl", "");
        assert_eq!(found(&[metadata, issues, other]), Ok(Some("other.jsonl".to_owned())));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        let said = found(&[("metadata.json", r#"{"jsonl_export":"../../etc/passwd"}"#)]);
        assert!(said.unwrap_err().contains("is not the name of a file beside it"));
        assert!(found(&[("metadata.json", "{")]).is_err());
    }
}
