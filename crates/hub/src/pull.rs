//! Taking in what colleagues sent.

use std::collections::BTreeMap;

use heirloom_api::{HubProblem, HubPulled};
use heirloom_core::event::HostNamed;
use heirloom_core::id::HostId;
use heirloom_core::trust::person::Action;
use heirloom_engine::here::Here;
use heirloom_engine::person;
use heirloom_ledger::{Ledger, Scope};

use crate::check::{admitted, follow};
use crate::connection::Opened;
use crate::error::HubError;
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
    take_in(here, ledger)
}

/// The same for what goes on by itself, since a person joined.
pub(crate) fn take_in(here: &Here, ledger: &mut Ledger) -> Result<HubPulled, HubError> {
    let Opened { key, mut held, address, hub, hello } = Opened::of(here, ledger)?;
    let joined = held.joined(&key)?;
    if joined.epoch.as_ref().is_some_and(|epoch| *epoch != hello.epoch) {
        joined.cursor = (joined.cursor - DAY_US).max(0);
    }
    joined.epoch = Some(hello.epoch);
    let mut pulled = HubPulled { hub: address.to_string(), ..HubPulled::default() };
    loop {
        let joined = held.joined(&key)?;
        let own = joined.host.clone();
        let page = wire::pull(&hub, &key, &own, joined.cursor, PAGE)?;
        // Asked after the page: a host that joined in between is then known.
        let hosts = wire::hosts(&hub, &key)?;
        let Some(cursor) = last_whole(&page) else { break };
        let is_last = page.len() < usize::try_from(PAGE).unwrap_or_default() / 2;
        take_page(here, ledger, &key, joined, (page, &hosts), &mut pulled)?;
        joined.cursor = cursor;
        held.save()?;
        if is_last {
            break;
        }
    }
    let joined = held.joined(&key)?;
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

fn take_page(
    here: &Here,
    ledger: &mut Ledger,
    key: &str,
    joined: &mut Joined,
    (page, hosts): (Vec<Passed>, &[HostRow]),
    pulled: &mut HubPulled,
) -> Result<(), HubError> {
    let numbers: BTreeMap<i32, &HostRow> = hosts.iter().map(|host| (host.number, host)).collect();
    let mut taken = Vec::new();
    for batch in batches(page) {
        let Some(row) = batch.first().and_then(|first| numbers.get(&first.host)) else { continue };
        let Ok(host) = HostId::parse(&row.host) else { continue };
        let stream = joined.streams.entry(row.host.clone()).or_insert_with(|| new_stream(row));
        if stream.problem.is_some() {
            continue;
        }
        let followed = if stream.public == row.public {
            follow(stream, &host, key, batch)
        } else {
            Err("its key differs from the one it was first seen with".to_owned())
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
    name_hosts(here, ledger, joined)?;
    pulled.taken += ledger.take_records(&taken)?.added;
    Ok(())
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

/// Writes down who is behind the hosts, so that what they wrote can be shown with its author.
fn name_hosts(here: &Here, ledger: &mut Ledger, joined: &Joined) -> Result<(), HubError> {
    let known = ledger.authors()?;
    let news: Vec<HostNamed> = joined
        .streams
        .iter()
        .filter(|(host, stream)| known.get(*host) != Some(&stream.author))
        .filter_map(|(host, stream)| {
            Some(HostNamed { host: HostId::parse(host).ok()?, name: stream.author.clone() })
        })
        .collect();
    if news.is_empty() {
        return Ok(());
    }
    Ok(ledger.append_all(here.clock.now(), |appender| {
        news.iter().try_for_each(|named| appender.append(Scope::default(), named).map(drop))
    })?)
}
