//! How people read the words that JSON, the ledger and the command line have for one of a few things.
//!
//! The one place for it: the command's text and the page both ask here. A session's status has more to say
//! and says it itself ([`Status::in_words`](crate::status::Status::in_words)).

use std::borrow::Cow;

/// `next step` for `next_step`. Words that other programs chose are read the same way.
pub fn in_words(word: &str) -> Cow<'_, str> {
    match word {
        "mcp_servers" => "MCP servers".into(),
        "tool_use" => "tool call".into(),
        "tool_result" => "tool output".into(),
        _ if word.contains('_') => word.replace('_', " ").into(),
        _ => word.into(),
    }
}

/// How big something is: `900 bytes`, `12 kB`, `2.3 MB`, `4.1 GB`. A kilobyte has 1,000 bytes, as `git` and `gh` count.
pub fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "nobody reads a size to the byte")]
    let whole = bytes as f64;
    match bytes {
        1 => "1 byte".to_owned(),
        0..1_000 => format!("{bytes} bytes"),
        1_000..999_500 => format!("{:.0} kB", whole / 1e3),
        999_500..999_950_000 => format!("{:.1} MB", whole / 1e6),
        _ => format!("{:.1} GB", whole / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::IssueStatus;
    use crate::note::{CaseType, Kind};
    use crate::work::IssueRunStatus;

    #[test]
    fn sizes_are_said_as_people_say_them() {
        assert_eq!([0, 1, 999, 1_499].map(size), ["0 bytes", "1 byte", "999 bytes", "1 kB"]);
        assert_eq!([999_499, 999_500].map(size), ["999 kB", "1.0 MB"]);
        assert_eq!([2_340_000, 4_100_000_000].map(size), ["2.3 MB", "4.1 GB"]);
    }

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
        // Somebody's own label stays theirs.
        assert_eq!(["ghosts", "decay"].map(in_words), ["ghosts", "decay"]);
    }
}
