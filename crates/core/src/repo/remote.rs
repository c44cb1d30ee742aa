//! The address of a remote, so that the ways to write it compare equal.

/// `host/path` of a remote's address, or the path of a directory; nothing for what is neither.
///
/// The ways to reach one server are one: `git@example.com:acme/pay.git`, `ssh://git@example.com:22/acme/pay`
/// and `https://user:token@example.com/acme/pay/` are all `example.com/acme/pay`. A token is left out with
/// the user: this goes into the ledger.
pub fn normalised(address: &str) -> Option<String> {
    let address = address.trim();
    if let Some(path) = address.strip_prefix("file://") {
        return local(path.strip_prefix("localhost").unwrap_or(path));
    }
    if address.starts_with('/') {
        return local(address);
    }
    let (host, path) = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        // Without a scheme a colon before any slash sets the host off.
        None => address.split_once(':').filter(|(host, _)| !host.contains('/'))?,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

fn local(path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix("/.git").unwrap_or(path);
    path.starts_with('/').then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_an_address_is_one() {
        for address in [
            "git@example.com:acme/pay.git",
            "example.com:acme/pay",
            "ssh://git@example.com:22/acme/pay.git",
            "https://example.com/acme/pay",
            "https://user:hunter2@Example.com/acme/pay.git/",
            "git://example.com/acme/pay/",
        ] {
            assert_eq!(normalised(address).as_deref(), Some("example.com/acme/pay"), "{address}");
        }
    }

    #[test]
    fn a_directory_is_its_path_and_what_says_nothing_is_nothing() {
        for address in ["/src/pay", "/src/pay/.git", "file:///src/pay/", "file://localhost/src/pay"]
        {
            assert_eq!(normalised(address).as_deref(), Some("/src/pay"), "{address}");
        }
        for address in
            ["", "../pay", "pay", "https://example.com", "https://example.com/", "file://x"]
        {
            assert_eq!(normalised(address), None, "{address}");
        }
        assert_ne!(normalised("git@a.example:x/y"), normalised("git@b.example:x/y"));
    }
}
