//! Who writes under the names of hosts. Only what this ledger itself was told by a hub counts: nobody
//! gives themselves another's name.

use rusqlite::Connection;

use heirloom_core::event::HostNamed;
use heirloom_core::record::Record;

use super::{Origin, Projection, body};

/// The condition that a session is of this person, at whichever machine: only colleagues' hosts have names.
pub(crate) const IS_OWN: &str = "host NOT IN (SELECT host FROM host_name)";

pub(super) struct HostNames;

impl Projection for HostNames {
    fn table(&self) -> &'static str {
        "host_name"
    }

    fn key(&self) -> &'static str {
        "host"
    }

    fn schema(&self) -> &'static str {
        "CREATE TABLE host_name (host TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;"
    }

    fn apply(&self, db: &Connection, record: &Record, _: Origin) -> rusqlite::Result<()> {
        let Some(named) = body::<HostNamed>(record) else { return Ok(()) };
        if named.name.is_empty() {
            db.prepare_cached("DELETE FROM host_name WHERE host = ?1")?
                .execute((named.host.as_str(),))?;
            return Ok(());
        }
        db.prepare_cached(
            "INSERT INTO host_name (host, name) VALUES (?1, ?2)
             ON CONFLICT (host) DO UPDATE SET name = ?2",
        )?
        .execute((named.host.as_str(), named.name))?;
        Ok(())
    }

    fn is_of_this_host(&self) -> bool {
        true
    }

    fn is_of_a_repository(&self) -> bool {
        false
    }
}
