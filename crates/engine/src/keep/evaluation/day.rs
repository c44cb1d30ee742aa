//! A scripted day: read from its file, and played into a repository.

use heirloom_core::event::NoteAdded;
use heirloom_core::id::NoteId;
use heirloom_core::note::Kind;
use heirloom_ledger::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::keep::day_story::Conversation;
use crate::keep::tests::Place;

/// A question, and what has to be in the text that answers it.
pub(super) struct Question {
    pub(super) asked: String,
    pub(super) wanted: Vec<String>,
    pub(super) unwanted: Vec<String>,
}

#[derive(Default)]
pub(super) struct Day {
    pub(super) title: String,
    pub(super) summary: String,
    pub(super) questions: Vec<Question>,
    lines: Vec<String>,
}

/// What was said and done in one session, as text.
#[derive(Default)]
pub(super) struct Played {
    pub(super) prompts: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) said: Vec<String>,
    /// Everything, in order.
    pub(super) all: Vec<String>,
}

impl Day {
    pub(super) fn parse(text: &str) -> Self {
        let mut day = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(title) = line.strip_prefix("title: ") {
                day.title = title.to_owned();
            } else if let Some(summary) = line.strip_prefix("summary: ") {
                day.summary = summary.to_owned();
            } else if let Some(question) = line.strip_prefix("? ") {
                day.questions.push(asked(question));
            } else {
                day.lines.push(line.to_owned());
            }
        }
        assert!(!day.title.is_empty() && !day.summary.is_empty() && day.questions.len() >= 6);
        day
    }

    /// Plays it: every session is written down by its agent and taken in at its end.
    pub(super) fn play(&self, place: &mut Place) -> Vec<Played> {
        let mut played = Vec::new();
        let mut session: Option<Playing> = None;
        for line in &self.lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            if word == "session" {
                played.extend(session.take().map(|playing| playing.end(place)));
                let (hour, branch) = rest.split_once(' ').expect("an hour and a branch");
                session = Some(Playing::begin(hour.parse().expect("an hour"), branch));
            } else {
                let playing = session.take().expect("a session comes first");
                session = Some(playing.does(word, rest));
            }
        }
        played.extend(session.map(|playing| playing.end(place)));
        played
    }
}

fn asked(line: &str) -> Question {
    let (asked, answer) = line.split_once(" => ").expect("a question and its answer");
    let parts = answer.split("; ").map(str::to_owned);
    let (unwanted, wanted): (Vec<String>, Vec<String>) =
        parts.partition(|part| part.starts_with('!'));
    let unwanted = unwanted.iter().map(|part| part[1..].to_owned()).collect();
    Question { asked: asked.to_owned(), wanted, unwanted }
}

/// A session that is being played.
struct Playing {
    conversation: Conversation,
    branch: String,
    notes: Vec<(Kind, String, bool)>,
    played: Played,
}

impl Playing {
    fn begin(hour: u32, branch: &str) -> Self {
        let conversation = Conversation::new(hour).on(branch);
        let (notes, played) = (Vec::new(), Played::default());
        Self { conversation, branch: branch.to_owned(), notes, played }
    }

    fn does(mut self, word: &str, rest: &str) -> Self {
        match word {
            ">" => {
                self.played.prompts.push(rest.to_owned());
                self.tell(format!("user: {rest}"));
                self.conversation = self.conversation.prompt(rest);
            }
            "say" => {
                self.played.said.push(rest.to_owned());
                self.tell(format!("assistant: {rest}"));
                self.conversation = self.conversation.say(rest);
            }
            "$" => return self.runs(rest),
            "edit" => {
                self.played.files.push(rest.to_owned());
                return self.uses("Edit", &json!({"file_path": rest}), rest, "done");
            }
            "read" => {
                for index in 0..rest.parse::<usize>().expect("a number") {
                    let path = format!("src/part_{index}.rs");
                    let text = format!("fn part_{index}() {{\n{}}}\n", "    step();\n".repeat(40));
                    self = self.uses("Read", &json!({"file_path": path}), &path, &text);
                }
            }
            "commit" => {
                let (_, subject) = rest.split_once(' ').expect("a hash and a subject");
                let printed = format!("[{} {rest}]", self.branch).replacen(
                    &format!(" {subject}]"),
                    &format!("] {subject}"),
                    1,
                );
                let command = format!("git commit -am '{subject}'");
                self = self.uses("Bash", &json!({"command": command}), &command, &printed);
            }
            "todo" => {
                let one = |item: &str| {
                    let (state, text) = item.split_once(' ').expect("a state and a text");
                    let status = if state == "done" { "completed" } else { "pending" };
                    json!({"content": text, "status": status})
                };
                let todos: Vec<Value> = rest.split("; ").map(one).collect();
                self = self.uses("TodoWrite", &json!({"todos": todos}), rest, "ok");
            }
            "compact" => {}
            kind => self.notes.push((kind_of(kind), rest.to_owned(), kind == "replace")),
        }
        self
    }

    fn tell(&mut self, text: String) {
        self.played.all.push(text);
    }

    fn runs(mut self, rest: &str) -> Self {
        let (command, result, failed) = match (rest.split_once(" !> "), rest.split_once(" => ")) {
            (Some((command, result)), _) => (command, result, true),
            (None, Some((command, result))) => (command, result, false),
            (None, None) => (rest, "", false),
        };
        let result = result.replace("\\n", "\n");
        self.tell(format!("$ {command}\n{result}"));
        self.conversation = self.conversation.bash(command, &result, failed);
        self
    }

    fn uses(mut self, tool: &str, input: &Value, shown: &str, result: &str) -> Self {
        self.tell(format!("{tool} {shown}\n{result}"));
        self.conversation = self.conversation.tool(tool, input, result, false);
        self
    }

    /// The session ends: its transcript is taken in, and what its agent noted is in the ledger.
    fn end(self, place: &mut Place) -> Played {
        let id = self.conversation.id.parse().expect("an id");
        let name = format!("day-{}", &self.conversation.id[..8]);
        let session = place.known(id, &name, None);
        let mut last = None;
        for (kind, text, replaces) in self.notes {
            let (text, why) = match text.split_once(" -- ") {
                Some((text, why)) => (text.to_owned(), Some(why.to_owned())),
                None => (text, None),
            };
            let note = NoteId::new(Uuid::new_v4());
            let supersedes = if replaces { last.or_else(|| place.last_decision()) } else { None };
            let added =
                NoteAdded { rationale: why, supersedes, ..NoteAdded::new(note, kind, &text) };
            let scope = Scope::session(session.id, &session.repo);
            place.ledger.append(place.here.clock.now(), scope, &added).expect("noted");
            if kind == Kind::Decision {
                last = Some(note);
            }
        }
        self.conversation.take_in(place);
        self.played
    }
}

fn kind_of(word: &str) -> Kind {
    match word {
        "decide" | "replace" => Kind::Decision,
        "next" => Kind::NextStep,
        "warn" => Kind::Warning,
        "question" => Kind::Question,
        "learn" => Kind::Learning,
        "done" => Kind::Progress,
        other => panic!("a day has no line `{other}`"),
    }
}
