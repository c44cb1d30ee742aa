//! How times look: near ones as a distance, far ones as a date.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A time as people would say it at `now`.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    ago_in(at, now, TimeZone::system())
}

fn ago_in(at: Timestamp, now: Timestamp, zone: TimeZone) -> String {
    let seconds = now.as_second() - at.as_second();
    match seconds {
        0..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => count(seconds / MINUTE, "minute"),
        HOUR..DAY => count(seconds / HOUR, "hour"),
        _ => at.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string(),
    }
}

/// A time of day, with its date where that is not today: when something ends.
pub(crate) fn by_the_clock(at: Timestamp, now: Timestamp) -> String {
    by_the_clock_in(at, now, &TimeZone::system())
}

fn by_the_clock_in(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let format = if at.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    at.strftime(format).to_string()
}

/// How long something lasted: `0m48s`, `1h02m`.
pub(crate) fn lasted(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds / 60 {
        minutes @ 0..60 => format!("{minutes}m{:02}s", seconds % 60),
        minutes => format!("{}h{:02}m", minutes / 60, minutes % 60),
    }
}

fn count(number: i64, unit: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_told_in_two_units() {
        assert_eq!(
            [0, 48_900, 192_000, 3_720_000].map(lasted),
            ["0m00s", "0m48s", "3m12s", "1h02m"]
        );
    }

    #[test]
    fn what_ends_today_has_no_date() {
        let now: Timestamp = "2026-01-12T23:30:00Z".parse().unwrap();
        let say = |zone: &TimeZone| {
            ["2026-01-12T23:59:00Z", "2026-01-13T00:01:00Z"]
                .map(|at| by_the_clock_in(at.parse().unwrap(), now, zone))
        };
        assert_eq!(say(&TimeZone::UTC), ["23:59", "2026-01-13 00:01"]);
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(say(&east), ["01:59", "02:01"]);
    }

    #[test]
    fn near_times_are_distances_and_far_ones_dates() {
        let now: Timestamp = "2026-01-12T15:30:00Z".parse().unwrap();
        let say = |seconds: i64| {
            let at = Timestamp::from_second(now.as_second() - seconds).unwrap();
            ago_in(at, now, TimeZone::UTC)
        };
        assert_eq!(
            [0, 59, 60, 150, 7200, 86399, 86400, -5].map(say),
            [
                "just now",
                "just now",
                "1 minute ago",
                "2 minutes ago",
                "2 hours ago",
                "23 hours ago",
                "2026-01-11 15:30",
                "2026-01-12 15:30"
            ]
        );
    }
}
