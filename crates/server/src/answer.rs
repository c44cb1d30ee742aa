//! How answers and failures look over HTTP.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use heirloom_api::{Answer, Code, Failure, Kind};

/// An answer of the contract, as JSON.
#[derive(Debug)]
pub(crate) struct Told<T>(pub(crate) T);

impl<T: Answer> IntoResponse for Told<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

/// An answer about something that was not there before.
#[derive(Debug)]
pub(crate) struct Created<T>(pub(crate) T);

impl<T: Answer> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        json(StatusCode::CREATED, &self.0)
    }
}

/// A failure, as JSON with the status that fits it.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Failure);

impl<E: Into<Failure>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = json(status(&self.0), &self.0.document());
        // For whoever shows it to a person instead.
        response.extensions_mut().insert(self.0);
        response
    }
}

/// A document with a tag by which whoever has it already can tell.
pub(crate) fn json(status: StatusCode, value: &impl serde::Serialize) -> Response {
    // Answers are plain data, which always serialises.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let tag = format!("\"{}\"", &blake3::hash(&bytes).to_hex()[..32]);
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::OK
        && let Ok(tag) = HeaderValue::from_str(&tag)
    {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// The same response, or word that nothing changed since the asker had it.
pub(crate) fn unless_known(asked: &HeaderMap, response: Response) -> Response {
    let known = asked.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let is_known = known.zip(tag).is_some_and(|(known, tag)| {
        known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
    });
    if !is_known {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(header::CONTENT_TYPE);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::empty())
}

/// The status of a failure: its code says who has to do something about it.
pub(crate) fn status(failure: &Failure) -> StatusCode {
    match failure.code {
        Code::RequestUnauthenticated => StatusCode::UNAUTHORIZED,
        Code::RequestRefused
        | Code::PersonNeeded
        | Code::RepoPerson
        | Code::TrustNeeded
        | Code::TrustRefused
        | Code::TrustUnseen => StatusCode::FORBIDDEN,
        Code::RequestNotFound
        | Code::ApprovalNotFound
        | Code::ConversationNoEvent
        | Code::IssueNotFound
        | Code::NoteNotFound
        | Code::RepoNotFound
        | Code::RequirementNotFound
        | Code::RunNotFound
        | Code::RunUnknown
        | Code::SessionNotFound
        | Code::TemplateNotFound => StatusCode::NOT_FOUND,
        Code::RequestMethod => StatusCode::METHOD_NOT_ALLOWED,
        Code::RequestTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::RequestTooMany => StatusCode::TOO_MANY_REQUESTS,
        Code::ApprovalAmbiguous
        | Code::ApprovalOver
        | Code::ApprovalSettled
        | Code::IssueAmbiguous
        | Code::IssueCircle
        | Code::IssueNotOpen
        | Code::IssueTaken
        | Code::IssueUntested
        | Code::NoteAmbiguous
        | Code::RepoSame
        | Code::RunAmbiguous
        | Code::RunRunning
        | Code::SessionAmbiguous
        | Code::SessionElsewhere
        | Code::SessionExists
        | Code::SessionNameTaken
        | Code::SessionNoConversation
        | Code::SessionNotRunning
        | Code::SessionStatus
        | Code::SessionStillRunning
        | Code::SessionTransition
        | Code::TrustChanged => StatusCode::CONFLICT,
        Code::LedgerBusy | Code::TrackerBusy => StatusCode::SERVICE_UNAVAILABLE,
        Code::LedgerFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::Internal
        | Code::Environment
        | Code::LedgerDamaged
        | Code::LedgerFailed
        | Code::LedgerNewer
        | Code::LedgerReadOnly
        | Code::LedgerUnreadable => StatusCode::INTERNAL_SERVER_ERROR,
        Code::RequestInvalid | Code::Usage => StatusCode::BAD_REQUEST,
        _ if failure.kind == Kind::Usage => StatusCode::BAD_REQUEST,
        // The request was understood but cannot be carried out.
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}
