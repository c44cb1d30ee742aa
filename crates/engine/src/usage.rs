//! What the agents cost and how many tokens they used.
//!
//! Two tell it: the records of what heirloom itself launched, and the transcripts of everything else. A session that
//! both know is told by its records, because those leave out what a continued conversation had cost before.

use std::collections::HashMap;

use heirloom_core::cost::Cost;
use heirloom_core::id::SessionId;
use heirloom_core::usage::{self, By, Spent, Sum, Tokens, Usage};
use heirloom_ledger::facts::TranscriptUse;
use heirloom_ledger::{Error, Ledger, SessionUse};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::capture;
use crate::here::Here;
use crate::person::PersonError;
use crate::reach;
use crate::sessions::WHOLE_LINEAGE;

/// Which sessions are added up, and by what.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    pub by: By,
    /// Only those of this repository.
    pub repo: Option<&'a str>,
    /// Only those that started then or later.
    pub since: Option<Timestamp>,
}

/// What sessions used, where whoever asks may look at them. A session counts on the day it started, in the time zone of the machine.
pub fn usage(here: &Here, ledger: &Ledger, query: &Query<'_>) -> Result<Usage, PersonError> {
    if query.repo.is_none() {
        reach::everywhere(here, ledger)?;
    }
    let uses = ledger.session_uses(query.repo, query.since)?;
    let told = capture::facts(&here.home)?.map(|facts| facts.uses()).transpose()?;
    let told = told.unwrap_or_default();
    let issues = if query.by == By::Issue { issues(ledger, &uses)? } else { HashMap::new() };
    let zone = TimeZone::system();
    let spent = uses.iter().filter_map(|each| {
        let mut spent = spent(each, told.get(&each.session), &zone)?;
        spent.issue = issues.get(&each.session).cloned();
        Some(spent)
    });
    Ok(usage::add_up(&spent.collect::<Vec<_>>(), query.by))
}

/// What was spent since a moment, in all repositories, by the sessions that have been at work since then, whenever they
/// started. What only a transcript adds up cannot be divided: of a session that is older it is unknown.
pub fn since(here: &Here, ledger: &Ledger, since: Timestamp) -> Result<Sum, Error> {
    let facts = capture::facts(&here.home)?;
    let mut all = Vec::new();
    for each in ledger.spending_since(since)? {
        let told = facts.as_ref().map(|facts| facts.session(each.session)).transpose()?.flatten();
        let is_new = each.created_at >= since;
        let told_since =
            told.as_ref().is_some_and(|told| told.last_at.is_some_and(|at| at >= since));
        let recorded = (each.cost_usd > 0.0).then_some(each.cost_usd);
        let worked = is_new && (each.agent.is_some() || told.is_some());
        if recorded.is_some() || worked || told_since {
            let whole = told.and_then(|told| told.cost_usd).filter(|_| is_new);
            let cost = Cost::new(recorded.or(whole), recorded.is_some() && each.unpriced);
            all.push(Spent { cost, ..Spent::default() });
        }
    }
    Ok(usage::add_up(&all, By::Day).total)
}

/// What one session used; `None` for one that no agent worked in, which cost nothing.
fn spent(used: &SessionUse, told: Option<&TranscriptUse>, zone: &TimeZone) -> Option<Spent> {
    let reported = used.input_tokens > 0 || used.output_tokens > 0;
    if used.agent.is_none() && told.is_none() && !reported && used.cost == Cost::Unknown {
        return None;
    }
    let recorded =
        reported.then_some(Tokens { input: used.input_tokens, output: used.output_tokens });
    let tokens = told.and_then(|told| told.tokens);
    let tokens = recorded.or(tokens.map(|(input, output)| Tokens { input, output }));
    let cost = match used.cost {
        Cost::Unknown => told.and_then(|told| told.cost_usd).into(),
        recorded => recorded,
    };
    Some(Spent {
        day: used.created_at.to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string(),
        repo: used.repo.clone(),
        agent: used.agent.clone(),
        model: told.and_then(|told| told.model.clone()).or_else(|| used.model.clone()),
        issue: None,
        tokens,
        cost,
    })
}

/// The issue of each session. A session that one of them went on with worked on it too, whoever started it.
fn issues(ledger: &Ledger, uses: &[SessionUse]) -> Result<HashMap<SessionId, String>, Error> {
    let continues: HashMap<SessionId, SessionId> =
        uses.iter().filter_map(|each| Some((each.session, each.continues?))).collect();
    let mut issues = ledger.issues_of_sessions()?;
    for (session, issue) in issues.clone() {
        let mut at = session;
        for _ in 0..WHOLE_LINEAGE {
            let Some(before) = continues.get(&at) else { break };
            if issues.contains_key(before) {
                break;
            }
            issues.insert(*before, issue.clone());
            at = *before;
        }
    }
    Ok(issues)
}

/// What people call each repository: the directory it is in, as everywhere, or where several clones of it have
/// directories of their own, what its remote is called.
pub fn names(ledger: &Ledger) -> Result<HashMap<String, String>, Error> {
    let mut clones: HashMap<String, Vec<(String, Option<String>)>> = HashMap::new();
    for place in ledger.places()? {
        let remote = place.named.marks.remotes.first().map(|remote| last_part(remote));
        let clone = (last_part(&place.named.path), remote);
        clones.entry(place.repo.to_string()).or_default().push(clone);
    }
    Ok(clones.into_iter().map(|(repo, clones)| (repo, called(&clones))).collect())
}

/// What a repository is called whose clones, the newest first, lie in these directories and have these remotes.
fn called(clones: &[(String, Option<String>)]) -> String {
    let mut directories = clones.iter().map(|(directory, _)| directory);
    let newest = directories.next().cloned().unwrap_or_default();
    let is_one = directories.all(|directory| *directory == newest);
    let remote = clones.iter().find_map(|(_, remote)| remote.clone());
    remote.filter(|_| !is_one).unwrap_or(newest)
}

/// `payments` of `/home/ada/payments` and of `github.com/acme/payments.git`.
fn last_part(path: &str) -> String {
    let last = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path);
    last.strip_suffix(".git").filter(|name| !name.is_empty()).unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_in_several_directories_are_called_what_their_remote_is() {
        let clone = |path: &str, remote: Option<&str>| (last_part(path), remote.map(last_part));
        let remote = Some("github.com/acme/payments.git");
        assert_eq!(called(&[clone("/home/ada/pay", remote)]), "pay");
        let both = [clone("/home/ada/review-7/", remote), clone("/home/ada/pay", None)];
        assert_eq!(called(&both), "payments");
        assert_eq!(called(&[clone("/a", None), clone("/b", None)]), "a");
    }
}
