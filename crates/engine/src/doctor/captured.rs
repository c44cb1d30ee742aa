//! Whether what agents say arrives, and how much of it is kept.

use heirloom_core::settings::OnOff;
use heirloom_core::words::size;
use heirloom_ledger::SessionFilter;
use jiff::Timestamp;

use super::{Check, Health};
use crate::capture::{self, Archive};
use crate::here::Here;
use crate::init;

pub(super) fn checks(here: &Here) -> Vec<Check> {
    if !here.place.is_set_up() || init::is_out(here) {
        return Vec::new();
    }
    let found = [capture(here), history(here), Some(archive(here)), unknown(here)];
    found.into_iter().flatten().collect()
}

/// Whether there is a history that nobody could be asked about.
fn history(here: &Here) -> Option<Check> {
    let untaken = capture::untaken(here, &mut here.ledger().ok()?);
    let check = Check::new("history", Health::Note, capture::untaken_in_words(untaken));
    (untaken > 0).then(|| check.hint("`heirloom sync` imports them"))
}

/// Whether agents write something that nothing is made of: those of a newer version, mostly.
fn unknown(here: &Here) -> Option<Check> {
    let facts = capture::facts(&here.home).ok()??;
    let repo = here.ledger().ok()?.repository(&here.place.repo).ok()?;
    let lines = match facts.unknown_lines(&repo).ok()? {
        0 => return None,
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    };
    let detail = format!("{lines} of a kind heirloom does not know; they are kept");
    let check = Check::new("transcripts", Health::Note, detail);
    Some(check.hint(
        "`heirloom sessions show` says how many of a session; a newer heirloom may read them",
    ))
}

/// Whether sessions of this repository are taken in, and when the last one was.
fn capture(here: &Here) -> Option<Check> {
    let ledger = here.ledger().ok()?;
    let repo = ledger.repository(&here.place.repo).ok()?;
    if !capture::is_on(&here.home, &repo) {
        let detail = "off: others have set heirloom up here, but you have not";
        let check = Check::new("capture", Health::Note, detail);
        return Some(check.hint("`heirloom init` switches it on for you"));
    }
    let filter = SessionFilter { repo: Some(&repo), limit: 1, ..SessionFilter::default() };
    let last = ledger.sessions(&filter).ok()?.sessions.into_iter().next();
    let detail = match last {
        None => "on; no session has been seen here yet".to_owned(),
        Some(last) => {
            let seen = last.completed_at.map_or(last.created_at, |end| end.max(last.created_at));
            let by = last.agent.map(|agent| format!(", {agent}")).unwrap_or_default();
            format!("on; last session seen {}{by}", ago(seen, here.clock.now()))
        }
    };
    Some(Check::new("capture", Health::Ok, detail))
}

/// How much is kept, and for how long.
fn archive(here: &Here) -> Check {
    let loaded = here.settings(&[]).ok();
    let settings = loaded.as_ref().map(|loaded| &loaded.settings.capture);
    if settings.is_some_and(|capture| capture.archive == OnOff::Off) {
        return Check::new("archive", Health::Note, "off: facts are kept, conversations are not");
    }
    let kept = Archive::new(&here.home).list();
    let bytes: u64 = kept.iter().map(|one| one.stored).sum();
    let limits = settings.map(|capture| {
        let days = capture.keep.as_secs() / (24 * 60 * 60);
        format!(" of at most {} MB, each kept for {days} days", capture.max_megabytes)
    });
    let limits = limits.unwrap_or_default();
    let detail = match kept.len() {
        0 => "nothing is in it yet".to_owned(),
        1 => format!("1 conversation, {}{limits}", size(bytes)),
        count => format!("{count} conversations, {}{limits}", size(bytes)),
    };
    Check::new("archive", Health::Ok, detail)
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    let minutes = now.duration_since(at).as_mins().max(0);
    let (count, unit) = match minutes {
        0 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_said_as_people_say_them() {
        let now: Timestamp = "2026-01-12T15:30:00Z".parse().unwrap();
        let said = ["15:30:01", "15:29:00", "15:27:30", "14:30:00", "00:00:00"];
        let said = said.map(|time| ago(format!("2026-01-12T{time}Z").parse().unwrap(), now));
        assert_eq!(
            said,
            ["just now", "1 minute ago", "2 minutes ago", "1 hour ago", "15 hours ago"]
        );
    }
}
