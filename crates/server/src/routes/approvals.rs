//! Approvals: what agents ask for, and what a person says to it.

use axum::Extension;
use axum::extract::{Path, State};
use heirloom_api::{Approval, ApprovalList, Code, Failure, PartOf};
use heirloom_core::approval::{Approval as Known, Rule};
use heirloom_core::trust::person::Action;
use heirloom_engine::session::{self as engine, Choice};
use heirloom_ledger::{ApprovalFilter, Ledger};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{Refused, Told};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::part::Part;
use crate::routes::{Asked, Given};

/// Which approvals are asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// `pending` for those that wait.
    status: Option<String>,
    repo: Option<String>,
    /// The `next` of the part before.
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn list(
    State(house): State<House>,
    Asked(filter): Asked<Filter>,
) -> Result<Told<PartOf<ApprovalList>>, Refused> {
    let list = house.call(move |house| {
        let pending = match filter.status.as_deref() {
            None | Some("") => false,
            Some("pending") => true,
            Some(other) => {
                let message = format!("approvals cannot be listed by the status {other}");
                return Err(Failure::new(Code::RequestInvalid, message)
                    .hint("write `pending`, or leave it out for all"));
            }
        };
        let mut cx = match &filter.repo {
            Some(repo) => RequestContext::of(house, Some(repo))?,
            None => RequestContext::everywhere(house)?,
        };
        cx.tidy()?;
        let repo = filter.repo.as_ref().map(|_| cx.here.place.repo.as_str());
        let found = cx.ledger.approvals(ApprovalFilter { repo, session: None, pending })?;
        let part = Part::new(filter.cursor.as_deref(), filter.limit);
        let (found, next) = part.of(found, |approval| approval.id.to_string())?;
        let approvals = found.iter().map(|approval| answer(&cx.ledger, approval));
        let list = ApprovalList { approvals: approvals.collect::<Result<_, _>>()? };
        Ok(PartOf { list, next })
    });
    Ok(Told(list.await?))
}

pub(super) async fn show(
    State(house): State<House>,
    Path(id): Path<String>,
) -> Result<Told<Approval>, Refused> {
    let approval = house.call(move |house| {
        let cx = RequestContext::everywhere(house)?;
        answer(&cx.ledger, &engine::approval(&cx.here, &cx.ledger, &id)?)
    });
    Ok(Told(approval.await?))
}

/// What a person says to an approval.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decision {
    #[serde(rename = "decision")]
    pub(crate) word: Word,
    /// Why; a denial needs it.
    pub(crate) reason: Option<String>,
    /// The input to approve instead of what was asked for.
    pub(crate) input: Option<Value>,
    /// Whether it holds for this use, or for the rest of the session.
    #[serde(rename = "for")]
    pub(crate) lasts: Option<Lasts>,
    /// With `session`: what else it covers, for example `Bash(git *)`; without, every use of the tool.
    pub(crate) rule: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    Approve,
    Deny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Lasts {
    Once,
    Session,
}

impl Decision {
    /// What it comes to, if it can be meant.
    fn choice(self) -> Result<Choice, Failure> {
        let invalid = |why: &str| Failure::new(Code::RequestInvalid, why);
        let rule = self.rule.as_deref().map(str::parse::<Rule>).transpose();
        let rule = rule.map_err(|error| Failure::from_error(Code::RequestInvalid, &error))?;
        match (self.word, self.lasts) {
            (Word::Deny, _) => {
                let reason = self.reason.filter(|reason| !reason.trim().is_empty());
                let reason = reason.ok_or_else(|| invalid("a denial needs a `reason`"))?;
                Ok(Choice::Deny(reason))
            }
            (Word::Approve, Some(Lasts::Session)) if self.input.is_some() => {
                Err(invalid("an edited input is approved once, not for the session"))
            }
            (Word::Approve, Some(Lasts::Session)) => Ok(Choice::ForSession(rule)),
            (Word::Approve, _) if rule.is_some() => {
                Err(invalid("a `rule` needs `for` to be `session`"))
            }
            (Word::Approve, _) => Ok(self.input.map_or(Choice::Approve, Choice::Edit)),
        }
    }
}

pub(super) async fn decide(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Given(decision): Given<Decision>,
) -> Result<Told<Approval>, Refused> {
    let approval = house.call(move |house| decided(house, &caller, &id, decision));
    Ok(Told(approval.await?))
}

/// Records a person's decision.
pub(crate) fn decided(
    house: &House,
    caller: &Caller,
    id: &str,
    decision: Decision,
) -> Result<Approval, Failure> {
    // A program does not even say no: it has nothing to say here.
    caller.may(Action::Approve)?;
    let choice = decision.choice()?;
    let mut cx = RequestContext::everywhere(house)?;
    let approval = engine::decide(&cx.here, &mut cx.ledger, id, choice, caller.who())?;
    answer(&cx.ledger, &approval)
}

/// An approval as the contract has it.
pub(crate) fn answer(ledger: &Ledger, approval: &Known) -> Result<Approval, Failure> {
    let name = ledger.session(approval.session)?.map(|session| session.name.to_string());
    Ok(Approval::new(approval, name))
}
