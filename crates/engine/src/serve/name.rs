//! The name of a continued session: its parent's, one version on.

use heirloom_core::name::{MAX_LENGTH, SessionName};

/// The names to try, best first: `auth` and `auth-v1` both lead to `auth-v2`, `auth-v3`, ….
pub(super) fn next(parent: &SessionName) -> impl Iterator<Item = SessionName> {
    let name = parent.as_str();
    let versioned = name.rsplit_once("-v").and_then(|(stem, version)| {
        let plain = !stem.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        Some((stem, version.parse::<u64>().ok()?)).filter(|_| plain)
    });
    let (stem, version) = versioned.unwrap_or((name, 1));
    let stem = stem.to_owned();
    (version.saturating_add(1)..).filter_map(move |version| {
        let suffix = format!("-v{version}");
        let stem: String = stem.chars().take(MAX_LENGTH - suffix.len()).collect();
        format!("{stem}{suffix}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_goes_up_and_a_first_one_is_the_second() {
        let first = |name: &str| next(&name.parse().unwrap()).next().unwrap().to_string();
        assert_eq!(first("auth"), "auth-v2");
        assert_eq!(first("auth-v2"), "auth-v3");
        assert_eq!(first("auth-vx"), "auth-vx-v2");
        assert_eq!(first("-v9".trim_start_matches('-')), "v9-v2");
        assert_eq!(first(&"x".repeat(100)).len(), 100);
    }
}
