use std::process::ExitCode;

use heirloom_api::{self as api, RequirementChanges, RequirementsPruned};
use heirloom_core::guard::policy::Policy;
use heirloom_core::guard::requirement::{Requirement, Scope};
use heirloom_core::guard::state::{Change, ChangeKind, Reach, short_session};
use heirloom_engine::guard::status::actor;
use heirloom_engine::guard::{self, Approve, Subject, Word};
use heirloom_ledger::Ledger;
use jiff::Timestamp;
use serde_json::Value;

use super::{anyone, branch, policy, seconds};
use crate::commands::{App, Done};
use crate::failure::{Code, Failure};
use crate::moment::by_the_clock;
use crate::ui::{CARE, DIM, GOOD};

#[derive(Debug, clap::Args)]
pub(super) struct SatisfyArgs {
    /// The requirements
    #[arg(required_unless_present = "branch", value_name = "NAME")]
    names: Vec<String>,
    /// Satisfy them for every session on a branch [default: the current branch]
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "")]
    branch: Option<String>,
    /// The session's name, id or id prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Why; required from an agent
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Details as JSON
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// For how long, such as 90s, 15m, 2h or 1d
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    ttl: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ApproveArgs {
    /// The requirements
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// For how long, such as 90s, 15m, 2h or 1d [default: the requirement's own, or 5m]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    ttl: Option<u64>,
    /// The session's name, id or id prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ClearArgs {
    /// The requirements
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,
    /// Clear all of them
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Also clear what was satisfied for the whole branch
    #[arg(long)]
    branch: bool,
    /// The session's name, id or id prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct PauseArgs {
    /// Why; shown to everyone
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// In every session of the repository
    #[arg(long, conflicts_with = "session")]
    repo: bool,
    /// The session's name, id or id prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// For how long, such as 90s, 15m, 2h or 1d [default: until resumed]
    #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
    ttl: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ResumeArgs {
    /// In every session of the repository
    #[arg(long, conflicts_with = "session")]
    repo: bool,
    /// The session's name, id or id prefix
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct PruneArgs {
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// The requirements of these names. One that is not known is refused, and then nothing is written.
fn named<'p>(policy: &'p Policy, names: &[String]) -> Result<Vec<&'p Requirement>, Failure> {
    let find = |name: &String| {
        policy.get(name).ok_or_else(|| {
            let failure =
                Failure::new(Code::RequirementNotFound, format!("there is no requirement {name}"));
            let failure = match policy.suggest(name) {
                Some(nearest) => failure.hint(format!("did you mean {nearest}?")),
                None => failure.hint("`heirloom req status` shows all of them"),
            };
            let own = format!("requirements.{name}.");
            let wrong = policy.problems.iter().find(|one| one.fatal && one.at.starts_with(&own));
            if let Some(problem) = wrong {
                failure.hint(format!("{name} is not enforced: {problem}"))
            } else if policy.disabled.contains(name) {
                failure.hint(format!("{name} is disabled in the settings"))
            } else {
                failure
            }
        })
    };
    names.iter().map(find).collect()
}

/// The session, where one of the scopes needs one.
fn needed(
    app: &App,
    ledger: &mut Ledger,
    session: Option<&str>,
    mut scopes: impl Iterator<Item = Scope>,
) -> Result<Subject, Failure> {
    if scopes.any(|scope| Reach::of(scope) == Reach::Session) {
        return Ok(guard::subject(&app.here, ledger, session)?);
    }
    anyone(app, ledger, session)
}

/// Refuses a branch that git does not have: satisfying it would say ✔ and do nothing.
fn known_branch(app: &App, name: Option<&str>) -> Result<(), Failure> {
    let (Some(name), Some(all)) = (name, heirloom_repo::changes::branches(&app.here.place)) else {
        return Ok(());
    };
    if app.here.place.head.branch() == Some(name) || all.iter().any(|known| known == name) {
        return Ok(());
    }
    let failure = Failure::new(Code::Usage, format!("there is no branch {name}")).usage();
    Err(match heirloom_core::suggest::nearest(name, all.iter().map(String::as_str)) {
        Some(nearest) => failure.hint(format!("did you mean {nearest}? nothing was written")),
        None => failure.hint("nothing was written"),
    })
}

pub(super) fn satisfy(app: &App, ledger: &mut Ledger, args: &SatisfyArgs) -> Done {
    let policy = policy(app)?;
    // `--branch plan` may mean the requirement.
    let (names, on) = match &args.branch {
        Some(name) if args.names.is_empty() => (std::slice::from_ref(name), None),
        on => (&args.names[..], on.as_deref().filter(|name| !name.is_empty())),
    };
    let requirements = named(&policy, names)?;
    known_branch(app, on)?;
    let metadata: Value = match &args.metadata {
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Failure::new(Code::Usage, format!("--metadata is not JSON: {error}")).usage()
        })?,
        None => Value::Null,
    };
    let scope = args.branch.is_some().then_some(Scope::Branch);
    let scopes = requirements.iter().map(|requirement| scope.unwrap_or(requirement.scope));
    let subject = needed(app, ledger, args.session.as_deref(), scopes)?;
    let reason = args.reason.as_deref();
    let word = Word { reason, metadata, ttl: args.ttl, scope, branch: branch(app, on) };
    let changes = guard::satisfy_by_word(&app.here, ledger, &subject, &requirements, word)?;
    report(app, &subject, &changes);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn approve(app: &App, ledger: &mut Ledger, args: &ApproveArgs) -> Done {
    let policy = policy(app)?;
    let requirements = named(&policy, &args.names)?;
    let scopes = requirements.iter().map(|requirement| requirement.scope);
    let subject = needed(app, ledger, args.session.as_deref(), scopes)?;
    let branch = branch(app, None);
    let how = Approve { ttl: args.ttl, branch: &branch };
    let changes = guard::approve(&app.here, ledger, &subject, &requirements, how)?;
    report(app, &subject, &changes);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn clear(app: &App, ledger: &mut Ledger, args: &ClearArgs) -> Done {
    let policy = policy(app)?;
    let requirements =
        if args.all { policy.requirements.iter().collect() } else { named(&policy, &args.names)? };
    let scope = |requirement: &Requirement| {
        if args.branch { Scope::Branch } else { requirement.scope }
    };
    let names: Vec<(String, Scope)> =
        requirements.iter().map(|each| (each.name.clone(), scope(each))).collect();
    let scopes = names.iter().map(|(_, scope)| *scope);
    let subject = needed(app, ledger, args.session.as_deref(), scopes)?;
    let branch = branch(app, None);
    let changes = guard::clear(&app.here, ledger, &subject, &names, &branch)?;
    report(app, &subject, &changes);
    if changes.is_empty() {
        app.ui.hint("there was nothing to clear");
    }
    Ok(ExitCode::SUCCESS)
}

fn report(app: &App, subject: &Subject, changes: &[Change]) {
    app.ui.answer(&RequirementChanges::new(subject.key(), changes), || {
        let now = app.here.clock.now();
        let lines = changes.iter().map(|change| describe(change, subject, now));
        lines.collect::<Vec<_>>().join("\n")
    });
}

fn describe(change: &Change, subject: &Subject, now: Timestamp) -> String {
    let (scope, word, until) = match &change.kind {
        ChangeKind::Satisfied(scope, satisfied) => {
            let until = satisfied.expires_at.map(|at| format!(" until {}", by_the_clock(at, now)));
            (*scope, "satisfied", until.unwrap_or_default())
        }
        ChangeKind::Cleared(scope, _) => (*scope, "cleared", String::new()),
        _ => return String::new(),
    };
    let place = match Reach::of(scope) {
        Reach::Session => {
            let session = subject.key().map(short_session).unwrap_or_default();
            format!("for session {session} on {}", change.branch)
        }
        Reach::Branch => format!("for every session on {}", change.branch),
        Reach::Repo => "for the whole repository".to_owned(),
    };
    format!("{GOOD}✔{GOOD:#} {} {word} {DIM}{place}{until}{DIM:#}", change.name)
}

pub(super) fn pause(app: &App, ledger: &mut Ledger, args: PauseArgs) -> Done {
    let subject = paused_in(app, ledger, args.repo, args.session.as_deref())?;
    let paused = guard::pause(&app.here, ledger, subject.as_ref(), args.reason, args.ttl)?;
    let answer = api::RequirementsPaused {
        paused: true,
        session: key(subject.as_ref()),
        reason: paused.reason,
        expires_at: paused.expires_at,
    };
    // Outside a session somebody has to say again which one is meant.
    let whose = match (&args.session, key(subject.as_ref())) {
        _ if args.repo => " --repo".to_owned(),
        (Some(_), Some(key)) => format!(" --session {}", short_session(&key)),
        _ => String::new(),
    };
    app.ui.answer(&answer, || {
        format!(
            "{CARE}paused{CARE:#} {}; `heirloom req resume{whose}` enforces them again",
            place(subject.as_ref())
        )
    });
    Ok(ExitCode::SUCCESS)
}

pub(super) fn resume(app: &App, ledger: &mut Ledger, args: &ResumeArgs) -> Done {
    let subject = paused_in(app, ledger, args.repo, args.session.as_deref())?;
    let method = actor(&app.here, ledger);
    guard::resume(&app.here, ledger, subject.as_ref(), method)?;
    let session = key(subject.as_ref());
    let answer = api::RequirementsPaused { paused: false, session, reason: None, expires_at: None };
    app.ui.answer(&answer, || {
        format!("{GOOD}✔{GOOD:#} requirements are enforced again {}", place(subject.as_ref()))
    });
    Ok(ExitCode::SUCCESS)
}

fn key(subject: Option<&Subject>) -> Option<String> {
    subject.and_then(Subject::key).map(str::to_owned)
}

fn place(subject: Option<&Subject>) -> String {
    match subject.and_then(Subject::key) {
        Some(key) => format!("in session {}", short_session(key)),
        None => "in every session of this repository".to_owned(),
    }
}

/// The session that is paused; none where the repository is.
fn paused_in(
    app: &App,
    ledger: &mut Ledger,
    in_repo: bool,
    session: Option<&str>,
) -> Result<Option<Subject>, Failure> {
    if in_repo {
        return Ok(None);
    }
    let mut subject = guard::subject(&app.here, ledger, session)?;
    if subject.session.is_none() {
        let id = subject.key().and_then(|key| key.parse().ok());
        subject.session = Some(id.ok_or_else(|| {
            Failure::new(Code::SessionNotFound, "this session is not in the ledger yet").hint(
                "name it by its full id, or pause the repository with --repo; nothing was written",
            )
        })?);
    }
    Ok(Some(subject))
}

pub(super) fn prune(app: &App, ledger: &mut Ledger, args: &PruneArgs) -> Done {
    let method = actor(&app.here, ledger);
    let Some(gone) = guard::prune(&app.here, ledger, method, args.dry_run)? else {
        return Err(
            Failure::new(Code::Git, "cannot list branches with git").hint("nothing was removed")
        );
    };
    let answer = RequirementsPruned { branches: gone.clone(), dry_run: args.dry_run };
    app.ui.answer(&answer, || match (&gone[..], args.dry_run) {
        ([], _) => "no deleted branch has state".to_owned(),
        (gone, false) => format!("forgot {}", gone.join(", ")),
        (gone, true) => format!("would forget {}", gone.join(", ")),
    });
    Ok(ExitCode::SUCCESS)
}
