//! The name of a continued session: its parent's, one version on.

use heirloom_core::name::{MAX_LENGTH, SessionName};

/// A free name: `auth` and `auth-v1` both lead to `auth-v2`, `auth-v3`, …. `None` if no such name
/// could be one.
///
/// A session may have been continued thousands of times, so versions are not tried one by one: in
/// steps that double until one is free, and in halves from there to one that follows a taken one.
pub(crate) fn free<E>(
    parent: &SessionName,
    mut is_taken: impl FnMut(&SessionName) -> Result<bool, E>,
) -> Result<Option<SessionName>, E> {
    let (stem, mut taken) = split(parent.as_str());
    let mut free = taken.saturating_add(1);
    let mut stride = 1_u64;
    loop {
        let Some(name) = name(stem, free) else { return Ok(None) };
        if !is_taken(&name)? {
            break;
        }
        taken = free;
        stride = stride.saturating_mul(2);
        free = taken.saturating_add(stride);
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        let Some(name) = name(stem, middle) else { return Ok(None) };
        if is_taken(&name)? {
            taken = middle;
        } else {
            free = middle;
        }
    }
    Ok(name(stem, free))
}

/// The stem of a name and its version, which is 1 where none is said.
fn split(name: &str) -> (&str, u64) {
    let versioned = name.rsplit_once("-v").and_then(|(stem, version)| {
        let plain = !stem.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        Some((stem, version.parse().ok()?)).filter(|_| plain)
    });
    versioned.unwrap_or((name, 1))
}

fn name(stem: &str, version: u64) -> Option<SessionName> {
    let suffix = format!("-v{version}");
    let stem: String = stem.chars().take(MAX_LENGTH - suffix.len()).collect();
    format!("{stem}{suffix}").parse().ok()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The name that is found, and how many were tried, when the versions in `taken` are.
    fn find(parent: &str, taken: impl Fn(u64) -> bool) -> (String, usize) {
        let mut tried = 0;
        let Ok(found) = free(&parent.parse().unwrap(), |name| {
            tried += 1;
            Ok::<_, Infallible>(taken(split(name.as_str()).1))
        });
        (found.unwrap().to_string(), tried)
    }

    #[test]
    fn a_version_goes_up_and_a_first_one_is_the_second() {
        let first = |name: &str| find(name, |_| false).0;
        assert_eq!(first("auth"), "auth-v2");
        assert_eq!(first("auth-v2"), "auth-v3");
        assert_eq!(first("auth-vx"), "auth-vx-v2");
        assert_eq!(first("v9"), "v9-v2");
        assert_eq!(first(&"x".repeat(100)).len(), 100);
    }

    #[test]
    fn what_is_taken_is_passed_over_in_few_steps() {
        for last in [2, 3, 4, 5, 17, 64, 65] {
            assert_eq!(find("auth", |version| version <= last).0, format!("auth-v{}", last + 1));
        }
        let (name, tried) = find("auth", |version| version <= 10_000);
        assert_eq!(name, "auth-v10001");
        assert!(tried < 30, "{tried} names were tried");
        // Nobody counts gaps, but what is found is free.
        assert_eq!(find("auth", |version| version != 4).0, "auth-v4");
    }
}
