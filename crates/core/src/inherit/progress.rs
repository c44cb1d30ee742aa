//! The progress summary: what a progress page says to somebody who was not there.
//!
//! A page grows a section an iteration, newest last, but keeps what holds for the whole code base in
//! a section called "Codebase Patterns" near its top. Only the end of the page would lose exactly
//! the part that was written to last.

/// The most characters of the "Codebase Patterns" section that are carried.
const PATTERNS: usize = 2000;
/// The most characters of the end of the page that are carried.
const TAIL: usize = 2000;
const HEADING: &str = "codebase patterns";

/// A progress summary in its two parts, each of which can be shortened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    patterns: String,
    tail: String,
}

impl Progress {
    /// Summarises a page. `notes` are what the session's progress notes, next steps and open
    /// questions say, oldest first; they follow the page.
    pub fn summarise(page: &str, notes: &[String]) -> Self {
        let (patterns, rest) = split(page);
        let mut rest = rest.trim().to_owned();
        for note in notes {
            rest.push_str(if rest.is_empty() { "- " } else { "\n- " });
            rest.push_str(note.trim());
        }
        Self {
            patterns: first_lines(patterns.trim(), PATTERNS).to_owned(),
            tail: last_lines(&rest, TAIL).to_owned(),
        }
    }

    /// A summary that was made earlier and is passed on.
    pub fn passed_on(text: &str) -> Self {
        Self { patterns: String::new(), tail: last_lines(text.trim(), PATTERNS + TAIL).to_owned() }
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.tail.is_empty()
    }

    /// The summary as it is delivered.
    pub fn render(&self) -> String {
        match (self.patterns.is_empty(), self.tail.is_empty()) {
            (true, _) => self.tail.clone(),
            (false, true) => self.patterns.clone(),
            (false, false) => format!("{}\n\n{}", self.patterns, self.tail),
        }
    }

    /// Passes every text through `change`.
    pub(super) fn map(self, mut change: impl FnMut(&str) -> String) -> Self {
        Self { patterns: change(&self.patterns), tail: change(&self.tail) }
    }

    /// Takes away at least `characters`: the oldest of the tail first, then the end of the patterns.
    pub(super) fn shorten(&mut self, characters: usize) {
        let tail = self.tail.chars().count();
        self.tail = last_lines(&self.tail, tail.saturating_sub(characters)).to_owned();
        let missing = characters.saturating_sub(tail - self.tail.chars().count());
        if missing > 0 {
            let keep = self.patterns.chars().count().saturating_sub(missing);
            self.patterns = first_lines(&self.patterns, keep).to_owned();
        }
    }
}

/// The "Codebase Patterns" section with its heading, and the page without it.
fn split(page: &str) -> (String, String) {
    let (mut patterns, mut rest) = (String::new(), String::new());
    let mut inside: Option<usize> = None;
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if let Some((level, title)) = heading(line).filter(|_| !is_code) {
            if inside.is_some_and(|open| level <= open) {
                inside = None;
            }
            if inside.is_none() && title.to_lowercase().starts_with(HEADING) {
                inside = Some(level);
            }
        }
        let part = if inside.is_some() { &mut patterns } else { &mut rest };
        part.push_str(line);
        part.push('\n');
    }
    (patterns, rest)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' ')).then(|| (level, title.trim()))
}

/// The most whole lines from the beginning of `text` that fit; a line that is too long is cut.
fn first_lines(text: &str, characters: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(characters) else { return text };
    let cut = &text[..end];
    cut.rfind('\n').map_or(cut, |line_end| &cut[..line_end]).trim_end()
}

/// The most whole lines from the end of `text` that fit; a line that is too long is cut.
fn last_lines(text: &str, characters: usize) -> &str {
    let total = text.chars().count();
    if total <= characters {
        return text;
    }
    let Some((start, _)) = text.char_indices().nth(total - characters) else { return "" };
    let cut = &text[start..];
    let starts_a_line = text[..start].ends_with('\n');
    match cut.find('\n') {
        Some(line_end) if !starts_a_line => cut[line_end + 1..].trim_start(),
        _ => cut.trim_start(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: &str = "# Progress: auth\n\n## Codebase Patterns\n- errors carry their path\n\n### Tests\n- one binary a crate\n\n---\n\n## Iteration 1\nDid one thing.\n";

    #[test]
    fn the_patterns_section_is_carried_with_its_own_sections() {
        let summary = Progress::summarise(PAGE, &[]).render();
        insta::assert_snapshot!(summary, @r"
        ## Codebase Patterns
        - errors carry their path

        ### Tests
        - one binary a crate

        ---

        # Progress: auth

        ## Iteration 1
        Did one thing.
        ");
    }

    #[test]
    fn patterns_survive_any_length_of_page() {
        let long = format!("{PAGE}{}", "## Iteration 2\nmore of the same\n".repeat(5000));
        let summary = Progress::summarise(&long, &[]).render();
        assert!(summary.starts_with("## Codebase Patterns\n- errors carry their path"));
        assert!(summary.ends_with("more of the same"));
        assert!(summary.chars().count() <= PATTERNS + TAIL + 2);
    }

    #[test]
    fn a_heading_in_a_code_block_is_no_heading() {
        let page = "```\n# Codebase Patterns\n```\n#Codebase Patterns\n";
        assert_eq!(Progress::summarise(page, &[]).patterns, "");
    }

    #[test]
    fn notes_follow_the_page_and_stand_in_for_it() {
        let notes = ["next: clock skew".to_owned(), "open: which key?".to_owned()];
        assert_eq!(
            Progress::summarise("", &notes).render(),
            "- next: clock skew\n- open: which key?"
        );
        assert!(
            Progress::summarise(PAGE, &notes)
                .render()
                .ends_with("thing.\n- next: clock skew\n- open: which key?")
        );
        assert!(Progress::summarise(" \n", &[]).is_empty());
    }

    #[test]
    fn the_tail_begins_with_a_whole_line() {
        let page = (0..500).map(|n| format!("line number {n}")).collect::<Vec<_>>().join("\n");
        let summary = Progress::summarise(&page, &[]).render();
        assert!(summary.starts_with("line number "), "{}", &summary[..20]);
    }

    proptest! {
        #[test]
        fn shortening_takes_enough_and_splits_nothing(
            patterns in "[a-zé日\n]{0,80}",
            tail in "[a-zé日\n]{0,80}",
            characters in 0usize..200,
        ) {
            let mut progress = Progress { patterns, tail };
            let size = |p: &Progress| p.patterns.chars().count() + p.tail.chars().count();
            let before = size(&progress);
            progress.shorten(characters);
            prop_assert!(size(&progress) <= before.saturating_sub(characters));
        }

        #[test]
        fn any_page_gives_a_bounded_summary(page in "(?s).{0,400}", times in 1usize..40) {
            let summary = Progress::summarise(&page.repeat(times), &[]).render();
            prop_assert!(summary.chars().count() <= PATTERNS + TAIL + 2);
        }
    }
}
