//! Settings: what people write in `config.yaml`, from several layers to one typed value.
//!
//! (In code the word is settings; a config is how one session's agent is launched.)
//!
//! Each key is declared once, with the [`section`](declare) macros: the declaration is the type, the
//! reader, the list that unknown keys are checked against, the JSON schema and the reference page.
//! [`Layers`] takes the layers in rising precedence and [`Layers::resolve`]s them. No file is read
//! here and no environment: that is the engine's.
//!
//! Invariant: a layer with a fault makes the whole fail, even when a higher layer overrides the
//! faulty value. What is ignored silently today is what surprises somebody tomorrow. Requirements
//! are the exception, because without them agents would go ungated: whoever applies them gets what
//! the rest says ([`Broken`]), and a fault costs nothing that another layer asks for.

mod authority;
mod declare;
mod diagnostic;
mod fault;
mod merge;
mod model;
mod odd;
mod origin;
mod part;
mod period;
mod read;
mod reference;
mod requirement;
mod resolve;
mod schema;
mod shape;
#[cfg(test)]
mod tests;
mod value;

pub use authority::Authority;
pub use diagnostic::{Diagnostic, Severity};
pub use fault::Fault;
pub use model::{
    AGENTS, Agent, AgentName, Ask, Capture, CarryOver, Checkpoint, CheckpointMode, Comprehension,
    Context, Distill, Guard, Inherit, Inherited, MergePolicy, Notes, OnOff, OnUncertain,
    Permissions, Preserved, Protect, Reach, Recall, Recovery, Run, RunPermissions, Settings, Team,
    Trust, Whose, Work,
};
pub use origin::{Origin, Row, Source};
pub(crate) use part::read_json;
pub use period::{Period, PeriodError};
pub use read::{Reader, Setting};
pub use reference::reference;
pub use requirement::{
    Enforcement, Evidence, GuardType, Measure, OnError, Requirement, RequirementType, Satisfier,
    Scope, Thresholds, Trigger,
};
pub use resolve::{Broken, Layers, Resolved, Rest};
pub use schema::schema;
pub use shape::{Choice, Field, Section, Shape};
pub(crate) use value::compile_pattern;
pub use value::{
    Amount, Command, Commands, Dollars, Either, NotesFrom, OneOrMany, Pattern, Ratio, RepoPath,
};
