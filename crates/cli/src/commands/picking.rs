//! Choosing a past conversation on the whole screen.

use heirloom_engine::recall::pick::{Choosing, preview};
use heirloom_engine::recall::resume::Past;
use heirloom_ledger::Ledger;
use jiff::Timestamp;

use super::App;
use crate::failure::{Code, Failure};
use crate::moment::ago;
use crate::picker::{Choices, pick};

struct Listed<'a> {
    app: &'a App,
    ledger: &'a Ledger,
    choosing: Choosing,
    left: Vec<usize>,
    now: Timestamp,
}

impl Listed<'_> {
    fn past(&self, place: usize) -> &Past {
        &self.choosing.all[self.left[place]]
    }
}

impl Choices for Listed<'_> {
    fn narrow(&mut self, typed: &str) -> usize {
        self.left = self.choosing.fitting(&self.app.here, self.ledger, typed);
        self.left.len()
    }

    fn row(&self, place: usize) -> (String, String) {
        let past = self.past(place);
        let at = past.at.map(|at| ago(at, self.now)).unwrap_or_default();
        let known = [past.branch.as_deref().unwrap_or_default(), &past.agent, &at];
        let known = known.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>();
        (past.title.clone(), known.join("  "))
    }

    fn about(&self, place: usize) -> Vec<(&'static str, Vec<String>)> {
        let past = self.past(place);
        let told = preview(&self.app.here, past);
        let directory = past.directory.as_ref().map(|path| path.display().to_string());
        let mut is = vec![format!("{} {}", past.agent, past.agent_session_id)];
        is.extend(directory);
        if past.session.is_some() && past.transcript.is_none() {
            is.push("the agent no longer has it".to_owned());
        }
        vec![("Asked", told.asked), ("Done", told.done), ("Left", told.left), ("Is", is)]
    }
}

/// Lets a person choose, beginning with what was typed already; nothing if they leave. What an agent cannot go on with is
/// only there `for_another`.
pub(super) fn choose(
    app: &App,
    ledger: &Ledger,
    typed: String,
    for_another: bool,
) -> Result<Option<Past>, Failure> {
    let mut choosing = Choosing::new(&app.here, ledger)?;
    choosing.all.retain(|past| for_another || past.is_resumable());
    let mut listed = Listed { app, ledger, choosing, left: Vec::new(), now: app.here.clock.now() };
    let chosen = pick(&mut listed, typed).map_err(|error| {
        Failure::from_error(Code::Environment, &error)
            .hint("`heirloom resume QUERY --print` needs no screen")
    })?;
    Ok(chosen.map(|place| listed.past(place).clone()))
}
