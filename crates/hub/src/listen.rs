//! Being told that colleagues sent something, so that nobody has to wait for the next look.
//!
//! A hub says it to everyone who listens, once, and keeps it for nobody: what was missed is found when the hub is asked as
//! ever. So nothing depends on it, and where it does not work (a pooler between, a server that has no channels) it is
//! only slower. Whoever has a login may say anything here; all that comes of it is a look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::HubError;
use crate::state::Joined;
use crate::wire;

/// Every listener is a connection that is kept, and is woken by everybody: in a larger team they ask.
const LARGEST_TEAM: usize = 100;

/// How long after a line was lost the next is made. Until then the hub is asked.
const PAUSE: Duration = Duration::from_mins(1);

/// Repositories that may have news wait here to be looked at. More than anybody joined is noise.
const MOST_NEWS: usize = 1000;

/// Who sent something, and of which repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct News {
    key: String,
    host: String,
}

type Heard = Arc<Mutex<BTreeSet<News>>>;

/// The hubs that are listened to, by address.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    lines: BTreeMap<String, Line>,
    heard: Heard,
}

#[derive(Debug)]
struct Line {
    /// Dropped with this, which ends the thread.
    _until: oneshot::Sender<()>,
    thread: JoinHandle<()>,
    began: Instant,
}

impl Listeners {
    /// Listens to the hubs of `joined` and to no other. Nothing is waited for.
    pub(crate) fn keep(&mut self, joined: &BTreeMap<String, Joined>) {
        let few = |joined: &&Joined| joined.streams.len() < LARGEST_TEAM;
        let wanted: BTreeSet<&str> =
            joined.values().filter(few).map(|joined| joined.url.as_str()).collect();
        self.lines.retain(|url, line| {
            let is_lost = line.thread.is_finished() && line.began.elapsed() >= PAUSE;
            wanted.contains(url.as_str()) && !is_lost
        });
        for url in wanted {
            if !self.lines.contains_key(url)
                && let Ok(address) = url.parse()
            {
                self.lines.insert(url.to_owned(), Line::open(address, &self.heard));
            }
        }
    }

    /// The repositories of which others sent something since this was last asked.
    pub(crate) fn news(&self, joined: &BTreeMap<String, Joined>) -> Vec<String> {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner));
        let of_others =
            |news: &News| joined.get(&news.key).is_some_and(|joined| joined.host != news.host);
        heard.into_iter().filter(of_others).map(|news| news.key).collect()
    }
}

impl Line {
    fn open(address: Address, heard: &Heard) -> Self {
        let (until, over) = oneshot::channel();
        let heard = Arc::clone(heard);
        let thread = std::thread::spawn(move || {
            // A hub that is away is said to be so by the look that follows.
            let _ = listen(&address, heard, over);
        });
        Self { _until: until, thread, began: Instant::now() }
    }
}

fn listen(address: &Address, heard: Heard, over: oneshot::Receiver<()>) -> Result<(), HubError> {
    let line = Connection::hearing(address, move |said| {
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(news) = read(&said).filter(|_| heard.len() < MOST_NEWS) {
            heard.insert(news);
        }
    })?;
    wire::listen(&line)?;
    line.listen(over);
    Ok(())
}

fn read(said: &str) -> Option<News> {
    let (key, host) = said.split_once(' ')?;
    Some(News { key: key.to_owned(), host: host.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(host: &str) -> Joined {
        let known = serde_json::json!({"url": "", "host": host, "since": "2026-01-01T00:00:00Z"});
        serde_json::from_value(known).unwrap()
    }

    #[test]
    fn only_what_others_sent_to_a_repository_that_joined_is_news_and_only_once() {
        let listeners = Listeners::default();
        let joined =
            BTreeMap::from([("hr_a".to_owned(), joined("aa")), ("hr_b".to_owned(), joined("aa"))]);
        let said = ["hr_a bb", "hr_a cc", "hr_b aa", "hr_x bb", "anything", ""];
        listeners.heard.lock().unwrap().extend(said.into_iter().filter_map(read));
        let mut news = listeners.news(&joined);
        news.dedup();
        assert_eq!(news, ["hr_a"]);
        assert!(listeners.news(&joined).is_empty());
    }
}
