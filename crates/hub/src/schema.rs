//! The schema of a hub, and how it comes into a database.
//!
//! Plain SQL: no extension, no superuser. Functions carry their version in their name; one that changes
//! becomes another beside it, so that older clients go on.

use heirloom_api::HubMigrated;

use crate::address::Address;
use crate::connection::Connection;
use crate::error::HubError;

/// What a hub does since its second schema.
const FUNCTIONS: &str = include_str!("schema/functions.sql");

/// The steps, from nothing on. The tables of a step are never changed once it was released.
const STEPS: &[&[&str]] = &[
    &[include_str!("schema/001.sql")],
    &[include_str!("schema/002.sql"), FUNCTIONS, include_str!("schema/002-rows.sql")],
    &[FUNCTIONS, include_str!("schema/003.sql")],
];

/// The schema this version knows.
pub const VERSION: i32 = 3;

/// The schema from which on a hub packs months, gives out ids and lets a history be sent later.
pub(crate) const WITH_MONTHS: i32 = 2;

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
    for step in STEPS.iter().skip(done).copied().flatten() {
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

#[cfg(test)]
mod tests {
    use heirloom_testkit::postgres::Postgres;

    use super::*;

    #[test]
    fn a_hub_of_the_first_schema_is_brought_up_to_date_with_all_it_has() {
        let postgres = Postgres::start();
        postgres.sql("hub", "ALTER ROLE owner SET timezone = 'Asia/Tokyo'");
        let address: Address = postgres.owner().parse().unwrap();
        let hub = Connection::open(&address).unwrap();
        hub.batch("test", PREPARE).unwrap();
        hub.batch("test", &format!("SET search_path = heirloom, pg_temp; {}", STEPS[0][0]))
            .unwrap();
        let some = "INSERT INTO repo (key, name) VALUES ('hr_00000000000000000000000000', 'x');
            INSERT INTO record (pos, seq, at, id, repo, host, kind, bare, hash, body)
              SELECT 1700000000000000 + i * 1000000000000, i, 1, gen_random_uuid(), 1, 1, 'note.added', false,
                decode('00', 'hex'), '{}' FROM generate_series(1, 9) i;
            -- One month in Tokyo, two in UTC.
            INSERT INTO record (pos, seq, at, id, repo, host, kind, bare, hash, body)
              SELECT extract(epoch FROM t::timestamptz)::bigint * 1000000, 9 + i, 1, gen_random_uuid(), 1, 1,
                'note.added', false, decode('00', 'hex'), '{}'
              FROM unnest(ARRAY['2024-09-30T20:00Z', '2024-10-15T00:00Z']) WITH ORDINALITY AS u(t, i)";
        hub.batch("test", some).unwrap();
        let migrated = migrate(&address).unwrap();
        assert_eq!((migrated.from, migrated.to), (1, VERSION));
        let found =
            "SELECT count(*) FROM heirloom.record WHERE tableoid <> 'heirloom.record'::regclass";
        assert_eq!(postgres.sql("hub", found), "11");
        assert!(
            postgres.sql("hub", "SELECT count(*) FROM heirloom.month").parse::<u32>().unwrap() > 1
        );
        let may = "SELECT bool_and(has_function_privilege('heirloom_member', p.oid, 'EXECUTE'))
            FROM pg_proc p WHERE p.pronamespace = 'heirloom'::regnamespace AND p.proname ~ '_v[0-9]+$'";
        assert_eq!(postgres.sql("hub", may), "t");
        for name in ["reclaim_v1", "is_abandoned_v1"] {
            let found = format!("SELECT count(*) FROM pg_proc WHERE proname = '{name}'");
            assert_eq!(postgres.sql("hub", &found), "1", "{name}");
        }
        let again = migrate(&address).unwrap();
        assert_eq!((again.from, again.to), (VERSION, VERSION));
    }

    /// What a hub does, to the letter, and who may ask it to.
    fn functions(postgres: &Postgres) -> String {
        let sql =
            "SELECT string_agg(concat_ws(' ', oid::regprocedure, prosrc, proconfig, proacl), E'\\n'
              ORDER BY oid::regprocedure::text)
            FROM pg_proc WHERE pronamespace = 'heirloom'::regnamespace";
        postgres.sql("hub", sql)
    }

    #[test]
    fn a_hub_of_an_earlier_text_of_the_second_schema_does_what_a_new_one_does() {
        let [earlier, new] = [(); 2].map(|()| Postgres::start());
        let [there, other] = [&earlier, &new].map(|hub| hub.owner().parse::<Address>().unwrap());
        let hub = Connection::open(&there).unwrap();
        hub.batch("test", PREPARE).unwrap();
        let before = include_str!("schema/before/002.sql");
        for step in [STEPS[0][0], before] {
            hub.batch("test", &format!("SET search_path = heirloom, pg_temp; {step}")).unwrap();
        }
        migrate(&other).unwrap();
        assert_ne!(functions(&earlier), functions(&new));
        let migrated = migrate(&there).unwrap();
        assert_eq!((migrated.from, migrated.to), (2, VERSION));
        assert_eq!(functions(&earlier), functions(&new));
    }
}
