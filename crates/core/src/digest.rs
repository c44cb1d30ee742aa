//! Names made of what a thing says: the same in every release, unlike the standard library's hashes.

/// Sixteen hexadecimal digits that tell contents apart: enough for names of files, too few for
/// anything somebody could want to forge.
pub fn short(content: impl AsRef<[u8]>) -> String {
    blake3::hash(content.as_ref()).to_hex()[..16].to_owned()
}

/// The same for several contents together: where one ends and the next begins counts.
pub fn short_of(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A number that changes with any of the texts.
pub fn number<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(text.as_bytes());
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_the_same_for_ever() {
        // Files are found by these names by whichever release looks for them.
        assert_eq!(short("/home/ada/.claude/settings.json"), "52781c061d73a56b");
        assert_eq!(short("").len(), 16);
        assert_eq!(short_of(&[b"main", b"Edit"]), "34c36921733370c7");
    }

    #[test]
    fn the_same_letters_in_other_parts_have_another_name() {
        let all = [short_of(&[b"ab", b"c"]), short_of(&[b"a", b"bc"]), short_of(&[b"abc"])];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    }
}
