//! How people read the words that JSON, the ledger and the command line have for one of a few things.
//!
//! The one place for it: the command's text and the page both ask here. A session's status has more to say
//! and says it itself ([`Status::in_words`](crate::status::Status::in_words)).

use std::borrow::Cow;

/// `next step` for `next_step`. Words that other programs chose are read the same way.
pub fn in_words(word: &str) -> Cow<'_, str> {
    match word {
        "tool_use" => "tool call".into(),
        "tool_result" => "tool output".into(),
        _ if word.contains('_') => word.replace('_', " ").into(),
        _ => word.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::IssueStatus;
    use crate::note::{CaseType, Kind};
    use crate::work::IssueRunStatus;

    #[test]
    fn nobody_reads_the_name_of_a_variant() {
        let kinds = Kind::ALL.map(Kind::as_str);
        let cases = CaseType::ALL.map(CaseType::as_str);
        let runs = [IssueRunStatus::TimedOut.as_str(), IssueRunStatus::NeedsReview.as_str()];
        let others = ["tool_use", "tool_result", "single_use", IssueStatus::InProgress.as_str()];
        for word in kinds.iter().chain(&cases).chain(&runs).chain(&others) {
            assert!(!in_words(word).contains('_'), "{word}");
        }
        assert_eq!(in_words("next_step"), "next step");
        assert_eq!(in_words("tool_result"), "tool output");
        assert_eq!(in_words("triaged"), "triaged");
    }
}
