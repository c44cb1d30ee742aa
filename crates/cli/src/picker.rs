//! Choosing one of many on a whole screen, narrowing down by typing.

use std::io;

use crate::screen::{Key, Screen};
use crate::ui::{BOLD, CARE, DIM, counted, first_line};

/// What can be chosen.
pub(crate) trait Choices {
    /// Narrows down to what fits what was typed. Returns how many that are.
    fn narrow(&mut self, typed: &str) -> usize;

    /// One that is left, in a line: what it is, and what it is known by.
    fn row(&self, place: usize) -> (String, String);

    /// What one that is left is about: a heading and its lines.
    fn about(&self, place: usize) -> Vec<(&'static str, Vec<String>)>;
}

/// From this many columns on, what is chosen is told beside the list and not below it.
const BESIDE: usize = 120;

/// Lets a person choose. Returns the place among what was left, or nothing if they left.
pub(crate) fn pick(choices: &mut dyn Choices, mut typed: String) -> io::Result<Option<usize>> {
    let mut screen = Screen::open()?;
    let (mut left, mut chosen) = (choices.narrow(&typed), 0_usize);
    loop {
        let state = State { typed: &typed, left, chosen, size: screen.size() };
        screen.draw(&state.lines(choices), typed.chars().count() + 2)?;
        let page = screen.size().1 / 2;
        let before = typed.len();
        match screen.key() {
            Key::Escape | Key::Gone => return Ok(None),
            Key::Enter if left > 0 => return Ok(Some(chosen)),
            Key::Up => chosen = chosen.saturating_sub(1),
            Key::Down => chosen += 1,
            Key::PageUp => chosen = chosen.saturating_sub(page),
            Key::PageDown => chosen += page,
            Key::Char(char) => typed.push(char),
            Key::Back => drop(typed.pop()),
            Key::Clear => typed.clear(),
            Key::Enter | Key::Other => {}
        }
        if typed.len() != before {
            (left, chosen) = (choices.narrow(&typed), 0);
        }
        chosen = chosen.min(left.saturating_sub(1));
    }
}

/// What is on the screen.
struct State<'a> {
    typed: &'a str,
    left: usize,
    chosen: usize,
    /// Columns and lines.
    size: (usize, usize),
}

impl State<'_> {
    fn lines(&self, choices: &dyn Choices) -> Vec<String> {
        let (width, height) = self.size;
        let mut lines = vec![format!("{BOLD}>{BOLD:#} {}", self.typed)];
        let help = "Enter continues, Esc quits";
        let count = counted(self.left as u64, "conversation");
        lines.push(format!("{DIM}{}{DIM:#}", first_line(&format!("{count} · {help}"), width)));
        let room = height.saturating_sub(lines.len());
        let is_beside = width >= BESIDE;
        let for_list = if is_beside { room } else { room - room / 3 };
        let list_width = if is_beside { width / 2 } else { width };
        let list = self.list(choices, for_list, list_width);
        let about_width = if is_beside { width - list_width - 3 } else { width };
        let about = self.about(choices, about_width);
        if is_beside {
            for place in 0..room {
                let row = list.get(place).map_or_else(|| " ".repeat(list_width), Clone::clone);
                let told = about.get(place).map(String::as_str).unwrap_or_default();
                lines.push(format!("{row} {DIM}│{DIM:#} {told}"));
            }
        } else {
            let told = room - for_list;
            lines.extend(list);
            lines.resize(2 + for_list, String::new());
            if told > 0 {
                lines.push(format!("{DIM}{}{DIM:#}", "─".repeat(width)));
                lines.extend(about.into_iter().take(told - 1));
            }
        }
        lines.truncate(height);
        lines
    }

    /// The rows around the chosen one, each as wide as the list.
    fn list(&self, choices: &dyn Choices, room: usize, width: usize) -> Vec<String> {
        let first = self.chosen.saturating_sub(room.saturating_sub(1));
        let row = |place: usize| {
            let (what, known) = choices.row(place);
            let known = first_line(&known, width / 3);
            let what = first_line(&what, width.saturating_sub(known.chars().count() + 4));
            let gap = width.saturating_sub(2 + what.chars().count() + known.chars().count());
            let gap = " ".repeat(gap);
            if place == self.chosen {
                format!("{CARE}> {what}{CARE:#}{gap}{DIM}{known}{DIM:#}")
            } else {
                format!("  {what}{gap}{DIM}{known}{DIM:#}")
            }
        };
        (first..self.left).take(room).map(row).collect()
    }

    fn about(&self, choices: &dyn Choices, width: usize) -> Vec<String> {
        if self.left == 0 {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for (heading, told) in choices.about(self.chosen) {
            if !told.is_empty() {
                lines.push(format!("{BOLD}{heading}{BOLD:#}"));
                let line =
                    |text: &String| format!("  {}", first_line(text, width.saturating_sub(2)));
                lines.extend(told.iter().map(line));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Choices for Two {
        fn narrow(&mut self, _typed: &str) -> usize {
            2
        }

        fn row(&self, place: usize) -> (String, String) {
            (
                format!("conversation {place} {}", "with a long title ".repeat(20)),
                "claude main".to_owned(),
            )
        }

        fn about(&self, place: usize) -> Vec<(&'static str, Vec<String>)> {
            vec![("Asked", vec![format!("why {place}?")]), ("Left", Vec::new())]
        }
    }

    fn drawn(width: usize) -> Vec<String> {
        let state = State { typed: "tok", left: 2, chosen: 1, size: (width, 24) };
        state.lines(&Two).iter().map(|line| plain(&crate::printer::shown(line))).collect()
    }

    fn plain(text: &str) -> String {
        let mut parts = text.split("\u{1b}[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| all + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_none_is_below_it() {
        for width in [20, 80, 119, 120, 200] {
            let lines = drawn(width);
            assert!(lines.len() <= 24, "{width}: {}", lines.len());
            for line in &lines {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            assert_eq!(lines[0], "> tok");
            assert!(lines.iter().any(|line| line.contains("why 1?")), "{lines:#?}");
        }
    }

    #[test]
    fn what_is_chosen_is_told_below_a_narrow_list_and_beside_a_wide_one() {
        let asked =
            |lines: &[String]| lines.iter().position(|line| line.contains("Asked")).unwrap();
        assert!(asked(&drawn(80)) > 10);
        assert_eq!(asked(&drawn(200)), 2);
        assert!(drawn(200)[3].starts_with("> conversation 1"), "{:?}", drawn(200)[3]);
    }
}
