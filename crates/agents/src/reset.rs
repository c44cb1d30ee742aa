//! When a limit is lifted, where an agent only says so in words.
//!
//! Asked only about the words of an error that is known to be a limit: what a model or a tool says is
//! never looked at.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;

/// The next moment that `message` names: `resets 1:10am (UTC)`, `resets 3pm`, or seconds since 1970
/// behind a bar.
pub(crate) fn read(message: &str, now: Timestamp) -> Option<Timestamp> {
    if let Some((_, seconds)) = message.split_once('|') {
        let digits: String = seconds.chars().take_while(char::is_ascii_digit).collect();
        return Timestamp::from_second(digits.parse().ok()?).ok();
    }
    let (_, rest) = message.split_once("resets ")?;
    let rest = rest.trim_start_matches("at ");
    let (clock, rest) = rest.split_once([' ', '.', ',']).unwrap_or((rest, ""));
    let time = time_of_day(clock)?;
    let zone = rest.split_once('(').and_then(|(_, zone)| Some(zone.split_once(')')?.0));
    let zone = match zone {
        Some(name) => TimeZone::get(name).ok()?,
        None => TimeZone::system(),
    };
    let today = now.to_zoned(zone.clone()).date();
    [today, today.tomorrow().ok()?]
        .into_iter()
        .filter_map(|day| zone.to_timestamp(day.to_datetime(time)).ok())
        .find(|moment| *moment > now)
}

fn time_of_day(text: &str) -> Option<Time> {
    let text = text.to_ascii_lowercase();
    let (clock, offset) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (_, Some(clock)) => (clock, Some(12)),
        _ => (text.as_str(), None),
    };
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "0"));
    let hour: i8 = hour.parse().ok()?;
    let hour = match offset {
        Some(offset) if (1..=12).contains(&hour) => hour % 12 + offset,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute.parse().ok()?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_such_moment_is_meant() {
        let now: Timestamp = "2026-01-12T07:48:00Z".parse().unwrap();
        let said = |message: &str| read(message, now).map(|at| at.to_string());
        let cap = "You've hit your session limit · resets 1:10am (UTC)";
        assert_eq!(said(cap).as_deref(), Some("2026-01-13T01:10:00Z"));
        assert_eq!(said("resets 12pm (UTC)").as_deref(), Some("2026-01-12T12:00:00Z"));
        assert_eq!(said("resets at 15:30 (UTC).").as_deref(), Some("2026-01-12T15:30:00Z"));
        let epoch = "Claude AI usage limit reached|1768233600";
        assert_eq!(said(epoch).as_deref(), Some("2026-01-12T16:00:00Z"));
        for nothing in
            ["API Error: 429", "resets soon", "resets 27pm (UTC)", "resets 1am (Nowhere)"]
        {
            assert_eq!(said(nothing), None, "{nothing}");
        }
    }
}
