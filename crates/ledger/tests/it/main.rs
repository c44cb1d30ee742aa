//! The ledger from outside: what it promises, and what it does when things go wrong.

#![expect(
    clippy::disallowed_methods,
    reason = "a test that cannot set the scene panics, and says where"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set the scene has failed")]

mod addressing;
mod approving;
mod attending;
mod backing_up;
mod branching;
mod chain;
mod claiming;
mod compacting;
mod converging;
mod damage;
mod dating;
mod durability;
mod exchange;
mod fixture;
mod heads;
mod index;
mod issues;
mod listing;
mod partial;
mod rebuilding;
mod repositories;
mod requirements;
mod runs;
mod salvaging;
mod views;
mod writing;

#[test]
fn no_test_file_is_forgotten() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        // Editors and snapshot tools leave hidden files.
        let is_test = !name.starts_with('.') && module != "main";
        assert!(
            !is_test || include_str!("main.rs").contains(&format!("mod {module};")),
            "{name} is not a module of main.rs"
        );
    }
}
