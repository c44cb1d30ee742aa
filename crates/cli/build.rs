//! Puts a link to the binary where cargo's users look for it.
//!
//! `.cargo/config.toml` names the target so that the binary can be static, and cargo then builds
//! into `target/TRIPLE/PROFILE`. Scripts expect `target/PROFILE/heirloom`: this links the one to
//! the other. A failure is not an error, because nothing in the build depends on the link.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script comes before the crates that have better"
)]

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CARGO_TARGET_DIR");
    let _ = link_binary();
}

#[cfg(unix)]
fn link_binary() -> Option<()> {
    let profile = env::var("PROFILE").ok()?;
    let triple = env::var("TARGET").ok()?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(default_target, PathBuf::from);
    let place = target.join(&profile);
    std::fs::create_dir_all(&place).ok()?;
    let link = place.join("heirloom");
    if link.symlink_metadata().is_err() {
        let binary = Path::new("..").join(triple).join(profile).join("heirloom");
        std::os::unix::fs::symlink(binary, link).ok()?;
    }
    Some(())
}

#[cfg(not(unix))]
fn link_binary() -> Option<()> {
    None
}

fn default_target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}
