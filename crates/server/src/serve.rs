//! The daemon from its start to its end.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use heirloom_api::Serving;
use heirloom_engine::here::Here;
use heirloom_repo::{FileError, LockFile};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::house::{House, Parts};
use crate::keys::Keys;
use crate::listen::{self, Listen};
use crate::routes;
use crate::tls::{Certificate, Secured, Tls, TlsError};

/// How long requests under way are waited for at the end.
const PATIENCE: Duration = Duration::from_secs(10);
/// Threads for the engine's work, at most. They come when they are needed and go when they are not.
const MOST_THREADS: usize = 96;

/// Why the daemon could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is one already.
    #[error("the daemon is already running at {url}")]
    Running { url: String },
    /// Others could reach it, and nothing would protect what is said.
    #[error("{address} can be reached from other machines, so it needs TLS")]
    Open { address: SocketAddr },
    /// It cannot listen there.
    #[error("cannot listen on {address}")]
    Listen {
        address: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// There is no TLS to listen with.
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    File(#[from] FileError),
    /// The system did not give what a daemon needs.
    #[error("cannot start the daemon")]
    System(#[source] io::Error),
}

/// A daemon that listens and has not answered anybody yet.
#[derive(Debug)]
pub struct Daemon {
    here: Here,
    directory: PathBuf,
    keys: Keys,
    hosts: Vec<String>,
    tcp: Option<std::net::TcpListener>,
    tls: Option<Tls>,
    unix: std::os::unix::net::UnixListener,
    socket: PathBuf,
    serving: Serving,
    /// Held as long as the daemon runs: there is one a home.
    _lock: LockFile,
}

/// How a daemon is opened.
#[derive(Debug)]
pub struct Opening<'a> {
    /// The directory that is meant where a request names none.
    pub directory: &'a Path,
    pub listen: &'a Listen,
    /// Further names by which it may be called.
    pub hosts: Vec<String>,
    /// What connections over TCP are secured with. Without, only this machine is answered.
    pub certificate: Option<Certificate>,
    /// A person's, who may sign in with it.
    pub code: Option<&'a str>,
}

impl Daemon {
    /// Takes the home and listens.
    pub fn open(here: Here, opening: Opening<'_>) -> Result<Self, ServeError> {
        let Opening { directory, listen, mut hosts, certificate, code } = opening;
        if let Listen::Tcp(address) = listen
            && !listen.is_local()
        {
            if certificate.is_none() {
                return Err(ServeError::Open { address: *address });
            }
            hosts.push(address.ip().to_string());
        }
        let keys = Keys::new(&here.home);
        let lock_path = keys.directory().join("lock");
        let failed = |path: &Path, source| FileError::new("use", path)(source);
        let lock = heirloom_repo::open_lock(&lock_path).map_err(|e| failed(&lock_path, e))?;
        let before = read_serving(&here.home);
        if lock.try_lock().is_err() {
            let url = before.map_or_else(|| "its socket".to_owned(), |before| before.url);
            return Err(ServeError::Running { url });
        }
        let names: Vec<String> = ["localhost", "127.0.0.1"]
            .map(str::to_owned)
            .into_iter()
            .chain(hosts.iter().filter(|host| *host != "0.0.0.0" && *host != "::").cloned())
            .collect();
        let tls = certificate.map(|one| Tls::open(&one, keys.directory(), &names)).transpose()?;
        let token = keys.token().map_err(|e| failed(keys.directory(), e))?;
        let (tcp, socket) = match listen {
            Listen::Tcp(address) => {
                let last = heirloom_repo::read_at_most(&keys.directory().join("port"), 8).ok();
                let last = last.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok());
                (Some(listen::tcp(*address, last)), here.home.join("serve.sock"))
            }
            Listen::Unix(path) => (None, path.clone()),
        };
        let cannot = |address: String| move |source| ServeError::Listen { address, source };
        let tcp = tcp.transpose().map_err(cannot(listen.to_string()))?;
        let unix = listen::unix(&socket).map_err(cannot(format!("unix:{}", socket.display())))?;
        let address = tcp.as_ref().map(std::net::TcpListener::local_addr).transpose();
        let address = address.map_err(ServeError::System)?;
        if let Some(address) = address {
            // Only a wish for the next time.
            let port = address.port().to_string();
            let _ = heirloom_repo::replace_private(&keys.directory().join("port"), port.as_bytes());
        }
        let url = address.map_or_else(
            || format!("unix:{}", socket.display()),
            |address| url(address, tls.is_some(), names.get(2)),
        );
        let link = code.filter(|_| tcp.is_some()).map(|code| format!("{url}/signin?code={code}"));
        let socket_shown = socket.display().to_string();
        let fingerprint = tls.as_ref().map(|tls| tls.fingerprint.clone());
        let (pid, socket_path) = (std::process::id(), socket_shown);
        let serving = Serving { url, token, link, pid, socket: socket_path, fingerprint };
        let file = here.home.join("serve.json");
        let text = serde_json::to_vec(&serving).unwrap_or_default();
        heirloom_repo::replace_private(&file, &text).map_err(|e| failed(&file, e))?;
        let directory = directory.to_owned();
        Ok(Self { here, directory, keys, hosts, tcp, tls, unix, socket, serving, _lock: lock })
    }

    /// Where it is, and what lets somebody in.
    pub fn serving(&self) -> &Serving {
        &self.serving
    }

    /// Answers until it is asked to stop.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(MOST_THREADS)
            .enable_all()
            .build()
            .map_err(ServeError::System)?;
        let served = runtime.block_on(self.answer());
        // What the engine is in the middle of is not waited for without end; the ledger is safe either way.
        runtime.shutdown_timeout(PATIENCE);
        served
    }

    async fn answer(self) -> Result<(), ServeError> {
        let (end, ending) = watch::channel(false);
        let house = House::new(Parts {
            here: self.here.clone(),
            directory: self.directory,
            keys: self.keys,
            token: self.serving.token.clone(),
            hosts: self.hosts,
            is_secure: self.tls.is_some(),
            ending: ending.clone(),
        });
        let router = routes::all(house);
        let unix = UnixListener::from_std(self.unix).map_err(ServeError::System)?;
        let unix = tokio::spawn(
            axum::serve(unix, router.clone())
                .with_graceful_shutdown(asked(ending.clone()))
                .into_future(),
        );
        let tcp = match self.tcp {
            Some(tcp) => {
                let tcp = TcpListener::from_std(tcp).map_err(ServeError::System)?;
                Some(match self.tls {
                    None => tokio::spawn(
                        axum::serve(tcp, router)
                            .with_graceful_shutdown(asked(ending))
                            .into_future(),
                    ),
                    Some(tls) => {
                        let tcp = Secured::new(tcp, tls).map_err(ServeError::System)?;
                        let served = axum::serve(tcp, router);
                        tokio::spawn(served.with_graceful_shutdown(asked(ending)).into_future())
                    }
                })
            }
            None => None,
        };
        wait_for_the_end().await.map_err(ServeError::System)?;
        let _ = end.send(true);
        let both = async {
            let _ = unix.await;
            if let Some(tcp) = tcp {
                let _ = tcp.await;
            }
        };
        // Whoever does not hang up is left.
        let _ = tokio::time::timeout(PATIENCE, both).await;
        let _ = heirloom_repo::file::remove_file(&self.socket);
        let _ = heirloom_repo::file::remove_file(self.here.home.join("serve.json"));
        Ok(())
    }
}

/// Where the daemon answers, as others would write it. One that listens on every address of this machine goes
/// by the first name that was given.
fn url(address: SocketAddr, is_secure: bool, name: Option<&String>) -> String {
    let scheme = if is_secure { "https" } else { "http" };
    match name.filter(|_| address.ip().is_unspecified()) {
        Some(name) => format!("{scheme}://{name}:{}", address.port()),
        None => format!("{scheme}://{address}"),
    }
}

async fn asked(mut ending: watch::Receiver<bool>) {
    // An error means that nobody is left who could ask.
    let _ = ending.wait_for(|end| *end).await;
}

async fn wait_for_the_end() -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// What a daemon said of itself when it was started.
pub fn read_serving(home: &Path) -> Option<Serving> {
    let bytes = heirloom_repo::read_at_most(&home.join("serve.json"), 16 * 1024).ok()?;
    serde_json::from_slice(&bytes).ok()
}
