//! How a session is addressed: by name, by id, or by a prefix of its id or agent session id.
//!
//! The rule that matters: two different sessions are never confused. A text that could mean more
//! than one is ambiguous, and the caller lists what it could mean.

use std::fmt;

/// The shortest prefix that is taken for an id.
pub const SHORTEST_PREFIX: usize = 8;

/// The beginning of an id, in the form ids are stored in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prefix(String);

impl Prefix {
    /// Reads `text` as the beginning of an id, if it can be one.
    ///
    /// What looks like the beginning of a UUID is put in a UUID's form: lower case, with the hyphens
    /// where they belong, whether or not they were typed. Anything else is taken as it stands,
    /// because agents have ids of their own making (`ses_…`).
    pub fn parse(text: &str) -> Option<Self> {
        if text.chars().count() < SHORTEST_PREFIX {
            return None;
        }
        Some(Self(as_uuid_prefix(text).unwrap_or_else(|| text.to_owned())))
    }

    /// The prefix in stored form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `id` begins with it.
    pub fn matches(&self, id: &str) -> bool {
        id.starts_with(&self.0)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn as_uuid_prefix(text: &str) -> Option<String> {
    const HYPHENS_AFTER: [usize; 4] = [8, 12, 16, 20];
    let digits: Vec<char> = text.chars().filter(|c| *c != '-').collect();
    if digits.len() > 32 || !digits.iter().all(char::is_ascii_hexdigit) {
        return None;
    }
    let mut prefix = String::with_capacity(36);
    for (index, digit) in digits.iter().enumerate() {
        if HYPHENS_AFTER.contains(&index) {
            prefix.push('-');
        }
        prefix.push(digit.to_ascii_lowercase());
    }
    // Hyphens in the wrong place are not a UUID: `abc-defabc` must not find `abcdefab-c…`.
    let typed = text.trim_end_matches('-').to_ascii_lowercase();
    (!typed.contains('-') || typed == prefix).then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "cad0ac4d-3933-45ad-9a1c-14aec05bb940";

    #[test]
    fn every_way_to_write_an_id_means_the_same_session() {
        for text in [
            "cad0ac4d",
            "CAD0AC4D",
            "cad0ac4d-",
            "cad0ac4d-39",
            "cad0ac4d3933",
            "cad0ac4d393345ad9a1c14aec05bb940",
            ID,
        ] {
            assert!(Prefix::parse(text).unwrap().matches(ID), "{text}");
        }
    }

    #[test]
    fn what_is_too_short_or_misplaced_means_nothing() {
        assert_eq!(Prefix::parse("cad0ac4"), None);
        for text in ["cad0-ac4d", "cad0ac4e", "cad0ac4d-393-345", &format!("{ID}0")] {
            assert!(!Prefix::parse(text).unwrap().matches(ID), "{text}");
        }
    }

    #[test]
    fn an_agents_own_kind_of_id_is_taken_as_it_stands() {
        assert!(Prefix::parse("ses_4Fq8").unwrap().matches("ses_4Fq8zz"));
        assert!(!Prefix::parse("ses_4fq8").unwrap().matches("ses_4Fq8zz"));
    }

    proptest! {
        #[test]
        fn a_prefix_of_any_length_finds_its_own_id(bytes in any::<[u8; 16]>(), length in 8usize..=36, upper: bool) {
            let id = uuid::Uuid::from_bytes(bytes).to_string();
            let typed = if upper { id[..length].to_uppercase() } else { id[..length].to_owned() };
            prop_assert!(Prefix::parse(&typed).unwrap().matches(&id));
        }

        #[test]
        fn a_different_id_is_never_found_by_a_full_one(a in any::<[u8; 16]>(), b in any::<[u8; 16]>()) {
            prop_assume!(a != b);
            let full = Prefix::parse(&uuid::Uuid::from_bytes(a).to_string()).unwrap();
            prop_assert!(!full.matches(&uuid::Uuid::from_bytes(b).to_string()));
        }
    }
}
