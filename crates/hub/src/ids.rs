//! Ids of issues that are reserved at the hub before somebody needs one: whoever creates an issue does not
//! wait for the hub, and two people never give the same short id.

use std::path::Path;

use heirloom_core::issue::{IssueId, fresh};
use heirloom_engine::issues::reserved;
use heirloom_ledger::Ledger;
use uuid::Uuid;

use crate::connection::Connection;
use crate::error::HubError;
use crate::wire;

/// So many are kept ready; and fetched again when half of them are used.
const READY: usize = 20;

/// Reserves more where few are left.
pub(crate) fn top_up(
    home: &Path,
    ledger: &Ledger,
    (hub, key, host): (&Connection, &str, &str),
) -> Result<(), HubError> {
    let known = ledger.issue_ids(key)?;
    let mut left = reserved::read(home, key).unwrap_or_default();
    left.retain(|id| known.iter().all(|known| known != id.as_str()));
    if left.len() > READY / 2 {
        return Ok(());
    }
    let is_taken = |id: &IssueId| known.iter().any(|known| known == id.as_str());
    let wanted = (left.len()..READY)
        .map(|_| fresh(reserved::PREFIX, &Uuid::new_v4().to_string(), known.len(), is_taken));
    let wanted: Vec<String> = wanted.map(|id| id.to_string()).collect();
    let given = wire::reserve(hub, key, host, &wanted)?;
    // What a hub gives back is no id before it was looked at.
    left.extend(given.iter().filter(|id| wanted.contains(id)).filter_map(|id| id.parse().ok()));
    let path = reserved::path(home, key);
    reserved::write(home, key, &left).map_err(|source| HubError::File {
        doing: "write",
        path,
        source,
    })
}
