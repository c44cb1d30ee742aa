//! The list of sessions.

use axum::extract::State;
use heirloom_api::{Code, Failure, SessionList};
use heirloom_core::status::Status;
use heirloom_core::suggest::nearest;
use heirloom_engine::agents::readable;
use heirloom_engine::sessions::{Listing, list as listed};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Refused, Told};
use crate::house::{House, RequestContext};
use crate::routes::Asked;

/// The most of a page.
const MOST: usize = 1000;

/// Which sessions are asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// Comma between several: a status, or `running` for all that run or wait.
    pub(crate) status: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) repo: Option<String>,
    /// Whether those of colleagues are listed too.
    #[serde(default)]
    pub(crate) team: bool,
    pub(crate) q: Option<String>,
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<usize>,
}

pub(super) async fn list(
    State(house): State<House>,
    Asked(filter): Asked<Filter>,
) -> Result<Told<SessionList>, Refused> {
    Ok(Told(house.call(move |house| page(house, &filter)).await?))
}

pub(crate) fn page(house: &House, filter: &Filter) -> Result<SessionList, Failure> {
    let mut cx = match &filter.repo {
        Some(repo) => RequestContext::of(house, Some(repo))?,
        None => RequestContext::everywhere(house)?,
    };
    cx.tidy()?;
    let statuses = statuses(filter.status.as_deref())?;
    let after = filter.cursor.as_deref().filter(|cursor| !cursor.is_empty());
    let after = after.map(cursor).transpose()?;
    let listing = Listing {
        leaves: false,
        team: filter.team,
        repo: filter.repo.as_ref().map(|_| cx.here.place.repo.as_str()),
        statuses: &statuses,
        agent: agent(filter.agent.as_deref())?,
        text: filter.q.as_deref().filter(|text| !text.trim().is_empty()),
        after,
        limit: filter.limit.unwrap_or(50).clamp(1, MOST),
    };
    Ok(SessionList::new(&listed(&cx.here, &cx.ledger, &listing)?, Vec::new()))
}

fn cursor(text: &str) -> Result<heirloom_core::id::SessionId, Failure> {
    text.parse().map_err(|_| {
        Failure::new(Code::RequestInvalid, format!("`{text}` is no cursor"))
            .hint("take it from `next` of the page before")
    })
}

/// The agent that a list is asked for, which has to be one: nothing is found of an agent that does not exist, and
/// that would look as if it had done nothing.
pub(crate) fn agent(given: Option<&str>) -> Result<Option<&str>, Failure> {
    let Some(name) = given.filter(|name| !name.is_empty()) else { return Ok(None) };
    if readable().any(|agent| agent == name) {
        return Ok(Some(name));
    }
    let all = readable().collect::<Vec<_>>().join(", ");
    let hint = match nearest(name, readable()) {
        Some(near) => format!("did you mean {near}? The agents are {all}"),
        None => format!("the agents are {all}"),
    };
    Err(Failure::new(Code::AgentUnknown, format!("there is no agent `{name}`")).hint(hint).usage())
}

/// The statuses that words mean.
pub(crate) fn statuses(words: Option<&str>) -> Result<Vec<Status>, Failure> {
    let mut all = Vec::new();
    for word in words.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty())
    {
        if word == "running" {
            all.extend(Status::ALL.into_iter().filter(|status| status.is_active()));
            continue;
        }
        all.push(word.parse().map_err(|_| {
            let known = Status::ALL.map(|status| status.to_string()).join(", ");
            Failure::new(Code::RequestInvalid, format!("there is no status {word}"))
                .hint(format!("the statuses are {known}"))
        })?);
    }
    Ok(all)
}
