//! What the page links to: requirements, decisions, records, trust, the repository. Read only.

use std::collections::HashMap;

use axum::extract::{Path, State};
use heirloom_api::{
    Code, DecisionList, Entry, Failure, JudgedNote, Note, PartOf, Repository, RequirementStatus,
    Rule, RuleList, Trust,
};
use heirloom_core::ground::{Checked, Claim};
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::note::Kind;
use heirloom_engine::guard::rules::{self, Rules};
use heirloom_engine::guard::{self, Subject, SubjectError, status};
use heirloom_engine::keep::{self, KeepError, ground};
use heirloom_engine::notes::{self, Query};
use heirloom_engine::{identity, trust};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Refused, Told};
use crate::house::{House, RequestContext};
use crate::routes::part::Part;
use crate::routes::{Asked, Listed, Where};

/// Whose requirements are asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whose {
    pub(crate) repo: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) branch: Option<String>,
}

pub(super) async fn requirements(
    State(house): State<House>,
    Asked(whose): Asked<Whose>,
) -> Result<Told<RequirementStatus>, Refused> {
    Ok(Told(house.call(move |house| asked_for(house, &whose)).await?))
}

/// What has to be satisfied, and whether it is.
pub(crate) fn asked_for(house: &House, whose: &Whose) -> Result<RequirementStatus, Failure> {
    let mut cx = match &whose.session {
        Some(session) => RequestContext::session(house, session)?.0,
        None => RequestContext::of(house, whose.repo.as_deref())?,
    };
    let policy = match rules::load(&cx.here) {
        Some(Rules::Policy(policy)) => policy,
        Some(Rules::Broken { file, reason }) => {
            return Err(Failure::new(Code::Settings, format!("{file} cannot be read: {reason}"))
                .hint("requirements are not enforced until it is repaired"));
        }
        None => {
            return Err(Failure::new(Code::NotSetUp, "heirloom is not set up in this repository")
                .hint("`heirloom init` sets it up"));
        }
    };
    let (here, ledger) = (&cx.here, &mut cx.ledger);
    let subject = match &whose.session {
        None => Subject::nobody(),
        named => match guard::subject(here, ledger, named.as_deref()) {
            Err(SubjectError::None { .. }) => Subject::nobody(),
            found => found?,
        },
    };
    let branch = match &whose.branch {
        Some(name) => BranchKey::branch(name),
        None => BranchKey::stored(here.place.head.key()),
    };
    let overview = status::overview(here, &policy, &subject, &branch)?;
    Ok(RequirementStatus {
        branch: branch.to_string(),
        session: subject.key().map(str::to_owned),
        enabled: policy.enabled,
        paused: overview.paused.as_ref().map(Into::into),
        requirements: overview.rows.iter().map(Into::into).collect(),
    })
}

pub(super) async fn decisions(
    State(house): State<House>,
    Asked(asked): Asked<Listed>,
) -> Result<Told<PartOf<DecisionList>>, Refused> {
    let list = house.call(move |house| {
        let all = judged(house, asked.repo.as_deref())?.decisions;
        let part = Part::new(asked.cursor.as_deref(), asked.limit);
        let (decisions, next) = part.of(all, |judged| judged.note.id.clone())?;
        Ok(PartOf { list: DecisionList { decisions }, next })
    });
    Ok(Told(list.await?))
}

/// The decisions of a repository, each checked against the code as it is now.
pub(crate) fn judged(house: &House, repo: Option<&str>) -> Result<DecisionList, Failure> {
    let cx = RequestContext::of(house, repo)?;
    let query = Query { kind: Some(Kind::Decision), superseded: true, ..Query::default() };
    judged_of(&cx, &query)
}

/// Notes, each checked against the code as it is now.
pub(crate) fn judged_of(cx: &RequestContext, query: &Query) -> Result<DecisionList, Failure> {
    let found = notes::list(&cx.here, &cx.ledger, query)?.notes;
    let settings = keep::settings(&cx.here).map_err(KeepError::from)?;
    let claims = found.iter().filter_map(|(note, _)| Claim::of(note));
    let grounded = ground::verify(&cx.here, &settings, claims);
    let by_id: HashMap<&str, &Checked> =
        grounded.checked.iter().map(|checked| (&*checked.claim.id, checked)).collect();
    let decisions = found.iter().map(|(note, session)| {
        let checked = by_id.get(note.id.to_string().as_str()).copied();
        JudgedNote::new(Note::new(note, session), checked)
    });
    Ok(DecisionList { decisions: decisions.collect() })
}

pub(super) async fn record(
    State(house): State<House>,
    Path(id): Path<String>,
) -> Result<Told<Entry>, Refused> {
    Ok(Told(house.call(move |house| entry(house, &id)).await?))
}

/// The record with that id.
pub(crate) fn entry(house: &House, id: &str) -> Result<Entry, Failure> {
    let none = || Failure::new(Code::RequestNotFound, format!("there is no record {id}"));
    let parsed = id.parse().map_err(|_| none())?;
    let record = house.ledger()?.record(parsed)?.ok_or_else(none)?;
    Ok(Entry::from(&record))
}

pub(super) async fn trusted(
    State(house): State<House>,
    Asked(place): Asked<Where>,
) -> Result<Told<Trust>, Refused> {
    let trust = house.call(move |house| {
        let cx = RequestContext::of(house, place.repo.as_deref())?;
        let standing = trust::standing(&cx.here, &cx.ledger)?;
        Ok(Trust::new(&cx.here.place.repo, &standing))
    });
    Ok(Told(trust.await?))
}

pub(super) async fn laid_down(
    State(house): State<House>,
    Asked(asked): Asked<Listed>,
) -> Result<Told<PartOf<RuleList>>, Refused> {
    let rules = house.call(move |house| {
        let cx = RequestContext::of(house, asked.repo.as_deref())?;
        let settings = keep::settings(&cx.here).map_err(KeepError::from)?;
        let found = keep::rules::list(&cx.here, &cx.ledger, &settings)?;
        let part = Part::new(asked.cursor.as_deref(), asked.limit);
        let all: Vec<Rule> = found.iter().map(Rule::from).collect();
        let (rules, next) = part.of(all, |rule| rule.id.clone())?;
        Ok(PartOf { list: RuleList { rules }, next })
    });
    Ok(Told(rules.await?))
}

pub(super) async fn repository(
    State(house): State<House>,
    Asked(place): Asked<Where>,
) -> Result<Told<Repository>, Refused> {
    let repository = house.call(move |house| {
        let mut cx = RequestContext::of(house, place.repo.as_deref())?;
        Ok(Repository::from(&identity::show(&cx.here, &mut cx.ledger)?))
    });
    Ok(Told(repository.await?))
}
