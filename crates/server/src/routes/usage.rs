//! What agents cost and how many tokens they used.

use axum::extract::State;
use heirloom_api::{Failure, Usage};
use heirloom_core::usage::{By, Usage as Known};
use heirloom_engine::usage::{self, Query};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Refused, Told};
use crate::house::{House, RequestContext};
use crate::routes::Asked;

/// Which sessions are added up, and by what.
#[derive(Debug, Default, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    #[serde(default)]
    pub(crate) by: Group,
    /// Only sessions that started at this time or later.
    pub(crate) since: Option<Timestamp>,
    /// The repository: its key, its path, or the name of its directory. Defaults to the one the daemon was
    /// started in.
    pub(crate) repo: Option<String>,
    /// Add up the sessions of all repositories. Always so when grouped by repository.
    #[serde(default)]
    pub(crate) all_repos: bool,
}

/// What a row stands for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Group {
    #[default]
    Day,
    Repo,
    Agent,
    Model,
    Issue,
}

impl Group {
    pub(crate) const ALL: [Self; 5] =
        [Self::Day, Self::Repo, Self::Agent, Self::Model, Self::Issue];

    pub(crate) const fn by(self) -> By {
        match self {
            Self::Day => By::Day,
            Self::Repo => By::Repo,
            Self::Agent => By::Agent,
            Self::Model => By::Model,
            Self::Issue => By::Issue,
        }
    }

    /// As it stands in an address.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Repo => "repo",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Issue => "issue",
        }
    }
}

pub(super) async fn usage(
    State(house): State<House>,
    Asked(filter): Asked<Filter>,
) -> Result<Told<Usage>, Refused> {
    let used = house.call(move |house| {
        let used = added_up(&context(house, &filter)?, &filter)?;
        Ok(Usage::new(&used, filter.by.by()))
    });
    Ok(Told(used.await?))
}

pub(crate) fn context(house: &House, filter: &Filter) -> Result<RequestContext, Failure> {
    RequestContext::of(house, filter.repo.as_deref().filter(|repo| !repo.is_empty()))
}

/// What the sessions used that `filter` asks for.
pub(crate) fn added_up(cx: &RequestContext, filter: &Filter) -> Result<Known, Failure> {
    let all = filter.all_repos || filter.by == Group::Repo;
    let repo = (!all).then_some(cx.here.place.repo.as_str());
    let query = Query { by: filter.by.by(), repo, since: filter.since };
    Ok(usage::usage(&cx.here, &cx.ledger, &query)?)
}
