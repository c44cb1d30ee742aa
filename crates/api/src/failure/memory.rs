//! Failures of what is remembered: transcripts, notes, rules, hand-overs, and the search through them.

use heirloom_engine::capture::{CaptureError, DistillError, RestoreError};
use heirloom_engine::keep::KeepError;
use heirloom_engine::keep::handoffs::HandoffError;
use heirloom_engine::keep::recover::RecoverError;
use heirloom_engine::keep::rules::RuleError;
use heirloom_engine::notes::NoteError;
use heirloom_engine::recall::SearchError;
use heirloom_engine::recall::why::WhyError;
use heirloom_engine::sessions::FindError;

use super::{Code, Failure};

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        match error {
            CaptureError::Ledger(error) => error.into(),
            CaptureError::File(error) => error.into(),
            CaptureError::NotAPerson(error) => error.into(),
            CaptureError::NoTranscripts(_) => Self::from_error(Code::AgentUnknown, &error),
            CaptureError::Database { .. } => Self::from_error(Code::File, &error),
        }
    }
}

impl From<DistillError> for Failure {
    fn from(error: DistillError) -> Self {
        match error {
            DistillError::NotAPerson(error) => error.into(),
            DistillError::Ledger(error) => error.into(),
            DistillError::File(error) => error.into(),
            DistillError::NoAgent { .. } => Self::from_error(Code::AgentUnknown, &error),
            DistillError::Nothing { .. } => Self::from_error(Code::ArchiveNothing, &error)
                .hint("`heirloom sync` imports what agents wrote"),
            DistillError::Unconfined { .. }
            | DistillError::Launch(_)
            | DistillError::Spawn(_)
            | DistillError::NoAnswer { .. } => Self::from_error(Code::AgentLaunch, &error),
        }
    }
}

impl From<RestoreError> for Failure {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::File(error) => error.into(),
            RestoreError::NotAPerson(error) => error.into(),
            error => Self::from_error(Code::ArchiveNothing, &error)
                .hint("`heirloom archive list` shows what is kept"),
        }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Ledger(error) => error.into(),
            SearchError::Session(error) => error.into(),
            SearchError::NotAPerson(error) => error.into(),
        }
    }
}

/// How a place in the code is written.
const A_PLACE: &str = "write PATH or PATH:LINE, as seen from here";

impl From<WhyError> for Failure {
    fn from(error: WhyError) -> Self {
        match error {
            WhyError::Ledger(error) => error.into(),
            WhyError::File(error) => error.into(),
            WhyError::NoFile(_) => Self::from_error(Code::File, &error).hint(A_PLACE),
            WhyError::Outside(_) | WhyError::NoLine { .. } => {
                Self::from_error(Code::Usage, &error).hint(A_PLACE).usage()
            }
        }
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        let message = error.to_string();
        match error {
            FindError::Ledger(error) => error.into(),
            FindError::Elsewhere(error) => error.into(),
            FindError::None { nearest, .. } => {
                let all = "`heirloom sessions list --all` shows all of them";
                Self::new(Code::SessionNotFound, message).hint(match nearest {
                    Some(session) => {
                        format!(
                            "did you mean {} ({})? {all}",
                            session.name,
                            session.status.in_words()
                        )
                    }
                    None => all.to_owned(),
                })
            }
            FindError::Many { candidates, .. } => {
                let failure = Self::new(Code::SessionAmbiguous, message);
                candidates.iter().fold(failure, |failure, session| {
                    failure.hint(format!(
                        "{} is {} ({})",
                        session.id,
                        session.name,
                        session.status.in_words()
                    ))
                })
            }
        }
    }
}

impl From<NoteError> for Failure {
    fn from(error: NoteError) -> Self {
        let code = match &error {
            NoteError::Empty => Code::NoteEmpty,
            NoteError::NoScenario { .. } => Code::Usage,
            NoteError::Evidence(_) => Code::EvidenceRefused,
            NoteError::Search(_) | NoteError::Exists { .. } => Code::GhostRefused,
            NoteError::NoNote { .. } => Code::NoteNotFound,
            NoteError::ManyNotes { .. } => Code::NoteAmbiguous,
            NoteError::Replaced { .. } => Code::NoteReplaced,
            NoteError::Session(_) | NoteError::Ledger(_) => Code::NoteFailed,
        };
        match error {
            NoteError::Session(error) => error.into(),
            NoteError::Ledger(error) => error.into(),
            NoteError::Evidence(error) => {
                Self::from_error(code, &error).hint("nothing was recorded")
            }
            NoteError::NoNote { .. } | NoteError::ManyNotes { .. } => {
                Self::from_error(code, &error).hint("`heirloom notes` shows the ids")
            }
            NoteError::Search(_) | NoteError::Exists { .. } => {
                Self::from_error(code, &error).hint("nothing was recorded")
            }
            NoteError::Replaced { ref by, .. } => {
                let hint = format!("`--supersedes {by}` replaces the one that stands");
                Self::from_error(code, &error).hint(hint)
            }
            NoteError::Empty | NoteError::NoScenario { .. } => {
                Self::from_error(code, &error).usage()
            }
        }
    }
}

impl From<RuleError> for Failure {
    fn from(error: RuleError) -> Self {
        match error {
            RuleError::Ledger(error) => error.into(),
            RuleError::NotAPerson(error) => error.into(),
            RuleError::Empty => Self::from_error(Code::RuleEmpty, &error).usage(),
            RuleError::None { .. } | RuleError::Many { .. } => {
                Self::from_error(Code::RuleNotFound, &error)
                    .hint("`heirloom rules list` shows the ids")
            }
        }
    }
}

impl From<HandoffError> for Failure {
    fn from(error: HandoffError) -> Self {
        match error {
            HandoffError::Ledger(error) => error.into(),
            HandoffError::NoneYet => Self::from_error(Code::HandoffNotFound, &error)
                .hint(
                "`heirloom checkpoint` writes one, and so do the hooks of an agent when its session ends",
            ),
            HandoffError::None { .. } | HandoffError::Many { .. } => {
                Self::from_error(Code::HandoffNotFound, &error)
                    .hint("`heirloom handoffs list` shows the ids")
            }
        }
    }
}

impl From<KeepError> for Failure {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Session(error) => error.into(),
            KeepError::Ledger(error) => error.into(),
            KeepError::Settings(error) => Self::from_error(Code::Settings, &*error),
            KeepError::File(error) => error.into(),
            KeepError::NoSession => Self::from_error(Code::SessionNotFound, &error)
                .hint("`heirloom note` creates one, and so does every agent with hooks"),
        }
    }
}

impl From<RecoverError> for Failure {
    fn from(error: RecoverError) -> Self {
        match error {
            RecoverError::Ledger(error) => error.into(),
            RecoverError::NoQuery => Self::from_error(Code::Usage, &error)
                .hint("heirloom recover 2 --query \"refresh tokens\"")
                .usage(),
        }
    }
}
