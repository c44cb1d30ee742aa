//! One session: what it is, what was said in it, how it was launched, where it comes from, what it left.

use axum::extract::{Path, State};
use heirloom_api::{Conversation, Lineage, NoteList, SessionConfig, SessionDetail};
use heirloom_core::redact::{redact, redact_json};
use heirloom_engine::{notes as engine_notes, session as engine, sessions};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Refused, Told};
use crate::house::{House, RequestContext};
use crate::routes::Asked;
use crate::routes::part::cut;

pub(super) async fn show(
    State(house): State<House>,
    Path(address): Path<String>,
) -> Result<Told<SessionDetail>, Refused> {
    let detail = house.call(move |house| {
        let (cx, session) = RequestContext::session(house, &address)?;
        let total = engine::totals(&cx.ledger, &session)?;
        let parent = sessions::parent_name(&cx.ledger, &session)?;
        Ok(SessionDetail::new(&cx.here, &session, parent, total))
    });
    Ok(Told(detail.await?))
}

/// Which part of a conversation is asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// Only the events after this number.
    cursor: Option<usize>,
    limit: Option<usize>,
}

pub(super) async fn conversation(
    State(house): State<House>,
    Path(address): Path<String>,
    Asked(part): Asked<Part>,
) -> Result<Told<Conversation>, Refused> {
    let conversation = house.call(move |house| {
        let (cx, session) = RequestContext::session(house, &address)?;
        let said = engine::conversation(&cx.here, &cx.ledger, &session)?;
        let all = Conversation::new(&session, said);
        let (start, limit) = (part.cursor.unwrap_or(0), part.limit.unwrap_or(usize::MAX).max(1));
        let (mut events, is_more) = cut(all.events, start, limit);
        let next = is_more.then(|| start.saturating_add(limit));
        events.iter_mut().for_each(hide);
        Ok(Conversation { events, next, ..all })
    });
    Ok(Told(conversation.await?))
}

/// Takes the secrets out. Streams are kept as agents printed them; what leaves this machine's terminal is not.
pub(crate) fn hide(said: &mut heirloom_api::Said) {
    if let Some(text) = &mut said.text {
        *text = redact(text).text.into_owned();
    }
    if let Some(input) = &mut said.input {
        redact_json(input);
    }
}

pub(super) async fn config(
    State(house): State<House>,
    Path(address): Path<String>,
) -> Result<Told<SessionConfig>, Refused> {
    let config = house.call(move |house| {
        let (cx, session) = RequestContext::session(house, &address)?;
        Ok(SessionConfig::new(&session, &engine::config_of(&cx.ledger, &session)?))
    });
    Ok(Told(config.await?))
}

pub(super) async fn lineage(
    State(house): State<House>,
    Path(address): Path<String>,
) -> Result<Told<Lineage>, Refused> {
    let lineage = house.call(move |house| {
        let (cx, session) = RequestContext::session(house, &address)?;
        let family = sessions::family(&cx.ledger, session)?;
        Ok(Lineage::new(&family, sessions::beyond(&cx.ledger, &family)?, |session| {
            sessions::contribution(&cx.ledger, session)
        })?)
    });
    Ok(Told(lineage.await?))
}

/// Which part of the notes is asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Older {
    /// Only those that are older than this one, the `next` of the part before.
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn notes(
    State(house): State<House>,
    Path(address): Path<String>,
    Asked(part): Asked<Older>,
) -> Result<Told<NoteList>, Refused> {
    let notes = house.call(move |house| {
        let (cx, session) = RequestContext::session(house, &address)?;
        let query = engine_notes::Query {
            session: Some(session.id.to_string()),
            superseded: true,
            before: part.cursor.filter(|cursor| !cursor.is_empty()),
            limit: part.limit.map(|limit| limit.max(1)),
            ..Default::default()
        };
        Ok(NoteList::new(&engine_notes::list(&cx.here, &cx.ledger, &query)?))
    });
    Ok(Told(notes.await?))
}
