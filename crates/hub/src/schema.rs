//! The schema of a hub, and how it comes into a database.
//!
//! Plain SQL: no extension, no superuser. Functions carry their version in their name; one that changes
//! becomes another beside it, so that older clients go on.

use heirloom_api::HubMigrated;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::HubError;

/// The steps, from nothing on. A step is never changed once it was released.
const STEPS: &[&str] = &[include_str!("schema/001.sql")];

/// The schema this version knows.
pub const VERSION: i32 = 1;

/// What this client is, to a hub that wants a newer one.
pub(crate) const CLIENT: i32 = 1;

/// Makes a hub in a database, or brings it up to date. Two at once do it once.
pub fn migrate(address: &Address) -> Result<HubMigrated, HubError> {
    let hub = Connection::open(address)?;
    hub.batch("begin", "BEGIN; SELECT pg_advisory_xact_lock(7239120562)")?;
    let there =
        hub.one("look at the schema", "SELECT to_regclass('heirloom.meta') IS NOT NULL", &[])?;
    let before: i32 = if there.get(0) {
        hub.one("look at the schema", "SELECT schema FROM heirloom.meta", &[])?.get(0)
    } else {
        hub.batch("make the schema", PREPARE)?;
        0
    };
    if before > VERSION {
        return Err(HubError::Newer { found: before, known: VERSION });
    }
    let done = usize::try_from(before).unwrap_or_default();
    for step in STEPS.iter().skip(done) {
        hub.batch("make the schema", "SET LOCAL search_path = heirloom, pg_temp")?;
        hub.batch("make the schema", step)?;
    }
    hub.batch("make the schema", "COMMIT")?;
    Ok(HubMigrated { hub: address.to_string(), from: before, to: VERSION })
}

const PREPARE: &str = "
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'heirloom_member') THEN
    CREATE ROLE heirloom_member NOLOGIN;
  END IF;
END $$;
CREATE SCHEMA heirloom;
REVOKE ALL ON SCHEMA heirloom FROM PUBLIC;
";
