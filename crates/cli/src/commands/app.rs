//! What a command has at hand, and what is said besides what it says.

use std::path::PathBuf;
use std::process::ExitCode;

use heirloom_core::settings::Diagnostic;
use heirloom_engine::here::Here;
use heirloom_engine::settings::{Loaded, Unusable};

use super::Done;
use crate::failure::{Code, Failure, exit};
use crate::ui::Ui;

/// The repository's settings file, which `heal` can repair.
const REPOSITORY: &str = ".heirloom/config.yaml";

/// What a command has at hand.
pub(crate) struct App {
    pub(crate) ui: Ui,
    /// How often `-v` was given.
    pub(crate) verbose: u8,
    pub(crate) here: Here,
    pub(crate) directory: PathBuf,
    pub(crate) settings: Result<Loaded, Box<Unusable>>,
}

impl App {
    /// The settings, for a command that cannot do without them.
    pub(crate) fn settings(&self) -> Result<&Loaded, Failure> {
        self.settings.as_ref().map_err(|unusable| {
            Failure::new(Code::Settings, unusable.to_string())
                .hint("`heirloom doctor` shows all that is wrong")
        })
    }

    /// Says what is wrong with the settings. Every time: a broken file must not go unnoticed, even
    /// by a command that does not need it. A command that does says so itself.
    pub(super) fn report_settings(&self) {
        let (errors, warnings) = match &self.settings {
            Ok(loaded) => (&[][..], &loaded.warnings),
            Err(unusable) => (&unusable.broken.errors[..], &unusable.broken.warnings),
        };
        // Of a value that is wrong and does not count besides, one thing is enough.
        let about = |one: &Diagnostic| (one.line, one.message.split('`').nth(1).map(str::to_owned));
        let is_told =
            |one: &&Diagnostic| errors.iter().any(|e| e.file == one.file && about(e) == about(one));
        for diagnostic in errors.iter().chain(warnings.iter().filter(|one| !is_told(one))) {
            self.ui.warn(&diagnostic.located());
            if let Some(hint) = &diagnostic.hint {
                self.ui.hint(hint);
            }
        }
        if let Err(unusable) = &self.settings {
            self.ui.hint(&unusable.broken.meanwhile());
        }
    }

    /// Whether it was said what is wrong with the setting at `path`.
    pub(crate) fn is_told(&self, path: &str) -> bool {
        let (errors, warnings) = match &self.settings {
            Ok(loaded) => (&[][..], &loaded.warnings),
            Err(unusable) => (&unusable.broken.errors[..], &unusable.broken.warnings),
        };
        let named = format!("`{path}`");
        errors.iter().chain(warnings).any(|one| one.message.contains(&named))
    }

    /// Ends a command that cannot go on with such settings. What is wrong with them was said before.
    pub(super) fn end(&self, failure: Failure) -> Done {
        if failure.code != Code::Settings || self.settings.is_ok() || self.ui.is_quiet() {
            return Err(failure);
        }
        let code = exit(&failure);
        self.ui.fail_briefly(&failure, &self.correct_first());
        Ok(ExitCode::from(code))
    }

    /// What has to be done before a command can run that needs the settings.
    fn correct_first(&self) -> Failure {
        let first =
            self.settings.as_ref().err().and_then(|unusable| unusable.broken.errors.first());
        let place = first.map_or_else(|| "the settings".to_owned(), Diagnostic::place);
        let message = format!("{place} has to be corrected first");
        let failure = Failure::new(Code::Settings, message);
        let is_unread = |unusable: &Unusable| {
            unusable.broken.rest.unread.iter().any(|one| one.file == REPOSITORY)
        };
        if self.settings.as_ref().is_err_and(|unusable| is_unread(unusable)) {
            return failure.hint("`heirloom heal` restores what git has of it, and keeps a copy");
        }
        failure.hint("`heirloom doctor` shows all that is wrong")
    }

    /// Says what only a person can decide about which repository this is.
    pub(super) fn report_offers(&self) {
        for offer in self.here.offers() {
            let link = &offer.link;
            self.ui.hint(&format!("{}; `heirloom repo link {link}` adopts it", offer.why));
        }
    }
}
