//! What changes, as it changes: one stream of events for whoever looks on.
//!
//! The ledger is the only source. One thread looks whether another process wrote to it, which reads
//! nothing, and reads the new records once for everybody; it runs only while somebody looks on. Whoever was
//! away says which number they saw last and is given the rest from the ledger, so nothing is missed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use heirloom_api::{Code, Failure, LedgerEvent};
use heirloom_core::id::SessionId;
use heirloom_core::status::Status;
use heirloom_engine::session::printed;
use heirloom_engine::settings::{Environment, places};
use heirloom_ledger::{Arrived, Ledger, SessionFilter};
use heirloom_repo::Stamp;
use tokio::sync::{broadcast, watch};

use crate::answer::Refused;
use crate::house::House;

/// How soon after another process changed something those who look on are told.
const SOON: Duration = Duration::from_millis(200);
/// How often it is looked whether something changed. One look is enough to see a change, and half of the time is left to
/// read it and to tell it.
const TICK: Duration = Duration::from_millis(100);
/// How often it is looked whether an agent printed something, or a settings file is another one.
const FILES: Duration = SOON;
/// What a connection says when there is nothing to say.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How many events wait for a slow client before it is given them from the ledger instead.
const BACKLOG: usize = 1024;
/// How many records are read at a time.
const PART: usize = 500;

/// The one who looks, and those who are told.
#[derive(Debug)]
pub(crate) struct Feed {
    told: broadcast::Sender<LedgerEvent>,
    /// How many look on.
    clients: AtomicUsize,
    /// Whether the thread runs.
    runs: Mutex<bool>,
    ending: watch::Receiver<bool>,
}

impl Feed {
    pub(crate) fn new(ending: watch::Receiver<bool>) -> Arc<Self> {
        let (told, _) = broadcast::channel(BACKLOG);
        let (clients, runs) = (AtomicUsize::new(0), Mutex::new(false));
        Arc::new(Self { told, clients, runs, ending })
    }

    /// Looks on, until what is returned goes.
    fn join(self: &Arc<Self>, house: &House) -> Looking {
        self.clients.fetch_add(1, Ordering::SeqCst);
        let events = self.told.subscribe();
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if !*runs {
            let (feed, house) = (Arc::clone(self), house.clone());
            // Here, not in the thread: whatever changes after this is told, however late that one begins.
            let follower = LedgerFollower::open(&house).ok();
            let thread = std::thread::Builder::new().name("events".to_owned());
            *runs = thread.spawn(move || feed.look(&house, follower)).is_ok();
        }
        Looking { feed: Arc::clone(self), events }
    }

    /// Tells what changes as long as anybody looks on.
    fn look(&self, house: &House, mut follower: Option<LedgerFollower>) {
        loop {
            let ends = *self.ending.borrow() || {
                let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                let alone = self.clients.load(Ordering::SeqCst) == 0;
                *runs = !alone;
                alone
            };
            if ends {
                return;
            }
            // A ledger that cannot be read now may be readable the next time.
            if follower.is_none() {
                follower = LedgerFollower::open(house).ok();
            }
            let seen = follower.as_mut().map(|follower| follower.look(house));
            match seen {
                Some(Ok(events)) => {
                    for event in events {
                        // Nobody who listens is nobody who misses it.
                        let _ = self.told.send(event);
                    }
                }
                Some(Err(_)) => follower = None,
                None => {}
            }
            std::thread::sleep(TICK);
        }
    }
}

/// Somebody who looks on.
struct Looking {
    feed: Arc<Feed>,
    events: broadcast::Receiver<LedgerEvent>,
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.feed.clients.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What the thread has seen so far.
struct LedgerFollower {
    ledger: Ledger,
    version: i64,
    last: i64,
    /// The sessions at work, with how much their agents had printed.
    printed: BTreeMap<SessionId, u64>,
    /// The settings files of where the daemon was started, as they were.
    settings: Vec<(PathBuf, Option<Stamp>)>,
    looked: Instant,
}

impl LedgerFollower {
    fn open(house: &House) -> Result<Self, Failure> {
        let ledger = house.ledger()?;
        let (version, last) = (ledger.data_version()?, ledger.last_arrival()?);
        let here = house.here()?;
        let files = places(&Environment::of(&here), Some(&here.place.root)).into_iter();
        let settings = files.map(|file| (file.path.clone(), Stamp::of(&file.path))).collect();
        let (printed, looked) = (BTreeMap::new(), Instant::now());
        let mut follower = Self { ledger, version, last, printed, settings, looked };
        follower.meet(house)?;
        Ok(follower)
    }

    fn look(&mut self, house: &House) -> Result<Vec<LedgerEvent>, Failure> {
        let mut events = Vec::new();
        let version = self.ledger.data_version()?;
        if version != self.version {
            self.version = version;
            while let arrived = self.ledger.records_after(self.last, PART)?
                && !arrived.is_empty()
            {
                self.last = arrived.last().map_or(self.last, |last| last.arrival);
                events.extend(arrived.iter().map(event));
            }
            self.meet(house)?;
        }
        if self.looked.elapsed() >= FILES {
            self.looked = Instant::now();
            self.look_at_files(house, &mut events);
        }
        Ok(events)
    }

    /// What is in files, and in no record.
    fn look_at_files(&mut self, house: &House, events: &mut Vec<LedgerEvent>) {
        for (session, before) in &mut self.printed {
            let now = printed(house.home(), *session);
            if now != *before {
                *before = now;
                events.push(LedgerEvent::output(session.to_string()));
            }
        }
        let mut is_other = false;
        for (path, before) in &mut self.settings {
            let now = Stamp::of(path);
            is_other |= std::mem::replace(before, now) != now;
        }
        if is_other {
            events.push(LedgerEvent::settings());
        }
    }

    /// Finds out which sessions are at work.
    fn meet(&mut self, house: &House) -> Result<(), Failure> {
        let active: Vec<Status> =
            Status::ALL.into_iter().filter(|status| status.is_active()).collect();
        let filter = SessionFilter { statuses: &active, limit: 200, ..SessionFilter::default() };
        let page = self.ledger.sessions(&filter)?;
        let before = std::mem::take(&mut self.printed);
        self.printed = page
            .sessions
            .into_iter()
            .map(|session| {
                let known = before.get(&session.id).copied();
                (session.id, known.unwrap_or_else(|| printed(house.home(), session.id)))
            })
            .collect();
        Ok(())
    }
}

fn event(arrived: &Arrived) -> LedgerEvent {
    LedgerEvent::new(arrived.arrival, &arrived.record)
}

/// The stream of one client.
pub(crate) async fn events(
    State(house): State<House>,
    headers: HeaderMap,
) -> Result<Sse<impl futures_core::Stream<Item = Result<Event, Infallible>>>, Refused> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let last = last.map(str::parse::<i64>).transpose().map_err(|_| {
        Failure::new(Code::RequestInvalid, "`Last-Event-ID` is not an event number")
    })?;
    told(house, last, |event| Some(serde_json::to_string(event).unwrap_or_default())).await
}

/// A stream of what `tell` makes of each event after the one with the number `last`, or from now on.
pub(crate) async fn told(
    house: House,
    last: Option<i64>,
    tell: impl Fn(&LedgerEvent) -> Option<String> + Send + 'static,
) -> Result<Sse<impl futures_core::Stream<Item = Result<Event, Infallible>>>, Refused> {
    // Before the ledger is asked: what comes in between is told twice, and left out the second time.
    let (looking, newest) = house
        .call(|house| {
            let looking = house.feed().join(house);
            Ok((looking, house.ledger()?.last_arrival()?))
        })
        .await?;
    // A number that was never given is one of another ledger: everything may be different.
    let after = last.filter(|last| *last <= newest && *last >= 0).unwrap_or(newest);
    let client = Client { house, looking, after, waiting: Vec::new(), behind: true };
    let keep = KeepAlive::new().interval(HEARTBEAT).text("heartbeat");
    Ok(Sse::new(stream(client, tell)).keep_alive(keep))
}

/// Where a client is.
struct Client {
    house: House,
    looking: Looking,
    /// The number of the last event it was sent.
    after: i64,
    /// What it is sent next, the last one first.
    waiting: Vec<LedgerEvent>,
    /// Whether there may be something in the ledger that it was not told.
    behind: bool,
}

impl Client {
    /// The next event; nothing when the daemon ends.
    async fn next(&mut self) -> Option<LedgerEvent> {
        loop {
            if let Some(event) = self.waiting.pop() {
                if let Some(id) = event.id {
                    if id <= self.after {
                        continue;
                    }
                    self.after = id;
                }
                return Some(event);
            }
            if self.behind {
                let after = self.after;
                let read = self.house.call(move |house| {
                    let arrived = house.ledger()?.records_after(after, PART)?;
                    Ok(arrived.iter().rev().map(event).collect::<Vec<_>>())
                });
                // One that cannot be read now will be asked for again by the client.
                self.waiting = read.await.ok()?;
                self.behind = !self.waiting.is_empty();
                continue;
            }
            let mut ending = self.looking.feed.ending.clone();
            tokio::select! {
                told = self.looking.events.recv() => match told {
                    Ok(event) => self.waiting.push(event),
                    Err(broadcast::error::RecvError::Lagged(_)) => self.behind = true,
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
                _ = ending.wait_for(|end| *end) => return None,
            }
        }
    }
}

fn stream(
    client: Client,
    tell: impl Fn(&LedgerEvent) -> Option<String> + Send + 'static,
) -> impl futures_core::Stream<Item = Result<Event, Infallible>> {
    futures_util::stream::unfold((client, tell), |(mut client, tell)| async move {
        loop {
            let told = client.next().await?;
            let Some(data) = tell(&told) else { continue };
            let mut event = Event::default();
            if let Some(id) = told.id {
                event = event.id(id.to_string());
            }
            return Some((Ok(event.data(data)), (client, tell)));
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use heirloom_core::event::TrustDecided;
    use heirloom_engine::here::Here;
    use heirloom_ledger::Scope;

    use super::*;

    /// A house in a place of its own, and where its repository is.
    fn house(directory: &Path) -> House {
        let home = directory.join("home").into_os_string();
        let env = [("HEIRLOOM_HOME".into(), home), ("HOME".into(), directory.into())].into();
        House::alone(Here::look(directory, env).unwrap(), directory)
    }

    /// Whoever looks on is told after at most one pause and one look: both are bounded, and a look sees everything.
    #[test]
    fn one_look_sees_what_another_process_did_and_looks_are_close_together() {
        assert!(TICK * 2 <= SOON && FILES <= SOON && SOON <= Duration::from_millis(200));
        let directory = tempfile::tempdir().unwrap();
        let house = house(directory.path());
        let mut follower = LedgerFollower::open(&house).unwrap();
        assert!(follower.look(&house).unwrap().is_empty(), "nothing has happened");

        let here = house.here().unwrap();
        let mut other = house.ledger().unwrap();
        let decided = TrustDecided { hash: None, commands: 0 };
        for _ in 0..2 {
            let scope = Scope { session: None, repo: Some(&here.place.repo) };
            other.append(here.clock.now(), scope, &decided).unwrap();
        }
        let seen = follower.look(&house).unwrap();
        let seen: Vec<&str> = seen.iter().map(|event| event.part.as_str()).collect();
        assert_eq!(seen, ["trust", "trust"]);
        assert!(follower.look(&house).unwrap().is_empty(), "and none of it twice");
    }

    #[test]
    fn a_settings_file_that_comes_changes_or_goes_is_noticed_once() {
        let directory = tempfile::tempdir().unwrap();
        let house = house(directory.path());
        let mut follower = LedgerFollower::open(&house).unwrap();
        let mut looked = || {
            let mut events = Vec::new();
            follower.look_at_files(&house, &mut events);
            events.into_iter().map(|event| event.part).collect::<Vec<_>>()
        };
        let file = directory.path().join(".heirloom/config.yaml");
        heirloom_repo::file::create_dir_all(file.parent().unwrap()).unwrap();
        assert!(looked().is_empty());
        for text in ["work: {max_agents: 2}", "work: {max_agents: 12}"] {
            heirloom_repo::file::write(&file, text).unwrap();
            assert_eq!(looked(), ["settings"]);
            assert!(looked().is_empty());
        }
        heirloom_repo::file::remove_file(&file).unwrap();
        assert_eq!(looked(), ["settings"]);
    }
}
