//! A connection to a hub, for callers that are not async. Everything has a deadline: a line that was cut
//! does not fail, it answers nothing.

use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, NoTls, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;
use crate::error::HubError;
use crate::state::{self, Held};
use crate::wire::{self, Hello};

/// How long a connection may take to be made, and data may stay unacknowledged.
const CONNECT: Duration = Duration::from_secs(10);

/// How long nothing may come before it is asked whether the other end is still there.
const ALIVE: Duration = Duration::from_mins(1);

/// How long an answer may take.
const CALL: Duration = Duration::from_mins(1);

/// Why a connection was not made.
type Lost = Box<dyn std::error::Error + Send + Sync>;

/// The hub of a repository: what is known of it is held until this is dropped, and it said hello. Whether
/// whoever asks may use it is asked before.
pub(crate) struct Opened {
    pub(crate) held: Held,
    pub(crate) address: Address,
    pub(crate) hub: Connection,
    pub(crate) hello: Hello,
}

impl Opened {
    pub(crate) fn of(home: &Path, key: &str) -> Result<Self, HubError> {
        // A hub that is away keeps nobody from what is known of others: the state is taken once it answers.
        let url = state::look(home, key)?.url;
        let address: Address = url.parse()?;
        let hub = Connection::open(&address)?;
        let hello = wire::hello(&hub)?;
        let mut held = Held::take(home)?;
        if held.joined(key)?.url != url {
            return Err(HubError::Busy);
        }
        Ok(Self { held, address, hub, hello })
    }
}

/// A connection to a hub.
#[derive(Debug)]
pub struct Connection {
    // Before the runtime, which would otherwise be gone when it says goodbye.
    client: Client,
    /// Ends when the line does.
    driver: JoinHandle<()>,
    runtime: Runtime,
    hub: String,
}

impl Connection {
    pub fn open(address: &Address) -> Result<Self, HubError> {
        Self::hearing(address, drop)
    }

    /// One whose `heard` is given what others send to the channels that it listens to.
    pub(crate) fn hearing(
        address: &Address,
        heard: impl FnMut(String) + Send + 'static,
    ) -> Result<Self, HubError> {
        let hub = address.to_string();
        let lost = |source: Lost| HubError::Unreachable { hub: hub.clone(), source };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| lost(Box::new(source)))?;
        let mut config = address.config.clone();
        config.connect_timeout(CONNECT).tcp_user_timeout(CONNECT).application_name("heirloom");
        config.keepalives_idle(ALIVE);
        let (client, driver) = runtime.block_on(async {
            let connected = tokio::time::timeout(2 * CONNECT, async {
                // Who answers drives the connection; without a caller nothing moves, and nothing has to.
                if address.encrypted {
                    let tls = MakeRustlsConnect::new(encryption(address)?);
                    let (client, line) = config.connect(tls).await?;
                    Ok((client, tokio::spawn(drive(line, heard))))
                } else {
                    let (client, line) = config.connect(NoTls).await?;
                    Ok((client, tokio::spawn(drive(line, heard))))
                }
            });
            match connected.await {
                Ok(connected) => {
                    connected.map_err(|error: Lost| refused(&*error).unwrap_or_else(|| lost(error)))
                }
                Err(_) => {
                    Err(HubError::Deadline { hub: hub.clone(), seconds: CONNECT.as_secs() * 2 })
                }
            }
        })?;
        Ok(Self { client, driver, runtime, hub })
    }

    /// Listens until the other end of `over` is dropped, or the line is gone.
    pub(crate) fn listen(self, over: oneshot::Receiver<()>) {
        let Self { client, driver, runtime, .. } = self;
        runtime.block_on(async {
            tokio::select! {
                _ = over => {}
                _ = driver => {}
            }
        });
        // Before the runtime, as in all of them.
        drop(client);
    }

    /// Asks, and returns all rows.
    pub(crate) fn query(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, HubError> {
        self.wait(doing, self.client.query(sql, values))
    }

    /// Asks for exactly one row.
    pub(crate) fn one(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Row, HubError> {
        self.wait(doing, self.client.query_one(sql, values))
    }

    /// Runs statements without values.
    pub(crate) fn batch(&self, doing: &'static str, sql: &str) -> Result<(), HubError> {
        self.wait(doing, self.client.batch_execute(sql))
    }

    fn wait<T>(
        &self,
        doing: &'static str,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, HubError> {
        let answered = self.runtime.block_on(async { tokio::time::timeout(CALL, answer).await });
        match answered {
            Ok(answered) => answered.map_err(|error| self.explain(doing, error)),
            Err(_) => Err(HubError::Deadline { hub: self.hub.clone(), seconds: CALL.as_secs() }),
        }
    }

    fn explain(&self, doing: &'static str, error: tokio_postgres::Error) -> HubError {
        let Some(said) = error.as_db_error() else {
            return HubError::Unreachable { hub: self.hub.clone(), source: Box::new(error) };
        };
        let why = said.message().to_owned();
        match *said.code() {
            SqlState::INVALID_SCHEMA_NAME | SqlState::UNDEFINED_FUNCTION => HubError::NotMigrated,
            SqlState::INSUFFICIENT_PRIVILEGE => HubError::Denied { why },
            _ => HubError::Failed { doing, why },
        }
    }
}

/// Moves what goes over a line, until that ends. Why it ended is told to whoever waits for an answer.
async fn drive<S, T>(
    line: tokio_postgres::Connection<S, T>,
    mut heard: impl FnMut(String) + Send + 'static,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut line = pin!(line);
    while let Some(Ok(message)) = poll_fn(|context| line.poll_message(context)).await {
        if let AsyncMessage::Notification(news) = message {
            heard(news.payload().to_owned());
        }
    }
}

/// What a server says to somebody whom it does not let in.
fn refused(error: &(dyn std::error::Error + 'static)) -> Option<HubError> {
    let said = error.downcast_ref::<tokio_postgres::Error>()?.as_db_error()?;
    let is_no = [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
        .contains(said.code());
    is_no.then(|| HubError::Denied { why: said.message().to_owned() })
}

/// Certificates are always checked, and so is the name they are for.
fn encryption(address: &Address) -> Result<ClientConfig, Lost> {
    let mut roots = RootCertStore::empty();
    match &address.authority {
        Some(file) => {
            for certificate in CertificateDer::pem_file_iter(file)? {
                roots.add(certificate?)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
