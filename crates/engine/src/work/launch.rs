//! Launching an agent on an issue: in a new conversation, or in the one it was in.

use std::time::Duration;

use heirloom_agents::{Feature, Support, Unattended, by_name};
use heirloom_core::config::{Change, Config, Overrides};
use heirloom_core::event::IssueRunTranscribed;
use heirloom_core::issue::Issue;
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_core::settings::Permissions;
use heirloom_repo::fingerprint::Fingerprint;
use heirloom_repo::stash;
use jiff::Timestamp;

use super::monitor::ActivityMonitor;
use super::on_issue::OnIssue;
use super::options::Reviewer;
use super::prior;
use super::trees::{Trees, stash_commands, them};
use crate::session::{
    self, Continue, Launch, LaunchContext, Prepared, Purpose, SessionEnded, SessionError,
};
use crate::turn::command::asks;

/// How long an agent that may do everything may do so: longer than any issue takes.
const LONG: Duration = Duration::from_hours(24 * 30);

/// In which conversation an agent is launched.
pub(super) enum Turn {
    /// In a new one, with what `inherits` leaves.
    Fresh { prompt: String, inherits: Option<Box<Session>> },
    /// In the one of this session.
    GoOn { prompt: String, session: Box<Session> },
    /// In one that no session of ours had.
    Foreign { prompt: String, agent: String, agent_session_id: String },
}

/// Launches an agent and stays with it to its end.
pub(super) fn launch(on: &mut OnIssue<'_, '_>, turn: Turn) -> Result<SessionEnded, SessionError> {
    let purpose = Purpose {
        issue_run: on.job.issue_run,
        issue: on.job.issue.id.clone(),
        title: on.job.issue.title.clone(),
    };
    let ended = attend(on, |on, context| {
        let mut prepared = prepare(on, context, turn)?;
        prepared.purpose = Some(purpose);
        Ok(prepared)
    })?;
    note_transcript(on, &ended.session)?;
    Ok(ended)
}

/// Launches a reviewer. Its session is not one that the issue is ever resumed in.
pub(super) fn review(
    on: &mut OnIssue<'_, '_>,
    reviewer: &Reviewer,
    prompt: String,
) -> Result<SessionEnded, SessionError> {
    attend(on, |on, context| {
        let (agent, model) = (reviewer.agent.clone(), reviewer.model.clone());
        let config = config(on, &agent, model, on.here.clock.now());
        let name = Some(name(on, "-review")?);
        let launch = Launch { name, ..request(on, prompt, agent, config)? };
        session::prepare_launch(context, &on.ledger, launch)
    })
}

fn attend(
    on: &mut OnIssue<'_, '_>,
    prepare: impl FnOnce(&OnIssue<'_, '_>, &LaunchContext<'_>) -> Result<Prepared, SessionError>,
) -> Result<SessionEnded, SessionError> {
    let context = LaunchContext {
        here: &on.here,
        programs: on.context.programs,
        settings: on.context.settings,
        directory: &on.tree.path,
        system: on.context.system,
    };
    let prepared = match prepare(on, &context) {
        Ok(prepared) => prepared,
        Err(error) => {
            on.context.spend(on.share.take(), 0.0);
            return Err(error);
        }
    };
    for warning in &prepared.warnings {
        on.context.warn(Some(on.job.issue.id.as_str()), warning.clone());
    }
    let stashes = Stashes::look(&on.context.trees);
    let mut monitor = ActivityMonitor::new(on.context, &on.job.issue.id, on.deadline, on.share);
    let ended = session::run(&context, &mut on.ledger, prepared, &mut monitor);
    let told = ended.as_ref().ok().and_then(|ended| ended.session.cost.told());
    on.context.spend(on.share.take(), told.unwrap_or(0.0));
    take_stashes(on, &stashes.list);
    put_stashes_back(on, &stashes);
    ended
}

/// The person's list of stashes as an agent is launched.
struct Stashes {
    list: String,
    /// How the person's tree was then, if there is anything on the list to lose. Each agent has its own
    /// look: what others saw and said meanwhile does not matter for what it may have done.
    tree: Option<Fingerprint>,
}

impl Stashes {
    fn look(trees: &Trees) -> Self {
        if trees.stashes().is_empty() {
            return Self { list: String::new(), tree: None };
        }
        // The tree first: what the person pops in between is not on the list then, and not missed.
        let tree = trees.fingerprint();
        let list = trees.stashes();
        trees.hold_stashes(&list);
        Self { list, tree }
    }

    /// Whether the person's tree is known to be as it was.
    fn has_same_tree(&self, trees: &Trees) -> bool {
        let looks = self.tree.as_ref().zip(trees.fingerprint());
        looks.is_some_and(|(before, now)| now.changed_since(before).is_empty())
    }
}

/// What the agent took off the person's list of stashes comes back. A person who takes one off themselves
/// mostly has it in their files then: where those changed, it is only said how it comes back.
fn put_stashes_back(on: &mut OnIssue<'_, '_>, before: &Stashes) {
    let trees = &on.context.trees;
    let lost = trees.missing_stashes(&before.list);
    if lost.is_empty() {
        return;
    }
    let count = lost.len();
    let them = them(count);
    let by_hand = || {
        let commits: Vec<&str> = lost.iter().map(|line| stash::commit_of_line(line)).collect();
        format!("restore {them} with {}", stash_commands("store", &commits))
    };
    if !before.has_same_tree(trees) {
        on.warn(format!(
            "{count} of your stashes disappeared; if you did not remove {them}, {}",
            by_hand()
        ));
        return;
    }
    match trees.put_stashes_back(&before.list, &lost) {
        Ok(restored) => {
            on.warn(match count - restored {
                0 => format!(
                    "an agent removed {count} of your stashes, which are restored; its commits may contain their changes"
                ),
                gone => format!(
                    "an agent removed {count} of your stashes; {gone} cannot be restored: git has collected what was in them"
                ),
            });
            let back = match restored {
                0 => String::new(),
                1 => format!("1 of {count} is back on it, and "),
                _ => format!("{restored} of {count} are back on it, and "),
            };
            on.so_far.news.push(format!(
                "the list of stashes is shared with the person, and what you took off it was theirs: \
                 {back}none of it belongs to your work"
            ));
        }
        Err(error) => {
            on.warn(format!("{count} of your stashes disappeared ({error}); {}", by_hand()));
        }
    }
}

/// What the agent stashed is kept for it, but not on the list that the person has.
fn take_stashes(on: &mut OnIssue<'_, '_>, before: &str) {
    match Trees::take_stashes(&on.tree, &on.job.issue.id, before) {
        Ok(taken) if taken.is_empty() => {}
        Ok(taken) => {
            let (them, by_hand) = (them(taken.len()), stash_commands("apply", &taken));
            on.warn(format!("the agent stashed something; restore {them} with {by_hand}"));
            on.so_far.news.push(format!(
                "what you stashed is not in the list of stashes, which is shared, but here: \
                 {by_hand}"
            ));
        }
        Err(error) => on.warn(format!("what the agent stashed is in your list: {error}")),
    }
}

fn prepare(
    on: &OnIssue<'_, '_>,
    context: &LaunchContext<'_>,
    turn: Turn,
) -> Result<Prepared, SessionError> {
    let now = on.here.clock.now();
    match turn {
        Turn::GoOn { prompt, session } => {
            let agent = session.agent.clone().unwrap_or_default();
            let overrides = Overrides {
                bypass_until: permitted_until(on, &agent, now).map_or(Change::Clear, Change::Set),
                // What is left is this run's to say, not the one's before it.
                max_cost_usd: budget(on, &agent).map_or(Change::Clear, Change::Set),
                working_dir: Change::Set(on.tree.path.to_string_lossy().into_owned()),
                ..Overrides::default()
            };
            let request = Continue {
                session: *session,
                prompt,
                name: None,
                overrides,
                fork: false,
                same_conversation: true,
                at: None,
            };
            // A second handle: continuing may interrupt a session, which takes the ledger.
            let mut ledger = on.context.ledger()?;
            session::prepare_settled_continue(context, &mut ledger, request)
        }
        Turn::Fresh { prompt, inherits } => {
            let agent = on.context.options.agent.clone();
            let model = on.context.options.model.clone();
            let config = config(on, &agent, model, now);
            let inherits = inherits.map(|session| *session);
            let launch = Launch { inherits, ..request(on, prompt, agent, config)? };
            session::prepare_settled_launch(context, &on.ledger, launch)
        }
        Turn::Foreign { prompt, agent, agent_session_id } => {
            let config = config(on, &agent, None, now);
            let resumes = Some(agent_session_id);
            let launch = Launch { resumes, ..request(on, prompt, agent, config)? };
            session::prepare_settled_launch(context, &on.ledger, launch)
        }
    }
}

fn request(
    on: &OnIssue<'_, '_>,
    prompt: String,
    agent: String,
    config: Config,
) -> Result<Launch, SessionError> {
    let name = Some(name(on, "")?);
    let (agent, config) = (Some(agent), Overrides::setting(config));
    Ok(Launch { prompt, name, agent, config, ..Launch::default() })
}

fn config(on: &OnIssue<'_, '_>, agent: &str, model: Option<String>, now: Timestamp) -> Config {
    let issue = &on.job.issue;
    Config {
        model,
        working_dir: Some(on.tree.path.to_string_lossy().into_owned()),
        auto_accept_edits: (on.context.options.permissions != Permissions::Ask).then_some(true),
        permission_mode: mode(on, agent),
        bypass_until: permitted_until(on, agent, now),
        title: Some(title(issue)),
        max_cost_usd: budget(on, agent),
        ..Config::default()
    }
}

/// What an agent may spend, if it can keep to that.
fn budget(on: &OnIssue<'_, '_>, agent: &str) -> Option<f64> {
    let can_limit = by_name(agent)
        .is_some_and(|agent| !matches!(agent.supports(Feature::CostLimit), Support::No(_)));
    on.share.filter(|_| can_limit)
}

/// Until when an agent that asks is let do everything. One that does not ask needs no leave.
fn permitted_until(on: &OnIssue<'_, '_>, agent: &str, now: Timestamp) -> Option<Timestamp> {
    let asks = by_name(agent).is_some_and(asks);
    (on.context.options.permissions == Permissions::Accept && asks)
        .then(|| now.checked_add(LONG).ok())
        .flatten()
}

/// The mode of an agent that does not ask, where it may do everything and could run no command
/// otherwise. A sandbox in which commands run is left as it is.
fn mode(on: &OnIssue<'_, '_>, agent: &str) -> Option<String> {
    let accepts = on.context.options.permissions == Permissions::Accept;
    match by_name(agent).filter(|_| accepts)?.unattended() {
        Unattended::Mode(mode) => Some(mode.to_owned()),
        Unattended::Freely | Unattended::Asks | Unattended::Sandboxed(_) => None,
    }
}

fn title(issue: &Issue) -> String {
    let title: String = issue.title.chars().filter(|c| !c.is_control()).take(120).collect();
    format!("{} {title}", issue.id)
}

/// A name for a session of the issue that no session has yet.
fn name(on: &OnIssue<'_, '_>, what: &str) -> Result<SessionName, SessionError> {
    let id: String = on.job.issue.id.as_str().chars().take(80).collect();
    let first = format!("{}{what}", id.trim_end_matches('.')).parse::<SessionName>();
    let first = first.unwrap_or_else(|_| "issue".parse().expect("a word is a name"));
    let repo = &on.here.place.repo;
    let is_taken =
        |name: &SessionName| Ok::<_, SessionError>(on.ledger.named(repo, name.as_str())?.is_some());
    if !is_taken(&first)? {
        return Ok(first);
    }
    Ok(session::free_name(&first, is_taken)?.unwrap_or(first))
}

/// Remembers where the agent's own transcript is: if it is gone later, nobody needs to ask.
fn note_transcript(on: &mut OnIssue<'_, '_>, session: &Session) -> Result<(), SessionError> {
    let (Some(agent), Some(id), true) =
        (&session.agent, &session.agent_session_id, session.announced)
    else {
        return Ok(());
    };
    if let Some(transcript) = prior::transcript(agent, &on.here.env, id)
        && on.so_far.transcript.as_ref() != Some(&transcript)
    {
        let issue_run = on.job.issue_run;
        let seen = IssueRunTranscribed { issue_run, transcript: transcript.clone() };
        on.ledger.append(on.here.clock.now(), on.context.scope(), &seen)?;
        on.so_far.transcript = Some(transcript);
    }
    Ok(())
}
