//! Patches in the format that Codex made common: which files one changes.

/// What the line before a file's changes begins with.
const HEADS: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Whether the text may hold a patch.
pub(super) fn is_in(text: &str) -> bool {
    text.contains("*** Begin Patch")
}

/// The files that a patch in the text changes.
pub(super) fn files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(file)
}

fn file(line: &str) -> Option<&str> {
    HEADS.iter().find_map(|head| line.strip_prefix(head)).map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_says_every_file_it_changes() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-*** Add File: x\n*** Add File: c d.rs\r\n+1\n*** Delete File: e\n*** End Patch";
        assert!(is_in(patch));
        let all: Vec<&str> = files(patch).collect();
        assert_eq!(all, ["src/a.rs", "src/b.rs", "c d.rs", "e"]);
    }
}
