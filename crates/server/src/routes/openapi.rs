//! The description of the API, served.

use axum::http::header;
use axum::response::{IntoResponse, Response};

pub(super) async fn document() -> Response {
    let text = crate::openapi::document().to_string();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
