//! Following what a hub passed on: the chain of each host, and its signature over each batch.
//!
//! The hub is not believed. What was changed, left out, put in or moved on the way does not fit, and then
//! that host's stream stops there with its reason, and nobody else's.

use heirloom_core::id::{HostId, RecordId, SessionId};
use heirloom_core::record::{Erased, Hash, Record, Stored};
use heirloom_core::repo::RepoId;
use heirloom_core::share;
use jiff::Timestamp;

use crate::sign::is_signed;
use crate::state::Stream;
use crate::wire::{End, Passed};

/// Follows a batch of `host`. What is new in it comes out, and `stream` is where it ends; or why it does
/// not fit, and then nobody looks at `stream` again. Where the hub says that it dropped something, what is
/// missing before the batch is counted in `skipped`.
pub(crate) fn follow(
    stream: &mut Stream,
    (host, key): (&HostId, &str),
    batch: Vec<Passed>,
    (dropped, skipped): (bool, &mut u64),
) -> Result<Vec<Stored>, String> {
    let Some(end) = batch.last().and_then(|last| last.end.clone()) else {
        return Err("its last batch has no signature".to_owned());
    };
    if end.n != batch.len() {
        return Err(format!("a batch of {} came with {} records", end.n, batch.len()));
    }
    let n = end.n as u64;
    let Some(base) = end.count.checked_sub(n) else {
        return Err(format!("a batch of {n} records is said to end at {}", end.count));
    };
    let first = batch.first().map_or(0, |first| first.seq);
    // A host that sends its history after all begins again. What follows it follows from there.
    if base == 0 && end.base == Hash::GENESIS {
        stream.begin();
    }
    if batch.last().is_some_and(|last| last.seq <= stream.seq) {
        return Ok(Vec::new());
    }
    if stream.seq > 0 && dropped && base > stream.count && first > stream.seq {
        *skipped += base - stream.count;
        stream.begin();
    }
    if stream.seq == 0 {
        (stream.count, stream.link) = (base, end.base.to_string());
    }
    let (mut link, mut count) = (stream.link(), stream.count);
    let mut before: Option<(u64, Hash)> =
        Hash::parse(&stream.hash).filter(|_| stream.seq > 0).map(|hash| (stream.seq, hash));
    let mut found = Vec::new();
    for passed in batch.into_iter().filter(|passed| passed.seq > stream.seq) {
        let previous = previous(before, &passed)?;
        before = Some((passed.seq, passed.hash));
        (link, count) = (share::link(&link, &passed.hash), count + 1);
        let stored = stored(host, key, passed, previous)?;
        if !stored.follows(&previous) {
            return Err(format!("record {} was changed on the way", stored.seq()));
        }
        found.push(stored);
    }
    check_signature(stream, (host, key), (count, link), &end)?;
    if let Some((seq, hash)) = before {
        (stream.seq, stream.hash) = (seq, hash.to_string());
    }
    (stream.count, stream.link) = (count, link.to_string());
    Ok(found)
}

fn check_signature(
    stream: &Stream,
    (host, key): (&HostId, &str),
    (count, link): (u64, Hash),
    end: &End,
) -> Result<(), String> {
    if count != end.count {
        let missing = format!("{count} records of it came, it sent {}", end.count);
        return Err(missing);
    }
    if is_signed(&stream.public, (host.as_str(), key), count, &link, &end.signature) {
        return Ok(());
    }
    Err("its signature does not cover what came".to_owned())
}

/// The hash of the record before, by what it carries or by the one that came before it.
fn previous(before: Option<(u64, Hash)>, passed: &Passed) -> Result<Hash, String> {
    let beside = before.filter(|(seq, _)| seq + 1 == passed.seq).map(|(_, hash)| hash);
    let first = (passed.seq == 1).then_some(Hash::GENESIS);
    match (passed.prev, beside.or(first)) {
        (Some(carried), Some(known)) if carried != known => {
            Err(format!("record {} does not follow the one before it", passed.seq))
        }
        (Some(carried), _) => Ok(carried),
        (None, Some(known)) => Ok(known),
        (None, None) => Err(format!("what came before record {} is not said", passed.seq)),
    }
}

fn stored(host: &HostId, key: &str, passed: Passed, previous: Hash) -> Result<Stored, String> {
    let Passed { seq, at, id, session, kind, bare, hash, body, .. } = passed;
    let at = Timestamp::from_millisecond(at).map_err(|_| format!("record {seq} has no time"))?;
    let (host, session) = (host.clone(), session.map(SessionId::new));
    let repo = (!bare).then(|| RepoId::new(key));
    let prev = Some(previous);
    match (id, body) {
        (Some(id), Some(body)) => {
            let id = RecordId::new(id);
            Ok(Stored::Whole(Record { host, seq, id, at, kind, session, repo, body, hash, prev }))
        }
        (None, None) => {
            Ok(Stored::Erased(Erased { host, seq, at, kind, session, repo, hash, prev }))
        }
        _ => Err(format!("record {seq} is half there")),
    }
}

/// What of it is taken in, and how much is not. What does not travel is left out, whoever sent it; each of the
/// others says what it follows.
pub(crate) fn admitted(mut found: Vec<Stored>) -> (Vec<Stored>, u64) {
    let all = found.len();
    found.retain(|stored| match stored {
        // One that holds a secret was not withheld where it was written, and is not spread any further.
        Stored::Whole(record) => {
            share::travels(&record.kind) && !share::holds_a_secret(&record.body)
        }
        Stored::Erased(erased) => share::travels(&erased.kind),
    });
    let refused = (all - found.len()) as u64;
    (found, refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: u64, kind: &str, body: &str) -> Stored {
        Stored::Whole(Record {
            host: HostId::parse("00000000000000aa").unwrap(),
            seq,
            id: "0192f0c1-2345-7000-8000-000000000001".parse().unwrap(),
            at: Timestamp::UNIX_EPOCH,
            kind: kind.to_owned(),
            session: None,
            repo: None,
            body: body.to_owned(),
            hash: Hash::from_bytes([1; 32]),
            prev: Some(Hash::from_bytes([2; 32])),
        })
    }

    #[test]
    fn what_does_not_travel_or_holds_a_secret_is_left_out_and_the_others_say_what_they_follow() {
        let secret = format!(r#"{{"text":"use ghp_{}"}}"#, "a1B2".repeat(9));
        let found = vec![
            record(1, "note.added", r#"{"text":"plain"}"#),
            record(2, "note.added", r#"{"text":"beside it"}"#),
            record(3, "note.added", &secret),
            record(4, "note.added", r#"{"text":"behind a gap"}"#),
            record(5, "approval.decided", "{}"),
        ];
        let (taken, refused) = admitted(found);
        let kept: Vec<(u64, bool)> =
            taken.iter().map(|stored| (stored.seq(), stored.prev().is_some())).collect();
        assert_eq!((kept, refused), (vec![(1, true), (2, true), (4, true)], 2));
    }
}
