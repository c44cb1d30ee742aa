//! Lines and headings, outside of code and comments.

/// A heading and the lines that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub level: usize,
    /// The heading without its marks.
    pub title: String,
    /// The line the heading is on, counted from 0.
    pub at: usize,
    /// The first line behind the heading.
    pub body: usize,
    /// The line behind its own text, which is the next heading of any level.
    pub text_end: usize,
    /// The line behind all that belongs to it: the next heading that is not deeper.
    pub end: usize,
}

/// A page in lines.
pub(super) struct Text<'a> {
    /// The lines with their endings: together they are the page, byte for byte.
    pub(super) raw: Vec<&'a str>,
    /// The lines without their endings.
    pub(super) lines: Vec<&'a str>,
    /// Whether a line is inside of code or of a comment.
    pub(super) hidden: Vec<bool>,
    /// Where code or a comment begins that never ends.
    pub(super) unclosed: Option<usize>,
    /// The headings.
    pub(super) blocks: Vec<Block>,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let raw: Vec<&str> = text.split_inclusive('\n').collect();
        let mut lines: Vec<&str> = raw.iter().copied().map(without_ending).collect();
        if let Some(first) = lines.first_mut() {
            *first = first.strip_prefix('\u{feff}').unwrap_or(first);
        }
        let (hidden, unclosed) = hidden(&lines);
        let blocks = blocks(&lines, &hidden);
        Self { raw, lines, hidden, unclosed, blocks }
    }

    /// The lines of a range that are neither code nor comment, with their numbers.
    pub(super) fn plain(
        &self,
        range: std::ops::Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (usize, &'a str)> {
        range.filter(|at| !self.hidden[*at]).map(|at| (at, self.lines[at]))
    }

    /// The line behind the last one of a range that says something.
    pub(super) fn behind(&self, range: std::ops::Range<usize>) -> usize {
        let start = range.start;
        let last = range.rev().find(|at| !self.lines[*at].trim().is_empty());
        last.map_or(start, |at| at + 1)
    }
}

fn without_ending(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// All headings of a page. What is inside a code fence or a comment is not one.
pub fn outline(text: &str) -> Vec<Block> {
    Text::new(text).blocks
}

/// What lines are hidden until something ends.
enum Until {
    /// A fence of this mark, at least so long.
    Fence(char, usize),
    /// This text, anywhere on a line.
    Text(&'static str),
}

fn hidden(lines: &[&str]) -> (Vec<bool>, Option<usize>) {
    let mut open: Option<(Until, usize)> = None;
    let mut hidden = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let ends = match &open {
            None => {
                open = opens(line).map(|until| (until, at));
                hidden.push(open.is_some());
                continue;
            }
            Some((Until::Text(text), _)) => line.contains(text),
            // A fence ends with the same mark, at least as long, and nothing behind it.
            Some((Until::Fence(mark, length), _)) => {
                fence(line).is_some_and(|(with, many)| with == *mark && many >= *length)
                    && line.trim().chars().all(|character| character == *mark)
            }
        };
        hidden.push(true);
        if ends {
            open = None;
        }
    }
    (hidden, open.map(|(_, at)| at))
}

/// What hides the lines from this one on, if it does.
fn opens(line: &str) -> Option<Until> {
    let trimmed = line.trim_start();
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    if let Some(behind) = trimmed.strip_prefix("<!--") {
        return (!behind.contains("-->")).then_some(Until::Text("-->"));
    }
    for (begin, end) in [("<pre", "</pre>"), ("<script", "</script>"), ("<style", "</style>")] {
        if trimmed.starts_with(begin) && !trimmed.contains(end) {
            return Some(Until::Text(end));
        }
    }
    let (mark, many) = fence(line)?;
    // Behind a fence of backticks there is no further one: that is code inside a line.
    let in_a_line = mark == '`' && trimmed[many..].contains('`');
    (!in_a_line).then_some(Until::Fence(mark, many))
}

fn fence(line: &str) -> Option<(char, usize)> {
    let trimmed = line.trim_start();
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let many = trimmed.chars().take_while(|character| *character == mark).count();
    (many >= 3).then_some((mark, many))
}

fn blocks(lines: &[&str], hidden: &[bool]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| !hidden[*at]) {
        let (level, title, at, body) = if let Some((level, title)) = heading(line) {
            (level, title, at, at + 1)
        } else if let Some(level) = underline(line)
            && at > 0
            && !hidden[at - 1]
            && is_paragraph(lines[at - 1])
        {
            (level, lines[at - 1].trim(), at - 1, at + 1)
        } else {
            continue;
        };
        let (text_end, end) = (lines.len(), lines.len());
        blocks.push(Block { level, title: title.to_owned(), at, body, text_end, end });
    }
    let mut open: Vec<usize> = Vec::new();
    for index in 0..blocks.len() {
        let (level, at) = (blocks[index].level, blocks[index].at);
        if index > 0 {
            blocks[index - 1].text_end = at;
        }
        while let Some(above) = open.pop_if(|above| blocks[*above].level >= level) {
            blocks[above].end = at;
        }
        open.push(index);
    }
    blocks
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let trimmed = line.trim_start_matches(' ');
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    let rest = trimmed.get(level..)?;
    let fits = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    fits.then(|| (level, without_closing(rest.trim())))
}

/// `## Title ##` is the same heading.
fn without_closing(title: &str) -> &str {
    let open = title.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title }
}

/// The level of the heading that a line of `=` or `-` makes of the one above it.
fn underline(line: &str) -> Option<usize> {
    let trimmed = line.trim_end().trim_start_matches(' ');
    let all = |mark| !trimmed.is_empty() && trimmed.bytes().all(|byte| byte == mark);
    if line.trim_end().len() - trimmed.len() > 3 {
        None
    } else if all(b'=') {
        Some(1)
    } else {
        all(b'-').then_some(2)
    }
}

/// Whether a line is running text, and not the beginning of something else.
fn is_paragraph(line: &str) -> bool {
    let line = line.trim();
    let begins = ['#', '-', '*', '+', '>', '|', '<', '`', '~', '='];
    // Bold text is running text.
    let bold = line.starts_with("**");
    !line.is_empty() && (bold || !line.starts_with(begins)) && super::read::numbered(line).is_none()
}
