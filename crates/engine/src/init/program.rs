//! By which path agents are to call us.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::here::Here;

/// The path of our own program that agents are given.
///
/// Where `PATH` leads to this program, the path it finds it by: package managers put a link there that
/// stays when what it leads to is replaced by the next version.
pub fn program(here: &Here) -> io::Result<String> {
    let running = std::env::current_exe()?;
    let path = here.env.get(OsStr::new("PATH"));
    let lasting = lasting(&running, path.map(AsRef::as_ref)).unwrap_or(running);
    Ok(lasting.to_string_lossy().into_owned())
}

fn lasting(running: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let own = fs::canonicalize(running).ok()?;
    std::env::split_paths(path?)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("heirloom"))
        .find(|found| fs::canonicalize(found).is_ok_and(|found| found == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_in_path_outlives_the_version_it_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for directory in ["cellar/1.0", "bin", "other"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        fs::write(at("cellar/1.0/heirloom"), "program").unwrap();
        fs::write(at("other/heirloom"), "another program").unwrap();
        std::os::unix::fs::symlink(at("cellar/1.0/heirloom"), at("bin/heirloom")).unwrap();
        let path = std::env::join_paths([at("nothing"), at("other"), at("bin")]).unwrap();
        let running = at("cellar/1.0/heirloom");
        assert_eq!(lasting(&running, Some(&path)), Some(at("bin/heirloom")));
        assert_eq!(lasting(&running, Some(at("other").as_os_str())), None);
        assert_eq!(lasting(&running, None), None);
    }
}
