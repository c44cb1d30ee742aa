//! The one clock. Everything that needs the time is given it from here.

use jiff::Timestamp;

/// The time, or a time that a test holds still.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    held: Option<Timestamp>,
}

impl Clock {
    /// The clock that `HEIRLOOM_CLOCK` asks for: held at that RFC 3339 time, or running.
    pub fn from_setting(setting: Option<&str>) -> Result<Self, jiff::Error> {
        let held = setting.map(str::parse).transpose()?;
        Ok(Self { held })
    }

    /// The time, to the millisecond: no record is more exact, so no comparison should be.
    #[expect(clippy::disallowed_methods, reason = "this is the one clock")]
    pub fn now(&self) -> Timestamp {
        let now = self.held.unwrap_or_else(Timestamp::now);
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_clock_stands_still() {
        let clock = Clock::from_setting(Some("2026-01-12T15:30:00.123456Z")).unwrap();
        assert_eq!(clock.now().to_string(), "2026-01-12T15:30:00.123Z");
        assert_eq!(clock.now(), clock.now());
        assert!(Clock::from_setting(Some("yesterday")).is_err());
    }
}
