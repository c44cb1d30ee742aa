//! What is known from before: searched, and put together for a fresh context.

use axum::extract::{Path, State};
use heirloom_api::{Code, Failure, PartOf, Recovery, SearchResults};
use heirloom_engine::keep::recover::{Gatherer, Wanted};
use heirloom_engine::keep::{self, KeepError};
use heirloom_engine::recall::{self, Query};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Refused, Told};
use crate::house::{House, RequestContext};
use crate::routes::Asked;
use crate::routes::part::{Part, cut};

/// How far down the best are looked for. Nobody reads a search to its end.
const DEEPEST: usize = 2000;

/// What is looked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Looked {
    #[serde(default)]
    pub(crate) q: String,
    pub(crate) kind: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) repo: Option<String>,
    #[serde(default)]
    pub(crate) all_repos: bool,
    /// The `next` of the part before.
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<usize>,
}

pub(super) async fn search(
    State(house): State<House>,
    Asked(looked): Asked<Looked>,
) -> Result<Told<PartOf<SearchResults>>, Refused> {
    Ok(Told(house.call(move |house| found(house, looked)).await?))
}

/// What fits best.
pub(crate) fn found(house: &House, looked: Looked) -> Result<PartOf<SearchResults>, Failure> {
    if looked.q.trim().is_empty() {
        return Err(Failure::new(
            Code::RequestInvalid,
            "there is nothing to look for: `q` is empty",
        ));
    }
    let part = Part::new(looked.cursor.as_deref(), looked.limit);
    let (start, limit) = part.counted(20, 200)?;
    let cx = RequestContext::of(house, looked.repo.as_deref())?;
    let kind = match looked.kind.as_deref().filter(|kind| !kind.is_empty()) {
        Some(kind @ ("note" | "session" | "message" | "tool_use" | "tool_result")) => {
            Some(kind.to_owned())
        }
        Some(kind) => Some(super::notes::kind(kind)?.to_string()),
        None => None,
    };
    let query = Query {
        text: looked.q,
        kinds: kind.into_iter().collect(),
        agent: super::sessions::agent(looked.agent.as_deref())?.map(str::to_owned),
        since: looked.since,
        everywhere: looked.all_repos,
        // One more says whether there is another part.
        limit: start.min(DEEPEST).saturating_add(limit).saturating_add(1),
        ..Query::default()
    };
    let mut list = SearchResults::from(&recall::search(&cx.here, &cx.ledger, &query)?);
    let (results, is_more) = cut(list.results, start, limit);
    list.results = results;
    let next = is_more.then(|| start.saturating_add(limit).to_string());
    Ok(PartOf { list, next })
}

/// What a fresh context asks for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fresh {
    pub(crate) q: Option<String>,
    pub(crate) budget: Option<usize>,
    pub(crate) session: Option<String>,
    pub(crate) repo: Option<String>,
}

pub(super) async fn recover(
    State(house): State<House>,
    Path(level): Path<String>,
    Asked(fresh): Asked<Fresh>,
) -> Result<Told<Recovery>, Refused> {
    Ok(Told(house.call(move |house| recovered(house, Some(number(&level)?), &fresh)).await?))
}

fn number(level: &str) -> Result<u8, Failure> {
    level.parse().map_err(|_| Failure::new(Code::RequestInvalid, "the levels are 1, 2 and 3"))
}

/// What a fresh context should read.
pub(crate) fn recovered(
    house: &House,
    level: Option<u8>,
    fresh: &Fresh,
) -> Result<Recovery, Failure> {
    if level.is_some_and(|level| !(1..=3).contains(&level)) {
        return Err(Failure::new(Code::RequestInvalid, "the levels are 1, 2 and 3"));
    }
    let mut cx = match &fresh.session {
        Some(session) => RequestContext::session(house, session)?.0,
        None => RequestContext::of(house, fresh.repo.as_deref())?,
    };
    let settings = keep::settings(&cx.here).map_err(KeepError::from)?;
    let session = keep::session(&cx.here, &mut cx.ledger, fresh.session.as_deref())?;
    let gather = Gatherer::new(&cx.here, &cx.ledger, &settings);
    let budget = fresh.budget.filter(|budget| *budget > 0);
    let wanted = Wanted { level, query: fresh.q.as_deref(), budget };
    Ok(Recovery::from(&gather.recover(session.as_ref(), wanted)?))
}
