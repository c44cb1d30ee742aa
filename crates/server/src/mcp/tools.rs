//! The tools: the use cases of the commands with the same names.

use heirloom_api::{Checkpoint as CheckpointAnswer, Code, Failure, How, Lineage, SessionList, Why};
use heirloom_engine::keep::checkpoint::{Checkpoint, Purpose, Waits};
use heirloom_engine::keep::{self, KeepError};
use heirloom_engine::recall::{how, why};
use heirloom_engine::sessions;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Fault, permission, told};
use crate::gate::Caller;
use crate::house::{House, RequestContext};
use crate::routes::{look, notes, recall, sessions as listing, work};

struct Tool {
    name: &'static str,
    about: &'static str,
    schema: fn() -> Schema,
    reads: bool,
    call: fn(&House, Value) -> Result<Value, Failure>,
}

fn schema<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>()
}

fn given<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    serde_json::from_value(arguments)
        .map_err(|error| Failure::new(Code::RequestInvalid, error.to_string()))
}

fn shown(answer: &impl heirloom_api::Answer) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "note",
        about: "Record something worth carrying into later sessions: a decision (with `because` and \
                `evidence` as PATH:LINE), learning, pattern, warning, question, next_step or progress.",
        schema: schema::<notes::Body>,
        reads: false,
        call: |house, arguments| Ok(shown(&notes::made(house, given(arguments)?)?)),
    },
    Tool {
        name: "recover",
        about: "What a fresh context should read: level 1 is the state in a few lines, 2 what matches `q`, 3 \
                everything.",
        schema: schema::<Recover>,
        reads: true,
        call: |house, arguments| {
            let Recover { level, fresh } = given(arguments)?;
            Ok(shown(&recall::recovered(house, level, &fresh)?))
        },
    },
    Tool {
        name: "search",
        about: "Full text over the notes and sessions of this repository.",
        schema: schema::<recall::Looked>,
        reads: true,
        call: |house, arguments| {
            let looked: recall::Looked = given(arguments)?;
            // An agent searches the repository it works in.
            Ok(shown(&recall::found(
                house,
                recall::Looked { all_repos: false, repo: None, ..looked },
            )?))
        },
    },
    Tool {
        name: "why",
        about: "Why a file or line is the way it is: the session, prompt and decisions behind it.",
        schema: schema::<Target>,
        reads: true,
        call: |house, arguments| {
            let Target { place } = given(arguments)?;
            let cx = RequestContext::of(house, None)?;
            let root = cx.here.place.root.clone();
            Ok(shown(&Why::from(&why::why(&cx.here, &cx.ledger, &root, &place)?)))
        },
    },
    Tool {
        name: "how",
        about: "What worked last time: the command that fixed a failure like this one, and what was tried before it.",
        schema: schema::<Failed>,
        reads: true,
        call: |house, arguments| {
            let Failed { text, limit } = given(arguments)?;
            let cx = RequestContext::of(house, None)?;
            let limit = limit.unwrap_or(5).clamp(1, 50);
            Ok(shown(&How::from(&how::how(&cx.here, &cx.ledger, &text, limit)?)))
        },
    },
    Tool {
        name: "sessions",
        about: "Sessions of this repository, newest first.",
        schema: schema::<listing::Filter>,
        reads: true,
        call: |house, arguments| {
            let filter: listing::Filter = given(arguments)?;
            let repo = house.here()?.place.root.to_string_lossy().into_owned();
            let list: SessionList =
                listing::page(house, &listing::Filter { repo: Some(repo), ..filter })?;
            Ok(shown(&list))
        },
    },
    Tool {
        name: "lineage",
        about: "A session's ancestors and descendants.",
        schema: schema::<OfSession>,
        reads: true,
        call: |house, arguments| {
            let OfSession { session } = given(arguments)?;
            let (cx, session) = RequestContext::session(house, &session)?;
            let family = sessions::family(&cx.ledger, session)?;
            let beyond = sessions::beyond(&cx.ledger, &family)?;
            let lineage = Lineage::new(&family, beyond, |session| {
                sessions::contribution(&cx.ledger, session)
            })?;
            Ok(shown(&lineage))
        },
    },
    Tool {
        name: "requirements",
        about: "What must be satisfied before an edit, a commit or the end of a turn, and whether it is.",
        schema: schema::<look::Whose>,
        reads: true,
        call: |house, arguments| Ok(shown(&look::asked_for(house, &given(arguments)?)?)),
    },
    Tool {
        name: "issues",
        about: "Open issues; with `ready`, only those that can be worked on now.",
        schema: schema::<work::Filter>,
        reads: true,
        call: |house, arguments| Ok(shown(&work::backlog(house, &given(arguments)?)?)),
    },
    Tool {
        name: "checkpoint",
        about: "Make the ledger complete before the context is cleared or compacted: checks every claim \
                against the code and records a handoff.",
        schema: schema::<Before>,
        reads: false,
        call: |house, arguments| checkpoint(house, &given(arguments)?),
    },
    Tool {
        name: permission::NAME,
        about: "Ask a person whether a tool may be used, and wait for the answer. For an agent's own question \
                before it uses a tool, as with `--permission-prompt-tool`; not to be called by a model.",
        schema: schema::<permission::Question>,
        reads: false,
        call: |_, _| {
            let message = "permission questions need the agent's own process, over stdio";
            Err(Failure::new(Code::RequestInvalid, message)
                .hint("give the agent `heirloom mcp` as its MCP server"))
        },
    },
];

/// What a fresh context asks for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Recover {
    /// 1, 2 or 3.
    level: Option<u8>,
    #[serde(flatten)]
    fresh: recall::Fresh,
}

/// What is to be explained.
#[derive(Debug, Deserialize, JsonSchema)]
struct Target {
    /// A file, or a line of one as PATH:LINE, from the repository's root.
    place: String,
}

/// What went wrong, or what is to be done.
#[derive(Debug, Deserialize, JsonSchema)]
struct Failed {
    /// The words of an error, or of a task.
    text: String,
    /// The most failures to tell.
    limit: Option<usize>,
}

/// Which session is meant.
#[derive(Debug, Deserialize, JsonSchema)]
struct OfSession {
    /// A name, an id, or the beginning of one.
    session: String,
}

/// What the checkpoint is for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Before {
    /// Whether the context is compacted and not cleared.
    #[serde(default)]
    compact: bool,
    /// Only say what would happen.
    #[serde(default)]
    dry_run: bool,
    /// The session, where it is not the one that asks.
    session: Option<String>,
}

fn checkpoint(house: &House, before: &Before) -> Result<Value, Failure> {
    let mut cx = match &before.session {
        Some(session) => RequestContext::session(house, session)?.0,
        None => RequestContext::everywhere(house)?,
    };
    let settings = keep::settings_to_check_by(&cx.here, "checkpoint").map_err(KeepError::from)?;
    let session = keep::session_or_new(&cx.here, &mut cx.ledger, before.session.as_deref())?;
    let purpose = if before.compact { Purpose::Compact } else { Purpose::Clear };
    let (here, dry_run) = (&cx.here, before.dry_run);
    let checkpoint = Checkpoint {
        here,
        settings: &settings,
        session: &session,
        purpose,
        dry_run,
        can_refuse: true,
        waits: Waits::Person,
    };
    Ok(shown(&CheckpointAnswer::from(&checkpoint.run(&mut cx.ledger)?)))
}

pub(super) fn list() -> Value {
    let tools = TOOLS.iter().map(|tool| {
        let hints =
            json!({"readOnlyHint": tool.reads, "destructiveHint": false, "openWorldHint": false});
        json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": (tool.schema)(),
            "annotations": hints,
        })
    });
    json!({"tools": tools.collect::<Vec<_>>()})
}

/// Calls a tool. That it failed is an answer, which the agent can do something about.
pub(super) fn call(house: &House, _: &Caller, params: &Value) -> Result<Value, Fault> {
    let name = params["name"].as_str().unwrap_or_default();
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| Fault::Params(format!("there is no tool {name}")))?;
    let arguments = params.get("arguments").filter(|given| !given.is_null()).cloned();
    Ok(match (tool.call)(house, arguments.unwrap_or_else(|| json!({}))) {
        Ok(answer) => {
            let text = answer.to_string();
            json!({"content": [{"type": "text", "text": text}], "structuredContent": answer})
        }
        Err(failure) => {
            json!({"content": [{"type": "text", "text": told(&failure)}], "isError": true})
        }
    })
}
