//! What a command fails with: a code for scripts, a message, and hints.

use std::error::Error;

use heirloom_core::status::Status;
use heirloom_core::trust::person::NotAPerson;
use heirloom_engine::here::HereError;
use heirloom_engine::issues::TrackerError;
use heirloom_engine::keep::KeepError;
use heirloom_engine::notes::NoteError;
use heirloom_engine::run::RunError;
use heirloom_engine::run::inherit::InheritError;
use heirloom_engine::session::SessionError;
use heirloom_engine::sessions::FindError;
use heirloom_engine::trust::Untrusted;
use heirloom_engine::work::WorkError;
use heirloom_ledger::{ApprovalError, ImportError};
use heirloom_repo::FileError;

/// The exit status of a command that failed, or of a question whose answer is no.
pub(crate) const FAILED: u8 = 1;

/// The exit status of a command that was called in a way that cannot be right.
pub(crate) const USAGE: u8 = 64;

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// For scripts: stable, lower case, dots between its parts.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
    pub(crate) exit: u8,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hints: Vec::new(), exit: FAILED }
    }

    /// A failure whose message is the error and everything that caused it.
    pub(crate) fn from_error(code: &'static str, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !message.ends_with(&cause_text) {
                message.push_str(": ");
                message.push_str(&cause_text);
            }
            source = cause.source();
        }
        Self::new(code, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn usage(mut self) -> Self {
        self.exit = USAGE;
        self
    }
}

impl From<heirloom_ledger::Error> for Failure {
    fn from(error: heirloom_ledger::Error) -> Self {
        use heirloom_ledger::Error as Ledger;
        let code = match &error {
            Ledger::Busy { .. } => "ledger.busy",
            Ledger::Full { .. } => "ledger.full",
            Ledger::ReadOnly { .. } => "ledger.read-only",
            Ledger::Damaged { .. } => "ledger.damaged",
            Ledger::Newer { .. } => "ledger.newer",
            Ledger::NoSession { .. } => "session.not-found",
            Ledger::Transition(_) => "session.transition",
            Ledger::Unreadable { .. } => "ledger.unreadable",
            Ledger::File { .. } | Ledger::Database { .. } => "ledger.failed",
        };
        let failure = Self::from_error(code, &error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl Failure {
    /// Why nothing can be inherited, with what could be.
    pub(crate) fn of_inherit(error: &InheritError) -> Self {
        let all = "`heirloom sessions list --completed` shows all";
        match error {
            InheritError::Missing { nearest, candidates, .. } => {
                let failure = Self::from_error("inherit.missing", error);
                let failure = failure.hint(match nearest {
                    Some(name) => format!("did you mean {name}? {all}"),
                    None => all.to_owned(),
                });
                if candidates.is_empty() {
                    return failure.hint("there is no session here to inherit from yet");
                }
                failure.hint(format!("there are {}", candidates.join(", ")))
            }
            InheritError::Many { candidates, .. } => {
                let failure = Self::from_error("inherit.ambiguous", error);
                candidates.iter().fold(failure, |failure, session| {
                    failure.hint(format!("{} is {} ({})", session.id, session.name, session.status))
                })
            }
            InheritError::Broken { .. } => Self::from_error("inherit.broken", error),
            InheritError::Ledger(_) => Self::from_error("ledger.failed", error),
        }
    }
}

impl From<Untrusted> for Failure {
    fn from(error: Untrusted) -> Self {
        Self::from_error("trust.needed", &error).hint(Untrusted::HINT)
    }
}

impl From<NotAPerson> for Failure {
    fn from(error: NotAPerson) -> Self {
        let hint = error.hint();
        Self::from_error("person.needed", &error).hint(hint)
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        let code = match &error {
            WorkError::NoGit { .. } | WorkError::NoCommit { .. } => "work.no-git",
            WorkError::CheckedOut { .. } | WorkError::NoBranch { .. } => "work.branch",
            WorkError::Crowded { .. } => "usage",
            WorkError::NoAgent { .. } | WorkError::Program(_) => "agent.not-found",
            WorkError::Tracker(_) => "issues.failed",
            WorkError::Git(_) => "git",
            WorkError::File(_) => "file",
            WorkError::Session(_) => "session.failed",
            WorkError::Ledger(_) => "ledger.failed",
        };
        let failure = Self::from_error(code, &error);
        match error {
            WorkError::Ledger(error) => error.into(),
            WorkError::Session(error) => error.into(),
            WorkError::Tracker(error) => error.into(),
            WorkError::NoGit { .. } => {
                failure.hint("`--in-place` works here with one agent, or begin with `git init`")
            }
            WorkError::NoCommit { .. } => failure.hint("make a first commit"),
            WorkError::CheckedOut { .. } => failure.hint(
                "check out a branch of your own, or leave work on its branches: work.merge: leave",
            ),
            WorkError::NoBranch { .. } => {
                failure.hint("a branch called heirloom, or heirloom/work, may be in its way")
            }
            WorkError::Crowded { .. } => {
                failure.hint("leave out --max-agents, or --in-place").usage()
            }
            _ => failure,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let code = match &error {
            RunError::Name { .. } => "session.name",
            RunError::Unknown { .. } => "run.unknown",
            RunError::Untrusted(_) => "trust.needed",
            RunError::Mistakes { .. } => "run.mistakes",
            RunError::NoInput { .. } => "run.input",
            RunError::Agent(_) => "agent.not-found",
            RunError::Tracker(_) => "run.tracker",
            RunError::Running { .. } => "run.running",
            RunError::Exists { .. } => "session.exists",
            RunError::NothingToResume { .. } | RunError::NotARun { .. } => "run.not-resumable",
            RunError::Inherit(_) | RunError::Unsound { .. } => "inherit.refused",
            RunError::Git { .. } => "git",
            RunError::File(_) => "file",
            RunError::Ledger(_) => "ledger.failed",
        };
        let failure = Self::from_error(code, &error);
        match error {
            RunError::Ledger(error) => error.into(),
            RunError::Untrusted(error) => error.into(),
            RunError::Inherit(error) => Self::of_inherit(&error),
            RunError::Name { .. } => {
                failure.hint("letters, digits, `.`, `_` and `-`, at most 100 of them").usage()
            }
            RunError::Unknown { nearest, .. } => {
                let all = "`heirloom stages list` and `heirloom pipelines list` show all";
                failure.hint(match nearest {
                    Some(name) => format!("did you mean {name}? {all}"),
                    None => all.to_owned(),
                })
            }
            RunError::Mistakes { mistakes } => {
                mistakes.iter().fold(failure, |failure, mistake| failure.hint(mistake.to_string()))
            }
            RunError::Tracker(error) => failure.hint(error.hint()),
            RunError::Running { name, .. } => failure.hint(format!(
                "`heirloom watch {name}` shows it, `heirloom sessions stop {name}` stops it"
            )),
            RunError::Exists { resumable: true, .. } => {
                failure.hint("--resume goes on with it, --force starts over and keeps the old one")
            }
            RunError::Exists { .. } => failure
                .hint("use another name, or --force, which starts over and keeps the old one"),
            RunError::NothingToResume { .. } => failure.hint("leave --resume out to start it"),
            _ => failure,
        }
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        let message = error.to_string();
        match error {
            FindError::Ledger(error) => error.into(),
            FindError::None { nearest, .. } => {
                let all = "`heirloom sessions list` shows all of them";
                Self::new("session.not-found", message).hint(match nearest {
                    Some(session) => {
                        format!("did you mean {} ({})? {all}", session.name, session.status)
                    }
                    None => all.to_owned(),
                })
            }
            FindError::Many { candidates, .. } => {
                let failure = Self::new("session.ambiguous", message);
                candidates.iter().fold(failure, |failure, session| {
                    failure.hint(format!("{} is {} ({})", session.id, session.name, session.status))
                })
            }
        }
    }
}

impl From<NoteError> for Failure {
    fn from(error: NoteError) -> Self {
        let code = match &error {
            NoteError::Empty => "note.empty",
            NoteError::Evidence(_) => "evidence.refused",
            NoteError::Search(_) | NoteError::Exists { .. } => "ghost.refused",
            NoteError::NoNote { .. } => "note.not-found",
            NoteError::ManyNotes { .. } => "note.ambiguous",
            NoteError::Session(_) | NoteError::Ledger(_) => "note.failed",
        };
        match error {
            NoteError::Session(error) => error.into(),
            NoteError::Ledger(error) => error.into(),
            NoteError::Evidence(error) => {
                Self::from_error(code, &error).hint("nothing was recorded")
            }
            NoteError::NoNote { .. } | NoteError::ManyNotes { .. } => {
                Self::from_error(code, &error).hint("`heirloom notes --ids` shows the ids")
            }
            NoteError::Search(_) | NoteError::Exists { .. } => {
                Self::from_error(code, &error).hint("nothing was recorded")
            }
            NoteError::Empty => Self::from_error(code, &error).usage(),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::from_error("file", &error)
    }
}

impl From<KeepError> for Failure {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Session(error) => error.into(),
            KeepError::Ledger(error) => error.into(),
            KeepError::Settings(error) => Self::from_error("settings", &*error),
            KeepError::File(error) => error.into(),
            KeepError::NoSession => Self::from_error("session.not-found", &error)
                .hint("`heirloom note` makes one, and so does every agent that is hooked"),
        }
    }
}

impl From<TrackerError> for Failure {
    fn from(error: TrackerError) -> Self {
        let code = match &error {
            TrackerError::NoIssue { .. } => "issue.not-found",
            TrackerError::Ambiguous { .. } => "issue.ambiguous",
            TrackerError::Invalid { .. } => "issue.invalid",
            TrackerError::BadId(_) => "issue.id",
            TrackerError::Taken { .. } => "issue.taken",
            TrackerError::NotOpen { .. } => "issue.not-open",
            TrackerError::Circle { .. } => "issue.circle",
            TrackerError::Program { .. } => "tracker.failed",
            TrackerError::Shape { .. } => "tracker.shape",
            TrackerError::Line { .. }
            | TrackerError::Twice { .. }
            | TrackerError::Conflict { .. } => "tracker.line",
            TrackerError::Missing { .. } => "tracker.missing",
            TrackerError::Busy { .. } => "tracker.busy",
            TrackerError::File(_) => "file",
            TrackerError::Ledger(_) => "ledger.failed",
        };
        match error {
            TrackerError::Ledger(error) => error.into(),
            error => Self::from_error(code, &error).hint(error.hint()),
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Ledger(error) => error.into(),
            error => Self::from_error("ledger.import", &error).hint("nothing was imported"),
        }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let code = match &error {
            SessionError::NoPrompt => "prompt.empty",
            SessionError::NoAgent { .. } => "agent.unknown",
            SessionError::NameTaken { .. } => "session.name-taken",
            SessionError::Config(_) => "config.invalid",
            SessionError::Unreadable { .. } => "config.unreadable",
            SessionError::NoDirectory { .. } => "config.working_dir",
            SessionError::Launch(_) => "agent.launch",
            SessionError::Status { .. } => "session.status",
            SessionError::NoConversation { .. } => "session.no-conversation",
            SessionError::NotRunning { .. } => "session.not-running",
            SessionError::Elsewhere { .. } => "session.elsewhere",
            SessionError::StillRunning { .. } => "session.still-running",
            SessionError::Lost { .. } => "vault.lost",
            SessionError::NoEvent { .. } | SessionError::NothingBefore { .. } => {
                "conversation.no-event"
            }
            SessionError::NoTemplate { .. } => "template.not-found",
            SessionError::File { .. } => "file",
            SessionError::ManyApprovals { .. } => "approval.ambiguous",
            SessionError::Approval(ApprovalError::None { .. }) => "approval.not-found",
            SessionError::Approval(ApprovalError::Settled(_)) => "approval.settled",
            SessionError::Approval(_) => "approval.over",
            SessionError::Daemon(_) => "import.daemon",
            SessionError::Find(_) | SessionError::Ledger(_) => "ledger.failed",
        };
        match error {
            SessionError::Find(error) => error.into(),
            SessionError::Ledger(error) | SessionError::Approval(ApprovalError::Ledger(error)) => {
                error.into()
            }
            error => {
                let failure = Self::from_error(code, &error);
                match serve_hint(&error) {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        }
    }
}

fn serve_hint(error: &SessionError) -> Option<String> {
    Some(match error {
        SessionError::NoAgent { .. } => "`heirloom agents` shows which there are".to_owned(),
        SessionError::NameTaken { name } => {
            format!("`heirloom continue {name} …` goes on with it; or choose another name")
        }
        SessionError::Config(_) | SessionError::Launch(_) => "no session was made".to_owned(),
        SessionError::Unreadable { .. } => {
            "`heirloom ledger rebuild` derives it again from the records".to_owned()
        }
        SessionError::NoDirectory { .. } => {
            "no session was made; --working-dir says another one".to_owned()
        }
        SessionError::Status { status: Status::Archived, name } => {
            format!("`heirloom sessions archive {name} --undo` takes it out of the archive")
        }
        SessionError::Status { .. } => "try again in a moment".to_owned(),
        SessionError::Lost { .. } => {
            "give the MCP servers again with --mcp-config, or go without: --clear mcp_servers"
                .to_owned()
        }
        SessionError::NoEvent { .. } => "`heirloom conversation` numbers the events".to_owned(),
        SessionError::NothingBefore { .. } => {
            "`heirloom config save-template` keeps its config, and `launch --template` begins anew"
                .to_owned()
        }
        SessionError::NoTemplate { .. } => "`heirloom config templates` lists them".to_owned(),
        SessionError::Approval(ApprovalError::None { .. }) | SessionError::ManyApprovals { .. } => {
            "`heirloom approvals list` shows what waits".to_owned()
        }
        _ => return None,
    })
}

impl From<HereError> for Failure {
    fn from(error: HereError) -> Self {
        Self::from_error("environment", &error).usage()
    }
}
