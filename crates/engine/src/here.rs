//! Where and when a command is run: heirloom's home, the repository, the clock, the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use heirloom_agents::env::home;
use heirloom_core::trust::person::Who;
use heirloom_ledger::{Ledger, Options};
use heirloom_repo::Place;

use crate::clock::Clock;
use crate::identity::{self, Look, Offer};
use crate::settings::{self, Environment, Flag, Loaded, Request, Unusable};

/// Variables of the environment by name.
pub type Env = BTreeMap<OsString, OsString>;

/// Where and when a command is run.
#[derive(Debug, Clone)]
pub struct Here {
    /// heirloom's data directory.
    pub home: PathBuf,
    /// The repository and worktree.
    pub place: Place,
    pub clock: Clock,
    /// The environment, without what the repository put there.
    pub env: Env,
    /// Variables that the repository set and that do not count.
    pub ignored: Vec<String>,
    /// Who asks, where whoever called found that out for themselves.
    pub asks: Option<Who>,
    /// Whether whoever asks sees this repository only, where whoever called found that out for themselves.
    pub is_confined: Option<bool>,
    /// Whoever asks only looks: what is not there is not made.
    pub only_looks: bool,
    /// A person silenced the hook that asks: nobody but the machine's owner has a say.
    pub is_silenced: bool,
    /// What a person should hear about which repository this is.
    offers: Arc<Mutex<Vec<Offer>>>,
    /// A ledger that is open already, for whoever asks for one next.
    open: Arc<Mutex<Option<Ledger>>>,
}

/// Why it cannot be said where a command is run.
#[derive(Debug, thiserror::Error)]
pub enum HereError {
    /// Neither `HEIRLOOM_HOME` nor `HOME` is set.
    #[error("cannot tell where to keep heirloom's data: neither HEIRLOOM_HOME nor HOME is set")]
    NoHome,
    /// An agent that heirloom guards set a variable by which it would be held to something else.
    #[error("an agent may not set {variable} for heirloom")]
    Changed {
        /// Its name.
        variable: String,
    },
    /// `HEIRLOOM_CLOCK` is set to something that is not a time.
    #[error("HEIRLOOM_CLOCK is not an RFC 3339 time")]
    Clock(#[source] jiff::Error),
}

impl Here {
    /// Looks around from `directory`.
    pub fn look(directory: &Path, mut env: Env) -> Result<Self, HereError> {
        let place = heirloom_repo::discover(directory);
        let ignored = crate::foreign::strip(&mut env, directory, &place.root);
        if ignored.iter().any(|told| told.starts_with("PATH ")) {
            let usual = || OsString::from("/usr/local/bin:/usr/bin:/bin");
            heirloom_repo::child::look_in(
                env.get(OsStr::new("PATH")).cloned().unwrap_or_else(usual),
            );
        }
        let setting = text(&env, "HEIRLOOM_CLOCK");
        let clock = Clock::from_setting(setting).map_err(HereError::Clock)?;
        let home = home(&env).ok_or(HereError::NoHome)?;
        let home = if home.is_absolute() { home } else { directory.join(home) };
        let (asks, is_confined, offers) = (None, None, Arc::default());
        let (only_looks, is_silenced) = (false, false);
        Ok(Self {
            home,
            place,
            clock,
            env,
            ignored,
            asks,
            is_confined,
            only_looks,
            is_silenced,
            offers,
            open: Arc::default(),
        })
    }

    /// The same for a command, which an agent may run.
    pub fn look_for_command(directory: &Path, env: Env) -> Result<Self, HereError> {
        // What the repository set is no doing of the agent's, and does not count anyway.
        let here = Self::look(directory, env)?;
        match crate::started::changed(&here.env) {
            Some(variable) => Err(HereError::Changed { variable }),
            None => Ok(here),
        }
    }

    /// Whether whoever asks leaves no trace: they only look, and heirloom has not been here before.
    pub(crate) fn leaves_nothing(&self) -> bool {
        self.only_looks && !Ledger::exists_in(&self.home)
    }

    /// A variable of the environment, if it is set to something.
    pub fn var(&self, name: &str) -> Option<&str> {
        text(&self.env, name)
    }

    /// Loads the settings that hold here, with what flags say on top.
    pub fn settings(&self, flags: &[Flag]) -> Result<Loaded, Box<Unusable>> {
        let environment = Environment::of(self);
        let repo = Some(self.place.root.as_path());
        let say = crate::trust::say(self);
        settings::load(&Request { environment: &environment, repo, flags, say })
    }

    /// Opens the ledger for a command of a person.
    pub fn ledger(&self) -> Result<Ledger, heirloom_ledger::Error> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        match open {
            Some(ledger) => {
                self.close_home();
                Ok(self.settled(ledger))
            }
            None => self.ledger_with(Options::COMMAND),
        }
    }

    /// Keeps a ledger that was opened for a command of a person for the next who asks. Only where whoever asks looks
    /// and does nothing else: what is done to the file itself is done without others that have it open.
    pub(crate) fn keep(&self, ledger: Ledger) {
        if self.only_looks {
            *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(ledger);
        }
    }

    /// The same, for those who wait longer for others.
    pub fn ledger_with(&self, options: Options) -> Result<Ledger, heirloom_ledger::Error> {
        self.close_home();
        let ledger = Ledger::open(&self.home, Options { makes: !self.only_looks, ..options })?;
        Ok(self.settled(ledger))
    }

    /// Says to a ledger which repository this is.
    fn settled(&self, mut ledger: Ledger) -> Ledger {
        // Where nothing can be written the directory is what it was, or goes by its path.
        if let Ok(offer) = identity::settle(self, &mut ledger, Look::Closely) {
            self.offers.lock().unwrap_or_else(PoisonError::into_inner).extend(offer);
        }
        ledger
    }

    /// Takes the others' rights to the data directory away, where somebody or an earlier version gave
    /// them some. Only where it is one: a directory that was named by mistake is left alone.
    pub(crate) fn close_home(&self) {
        let Ok(found) = fs::metadata(&self.home) else { return };
        let is_open = found.permissions().mode() & 0o077 != 0;
        if is_open && self.home.join("ledger.db").is_file() {
            let _ = fs::set_permissions(&self.home, fs::Permissions::from_mode(0o700));
        }
    }

    /// Opens the ledger for a command that is about the ledger itself, wherever it is run.
    pub fn ledger_as_it_is(&self) -> Result<Ledger, heirloom_ledger::Error> {
        Ledger::open(&self.home, Options { makes: !self.only_looks, ..Options::COMMAND })
    }

    /// What a person should hear about which repository this is, once.
    pub fn offers(&self) -> Vec<Offer> {
        std::mem::take(&mut *self.offers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn text<'a>(env: &'a Env, name: &str) -> Option<&'a str> {
    env.get(OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
}
