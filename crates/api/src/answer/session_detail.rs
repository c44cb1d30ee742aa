//! One session, with everything that is known of it.

use std::collections::BTreeMap;

use heirloom_core::facts::{CommandFacts, CommitFacts, TestFacts, TodoFacts, TurnFacts};
use heirloom_core::session::Session as Known;
use heirloom_engine::capture::{self, KnownFacts};
use heirloom_engine::here::Here;
use heirloom_engine::session::Total;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ContextUse, Session, Tokens, Totals};
use crate::Answer;

/// One session with all that is known about it. What is not known is `null`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionDetail {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Why it has its status, where there is more to say.
    pub reason: Option<String>,
    /// The total of it and the sessions it continues.
    pub lineage: Totals,
    /// Its display name.
    pub title: Option<String>,
    /// Whether what was said in it was forgotten, or goes on with a conversation that was.
    pub forgotten: bool,
    /// What the agent was told to do first.
    pub prompt: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How often the agent was spoken to.
    pub turns: Option<u64>,
    /// How long it lasted.
    pub duration_ms: Option<u64>,
    /// When it last did something.
    pub last_activity_at: Option<Timestamp>,
    /// Its token usage.
    pub tokens: Option<Tokens>,
    /// How full its context is.
    pub context: Option<ContextUse>,
    /// The files it touched.
    pub files: Option<Vec<String>>,
    /// The commits it made: hash and subject.
    pub commits: Option<Vec<String>>,
    /// The files of those commits that are in this checkout, by hash.
    pub commit_files: Option<BTreeMap<String, Vec<String>>>,
    /// What it was told, in order.
    pub prompts: Option<Vec<SessionPrompt>>,
    /// The commands it ran, and how they came out.
    pub commands: Option<Vec<SessionCommand>>,
    /// The tests that failed in it.
    pub tests: Option<Vec<SessionTest>>,
    /// What it last had to do.
    pub todos: Option<Vec<SessionTodo>>,
    /// How often its context was compacted.
    pub compactions: Option<u64>,
    /// How many subagents worked for it.
    pub subagents: Option<u64>,
    /// Bytes of its transcript that are not read yet.
    pub unread: Option<u64>,
    /// Lines of its transcript of a kind that heirloom does not know.
    pub unknown_lines: Option<u64>,
}

impl Answer for SessionDetail {}

/// What a session was told.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionPrompt {
    /// When.
    pub at: Option<Timestamp>,
    /// Who said it.
    #[schemars(extend("enum" = ["person", "program", "agent", "unknown"]))]
    pub by: String,
    /// The words; secrets are redacted.
    pub text: String,
    /// Whether the person went back and said something else instead.
    pub rewound: bool,
}

/// A command that a session ran.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionCommand {
    /// When.
    pub at: Option<Timestamp>,
    /// The command line; secrets are redacted.
    pub command: String,
    /// How it exited, where that is known.
    pub exit: Option<i32>,
    /// Whether it failed; `null` while there is no answer.
    pub failed: Option<bool>,
    /// The line that says why.
    pub error: Option<String>,
}

/// A test that failed in a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionTest {
    /// Its name.
    pub name: String,
    /// When it last failed.
    pub failed_at: Option<Timestamp>,
    /// Whether it has passed since.
    pub passed_since: bool,
}

/// Something a session had to do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionTodo {
    /// The words; secrets are redacted.
    pub text: String,
    /// How far it is.
    #[schemars(extend("enum" = ["open", "begun", "done", "dropped"]))]
    pub state: String,
}

impl SessionDetail {
    /// Adds what the agent's own transcript says. What launched it is known better; the rest is not.
    pub fn learn(&mut self, facts: &KnownFacts) {
        let of = &facts.session;
        self.title = self.title.take().or_else(|| of.title.clone());
        let first = facts.turns.first().map(|turn| turn.text.clone());
        self.prompt = self.prompt.take().or(first);
        self.model = of.model.clone().or(self.model.take());
        self.session.cost_usd = self.session.cost_usd.or(of.cost_usd);
        self.session.branch = self.session.branch.take().or(of.branch.clone());
        self.turns = Some(of.turns);
        self.last_activity_at = of.last_at;
        let lasted = of.first_at.zip(of.last_at).and_then(|(first, last)| {
            u64::try_from(last.as_millisecond() - first.as_millisecond()).ok()
        });
        self.duration_ms = self.duration_ms.or(lasted);
        if let (None, Some(tokens)) = (&self.tokens, of.tokens) {
            let input = tokens.input + tokens.cache_read + tokens.cache_write;
            self.session.input_tokens = Some(input);
            self.session.output_tokens = Some(tokens.output);
            self.tokens = Some(Tokens { input, output: tokens.output });
        }
        self.context = of.context_used.map(|used| ContextUse { used, window: of.context_window });
        let edited = facts.files.iter().filter(|file| file.edited);
        self.files = Some(edited.map(|file| file.path.clone()).collect());
        let commit = |commit: &CommitFacts| format!("{} {}", commit.hash, commit.subject);
        self.commits = Some(facts.commits.iter().map(commit).collect());
        self.prompts = Some(facts.turns.iter().map(SessionPrompt::from).collect());
        self.commands = Some(facts.commands.iter().map(SessionCommand::from).collect());
        self.tests = Some(facts.tests.iter().map(SessionTest::from).collect());
        let todo =
            |todo: &TodoFacts| SessionTodo { text: todo.text.clone(), state: todo.state.clone() };
        self.todos = Some(facts.todos.iter().map(todo).collect());
        self.compactions = Some(of.compactions);
        self.subagents = Some(of.subagents);
        self.unread = Some(of.unread);
        self.unknown_lines = Some(of.unknown_lines);
    }
}

impl From<&TurnFacts> for SessionPrompt {
    fn from(turn: &TurnFacts) -> Self {
        let TurnFacts { at, by, text, rewound, .. } = turn.clone();
        Self { at, by, text, rewound }
    }
}

impl From<&CommandFacts> for SessionCommand {
    fn from(command: &CommandFacts) -> Self {
        let CommandFacts { at, command, exit, failed, error, .. } = command.clone();
        Self { at, command, exit, failed, error }
    }
}

impl From<&TestFacts> for SessionTest {
    fn from(test: &TestFacts) -> Self {
        let TestFacts { name, failed_at, passed_since, .. } = test.clone();
        Self { name, failed_at, passed_since }
    }
}

impl SessionDetail {
    /// `parent` is the name of the session's parent, where it has one.
    pub fn new(here: &Here, known: &Known, parent: Option<String>, lineage: Total) -> Self {
        let session = Session::new(known, parent);
        let tokens = session.input_tokens.zip(session.output_tokens);
        let lasted = known.completed_at.map(|end| {
            u64::try_from(end.as_millisecond() - known.created_at.as_millisecond()).unwrap_or(0)
        });
        Self {
            reason: known.reason.clone(),
            lineage: lineage.into(),
            title: heirloom_engine::sessions::title(known, None),
            forgotten: capture::is_forgotten(&here.home, known.id),
            prompt: known.prompt.clone(),
            model: known.config.as_ref().ok().and_then(|config| config.model.clone()),
            turns: None,
            duration_ms: lasted,
            last_activity_at: None,
            tokens: tokens.map(|(input, output)| Tokens { input, output }),
            context: None,
            files: None,
            commits: None,
            commit_files: None,
            prompts: None,
            commands: None,
            tests: None,
            todos: None,
            compactions: None,
            subagents: None,
            unread: None,
            unknown_lines: None,
            session,
        }
    }
}
