//! How this repository stands with its hub.

use heirloom_api::{HubHost, HubStatus};
use heirloom_core::record::Stored;
use heirloom_engine::here::Here;
use heirloom_ledger::Ledger;
use jiff::Timestamp;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::HubError;
use crate::join::key_of;
use crate::pull::problems;
use crate::push::named;
use crate::state;
use crate::wire::{self, from_sql};

/// How this repository stands with its hub. Of a hub that cannot be reached it says that, and what is
/// known without it.
pub fn status(here: &Here, ledger: &Ledger) -> Result<HubStatus, HubError> {
    let key = key_of(here, ledger)?;
    let joined = state::look(&here.home, &key)?;
    let address: Address = joined.url.parse()?;
    let (host, end, _) = ledger.own_end()?;
    let mut status = HubStatus {
        hub: address.to_string(),
        key: key.clone(),
        host: host.to_string(),
        member: None,
        unreachable: None,
        unsent: None,
        unsent_since: None,
        unread: None,
        unread_since: None,
        pushed_at: joined.pushed_at,
        pulled_at: joined.pulled_at,
        withheld: joined.withheld.iter().map(named).collect(),
        withheld_count: joined.withheld_count,
        trouble: joined.trouble.clone(),
        problems: problems(&joined),
        hosts: Vec::new(),
        size: None,
    };
    if let Err(error) = ask(&address, (&key, &joined.host), (end, joined.cursor), &mut status) {
        status.unreachable = Some(heirloom_core::causes::told(&error));
    }
    if let Some(unsent @ 1..) = status.unsent {
        let oldest = ledger.own_after(end.saturating_sub(unsent), 1)?;
        status.unsent_since = oldest.first().map(Stored::at);
    }
    Ok(status)
}

fn ask(
    address: &Address,
    (key, host): (&str, &str),
    (end, cursor): (u64, i64),
    status: &mut HubStatus,
) -> Result<(), HubError> {
    let hub = Connection::open(address)?;
    let hello = wire::hello(&hub)?;
    status.unsent = Some(end.saturating_sub(wire::head(&hub, key, host)?.seq));
    status.size = Some(wire::size(&hub, key, hello.schema)?);
    status.member = Some(hello.login);
    let sql = "SELECT count(*), min(pos) FROM heirloom.pull_v1($1, $2, $3, 5000)";
    let row = hub.one("count", sql, &[&key, &host, &cursor])?;
    status.unread = Some(from_sql(row.get(0)));
    let oldest: Option<i64> = row.get(1);
    status.unread_since = oldest.and_then(|us| Timestamp::from_microsecond(us).ok());
    status.hosts = wire::hosts(&hub, key)?
        .into_iter()
        .map(|host| HubHost {
            host: host.host,
            member: host.login,
            seq: host.seq,
            seen_at: Timestamp::from_microsecond(host.seen_us).ok(),
            is_gone: host.is_gone,
        })
        .collect();
    Ok(())
}
