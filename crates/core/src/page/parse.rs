//! Headings, outside of code.

/// A heading and the lines that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// 1 for `#`.
    pub level: usize,
    /// The heading without its marks.
    pub title: String,
    /// The line the heading is on, counted from 0.
    pub at: usize,
    /// The line behind its own text, which is the next heading of any level.
    pub text_end: usize,
    /// The line behind all that belongs to it: the next heading that is not deeper.
    pub end: usize,
}

/// All headings of a page. What is inside a code fence or a comment is not one.
pub fn outline(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in unfenced(&lines) {
        if let Some((level, title)) = heading(line) {
            let (text_end, end) = (lines.len(), lines.len());
            blocks.push(Block { level, title: title.to_owned(), at, text_end, end });
        }
    }
    for index in 0..blocks.len() {
        let (level, rest) = (blocks[index].level, &blocks[index + 1..]);
        let text_end = rest.first().map_or(lines.len(), |next| next.at);
        let end = rest.iter().find(|next| next.level <= level).map_or(lines.len(), |next| next.at);
        blocks[index].text_end = text_end;
        blocks[index].end = end;
    }
    blocks
}

/// The lines that are not inside a code fence, with their numbers.
pub(super) fn unfenced<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut fence: Option<(char, usize)> = None;
    let mut outside = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mark = fence_mark(line);
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => outside.push((at, *line)),
            // A fence ends with the same mark, at least as long, and nothing behind it.
            (Some((with, length)), Some((mark, many)))
                if with == mark && many >= length && line.trim().chars().all(|c| c == mark) =>
            {
                fence = None;
            }
            (Some(_), _) => {}
        }
    }
    outside
}

fn fence_mark(line: &str) -> Option<(char, usize)> {
    let trimmed = line.trim_start();
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let many = trimmed.chars().take_while(|character| *character == mark).count();
    (many >= 3).then_some((mark, many))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    let fits = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    fits.then(|| (level, rest.trim()))
}
