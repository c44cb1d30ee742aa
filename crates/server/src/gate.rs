//! Who gets in: the checks that every request passes before anything looks at it.
//!
//! A page that somebody else made can reach this machine's ports from the browser of the person who looks at
//! it. So a request has to name the daemon by a name that is its own, must not come from another origin, and
//! has to show a token or a sign-in; one that changes something with a sign-in also has to carry what only
//! our own pages know.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use heirloom_api::{Code, Failure};
use heirloom_core::trust::person::{Action, NotAPerson, Who, allow};

use crate::answer::{Refused, unless_known};
use crate::house::House;
use crate::keys;

/// The name of the cookie.
pub(crate) const COOKIE: &str = "heirloom";
/// The header in which scripts of our own pages carry what their forms carry.
const FORM_TOKEN: &str = "x-heirloom-form";
/// What a page may do: load what the daemon serves, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The same for who is not signed in: it has what it needs in itself.
const POLICY_FOR_STRANGERS: &str =
    "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none';";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A program with the token. It reads, launches and notes.
    Program,
    /// A person who signed in, with their cookie.
    Person(String),
}

impl Caller {
    /// The sign-in of a person.
    pub(crate) fn cookie(&self) -> Option<String> {
        match self {
            Self::Person(cookie) => Some(cookie.clone()),
            Self::Program => None,
        }
    }

    /// Who that is. A sign-in is a person's, whoever started the daemon: only a person's terminal gives a
    /// link, and it is good once.
    pub(crate) fn who(&self) -> Who {
        match self {
            Self::Person(_) => Who::Person,
            Self::Program => Who::Unknown,
        }
    }

    /// Whether it may do what only a person may.
    pub(crate) fn may(&self, action: Action) -> Result<(), Failure> {
        allow(action, self.who()).map_err(|refused: NotAPerson| {
            Failure::new(Code::PersonNeeded, refused.to_string())
                .hint("sign in on the page: `heirloom serve --link` gives you a link")
        })
    }
}

/// How many wrong tokens are answered within [`WINDOW`]; after that, all of them are put off.
const MOST_WRONG: u32 = 20;
const WINDOW: Duration = Duration::from_mins(1);

/// The wrong tokens of late. A right one is let in however many wrong ones there were, so nobody can lock
/// the owner out.
#[derive(Debug, Default)]
pub(crate) struct Wrong(Mutex<Option<(Instant, u32)>>);

impl Wrong {
    /// Counts one more and says whether there were too many.
    fn is_too_many(&self) -> bool {
        let Ok(mut seen) = self.0.lock() else { return true };
        let (since, count) = match *seen {
            Some((since, count)) if since.elapsed() < WINDOW => (since, count.saturating_add(1)),
            _ => (Instant::now(), 1),
        };
        *seen = Some((since, count));
        count > MOST_WRONG
    }
}

/// Lets a request in, or not.
pub(crate) async fn gate(State(house): State<House>, mut request: Request, next: Next) -> Response {
    let asked = request.headers().clone();
    let is_browser = is_page(request.uri().path()) && wants_html(&asked);
    let response = match admit(&house, &request) {
        Ok(caller) => {
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            unless_known(&asked, next.run(request).await)
        }
        Err(failure) if is_page(request.uri().path()) => not_signed_in(&failure),
        Err(failure) => Refused(failure).into_response(),
    };
    guarded(if is_browser { dressed(response) } else { response })
}

fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|kinds| kinds.to_str().ok());
    accept.is_some_and(|kinds| kinds.contains("text/html"))
}

/// What a person sees who follows a link that leads nowhere, where a program gets JSON.
fn dressed(response: Response) -> Response {
    match response.extensions().get::<Failure>() {
        Some(failure) if failure.code == Code::RequestUnauthenticated => not_signed_in(failure),
        Some(failure) => crate::page::refusal(failure),
        None => response,
    }
}

/// Who asks; nobody where nobody has to be known.
fn admit(house: &House, request: &Request) -> Result<Option<Caller>, Failure> {
    let refused = |why: &str| Failure::new(Code::RequestRefused, why);
    let headers = request.headers();
    let host =
        host(house, headers).ok_or_else(|| refused("the Host header does not name this daemon"))?;
    if let Some(origin) = headers.get(header::ORIGIN) {
        let from = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        if from.is_none_or(|(_, from)| !from.eq_ignore_ascii_case(host)) {
            return Err(refused("the request comes from another origin"));
        }
    }
    if is_open(request.method(), request.uri().path()) {
        return Ok(None);
    }
    let caller = caller(house, headers)?;
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if let Caller::Person(cookie) = &caller
        && changes
        && !is_page(request.uri().path())
    {
        let token = headers.get(FORM_TOKEN).and_then(|token| token.to_str().ok()).unwrap_or("");
        check_form(cookie, token)?;
    }
    Ok(Some(caller))
}

/// Whether what a form carries belongs to who sent it.
pub(crate) fn check_form(cookie: &str, token: &str) -> Result<(), Failure> {
    if keys::same(&keys::form_token(cookie), token) {
        return Ok(());
    }
    let why = "the request does not come from a page of the daemon";
    Err(Failure::new(Code::RequestRefused, why).hint("load the page again"))
}

/// What needs no token: whether the daemon is there, and the door itself.
fn is_open(method: &Method, path: &str) -> bool {
    *method == Method::GET && matches!(path, "/api/v1/health" | "/signin")
}

fn is_page(path: &str) -> bool {
    !path.starts_with("/api/") && path != "/mcp"
}

/// The name by which the daemon was asked for, if it is one of its own. Any port will do: one that leads
/// here by way of a tunnel is not known here, and what other pages can choose is the name.
fn host<'a>(house: &House, headers: &'a HeaderMap) -> Option<&'a str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => host.split(':').next()?,
    };
    let is_own = matches!(name.to_ascii_lowercase().as_str(), "localhost" | "127.0.0.1" | "::1")
        || house.hosts().iter().any(|known| known.eq_ignore_ascii_case(name) || every(known, name));
    is_own.then_some(host)
}

/// Whether the daemon listens on every address of this machine and was asked for by one. A number leads where it
/// says; it is names that somebody else can lead here.
fn every(known: &str, name: &str) -> bool {
    let is_every = known.parse::<IpAddr>().is_ok_and(|known| known.is_unspecified());
    is_every && name.parse::<IpAddr>().is_ok()
}

fn caller(house: &House, headers: &HeaderMap) -> Result<Caller, Failure> {
    let bearer = headers.get(header::AUTHORIZATION).map(|value| {
        let value = value.to_str().unwrap_or_default();
        value.strip_prefix("Bearer ").unwrap_or_default().trim()
    });
    let cookie = headers.get(header::COOKIE).and_then(|value| cookie(value.to_str().ok()?));
    let now = house.here()?.clock.now();
    let known = match (bearer, cookie) {
        (Some(token), _) => keys::same(token, house.token()).then_some(Caller::Program),
        (None, Some(cookie)) => {
            let known = house.keys().is_signed_in(cookie, now);
            known.then(|| Caller::Person(cookie.to_owned()))
        }
        (None, None) => return Err(nobody("the request has neither a token nor a sign-in")),
    };
    match known {
        Some(caller) => Ok(caller),
        None if house.wrong().is_too_many() => {
            let message = "too many wrong tokens; try again in a minute";
            Err(Failure::new(Code::RequestTooMany, message))
        }
        None if bearer.is_some() => Err(nobody("the token is wrong")),
        None => Err(nobody("the sign-in has expired")),
    }
}

fn nobody(why: &str) -> Failure {
    Failure::new(Code::RequestUnauthenticated, why).hint(
        "programs send the token of serve.json in heirloom's home as `Authorization: Bearer TOKEN`; \
         people open the link that `heirloom serve --link` prints",
    )
}

fn cookie(header: &str) -> Option<&str> {
    let mut pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// What somebody sees who is not signed in: how to get in, and nothing else.
fn not_signed_in(failure: &Failure) -> Response {
    let status = crate::answer::status(failure);
    // What looks like a page of ours has to bring its looks along: nothing else is served to strangers.
    let nonce = keys::nonce();
    let policy = format!("{POLICY_FOR_STRANGERS} style-src 'nonce-{nonce}'");
    let (title, heading) = match failure.code {
        Code::RequestUnauthenticated => ("Not signed in", "You are not signed in"),
        Code::RequestTooMany => ("Too many attempts", "Too many attempts"),
        _ => ("Refused", "This request was refused"),
    };
    let text = maud::html! {
        (maud::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="color-scheme" content="light dark";
                title { (title) " · heirloom" }
                style nonce=(nonce) { (maud::PreEscaped(crate::page::STYLE)) }
            }
            body {
                main {
                    h1 { (heading) }
                    p { (failure.message) "." }
                    @if failure.code == Code::RequestUnauthenticated {
                        p {
                            "In a terminal on the machine where heirloom runs, type "
                            code { "heirloom serve --link" }
                            " and open the link it prints. It works once."
                        }
                    }
                }
            }
        }
    };
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static(POLICY));
    let headers = [(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, policy)];
    (status, headers, text.into_string()).into_response()
}

/// What every response says to the browser.
fn guarded(mut response: Response) -> Response {
    let is_denied = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    let mut say = |name: header::HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    say(header::CONTENT_SECURITY_POLICY, POLICY);
    say(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    // Not `no-referrer`: with that browsers send our own forms as coming from nowhere.
    say(header::REFERRER_POLICY, "same-origin");
    say(header::X_FRAME_OPTIONS, "DENY");
    say(header::CACHE_CONTROL, "private, no-cache");
    say(header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    say(header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    if is_denied {
        say(header::WWW_AUTHENTICATE, "Bearer realm=\"heirloom\"");
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        assert_eq!(cookie("a=1; heirloom=xyz; b=2"), Some("xyz"));
        assert_eq!(cookie("heirloom2=xyz"), None);
        assert_eq!(cookie(""), None);
    }

    #[test]
    fn wrong_tokens_are_put_off_when_there_are_too_many() {
        let wrong = Wrong::default();
        let refused = (0..MOST_WRONG).filter(|_| wrong.is_too_many()).count();
        assert_eq!(refused, 0);
        assert!(wrong.is_too_many());
    }

    #[test]
    fn a_program_does_nothing_that_only_a_person_may() {
        for action in Action::ALL {
            assert!(Caller::Program.may(action).is_err());
            assert!(Caller::Person(String::new()).may(action).is_ok());
        }
    }
}
