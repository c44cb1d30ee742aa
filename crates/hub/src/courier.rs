//! What the daemon does for a hub: sends what is new and takes in what others sent, of every repository that
//! joined, without anybody asking and in nobody's way.
//!
//! A thread of its own, since a hub may take a minute to answer. A hub that is away is asked less and less
//! often; the ledger is the queue, so nothing is lost by that.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use heirloom_api::HubPushed;
use heirloom_core::causes;
use heirloom_engine::here::Here;
use heirloom_ledger::Ledger;
use heirloom_repo::Stamp;

use crate::error::HubError;
use crate::listen::Listeners;
use crate::{pull, push, state};

/// How often it is looked whether there is something to send.
const TICK: Duration = Duration::from_secs(1);
/// How long after something was sent the next is: what an agent does comes in many small pieces.
const GATHER: Duration = Duration::from_secs(3);
/// How often the hub is asked for what others sent, whether it said that there is something or not.
const POLL: Duration = Duration::from_secs(15);
/// How long a hub that failed once is left alone, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Goes between this home and its hubs until it is dropped.
#[derive(Debug)]
pub struct Courier {
    end: Arc<(Mutex<bool>, Condvar)>,
}

impl Courier {
    pub fn start(here: Here) -> Self {
        let end = Arc::new((Mutex::new(false), Condvar::new()));
        let ending = Arc::clone(&end);
        std::thread::spawn(move || {
            let listeners = Listeners::default();
            let mut rounds = Rounds { here, seen: None, repos: BTreeMap::new(), listeners };
            let (is_over, over) = &*ending;
            loop {
                // Whatever fails is tried again; what is wrong with a hub is in `hub status`.
                let _ = rounds.go();
                let guard = is_over.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = over.wait_timeout_while(guard, TICK, |is_over| !*is_over);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    return;
                }
            }
        });
        Self { end }
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        let (is_over, over) = &*self.end;
        *is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        // One that is asking a hub just now may take a minute. Nobody waits for that: what it sends is there
        // as a whole or not at all.
        over.notify_all();
    }
}

struct Rounds {
    here: Here,
    /// How the ledger was in the last round.
    seen: Option<Stamps>,
    repos: BTreeMap<String, Repo>,
    listeners: Listeners,
}

/// The state of the ledger's files: that is cheaper to ask than the ledger.
type Stamps = [Option<Stamp>; 2];

fn stamps(here: &Here) -> Stamps {
    ["ledger.db", "ledger.db-wal"].map(|name| Stamp::of(&here.home.join(name)))
}

/// When a repository is next looked after.
struct Repo {
    /// Where the own chain ended when it was last sent.
    sent: Option<u64>,
    poll_at: Instant,
    not_before: Instant,
    pause: Duration,
}

impl Repo {
    fn new() -> Self {
        let now = Instant::now();
        Self { sent: None, poll_at: now, not_before: now, pause: FIRST_PAUSE }
    }

    fn is_due(&self) -> bool {
        let now = Instant::now();
        now >= self.not_before && (self.sent.is_none() || now >= self.poll_at)
    }
}

impl Rounds {
    fn go(&mut self) -> Result<(), HubError> {
        let joined = state::all(&self.here.home)?;
        self.repos.retain(|key, _| joined.contains_key(key));
        for key in joined.keys() {
            self.repos.entry(key.clone()).or_insert_with(Repo::new);
        }
        self.listeners.keep(&joined);
        for key in self.listeners.news(&joined) {
            if let Some(repo) = self.repos.get_mut(&key) {
                repo.poll_at = Instant::now();
            }
        }
        let now = Some(stamps(&self.here));
        if self.repos.is_empty() || (now == self.seen && !self.repos.values().any(Repo::is_due)) {
            return Ok(());
        }
        self.seen = now;
        let mut ledger = self.here.ledger_as_it_is()?;
        for (key, repo) in &mut self.repos {
            if Instant::now() < repo.not_before {
                // Looked at again as soon as it may be.
                repo.sent = None;
                continue;
            }
            look_after(&self.here, &mut ledger, key, repo)?;
        }
        Ok(())
    }
}

fn look_after(
    here: &Here,
    ledger: &mut Ledger,
    key: &str,
    repo: &mut Repo,
) -> Result<(), HubError> {
    let (_, end, _) = ledger.own_end()?;
    let is_news = repo.sent != Some(end);
    let is_time = Instant::now() >= repo.poll_at;
    if !is_news && !is_time {
        return Ok(());
    }
    let carried = carry(here, ledger, key, (is_news, is_time));
    match carried {
        Ok(pushed) => {
            let later = pushed.as_ref().and_then(|pushed| pushed.later_ms);
            repo.pause = FIRST_PAUSE;
            repo.not_before = Instant::now() + later.map_or(GATHER, Duration::from_millis);
            if is_time {
                repo.poll_at = Instant::now() + POLL;
            }
            if let Some(pushed) = pushed {
                repo.sent = later.is_none().then_some(pushed.seq);
            }
            state::note_trouble(&here.home, key, None)
        }
        Err(error) => {
            repo.sent = None;
            repo.not_before = Instant::now() + repo.pause;
            repo.pause = (repo.pause * 2).min(LONGEST_PAUSE);
            state::note_trouble(&here.home, key, Some(causes::told(&error)))
        }
    }
}

/// Takes in what is new there, and sends what is new here.
fn carry(
    here: &Here,
    ledger: &mut Ledger,
    key: &str,
    (is_news, is_time): (bool, bool),
) -> Result<Option<HubPushed>, HubError> {
    if is_time {
        pull::take_in(here, ledger, key)?;
    }
    is_news.then(|| push::send(here, ledger, key)).transpose()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use heirloom_core::event::NoteAdded;
    use heirloom_core::id::NoteId;
    use heirloom_core::note::Kind;
    use heirloom_core::trust::person::Who;
    use heirloom_engine::here::Env;
    use heirloom_ledger::Scope;
    use heirloom_testkit::postgres::Postgres;
    use uuid::Uuid;

    use super::*;
    use crate::{Address, join, migrate};

    /// Long enough for a busy machine.
    const PATIENCE: Duration = Duration::from_mins(3);

    fn home(dir: &Path) -> Here {
        let repo = dir.join("repo");
        std::fs::create_dir_all(repo.join(".heirloom")).unwrap();
        let key = "hr_0000000000000000000000000p\n";
        std::fs::write(repo.join(".heirloom/repository"), key).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let env: Env =
            [("PATH", path), ("HOME", dir.into()), ("HEIRLOOM_HOME", dir.join("home").into())]
                .map(|(name, value)| (name.into(), value))
                .into();
        let mut init = Command::new("git");
        init.args(["init", "-q"]).current_dir(&repo).env_clear().envs(&env);
        assert!(init.status().unwrap().success());
        let mut here = Here::look(&repo, env).unwrap();
        here.asks = Some(Who::Person);
        here
    }

    #[test]
    fn what_a_colleague_sends_is_fetched_long_before_the_next_look() {
        let postgres = Postgres::start();
        let address: Address = postgres.owner().parse().unwrap();
        migrate(&address).unwrap();
        let dir = tempfile::TempDir::new().unwrap();
        let [ada, bob] = ["ada", "bob"].map(|name| home(&dir.path().join(name)));
        for here in [&ada, &bob] {
            join(here, &mut here.ledger().unwrap(), &address, false).unwrap();
        }
        let listeners = Listeners::default();
        let mut rounds =
            Rounds { here: bob.clone(), seen: None, repos: BTreeMap::new(), listeners };
        rounds.go().unwrap();
        let listening = "SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN heirloom' AND state = 'idle'";
        wait_for("somebody listens", || {
            postgres.sql_at(&postgres.owner(), listening).unwrap() == "1"
        });

        let note = NoteAdded::new(NoteId::new(Uuid::new_v4()), Kind::Learning, "by hub".to_owned());
        let scope = Scope { repo: Some(&ada.place.repo), ..Scope::default() };
        let mut ledger = ada.ledger().unwrap();
        ledger.append(ada.clock.now(), scope, &note).unwrap();
        let sent = push::push(&ada, &mut ledger).unwrap().seq;
        let host = ledger.host().unwrap();

        let far = Instant::now() + Duration::from_hours(1);
        rounds.repos.values_mut().for_each(|repo| repo.poll_at = far);
        let fetched = || bob.ledger().unwrap().last_of(&host).unwrap();
        assert!(fetched() < Some(sent));
        wait_for("it is fetched", || {
            rounds.go().unwrap();
            fetched() == Some(sent)
        });
    }

    #[track_caller]
    fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE, "{what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
