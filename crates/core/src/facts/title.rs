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

/// Phrases by which somebody asks where the work stands.
const WHERE: [&str; 15] = [
    "where were we",
    "where are we",
    "where was i",
    "where did we leave off",
    "where did we stop",
    "where we left off",
    "what's next",
    "whats next",
    "what is next",
    "what now",
    "what were we doing",
    "what's left",
    "what is left",
    "catch me up",
    "bring me up to speed",
];

/// Words before such a phrase that add nothing.
const LEADS: [&str; 24] = [
    "ok", "okay", "so", "hi", "hey", "hello", "morning", "good", "right", "alright", "and", "now",
    "well", "please", "pls", "pick", "up", "continue", "go", "on", "carry", "from", "just",
    "again",
];

/// So many words may follow such a phrase ("to do", "then"): more of them say something.
const TRAILING: usize = 2;

/// Whether a prompt asks where the work stands, or to go on with it, and says nothing else: it is no work itself, and
/// nobody who was not there learns anything from it.
pub fn asks_where_it_stands(prompt: &str) -> bool {
    let prompt = prompt.to_lowercase().replace('’', "'");
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().map(|word| word.trim_matches([',', ':', '-']));
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let asks = |sentence: &str| {
        WHERE.iter().filter_map(|phrase| sentence.split_once(phrase)).any(|(before, after)| {
            let leads = words(before).iter().all(|word| LEADS.contains(&word.as_str()));
            leads && words(after).len() <= TRAILING
        })
    };
    let sentences = prompt.split(['.', '!', '?', '\n', ';']).map(str::trim);
    let said: Vec<&str> = sentences.filter(|sentence| !sentence.is_empty()).collect();
    said.iter().any(|each| asks(each))
        && said.iter().all(|each| asks(each) || words(each).len() <= TRAILING)
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
    fn to_ask_where_the_work_stands_is_no_work() {
        for prompt in [
            "where did we leave off",
            "Hi! Where were we?",
            "ok, what's next",
            "morning. pick up where we left off pls",
            "catch me up",
        ] {
            assert!(asks_where_it_stands(prompt), "{prompt}");
        }
        for prompt in [
            "",
            "fix the login",
            "where were we? ah yes, the export: umlauts first",
            "the cursor jumps back to where the user left off typing in the editor, mend that",
            "what is next to the logo should be the search box",
            "write down what is left of the parser work",
            "list what is left",
        ] {
            assert!(!asks_where_it_stands(prompt), "{prompt}");
        }
    }

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
