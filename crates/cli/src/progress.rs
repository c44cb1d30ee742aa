//! How far something is that takes its time, as one line on a terminal that goes away again.

use crate::printer;
use crate::ui::{Ui, grouped};

/// What is done sooner than anybody could read a line is not worth one.
const WORTH_IT: u64 = 5_000;

/// The line. In a pipe there is none.
#[derive(Debug)]
pub(crate) struct Bar {
    live: bool,
    shown: Option<(&'static str, u64)>,
}

impl Bar {
    pub(crate) fn new(ui: &Ui) -> Self {
        Self { live: !ui.is_json() && printer::is_err_terminal(), shown: None }
    }

    /// Shows `done` of `all`, if that is another percentage than before.
    pub(crate) fn show(&mut self, doing: &'static str, done: u64, all: u64) {
        if !self.live || all < WORTH_IT {
            return;
        }
        let percent = done.min(all) * 100 / all;
        if self.shown != Some((doing, percent)) {
            self.shown = Some((doing, percent));
            printer::overwrite(&format!("{doing}: {percent} % of {}", grouped(all)));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown.is_some() {
            printer::overwrite("");
        }
    }
}
