//! An HTTP server on loopback, for models that are scripted.
//!
//! hyper speaks the protocol; what is added here is what a test wants of it: every request is kept,
//! answers are written by plain blocking code, and an answer can stop in the middle.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};

/// How long a test waits for what must come. Long, because machines are slow; never reached when
/// all is well.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A request, as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// In order, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; `null` where it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct Seen {
    requests: Vec<Request>,
    closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits while something is so, but not for ever.
    fn wait_while(&self, so: impl Fn(&Seen) -> bool) -> MutexGuard<'_, Seen> {
        self.changed
            .wait_timeout_while(self.lock(), PATIENCE, |seen| so(seen))
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts on a free port of the loopback. `answer` is called for each request, on a thread of
    /// its own.
    pub fn start<F>(answer: F) -> Self
    where
        F: Fn(&Request, Responder) -> io::Result<()> + Send + Sync + 'static,
    {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_io().build();
        let runtime = runtime.expect("a thread for the server");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.expect("a free loopback port");
        let address = listener.local_addr().expect("a bound address");
        let shared = Arc::new(Shared::default());
        runtime.spawn(accept(listener, Arc::clone(&shared), Arc::new(answer)));
        Self { address, shared, runtime: Some(runtime) }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Waits until there were `count` requests.
    pub fn wait_for(&self, count: usize) -> Vec<Request> {
        let requests = self.shared.wait_while(|seen| seen.requests.len() < count).requests.clone();
        let seen = requests.len();
        assert!(seen >= count, "the model saw only {seen} of {count} requests");
        requests
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.change(|seen| seen.closed = true);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept<F>(listener: TcpListener, shared: Arc<Shared>, answer: Arc<F>)
where
    F: Fn(&Request, Responder) -> io::Result<()> + Send + Sync + 'static,
{
    while let Ok((stream, _)) = listener.accept().await {
        let (shared, answer) = (Arc::clone(&shared), Arc::clone(&answer));
        tokio::spawn(async move {
            // A client that goes away in the middle is part of what is tested.
            let _ = serve(stream, &shared, &answer).await;
        });
    }
}

async fn serve<F>(stream: TcpStream, shared: &Arc<Shared>, answer: &Arc<F>) -> hyper::Result<()>
where
    F: Fn(&Request, Responder) -> io::Result<()> + Send + Sync + 'static,
{
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| respond(request, Arc::clone(shared), Arc::clone(answer)));
    // One request a connection: a client that was answered must not find its next request cut off by
    // the answer before.
    http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service).await
}

type Response = hyper::Response<Parts>;

async fn respond<F>(
    request: hyper::Request<Incoming>,
    shared: Arc<Shared>,
    answer: Arc<F>,
) -> Result<Response, Cut>
where
    F: Fn(&Request, Responder) -> io::Result<()> + Send + Sync + 'static,
{
    let request = read(request).await.map_err(|_| Cut)?;
    shared.change(|seen| seen.requests.push(request.clone()));
    let (to, response) = oneshot::channel();
    tokio::task::spawn_blocking(move || answer(&request, Responder { to, shared }));
    response.await.map_err(|_| Cut)
}

async fn read(request: hyper::Request<Incoming>) -> hyper::Result<Request> {
    let (head, body) = request.into_parts();
    let value = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = head.headers.iter().map(|(name, v)| (name.to_string(), value(v.as_bytes())));
    Ok(Request {
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: body.collect().await?.to_bytes().to_vec(),
    })
}

/// The client hears nothing more.
#[derive(Debug, thiserror::Error)]
#[error("cut off by the script")]
struct Cut;

/// The way back to the client. Dropping it without an answer cuts the connection.
#[derive(Debug)]
pub struct Responder {
    to: oneshot::Sender<Response>,
    shared: Arc<Shared>,
}

impl Responder {
    /// A whole answer.
    pub fn send(self, status: u16, headers: &[(&str, &str)], body: &str) -> io::Result<()> {
        let length = body.len().to_string();
        let mut stream = self.begin(status, headers, ("content-length", &length))?;
        stream.chunk(body)?;
        stream.end()
    }

    /// The beginning of a stream of events.
    pub fn stream(self, headers: &[(&str, &str)]) -> io::Result<EventStream> {
        self.begin(200, headers, ("content-type", "text/event-stream"))
    }

    /// No answer: the connection is cut.
    pub fn cut(self) -> io::Result<()> {
        drop(self);
        Ok(())
    }

    /// No answer, and the connection stays open until the server ends.
    pub fn hang(self) -> io::Result<()> {
        drop(self.shared.wait_while(|seen| !seen.closed));
        Ok(())
    }

    fn begin(
        self,
        status: u16,
        headers: &[(&str, &str)],
        own: (&str, &str),
    ) -> io::Result<EventStream> {
        let (to, parts) = mpsc::channel(1);
        let response = headers
            .iter()
            .chain([&own])
            .fold(hyper::Response::builder().status(status), |response, (name, value)| {
                response.header(*name, *value)
            })
            .body(Parts { parts, flushed: false })
            .map_err(io::Error::other)?;
        self.to.send(response).map_err(|_| gone())?;
        Ok(EventStream { to })
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")
}

/// A body as it is written. `None` is its end; without one it is cut off.
#[derive(Debug)]
struct Parts {
    parts: mpsc::Receiver<Option<Bytes>>,
    flushed: bool,
}

impl Body for Parts {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.parts.poll_recv(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(part)) => Poll::Ready(part.map(|bytes| Ok(Frame::data(bytes)))),
            // hyper throws away what it has not sent yet when a body fails, and sends it when one is late.
            Poll::Ready(None) if !self.flushed => {
                self.flushed = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Ready(None) => Poll::Ready(Some(Err(Cut))),
        }
    }
}

/// A stream of server-sent events. Dropping it without [`EventStream::end`] cuts it off.
#[derive(Debug)]
pub struct EventStream {
    to: mpsc::Sender<Option<Bytes>>,
}

impl EventStream {
    /// An event with a name.
    pub fn event(&mut self, name: &str, data: &serde_json::Value) -> io::Result<()> {
        self.chunk(&format!("event: {name}\ndata: {data}\n\n"))
    }

    /// An event without one.
    pub fn data(&mut self, data: &str) -> io::Result<()> {
        self.chunk(&format!("data: {data}\n\n"))
    }

    /// The proper end.
    pub fn end(self) -> io::Result<()> {
        self.to.blocking_send(None).map_err(|_| gone())
    }

    /// No end: the connection is cut.
    pub fn cut(self) -> io::Result<()> {
        drop(self);
        Ok(())
    }

    fn chunk(&mut self, text: &str) -> io::Result<()> {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        self.to.blocking_send(Some(bytes)).map_err(|_| gone())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    fn ask(server: &Server, body: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        write!(stream, "POST /x HTTP/1.1\r\nA: b\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn a_request_is_recorded_and_answered() {
        let server = Server::start(|request, to| to.send(200, &[("x-a", "1")], &request.text()));
        let answer = ask(&server, "hello");
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 5\r\n"),
            "{answer}"
        );
        assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
        let requests = server.wait_for(1);
        assert_eq!(requests[0].header("a"), Some("b"));
    }

    #[test]
    fn a_stream_ends_properly_or_is_cut() {
        let server = Server::start(|request, to| {
            let mut stream = to.stream(&[])?;
            stream.data("one")?;
            if request.text() == "cut" { stream.cut() } else { stream.end() }
        });
        assert!(ask(&server, "").ends_with("data: one\n\n\r\n0\r\n\r\n"));
        assert!(ask(&server, "cut").ends_with("data: one\n\n\r\n"));
    }
}
