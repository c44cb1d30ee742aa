//! One note, as a fresh context reads it.

use super::sentences;
use crate::evidence::Evidence;
use crate::ground::Verdict;
use crate::note::{Kind, Note};
use crate::words::in_words;

/// What was found out about a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    pub place: Evidence,
    /// What became of it.
    pub verdict: Verdict,
}

/// How near to the work that begins something was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Nearness {
    /// In the session itself, or in one it comes from.
    Lineage,
    /// On the same branch.
    Branch,
    /// Elsewhere in the repository.
    #[default]
    Elsewhere,
}

/// A note with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub note: Note,
    /// The name of its session.
    pub session: String,
    /// Its evidence, judged.
    pub proofs: Vec<Proof>,
    /// What it replaced, where that is worth knowing.
    pub replaces: Option<String>,
    /// How near it is.
    pub nearness: Nearness,
}

impl Entry {
    /// Its text, cut to `longest` characters, with a mark for how far it can be trusted.
    pub(super) fn short(&self, longest: usize) -> String {
        let text = sentences::fitting(&plain(&self.note.text), longest);
        match self.trust(true) {
            Some(trust) => format!("{text} ({trust})"),
            None => text,
        }
    }

    /// What it says and why, in whole sentences, with a mark for how far it can be trusted.
    pub(super) fn brief(&self, longest: usize) -> String {
        let text = plain(&self.note.text);
        let mut said = sentences::fitting(&text, longest);
        if let Some(rationale) = &self.note.rationale
            && said == text
        {
            said = sentences::fitting(&because(&said, rationale), longest);
        }
        match self.trust(true) {
            Some(trust) => format!("{said} ({trust})"),
            None => said,
        }
    }

    /// Whether some of what it rests on does not hold, or nobody has verified it.
    pub(super) fn is_broken(&self) -> bool {
        self.proofs.iter().any(|proof| !proof.verdict.is_grounded()) || self.is_only_proposed()
    }

    /// Whether an agent that looked back proposed it, and the code does not bear it out.
    fn is_only_proposed(&self) -> bool {
        let is_verified =
            !self.proofs.is_empty() && self.proofs.iter().all(|proof| proof.verdict.is_grounded());
        self.note.proposed_by().is_some() && !is_verified
    }

    /// All of it, on one line.
    pub(super) fn whole(&self) -> String {
        let date = self.note.at.strftime("%Y-%m-%d");
        let mut line =
            format!("- {} {date} ({}): ", in_words(self.note.kind.as_str()), self.session);
        line.push_str(&match &self.note.rationale {
            Some(rationale) => because(&plain(&self.note.text), rationale),
            None => plain(&self.note.text),
        });
        if let Some(old) = &self.replaces {
            line.push_str(" [replaces: ");
            line.push_str(&cut(&plain(old), 80));
            line.push(']');
        }
        if self.note.superseded_by.is_some() {
            line.push_str(" [superseded]");
        }
        if let Some(trust) = self.trust(false) {
            line.push_str(" [");
            line.push_str(&trust);
            line.push(']');
        }
        line
    }

    /// How far the note can be trusted; nothing for notes that claim nothing.
    fn trust(&self, short: bool) -> Option<String> {
        let proposed = self.note.proposed_by().filter(|_| self.is_only_proposed());
        let proposed = proposed.map(|agent| format!("proposed by {agent}, not verified"));
        match (proposed, self.proven(short)) {
            (Some(proposed), Some(proven)) if !self.proofs.is_empty() => {
                Some(format!("{proposed}; {proven}"))
            }
            (proposed, proven) => proposed.or(proven),
        }
    }

    fn proven(&self, short: bool) -> Option<String> {
        let proofs = self.proofs.iter().map(|proof| judged(proof, short));
        let proofs: Vec<String> = proofs.take(if short { 1 } else { 9 }).collect();
        if !proofs.is_empty() {
            return Some(proofs.join(", "));
        }
        match (&self.note.basis, self.note.kind) {
            (Some(crate::note::Basis::Assumption), _) => Some("assumed".to_owned()),
            (Some(crate::note::Basis::UserInput), _) => Some("a person said so".to_owned()),
            (None, Kind::Decision | Kind::Learning | Kind::Pattern | Kind::Warning) => {
                (!short).then(|| "no evidence".to_owned())
            }
            _ => None,
        }
    }
}

/// What was said and why, as two sentences.
fn because(said: &str, rationale: &str) -> String {
    let end = if said.ends_with(['!', '?', '…']) { "" } else { "." };
    format!("{}{end} Because: {}", said.trim_end_matches('.'), plain(rationale))
}

fn judged(proof: &Proof, short: bool) -> String {
    let place = &proof.place;
    match &proof.verdict {
        Verdict::Verified => format!("{place} ✔"),
        Verdict::Nearby { line } | Verdict::Moved { path: None, line } => {
            format!("{}:{line} ✔ moved", place.path)
        }
        Verdict::Moved { path: Some(path), line } => format!("{path}:{line} ✔ moved"),
        // Whether it is somewhere else is not looked for where somebody waits.
        Verdict::Ambiguous { .. }
        | Verdict::QuoteAbsent
        | Verdict::LineOutOfRange { .. }
        | Verdict::PathMissing
            if short =>
        {
            format!("{place} ✗ no longer there")
        }
        broken => format!("{place} ✗ {broken}"),
    }
}

/// A text on one line.
pub(crate) fn plain(text: &str) -> String {
    let folded = crate::ground::fold(text);
    folded.chars().filter(|character| !character.is_control()).collect()
}

/// The beginning of a text, in at most `longest` characters.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_gone_is_said_to_be_no_longer_there() {
        let shown = |verdict| judged(&Proof { place: "a.txt:1".parse().unwrap(), verdict }, true);
        assert_eq!(shown(Verdict::QuoteAbsent), "a.txt:1 ✗ no longer there");
        let short = "a.txt:1 ✗ the quote is too short to prove anything";
        assert_eq!(shown(Verdict::QuoteTooShort), short);
    }
}
