//! Past conversations that can be gone on with, whoever began them.
//!
//! They come from the ledger, and from what the agents keep themselves: a conversation that heirloom never
//! launched is as good as one that it did.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use heirloom_agents::transcript::{Entry, What, entry};
use heirloom_agents::{Env as AgentEnv, by_name};
use heirloom_core::id::SessionId;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Facts, Ledger, SessionFilter};
use jiff::Timestamp;

use super::search::{Query, SearchError, search};
use crate::capture::last_said;
use crate::guard::id_of;
use crate::here::Here;
use crate::reach;
use crate::sessions;

/// How many sessions are looked at.
const MOST: usize = 500;

/// How much of a transcript is read to say what it is about.
const BEGINNING: u64 = 64 << 10;

/// A past conversation.
#[derive(Debug, Clone)]
pub struct Past {
    /// The session, where the ledger has it.
    pub session: Option<Session>,
    pub agent: String,
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// Where the agent worked.
    pub directory: Option<PathBuf>,
    /// What it is called: its title, the session's name or the first prompt.
    pub title: String,
    /// What was asked first.
    pub prompt: Option<String>,
    pub branch: Option<String>,
    /// When it was last written to.
    pub at: Option<Timestamp>,
    /// Where the agent keeps it; `None` where it is gone or the agent keeps no files.
    pub transcript: Option<PathBuf>,
    /// The files it changed and the commits it made, as text to be looked through.
    pub done: String,
}

impl Past {
    /// A session's conversation, as far as the ledger alone knows it; `None` where it had none.
    pub fn of_session(here: &Here, session: &Session) -> Option<Self> {
        let (agent, id) = session.agent.clone().zip(session.agent_session_id.clone())?;
        let transcripts = by_name(&agent).and_then(heirloom_agents::Agent::transcripts);
        let transcript = transcripts.and_then(|all| all.find(&agent_env(here), &id));
        let working_dir =
            session.config.as_ref().ok().and_then(|config| config.working_dir.clone());
        Some(Self {
            agent: agent.into(),
            agent_session_id: id,
            directory: working_dir.map(PathBuf::from),
            title: sessions::title(session, None).unwrap_or_else(|| session.name.to_string()),
            prompt: session.prompt.clone(),
            branch: session.branch.clone(),
            at: Some(session.created_at),
            transcript: transcript.map(|found| found.path),
            done: String::new(),
            session: Some(session.clone()),
        })
    }

    /// Whether there is a command that goes on with it.
    pub fn is_resumable(&self) -> bool {
        self.command().is_some()
    }

    /// The command that goes on with it: its agent's, or ours where the agent has none and is driven by us.
    pub fn command(&self) -> Option<Vec<String>> {
        self.agents_command().or_else(|| {
            let session = self.session.as_ref().filter(|_| by_name(&self.agent).is_some())?;
            Some(["heirloom", "continue", session.name.as_str()].map(str::to_owned).to_vec())
        })
    }

    /// The agent's own command that goes on with it; `None` where it has none.
    pub fn agents_command(&self) -> Option<Vec<String>> {
        if let Some(agent) = by_name(&self.agent) {
            let directory = self.directory.as_deref();
            return agent.resume_command(&self.agent_session_id, directory);
        }
        heirloom_agents::others::other(&self.agent)
            .map(|other| other.resume(&self.agent_session_id))
    }

    /// Goes on in the repository where its own directory is gone, as a worktree is whose work was merged. Returns that. One
    /// of another repository has nothing to do with this one, and stays where it was.
    pub fn leave_gone_directory(
        &mut self,
        here: &Here,
        ledger: &Ledger,
    ) -> Result<Option<PathBuf>, Error> {
        if self.directory.as_ref().is_none_or(|directory| directory.is_dir()) {
            return Ok(None);
        }
        if !self.is_here(here, &ledger.names_of(&here.place.repo)?) {
            return Ok(None);
        }
        Ok(self.directory.replace(here.place.root.clone()))
    }

    /// Whether it belongs to the repository of these names.
    fn is_here(&self, here: &Here, names: &[String]) -> bool {
        let is_below = |path: &PathBuf| {
            let roots = names.iter().map(Path::new).filter(|name| name.is_absolute());
            roots.chain([here.place.root.as_path()]).any(|root| path.starts_with(root))
        };
        match &self.session {
            Some(session) => names.iter().any(|name| name == session.repo.as_str()),
            None => self.directory.as_ref().is_some_and(is_below),
        }
    }

    /// What a search knows it by; `None` where it is not searched.
    pub(super) fn key(&self) -> Option<String> {
        match &self.session {
            Some(session) => Some(session.id.to_string()),
            None => Some(super::others::key(&self.agent, self.transcript.as_deref()?)),
        }
    }

    /// Whether this is its name or its id.
    fn is_called(&self, name: &str) -> bool {
        let of_session =
            |session: &Session| session.name.as_str() == name || session.id.to_string() == name;
        self.agent_session_id == name || self.session.as_ref().is_some_and(of_session)
    }

    /// Whether all of the words are in what it is known by.
    pub(super) fn mentions(&self, words: &[String]) -> bool {
        let name =
            self.session.as_ref().map(|session| session.name.to_string()).unwrap_or_default();
        let directory =
            self.directory.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let known = [
            self.title.as_str(),
            self.prompt.as_deref().unwrap_or_default(),
            self.branch.as_deref().unwrap_or_default(),
            &self.agent,
            &self.agent_session_id,
            &name,
            &directory,
            &self.done,
        ];
        let known = known.join("\n").to_lowercase();
        words.iter().all(|word| known.contains(word))
    }
}

/// Whether an agent has a command that goes on with one of its conversations.
pub fn can_resume(agent: &str) -> bool {
    match by_name(agent) {
        Some(agent) => agent.resume_command("", None).is_some(),
        None => heirloom_agents::others::other(agent).is_some(),
    }
}

/// Past conversations, those that fit best first; the newest first where nothing is asked.
pub fn past(here: &Here, ledger: &Ledger, query: Option<&str>) -> Result<Vec<Past>, SearchError> {
    let mut all = of_ledger(here, ledger)?;
    let known: HashSet<String> = all.iter().map(|past| past.agent_session_id.clone()).collect();
    all.extend(of_agents(here, &known));
    all.sort_by_key(|past| std::cmp::Reverse(past.at));
    let refused = reach::everywhere(here, ledger).err();
    let mut others = Vec::new();
    if refused.is_some() {
        let names = ledger.names_of(&here.place.repo)?;
        (all, others) = all.into_iter().partition(|past| past.is_here(here, &names));
    }
    let Some(query) = query.map(str::trim).filter(|query| !query.is_empty()) else {
        return Ok(all);
    };
    // Other conversations may mention the name of one that is called by it.
    if all.iter().any(|past| past.is_called(query)) {
        all.retain(|past| past.is_called(query));
        return Ok(all);
    }
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let (mut fitting, rest): (Vec<Past>, Vec<Past>) =
        all.into_iter().partition(|past| past.mentions(&words));
    let ranks = ranks(here, ledger, query)?;
    let ranked = |past: &Past| ranks.get(&past.key()?).copied();
    let mut said: Vec<(usize, Past)> =
        rest.into_iter().filter_map(|past| Some((ranked(&past)?, past))).collect();
    said.sort_by_key(|(rank, _)| *rank);
    fitting.extend(said.into_iter().map(|(_, past)| past));
    match refused.filter(|_| fitting.is_empty()) {
        Some(refused) if others.iter().any(|past| past.mentions(&words)) => Err(refused.into()),
        _ => Ok(fitting),
    }
}

/// The conversations in which something like it was said ([`Past::key`]), and which of them comes first.
pub(super) fn ranks(
    here: &Here,
    ledger: &Ledger,
    query: &str,
) -> Result<HashMap<String, usize>, SearchError> {
    let everywhere = reach::everywhere(here, ledger).is_ok();
    let asked = Query { text: query.to_owned(), everywhere, limit: 50, ..Query::default() };
    let found = search(here, ledger, &asked)?;
    let mut rank: HashMap<String, usize> = HashMap::new();
    for (number, place) in found.places.into_iter().enumerate() {
        let key = place.session.map_or(place.key, |session| session.id.to_string());
        rank.entry(key).or_insert(number);
    }
    Ok(rank)
}

fn of_ledger(here: &Here, ledger: &Ledger) -> Result<Vec<Past>, Error> {
    let env = agent_env(here);
    let filter = SessionFilter { limit: MOST, ..SessionFilter::default() };
    let facts = crate::capture::facts(&here.home)?;
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    for session in ledger.sessions(&filter)?.sessions {
        let (Some(agent), Some(id)) = (session.agent.clone(), session.agent_session_id.clone())
        else {
            continue;
        };
        // The newest link of a chain of `continue` stands for all of it; of what was forgotten nothing is left.
        if !seen.insert(id.clone()) || crate::capture::is_forgotten(&here.home, session.id) {
            continue;
        }
        let transcripts = by_name(&agent).and_then(heirloom_agents::Agent::transcripts);
        let transcript = transcripts.and_then(|all| all.find(&env, &id)).map(|found| found.path);
        let about = transcript.as_deref().map(|path| about(&agent, path)).unwrap_or_default();
        let working_dir =
            session.config.as_ref().ok().and_then(|config| config.working_dir.clone());
        let prompt = session.prompt.clone().or(about.prompt);
        let told = facts.as_ref().map(|facts| facts.session(session.id)).transpose()?.flatten();
        all.push(Past {
            directory: about
                .cwd
                .or(working_dir)
                .map(PathBuf::from)
                .or_else(|| place_of(here, ledger, &session)),
            title: sessions::title(&session, about.title)
                .or_else(|| prompt.clone())
                .unwrap_or_else(|| session.name.to_string()),
            prompt,
            branch: session.branch.clone().or(about.branch),
            at: transcript
                .as_deref()
                .and_then(|path| said(&agent, path))
                .or_else(|| told.and_then(|told| told.last_at))
                .or_else(|| written(transcript.as_deref()?))
                .or(session.completed_at)
                .or(Some(session.created_at)),
            agent_session_id: id,
            agent: agent.into(),
            transcript,
            done: facts.as_ref().map(|facts| done(facts, session.id)).unwrap_or_default(),
            session: Some(session),
        });
    }
    Ok(all)
}

/// The files that a session changed and the commits it made.
fn done(facts: &Facts, session: SessionId) -> String {
    let mut done = String::new();
    for commit in facts.commits(session).unwrap_or_default() {
        let _ = writeln!(done, "{} {}", commit.hash, commit.subject);
    }
    for file in facts.files(session).unwrap_or_default().iter().filter(|file| file.edited) {
        let _ = writeln!(done, "{}", file.path);
    }
    done
}

/// Where a session's repository is on this machine.
fn place_of(here: &Here, ledger: &Ledger, session: &Session) -> Option<PathBuf> {
    let names = ledger.names_of(&here.place.repo).ok()?;
    session.repo.is_one_of(&names).then(|| here.place.root.clone())
}

/// What the agents keep that the ledger does not know.
fn of_agents(here: &Here, known: &HashSet<String>) -> Vec<Past> {
    let env = agent_env(here);
    let mut files = Vec::new();
    for agent in heirloom_agents::ALL {
        let Some(transcripts) = agent.transcripts() else { continue };
        for each in transcripts.list(&env, None) {
            let id = id_of(agent.name(), &each.agent_session_id);
            let is_forgotten = crate::capture::is_forgotten(&here.home, id);
            let is_known = known.contains(&each.agent_session_id) || is_forgotten;
            if each.subagent.is_none() && !is_known {
                files.push((agent.name(), each));
            }
        }
    }
    for other in heirloom_agents::others::OTHERS {
        use heirloom_agents::transcript::Transcripts as _;
        files.extend(other.files.list(&env, None).into_iter().map(|each| (other.name, each)));
    }
    let mut dated: Vec<_> = files.into_iter().map(|file| (written(&file.1.path), file)).collect();
    dated.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    dated.truncate(MOST);
    let past = |(at, (agent, each)): (
        Option<Timestamp>,
        (&str, heirloom_agents::transcript::Transcript),
    )| {
        let about = about(agent, &each.path);
        let title = about.title.or_else(|| about.prompt.clone())?;
        Some(Past {
            session: None,
            agent: agent.to_owned(),
            directory: about.cwd.map(PathBuf::from).or_else(|| beside(agent, &each.path)),
            title,
            prompt: about.prompt,
            branch: about.branch,
            at: said(agent, &each.path).or(at),
            agent_session_id: each.agent_session_id,
            transcript: Some(each.path),
            done: String::new(),
        })
    };
    dated.into_iter().filter_map(past).collect()
}

/// Where an agent worked that keeps its file there.
pub(super) fn beside(agent: &str, path: &Path) -> Option<PathBuf> {
    (agent == "aider").then(|| path.parent().map(Path::to_owned)).flatten()
}

/// What the beginning of a transcript says it is.
#[derive(Debug, Default)]
struct About {
    cwd: Option<String>,
    branch: Option<String>,
    title: Option<String>,
    prompt: Option<String>,
}

fn about(agent: &str, path: &Path) -> About {
    let mut about = About::default();
    for entry in beginning(agent, path) {
        match entry.what {
            What::Whereabouts(place) => {
                about.cwd = place.cwd.or(about.cwd);
                about.branch = place.branch.or(about.branch);
            }
            What::Title { text, .. } => {
                about.title = Some(heirloom_core::redact::redact(&text).text.into_owned());
            }
            What::Prompt { text, by } if about.prompt.is_none() && by.asks() => {
                about.prompt = Some(heirloom_core::redact::redact(&text).text.into_owned());
            }
            _ => {}
        }
    }
    about
}

fn beginning(agent: &str, path: &Path) -> Vec<Entry> {
    use std::io::Read as _;
    if let Some(other) = heirloom_agents::others::other(agent) {
        return other.read(path, BEGINNING).unwrap_or_default();
    }
    let Some(transcripts) = by_name(agent).and_then(heirloom_agents::Agent::transcripts) else {
        return Vec::new();
    };
    let mut bytes = Vec::new();
    let Ok(file) = heirloom_repo::open(path) else { return Vec::new() };
    let _ = file.take(BEGINNING).read_to_end(&mut bytes);
    entry::all(&mut *transcripts.entries(), &bytes)
}

/// When a conversation was last spoken in, as far as it says so itself.
fn said(agent: &str, path: &Path) -> Option<Timestamp> {
    by_name(agent).and_then(|agent| last_said(agent, path))
}

fn written(path: &Path) -> Option<Timestamp> {
    path.metadata().ok()?.modified().ok()?.try_into().ok()
}

pub(super) fn agent_env(here: &Here) -> AgentEnv {
    let mut env = here.env.clone();
    env.entry("PWD".into()).or_insert_with(|| here.place.root.clone().into_os_string());
    env
}
