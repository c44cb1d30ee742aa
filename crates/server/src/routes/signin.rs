//! The door for people: a one-time code becomes a cookie, and leaves the address.

use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use heirloom_api::{Code, Failure};
use serde::Deserialize;

use crate::answer::Refused;
use crate::gate::{COOKIE, Caller, check_form};
use crate::house::House;

#[derive(Debug, Deserialize)]
pub(super) struct Door {
    #[serde(default)]
    code: String,
}

pub(super) async fn sign_in(
    State(house): State<House>,
    Query(door): Query<Door>,
) -> Result<Response, Refused> {
    let cookie = house
        .call(move |house| {
            let now = house.here()?.clock.now();
            let cookie = house.keys().sign_in(&door.code, now);
            cookie.map_err(|error| Failure::from_error(Code::File, &error))
        })
        .await?;
    let Some(cookie) = cookie else {
        let message = "the link was used before, or is too old";
        return Err(Refused(
            Failure::new(Code::RequestUnauthenticated, message)
                .hint("`heirloom serve --link` prints a new one"),
        ));
    };
    let month = 60 * 60 * 24 * 30;
    let secure = if house.is_secure() { "; Secure" } else { "" };
    let set =
        format!("{COOKIE}={cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={month}{secure}");
    Ok(([(header::SET_COOKIE, set)], Redirect::to("/")).into_response())
}

/// What every form of our pages carries.
#[derive(Debug, Deserialize)]
pub(super) struct Leaving {
    #[serde(default)]
    form: String,
}

pub(super) async fn sign_out(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Form(leaving): Form<Leaving>,
) -> Result<Response, Refused> {
    if let Caller::Person(cookie) = caller {
        check_form(&cookie, &leaving.form)?;
        house.keys().sign_out(&cookie);
    }
    let gone = format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    Ok(([(header::SET_COOKIE, gone)], Redirect::to("/")).into_response())
}
