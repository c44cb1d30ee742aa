//! How the work stands, from what the last sessions did: nobody has to note it.
//!
//! Facts of several sessions, newest first, become what a context that begins has to know: what the person
//! asked for in their own words, what still fails, what is still to be done, what they laid down, and what
//! was tried in vain. Pure: who gathers the facts, and for which sessions, is elsewhere.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};

use super::entry::plain;
use super::{TRIED, replaced, sentences};
use crate::facts::signs::commits_changes;
use crate::facts::{
    CommandFacts, CommitFacts, FileFacts, TestFacts, TestRun, TodoFacts, TurnFacts,
    asks_where_it_stands,
};
use crate::recall::remedy::signature;
use crate::rules;

/// What is known of one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// Whether a person sat before it.
    pub interactive: bool,
    /// Whether it belongs to the lineage or the branch of what begins.
    pub near: bool,
    /// Its prompts, in order.
    pub turns: Vec<TurnFacts>,
    /// Its commands, in order.
    pub commands: Vec<CommandFacts>,
    /// Its commits, in order.
    pub commits: Vec<CommitFacts>,
    /// Tests that failed in it.
    pub tests: Vec<TestFacts>,
    /// What there is to do.
    pub todos: Vec<TodoFacts>,
    /// The files it touched.
    pub files: Vec<FileFacts>,
}

/// How the work stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// In lines, the most needed first.
    pub lines: Vec<String>,
    /// What is still to be done, in its order.
    pub todos: Vec<String>,
    /// What the person laid down, newest first: the words, and when they fell. Which of them a person has kept or
    /// dropped is not known here; of the others [`MOST_SAID`] are quoted.
    pub said: Vec<(String, Timestamp)>,
    /// What was asked for before that, newest first.
    pub earlier: Vec<Earlier>,
    /// What was given up in near sessions and the last one.
    pub given_up: Vec<GivenUp>,
}

/// Something that a person gave up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// What, in lower case.
    pub what: String,
    pub at: Option<Timestamp>,
    /// Whether a person typed it, at work on the same thing. What was piped, pasted or said on another branch takes
    /// back no decision.
    pub is_decided: bool,
}

impl Standing {
    /// What of a text still stands that was written `then`: what was given up before may have been taken up again.
    pub fn still(&self, text: &str, then: Option<Timestamp>) -> String {
        let is_since = |gone: &&GivenUp| gone.at.is_none_or(|at| then.is_none_or(|then| at > then));
        let gone = self.given_up.iter().filter(is_since).map(|gone| gone.what.clone());
        replaced::without(text, &gone.collect::<Vec<_>>())
    }

    /// Whether what was written down then speaks for nothing but what a person gave up since.
    pub fn is_taken_back(&self, text: &str, then: Timestamp) -> bool {
        let is_since = |gone: &&GivenUp| gone.is_decided && gone.at.is_some_and(|at| at > then);
        let since = self.given_up.iter().filter(is_since);
        let since: Vec<String> = since.map(|gone| gone.what.clone()).collect();
        replaced::is_taken_back(text, &since)
    }
}

/// Something that was asked for a while ago.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    pub text: String,
    /// Whether they choose one thing over another, or say why: that holds longer than an order.
    pub chooses: bool,
}

/// Prompts of the last session that are quoted, newest first.
const MOST_PROMPTS: usize = 2;
/// Prompts before those that are looked at.
const MOST_EARLIER: usize = 16;
/// Commits of the last session that are named, newest first.
const MOST_COMMITS: usize = 3;
/// Things that fail that are named.
const MOST_FAILING: usize = 4;
/// Files that are named.
const MOST_FILES: usize = 6;
/// Rules nobody confirmed that are quoted.
pub const MOST_SAID: usize = 3;
/// After so long a rule that nobody confirmed is forgotten.
const SAID_HOLDS: SignedDuration = SignedDuration::from_hours(14 * 24);
/// A quote is not longer than this, in characters.
const LONGEST: usize = 220;

/// How the work stands after `sessions`, newest first.
pub fn standing(sessions: &[Told], now: Timestamp) -> Standing {
    let (mut lines, said) = (Vec::new(), said(sessions, now));
    // What lays a rule down and nothing else is told as the rule.
    let rules: HashSet<&str> =
        said.iter().take(MOST_SAID).map(|(words, _)| words.as_str()).collect();
    let asks = |asked: &Asked<'_>| !rules.contains(plain(&asked.text).as_str());
    let mut gone = Vec::new();
    let last = sessions.iter().position(|told| !told.turns.is_empty());
    let all = MOST_PROMPTS + MOST_EARLIER;
    let mut said_last =
        last.map(|last| still_said(&sessions[last], &mut gone, all)).unwrap_or_default();
    if said_last.iter().any(asks) {
        said_last.retain(asks);
    }
    let rest = said_last.split_off(said_last.len().min(MOST_PROMPTS));
    lines.extend(asked(&said_last));
    lines.extend(failing(sessions));
    lines.extend(done(sessions));
    // What somebody on another branch still has to do is theirs, unless nobody was at work here.
    let is_begun = sessions.iter().any(|told| told.near);
    let with_todos =
        sessions.iter().find(|told| (told.near || !is_begun) && !told.todos.is_empty());
    let mut said_before = Vec::new();
    for (index, told) in sessions.iter().enumerate() {
        if Some(index) == last {
            said_before.extend(rest.iter().filter(|_| told.near).cloned());
        } else if told.near {
            let most = MOST_EARLIER.saturating_sub(said_before.len());
            said_before.extend(still_said(told, &mut gone, most).into_iter().filter(asks));
        }
    }
    let todos = with_todos.map(|told| still_to_do(told, &gone)).unwrap_or_default();
    Standing { lines, todos, earlier: earlier(said_before, &said_last), given_up: gone, said }
}

/// What a session left to do, in its order, without what a person gave up after it.
fn still_to_do(told: &Told, gone: &[GivenUp]) -> Vec<String> {
    let last = told.turns.iter().filter_map(|turn| turn.at).max();
    let is_since = |gone: &&GivenUp| gone.is_decided && last.is_some() && gone.at > last;
    let since: Vec<String> = gone.iter().filter(is_since).map(|gone| gone.what.clone()).collect();
    let stands = |todo: &&TodoFacts| todo.is_open() && !replaced::is_taken_back(&todo.text, &since);
    told.todos.iter().filter(stands).map(|todo| quote(&todo.text)).collect()
}

/// Something that a person asked for, without what was taken back since.
#[derive(Debug, Clone)]
struct Asked<'a> {
    turn: &'a TurnFacts,
    text: String,
}

/// The prompts of a session of which something still stands, newest first. What they give up is `gone` for those before.
/// At most `most` of them: a context that begins waits for it.
fn still_said<'a>(told: &'a Told, gone: &mut Vec<GivenUp>, most: usize) -> Vec<Asked<'a>> {
    let mut found = Vec::new();
    for turn in told.turns.iter().rev().filter(|turn| !turn.rewound) {
        if found.len() == most {
            break;
        }
        let words: Vec<String> = gone.iter().map(|gone: &GivenUp| gone.what.clone()).collect();
        let text = replaced::without(&turn.text, &words);
        let is_decided = told.interactive && told.near && turn.by == "person";
        let now = replaced::given_up(&turn.text).into_iter();
        gone.extend(now.map(|what| GivenUp { what, at: turn.at, is_decided }));
        if says_something(&text) {
            found.push(Asked { turn, text });
        }
    }
    found
}

/// What was asked for before what was asked last, in near sessions.
fn earlier(before: Vec<Asked<'_>>, last: &[Asked<'_>]) -> Vec<Earlier> {
    let mut seen: HashSet<&str> = last.iter().map(|asked| asked.turn.text.as_str()).collect();
    let mut found = Vec::new();
    for asked in before {
        if seen.insert(&asked.turn.text) {
            let chooses = chooses(&asked.text);
            found.push(Earlier { text: format!("\"{}\"", quote(&asked.text)), chooses });
        }
        if found.len() == MOST_EARLIER {
            break;
        }
    }
    found
}

/// Whether a prompt says what is to be used, and not only what is to be done.
fn chooses(text: &str) -> bool {
    const SIGNS: [&str; 23] = [
        "instead",
        "rather than",
        "because",
        "go with",
        "let's use",
        "let's just",
        "let's do",
        "let's go",
        "lets use",
        "lets just",
        "lets do",
        "going with",
        "stick with",
        "scrap ",
        "we use",
        "we will",
        "use the",
        "switch to",
        "replace",
        "prefer",
        "decided",
        "not after",
        "must still",
    ];
    let text = text.to_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign))
}

pub(super) fn quote(text: &str) -> String {
    sentences::fitting(&plain(text), LONGEST)
}

/// What was asked for last, in the person's words.
fn asked(last: &[Asked<'_>]) -> Vec<String> {
    let line = |(index, asked): (usize, &Asked<'_>)| {
        let first = if index == 0 { "Asked last" } else { "Before that" };
        format!("{first}: \"{}\"", quote(&asked.text))
    };
    last.iter().enumerate().map(line).collect()
}

/// "yes", "go on", "continue" and "where were we" say nothing to who was not there.
fn says_something(text: &str) -> bool {
    plain(text).split_whitespace().count() >= 3 && !asks_where_it_stands(text)
}

/// What failed last and has not succeeded since, in any later session either.
fn failing(sessions: &[Told]) -> Vec<String> {
    let (mut lines, mut seen) = (Vec::new(), HashSet::new());
    // What succeeded in later sessions: test runs by their words, other commands by what they run.
    let (mut later_runs, mut passed): (Vec<Run<'_>>, HashSet<String>) = Default::default();
    for told in sessions {
        let runs: Vec<Run<'_>> = told.commands.iter().filter_map(Run::of).collect();
        let broken = told.tests.iter().filter(|test| !test.passed_since);
        for test in broken.filter(|test| !is_mended(test, &runs, &later_runs)) {
            if seen.insert(test.name.clone()) {
                let failed = runs.iter().rev().find(|run| run.failed).map(|run| run.command);
                lines.push(format!(
                    "Failing: {}{}",
                    plain(&test.name),
                    failed.map_or_else(String::new, why)
                ));
            }
        }
        // What a test runner says last is said by its tests.
        // One that a crash left unanswered says nothing: the one before it does.
        let ended = told.commands.iter().rfind(|command| command.failed.is_some());
        let last = ended.filter(|command| command.failed == Some(true));
        if let Some(command) = last.filter(|last| told.tests.is_empty() || !last.is_test)
            && !passed.contains(&program(&command.command))
            && seen.insert(command.command.clone())
        {
            // What the command itself says is not said twice.
            let is_said = command.error.as_ref().is_some_and(|why| command.command.contains(why));
            let why = if is_said { String::new() } else { why(command) };
            lines.push(format!("Failed last: `{}`{why}", quote(&command.command)));
        }
        let succeeded = told.commands.iter().filter(|command| command.failed == Some(false));
        passed.extend(succeeded.map(|command| program(&command.command)));
        later_runs.extend(runs.into_iter().filter(|run| !run.failed));
    }
    lines.truncate(MOST_FAILING);
    lines
}

/// What a command said went wrong, behind what is said of it.
fn why(command: &CommandFacts) -> String {
    command.error.as_deref().map(|error| format!(": {}", quote(error))).unwrap_or_default()
}

/// A test run that ended.
struct Run<'a> {
    command: &'a CommandFacts,
    tests: TestRun<'a>,
    failed: bool,
}

impl<'a> Run<'a> {
    fn of(command: &'a CommandFacts) -> Option<Self> {
        // A day has hundreds of commands, and most run no tests: those are not read again.
        let tests = command.is_test.then(|| TestRun::of(&command.command)).flatten()?;
        Some(Self { command, tests, failed: command.failed? })
    }
}

/// Whether the run in which a test failed succeeded later on, without naming the test: few runners name
/// what passes.
fn is_mended(test: &TestFacts, runs: &[Run<'_>], later: &[Run<'_>]) -> bool {
    let failed = runs.iter().enumerate().filter(|(_, run)| run.failed);
    let in_turn: Vec<_> =
        failed.clone().filter(|(_, run)| run.command.turn == test.failed_in).collect();
    // Where it is not known in which it failed, it may have been in any.
    let failed: Vec<_> = if in_turn.is_empty() { failed.collect() } else { in_turn };
    let succeeded = |(at, run): &(usize, &Run<'_>)| {
        let since = runs[at + 1..].iter().filter(|run| !run.failed);
        since.chain(later).any(|other| other.tests.covers(&run.tests))
    };
    !failed.is_empty() && failed.iter().all(succeeded)
}

/// What a command line runs: its program and what it is told to do, without options and variables.
fn program(command: &str) -> String {
    let words =
        command.split_whitespace().filter(|word| !word.contains('=') && !word.starts_with('-'));
    let words: Vec<&str> = words.take(2).collect();
    words.join(" ")
}

/// What was committed last, and what the last session did not commit.
fn done(sessions: &[Told]) -> Vec<String> {
    let mut lines = Vec::new();
    let near = |told: &&Told| told.near && !told.commits.is_empty();
    let commits = sessions.iter().find(near).into_iter().flat_map(|told| told.commits.iter().rev());
    let commits: Vec<String> = commits
        .take(MOST_COMMITS)
        .map(|commit| format!("{} {}", commit.hash, plain(&commit.subject)))
        .collect();
    if !commits.is_empty() {
        lines.push(format!("Committed: {}", commits.join("; ")));
    }
    let Some(told) = sessions.first() else { return lines };
    let since = uncommitted(told);
    let files: Vec<&str> = since.iter().take(MOST_FILES).map(|file| file.path.as_str()).collect();
    if !files.is_empty() {
        let more = since.len() - files.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("Edited and not committed: {}{more}", files.join(", ")));
    }
    lines
}

/// The files that were changed after the last commit, the last one first.
pub fn uncommitted(told: &Told) -> Vec<&FileFacts> {
    // One that was made quietly has no hash that is known, and is a commit all the same.
    let made = told
        .commands
        .iter()
        .rev()
        .find(|command| command.failed == Some(false) && commits_changes(&command.command));
    let made = made.and_then(|command| command.at);
    let last = told.commits.last().and_then(|commit| commit.at).max(made);
    let mut since: Vec<&FileFacts> = told
        .files
        .iter()
        .filter(|file| file.edited && last.is_none_or(|last| file.at.is_none_or(|at| at > last)))
        .collect();
    since.sort_by_key(|file| std::cmp::Reverse(file.at));
    since
}

/// What the person laid down in near sessions of the last days: only what they typed themselves.
fn said(sessions: &[Told], now: Timestamp) -> Vec<(String, Timestamp)> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for told in sessions.iter().filter(|told| told.interactive && told.near) {
        for turn in told.turns.iter().rev().filter(|turn| turn.by == "person" && !turn.rewound) {
            let Some(at) = turn.at.filter(|at| now.duration_since(*at) < SAID_HOLDS) else {
                continue;
            };
            for rule in rules::rules(&turn.text) {
                let words = plain(&turn.text[rule.place]);
                if seen.insert(words.to_lowercase()) {
                    found.push((words, at));
                }
            }
        }
    }
    found
}

/// Something that was tried and did not work, and what did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    pub command: String,
    pub error: String,
    /// How often.
    pub times: usize,
    /// When it was last tried.
    pub at: Timestamp,
    /// What worked instead.
    pub worked: String,
}

/// So many commands after a failure are looked through for what worked.
const SOON: usize = 12;

/// What earlier `sessions`, newest first, tried in vain: the same command with the same error, which has
/// not succeeded since, where something else then worked. Never a test or a build by its command alone: it
/// fails because the code is wrong, and is right to be run again.
pub fn failures(sessions: &[Told]) -> Vec<Failure> {
    let mut found: Vec<Failure> = Vec::new();
    let mut succeeded: HashSet<&str> = HashSet::new();
    for told in sessions {
        for (index, command) in told.commands.iter().enumerate().rev() {
            let line = command.command.trim();
            if command.failed == Some(false) {
                succeeded.insert(line);
            }
            let Some(error) = command.error.as_deref().filter(|_| command.failed == Some(true))
            else {
                continue;
            };
            if command.is_test || is_build(line) || succeeded.contains(line) || line.contains('\n')
            {
                continue;
            }
            let Some(at) = command.at else { continue };
            if let Some(known) = found.iter_mut().find(|known| known.command == line) {
                known.times += usize::from(signature(&known.error) == signature(error));
                continue;
            }
            let after = told.commands.iter().skip(index + 1).take(SOON);
            let worked = after
                .filter(|other| other.failed == Some(false) && other.command.trim() != line)
                .find(|other| resembles(line, &other.command));
            if let Some(worked) = worked {
                let (error, worked) = (quote(error), quote(&worked.command));
                found.push(Failure { command: line.to_owned(), error, times: 1, at, worked });
            }
        }
    }
    found
}

/// Programs that turn code into something: they fail because of the code.
fn is_build(command: &str) -> bool {
    const BUILDS: &[&str] = &[
        "cargo build",
        "cargo check",
        "cargo clippy",
        "go build",
        "go vet",
        "make",
        "tsc",
        "npx tsc",
        "npm run",
        "pnpm build",
        "yarn build",
        "mvn",
        "gradle",
        "cmake",
        "ninja",
        "gcc",
        "cc",
        "rustc",
        "javac",
        "swift build",
    ];
    const TARGETS: &[&str] = &["make all", "make build", "make test", "make check", "make lint"];
    let program = program(command);
    // What else is made is done, not built: `make migrate`.
    if program.starts_with("make ") {
        return TARGETS.contains(&program.as_str());
    }
    BUILDS.iter().any(|build| {
        program == *build || (!build.contains(' ') && program.starts_with(&format!("{build} ")))
    })
}

/// Whether two command lines are two ways to do the same thing: they share the program, or most of their words.
pub(crate) fn resembles(one: &str, other: &str) -> bool {
    let words = |line: &str| -> HashSet<String> {
        line.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
    };
    let (one_words, other_words) = (words(one), words(other));
    let shared = one_words.intersection(&other_words).count();
    let verb = program(one);
    (!verb.is_empty() && program(other) == verb)
        || shared * 2 >= one_words.len().max(1) && shared >= 2
}

impl Failure {
    /// In one line.
    pub fn line(&self) -> String {
        format!("tried {}", self.often())
    }

    /// The same for an agent that is about to do it again.
    pub fn told(&self) -> String {
        format!("{TRIED}{}", self.often())
    }

    fn often(&self) -> String {
        let day = self.at.strftime("%A");
        let times = match self.times {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            times => format!("{times} times"),
        };
        format!("{times}, last on {day}: {}; what worked: `{}`", self.error, self.worked)
    }
}
