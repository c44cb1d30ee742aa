//! A session that is changed, also while it runs.

use axum::Extension;
use axum::extract::{Path, State};
use heirloom_api::{Code, Failure, Session};
use heirloom_core::config::Change as Said;
use heirloom_core::trust::person::Action;
use heirloom_engine::session::{self as engine, Update};
use heirloom_engine::sessions;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Refused, Told};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::Given;

/// What of a session is to be different. What is left out stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// Whether it is put away, out of the list.
    hidden: Option<bool>,
    /// A line that says what it is about; empty for none.
    title: Option<String>,
    /// Whether edits of files are approved without asking. To turn it on needs a person who signed in.
    auto_accept_edits: Option<bool>,
    /// Until when everything is approved without asking; `null` ends that. To set it needs a person who
    /// signed in.
    #[serde(default)]
    #[schemars(with = "Option<Timestamp>")]
    bypass_until: Said<Timestamp>,
}

pub(super) async fn change(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Path(address): Path<String>,
    Given(change): Given<Change>,
) -> Result<Told<Session>, Refused> {
    Ok(Told(house.call(move |house| changed(house, &caller, &address, change)).await?))
}

fn changed(
    house: &House,
    caller: &Caller,
    address: &str,
    change: Change,
) -> Result<Session, Failure> {
    let update = Update {
        title: change.title,
        auto_accept_edits: change.auto_accept_edits,
        bypass_until: match change.bypass_until {
            Said::Inherit => None,
            Said::Clear => Some(None),
            Said::Set(until) => Some(Some(until)),
        },
    };
    let is_wider =
        update.auto_accept_edits == Some(true) || matches!(update.bypass_until, Some(Some(_)));
    if is_wider {
        caller.may(Action::Bypass)?;
    }
    if change.hidden.is_none() && update == Update::default() {
        return Err(Failure::new(Code::RequestInvalid, "there is nothing to change")
            .hint("give `hidden`, `title`, `auto_accept_edits` or `bypass_until`"));
    }
    let (mut cx, session) = RequestContext::session(house, address)?;
    // First what can be refused: one that runs is not put away.
    if let Some(hidden) = change.hidden {
        sessions::archive(&cx.here, &mut cx.ledger, &session, hidden)?;
    }
    if update != Update::default() {
        engine::update(&cx.here, &mut cx.ledger, &session, update)?;
    }
    let id = session.id;
    let now = cx.ledger.session(id)?.ok_or(heirloom_ledger::Error::NoSession { id })?;
    Ok(Session::new(&now, sessions::parent_name(&cx.ledger, &now)?))
}
