//! A small HTTP/1.1 server on loopback, for models that are scripted.
//!
//! Not a web server: one request a connection, a thread each, bodies by `content-length` or in
//! chunks. What it does that others do not: it can stop in the middle of an answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

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
struct Shared {
    requests: Mutex<Vec<Request>>,
    changed: Condvar,
    closed: AtomicBool,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts on a free port of the loopback. `answer` is called for each request, on a thread of
    /// its own.
    pub fn start<F>(answer: F) -> Self
    where
        F: Fn(&Request, Responder) -> io::Result<()> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free loopback port");
        let address = listener.local_addr().expect("a bound address");
        let shared = Arc::new(Shared::default());
        let accepting = thread::spawn({
            let (shared, answer) = (Arc::clone(&shared), Arc::new(answer));
            move || accept(&listener, &shared, &answer)
        });
        Self { address, shared, accepting: Some(accepting) }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// Waits until there were `count` requests.
    pub fn wait_for(&self, count: usize) -> Vec<Request> {
        let requests = lock(&self.shared.requests);
        let (requests, waited) = self
            .shared
            .changed
            .wait_timeout_while(requests, PATIENCE, |requests| requests.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        let seen = requests.len();
        assert!(!waited.timed_out(), "the model saw only {seen} of {count} requests");
        requests.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.shared.changed.notify_all();
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept<F>(listener: &TcpListener, shared: &Arc<Shared>, answer: &Arc<F>)
where
    F: Fn(&Request, Responder) -> io::Result<()> + Send + Sync + 'static,
{
    for stream in listener.incoming() {
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let (shared, answer) = (Arc::clone(shared), Arc::clone(answer));
        thread::spawn(move || {
            // A client that goes away in the middle is part of what is tested.
            let _ = serve(stream, &shared, answer.as_ref());
        });
    }
}

fn serve<F>(stream: TcpStream, shared: &Arc<Shared>, answer: &F) -> io::Result<()>
where
    F: Fn(&Request, Responder) -> io::Result<()>,
{
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(request) = read_request(&mut reader)? else { return Ok(()) };
    lock(&shared.requests).push(request.clone());
    shared.changed.notify_all();
    answer(&request, Responder { stream, shared: Arc::clone(shared) })
}

fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let first = read_line(reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let (method, path) = (method.to_owned(), path.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { method, path, headers, body: Vec::new() };
    if request.header("expect").is_some() {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    request.body = match request.header("content-length").and_then(|length| length.parse().ok()) {
        Some(length) => read_exactly(reader, length)?,
        None if request.header("transfer-encoding") == Some("chunked") => read_chunks(reader)?,
        None => Vec::new(),
    };
    Ok(Some(request))
}

fn read_line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

fn read_exactly(reader: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_chunks(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = read_line(reader)?;
        let size = usize::from_str_radix(size.split(';').next().unwrap_or("0"), 16).unwrap_or(0);
        if size == 0 {
            read_line(reader)?;
            return Ok(body);
        }
        body.extend(read_exactly(reader, size)?);
        read_line(reader)?;
    }
}

/// The way back to the client. Dropping it without an answer cuts the connection.
#[derive(Debug)]
pub struct Responder {
    stream: TcpStream,
    shared: Arc<Shared>,
}

impl Responder {
    /// A whole answer.
    pub fn send(mut self, status: u16, headers: &[(&str, &str)], body: &str) -> io::Result<()> {
        self.head(status, headers)?;
        write!(self.stream, "content-length: {}\r\n\r\n{body}", body.len())?;
        self.stream.flush()
    }

    /// The beginning of a stream of events.
    pub fn stream(mut self, headers: &[(&str, &str)]) -> io::Result<EventStream> {
        self.head(200, headers)?;
        self.stream
            .write_all(b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
        Ok(EventStream { to: self })
    }

    /// No answer: the connection is cut.
    pub fn cut(self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Both)
    }

    /// No answer, and the connection stays open until the server ends.
    pub fn hang(self) -> io::Result<()> {
        let requests = lock(&self.shared.requests);
        let open = |_: &mut Vec<Request>| !self.shared.closed.load(Ordering::SeqCst);
        drop(self.shared.changed.wait_timeout_while(requests, PATIENCE, open));
        Ok(())
    }

    fn head(&mut self, status: u16, headers: &[(&str, &str)]) -> io::Result<()> {
        write!(self.stream, "HTTP/1.1 {status} {}\r\nconnection: close\r\n", reason(status))?;
        headers.iter().try_for_each(|(name, value)| write!(self.stream, "{name}: {value}\r\n"))
    }
}

const fn reason(status: u16) -> &'static str {
    if status < 300 { "OK" } else { "Error" }
}

/// A stream of server-sent events. Dropping it without [`EventStream::end`] cuts it off.
#[derive(Debug)]
pub struct EventStream {
    to: Responder,
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
    pub fn end(mut self) -> io::Result<()> {
        self.to.stream.write_all(b"0\r\n\r\n")?;
        self.to.stream.flush()
    }

    /// No end: the connection is cut.
    pub fn cut(self) -> io::Result<()> {
        self.to.cut()
    }

    fn chunk(&mut self, text: &str) -> io::Result<()> {
        write!(self.to.stream, "{:x}\r\n{text}\r\n", text.len())?;
        self.to.stream.flush()
    }
}

#[cfg(test)]
mod tests {
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
        assert!(answer.ends_with("x-a: 1\r\ncontent-length: 5\r\n\r\nhello"), "{answer}");
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
