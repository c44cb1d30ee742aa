//! How something was done: what worked last time.
//!
//! A command that failed, what it said, and the command that ended the failure, with what was done in
//! between; commands that worked; and notes that say something about it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use heirloom_core::facts::CommandFacts;
use heirloom_core::id::SessionId;
use heirloom_core::recall::remedy::{Asked, bare, ended, is_look, signature};
use heirloom_core::session::Session;
use heirloom_ledger::facts::Did;
use heirloom_ledger::{Error, Facts, Ledger};
use jiff::Timestamp;

use super::search::{Query, SearchError, SearchHit, search};
use crate::capture;
use crate::here::Here;

/// So many of the newest commands of a repository are looked at.
const COMMANDS: usize = 20_000;
/// So many failures are looked into.
const LOOKED_INTO: usize = 40;
/// So many commands that worked, and notes, are given.
const MOST: usize = 5;

#[derive(Debug, Clone, Default)]
pub struct How {
    /// Failures that ended, best fit first.
    pub fixes: Vec<Fix>,
    /// Commands that worked, best fit first.
    pub commands: Vec<Worked>,
    /// What is noted about it.
    pub notes: Vec<SearchHit>,
}

/// A failure, and what ended it.
#[derive(Debug, Clone)]
pub struct Fix {
    pub session: Session,
    /// The command that failed.
    pub failed: String,
    pub error: Option<String>,
    /// How often it failed so.
    pub times: usize,
    /// What was run in between and may have made the difference.
    pub steps: Vec<String>,
    /// The files that were edited in between.
    pub edited: Vec<String>,
    /// The command that worked.
    pub worked: String,
    /// What was asked for in that turn.
    pub prompt: Option<String>,
    /// When it worked.
    pub at: Option<Timestamp>,
}

/// A command that worked.
#[derive(Debug, Clone)]
pub struct Worked {
    pub session: Session,
    pub command: String,
    pub times: usize,
    /// The last time.
    pub at: Option<Timestamp>,
}

/// What worked for `text` in this repository, at most `limit` failures.
pub fn how(here: &Here, ledger: &Ledger, text: &str, limit: usize) -> Result<How, SearchError> {
    let mut asked = Asked::new(text);
    let mut found = How::default();
    if asked.is_empty() {
        return Ok(found);
    }
    if let Some(facts) = capture::facts(&here.home)? {
        let repo = ledger.repository(&here.place.repo)?;
        let looking = Looking { here, ledger, facts: &facts, repo: &repo };
        found.fixes = looking.fixes(&mut asked, limit)?;
        found.commands = looking.commands(&mut asked)?;
    }
    let kinds = ["pattern", "learning", "warning", "decision"].map(str::to_owned).to_vec();
    let query = Query { text: text.to_owned(), kinds, limit: MOST, ..Query::default() };
    found.notes = search(here, ledger, &query)?.places;
    found.notes.retain(|place| {
        let replaced = place.note.as_ref().is_some_and(|note| note.superseded_by.is_some());
        !replaced && asked.fit(&place.text).is_some()
    });
    Ok(found)
}

struct Looking<'a> {
    here: &'a Here,
    ledger: &'a Ledger,
    facts: &'a Facts,
    repo: &'a str,
}

impl Looking<'_> {
    fn fixes(&self, asked: &mut Asked, limit: usize) -> Result<Vec<Fix>, Error> {
        let mut failed: Vec<(f64, Did<CommandFacts>, usize)> = Vec::new();
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        for did in self.facts.commands_that(self.repo, true, COMMANDS)? {
            let error = did.what.error.clone().unwrap_or_default();
            let Some(fit) = asked.fit(&format!("{}\n{error}", did.what.command)) else { continue };
            let same = (bare(&did.what.command).to_owned(), signature(&error));
            if let Some(at) = seen.get(&same) {
                failed[*at].2 += 1;
            } else {
                seen.insert(same, failed.len());
                failed.push((fit, did, 1));
            }
        }
        // They came newest first, and stay so where they fit alike.
        failed.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let mut fixes = Vec::new();
        let mut commands: HashMap<SessionId, Vec<CommandFacts>> = HashMap::new();
        for (_, did, times) in failed.into_iter().take(LOOKED_INTO) {
            if fixes.len() == limit {
                break;
            }
            let all = match commands.entry(did.session) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.facts.commands(did.session)?),
            };
            fixes.extend(self.fix(&did, all, times)?);
        }
        Ok(fixes)
    }

    fn fix(
        &self,
        did: &Did<CommandFacts>,
        all: &[CommandFacts],
        times: usize,
    ) -> Result<Option<Fix>, Error> {
        let place = all.iter().position(|command| command.tool_use == did.what.tool_use);
        let Some((place, end)) = place.and_then(|place| Some((place, ended(all, place)?))) else {
            return Ok(None);
        };
        let Some(session) = self.ledger.session(did.session)? else { return Ok(None) };
        let (failed, worked) = (&all[place], &all[end.by]);
        let turns = self.facts.turns(did.session)?;
        let prompt = turns.into_iter().find(|turn| turn.number == failed.turn);
        Ok(Some(Fix {
            session,
            failed: failed.command.clone(),
            error: failed.error.clone(),
            times,
            steps: end.steps.iter().map(|step| all[*step].command.clone()).collect(),
            edited: super::edits::between(self.here, did.session, failed.offset, worked.offset),
            worked: worked.command.clone(),
            prompt: prompt.map(|turn| turn.text),
            at: worked.at,
        }))
    }

    /// Commands that worked and have every word that was asked for.
    fn commands(&self, asked: &mut Asked) -> Result<Vec<Worked>, Error> {
        let mut found: Vec<(Did<CommandFacts>, usize)> = Vec::new();
        for did in self.facts.commands_that(self.repo, false, COMMANDS)? {
            if is_look(&did.what.command) || asked.fit(&did.what.command) != Some(1.0) {
                continue;
            }
            let line = bare(&did.what.command);
            match found.iter_mut().find(|(known, _)| bare(&known.what.command) == line) {
                Some((_, times)) => *times += 1,
                None => found.push((did, 1)),
            }
        }
        let mut worked = Vec::new();
        for (did, times) in found.into_iter().take(MOST) {
            let Some(session) = self.ledger.session(did.session)? else { continue };
            worked.push(Worked { session, command: did.what.command, times, at: did.what.at });
        }
        Ok(worked)
    }
}
