//! Failures of what everything else stands on: the ledger, files, the repository, and who is asking.

use heirloom_core::trust::person::{Action, NotAPerson};
use heirloom_engine::exchange::ExchangeError;
use heirloom_engine::guard::{SubjectError, WordError};
use heirloom_engine::here::HereError;
use heirloom_engine::identity::LinkError;
use heirloom_engine::init::InitError;
use heirloom_engine::person::PersonError;
use heirloom_engine::trust::Untrusted;
use heirloom_ledger::ImportError;
use heirloom_repo::FileError;

use super::{Code, Failure};

impl From<heirloom_ledger::Error> for Failure {
    fn from(error: heirloom_ledger::Error) -> Self {
        use heirloom_ledger::Error as Ledger;
        let code = match &error {
            Ledger::Busy { .. } => Code::LedgerBusy,
            Ledger::Full { .. } => Code::LedgerFull,
            Ledger::ReadOnly { .. } => Code::LedgerReadOnly,
            Ledger::Damaged { .. } => Code::LedgerDamaged,
            Ledger::Newer { .. } => Code::LedgerNewer,
            Ledger::NoSession { .. } => Code::SessionNotFound,
            Ledger::Transition(_) => Code::SessionTransition,
            Ledger::Unreadable { .. } => Code::LedgerUnreadable,
            Ledger::File { .. } | Ledger::Database { .. } => Code::LedgerFailed,
        };
        let failure = Self::from_error(code, &error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<Untrusted> for Failure {
    fn from(error: Untrusted) -> Self {
        Self::from_error(Code::TrustNeeded, &error).hint(Untrusted::HINT)
    }
}

impl From<NotAPerson> for Failure {
    fn from(error: NotAPerson) -> Self {
        let failure = Self::from_error(Code::PersonNeeded, &error).hint(error.hint());
        match error.action {
            Action::LookElsewhere => failure.hint(
                "an agent sees the repository it works in; `recall.agents: all` in your own settings shows it all",
            ),
            _ => failure,
        }
    }
}

impl From<PersonError> for Failure {
    fn from(error: PersonError) -> Self {
        match error {
            PersonError::NotAPerson(error) => error.into(),
            PersonError::Ledger(error) => error.into(),
        }
    }
}

impl From<WordError> for Failure {
    fn from(error: WordError) -> Self {
        match error {
            WordError::Person(error) => error.into(),
            WordError::NoReason => Self::from_error(Code::RequirementReason, &error)
                .hint("say why it is satisfied: --reason TEXT; nothing was written"),
        }
    }
}

impl From<InitError> for Failure {
    fn from(error: InitError) -> Self {
        match error {
            InitError::NotAPerson(error) => error.into(),
            InitError::Ledger(error) => error.into(),
            InitError::NoAgent { .. } => Self::from_error(Code::AgentNotFound, &error)
                .hint("`heirloom agents` shows all of them")
                .usage(),
        }
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Ledger(error) => error.into(),
            LinkError::NotAPerson => Self::from_error(Code::RepoPerson, &error)
                .hint("run this yourself, in a terminal of your own"),
            LinkError::Nothing { .. } => Self::from_error(Code::RepoNotFound, &error)
                .hint("give the key (hr_…) or the directory in which the sessions were recorded"),
            LinkError::Same { .. } => Self::from_error(Code::RepoSame, &error),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::from_error(Code::File, &error)
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Ledger(error) => error.into(),
            error => Self::from_error(Code::LedgerImport, &error).hint("nothing was imported"),
        }
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::NotAPerson(error) => error.into(),
            ExchangeError::Import(error) => error.into(),
        }
    }
}

impl From<HereError> for Failure {
    fn from(error: HereError) -> Self {
        match &error {
            HereError::Changed { variable } => Self::from_error(Code::PersonNeeded, &error).hint(
                format!("run it without {variable}; a person can set it in another terminal"),
            ),
            HereError::NoHome | HereError::Clock(_) => {
                Self::from_error(Code::Environment, &error).usage()
            }
        }
    }
}

impl From<SubjectError> for Failure {
    fn from(error: SubjectError) -> Self {
        let message = error.to_string();
        match error {
            SubjectError::None { live } => {
                let failure = Self::new(Code::SessionNotFound, message);
                if live.is_empty() {
                    failure.hint("name it with --session, by id or id prefix; nothing was written")
                } else {
                    failure.hint(format!(
                        "working here: {}; choose one with --session; nothing was written",
                        live.join(", ")
                    ))
                }
            }
            SubjectError::Find(error) => error.into(),
            SubjectError::Ledger(error) => error.into(),
        }
    }
}
