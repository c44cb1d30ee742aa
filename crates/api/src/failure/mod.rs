//! What a command, a request or a tool call fails with.

mod code;
mod driving;
mod foundation;
mod memory;

use std::error::Error;

use heirloom_core::causes;
use schemars::JsonSchema;
use serde::Serialize;

pub use code::Code;

/// Who has to do something about a failure. It decides the exit status and the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What was asked for could not be done, or does not hold.
    Failed,
    /// It was asked for in a way that cannot be right.
    Usage,
}

/// Why something could not be done.
#[derive(Debug, Clone)]
pub struct Failure {
    /// For scripts.
    pub code: Code,
    /// What happened, and where.
    pub message: String,
    /// What to do next, one thing each.
    pub hints: Vec<String>,
    /// Whose it is to put right.
    pub kind: Kind,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hints: Vec::new(), kind: Kind::Failed }
    }

    /// A failure whose message is the error and everything that caused it.
    pub fn from_error(code: Code, error: &dyn Error) -> Self {
        Self::new(code, causes::told(error))
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same failure, as one of whoever asked.
    pub fn usage(mut self) -> Self {
        self.kind = Kind::Usage;
        self
    }

    /// The document that is printed where an answer would have been.
    pub fn document(&self) -> ErrorDocument {
        ErrorDocument {
            error: ErrorBody {
                code: self.code,
                message: self.message.clone(),
                hint: (!self.hints.is_empty()).then(|| self.hints.join("\n")),
            },
        }
    }
}

/// What is printed on stdout, with `--json`, by a command that failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// Why.
    pub error: ErrorBody,
}

/// Why a command failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// A stable word.
    pub code: Code,
    /// What happened, and where, for people.
    pub message: String,
    /// What to do next; several hints are a line each.
    pub hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_without_hints_says_null_and_several_hints_are_lines() {
        let document = |failure: &Failure| serde_json::to_string(&failure.document()).unwrap();
        let failure = Failure::new(Code::File, "cannot read a.txt");
        assert_eq!(
            document(&failure),
            r#"{"error":{"code":"file","message":"cannot read a.txt","hint":null}}"#
        );
        let failure = failure.hint("one").hint("two").usage();
        assert!(document(&failure).contains(r#""hint":"one\ntwo""#));
        assert_eq!(failure.kind, Kind::Usage);
    }
}
