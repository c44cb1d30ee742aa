//! What a session is called that nobody gave a title.

/// How much of a prompt is a title.
const LONGEST: usize = 80;

/// The first words of a prompt, as a title.
pub fn title(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(unmarked).find(|line| !line.is_empty())?;
    if line.chars().count() <= LONGEST {
        return Some(line.to_owned());
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    Some(format!("{}…", cut.trim_end()))
}

/// A line without the mark of a Markdown heading, which is no word of it.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    let behind = line.trim_start_matches('#');
    // `#123` and `#include` are words.
    let is_heading = behind.is_empty() || behind.starts_with(char::is_whitespace);
    if is_heading { behind.trim_start() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_without_the_mark_of_a_heading_and_keeps_its_words() {
        for (prompt, expected) in [
            ("#\n## Mend the parser", "Mend the parser"),
            ("#123 fix it", "#123 fix it"),
            ("#include is missing", "#include is missing"),
        ] {
            assert_eq!(title(prompt).as_deref(), Some(expected));
        }
        assert_eq!(title("##"), None);
    }
}
