//! "Nothing to do": an agent's word that an issue is done as the code is, and what shows it.
//!
//! Only the agent's last message is read, and only for this form. The evidence is not checked here.

use crate::evidence::Evidence;

/// What an agent begins the line with.
pub const NOTHING_TO_DO: &str = "NOTHING TO DO:";

/// An agent's word that nothing has to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nothing {
    pub why: String,
    /// The places that show it.
    pub evidence: Vec<Evidence>,
}

impl Nothing {
    /// Reads it from an agent's last message: the line, and below it `PATH:LINE: words` a place.
    pub fn read(message: &str) -> Option<Self> {
        let lines: Vec<&str> = message.lines().map(plain).collect();
        let at = lines.iter().rposition(|line| line.starts_with(NOTHING_TO_DO))?;
        let why = lines[at][NOTHING_TO_DO.len()..].trim().trim_matches('*').trim();
        if why.is_empty() {
            return None;
        }
        let evidence = lines[at + 1..].iter().filter_map(|line| place(line)).collect();
        Some(Self { why: why.to_owned(), evidence })
    }
}

/// A line without the marks of a list, of bold text or of code around it.
fn plain(line: &str) -> &str {
    line.trim().trim_start_matches(['-', '*', '`', '>', ' ']).trim_end_matches('`')
}

/// `src/auth.rs:42: the words there`.
fn place(line: &str) -> Option<Evidence> {
    let (path, rest) = line.split_once(':')?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok().filter(|line| *line > 0)?;
    let quote = rest[digits..].trim_start_matches(['`', ':', ' ']).trim_matches(['`', '"', ' ']);
    if path.is_empty() || path.contains(char::is_whitespace) || quote.is_empty() {
        return None;
    }
    Some(Evidence { quote: Some(quote.to_owned()), ..Evidence::at(path, number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_and_the_places_are_read_from_the_end_of_a_message() {
        let message = "I looked.\n\n**NOTHING TO DO: used tokens are refused**\n\
                       - `src/auth.rs:42: if token.used { return Err(Used) }`\n\
                       - src/b.rs:7: `let a: u8 = 1;`\nnot a place\n";
        let nothing = Nothing::read(message).unwrap();
        assert_eq!(nothing.why, "used tokens are refused");
        let places: Vec<String> = nothing
            .evidence
            .iter()
            .map(|each| {
                format!("{}:{} {}", each.path, each.line, each.quote.as_deref().unwrap_or(""))
            })
            .collect();
        assert_eq!(
            places,
            ["src/auth.rs:42 if token.used { return Err(Used) }", "src/b.rs:7 let a: u8 = 1;"]
        );
    }

    #[test]
    fn words_that_only_sound_like_it_are_not_it() {
        for message in ["done", "nothing to do", "There is NOTHING TO DO: x", "NOTHING TO DO:"] {
            assert_eq!(Nothing::read(message), None, "{message}");
        }
        assert_eq!(Nothing::read("NOTHING TO DO: trust me").unwrap().evidence, []);
    }
}
