//! A release that is made up: packed, rendered and installed from.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::{printed, read, refused, root, run, value_of};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A directory `release` as the workflow has it when it publishes.
fn release() -> TempDir {
    let dir = TempDir::new().unwrap();
    let (binary, out) = (dir.path().join("binary"), dir.path().join("release"));
    for target in TARGETS {
        fs::write(&binary, format!("#!/bin/sh\necho heirloom {VERSION} for {target}\n")).unwrap();
        printed(&run(root().join("dist/pack"), &[target, text(&binary), text(&out)]));
    }
    let repository = value_of(&read("Cargo.toml"), "repository");
    printed(&run(root().join("dist/render"), &[VERSION, &repository, text(&out)]));
    dir
}

fn install(release: &TempDir, to: &Path) -> Output {
    let from = release.path().join("release");
    let mut script = Command::new("sh");
    script.arg(from.join("install.sh")).env("HEIRLOOM_INSTALL_DIR", to);
    script.env("HEIRLOOM_DOWNLOAD_BASE", format!("file://{}", text(&from)));
    script.env("HOME", release.path()).output().unwrap()
}

#[test]
fn the_install_script_installs_what_the_release_holds() {
    let release = release();
    let to = release.path().join("bin");
    let said = printed(&install(&release, &to));
    assert!(said.starts_with(&format!("installed heirloom {VERSION} as ")), "{said}");
    assert!(said.contains("is not on your PATH"), "{said}");
    let runs = printed(&run(to.join("heirloom"), &[]));
    assert!(runs.starts_with(&format!("heirloom {VERSION} for ")), "{runs}");
    // Again over the old one, and nothing is left beside it.
    printed(&install(&release, &to));
    assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
}

#[test]
fn an_archive_that_was_changed_is_not_installed() {
    let release = release();
    let to = release.path().join("bin");
    for target in TARGETS {
        let archive = release.path().join(format!("release/heirloom-{target}.tar.gz"));
        fs::write(archive, "something else").unwrap();
    }
    let why = refused(&install(&release, &to));
    assert!(why.contains("the checksum of") && why.contains("nothing was installed"), "{why}");
    assert!(!to.exists());
}

#[test]
fn a_release_that_is_not_there_is_said_to_be_missing() {
    let release = release();
    for target in TARGETS {
        let archive = release.path().join(format!("release/heirloom-{target}.tar.gz"));
        fs::remove_file(archive).unwrap();
    }
    let why = refused(&install(&release, &release.path().join("bin")));
    assert!(why.contains("is there a release of that version?"), "{why}");
}

#[test]
fn the_formula_names_each_archive_with_its_own_checksum() {
    let release = release();
    let at = |name: &str| fs::read_to_string(release.path().join("release").join(name)).unwrap();
    let (formula, sums) = (at("heirloom.rb"), at("SHA256SUMS"));
    assert_eq!(sums.lines().count(), TARGETS.len());
    for line in sums.lines() {
        let (sum, archive) = line.split_once("  ").unwrap();
        let after = formula.split_once(&format!("/v{VERSION}/{archive}\"\n")).unwrap().1;
        let named = after.lines().next().unwrap().trim();
        assert_eq!(named, format!("sha256 \"{sum}\""), "{archive}");
    }
    // No Ruby here: what opens a block must close it.
    let opens = |line: &&str| {
        ["class ", "def "].iter().any(|word| line.starts_with(word)) || line.ends_with(" do")
    };
    let lines: Vec<&str> = formula.lines().map(str::trim).collect();
    let opened = lines.iter().filter(|line| opens(line)).count();
    assert_eq!(opened, lines.iter().filter(|line| **line == "end").count());
    let mode = fs::metadata(release.path().join("release/install.sh")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o755);
}

#[test]
fn a_release_without_all_its_archives_is_not_rendered() {
    let release = release();
    let out = release.path().join("release");
    fs::remove_file(out.join("heirloom-aarch64-apple-darwin.tar.gz")).unwrap();
    let render = root().join("dist/render");
    let why = refused(&run(&render, &[VERSION, "https://example.com/a", text(&out)]));
    assert!(why.contains("heirloom-aarch64-apple-darwin.tar.gz is missing"), "{why}");
    let why = refused(&run(&render, &["1.0.0\"; evil", "https://example.com/a", text(&out)]));
    assert!(why.contains("is not a version"), "{why}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_binary_that_needs_libraries_is_not_packed_for_linux() {
    let dir = TempDir::new().unwrap();
    let shell = fs::canonicalize("/bin/sh").unwrap();
    let out = text(dir.path());
    let pack = |target| run(root().join("dist/pack"), &[target, text(&shell), out]);
    let why = refused(&pack("x86_64-unknown-linux-gnu"));
    assert!(why.contains("is not static"), "{why}");
    printed(&pack("x86_64-apple-darwin"));
}

#[test]
fn the_tag_of_a_release_is_its_version_and_the_changelog_has_it() {
    let version = root().join("dist/version");
    printed(&run(&version, &[&format!("v{VERSION}")]));
    let why = refused(&run(&version, &["v99.0.0"]));
    assert_eq!(why, format!("error: the tag says 99.0.0, Cargo.toml says {VERSION}\n"));
    let notes = printed(&run(root().join("dist/notes"), &[VERSION]));
    assert!(notes.contains("### Added"), "{notes}");
    assert!(!notes.contains("\n## "), "{notes}");
    refused(&run(root().join("dist/notes"), &["99.0.0"]));
}

#[test]
fn binstall_looks_where_the_release_puts_its_archives() {
    let manifest = read("crates/cli/Cargo.toml");
    let url = value_of(&manifest, "pkg-url");
    assert_eq!(url, "{ repo }/releases/download/v{ version }/heirloom-{ target }.tar.gz");
    assert_eq!(value_of(&manifest, "bin-dir"), "heirloom-{ target }/{ bin }");
    let release = release();
    for target in TARGETS {
        let name = format!("heirloom-{target}.tar.gz");
        assert!(url.ends_with(&name.replace(target, "{ target }")), "{url}");
        let archive = release.path().join("release").join(name);
        let listed = printed(&run("tar", &["-tzf", text(&archive)]));
        assert!(
            listed.lines().any(|line| line == format!("heirloom-{target}/heirloom")),
            "{listed}"
        );
    }
}
