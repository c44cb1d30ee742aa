//! Taking in what colleagues sent.

use std::collections::BTreeMap;
use std::panic::resume_unwind;

use heirloom_api::{HubProblem, HubPulled};
use heirloom_core::event::HostNamed;
use heirloom_core::id::HostId;
use heirloom_core::record::Stored;
use heirloom_core::trust::person::Action;
use heirloom_engine::exchange;
use heirloom_engine::here::Here;
use heirloom_engine::person;
use heirloom_ledger::{Ledger, Scope};

use crate::check::{admitted, follow};
use crate::connection::Opened;
use crate::error::HubError;
use crate::join::key_of;
use crate::schema::WITH_MONTHS;
use crate::state::{Joined, Stream};
use crate::wire::{self, HostRow, Passed};

/// Records a page. More than any batch has, so that a page always has a whole one.
const PAGE: i32 = 4000;

/// How far back is looked again where the hub is not the one it was: what was read may not be there
/// any more, and other things in its place.
const DAY_US: i64 = 86_400_000_000;

/// Takes in what is new.
pub fn pull(here: &Here, ledger: &mut Ledger) -> Result<HubPulled, HubError> {
    person::allow(here, ledger, Action::Hub)?;
    let key = key_of(here, ledger)?;
    take_in(here, ledger, &key)
}

/// The same for what goes on by itself, since a person joined: of the repository `key`, wherever it lies.
pub(crate) fn take_in(here: &Here, ledger: &mut Ledger, key: &str) -> Result<HubPulled, HubError> {
    let Opened { mut held, address, hub, hello } = Opened::of(&here.home, key)?;
    let joined = held.joined(key)?;
    if joined.epoch.as_ref().is_some_and(|epoch| *epoch != hello.epoch) {
        joined.cursor = (joined.cursor - DAY_US).max(0);
    }
    joined.epoch = Some(hello.epoch.clone());
    let mut pulled = HubPulled { hub: address.to_string(), ..HubPulled::default() };
    let forgotten = if hello.schema >= WITH_MONTHS { wire::forgotten(&hub, key)? } else { 0 };
    let dropped = forgotten > joined.cursor;
    let (own, mut cursor) = (held.joined(key)?.host.clone(), held.joined(key)?.cursor);
    let ask = |after| {
        let page = wire::pull(&hub, key, &own, after, PAGE)?;
        // Asked after the page: a host that joined in between is then known.
        Ok::<_, HubError>((page, wire::hosts(&hub, key)?))
    };
    let mut authors = ledger.authors()?;
    let (mut page, mut hosts) = ask(cursor)?;
    while let Some(whole) = last_whole(&page) {
        let is_last = page.len() < usize::try_from(PAGE).unwrap_or_default() / 2;
        cursor = whole;
        let joined = held.joined(key)?;
        let taking = Taking { here, key, login: &hello.login, hosts: &hosts, dropped };
        // The hub looks for the next page while this one is taken in.
        let next = std::thread::scope(|scope| {
            let next = (!is_last).then(|| scope.spawn(|| ask(cursor)));
            let taken = taking.take_page(ledger, joined, page, (&mut pulled, &mut authors));
            let next = next.map(|next| next.join().unwrap_or_else(|panic| resume_unwind(panic)));
            taken.map(|()| next)
        })?;
        joined.cursor = cursor;
        held.save()?;
        let Some(next) = next else { break };
        (page, hosts) = next?;
    }
    let joined = held.joined(key)?;
    joined.pulled_at = Some(here.clock.now());
    pulled.problems = problems(joined);
    held.save()?;
    Ok(pulled)
}

pub(crate) fn problems(joined: &Joined) -> Vec<HubProblem> {
    let problem = |(host, stream): (&String, &Stream)| {
        let problem = stream.problem.clone()?;
        Some(HubProblem {
            host: host.clone(),
            author: stream.author.clone(),
            seq: stream.seq,
            problem,
        })
    };
    joined.streams.iter().filter_map(problem).collect()
}

/// The position of the last record behind which no half of a batch is.
fn last_whole(page: &[Passed]) -> Option<i64> {
    page.iter().rev().find(|passed| passed.end.is_some()).map(|passed| passed.pos)
}

/// What a page is taken in with.
struct Taking<'a> {
    here: &'a Here,
    key: &'a str,
    /// Who takes it in.
    login: &'a str,
    hosts: &'a [HostRow],
    /// Whether the hub dropped something that was not read.
    dropped: bool,
}

impl Taking<'_> {
    fn take_page(
        &self,
        ledger: &mut Ledger,
        joined: &mut Joined,
        page: Vec<Passed>,
        (pulled, authors): (&mut HubPulled, &mut BTreeMap<String, String>),
    ) -> Result<(), HubError> {
        let numbers: BTreeMap<i32, &HostRow> =
            self.hosts.iter().map(|host| (host.number, host)).collect();
        let own = ledger.host()?;
        let mut taken = Vec::new();
        for batch in batches(page) {
            let row = batch.first().and_then(|first| numbers.get(&first.host));
            let Some(row) = row else { continue };
            let Ok(host) = HostId::parse(&row.host) else { continue };
            let stream = joined.streams.entry(row.host.clone()).or_insert_with(|| new_stream(row));
            if stream.problem.is_some() {
                continue;
            }
            let followed = if host == own {
                Err("it goes by the name of this ledger".to_owned())
            } else if stream.public != row.public {
                Err("its key differs from the one it was first seen with".to_owned())
            } else {
                let skipping = (self.dropped, &mut pulled.skipped);
                follow(stream, (&host, self.key), batch, skipping)
                    .and_then(|found| is_what_is_here(ledger, found))
            };
            match followed {
                Ok(found) => {
                    let (found, refused) = admitted(found);
                    pulled.refused += refused;
                    taken.extend(found);
                }
                Err(problem) => stream.problem = Some(problem),
            }
        }
        self.name_hosts(ledger, joined, authors)?;
        pulled.taken += exchange::tidied(self.here, ledger.take_records(&taken)?).added;
        Ok(())
    }

    /// Writes down who is behind the hosts, so that what they wrote can be shown with its author. Who is known
    /// is not asked of the ledger for each page: it would derive all its views from the one before.
    fn name_hosts(
        &self,
        ledger: &mut Ledger,
        joined: &Joined,
        authors: &mut BTreeMap<String, String>,
    ) -> Result<(), HubError> {
        let is_own =
            |host: &str| self.hosts.iter().any(|row| row.host == host && row.login == self.login);
        let news = names(authors, joined, is_own);
        if news.is_empty() {
            return Ok(());
        }
        ledger.append_all::<_, HubError>(self.here.clock.now(), |appender| {
            Ok(news
                .iter()
                .try_for_each(|named| appender.append(Scope::default(), named).map(drop))?)
        })?;
        authors.extend(news.into_iter().map(|named| (named.host.to_string(), named.name)));
        Ok(())
    }
}

/// Records of a host that are here already have to say what they said.
fn is_what_is_here(ledger: &Ledger, found: Vec<Stored>) -> Result<Vec<Stored>, String> {
    let Some(host) = found.first().map(|first| first.host().clone()) else { return Ok(found) };
    let last = ledger.last_of(&host).map_err(|error| error.to_string())?;
    for stored in found.iter().take_while(|stored| Some(stored.seq()) <= last) {
        let known = ledger.hash_of(&host, stored.seq()).map_err(|error| error.to_string())?;
        if known.is_some_and(|known| known != stored.hash()) {
            return Err(format!("record {} says something else than it did", stored.seq()));
        }
    }
    Ok(found)
}

/// A page by batches; the half of one at its end comes with the next page.
fn batches(page: Vec<Passed>) -> Vec<Vec<Passed>> {
    let (mut all, mut current): (Vec<Vec<Passed>>, Vec<Passed>) = (Vec::new(), Vec::new());
    for passed in page {
        // Of a batch whose end was left out nothing fits.
        if current.first().is_some_and(|first| first.host != passed.host) {
            all.push(std::mem::take(&mut current));
        }
        let is_end = passed.end.is_some();
        current.push(passed);
        if is_end {
            all.push(std::mem::take(&mut current));
        }
    }
    all
}

fn new_stream(row: &HostRow) -> Stream {
    Stream {
        author: author(row),
        public: row.public.clone(),
        seq: 0,
        hash: String::new(),
        count: 0,
        link: String::new(),
        problem: None,
    }
}

/// The name of whoever is behind a host. It is shown to people and agents, so nothing but a name counts.
fn author(row: &HostRow) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !row.login.is_empty() && row.login.len() <= 63 && row.login.chars().all(fits);
    if is_name { row.login.clone() } else { row.host.clone() }
}

/// What is to be written down of who is behind hosts. A person's own other machines have no author, like this one.
fn names(
    known: &BTreeMap<String, String>,
    joined: &Joined,
    is_own: impl Fn(&str) -> bool,
) -> Vec<HostNamed> {
    let named = |(host, stream): (&String, &Stream)| {
        let name = if is_own(host) { "" } else { &stream.author };
        let is_news = known.get(host).map_or("", String::as_str) != name;
        let host = HostId::parse(host).ok().filter(|_| is_news)?;
        Some(HostNamed { host, name: name.to_owned() })
    };
    joined.streams.iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use heirloom_core::event::HostNamed;
    use heirloom_core::record::Hash;
    use heirloom_ledger::Options;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_persons_other_machine_is_no_colleague_and_is_one_no_longer() {
        let dir = tempfile::TempDir::new().unwrap();
        let mut ledger = Ledger::open(dir.path(), Options::COMMAND).unwrap();
        let stream = |author: &str| serde_json::json!({"author": author, "public": [], "seq": 0, "hash": "", "count": 0, "link": ""});
        let (mine, theirs) = ("00000000000000aa", "00000000000000bb");
        let joined: Joined = serde_json::from_value(serde_json::json!({
            "url": "", "host": "", "since": "2026-01-01T00:00:00Z",
            "streams": {mine: stream("ada"), theirs: stream("bob")},
        }))
        .unwrap();
        let mut name = |is_own: &dyn Fn(&str) -> bool| {
            let news = names(&ledger.authors().unwrap(), &joined, is_own);
            for named in &news {
                ledger.append(Timestamp::UNIX_EPOCH, Scope::default(), named).unwrap();
            }
            (news.len(), ledger.authors().unwrap().into_values().collect::<Vec<_>>())
        };
        assert_eq!(name(&|_| false), (2, vec!["ada".to_owned(), "bob".to_owned()]));
        assert_eq!(name(&|host| host == mine), (1, vec!["bob".to_owned()]));
        assert_eq!(name(&|host| host == mine), (0, vec!["bob".to_owned()]));
    }

    #[test]
    fn a_host_that_says_something_else_than_it_did_is_found_out() {
        let dirs = [(); 2].map(|()| tempfile::TempDir::new().unwrap());
        let [mut theirs, mut own] =
            [0, 1].map(|at: usize| Ledger::open(dirs[at].path(), Options::COMMAND).unwrap());
        let named = HostNamed { host: own.host().unwrap(), name: "ada".to_owned() };
        theirs.append(Timestamp::UNIX_EPOCH, Scope::default(), &named).unwrap();
        let said = theirs.own_after(0, 10).unwrap();
        assert!(!said.is_empty() && is_what_is_here(&own, said.clone()).is_ok());
        own.take_records(&said).unwrap();
        assert!(is_what_is_here(&own, said.clone()).is_ok());
        let mut other = said;
        if let Some(Stored::Whole(record)) = other.last_mut() {
            record.hash = Hash::from_bytes([7; 32]);
        }
        let problem = is_what_is_here(&own, other).unwrap_err();
        assert!(problem.contains("says something else than it did"), "{problem}");
    }
}
