//! How text fits a screen: tables that give way, and lines that break between words.
//!
//! In a pipe nothing is cut or broken: whoever reads it wants all of it. `COLUMNS` says how wide to be where there is
//! no terminal to ask.

use std::sync::OnceLock;

use crate::printer;

/// What is between two columns.
const GAP: usize = 2;

/// How narrow the column that gives way may get before others are left out.
const COMFORTABLE: usize = 24;

/// How narrow any column may get at all.
const NARROWEST: usize = 8;

/// How wide an answer may be; `None` in a pipe.
pub(crate) fn width() -> Option<usize> {
    static WIDTH: OnceLock<Option<usize>> = OnceLock::new();
    *WIDTH
        .get_or_init(|| if printer::is_terminal() { Some(crate::footer::width()) } else { told() })
}

/// How wide anything else may be, which goes to stderr.
pub(crate) fn err_width() -> Option<usize> {
    if printer::is_err_terminal() { Some(crate::footer::width()) } else { told() }
}

fn told() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// A table without lines: a row of headings and aligned columns. Cells are plain text.
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
    yielding: Option<usize>,
    dispensable: Vec<usize>,
}

impl Columns {
    pub(crate) fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| heading.to_uppercase()).collect();
        Self { rows: vec![headings], right: Vec::new(), yielding: None, dispensable: Vec::new() }
    }

    /// Aligns a column of numbers to the right.
    pub(crate) fn right(mut self, column: usize) -> Self {
        self.right.push(column);
        self
    }

    /// Cuts this column on a narrow screen; without a word it is the last.
    pub(crate) fn yielding(mut self, column: usize) -> Self {
        self.yielding = Some(column);
        self
    }

    /// Leaves these columns out on a narrow screen, the first of them first.
    pub(crate) fn dispensable(mut self, columns: &[usize]) -> Self {
        self.dispensable.extend(columns);
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn render(&self) -> String {
        self.render_within(width())
    }

    pub(crate) fn render_within(&self, room: Option<usize>) -> String {
        let count = self.rows.first().map_or(0, Vec::len);
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| breadth(cell)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..count).map(widest).collect();
        let mut shown: Vec<usize> = (0..count).collect();
        if let Some(room) = room {
            self.fit(room, &mut shown, &mut widths);
        }
        let line = |row: &Vec<String>| {
            let cells = shown.iter().filter_map(|column| {
                let cell = cut(row.get(*column)?, widths[*column]);
                let fill = " ".repeat(widths[*column].saturating_sub(breadth(&cell)));
                let right = self.right.contains(column);
                Some(if right { format!("{fill}{cell}") } else { format!("{cell}{fill}") })
            });
            cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Makes the columns fit: first the one that gives way gets narrower, then others are left out, then every wide one
    /// gets narrower.
    fn fit(&self, room: usize, shown: &mut Vec<usize>, widths: &mut [usize]) {
        let taken = |shown: &[usize], widths: &[usize]| {
            let gaps = GAP * shown.len().saturating_sub(1);
            shown.iter().map(|column| widths[*column]).sum::<usize>() + gaps
        };
        let Some(yielding) = self.yielding.or(shown.last().copied()) else { return };
        let natural = widths[yielding];
        let squeeze = |shown: &[usize], widths: &mut [usize], least: usize| {
            widths[yielding] = natural;
            let over = taken(shown, widths).saturating_sub(room);
            widths[yielding] = natural.saturating_sub(over).max(least.min(natural));
        };
        squeeze(shown, widths, COMFORTABLE);
        for column in &self.dispensable {
            if taken(shown, widths) <= room {
                return;
            }
            shown.retain(|each| each != column);
            squeeze(shown, widths, COMFORTABLE);
        }
        while taken(shown, widths) > room {
            let wide = shown.iter().copied().filter(|column| widths[*column] > NARROWEST);
            // The first is the name of the row, which somebody may want to type: it is cut last.
            let wide = wide.max_by_key(|column| (*column != shown[0], widths[*column]));
            let Some(wide) = wide else { return };
            widths[wide] -= 1;
        }
    }
}

/// How many columns of a terminal a text takes. East Asian characters and emoji take two, marks above others none.
pub(crate) fn breadth(text: &str) -> usize {
    text.chars().map(character_breadth).sum()
}

/// The same of one character.
pub(crate) fn character_breadth(character: char) -> usize {
    match character {
        '\0'..='\u{7f}' => 1,
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        other => printer::spelled_breadth(other).unwrap_or(1),
    }
}

/// The text, cut to a width with a mark where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if breadth(text) <= width {
        return text.to_owned();
    }
    let mut taken = character_breadth('…');
    let kept: String = text
        .chars()
        .take_while(|character| {
            taken += character_breadth(*character);
            taken <= width
        })
        .collect();
    format!("{}…", kept.trim_end())
}

/// The first line of a text, for a column that is cut where the screen ends.
pub(crate) fn one_line(text: &str) -> String {
    first_line(text, usize::MAX)
}

/// The first line of a text, cut to a width.
pub(crate) fn first_line(text: &str, width: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    if text.lines().nth(1).is_none() {
        return cut(line, width);
    }
    cut(&format!("{}…", line.trim_end()), width)
}

/// Every line that is longer than `room` is broken between words; what follows is indented as far as its line was, and
/// `hanging` more. A word that is longer than a line stays whole: somebody may want to copy it.
pub(crate) fn wrap(text: &str, room: usize, hanging: usize) -> String {
    let wrapped: Vec<String> = text.lines().map(|line| wrap_line(line, room, hanging)).collect();
    wrapped.join("\n")
}

fn wrap_line(line: &str, room: usize, hanging: usize) -> String {
    if printer::plain_breadth(line) <= room {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let further = " ".repeat((indent + hanging).min(room / 2));
    let mut whole = String::with_capacity(line.len() + 16);
    let mut at = indent;
    whole.push_str(&line[..indent]);
    let mut is_first = true;
    // What is between two words is kept, so that columns made by spaces stay columns.
    let mut rest = &line[indent..];
    while !rest.is_empty() {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let after = &rest[spaces..];
        let end = after.find(' ').unwrap_or(after.len());
        let word = &after[..end];
        let wide = printer::plain_breadth(word);
        if !is_first && at + spaces + wide > room {
            whole.push('\n');
            whole.push_str(&further);
            at = further.len();
        } else {
            whole.push_str(&rest[..spaces]);
            at += spaces;
        }
        whole.push_str(word);
        at += wide;
        is_first = false;
        rest = &after[end..];
    }
    whole
}

/// A line that begins with a label, broken to fit the screen: what follows stands `hanging` further in, below its text.
pub(crate) fn hang(line: &str, hanging: usize) -> String {
    width().map_or_else(|| line.to_owned(), |room| wrap(line, room, hanging))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Columns {
        let mut table = Columns::new(&["name", "status", "cost", "about"]).right(2);
        table = table.dispensable(&[2, 1]);
        table.row(
            ["auth-v2", "completed", "$4.20", "Rotate refresh tokens atomically"]
                .map(Into::into)
                .into(),
        );
        table.row(
            ["refine-payments", "running", "$1.10", "日本語のテキスト"].map(Into::into).into(),
        );
        table
    }

    #[test]
    fn a_table_gives_way_to_a_narrow_screen() {
        insta::assert_snapshot!(table().render_within(None), @"
        NAME             STATUS      COST  ABOUT
        auth-v2          completed  $4.20  Rotate refresh tokens atomically
        refine-payments  running    $1.10  日本語のテキスト
        ");
        insta::assert_snapshot!(table().render_within(Some(60)), @"
        NAME             STATUS      COST  ABOUT
        auth-v2          completed  $4.20  Rotate refresh tokens at…
        refine-payments  running    $1.10  日本語のテキスト
        ");
        insta::assert_snapshot!(table().render_within(Some(50)), @"
        NAME             ABOUT
        auth-v2          Rotate refresh tokens atomically
        refine-payments  日本語のテキスト
        ");
        insta::assert_snapshot!(table().render_within(Some(24)), @"
        NAME            ABOUT
        auth-v2         Rotate…
        refine-paymen…  日本語…
        ");
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        for room in [20, 24, 40, 60, 100, 160] {
            for line in table().render_within(Some(room)).lines() {
                assert!(breadth(line) <= room, "{room}: {line}");
            }
        }
    }

    #[test]
    fn lines_break_between_words_and_keep_their_indent() {
        insta::assert_snapshot!(wrap("  one two three four\nshort", 12, 2), @"
          one two
            three
            four
        short
        ");
        let long = "https://example.org/a/very/long/address/that/stays/whole";
        assert_eq!(wrap(&format!("see {long} for it"), 20, 0), format!("see\n{long}\nfor it"));
    }

    #[test]
    fn a_long_text_becomes_one_line() {
        assert_eq!(first_line("short", 10), "short");
        assert_eq!(first_line("rather long text", 10), "rather lo…");
        assert_eq!(first_line("two\nlines", 10), "two…");
        assert_eq!(first_line("日本語のテキスト", 5), "日本…");
    }
}
