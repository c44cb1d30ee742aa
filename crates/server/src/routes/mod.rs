//! The routes: one table, from which the daemon answers and its description is made.

pub(crate) mod approvals;
mod change;
mod health;
pub(crate) mod launch;
pub(crate) mod look;
pub(crate) mod notes;
mod openapi;
pub(crate) mod part;
pub(crate) mod recall;
pub(crate) mod session;
pub(crate) mod sessions;
mod signin;
pub(crate) mod usage;
pub(crate) mod work;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use heirloom_api::{Code, Failure};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use tower_http::compression::CompressionLayer;

use crate::answer::Refused;
use crate::gate::gate;
use crate::house::House;
use crate::openapi::schema_of;

/// The longest body that is read: room for a long prompt, and no more.
pub(crate) const MOST_BODY: usize = 4 * 1024 * 1024;

/// One route of the API.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) about: &'static str,
    /// The status of a good answer.
    pub(crate) status: u16,
    pub(crate) query: fn(&mut SchemaGenerator) -> Option<Schema>,
    pub(crate) body: fn(&mut SchemaGenerator) -> Option<Schema>,
    pub(crate) answer: fn(&mut SchemaGenerator) -> Option<Schema>,
    handler: fn() -> MethodRouter<House>,
}

macro_rules! routes {
    ($($method:ident $path:literal $handler:path, ($query:ty, $body:ty) => $status:literal $answer:ty,
       $about:literal;)+) => {
        /// Every route under `/api/v1`.
        pub(crate) const ROUTES: &[Route] = &[$(Route {
            method: stringify!($method),
            path: $path,
            about: $about,
            status: $status,
            query: schema_of::<$query>,
            body: schema_of::<$body>,
            answer: schema_of::<$answer>,
            handler: || axum::routing::$method($handler),
        }),+];
    };
}

routes! {
    get "/health" health::health, ((), ()) => 200 heirloom_api::Health,
        "Whether the daemon is running. Needs no token.";
    get "/openapi.json" openapi::document, ((), ()) => 200 serde_json::Value,
        "This description.";
    get "/events" crate::events::events, ((), ()) => 200 heirloom_api::LedgerEvent,
        "What changes, as server-sent events. `id` is the number of the record in the order of arrival; \
         with `Last-Event-ID` the stream begins after that one.";
    get "/sessions" sessions::list, (sessions::Filter, ()) => 200 heirloom_api::SessionList,
        "Sessions, newest first, as `sessions list`.";
    post "/sessions" launch::launch, ((), launch::LaunchBody) => 201 heirloom_api::Session,
        "Launches a session, as `launch`. Answers once its agent runs.";
    get "/sessions/{id}" session::show, ((), ()) => 200 heirloom_api::SessionDetail,
        "One session, as `sessions show`.";
    patch "/sessions/{id}" change::change, ((), change::Change) => 200 heirloom_api::Session,
        "Changes a session, even while it runs: its title, what it approves automatically, whether it is listed.";
    get "/sessions/{id}/conversation" session::conversation, (session::Part, ()) => 200 heirloom_api::Conversation,
        "The conversation of a session and of those it continues, as `conversation`.";
    get "/sessions/{id}/config" session::config, ((), ()) => 200 heirloom_api::SessionConfig,
        "How its agent was launched, and where each field comes from. Secrets are masked.";
    get "/sessions/{id}/lineage" session::lineage, ((), ()) => 200 heirloom_api::Lineage,
        "Its ancestors and descendants, as `lineage`.";
    get "/sessions/{id}/notes" session::notes, (session::Older, ()) => 200 heirloom_api::NoteList,
        "What it learned and decided.";
    post "/sessions/{id}/continue" launch::go_on, ((), launch::ContinueBody) => 201 heirloom_api::Session,
        "Continues a session with its whole config, as `continue`: an absent field is inherited, a value \
         replaces, `null` clears.";
    post "/sessions/{id}/fork" launch::fork, ((), launch::ContinueBody) => 201 heirloom_api::Session,
        "Forks a session, as `fork`, from its end or from the event `at`.";
    post "/sessions/{id}/interrupt" launch::interrupt, ((), ()) => 200 heirloom_api::Session,
        "Interrupts a session and answers once it has stopped.";
    get "/approvals" approvals::list, (approvals::Filter, ()) => 200 heirloom_api::PartOf<heirloom_api::ApprovalList>,
        "What agents asked for, oldest first.";
    get "/approvals/{id}" approvals::show, ((), ()) => 200 heirloom_api::Approval,
        "One approval.";
    post "/approvals/{id}/decision" approvals::decide, ((), approvals::Decision) => 200 heirloom_api::Approval,
        "Decides an approval. Only a signed-in person may.";
    get "/notes" notes::list, (notes::Filter, ()) => 200 heirloom_api::NoteList,
        "Notes of a repository, as `notes`.";
    post "/notes" notes::make, ((), notes::Body) => 201 heirloom_api::Note,
        "Records a note, as `note`.";
    get "/search" recall::search, (recall::Looked, ()) => 200 heirloom_api::PartOf<heirloom_api::SearchResults>,
        "Full text over notes and sessions, as `search`.";
    get "/recover/{level}" recall::recover, (recall::Fresh, ()) => 200 heirloom_api::Recovery,
        "What a fresh context should know, as `recover`.";
    get "/requirements" look::requirements, (look::Whose, ()) => 200 heirloom_api::RequirementStatus,
        "Requirements and whether they are satisfied, as `req status`.";
    get "/issues" work::issues, (work::Filter, ()) => 200 heirloom_api::PartOf<heirloom_api::IssueList>,
        "Issues, as `issues list`, or with `ready` as `issues ready`.";
    post "/issues" work::create, ((), work::Body) => 201 heirloom_api::NewIssue,
        "Creates an issue, as `issues create`.";
    get "/issues/{id}" work::issue, (Where, ()) => 200 heirloom_api::IssueDetail,
        "One issue, as `issues show`.";
    patch "/issues/{id}" work::change, ((), work::Different) => 200 heirloom_api::ChangedIssues,
        "Changes or closes an issue, as `issues update` and `issues close`.";
    get "/work-runs" work::runs, (work::Runs, ()) => 200 heirloom_api::PartOf<heirloom_api::WorkRunList>,
        "What past runs of `work` did, as `runs list`.";
    get "/work-runs/{id}" work::run, (Where, ()) => 200 heirloom_api::WorkRunDetail,
        "One run, issue by issue, as `runs show`.";
    get "/pipelines" work::pipelines, (Listed, ()) => 200 heirloom_api::PartOf<heirloom_api::PipelineList>,
        "Pipelines, as `pipelines list`.";
    get "/records/{id}" look::record, ((), ()) => 200 heirloom_api::Entry,
        "The record behind something.";
    get "/decisions" look::decisions, (Listed, ()) => 200 heirloom_api::PartOf<heirloom_api::DecisionList>,
        "The decisions of a repository, each checked against the code as it is now.";
    get "/usage" usage::usage, (usage::Filter, ()) => 200 heirloom_api::Usage,
        "What agents cost and how many tokens they used, as `usage`. What is not known is `null`, and counted.";
    get "/trust" look::trusted, (Where, ()) => 200 heirloom_api::Trust,
        "What a repository would run, and whether you allow it, as `trust --show`.";
    get "/repo" look::repository, (Where, ()) => 200 heirloom_api::Repository,
        "A repository's key and aliases, as `repo show`.";
    get "/rules" look::laid_down, (Listed, ()) => 200 heirloom_api::PartOf<heirloom_api::RuleList>,
        "The person's rules, as `rules list`.";
}

/// Which repository is meant.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Where {
    /// Its key, its path, or the name of its directory. Defaults to the one the daemon was started in.
    pub(crate) repo: Option<String>,
}

/// A list of one repository, and which part of it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    /// The repository: its key, its path, or the name of its directory. Defaults to the one the
    /// daemon was started in.
    pub(crate) repo: Option<String>,
    /// The `next` of the part before.
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<usize>,
}

/// Everything the daemon answers.
pub(crate) fn all(house: House) -> Router {
    let api = ROUTES
        .iter()
        .fold(Router::new(), |router, route| router.route(route.path, (route.handler)()));
    Router::new()
        .nest("/api/v1", api)
        .merge(crate::page::routes())
        .route("/mcp", post(crate::mcp::over_http).get(crate::mcp::stream))
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

pub(crate) async fn not_like_that() -> Refused {
    Refused(Failure::new(Code::RequestMethod, "this address does not allow that method"))
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
