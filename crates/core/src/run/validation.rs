//! `validation.json`: what was wrong with an iteration's report, when something was.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::status_file::Report;

/// What is told when a comprehension was asked for and not given.
pub const NO_COMPREHENSION: &str = "Agent did not acknowledge inherited context";

/// What was wrong with a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validation {
    /// Whether the agent said what it inherited; only there where it had to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comprehension_check: Option<ComprehensionCheck>,
    /// What else was wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// When it was checked.
    pub timestamp: Timestamp,
}

/// Whether the agent said what it inherited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComprehensionCheck {
    /// Whether it had to.
    pub required: bool,
    /// Whether it did.
    pub present: bool,
    /// What to tell people, when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Checks a report. Nothing is returned, and no file written, when nothing is wrong.
///
/// `required` is whether the session inherits and its stage requires a comprehension.
pub fn validate(
    report: Option<&Report>,
    findings: Vec<Finding>,
    required: bool,
    at: Timestamp,
) -> Option<Validation> {
    let is_present = report.is_some_and(|report| report.comprehension.is_some());
    if findings.is_empty() && (!required || is_present) {
        return None;
    }
    let comprehension_check = required.then(|| ComprehensionCheck {
        required,
        present: is_present,
        warning: (!is_present).then(|| NO_COMPREHENSION.to_owned()),
    });
    Some(Validation { comprehension_check, findings, timestamp: at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::status_file::Comprehension;

    const NOW: &str = "2026-01-13T10:00:00Z";

    #[test]
    fn a_missing_comprehension_is_told_in_the_documented_format() {
        let report = Report::default();
        let validation = validate(Some(&report), vec![], true, NOW.parse().unwrap()).unwrap();
        insta::assert_json_snapshot!(validation, @r#"
        {
          "comprehension_check": {
            "required": true,
            "present": false,
            "warning": "Agent did not acknowledge inherited context"
          },
          "timestamp": "2026-01-13T10:00:00Z"
        }
        "#);
    }

    #[test]
    fn nothing_wrong_is_nothing_written() {
        let stated = Report { comprehension: Some(Comprehension::default()), ..Report::default() };
        let now = NOW.parse().unwrap();
        assert_eq!(validate(Some(&stated), vec![], true, now), None);
        assert_eq!(validate(None, vec![], false, now), None);
        let finding = Finding::new("decision", "it is missing", "x");
        let validation = validate(Some(&stated), vec![finding.clone()], false, now).unwrap();
        assert_eq!((validation.comprehension_check, validation.findings), (None, vec![finding]));
        assert!(validate(None, vec![], true, now).is_some());
    }
}
