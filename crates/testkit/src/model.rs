//! A scripted model: the answers are written down before, the requests are kept for afterwards.
//!
//! The script is the same whatever API the agent speaks; a [`Dialect`] puts it on the wire.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::http::{Request, Responder, Server};

/// One answer of the model.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It says and does these things.
    Say(Vec<Part>),
    /// The request fails.
    Fail {
        /// The HTTP status.
        status: u16,
        /// The words.
        message: String,
        /// Headers that come with it (`retry-after`).
        headers: Vec<(String, String)>,
    },
    /// The connection is cut before anything was said.
    CutBefore,
    /// The connection is cut after a part of this was said.
    CutWithin(Vec<Part>),
    /// Nothing is said, for ever.
    Hang,
    /// This is said, slowly: a pause before it.
    Slow(Duration, Vec<Part>),
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub enum Part {
    /// Words.
    Text(String),
    /// Thoughts.
    Thinking(String),
    /// A tool is used.
    Tool {
        /// Which.
        name: String,
        /// With what.
        input: Value,
    },
}

impl Answer {
    /// Some words.
    pub fn text(text: &str) -> Self {
        Self::Say(vec![Part::Text(text.to_owned())])
    }

    /// One tool use.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::Say(vec![Part::Tool { name: name.to_owned(), input }])
    }

    /// A failed request.
    pub fn fail(status: u16) -> Self {
        let message = format!("scripted failure {status}");
        Self::Fail { status, message, headers: Vec::new() }
    }

    /// The same with a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Self::Fail { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// Puts answers on the wire of one API.
pub trait Dialect: Send + Sync + 'static {
    /// Answers `request` with `answer`. `number` counts the answers, for ids.
    fn answer(
        &self,
        number: usize,
        request: &Request,
        answer: Answer,
        to: Responder,
    ) -> io::Result<()>;

    /// Whether this request takes an answer from the script; others (lists of models, titles)
    /// are the dialect's own business and come with [`Answer::text`] `"ok"`.
    fn is_scripted(&self, request: &Request) -> bool;
}

/// What the model will answer, in order.
#[derive(Debug, Clone, Default)]
pub struct Script {
    queue: VecDeque<(Option<String>, Answer)>,
    otherwise: Option<Answer>,
}

impl Script {
    /// These answers, one after the other; after the last the model only says `done`.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let queue = answers.into_iter().map(|answer| (None, answer)).collect();
        Self { queue, otherwise: None }
    }

    /// An answer that waits for a request that contains `text`, and goes before the others then.
    pub fn on(mut self, text: &str, answer: Answer) -> Self {
        self.queue.push_front((Some(text.to_owned()), answer));
        self
    }

    /// What is answered after the last.
    pub fn then_always(mut self, answer: Answer) -> Self {
        self.otherwise = Some(answer);
        self
    }

    /// The answers, in order, for agents that need no wire.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.queue.iter().map(|(_, answer)| answer)
    }

    /// What is answered after the last, where that was said.
    pub const fn otherwise(&self) -> Option<&Answer> {
        self.otherwise.as_ref()
    }

    fn next(&mut self, request: &Request) -> Answer {
        let body = request.text();
        let fits = |text: &Option<String>| text.as_ref().is_none_or(|text| body.contains(text));
        let at = self.queue.iter().position(|(text, _)| fits(text));
        let answer = at.and_then(|at| self.queue.remove(at)).map(|(_, answer)| answer);
        answer.or_else(|| self.otherwise.clone()).unwrap_or_else(|| Answer::text("done"))
    }
}

/// A model that runs on loopback until it is dropped.
#[derive(Debug)]
pub struct Model {
    server: Server,
}

impl Model {
    /// Starts a model that speaks `dialect` and follows `script`.
    pub fn start(dialect: impl Dialect, script: Script) -> Self {
        let state = Mutex::new((0, script));
        let server = Server::start(move |request, to| {
            let (number, answer) = {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.0 += 1;
                let scripted = dialect.is_scripted(request);
                let answer = if scripted { state.1.next(request) } else { Answer::text("ok") };
                (state.0, answer)
            };
            match answer {
                Answer::CutBefore => to.cut(),
                Answer::Hang => to.hang(),
                Answer::Slow(pause, parts) => {
                    std::thread::sleep(pause);
                    dialect.answer(number, request, Answer::Say(parts), to)
                }
                answer => dialect.answer(number, request, answer, to),
            }
        });
        Self { server }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.server.requests()
    }

    /// Waits until there were `count` requests.
    pub fn wait_for(&self, count: usize) -> Vec<Request> {
        self.server.wait_for(count)
    }
}
