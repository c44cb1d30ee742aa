//! Notes: what is worth carrying, listed and made.

use axum::extract::State;
use heirloom_api::{Code, Failure, Note, NoteList};
use heirloom_core::evidence::{Evidence, PlaceError};
use heirloom_core::note::{Basis, Case, CaseType, Kind, NotAKind};
use heirloom_engine::keep;
use heirloom_engine::notes::{self, NewNote, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Created, Refused, Told};
use crate::house::{House, RequestContext};
use crate::routes::{Asked, Given};

/// Which notes are asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    kind: Option<String>,
    session: Option<String>,
    repo: Option<String>,
    /// Those that were replaced as well.
    #[serde(default)]
    all: bool,
    /// Only those that are older than this one, the `next` of the page before.
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn list(
    State(house): State<House>,
    Asked(filter): Asked<Filter>,
) -> Result<Told<NoteList>, Refused> {
    let list = house.call(move |house| {
        // A field of a form that was left empty says nothing.
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let kind = given(filter.kind).as_deref().map(kind).transpose()?;
        let cx = match &filter.session {
            Some(session) => RequestContext::session(house, session)?.0,
            None => RequestContext::of(house, filter.repo.as_deref())?,
        };
        let query = Query {
            session: filter.session,
            kind,
            superseded: filter.all,
            limit: Some(filter.limit.unwrap_or(200).clamp(1, 1000)),
            before: given(filter.cursor),
        };
        Ok(NoteList::new(&notes::list(&cx.here, &cx.ledger, &query)?))
    });
    Ok(Told(list.await?))
}

/// A note to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) because: Option<String>,
    /// Places that it rests on, as PATH:LINE or PATH:LINE-LINE.
    #[serde(default)]
    pub(crate) evidence: Vec<String>,
    pub(crate) supersedes: Option<String>,
    pub(crate) issue: Option<String>,
    /// What a scenario tries, and what has to come of it.
    pub(crate) case: Option<CaseBody>,
    pub(crate) session: Option<String>,
    pub(crate) repo: Option<String>,
    /// Whether it is declared as nothing more than an assumption.
    #[serde(default)]
    pub(crate) assumption: bool,
}

/// What a test scenario tries, and what has to come of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseBody {
    /// `happy_path`, `edge_case` or `error_handling`.
    #[serde(rename = "type")]
    pub(crate) case_type: String,
    pub(crate) expected: String,
}

fn case(body: Option<CaseBody>) -> Result<Option<Case>, Failure> {
    let Some(CaseBody { case_type, expected }) = body else { return Ok(None) };
    let Some(case_type) = CaseType::parse(&case_type) else {
        let message = format!("there is no type of scenario called `{case_type}`");
        let types = CaseType::ALL.map(CaseType::as_str).join(", ");
        let failure = Failure::new(Code::RequestInvalid, message);
        return Err(failure.hint(format!("the types are {types}")));
    };
    Ok(Some(Case { case_type, expected }))
}

pub(super) async fn make(
    State(house): State<House>,
    Given(body): Given<Body>,
) -> Result<Created<Note>, Refused> {
    Ok(Created(house.call(move |house| made(house, body)).await?))
}

/// Records a note.
pub(crate) fn made(house: &House, body: Body) -> Result<Note, Failure> {
    let mut cx = match &body.session {
        Some(session) => RequestContext::session(house, session)?.0,
        None => RequestContext::of(house, body.repo.as_deref())?,
    };
    let evidence = body.evidence.iter().map(|place| {
        let wrong = |error: PlaceError| Failure::from_error(Code::RequestInvalid, &error);
        place.parse::<Evidence>().map_err(wrong)
    });
    let new = NewNote {
        kind: kind(&body.kind)?,
        evidence: evidence.collect::<Result<_, _>>()?,
        basis: body.assumption.then_some(Basis::Assumption),
        text: body.text,
        rationale: body.because,
        issue: body.issue,
        case: case(body.case)?,
        supersedes: body.supersedes,
        session: body.session,
        symbol: Some(heirloom_symbols::enclosing),
        proposed_by: None,
    };
    let directory = cx.here.place.root.clone();
    let noted = keep::record(&cx.here, &mut cx.ledger, &directory, new)?;
    Ok(Note::new(&noted.note, noted.session.name.as_str()))
}

/// The kind of note that a word means.
pub(crate) fn kind(text: &str) -> Result<Kind, Failure> {
    text.parse().map_err(|error: NotAKind| {
        let kinds = Kind::ALL.map(Kind::as_str).join(", ");
        Failure::from_error(Code::RequestInvalid, &error).hint(format!("the kinds are {kinds}"))
    })
}
