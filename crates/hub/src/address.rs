//! Where a hub is, and whether the way there has to be encrypted.
//!
//! Beyond this machine it always has to be, with the certificate checked against the name: a password
//! and a team's decisions are not sent to whoever answers.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::HubError;

/// Where a hub is.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) encrypted: bool,
    /// The certificate authority to believe, instead of the system's.
    pub(crate) authority: Option<PathBuf>,
    text: String,
}

impl FromStr for Address {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let refuse = |why: String| HubError::Address { url: without_password(text), why };
        if !text.starts_with("postgresql://") && !text.starts_with("postgres://") {
            return Err(refuse("it does not begin with postgresql://".to_owned()));
        }
        let (plain, mode, authority) = split(text);
        let mut config: Config = plain
            .parse()
            .map_err(|error: tokio_postgres::Error| refuse(heirloom_core::causes::told(&error)))?;
        let is_near = is_near(&config);
        let encrypted = match mode.as_deref() {
            None | Some("prefer" | "allow") => !is_near,
            Some("require" | "verify-ca" | "verify-full") => true,
            Some("disable") if is_near => false,
            Some("disable") => {
                return Err(refuse("beyond this machine the way has to be encrypted".to_owned()));
            }
            Some(other) => return Err(refuse(format!("there is no sslmode {other}"))),
        };
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        Ok(Self { config, encrypted, authority, text: text.to_owned() })
    }
}

impl Address {
    /// All of it, password included.
    pub(crate) fn as_written(&self) -> &str {
        &self.text
    }

    /// The same place for somebody else.
    pub(crate) fn with_login(&self, login: &str, password: &str) -> String {
        let (scheme, rest) = self.text.split_once("://").unwrap_or(("postgresql", &self.text));
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at(end);
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        format!("{scheme}://{login}:{password}@{place}{behind}")
    }
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.text))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn without_password(text: &str) -> String {
    let shown = text.split('?').next().unwrap_or_default();
    let Some((scheme, rest)) = shown.split_once("://") else { return "that".to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        None => format!("{scheme}://{authority}{path}"),
        Some((login, place)) => {
            let name = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}@{place}{path}")
        }
    }
}

/// What our way of connecting decides itself is taken out.
fn split(text: &str) -> (String, Option<String>, Option<PathBuf>) {
    let Some((place, query)) = text.split_once('?') else { return (text.to_owned(), None, None) };
    let (mut mode, mut authority, mut rest) = (None, None, Vec::new());
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value.to_owned()),
            Some(("sslrootcert", value)) => authority = Some(PathBuf::from(value)),
            _ => rest.push(pair),
        }
    }
    let sign = if rest.is_empty() { "" } else { "?" };
    (format!("{place}{sign}{}", rest.join("&")), mode, authority)
}

/// Whether all of it is on this machine.
fn is_near(config: &Config) -> bool {
    let is_loopback = |address: &IpAddr| address.is_loopback();
    let by_name = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip| is_loopback(&ip)),
        Host::Unix(_) => true,
    };
    let addresses = config.get_hostaddrs();
    config.get_hosts().iter().all(by_name) && addresses.iter().all(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Address, String> {
        text.parse::<Address>().map_err(|error| error.to_string())
    }

    #[test]
    fn beyond_this_machine_the_way_is_always_encrypted() {
        for (text, encrypted) in [
            ("postgresql://ada:x@127.0.0.1:5432/hub", false),
            ("postgresql://ada:x@localhost/hub?sslmode=prefer", false),
            ("postgresql://ada:x@localhost/hub?sslmode=verify-full&sslrootcert=/ca.pem", true),
            ("postgresql:///hub?host=/run/postgresql", false),
            ("postgresql://ada:x@hub.example.com/hub", true),
            ("postgresql://ada:x@hub.example.com/hub?sslmode=prefer", true),
            ("postgresql://ada:x@localhost,hub.example.com/hub", true),
            ("postgresql://ada:x@localhost/hub?hostaddr=192.0.2.7", true),
        ] {
            assert_eq!(read(text).map(|address| address.encrypted), Ok(encrypted), "{text}");
        }
        let refused = read("postgresql://ada:secret@hub.example.com/hub?sslmode=disable");
        let said = refused.unwrap_err();
        assert!(said.contains("encrypted") && !said.contains("secret"), "{said}");
    }

    #[test]
    fn a_password_is_not_shown() {
        let address =
            read("postgresql://ada:se:cret@hub.example.com:5/hub?sslmode=require").unwrap();
        assert_eq!(address.to_string(), "postgresql://ada@hub.example.com:5/hub");
        assert_eq!(format!("{address:?}"), address.to_string());
        assert_eq!(
            address.with_login("bob", "pw"),
            "postgresql://bob:pw@hub.example.com:5/hub?sslmode=require"
        );
        assert!(read("mysql://ada:secret@h/d").unwrap_err().starts_with("mysql://ada@h/d is not"));
    }
}
