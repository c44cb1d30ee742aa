//! Is heirloom active here, and if not, why.

mod captured;

use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::policy::Problem;
use heirloom_core::settings::{Diagnostic, Settings};
use heirloom_core::trust::{Covered, State};
use heirloom_ledger::{Ledger, SessionKeys, VERSION};
use heirloom_repo::Head;
use serde::Serialize;

use crate::agents::{self, AgentStatus};
use crate::guard::fault;
use crate::guard::rules::{self, Rules};
use crate::here::Here;
use crate::init::{self, Hooking, InitError, Request, SetupAction};
use crate::issues;
use crate::settings::{Environment, FileState};
use crate::trust::{self, Untrusted};

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Not needed, or not there yet.
    Note,
    /// Something has to be done about it.
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: String,
    pub health: Health,
    pub detail: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Check {
    pub fn new(name: &str, health: Health, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), health, detail: detail.into(), hint: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Looks at everything heirloom needs here.
pub fn examine(here: &Here) -> Vec<Check> {
    let mut checks = vec![repository(here), ledger(here)];
    checks.extend(faults(here));
    checks.extend(Ledger::set_aside_in(&here.home).iter().map(|file| {
        let detail = format!("a damaged ledger was set aside as {}", file.display());
        Check::new("ledger", Health::Problem, detail)
            .hint("`heirloom heal` recovers every record that can still be read")
    }));
    checks.extend(settings(here));
    checks.extend(here.ignored.iter().map(|variable| {
        let detail = format!("this repository sets {variable}, which is ignored");
        Check::new("environment", Health::Note, detail)
    }));
    checks.extend(disabled(here));
    checks.extend(trusted(here));
    checks.extend(captured::checks(here));
    checks.push(tracker(here));
    checks.extend(requirements(here));
    let loaded = here.settings(&[]).ok();
    checks.extend(page(here, loaded.as_ref().map(|loaded| &loaded.settings)));
    let programs = agents::programs(here, loaded.as_ref().map(|loaded| &loaded.settings));
    let known = agents::look(here, &programs, false);
    checks.extend(known.iter().filter(|known| is_looked_for(known)).map(agent));
    checks.extend(known.iter().filter_map(|known| hooked(here, known)));
    checks.extend(known.iter().filter_map(|known| equipped(here, known)));
    checks
}

/// The variable that makes every hook silent.
fn disabled(here: &Here) -> Option<Check> {
    here.var("HEIRLOOM_DISABLE")?;
    let owned = Environment::of(here).has_owner();
    let rest = if owned { ", apart from what the machine's owner asks for" } else { "" };
    let detail = format!("HEIRLOOM_DISABLE is set, so hooks started from here do nothing{rest}");
    Some(Check::new("environment", Health::Problem, detail).hint("unset HEIRLOOM_DISABLE"))
}

/// Mends what can be mended without asking: hooks, commands and tools that are missing or outdated, and
/// our own files. What was done is returned.
pub fn fix(here: &Here) -> Result<Vec<SetupAction>, InitError> {
    if !here.place.is_set_up() || init::is_out(here) {
        return Ok(Vec::new());
    }
    let Ok(program) = init::program(here) else { return Ok(Vec::new()) };
    let request =
        Request { agents: &[], program: &program, is_rehearsal: false, is_everywhere: false };
    let steps = init::set_up(here, request)?;
    let is_news = |step: &SetupAction| {
        !matches!(step.done, "kept" | "skipped")
            && !step.detail.ends_with("already")
            && !step.detail.starts_with("by its ")
    };
    Ok(steps.into_iter().filter(is_news).collect())
}

fn repository(here: &Here) -> Check {
    let place = &here.place;
    let detail = match place.head {
        Head::None => format!("{}, not under git", place.label()),
        _ => format!("{}, on {}", place.label(), place.head),
    };
    if init::is_out(here) {
        let detail =
            format!("{detail}; you uninstalled heirloom here, so nothing is enforced or captured");
        return Check::new("repository", Health::Note, detail)
            .hint("`heirloom init` sets it up again");
    }
    if place.is_set_up() {
        return Check::new("repository", Health::Ok, detail);
    }
    Check::new("repository", Health::Note, format!("{detail}; heirloom is not set up here"))
        .hint("`heirloom init` sets it up")
}

fn ledger(here: &Here) -> Check {
    if !Ledger::exists_in(&here.home) {
        let detail = format!("none in {} yet; the first record begins it", here.home.display());
        return Check::new("ledger", Health::Ok, detail);
    }
    match here.ledger() {
        Ok(ledger) if !ledger.problems().is_empty() => {
            let problems = ledger.problems();
            let detail = format!("{} is damaged: {}", ledger.path().display(), problems[0]);
            Check::new("ledger", Health::Problem, detail)
                .hint("`heirloom heal` recovers every record that can still be read")
        }
        Ok(ledger) => {
            let detail = format!("{}, format {VERSION}", ledger.path().display());
            Check::new("ledger", Health::Ok, detail)
        }
        Err(error) => {
            let check = Check::new("ledger", Health::Problem, error.to_string());
            match error.hint() {
                Some(hint) => check.hint(hint),
                None => check,
            }
        }
    }
}

/// Which issue tracker is used, and whether it answers.
fn tracker(here: &Here) -> Check {
    let asked = issues::find(here).and_then(|mut tracker| {
        let has_work = tracker.has_ready_work(here.clock.now())?;
        Ok((tracker.name().to_owned(), has_work))
    });
    match asked {
        Ok((name, has_work)) => {
            let name = if issues::kind(here) == issues::Kind::BuiltIn {
                "heirloom's own".to_owned()
            } else {
                name
            };
            let work = if has_work { "there is ready work" } else { "nothing is ready" };
            Check::new("issues", Health::Ok, format!("{name}, {work}"))
        }
        Err(error) => Check::new("issues", Health::Problem, error.to_string()).hint(error.hint()),
    }
}

/// Faults of hooks, which let the agent go on and say nothing themselves.
fn faults(here: &Here) -> Option<Check> {
    const RECENT_HOURS: i64 = 24;
    let logged = fault::all(&here.home);
    let last = logged.last()?;
    let is_recent = here.clock.now().duration_since(last.at).as_hours() < RECENT_HOURS;
    let health = if is_recent { Health::Problem } else { Health::Note };
    let detail = format!("{} faults, last at {:.0}: {}", logged.len(), last.at, last.what);
    let hint = format!(
        "all of them are in {}; delete it once they are fixed",
        fault::file(&here.home).display()
    );
    Some(Check::new("hooks", health, detail).hint(hint))
}

fn settings(here: &Here) -> Vec<Check> {
    match here.settings(&[]) {
        Ok(loaded) => {
            let read = loaded.files.iter().filter(|file| file.state == FileState::Read);
            let files: Vec<String> = read.map(|file| file.path.display().to_string()).collect();
            let detail =
                if files.is_empty() { "defaults only".to_owned() } else { files.join(", ") };
            let warned = loaded.warnings.iter().map(|warning| {
                let check = Check::new("settings", Health::Note, warning.located());
                Check { hint: warning.hint.clone(), ..check }
            });
            std::iter::once(Check::new("settings", Health::Ok, detail)).chain(warned).collect()
        }
        Err(unusable) => {
            let check = |health: Health| {
                move |found: &Diagnostic| Check {
                    hint: found.hint.clone(),
                    ..Check::new("settings", health, found.located())
                }
            };
            let broken = &unusable.broken;
            let errors = broken.errors.iter().map(check(Health::Problem));
            errors.chain(broken.warnings.iter().map(check(Health::Note))).collect()
        }
    }
}

/// Whether what the repository brings counts.
fn trusted(here: &Here) -> Option<Check> {
    let ledger = here.ledger().ok()?;
    let standing = trust::standing(here, &ledger).ok()?;
    if standing.survey.covered.is_empty() {
        return None;
    }
    let brings = brought(&standing.survey.covered);
    Some(match standing.state {
        State::Trusted => Check::new("trust", Health::Ok, "this repository is trusted"),
        State::Untrusted => {
            let detail = format!("this repository is not trusted; until it is, {brings}");
            Check::new("trust", Health::Problem, detail).hint(Untrusted::HINT)
        }
        State::Changed => {
            let detail = format!(
                "this repository's settings have changed since you trusted it; until you do again, {brings}"
            );
            Check::new("trust", Health::Problem, detail).hint(Untrusted::HINT)
        }
    })
}

/// What has no effect without trust, by name. What only restrains agents does not wait for it.
fn brought(covered: &[Covered]) -> String {
    const NAMED: usize = 3;
    let mut keys: Vec<&str> = Vec::new();
    for one in covered {
        // A whole file by its name, and `work.gate` once for all of its commands.
        let key = one.key.split('[').next().unwrap_or_default();
        let key = if one.line == 0 { one.file.as_str() } else { key };
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let rest = keys.len().saturating_sub(NAMED);
    let named = keys.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let (and, verb) = match (rest, keys.len()) {
        (0, 1) => (String::new(), "has"),
        (0, _) => (String::new(), "have"),
        (rest, _) => (format!(" and {rest} more"), "have"),
    };
    format!("{named}{and} {verb} no effect")
}

/// A page that is not one of the repository's own files is neither read nor written.
fn page(here: &Here, settings: Option<&Settings>) -> Option<Check> {
    let root = &here.place.root;
    let file =
        settings.map_or_else(|| Settings::default().notes.file, |all| all.notes.file.clone());
    let path = root.join(file.as_str());
    let read = || heirloom_repo::read_within(root, &path).map_err(|error| error.source);
    let why = heirloom_repo::inside(root, &path).and_then(|_| read()).err()?;
    let detail = format!("{}: {why}; it is neither read nor written", file.as_str());
    let hint =
        "`notes.file` in the settings says where the page of notes is: a file of the repository";
    Some(Check::new("page", Health::Problem, detail).hint(hint))
}

/// What holds here, and if nothing does, why.
fn requirements(here: &Here) -> Vec<Check> {
    let name = "requirements";
    let policy = match rules::load(here) {
        None => return Vec::new(),
        Some(Rules::Broken { file, .. }) => {
            let detail = format!("none is enforced: {file} cannot be read");
            return vec![Check::new(name, Health::Problem, detail)];
        }
        Some(Rules::Policy(policy)) => policy,
    };
    let count = policy.requirements.len();
    let (health, detail) = match (policy.enabled, count) {
        (false, _) => (Health::Note, "switched off in the settings".to_owned()),
        (true, 0) if policy.unread().is_some() => {
            (Health::Problem, "none is enforced: they cannot be read".to_owned())
        }
        (true, 0) => (Health::Note, "none".to_owned()),
        (true, count) => (Health::Ok, format!("{count} in force")),
    };
    let problem = |problem: &Problem| {
        let health = if problem.fatal { Health::Problem } else { Health::Note };
        let check = Check::new(name, health, format!("{}: {}", problem.at, problem.message));
        Check { hint: problem.hint.clone(), ..check }
    };
    // What is wrong in heirloom's own settings is said there, with its line.
    let settings = here.settings(&[]);
    let is_said = |problem: &&Problem| match &settings {
        Ok(loaded) => !problem.fatal && !loaded.warnings.is_empty(),
        Err(_) => true,
    };
    let problems = policy.problems.iter().filter(|problem| !is_said(problem)).map(problem);
    let waiting = (!policy.waiting.is_empty()).then(|| {
        let detail = format!("waiting for your trust: {}", policy.waiting.join(", "));
        Check::new(name, Health::Problem, detail).hint(Untrusted::HINT)
    });
    let first = Check::new(name, health, detail);
    std::iter::once(first).chain(problems).chain(waiting).chain(paused(here)).collect()
}

/// A pause of the whole repository, which nobody sees while they work.
fn paused(here: &Here) -> Option<Check> {
    let (ledger, branch) = (here.ledger().ok()?, BranchKey::stored(here.place.head.key()));
    let keys = SessionKeys { names: Vec::new(), agent_session_id: None };
    let seen = ledger.requirements(&here.place.repo, &branch, &keys).ok()?;
    let pause = seen.paused(here.clock.now())?;
    let why = pause.reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    let until = pause.expires_at.map(|at| format!(" until {at:.0}")).unwrap_or_default();
    let detail = format!("paused in this repository{until}{why}: nothing is enforced");
    Some(
        Check::new("requirements", Health::Problem, detail)
            .hint("`heirloom req resume --repo` enforces them again"),
    )
}

/// An agent that has a program of its own may be missing; any other command is one only where
/// somebody said which.
fn is_looked_for(known: &AgentStatus) -> bool {
    let has_program = heirloom_agents::by_name(known.name).is_some_and(|a| a.program().is_some());
    has_program || known.path.is_some()
}

/// Whether an agent that is there calls our hooks, where that is wanted.
fn hooked(here: &Here, known: &AgentStatus) -> Option<Check> {
    if known.path.is_none() || !here.place.is_set_up() || init::is_out(here) {
        return None;
    }
    let program = init::program(here).ok()?;
    let agent = heirloom_agents::by_name(known.name)?;
    let name = format!("{} hooks", known.name);
    Some(match init::hooking(here, agent, &program)? {
        Hooking::Hooked => Check::new(&name, Health::Ok, "installed"),
        Hooking::Plugged(plugin) => Check::new(&name, Health::Ok, format!("by its {plugin}")),
        Hooking::Twice(plugin) => {
            let detail =
                format!("in its settings and in its {plugin}; only those in its settings run");
            Check::new(&name, Health::Note, detail).hint("`heirloom init` leaves it to the plugin")
        }
        Hooking::Outdated => {
            let detail = "they call another heirloom, or come from an earlier version";
            Check::new(&name, Health::Note, detail).hint("`heirloom doctor --fix` renews them")
        }
        Hooking::Missing => {
            Check::new(&name, Health::Note, "not installed, so requirements are not enforced there")
                .hint("`heirloom doctor --fix` installs them")
        }
        Hooking::Held(obstacle) => {
            Check::new(&name, Health::Problem, obstacle.why).hint(obstacle.remedy)
        }
        Hooking::Unreadable(why) => Check::new(&name, Health::Problem, why),
    })
}

/// Whether an agent that is there has our commands and tools, where its plugin does not bring them.
fn equipped(here: &Here, known: &AgentStatus) -> Option<Check> {
    if known.path.is_none() || !here.place.is_set_up() || init::is_out(here) {
        return None;
    }
    let agent = heirloom_agents::by_name(known.name)?;
    if agent.hooks().is_some_and(|hooks| hooks.plugin(&here.env).is_some()) {
        return None;
    }
    let program = init::program(here).ok()?;
    let name = format!("{} commands", known.name);
    Some(if init::has_kit(here, agent, &program)? {
        Check::new(&name, Health::Ok, "installed, with MCP tools")
    } else {
        Check::new(&name, Health::Note, "commands or MCP tools are missing")
            .hint("`heirloom doctor --fix` installs them")
    })
}

fn agent(known: &AgentStatus) -> Check {
    let version = known.version.as_deref().unwrap_or("found");
    match (&known.path, &known.problem) {
        (Some(_), None) => Check::new(known.title, Health::Ok, version),
        (Some(path), Some(problem)) => {
            Check::new(known.title, Health::Problem, format!("{}: {problem}", path.display()))
        }
        (None, _) => Check::new(known.title, Health::Note, "not installed").hint(known.install),
    }
}
