//! The routes, a file a resource.

mod approvals;
mod health;
mod notes;
mod session;
mod sessions;
mod signin;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use heirloom_api::{Code, Failure};
use tower_http::compression::CompressionLayer;

use crate::answer::Refused;
use crate::gate::gate;
use crate::house::House;

/// The longest body that is read: room for a long prompt, and no more.
const MOST_BODY: usize = 4 * 1024 * 1024;

/// Everything the daemon answers.
pub(crate) fn all(house: House) -> Router {
    let api = Router::new()
        .route("/health", get(health::health))
        .route("/sessions", get(sessions::list))
        .route("/sessions/{id}", get(session::show))
        .route("/sessions/{id}/conversation", get(session::conversation))
        .route("/sessions/{id}/config", get(session::config))
        .route("/sessions/{id}/lineage", get(session::lineage))
        .route("/sessions/{id}/notes", get(session::notes))
        .route("/approvals", get(approvals::list))
        .route("/approvals/{id}", get(approvals::show))
        .route("/approvals/{id}/decision", post(approvals::decide))
        .route("/notes", get(notes::list).post(notes::make));
    Router::new()
        .nest("/api/v1", api)
        .route("/signin", get(signin::sign_in))
        .route("/signout", post(signin::sign_out))
        .fallback(nothing)
        .method_not_allowed_fallback(not_like_that)
        .layer(from_fn_with_state(house.clone(), gate))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(CompressionLayer::new())
        .with_state(house)
}

async fn nothing() -> Refused {
    Refused(Failure::new(Code::RequestNotFound, "there is nothing at this address"))
}

async fn not_like_that() -> Refused {
    Refused(Failure::new(Code::RequestMethod, "this address does not take that method"))
}

/// What the query of an address says, refused in our own words where it cannot be read.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> axum::extract::FromRequestParts<S>
    for Asked<T>
{
    type Rejection = Refused;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        _: &S,
    ) -> Result<Self, Refused> {
        match axum::extract::Query::<T>::try_from_uri(&parts.uri) {
            Ok(query) => Ok(Self(query.0)),
            Err(refused) => Err(Refused(Failure::new(Code::RequestInvalid, refused.body_text()))),
        }
    }
}

/// What a body says, refused in our own words where it cannot be read.
#[derive(Debug)]
pub(crate) struct Given<T>(pub(crate) T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> axum::extract::FromRequest<S> for Given<T> {
    type Rejection = Refused;

    async fn from_request(request: axum::extract::Request, state: &S) -> Result<Self, Refused> {
        match axum::Json::<T>::from_request(request, state).await {
            Ok(json) => Ok(Self(json.0)),
            Err(refused) if refused.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE => {
                let message = format!("a body has at most {MOST_BODY} bytes");
                Err(Refused(Failure::new(Code::RequestTooLarge, message)))
            }
            Err(refused) => {
                let failure = Failure::new(Code::RequestInvalid, refused.body_text());
                Err(Refused(failure.hint("send JSON with `content-type: application/json`")))
            }
        }
    }
}

/// The part of a list after `cursor`, and where the next part begins.
pub(crate) fn page_of<T>(
    all: Vec<T>,
    cursor: usize,
    limit: Option<usize>,
) -> (Vec<T>, Option<usize>) {
    let limit = limit.unwrap_or(usize::MAX).max(1);
    let end = cursor.saturating_add(limit);
    let next = (end < all.len()).then_some(end);
    (all.into_iter().skip(cursor).take(limit).collect(), next)
}
