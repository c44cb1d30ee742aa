//! Words that stand for one of a few things, as schemas: what a field may say.
//!
//! The values themselves are texts: a reader must not break because a later version has one more.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

macro_rules! words {
    ($($(#[doc = $about:literal])+ $name:ident: $($word:literal)+;)+) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug)]
            pub struct $name;

            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!({"type": "string", "enum": [$($word),+]})
                }
            }
        )+
    };
}

words! {
    /// Where a session is in its life.
    SessionStatus: "starting" "running" "waiting_input" "completed" "failed" "interrupting"
        "interrupted" "archived";
    /// How a session came from its parent.
    Link: "inherited" "resumed" "forked" "cleared" "compacted";
    /// What sort of thing a note says.
    NoteKind: "learning" "pattern" "warning" "decision" "question" "next_step" "progress" "scenario";
    /// What a test scenario tries.
    CaseType: "happy_path" "edge_case" "error_handling";
    /// How a run through the issues is doing.
    WorkStatus: "running" "completed" "failed" "interrupted";
    /// How a run is doing with one issue.
    IssueRunStatus: "running" "closed" "failed" "timed_out" "interrupted" "needs_review";
    /// Where the question whether a tool may be used stands.
    ApprovalState: "pending" "approved" "denied" "closed";
    /// How long a requirement stays satisfied.
    Scope: "session" "branch" "single_use" "permanent";
    /// How a thing that `doctor` looked at is.
    Health: "ok" "note" "problem";
    /// How a step of a checkpoint ended.
    StepStatus: "passed" "warned" "failed" "skipped";
    /// What an iteration amounts to.
    Outcome: "completed" "failed" "timed_out" "hopeless" "interrupted" "postponed";
    /// What an agent wants to happen after its iteration.
    Decision: "continue" "stop" "error";
    /// What agents may do without asking.
    RunPermissions: "accept" "edits" "ask";
    /// Where the work on an issue is.
    Phase: "working" "checking" "reviewing" "fixing" "merging" "waiting";
    /// How full a context is.
    Zone: "green" "yellow" "orange" "red";
}
