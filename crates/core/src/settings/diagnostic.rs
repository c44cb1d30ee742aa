//! A fault as people see it.

use std::fmt;

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The settings cannot be used.
    Error,
    /// They can, but somebody should look.
    Warning,
}

/// Something to tell about the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, environment variable or flag it is about.
    pub file: String,
    /// Line, from 1, when the thing has lines and one is to blame.
    pub line: Option<u32>,
    /// Column in characters, from 1, as for `line`.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error about a whole file.
    pub fn of_file(file: &str, message: String, hint: Option<String>) -> Self {
        let file = file.to_owned();
        Self { severity: Severity::Error, file, line: None, column: None, message, hint }
    }

    /// `file:line:column: message`, without severity and hint.
    pub fn located(&self) -> String {
        format!("{}: {}", self.place(), self.message)
    }

    /// `file:line:column`, as far as it is known.
    pub fn place(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.file),
            _ => self.file.clone(),
        }
    }
}

/// `error: file:line:column: message`, and a `hint: ` line when there is one.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.located())?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}
