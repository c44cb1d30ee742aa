//! What the daemon has at hand: heirloom's home, the environment it was started with, and every repository
//! the ledger knows of.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use heirloom_api::{Code, Failure};
use heirloom_core::session::Session;
use heirloom_engine::here::{Env, Here};
use heirloom_engine::{guard, reach, session, sessions, work};
use heirloom_ledger::{Found, IssueRun, Ledger, Options, SessionFilter};
use tokio::sync::watch;

use crate::answer::Refused;
use crate::blocked::Blocked;
use crate::events::Feed;
use crate::keys::Keys;

/// Of how many sessions the repositories are remembered that have no key.
const RECENT: usize = 500;

/// What every request can use. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct House {
    inner: Arc<Inner>,
    /// Whether nothing is shown but the repository that the daemon was started in.
    is_confined: bool,
}

#[derive(Debug)]
struct Inner {
    home: PathBuf,
    directory: PathBuf,
    env: Env,
    keys: Keys,
    token: String,
    /// Further names by which the daemon may be called.
    hosts: Vec<String>,
    is_secure: bool,
    wrong: crate::gate::Wrong,
    feed: Arc<Feed>,
    blocked: Blocked,
}

/// What a house is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) here: Here,
    pub(crate) directory: PathBuf,
    pub(crate) keys: Keys,
    pub(crate) token: String,
    pub(crate) hosts: Vec<String>,
    /// Whether browsers reach it over TLS.
    pub(crate) is_secure: bool,
    pub(crate) ending: watch::Receiver<bool>,
}

impl House {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { here, directory, keys, token, hosts, is_secure, ending } = parts;
        let feed = Feed::new(ending);
        let wrong = crate::gate::Wrong::default();
        let blocked = Blocked::default();
        let Here { home, mut env, .. } = here;
        env.insert("HEIRLOOM_HOME".into(), home.clone().into());
        let inner =
            Inner { home, directory, env, keys, token, hosts, is_secure, wrong, feed, blocked };
        Self { inner: Arc::new(inner), is_confined: false }
    }

    /// What an agent gets to see of it: the repository it works in, unless the person says more.
    pub(crate) fn for_agents(&self) -> Result<Self, Failure> {
        let is_confined = !reach::is_open_to_agents(&self.here()?);
        Ok(Self { is_confined, ..self.clone() })
    }

    /// A house that nobody enters from outside.
    pub(crate) fn alone(here: Here, directory: &Path) -> Self {
        let (_, ending) = watch::channel(false);
        let keys = Keys::new(&here.home);
        let (directory, token, hosts) = (directory.to_owned(), String::new(), Vec::new());
        Self::new(Parts { here, directory, keys, token, hosts, is_secure: false, ending })
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.inner.keys
    }

    pub(crate) fn token(&self) -> &str {
        &self.inner.token
    }

    pub(crate) fn hosts(&self) -> &[String] {
        &self.inner.hosts
    }

    /// Whether a cookie is for TLS only.
    pub(crate) fn is_secure(&self) -> bool {
        self.inner.is_secure
    }

    pub(crate) fn home(&self) -> &Path {
        &self.inner.home
    }

    /// What a process that is started here gets to see.
    pub(crate) fn env(&self) -> &Env {
        &self.inner.env
    }

    pub(crate) fn feed(&self) -> &Arc<Feed> {
        &self.inner.feed
    }

    pub(crate) fn blocked(&self) -> &Blocked {
        &self.inner.blocked
    }

    pub(crate) fn wrong(&self) -> &crate::gate::Wrong {
        &self.inner.wrong
    }

    /// Where the daemon was started.
    pub(crate) fn here(&self) -> Result<Here, Failure> {
        self.look(&self.inner.directory)
    }

    /// The place at `directory`. Looked at anew for every request: branches are switched and settings
    /// change while a daemon runs.
    pub(crate) fn look(&self, directory: &Path) -> Result<Here, Failure> {
        let mut here = Here::look(directory, self.inner.env.clone())?;
        // Whoever has the token or signed in may read. The daemon's own processes say nothing about them.
        here.is_confined = Some(self.is_confined);
        Ok(here)
    }

    /// The ledger. Opened for every request: what another process did to its file is seen, and nothing
    /// grows while the daemon runs.
    pub(crate) fn ledger(&self) -> Result<Ledger, Failure> {
        Ok(Ledger::open(&self.inner.home, Options { tidy: false, ..Options::COMMAND })?)
    }

    /// Calls the engine on a thread where it may wait.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Refused> {
        let house = self.clone();
        match tokio::task::spawn_blocking(move || work(&house)).await {
            Ok(done) => done.map_err(Refused),
            Err(_) => Err(Refused(
                Failure::new(Code::Internal, "heirloom failed to handle the request")
                    .hint("`heirloom doctor` checks for problems"),
            )),
        }
    }
}

/// A place and the ledger, for a request.
#[derive(Debug)]
pub(crate) struct RequestContext {
    pub(crate) here: Here,
    pub(crate) ledger: Ledger,
}

impl RequestContext {
    /// For what belongs to no repository in particular.
    pub(crate) fn everywhere(house: &House) -> Result<Self, Failure> {
        Ok(Self { here: house.here()?, ledger: house.ledger()? })
    }

    /// For the repository that `name` means: its key, its path, or what its directory is called; without a
    /// name the one the daemon was started in.
    pub(crate) fn of(house: &House, name: Option<&str>) -> Result<Self, Failure> {
        let ledger = house.ledger()?;
        let here = match name {
            None => house.here()?,
            Some(name) => house.look(&directory_of(house, &ledger, name)?)?,
        };
        let cx = Self { here, ledger };
        cx.admits(house, &cx.here.place.repo)?;
        Ok(cx)
    }

    /// Refuses what is of another repository than the one that may be seen.
    fn admits(&self, house: &House, repo: &str) -> Result<(), Failure> {
        if !house.is_confined {
            return Ok(());
        }
        let own = self.ledger.repository(&house.here()?.place.repo)?;
        if own == self.ledger.repository(repo)? {
            return Ok(());
        }
        Err(Failure::new(Code::RepoNotFound, "an agent sees the repository it works in")
            .hint("a person can allow more: recall.agents in their own settings"))
    }

    /// A session by name, id or the beginning of one, with the repository it is in. A name that sessions of
    /// several repositories have is ambiguous unless the daemon's own has it.
    pub(crate) fn session(house: &House, address: &str) -> Result<(Self, Session), Failure> {
        let mut cx = Self::everywhere(house)?;
        cx.tidy()?;
        let session = match cx.ledger.find(&cx.here.place.repo, address)? {
            Found::One(session) => *session,
            Found::Many(_) => sessions::find(&cx.here, &cx.ledger, address)?,
            Found::None => elsewhere(&cx, address)?,
        };
        cx.admits(house, &session.repo)?;
        if cx.ledger.repository(&cx.here.place.repo)? != session.repo.as_str()
            && let Ok(directory) = directory_of(house, &cx.ledger, &session.repo)
        {
            cx.here = house.look(&directory)?;
        }
        Ok((cx, session))
    }

    /// Closes the sessions whose driver is gone, as every command does that shows sessions.
    pub(crate) fn tidy(&mut self) -> Result<(), Failure> {
        guard::tidy(&self.here, &mut self.ledger)?;
        session::close_crashed(&self.here, &mut self.ledger)?;
        Ok(())
    }
}

/// The issues that the newest run of `work` could not finish, in every repository that is on this machine, each with the
/// repository it is of.
pub(crate) fn blocked(house: &House, ledger: &Ledger) -> Result<Vec<(String, IssueRun)>, Failure> {
    let here = house.here()?;
    let own = ledger.repository(&here.place.repo)?;
    let mut seen = BTreeSet::from([own.clone()]);
    let left = work::unfinished(&here.place.repo, ledger)?;
    let mut all = vec![(own, here, left)];
    let others = if house.is_confined { Vec::new() } else { ledger.places()? };
    for place in others.into_iter().filter(|place| place.is_own) {
        let (repo, path) = (place.repo.as_str(), Path::new(&place.named.path));
        let is_new = path.is_dir() && seen.insert(repo.to_owned());
        let left = if is_new { work::unfinished(repo, ledger)? } else { Vec::new() };
        // Where nothing is left over nothing has to be looked at; and one that cannot be looked at now does not
        // keep the others off the page.
        if !left.is_empty()
            && let Ok(there) = house.look(path)
        {
            all.push((repo.to_owned(), there, left));
        }
    }
    // All at once: the page waits for the slowest tracker, not for one after the other.
    let open = thread::scope(|threads| {
        let asked: Vec<_> = all
            .into_iter()
            .map(|(repo, here, left)| {
                threads.spawn(move || (repo, house.blocked().still_open(&here, left)))
            })
            .collect();
        // A panic is not an empty tracker: whoever asked hears of it.
        let joined = asked.into_iter().map(|one| one.join().unwrap_or_else(|it| resume_unwind(it)));
        joined.collect::<Vec<_>>()
    });
    let each = |(repo, left): (String, Vec<IssueRun>)| {
        left.into_iter().map(move |one| (repo.clone(), one))
    };
    Ok(open.into_iter().flat_map(each).collect())
}

/// A session of that name in any repository.
fn elsewhere(cx: &RequestContext, address: &str) -> Result<Session, Failure> {
    let mut found = cx.ledger.named_anywhere(address)?;
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Ok(sessions::find(&cx.here, &cx.ledger, address)?),
        _ => {
            let address = address.to_owned();
            Err(sessions::FindError::Many { address, candidates: found }.into())
        }
    }
}

/// Where the repository called `name` lies now.
fn directory_of(house: &House, ledger: &Ledger, name: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(name);
    if path.is_absolute() && path.is_dir() {
        return Ok(path.to_owned());
    }
    let id = ledger.repository(name)?;
    let mut known: Vec<(String, String)> = Vec::new();
    let own = house.here()?.place.repo;
    known.push((ledger.repository(&own)?, own));
    for place in ledger.places()?.into_iter().filter(|place| place.is_own) {
        known.push((place.repo.as_str().to_owned(), place.named.path));
    }
    // One that was never given a key goes by its path.
    let recent = SessionFilter { limit: RECENT, ..SessionFilter::default() };
    let recent =
        ledger.sessions(&recent)?.sessions.into_iter().map(|session| String::from(session.repo));
    known.extend(recent.map(|repo| (repo.clone(), repo)));
    let is_it = |(repo, path): &(String, String)| {
        let path = Path::new(path);
        let is_called = *repo == id || path.file_name().is_some_and(|called| called == name);
        is_called && path.is_absolute() && path.is_dir()
    };
    known.retain(is_it);
    let mut seen = BTreeSet::new();
    known.retain(|(repo, _)| seen.insert(repo.clone()));
    match &known[..] {
        [(_, path)] => Ok(path.into()),
        [] => Err(Failure::new(Code::RepoNotFound, format!("there is no repository {name} here"))
            .hint("give its key, its path, or the name of its directory")),
        [..] => {
            let paths: Vec<&str> = known.iter().map(|(_, path)| path.as_str()).collect();
            let message = format!("{name} could be {}", paths.join(" or "));
            Err(Failure::new(Code::RepoNotFound, message).hint("give its path"))
        }
    }
}
