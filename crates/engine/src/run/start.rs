//! The beginning of a run: its session in the ledger, its directory, its worktree.

use std::collections::BTreeMap;
use std::path::PathBuf;

use heirloom_core::event::{RunInherited, RunPlanned, SessionCreated};
use heirloom_core::id::SessionId;
use heirloom_core::inherit::Inherited;
use heirloom_core::run::plan::Plan;
use heirloom_core::session::{Link, Session};
use heirloom_core::status::Status;
use heirloom_ledger::{Error, Ledger, Scope};
use heirloom_repo::branch;
use uuid::Uuid;

use super::dir::RunDir;
use super::error::RunError;
use super::file;
use super::launch::{self, Leave, Worksite};
use super::lock::EngineLock;
use super::prepare::{Mode, Prepared, Resumed};
use crate::here::Here;
use crate::identity::{self, Look};
use crate::sessions;
use crate::turn;
use crate::turn::lock::DriverLock;

/// A session that has begun, or goes on.
#[derive(Debug)]
pub struct Running {
    pub(super) locks: Locks,
    pub session: Session,
    pub(super) plan: Plan,
    pub(super) inherited: Option<Inherited>,
    pub(super) stage_inherits: BTreeMap<String, Inherited>,
    pub(super) dir: RunDir,
    pub(super) worktree: PathBuf,
    pub(super) is_resumed: bool,
}

/// What an engine holds: the name, so that two of them do not both make a session of it, and the
/// session, like whoever drives one.
#[derive(Debug)]
pub(super) struct Locks {
    _name: EngineLock,
    pub(super) driver: DriverLock,
}

impl Running {
    /// Its run directory.
    pub const fn dir(&self) -> &RunDir {
        &self.dir
    }
}

/// Begins a run, or goes on with one. Nothing is left to be done where [`Prepared::is_done`].
pub fn start(here: &Here, ledger: &mut Ledger, prepared: Prepared) -> Result<Running, RunError> {
    match prepared.mode {
        Mode::New(ref replaced) => {
            if let Some(session) = replaced.as_ref().filter(|s| s.status.is_active()) {
                abandon(here, ledger, session)?;
            }
            begin(here, ledger, prepared)
        }
        Mode::Resume(resumed) => {
            let blocks = Blocks {
                session: prepared.inherit.map(|inherit| inherit.block),
                stages: prepared.stage_inherits,
            };
            go_on(here, ledger, prepared.lock, *resumed, blocks)
        }
        Mode::Done => Err(RunError::NothingToResume { name: prepared.name.to_string() }),
    }
}

fn begin(here: &Here, ledger: &mut Ledger, prepared: Prepared) -> Result<Running, RunError> {
    let Prepared { lock, name, plan, inherit, stage_inherits, worktree, .. } = prepared;
    let dir = RunDir::new(&here.place.root, &name);
    file::set_aside(dir.path(), "old")?;
    let bare = sessions::bare(here, name.clone());
    let (worktree, branch) = if worktree {
        (own_worktree(here, name.as_str())?, Some(own_branch(name.as_str())))
    } else {
        (here.place.root.clone(), bare.branch.clone())
    };
    let first = plan.all_stages().next();
    let parent = inherit.as_ref().and_then(|inherit| inherit.parent);
    let created = SessionCreated {
        parent,
        link: parent.map(|_| Link::Inherited),
        agent: first.map(|stage| stage.agent.as_str().into()),
        config: launch::config(
            &plan,
            first.map(|stage| stage.agent.as_str()),
            first.and_then(|stage| stage.model.as_deref()),
            &Worksite { worktree: worktree.clone(), run_dir: dir.path().to_owned() },
            Leave { now: here.clock.now(), recorded: None },
        ),
        branch,
        ..bare
    };
    let id = SessionId::new(Uuid::new_v4());
    let driver = DriverLock::take(&here.home, id)?;
    let planned = RunPlanned {
        plan: plan.clone(),
        run_dir: identity::relative(here, dir.path()),
        worktree: identity::relative(here, &worktree),
    };
    let inherited = inherit.map(|inherit| inherit.block);
    let scope = Scope::session(id, &here.place.repo);
    ledger.write(here.clock.now(), |writer| {
        writer.append(scope, &created)?;
        writer.append(scope, &planned)?;
        if let Some(inherited) = inherited.clone() {
            writer.append(scope, &RunInherited { inherited, stage: None })?;
        }
        for (stage, inherited) in stage_inherits.clone() {
            writer.append(scope, &RunInherited { inherited, stage: Some(stage) })?;
        }
        writer.change_status(id, Status::Running, None)
    })?;
    identity::settle(here, ledger, Look::AtWork)?;
    let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
    dir.create(&plan)?;
    let locks = Locks { _name: lock, driver };
    Ok(Running {
        locks,
        session,
        plan,
        inherited,
        stage_inherits,
        dir,
        worktree,
        is_resumed: false,
    })
}

/// Ends what is left of a session whose engine is gone, before another one takes its name.
fn abandon(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<(), RunError> {
    turn::end_agents(session.id);
    let reason = Some("started over".to_owned());
    let id = session.id;
    Ok(ledger.write(here.clock.now(), |w| w.change_status(id, Status::Interrupted, reason))?)
}

/// The branch of a run that has a worktree of its own.
fn own_branch(name: &str) -> String {
    format!("heirloom/{name}")
}

fn own_worktree(here: &Here, name: &str) -> Result<PathBuf, RunError> {
    let root = &here.place.root;
    let path = root.join(".heirloom/worktrees").join(name);
    file::make_dir(path.parent().unwrap_or(root))?;
    let ignore = path.with_file_name(".gitignore");
    if !ignore.exists() {
        file::replace(&ignore, b"*\n")?;
    }
    branch::work_on(root, &path, &own_branch(name), "HEAD")
        .map_err(|error| RunError::Git { doing: "make a worktree", why: error.why })
}

/// What a session that goes on had inherited when it began.
struct Blocks {
    session: Option<Inherited>,
    stages: BTreeMap<String, Inherited>,
}

fn go_on(
    here: &Here,
    ledger: &mut Ledger,
    lock: EngineLock,
    resumed: Resumed,
    blocks: Blocks,
) -> Result<Running, RunError> {
    let Resumed { session, planned, reopened } = resumed;
    let id = session.id;
    let driver = DriverLock::take_again(&here.home, id)?;
    let scope = Scope::session(id, &session.repo);
    ledger.write(here.clock.now(), |writer| {
        // An engine that was killed left it as it was, unless somebody closed it in the meantime.
        let status = writer.status(id)?;
        if status == Status::Interrupting {
            writer.change_status(id, Status::Interrupted, None)?;
        }
        writer.append(scope, &planned)?;
        if let Some(stage) = &reopened {
            writer.append(scope, stage)?;
        }
        if status == Status::Running {
            return Ok::<(), Error>(());
        }
        writer.change_status(id, Status::Running, Some("resumed".to_owned()))
    })?;
    let session = ledger.session(id)?.ok_or(Error::NoSession { id })?;
    let dir = RunDir::at(identity::where_now(here, ledger, &planned.run_dir)?, &session.name);
    dir.create(&planned.plan)?;
    let worktree = identity::where_now(here, ledger, &planned.worktree)?;
    let plan = planned.plan;
    let locks = Locks { _name: lock, driver };
    let Blocks { session: inherited, stages: stage_inherits } = blocks;
    Ok(Running { locks, session, plan, inherited, stage_inherits, dir, worktree, is_resumed: true })
}
