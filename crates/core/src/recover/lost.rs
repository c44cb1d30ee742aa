//! What the agent's own summary lost, and the brief has no room for.

use std::collections::HashSet;

use super::brief::Brief;

/// So much of what a line says, in hundredths of its words, has to be in a summary that says it too.
const SAID: usize = 60;

/// Shorter words are in every text.
const SHORTEST: usize = 4;

impl Brief {
    /// What is neither in the brief of `budget` tokens nor in `summary`, the most needed first.
    pub fn lost(&self, summary: &str, budget: usize) -> Vec<String> {
        let (given, _) = self.chosen(budget);
        let given: HashSet<&str> = given.iter().map(|line| &*line.text).collect();
        let known = words(summary);
        let (all, _) = self.chosen(usize::MAX / 256);
        let lost = all.into_iter().filter(|line| !given.contains(&*line.text));
        lost.filter(|line| !says(&known, &line.text)).map(|line| line.text).collect()
    }
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.chars().count() >= SHORTEST).map(str::to_lowercase).collect()
}

fn says(known: &HashSet<String>, line: &str) -> bool {
    let own = words(line);
    let shared = own.iter().filter(|word| known.contains(*word)).count();
    shared * 100 >= own.len() * SAID
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recover::Earlier;

    #[test]
    fn what_a_summary_says_and_what_the_brief_has_room_for_is_not_lost() {
        let earlier = |text: &str| Earlier { text: text.to_owned(), chooses: false };
        let brief = Brief {
            rules: vec!["never touch legacy/".to_owned()],
            earlier: vec![
                earlier("use the csv crate because quoting is harder than it looks"),
                earlier("the customer wants semicolons in every export"),
            ],
            ..Brief::default()
        };
        let summary = "We use the csv crate, since quoting turned out harder than it looks.";
        assert_eq!(brief.lost(summary, 600), Vec::<String>::new(), "all of it fits");
        let lost = brief.lost(summary, 60);
        assert_eq!(lost, ["the customer wants semicolons in every export"]);
        assert_eq!(brief.lost("", 60).len(), 2);
    }
}
