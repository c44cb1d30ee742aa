//! `sessions distill`: the agent of a session that ended looks back once, and proposes notes.
//!
//! It is started with no hooks of ours and in an empty directory, so that its own conversation is no work of
//! this repository and does not begin the same again. What it proposes is recorded only if what it quotes
//! stands where it says, and as proposed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heirloom_agents::process::SpawnError;
use heirloom_agents::{
    Agent, Conversation, Event, Finished, Input, Launch, LaunchError, Next, Outcome, Process, Taps,
    by_name,
};
use heirloom_core::distill::{self, Answer, Proposal, Quote};
use heirloom_core::evidence::Evidence;
use heirloom_core::ground::{self, Search, Text, fold, says_enough};
use heirloom_core::id::SessionId;
use heirloom_core::note::Note;
use heirloom_core::recover::Told;
use heirloom_core::session::Session;
use heirloom_core::settings::{Distill, OnOff, Settings};
use heirloom_core::trust::person::{Action, NotAPerson};
use heirloom_ledger::{Error, Ledger, NoteFilter};
use heirloom_repo::{FileError, child, file, open_lock};
use uuid::Uuid;

use super::copies::{self, Copy};
use super::known;
use crate::evidence::Symbol;
use crate::here::Here;
use crate::keep;
use crate::notes::NewNote;
use crate::person;
use crate::session::chooses_ids;

/// An agent that has not answered by then will not.
const PATIENCE: Duration = Duration::from_mins(5);
/// So many files that were changed are shown to it, the last ones.
const MOST_FILES: usize = 6;
/// The newest so many notes of the repository are not proposed again.
const MOST_NOTED: usize = 500;
/// The newest so many of them it is told of.
const MOST_TOLD: usize = 40;

/// What the names of the directories begin with that an agent is given to start.
const SCRATCH: &str = "distill-";

/// What came of it.
#[derive(Debug, Default)]
pub struct Distilled {
    /// What was recorded, each as proposed.
    pub notes: Vec<Note>,
    /// What was not: its words, and why.
    pub refused: Vec<(String, String)>,
    /// What the agent said it cost.
    pub cost_usd: Option<f64>,
}

/// Why nothing could be distilled.
#[derive(Debug, thiserror::Error)]
pub enum DistillError {
    /// Somebody else than a person asked for it.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    /// No agent could be asked.
    #[error("{name} has no agent that could propose notes")]
    NoAgent { name: String },
    /// Nothing would keep the agent from doing more than answer.
    #[error("{agent} cannot be restricted to answering, so it is not asked")]
    Unconfined { agent: &'static str },
    /// There is nothing to look back on.
    #[error("nothing that {name} did was imported")]
    Nothing { name: String },
    /// The agent cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The agent did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The agent did not answer.
    #[error("{agent} did not answer: {why}")]
    NoAnswer { agent: &'static str, why: String },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger or the facts failed.
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// How much of a session was looked back on.
fn mark(home: &Path, session: SessionId) -> PathBuf {
    home.join("capture").join("distilled").join(session.to_string())
}

/// A look back on a session that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct LookBack<'a> {
    pub settings: &'a Settings,
    pub session: &'a Session,
    /// Which symbol encloses a line, where that can be said.
    pub symbol: Option<Symbol>,
    /// Whether nobody asked for it: the session ended, and the settings want it.
    pub is_unasked: bool,
}

/// Has the agent of a session look back on it. Once for as much as it did: where nothing is new, nobody is
/// asked.
pub fn distill(
    here: &Here,
    ledger: &mut Ledger,
    wanted: LookBack<'_>,
) -> Result<Distilled, DistillError> {
    if !wanted.is_unasked {
        // It starts an agent, with what the person lets one do, and the person pays.
        person::allow(here, ledger, Action::Widen)?;
    } else if !is_due(here, ledger, wanted.settings, wanted.session)? {
        return Ok(Distilled::default());
    }
    let session = wanted.session;
    // One at a time: several agents that end at once would have the person pay for all of them at once.
    let lock = open_lock(&here.home.join("capture").join("distill.lock")).ok();
    let held = lock.filter(|file| file.lock().is_ok());
    if held.is_some() {
        sweep(&here.home);
    }
    let name = session.name.to_string();
    let told = told(here, session)?.ok_or_else(|| DistillError::Nothing { name: name.clone() })?;
    let done = mark(&here.home, session.id);
    let turns = told.turns.len().to_string();
    if file::read_to_string(&done).is_ok_and(|before| before == turns) {
        return Ok(Distilled::default());
    }
    let agent = session.agent.as_deref().and_then(by_name);
    let agent = agent.ok_or(DistillError::NoAgent { name })?;
    let repo = Some(here.place.repo.as_str());
    let newest = NoteFilter { repo, limit: Some(MOST_NOTED), ..NoteFilter::default() };
    let noted: Vec<String> = ledger.notes(&newest)?.into_iter().map(|note| note.text).collect();
    let told_of = &noted[noted.len().saturating_sub(MOST_TOLD)..];
    let prompt = distill::prompt(&told, told_of, &files(here, &told));
    let finished = ask(here, wanted.settings, agent, session.id, &prompt)?;
    // A look-back takes minutes, and its words would bring back what was forgotten meanwhile.
    if super::marks::is_forgotten(&here.home, session.id) {
        copies::remove(here, session.id, &mut Vec::new());
        return Ok(Distilled::default());
    }
    let answer = answered(agent, &finished)?;
    let mut distilled =
        Distilled { notes: Vec::new(), refused: answer.refused, cost_usd: finished.tally.cost_usd };
    let mut known: HashSet<String> = noted.iter().map(|text| fold(text).to_lowercase()).collect();
    for proposal in answer.proposals {
        let text = proposal.text.clone();
        let recorded = if known.insert(fold(&text).to_lowercase()) {
            checked(here, &told, proposal).and_then(|new| record(here, ledger, &wanted, agent, new))
        } else {
            Err("it is noted already".to_owned())
        };
        match recorded {
            Ok(note) => distilled.notes.push(note),
            Err(why) => distilled.refused.push((text, why)),
        }
    }
    // What cannot be marked is asked about again, which only costs.
    if let Some(directory) = done.parent() {
        let _ = heirloom_repo::make_private_dir(directory);
    }
    let _ = heirloom_repo::replace_private(&done, turns.as_bytes());
    Ok(distilled)
}

/// Removes what look-backs left that were ended in the middle. Only for whoever holds the lock: nobody else looks
/// back then.
fn sweep(home: &Path) {
    for entry in std::fs::read_dir(home.join("scratch")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
            let _ = file::remove_dir_all(entry.path());
        }
    }
}

/// Whether a session that ended is looked back on without anybody asking: only where the person wants that, and
/// only where somebody sat at it. A program that starts an agent a hundred times would have the person pay for a
/// hundred look-backs.
fn is_due(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    session: &Session,
) -> Result<bool, Error> {
    if settings.capture.distill != Distill::On {
        return Ok(false);
    }
    let archive = settings.capture.archive == OnOff::On;
    // The hook that started this read a piece only. What cannot be read is looked back on as far as it was.
    let _ = known::catch_up(here, ledger, session, archive);
    let facts = super::facts(&here.home)?.map(|facts| facts.session(session.id)).transpose()?;
    Ok(facts.flatten().is_none_or(|known| known.interactive != Some(false)))
}

/// What the agent answered, if it did.
fn answered(agent: &'static dyn Agent, finished: &Finished) -> Result<Answer, DistillError> {
    let no_answer = |why: String| DistillError::NoAnswer { agent: agent.name(), why };
    if finished.outcome != Outcome::Success {
        return Err(no_answer(finished.outcome.to_string()));
    }
    let said = finished.tally.text.as_deref().unwrap_or_default();
    distill::answer(said).ok_or_else(|| no_answer("no list of notes".to_owned()))
}

/// Records a proposal as one, or says why it cannot be.
fn record(
    here: &Here,
    ledger: &mut Ledger,
    wanted: &LookBack<'_>,
    agent: &'static dyn Agent,
    new: NewNote,
) -> Result<Note, String> {
    let (session, symbol) = (Some(wanted.session.id.to_string()), wanted.symbol);
    let proposed_by = Some(agent.name().to_owned());
    let new = NewNote { session, symbol, proposed_by, ..new };
    let noted = keep::record(here, ledger, &here.place.root, new);
    noted.map(|noted| noted.note).map_err(|error| heirloom_core::causes::told(&error))
}

fn told(here: &Here, session: &Session) -> Result<Option<Told>, Error> {
    let Some(facts) = super::facts(&here.home)? else { return Ok(None) };
    let sources = facts.sources(session.id)?;
    sources.first().map(|own| keep::told(&facts, own)).transpose()
}

/// The look-back is a conversation that its agent may keep, with the words of the session in it: it goes with
/// them, also where this process is ended in the middle of it.
fn remember(
    home: &Path,
    agent: &'static dyn Agent,
    session: SessionId,
    id: &str,
) -> Result<(), FileError> {
    let copy = Copy { agent: agent.name().to_owned(), id: id.to_owned(), path: None };
    copies::remember(home, session, &copy)
}

/// The files that the session changed last and that are still there, with their text.
fn files(here: &Here, told: &Told) -> Vec<(String, String)> {
    let root = &here.place.root;
    let mut changed: Vec<_> = told.files.iter().filter(|file| file.edited).collect();
    changed.sort_by_key(|file| std::cmp::Reverse(file.at));
    let read = |path: &String| {
        let path = Path::new(path);
        let inside = path.strip_prefix(root).unwrap_or(path);
        let text = heirloom_repo::read_within(root, &root.join(inside)).ok()??;
        Some((inside.to_string_lossy().into_owned(), text))
    };
    changed.iter().filter_map(|file| read(&file.path)).take(MOST_FILES).collect()
}

/// Starts the agent, and waits for what it says.
fn ask(
    here: &Here,
    settings: &Settings,
    agent: &'static dyn Agent,
    session: SessionId,
    prompt: &str,
) -> Result<Finished, DistillError> {
    let only = agent.answers_only();
    let only = only.ok_or(DistillError::Unconfined { agent: agent.name() })?;
    let own = chooses_ids(agent).then(|| Uuid::new_v4().to_string());
    if let Some(id) = &own {
        remember(&here.home, agent, session, id)?;
    }
    let scratch = here.home.join("scratch").join(format!("{SCRATCH}{session}"));
    // Always the same one: some agents remember every directory that they were started in.
    let empty = here.home.join("capture").join("empty");
    for directory in [&scratch, &empty] {
        heirloom_repo::make_private_dir(directory).map_err(FileError::new("make", directory))?;
    }
    let mut env = heirloom_agents::env::pass_on(&here.env, agent, None);
    // Its hooks stay silent: it would be asked to look back on itself.
    env.insert("HEIRLOOM_DISABLE".into(), "1".into());
    let launch = Launch {
        config: &only.config,
        prompt,
        conversation: Conversation::New(own.as_deref()),
        input: Input::Once,
        cwd: &empty,
        env: &env,
        programs: &crate::agents::programs(here, Some(settings)),
        scratch: &scratch,
        as_root: rustix::process::geteuid().is_root(),
    };
    let finished = agent.launch(&launch).map_err(DistillError::from).and_then(|mut line| {
        for arg in only.args {
            line.arg(arg);
        }
        let process = Process::spawn(agent, line, Taps::default())?;
        Ok(wait(process, |id| {
            // One that chooses its own id says it before it asks its model. It is under way: what cannot be
            // written down now is not worth ending it.
            if agent.takes_id(id) {
                let _ = remember(&here.home, agent, session, id);
            }
        }))
    });
    let _ = file::remove_dir_all(&scratch);
    finished
}

fn wait(mut process: Process, named: impl Fn(&str)) -> Finished {
    let begun = Instant::now();
    loop {
        match process.next_line_within(Duration::from_secs(1)) {
            Next::End => break,
            Next::Line(line) if begun.elapsed() < PATIENCE => {
                for event in &line.parsed.events {
                    if let Event::Started { agent_session_id, .. } = event {
                        named(agent_session_id);
                    }
                }
            }
            Next::Silence | Next::Retry(_) if begun.elapsed() < PATIENCE => {}
            _ => {
                process.stopper().kill();
                break;
            }
        }
    }
    process.finish()
}

/// The note that a proposal becomes, where what it quotes stands where it says.
fn checked(here: &Here, told: &Told, proposal: Proposal) -> Result<NewNote, String> {
    let mut new = NewNote::new(proposal.kind, proposal.text);
    new.rationale = proposal.because;
    match proposal.quote {
        Quote::Prompt(words) => {
            if !distill::is_of_prompt(&words, &told.turns) {
                return Err("nobody said what it quotes".to_owned());
            }
            let said = format!("\"{}\"", fold(&words));
            new.rationale = Some(match new.rationale {
                Some(because) => format!("{because} ({said})"),
                None => said,
            });
        }
        Quote::File { path, words } => {
            if !says_enough(&fold(&words)) {
                return Err("what it quotes says too little".to_owned());
            }
            new.evidence.push(place(&here.place.root, &path, &words)?);
        }
    }
    Ok(new)
}

/// Where a quote stands in a file of the repository.
fn place(root: &Path, path: &str, words: &str) -> Result<Evidence, String> {
    let inside = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
    let text = heirloom_repo::read_within(root, &root.join(inside)).ok().flatten();
    let text = text.ok_or_else(|| format!("there is no file {path} in the repository"))?;
    // As every claim is checked: whole words, and not where a comment only mentions them.
    let Search::Elsewhere(lines) =
        Text::of(path, &text).search(ground::Quote::part(&fold(words)), 0, 0)
    else {
        return Err(format!("{path} does not say what it quotes"));
    };
    let quoted = words.trim();
    let more = u32::try_from(quoted.lines().count()).unwrap_or(u32::MAX).saturating_sub(1);
    let end_line = (more > 0).then(|| lines[0].saturating_add(more));
    let path = inside.to_string_lossy().into_owned();
    Ok(Evidence { end_line, quote: Some(quoted.to_owned()), ..Evidence::at(path, lines[0]) })
}

/// Starts a process that does this for a session, and does not wait for it.
pub fn wake_distiller(here: &Here, program: &Path, session: SessionId) {
    use std::os::unix::process::CommandExt as _;
    let mut command = child::silent(program);
    command.args(["sessions", "distill", &session.to_string(), "--background"]);
    // The child is adopted by init when the hook ends; a hook lives for milliseconds.
    let _ = command.current_dir(&here.place.root).process_group(0).spawn();
}
