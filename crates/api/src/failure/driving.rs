//! Failures of what drives agents: runs, sessions, and work on issues.

use heirloom_agents::LaunchError;
use heirloom_core::status::Status;
use heirloom_engine::issues::TrackerError;
use heirloom_engine::recall::back::BackError;
use heirloom_engine::recall::carry::CarryError;
use heirloom_engine::run::RunError;
use heirloom_engine::run::inherit::InheritError;
use heirloom_engine::session::SessionError;
use heirloom_engine::work::WorkError;
use heirloom_ledger::ApprovalError;

use super::{Code, Failure};

/// What helps where an agent's program is not there.
const WITHOUT_AGENT: &str =
    "`heirloom agents` shows those that are here; `--agent sim` is built in and needs no model";

impl Failure {
    /// Why nothing can be inherited, with what could be.
    pub fn of_inherit(error: &InheritError) -> Self {
        let all = "`heirloom sessions list --completed --all` shows all";
        match error {
            InheritError::Missing { nearest, candidates, .. } => {
                let failure = Self::from_error(Code::InheritMissing, error);
                let failure = failure.hint(match nearest {
                    Some(name) => format!("did you mean {name}? {all}"),
                    None => all.to_owned(),
                });
                if candidates.is_empty() {
                    return failure.hint("there is no session here to inherit from yet");
                }
                failure.hint(format!("sessions to inherit from: {}", candidates.join(", ")))
            }
            InheritError::Many { candidates, .. } => {
                let failure = Self::from_error(Code::InheritAmbiguous, error);
                candidates.iter().fold(failure, |failure, session| {
                    let status = session.status.in_words();
                    failure.hint(format!("{} is {} ({status})", session.id, session.name))
                })
            }
            InheritError::NoName { .. } => Self::from_error(Code::SessionName, error).hint(all),
            InheritError::Broken { .. } => Self::from_error(Code::InheritBroken, error),
            InheritError::Elsewhere(error) => error.clone().into(),
            InheritError::Ledger(_) => Self::from_error(Code::LedgerFailed, error),
        }
    }
}

impl From<BackError> for Failure {
    fn from(error: BackError) -> Self {
        match error {
            BackError::Restore(error) => error.into(),
            BackError::Carry(error) => error.into(),
        }
    }
}

impl From<CarryError> for Failure {
    fn from(error: CarryError) -> Self {
        match error {
            CarryError::Session(error) => error.into(),
            CarryError::File(error) => error.into(),
            CarryError::NotAPerson(error) => error.into(),
            CarryError::Gone => Self::from_error(Code::SessionNotFound, &error)
                .hint("`heirloom archive list` shows what is kept"),
            CarryError::NoProgram(_) | CarryError::Refused { .. } => {
                Self::from_error(Code::Environment, &error)
            }
            CarryError::Unsupported(_) | CarryError::NoAgent(_) => {
                Self::from_error(Code::Usage, &error)
                    .hint("claude, codex and opencode can take it over")
                    .usage()
            }
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        let code = match &error {
            WorkError::NoGit { .. } | WorkError::NoCommit { .. } => Code::WorkNoGit,
            WorkError::CheckedOut { .. } | WorkError::NoBranch { .. } | WorkError::Apart { .. } => {
                Code::WorkBranch
            }
            WorkError::Crowded { .. } | WorkError::Unpriced { .. } => Code::Usage,
            WorkError::NoAgent { .. } | WorkError::Program(_) => Code::AgentNotFound,
            WorkError::Tracker(_) => Code::IssuesFailed,
            WorkError::Git(_) => Code::Git,
            WorkError::File(_) => Code::File,
            WorkError::Session(_) => Code::SessionFailed,
            WorkError::Ledger(_) => Code::LedgerFailed,
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
            WorkError::Apart { ref branch, ref head, .. } => failure
                .hint(format!("merge it yourself and resolve the conflict: git merge {branch}"))
                .hint(format!("or start over without it: git branch -f {branch} {head}")),
            WorkError::Unpriced { .. } => {
                failure.hint("use --max-time, --max-issues or --issue-timeout instead").usage()
            }
            WorkError::NoBranch { .. } => {
                failure.hint("a branch called heirloom, or heirloom/work, may be in the way")
            }
            WorkError::Program(_) => failure.hint(WITHOUT_AGENT),
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
            RunError::Name { .. } => Code::SessionName,
            RunError::Unknown { .. } => Code::RunUnknown,
            RunError::Untrusted(_) => Code::TrustNeeded,
            RunError::NotAPerson(_) => Code::PersonNeeded,
            RunError::Mistakes { .. } => Code::RunMistakes,
            RunError::NoInput { .. } => Code::RunInput,
            RunError::Agent(_) => Code::AgentNotFound,
            RunError::Tracker(_) => Code::RunTracker,
            RunError::Unpermitted { .. } | RunError::NeverAsk { .. } => Code::RunPermissions,
            RunError::CostUnknown { .. } => Code::RunCost,
            RunError::Running { .. } => Code::RunRunning,
            RunError::Exists { .. } => Code::SessionExists,
            RunError::NothingToResume { .. } | RunError::NotARun { .. } => Code::RunNotResumable,
            RunError::Inherit(_) | RunError::Unsound { .. } => Code::InheritRefused,
            RunError::Git { .. } => Code::Git,
            RunError::File(_) => Code::File,
            RunError::Ledger(_) => Code::LedgerFailed,
        };
        let failure = Self::from_error(code, &error);
        match error {
            RunError::Ledger(error) => error.into(),
            RunError::Untrusted(error) => error.into(),
            RunError::NotAPerson(error) => Self::from(error).hint(
                "to decide once and for unattended runs: run.permissions in your own settings",
            ),
            RunError::Inherit(error @ InheritError::NoName { .. }) => {
                Self::of_inherit(&error).usage()
            }
            RunError::Inherit(error) => Self::of_inherit(&error),
            RunError::NotARun { name } => {
                failure.hint(format!("`heirloom continue {name} \"…\"` continues it"))
            }
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
            RunError::Agent(_) => failure.hint(WITHOUT_AGENT),
            RunError::Unpermitted { .. } => failure
                .hint("--permissions accept: edit files and run commands, as most stages need")
                .hint("--permissions edits: edit files, and nothing else")
                .hint("--permissions ask: everything waits for `heirloom approvals`")
                .hint(
                    "to decide once: run.permissions in your own settings, or answer at a terminal",
                ),
            RunError::CostUnknown { .. } => {
                failure.hint("name a model whose price is known (--model), or leave the limit out")
            }
            RunError::NeverAsk { .. } => {
                failure.hint("--permissions accept, or --permissions edits").usage()
            }
            RunError::Running { name, .. } => failure.hint(format!(
                "`heirloom watch {name}` shows it, `heirloom sessions stop {name}` stops it"
            )),
            RunError::Exists { resumable, inherit, .. } => {
                let failure = failure.hint(if resumable {
                    "--resume continues it; --force starts over and keeps the old one"
                } else {
                    "use another name, or --force to start over and keep the old one"
                });
                match inherit.map(|error| Self::of_inherit(&error)) {
                    Some(wrong) => wrong.hints.into_iter().fold(
                        failure.hint(format!("--inherit is wrong too: {}", wrong.message)),
                        Self::hint,
                    ),
                    None => failure,
                }
            }
            RunError::NothingToResume { .. } => failure.hint("drop --resume to start it"),
            _ => failure,
        }
    }
}

impl From<TrackerError> for Failure {
    fn from(error: TrackerError) -> Self {
        let code = match &error {
            TrackerError::NoIssue { .. } => Code::IssueNotFound,
            TrackerError::Ambiguous { .. } => Code::IssueAmbiguous,
            TrackerError::Invalid { .. } => Code::IssueInvalid,
            TrackerError::BadId(_) => Code::IssueId,
            TrackerError::Taken { .. } => Code::IssueTaken,
            TrackerError::NotOpen { .. } => Code::IssueNotOpen,
            TrackerError::Circle { .. } => Code::IssueCircle,
            TrackerError::Untested { .. } => Code::IssueUntested,
            TrackerError::Program { .. } => Code::TrackerFailed,
            TrackerError::Shape { .. } => Code::TrackerShape,
            TrackerError::Line { .. }
            | TrackerError::Twice { .. }
            | TrackerError::Conflict { .. } => Code::TrackerLine,
            TrackerError::Missing { .. } => Code::TrackerMissing,
            TrackerError::Busy { .. } => Code::TrackerBusy,
            TrackerError::File(_) => Code::File,
            TrackerError::Ledger(_) => Code::LedgerFailed,
        };
        match error {
            TrackerError::Ledger(error) => error.into(),
            error => Self::from_error(code, &error).hint(error.hint()),
        }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let code = match &error {
            SessionError::NotAPerson(_) => Code::PersonNeeded,
            SessionError::NoPrompt => Code::PromptEmpty,
            SessionError::NoAgent { .. } => Code::AgentUnknown,
            SessionError::NameTaken { .. } => Code::SessionNameTaken,
            SessionError::Config(_) => Code::ConfigInvalid,
            SessionError::Unreadable { .. } => Code::ConfigUnreadable,
            SessionError::NoDirectory { .. } => Code::ConfigWorkingDir,
            SessionError::Launch(_) => Code::AgentLaunch,
            SessionError::Status { .. } => Code::SessionStatus,
            SessionError::NoConversation { .. } | SessionError::Forgotten { .. } => {
                Code::SessionNoConversation
            }
            SessionError::NotRunning { .. } => Code::SessionNotRunning,
            SessionError::Elsewhere { .. } => Code::SessionElsewhere,
            SessionError::StillRunning { .. } => Code::SessionStillRunning,
            SessionError::Lost { .. } => Code::VaultLost,
            SessionError::NoEvent { .. } | SessionError::NothingBefore { .. } => {
                Code::ConversationNoEvent
            }
            SessionError::NoTemplate { .. } => Code::TemplateNotFound,
            SessionError::File { .. } => Code::File,
            SessionError::BadInput { .. } => Code::ApprovalInput,
            SessionError::ManyApprovals { .. } => Code::ApprovalAmbiguous,
            SessionError::Approval(ApprovalError::None { .. }) => Code::ApprovalNotFound,
            SessionError::Approval(ApprovalError::Settled(_)) => Code::ApprovalSettled,
            SessionError::Approval(_) => Code::ApprovalOver,
            SessionError::Daemon(_) => Code::ImportDaemon,
            SessionError::Find(_) | SessionError::Ledger(_) => Code::LedgerFailed,
        };
        match error {
            SessionError::NotAPerson(error) => error.into(),
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
        SessionError::NoAgent { .. } => "`heirloom agents` lists them".to_owned(),
        SessionError::Daemon(_) => "the database is usually ~/.humanlayer/daemon.db".to_owned(),
        SessionError::NameTaken { name } => {
            format!("`heirloom continue {name} …` continues it; or choose another name")
        }
        SessionError::Launch(LaunchError::NotFound(_)) => {
            format!("no session was created; {WITHOUT_AGENT}")
        }
        SessionError::Config(_) | SessionError::Launch(_) => "no session was created".to_owned(),
        SessionError::Unreadable { .. } => {
            "`heirloom ledger rebuild` derives it again from the records".to_owned()
        }
        SessionError::NoDirectory { .. } => {
            "no session was created; --working-dir chooses another directory".to_owned()
        }
        SessionError::Status { status: Status::Archived, name } => {
            format!("`heirloom sessions hide {name} --undo` shows it again")
        }
        SessionError::Status { .. } => "try again in a moment".to_owned(),
        SessionError::Lost { .. } => {
            "give the MCP servers again with --mcp-config, or go without: --clear mcp_servers"
                .to_owned()
        }
        SessionError::NoEvent { .. } => "`heirloom conversation` numbers the events".to_owned(),
        SessionError::NothingBefore { .. } => {
            "`heirloom config save-template` keeps its config, and `launch --template` starts a new session with it"
                .to_owned()
        }
        SessionError::NoTemplate { .. } => "`heirloom config templates` lists them".to_owned(),
        SessionError::Approval(ApprovalError::None { .. }) | SessionError::ManyApprovals { .. } => {
            "`heirloom approvals list` shows what is pending".to_owned()
        }
        _ => return None,
    })
}
