//! The time a question speaks of: `in March`, `on 5 May 2026`, `yesterday`, `last Friday`.
//!
//! It is a preference, not a filter: what was said around it is found first.

use jiff::Span;
use jiff::civil::{Date, Weekday, date};

/// What it is worth to be said on the day that a question names, in the month, soon after the month, in the third of a
/// year, in the year. A word is worth 2 to 10.
const ON_THE_DAY: f64 = 15.6;
const IN_THE_MONTH: f64 = 10.4;
const SOON_AFTER: f64 = 6.2;
const IN_A_THIRD: f64 = 7.8;
const IN_THE_YEAR: f64 = 5.2;

/// What a month counts that is not the last of its name.
const OF_ANOTHER_YEAR: f64 = 0.9;

/// A time that a question names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Day(Date),
    /// A month of a year.
    Month(i16, i8),
    /// A month of which nobody said the year: that of this one, or if not, of another.
    MonthOfSome(i16, i8),
    Year(i16),
    /// The first, second or last four months of a year, from 0.
    Third(i16, i8),
    /// Some days that end with this one.
    Days(Date, i16),
}

impl Named {
    /// What being said on `day` is worth. People speak of a thing after it happened more often than
    /// before.
    pub fn worth(self, day: Date) -> f64 {
        match self {
            Self::Day(named) => around(days_between(named, day)),
            Self::Days(last, count) => match days_between(last, day) {
                after @ 1.. => around(after),
                within if within > -i64::from(count) => ON_THE_DAY,
                before => around(before + i64::from(count)),
            },
            Self::MonthOfSome(year, month) => {
                let begun = if day.month() < month { day.year() - 1 } else { day.year() };
                let share = if begun == year { 1.0 } else { OF_ANOTHER_YEAR };
                share * Self::Month(begun, month).worth(day)
            }
            Self::Month(year, month) => {
                if (day.year(), day.month()) == (year, month) {
                    return IN_THE_MONTH;
                }
                let following = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                if (day.year(), day.month()) == following && day.day() <= 15 {
                    SOON_AFTER
                } else {
                    0.0
                }
            }
            Self::Year(year) => {
                if day.year() == year {
                    IN_THE_YEAR
                } else {
                    0.0
                }
            }
            Self::Third(year, _) => {
                let (first, last) = self.span();
                let within = if (first..=last).contains(&day) { IN_A_THIRD } else { 0.0 };
                within.max(Self::Year(year).worth(day) / 2.0)
            }
        }
    }

    /// The days it covers, first and last.
    pub fn span(self) -> (Date, Date) {
        match self {
            Self::Day(day) => (day, day),
            Self::Days(last, count) => {
                (last.checked_sub(Span::new().days(count - 1)).unwrap_or(last), last)
            }
            Self::Month(year, month) | Self::MonthOfSome(year, month) => {
                let first = Date::new(year, month, 1).unwrap_or(Date::MIN);
                (first, first.last_of_month())
            }
            Self::Year(year) => (date(year, 1, 1), date(year, 12, 31)),
            Self::Third(year, third) => {
                let first = Date::new(year, third * 4 + 1, 1).unwrap_or(Date::MIN);
                let last = Date::new(year, third * 4 + 4, 1).unwrap_or(Date::MIN);
                (first, last.last_of_month())
            }
        }
    }
}

/// What being `days` after a named day is worth; before it, they are negative.
fn around(days: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "days within a calendar are few")]
    let days = days as f64;
    ON_THE_DAY * if days >= 0.0 { -days / 10.0 } else { days / 2.0 }.exp()
}

fn days_between(from: Date, to: Date) -> i64 {
    from.until(to).map_or(0, |span| i64::from(span.get_days()))
}

/// The time that `text` names, asked on the day `today`. Few questions name one, and to know the day
/// the database of time zones is read, so it is asked for only then.
pub fn named(text: &str, today: &dyn Fn() -> Date) -> Option<Named> {
    let lower = text.to_lowercase();
    if let Some(day) = lower.split_whitespace().find_map(iso) {
        return Some(day);
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    // The last week of March is none that is counted from today.
    with_month(&words, today).or_else(|| relative(&words, today)).or_else(|| year(&words))
}

/// The time that `text` is and says nothing else, as a flag takes it: `late October`, `mid 2026`, `March`.
pub fn alone(text: &str, today: &dyn Fn() -> Date) -> Option<Named> {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_time = words.all(is_of_time);
    let led = |word: &str| named(&format!("{word} {text}"), today);
    let found = || named(text, today).or_else(|| led("in")).or_else(|| led("on"));
    is_time.then(found).flatten()
}

/// Whether a word says nothing but when: a question of such words only asks for a time.
pub fn is_of_time(word: &str) -> bool {
    const WORDS: [&str; 30] = [
        "ago",
        "beginning",
        "day",
        "days",
        "during",
        "early",
        "end",
        "first",
        "half",
        "last",
        "late",
        "mid",
        "middle",
        "month",
        "months",
        "of",
        "on",
        "past",
        "since",
        "start",
        "the",
        "this",
        "today",
        "week",
        "weekend",
        "weeks",
        "year",
        "years",
        "yesterday",
        "in",
    ];
    let word = word.to_lowercase();
    let is_number = word.starts_with(|first: char| first.is_ascii_digit())
        && (word.bytes().all(|byte| byte.is_ascii_digit()) || day_of_month(&word).is_some());
    let is_named = month(&word).is_some() || weekday(&word).is_some() || count(&word).is_some();
    is_number || is_named || WORDS.contains(&word.as_str())
}

/// `2026-03-05` or `2026-03`, `5.3.2026` or `25/3/2026`, with whatever punctuation around it.
fn iso(word: &str) -> Option<Named> {
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    if let Some(day) = day_first(word) {
        return Some(Named::Day(day));
    }
    if word.len() == 10 {
        return word.parse().ok().map(Named::Day);
    }
    let (year, month) = word.split_once('-')?;
    if year.len() != 4 || month.len() != 2 {
        return None;
    }
    let (year, month) = (plausible_year(year)?, month.parse().ok()?);
    (1..=12).contains(&month).then_some(Named::Month(year, month))
}

/// The day first, as most of the world writes it. With slashes only where it cannot be the month: `3/5/2026` is not one day
/// everywhere.
fn day_first(word: &str) -> Option<Date> {
    let separator = if word.contains('.') { '.' } else { '/' };
    let [day, month, year] = word.split(separator).collect::<Vec<_>>().try_into().ok()?;
    let (day, month): (i8, i8) = (day.parse().ok()?, month.parse().ok()?);
    let year = plausible_year(year)?;
    (separator == '.' || day > 12).then(|| Date::new(year, month, day).ok()).flatten()
}

/// A small number, in digits or as a word.
fn count(word: &str) -> Option<i64> {
    const NUMBERS: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let place = NUMBERS.iter().position(|name| *name == word);
    let named = place.and_then(|place| i64::try_from(place + 1).ok());
    named.or_else(|| word.parse().ok().filter(|count| (1..1000).contains(count)))
}

fn relative(words: &[&str], today: &dyn Fn() -> Date) -> Option<Named> {
    let back = |days: i64| today().checked_sub(Span::new().days(days)).ok();
    for (place, word) in words.iter().enumerate() {
        let next = words.get(place + 1).copied().unwrap_or_default();
        let day = match (*word, next) {
            ("today", _) => Some(today()),
            ("yesterday", _) => back(1),
            ("last" | "this" | "past", "week") => {
                let end = if *word == "last" { back(7)? } else { today() };
                return Some(Named::Days(end, 7));
            }
            ("last", "month") => {
                let month = today().first_of_month().yesterday().ok()?;
                return Some(Named::Month(month.year(), month.month()));
            }
            ("this", "month") => return Some(Named::Month(today().year(), today().month())),
            ("last", "year") => return Some(Named::Year(today().year() - 1)),
            ("last" | "on", name) => {
                weekday(name).and_then(|day| today().nth_weekday(-1, day).ok())
            }
            (word, "day" | "days" | "week" | "weeks") if words.get(place + 2) == Some(&"ago") => {
                let count = count(word).or((word == "a").then_some(1))?;
                back(if next.starts_with("week") { count * 7 } else { count })
            }
            _ => None,
        };
        if let Some(day) = day {
            return Some(Named::Day(day));
        }
    }
    None
}

/// A third of a month.
#[derive(Debug, Clone, Copy)]
enum Part {
    Early,
    Middle,
    Late,
}

impl Part {
    fn of(self, year: i16, month: i8) -> Named {
        let day = |day| Date::new(year, month, day).unwrap_or(Date::MIN);
        let last = match self {
            Self::Early => day(10),
            Self::Middle => day(20),
            Self::Late => day(1).last_of_month(),
        };
        Named::Days(last, 10)
    }
}

/// Which part of a month is spoken of, from the words before its name: `early`, `the end of`, `the first week of`.
fn part(before: &[&str]) -> Option<Part> {
    let (before, of) = match before {
        [before @ .., "of"] => (before, true),
        _ => (before, false),
    };
    let (last, before) = before.split_last()?;
    match (*last, of) {
        ("early", _) | ("beginning" | "start", true) => Some(Part::Early),
        ("mid", _) | ("middle", true) => Some(Part::Middle),
        ("late", _) | ("end", true) => Some(Part::Late),
        ("day" | "days" | "week" | "weeks" | "weekend" | "half", true) => {
            let nearest = before.iter().rev().take(2);
            nearest.copied().find_map(|word| match word {
                "first" => Some(Part::Early),
                "last" => Some(Part::Late),
                _ => None,
            })
        }
        _ => None,
    }
}

/// `March`, `March 2026`, `5 March`, `March 5th, 2026`. `may` alone is a verb.
fn with_month(words: &[&str], today: &dyn Fn() -> Date) -> Option<Named> {
    for (place, word) in words.iter().enumerate() {
        let Some(month) = month(word) else { continue };
        let near = |offset: isize| place.checked_add_signed(offset).and_then(|at| words.get(at));
        // `3 November`, `the 3rd of November`
        let before = near(-1).filter(|word| **word != "of").or_else(|| near(-2));
        let before = before.and_then(|word| day_of_month(word));
        let after = near(1).and_then(|word| day_of_month(word));
        let day = before.or(after);
        let year_at = if after.is_some() && before.is_none() { 2 } else { 1 };
        let year = near(year_at).and_then(|word| plausible_year(word));
        let part = part(&words[..place]);
        let is_named = year.is_some()
            || day.is_some()
            || part.is_some()
            || near(-1).is_some_and(|word| ["in", "during", "since", "last"].contains(word));
        if !is_named {
            continue;
        }
        let of_year = |year| match day {
            Some(day) => Date::new(year, month, day).ok().map(Named::Day),
            None => Some(part.map_or(Named::Month(year, month), |part| part.of(year, month))),
        };
        let Some(year) = year else {
            // The last one there was.
            let this = of_year(today().year()).filter(|named| named.span().0 <= today());
            let last = this.or_else(|| of_year(today().year() - 1));
            return last.map(|named| match named {
                Named::Month(year, month) => Named::MonthOfSome(year, month),
                other => other,
            });
        };
        return of_year(year);
    }
    None
}

/// A year alone is one only where it is said to be: otherwise it is a number.
fn year(words: &[&str]) -> Option<Named> {
    let years = words.iter().enumerate().filter_map(|(at, word)| Some((at, plausible_year(word)?)));
    let third = |(at, year): (usize, i16)| match part(&words[..at])? {
        Part::Early => Some(Named::Third(year, 0)),
        Part::Middle => Some(Named::Third(year, 1)),
        Part::Late => Some(Named::Third(year, 2)),
    };
    if let Some(named) = years.clone().find_map(third) {
        return Some(named);
    }
    let said = |pair: &[&str]| {
        ["in", "during", "of", "since"]
            .contains(&pair[0])
            .then(|| plausible_year(pair[1]))
            .flatten()
    };
    words.windows(2).find_map(said).map(Named::Year)
}

fn plausible_year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| word.len() == 4 && (1990..2100).contains(year))
}

fn day_of_month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word[digits.len()..];
    let fits = ["", "st", "nd", "rd", "th"].contains(&ending);
    digits.parse().ok().filter(|day| fits && (1..=31).contains(day))
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let fits = |name: &str| word == name || (word.len() == 3 && name.starts_with(word));
    let place = MONTHS.iter().position(|name| fits(name))?;
    i8::try_from(place + 1).ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Monday.
    const TODAY: Date = date(2026, 1, 12);

    #[test]
    fn times_are_read_as_people_say_them() {
        for (text, expected) in [
            ("what broke on 2026-01-05?", Named::Day(date(2026, 1, 5))),
            ("the log of 2025-11.", Named::Month(2025, 11)),
            ("yesterday's failure", Named::Day(date(2026, 1, 11))),
            ("what did we do last friday", Named::Day(date(2026, 1, 9))),
            ("decided on Monday", Named::Day(date(2026, 1, 5))),
            ("the outage 3 days ago", Named::Day(date(2026, 1, 9))),
            ("tokens in March", Named::MonthOfSome(2025, 3)),
            ("tokens in January", Named::MonthOfSome(2026, 1)),
            ("on 7 May 2023 she said", Named::Day(date(2023, 5, 7))),
            ("May 7th, 2023", Named::Day(date(2023, 5, 7))),
            ("December 24", Named::Day(date(2025, 12, 24))),
            ("last week", Named::Days(date(2026, 1, 5), 7)),
            ("the last week of August 2023", Named::Days(date(2023, 8, 31), 10)),
            ("early in the first two weeks of May", Named::Days(date(2025, 5, 10), 10)),
            ("the outage in late October", Named::Days(date(2025, 10, 31), 10)),
            ("mid-March 2024", Named::Days(date(2024, 3, 20), 10)),
            ("at the end of february 2024", Named::Days(date(2024, 2, 29), 10)),
            ("on Friday, 12 May 2023", Named::Day(date(2023, 5, 12))),
            ("the 3rd of January", Named::Day(date(2026, 1, 3))),
            ("27.10.2025", Named::Day(date(2025, 10, 27))),
            ("27/10/2025", Named::Day(date(2025, 10, 27))),
            ("two weeks ago", Named::Day(date(2025, 12, 29))),
            ("a week ago", Named::Day(date(2026, 1, 5))),
            ("last month", Named::Month(2025, 12)),
            ("in 2024", Named::Year(2024)),
            ("what broke in mid 2025", Named::Third(2025, 1)),
            ("at the end of 2024", Named::Third(2024, 2)),
        ] {
            assert_eq!(named(text, &|| TODAY), Some(expected), "{text}");
        }
    }

    #[test]
    fn words_that_say_when_are_told_from_words_that_say_what() {
        assert!("3 November".split(' ').all(is_of_time));
        assert!("the 3rd of March 2026".split(' ').all(is_of_time));
        assert!("two weeks ago".split(' ').all(is_of_time));
        assert!(!["tokens", "3passed", "port", "8h"].into_iter().any(is_of_time));
    }

    #[test]
    fn a_flag_takes_the_words_that_a_question_does_and_nothing_else() {
        for (text, from, to) in [
            ("late October", (2025, 10, 22), (2025, 10, 31)),
            ("early May", (2025, 5, 1), (2025, 5, 10)),
            ("mid 2026", (2026, 5, 1), (2026, 8, 31)),
            ("mid-2026", (2026, 5, 1), (2026, 8, 31)),
            ("March", (2025, 3, 1), (2025, 3, 31)),
            ("may", (2025, 5, 1), (2025, 5, 31)),
            ("2024", (2024, 1, 1), (2024, 12, 31)),
            ("2024-02", (2024, 2, 1), (2024, 2, 29)),
            ("yesterday", (2026, 1, 11), (2026, 1, 11)),
            ("the end of February 2024", (2024, 2, 20), (2024, 2, 29)),
        ] {
            let day = |(year, month, of_month)| date(year, month, of_month);
            let found = alone(text, &|| TODAY).map(Named::span);
            assert_eq!(found, Some((day(from), day(to))), "{text}");
        }
        for text in ["", "soon", "it may fail", "tokens in March", "7d", "port 2024", "3/5/2026"] {
            assert_eq!(alone(text, &|| TODAY), None, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_time_is_none() {
        for text in [
            "it may fail",
            "3/5/2026",
            "march on",
            "port 2024",
            "version 2.1",
            "error 2026-99-99",
            "sec",
        ] {
            assert_eq!(named(text, &|| TODAY), None, "{text}");
        }
    }

    #[test]
    fn the_day_itself_is_worth_most_and_the_days_after_more_than_those_before() {
        let named = Named::Day(TODAY);
        let worth = |day| named.worth(date(2026, 1, day));
        assert!(worth(12) > worth(13) && worth(13) > worth(11) && worth(11) > worth(5));
        assert!(Named::Month(2025, 12).worth(date(2026, 1, 3)) > 0.0);
        assert!(Named::Days(TODAY, 7).worth(date(2026, 1, 6)) > 11.0);
        let december =
            |year, month, day| Named::MonthOfSome(2025, 12).worth(date(year, month, day));
        assert!(december(2025, 12, 3) > december(2023, 12, 3));
        assert!(december(2023, 12, 3) > december(2024, 1, 3) && december(2024, 1, 3) > 0.0);
        assert!(december(2025, 11, 3).abs() < 1e-9);
        assert!(Named::Days(TODAY, 7).worth(date(2025, 12, 6)) < 1.0);
    }
}
