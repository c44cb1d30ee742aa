//! TLS, without which nobody beyond this machine is answered.
//!
//! The certificate is the person's own, or one that is made here once and kept: a browser cannot check that
//! one, a person can, by the fingerprint that is printed.

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use heirloom_repo::file;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long a connection may take to agree on a key.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many may be at that at the same time.
const MOST: usize = 64;

/// Which certificate is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificate {
    /// The person's own.
    Own {
        /// The chain, in PEM.
        chain: PathBuf,
        /// Its key, in PEM.
        key: PathBuf,
    },
    /// One made here.
    SelfSigned,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read or written.
    #[error("cannot use {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file holds something else.
    #[error("{} holds no {what} in PEM", .path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// The certificate cannot be used.
    #[error("cannot use the certificate")]
    Unusable(#[source] rustls::Error),
    /// None could be made.
    #[error("cannot create a certificate")]
    Make(#[source] rcgen::Error),
}

/// What a connection is secured with.
#[derive(Clone)]
pub(crate) struct Tls {
    acceptor: TlsAcceptor,
    pub(crate) fingerprint: String,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the certificate, or makes one for `names` and keeps it in `directory`.
    pub(crate) fn open(
        certificate: &Certificate,
        directory: &Path,
        names: &[String],
    ) -> Result<Self, TlsError> {
        let (chain, key) = match certificate {
            Certificate::Own { chain, key } => (chain.clone(), key.clone()),
            Certificate::SelfSigned => kept(directory, names)?,
        };
        let text = |path: &Path| {
            let source = heirloom_repo::read_at_most(path, 256 * 1024);
            source.map_err(|source| TlsError::File { path: path.to_owned(), source })
        };
        let pem = |path: &Path, what| TlsError::Pem { path: path.to_owned(), what };
        let certificates = CertificateDer::pem_slice_iter(&text(&chain)?)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| pem(&chain, "certificate"))?;
        let first = certificates.first().ok_or_else(|| pem(&chain, "certificate"))?;
        let fingerprint = fingerprint(first);
        let key = PrivateKeyDer::from_pem_slice(&text(&key)?).map_err(|_| pem(&key, "key"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(TlsError::Unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), fingerprint })
    }
}

/// SHA-256, as browsers show it.
fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let mut text = String::new();
    for (at, byte) in Sha256::digest(certificate).iter().enumerate() {
        let _ = write!(text, "{}{byte:02X}", if at == 0 { "" } else { ":" });
    }
    text
}

/// The certificate of this home for these names; made where there is none.
fn kept(directory: &Path, names: &[String]) -> Result<(PathBuf, PathBuf), TlsError> {
    let (chain, key) = (directory.join("certificate.pem"), directory.join("key.pem"));
    let known = directory.join("certificate.names");
    let wanted = names.join("\n");
    let is_there = chain.is_file() && key.is_file();
    // The same one as long as it can be: whoever checked its fingerprint need not check again.
    if is_there && file::read_to_string(&known).is_ok_and(|known| known == wanted) {
        return Ok((chain, key));
    }
    let pair = KeyPair::generate().map_err(TlsError::Make)?;
    let mut params = CertificateParams::new(names.to_vec()).map_err(TlsError::Make)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "heirloom");
    let made = params.self_signed(&pair).map_err(TlsError::Make)?;
    let write = |path: &Path, text: &str| {
        heirloom_repo::replace_private(path, text.as_bytes())
            .map_err(|source| TlsError::File { path: path.to_owned(), source })
    };
    write(&key, &pair.serialize_pem())?;
    write(&chain, &made.pem())?;
    write(&known, &wanted)?;
    Ok((chain, key))
}

/// Connections that are secured already. Somebody who is slow about it keeps nobody else waiting.
#[derive(Debug)]
pub(crate) struct Secured {
    made: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl Secured {
    pub(crate) fn new(listener: TcpListener, tls: Tls) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (tell, made) = mpsc::channel(MOST);
        tokio::spawn(secure(listener, tls.acceptor, tell));
        Ok(Self { made, address })
    }
}

async fn secure(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    tell: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    let places = Arc::new(tokio::sync::Semaphore::new(MOST));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = tell.closed() => return,
        };
        let Ok((stream, from)) = accepted else {
            // No more files, most likely; somebody will close one.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (acceptor, tell) = (acceptor.clone(), tell.clone());
        tokio::spawn(async move {
            let secured = tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await;
            if let Ok(Ok(stream)) = secured {
                let _ = tell.send((stream, from)).await;
            }
            drop(place);
        });
    }
}

impl axum::serve::Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.made.recv().await {
            Some(made) => made,
            // Nobody accepts any more: the daemon is about to end.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_certificate_is_made_once_for_the_same_names() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["localhost".to_owned(), "10.0.0.7".to_owned()];
        let open = |names: &[String]| Tls::open(&Certificate::SelfSigned, dir.path(), names);
        let first = open(&names).unwrap().fingerprint;
        assert_eq!(first.len(), 32 * 3 - 1);
        assert_eq!(open(&names).unwrap().fingerprint, first);
        assert_ne!(open(&names[..1]).unwrap().fingerprint, first);
        let mode = fs::metadata(dir.path().join("key.pem")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test]
    async fn an_answer_comes_over_tls_to_whoever_knows_the_certificate_and_slow_ones_keep_nobody() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let dir = tempfile::tempdir().unwrap();
        let names = ["localhost".to_owned()];
        let tls = Tls::open(&Certificate::SelfSigned, dir.path(), &names).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = axum::Router::new().route("/", axum::routing::get(|| async { "hello" }));
        let secured = Secured::new(listener, tls).unwrap();
        tokio::spawn(axum::serve(secured, router).into_future());
        // They connect and say nothing.
        let mut silent = Vec::new();
        for _ in 0..8 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let mut roots = rustls::RootCertStore::empty();
        let text = fs::read(dir.path().join("certificate.pem")).unwrap();
        roots.add(CertificateDer::from_pem_slice(&text).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
        let name = |text: &'static str| rustls::pki_types::ServerName::try_from(text).unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        let mut stream = connector.connect(name("localhost"), stream).await.unwrap();
        let ask = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(ask).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert!(text.ends_with("hello"), "{text}");
        let stream = TcpStream::connect(address).await.unwrap();
        assert!(connector.connect(name("elsewhere.example"), stream).await.is_err());
        drop(silent);
    }

    #[test]
    fn what_is_no_certificate_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.pem");
        fs::write(&file, "nothing").unwrap();
        let own = Certificate::Own { chain: file.clone(), key: file };
        let error = Tls::open(&own, dir.path(), &[]).unwrap_err().to_string();
        assert!(error.ends_with("x.pem holds no certificate in PEM"), "{error}");
    }
}
