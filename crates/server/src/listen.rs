//! Where the daemon listens: a Unix socket of the owner's alone, and TCP on this machine.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// On a TCP address, and on the Unix socket in heirloom's home.
    Tcp(SocketAddr),
    /// On a Unix socket only.
    Unix(PathBuf),
}

impl Default for Listen {
    fn default() -> Self {
        Self::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0))
    }
}

/// An address that cannot be listened on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an address to listen on; use 127.0.0.1:PORT, [::1]:PORT or unix:PATH")]
pub struct BadAddress(String);

impl FromStr for Listen {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let text = named.unwrap_or_else(|| text.to_owned());
        text.parse().map(Self::Tcp).map_err(|_| BadAddress(text))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Listen {
    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp(address) => match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback(),
                IpAddr::V6(ip) => ip.is_loopback(),
            },
        }
    }
}

/// Listens on `address`. Where the system chooses the port, the one of the last time is tried first, so that
/// what people kept of the daemon still leads to it.
pub(crate) fn tcp(address: SocketAddr, last: Option<u16>) -> io::Result<TcpListener> {
    let again = last.filter(|_| address.port() == 0).and_then(|port| {
        let mut address = address;
        address.set_port(port);
        TcpListener::bind(address).ok()
    });
    let listener = again.map_or_else(|| TcpListener::bind(address), Ok)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Listens on a socket that nobody else can open. One that a killed daemon left is replaced; anything else
/// that is there stays.
pub(crate) fn unix(path: &Path) -> io::Result<UnixListener> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => heirloom_repo::file::remove_file(path)?,
        Ok(_) => {
            let why = format!("{} exists and is not a socket", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        Err(_) => {}
    }
    // Before the mode is set nobody must get in either.
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    rustix::process::umask(before);
    let listener = bound?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_of_this_machine_or_a_socket() {
        let tcp = |text: &str| text.parse::<Listen>().unwrap();
        assert_eq!(tcp("localhost:80"), tcp("127.0.0.1:80"));
        assert!(tcp("[::1]:0").is_local() && !tcp("0.0.0.0:80").is_local());
        assert_eq!(tcp("unix:/x"), Listen::Unix("/x".into()));
        assert!("80".parse::<Listen>().is_err() && "unix:".parse::<Listen>().is_err());
    }

    #[test]
    fn what_is_no_socket_is_not_replaced_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("serve.sock");
        std::fs::write(&path, "mine").unwrap();
        assert!(unix(&path).is_err());
        std::fs::remove_file(&path).unwrap();
        drop(unix(&path).unwrap());
        let again = unix(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(again);
    }
}
