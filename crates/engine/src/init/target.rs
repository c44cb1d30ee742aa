//! A file of another program's that something of ours goes into, and comes out of again.

use std::path::Path;

use heirloom_agents::hook::HookError;
use heirloom_core::causes;
use heirloom_repo::file;
use heirloom_repo::{read_text, write_whole};

use super::SetupAction;
use super::original::{forget, keep, kept};
use crate::here::Here;

/// A file, and what becomes of its text.
pub(super) struct Target<'a> {
    pub(super) file: &'a Path,
    /// The whole file is ours: what a person made of it since is left alone.
    pub(super) is_own: bool,
    pub(super) install: &'a dyn Fn(Option<&str>) -> Result<String, HookError>,
    pub(super) uninstall: &'a dyn Fn(&str) -> Result<Option<String>, HookError>,
}

impl Target<'_> {
    /// Puts ours in. Whether anything had to change.
    pub(super) fn put(&self, here: &Here, is_rehearsal: bool) -> Result<bool, String> {
        let text = read_text(self.file).map_err(|error| causes::told(&error))?;
        let after = (self.install)(text.as_deref()).map_err(|error| error.to_string())?;
        if text.as_deref() == Some(after.as_str()) {
            return Ok(false);
        }
        let original = text.as_deref().and_then(|text| kept(&here.home, self.file, text));
        if is_rehearsal || (self.is_own && text.is_some() && original.is_none()) {
            return Ok(is_rehearsal);
        }
        let before = match (original, &text) {
            (Some(original), _) => original.before,
            // Ours are in it already: what it was before them is what it is without them.
            (None, Some(text)) => (self.uninstall)(text).map_err(|error| error.to_string())?,
            (None, None) => None,
        };
        keep(&here.home, self.file, before, &after).map_err(|error| causes::told(&error))?;
        write_whole(self.file, after.as_bytes()).map_err(|error| causes::told(&error))?;
        Ok(true)
    }

    /// Takes ours out; nothing where there is none of it.
    pub(super) fn take(&self, here: &Here, is_rehearsal: bool) -> Option<SetupAction> {
        let shown = self.file.display().to_string();
        let text = match read_text(self.file) {
            Ok(text) => text?,
            Err(error) => return Some(SetupAction::new("failed", shown, causes::told(&error))),
        };
        let (after, how) = match kept(&here.home, self.file, &text) {
            Some(original) => (original.before, "restored to what it was"),
            None => match (self.uninstall)(&text) {
                Ok(after) => (after, "removed what heirloom added, left the rest alone"),
                Err(error) => return Some(SetupAction::new("failed", shown, error.to_string())),
            },
        };
        if after.as_deref() == Some(text.as_str()) {
            return None;
        }
        if !is_rehearsal {
            let written = match &after {
                Some(after) => {
                    write_whole(self.file, after.as_bytes()).map_err(|error| causes::told(&error))
                }
                None => file::remove_file(self.file).map_err(|error| causes::told(&error)),
            };
            if let Err(problem) = written {
                return Some(SetupAction::new("failed", shown, problem));
            }
            forget(&here.home, self.file);
        }
        let is_users = !self.file.starts_with(&here.place.root);
        let reach = if is_users { "; this affects all your repositories" } else { "" };
        Some(match after {
            Some(_) => SetupAction::new("restored", shown, format!("{how}{reach}")),
            None => SetupAction::new("removed", shown, format!("it did not exist before{reach}")),
        })
    }
}
