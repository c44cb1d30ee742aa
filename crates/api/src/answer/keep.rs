//! Grounding, checkpoints, recovery and healing: what keeps a context honest.

use heirloom_core::context::Zone;
use heirloom_core::ground as core;
use heirloom_core::recover::Recovery as Recovered;
use heirloom_engine::keep::checkpoint::{Outcome, Step};
use heirloom_engine::keep::context::Usage;
use heirloom_engine::keep::forks::{self, Compared};
use heirloom_engine::keep::ground::Grounded;
use heirloom_engine::keep::heal::Repair;
use schemars::JsonSchema;
use serde::Serialize;

use super::ledger::Gap;
use crate::Answer;
use crate::words;

/// Whether claims rest on what the code says now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Grounding {
    /// How many claims there are.
    pub claims: usize,
    /// How many are grounded.
    pub grounded: usize,
    /// How many are declared assumptions.
    pub assumptions: usize,
    /// The part that is grounded.
    pub ratio: f64,
    /// The part that is asked for.
    pub threshold: f64,
    /// Whether enough are.
    #[schemars(extend("enum" = ["pass", "fail"]))]
    pub status: String,
    /// Lines of a trajectory file that are no entries.
    pub unreadable_lines: Vec<usize>,
    /// Every claim.
    pub results: Vec<GroundedClaim>,
}

impl Answer for Grounding {}

impl Grounding {
    pub fn new(found: &Grounded<'_>, unreadable_lines: &[usize]) -> Self {
        let report = &found.report;
        Self {
            claims: report.claims,
            grounded: report.grounded,
            assumptions: report.assumptions,
            ratio: report.ratio(),
            threshold: report.threshold,
            status: if report.passes() { "pass" } else { "fail" }.to_owned(),
            unreadable_lines: unreadable_lines.to_vec(),
            results: found.checked.iter().map(GroundedClaim::from).collect(),
        }
    }
}

/// A claim. Its place is the first, or the first that does not hold.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GroundedClaim {
    /// The note's id, or what a trajectory file calls it.
    pub id: String,
    /// What it says.
    pub claim: String,
    /// What became of its evidence, in a word: `verified`, `moved`, `quote_absent`, …
    pub verdict: String,
    /// Whether it is grounded.
    pub grounded: bool,
    /// The file it rests on.
    pub path: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The line where its quote stands now.
    pub found_line: Option<u32>,
    /// The file where its quote stands now.
    pub found_path: Option<String>,
    /// The verdict for people.
    pub detail: String,
    /// Every place it rests on.
    pub evidence: Vec<GroundedPlace>,
}

/// A place that a claim rests on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GroundedPlace {
    /// The file.
    pub path: String,
    /// The first line.
    pub line: u32,
    /// The last line, where there is more than one.
    pub end_line: Option<u32>,
    /// What became of it.
    pub verdict: String,
    /// The line where its quote stands now.
    pub found_line: Option<u32>,
    /// The file where its quote stands now.
    pub found_path: Option<String>,
}

impl From<&core::Checked<'_>> for GroundedClaim {
    fn from(checked: &core::Checked<'_>) -> Self {
        let evidence = checked.claim.evidence.iter().zip(&checked.verdicts);
        let decisive = evidence.clone().find(|(_, verdict)| **verdict == checked.verdict);
        let place = decisive.or(evidence.clone().next()).map(|(cited, _)| cited);
        let (found_path, found_line) = checked.verdict.found();
        Self {
            id: checked.claim.id.to_string(),
            claim: checked.claim.text.to_string(),
            verdict: checked.verdict.as_str().to_owned(),
            grounded: checked.verdict.is_grounded(),
            path: place.map(|cited| cited.path.to_string()),
            line: place.map(|cited| cited.line),
            found_line,
            found_path: found_path.map(str::to_owned),
            detail: checked.verdict.to_string(),
            evidence: evidence
                .map(|(cited, verdict)| {
                    let (found_path, found_line) = verdict.found();
                    GroundedPlace {
                        path: cited.path.to_string(),
                        line: cited.line,
                        end_line: cited.end_line,
                        verdict: verdict.as_str().to_owned(),
                        found_line,
                        found_path: found_path.map(str::to_owned),
                    }
                })
                .collect(),
        }
    }
}

/// Decisions, each with whether it still holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionList {
    /// The decisions, oldest first.
    pub decisions: Vec<JudgedNote>,
}

impl Answer for DecisionList {}

/// A note, checked against the code as it is now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct JudgedNote {
    /// The note.
    #[serde(flatten)]
    pub note: super::Note,
    /// `holds`, `moved`, `broken`, `unproven`, or `replaced` where a later note took its place.
    #[schemars(extend("enum" = ["holds", "moved", "broken", "unproven", "replaced"]))]
    pub standing: &'static str,
    /// The verdict on what it rests on; `null` where nothing was checked.
    pub checked: Option<GroundedClaim>,
}

impl JudgedNote {
    /// `checked` is what checking came to, where the note asserts something.
    pub fn new(note: super::Note, checked: Option<&core::Checked<'_>>) -> Self {
        let standing = match checked.map(|checked| &checked.verdict) {
            _ if note.superseded_by.is_some() => "replaced",
            Some(core::Verdict::Verified | core::Verdict::Nearby { .. }) => "holds",
            Some(core::Verdict::Moved { .. }) => "moved",
            Some(
                core::Verdict::QuoteAbsent
                | core::Verdict::LineOutOfRange { .. }
                | core::Verdict::PathMissing
                | core::Verdict::Outside,
            ) => "broken",
            _ => "unproven",
        };
        Self { note, standing, checked: checked.map(GroundedClaim::from) }
    }
}

/// What a checkpoint came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Checkpoint {
    /// Whether the context may be cleared.
    pub permitted: bool,
    /// How strict it was.
    #[schemars(extend("enum" = ["strict", "warn", "off"]))]
    pub mode: String,
    /// What it was for.
    #[schemars(extend("enum" = ["clear", "compact"]))]
    pub purpose: String,
    /// The steps, in order.
    pub steps: Vec<CheckpointStep>,
    /// The handoff that stands, if there is one.
    pub handoff: Option<String>,
    /// Whether that handoff was made now.
    pub new: bool,
}

impl Answer for Checkpoint {}

/// One step of a checkpoint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckpointStep {
    /// Its number, from 1.
    pub step: usize,
    /// Its name.
    pub name: String,
    /// How it ended.
    #[schemars(with = "words::StepStatus")]
    pub status: String,
    /// What it did or found.
    pub detail: String,
}

impl From<&Outcome> for Checkpoint {
    fn from(outcome: &Outcome) -> Self {
        let step = |step: &Step| CheckpointStep {
            step: step.step,
            name: step.name.to_owned(),
            status: step.status.as_str().to_owned(),
            detail: step.detail.clone(),
        };
        Self {
            permitted: outcome.permitted,
            mode: outcome.mode.to_owned(),
            purpose: outcome.purpose.as_str().to_owned(),
            steps: outcome.steps.iter().map(step).collect(),
            handoff: outcome.handoff.clone(),
            new: outcome.new,
        }
    }
}

/// What a fresh context should read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Recovery {
    /// How much was asked for.
    pub level: u8,
    /// Its estimated size in tokens.
    pub tokens: usize,
    /// The text.
    pub text: String,
    /// How many entries were left out.
    pub omitted: usize,
}

impl Answer for Recovery {}

impl From<&Recovered> for Recovery {
    fn from(recovered: &Recovered) -> Self {
        let Recovered { level, tokens, text, omitted, is_empty: _ } = recovered.clone();
        Self { level, tokens, text, omitted }
    }
}

/// How full a context is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContextStatus {
    /// The session's name.
    pub session: String,
    /// Tokens in the context, as the agent counts them.
    pub tokens: u64,
    /// Tokens the window holds; `null` where that is not known.
    pub window: Option<u64>,
    /// The part of the window that is used; `null` where the window is not known.
    pub share: Option<f64>,
    /// How full that is; `null` where the window is not known.
    #[schemars(with = "Option<words::Zone>")]
    pub zone: Option<String>,
    /// What to do about it; `null` where the window is not known.
    pub advice: Option<String>,
    /// Whether what is new was persisted now.
    pub delta_sync: bool,
}

impl Answer for ContextStatus {}

impl ContextStatus {
    pub fn new(session: &str, usage: Usage, zone: Option<Zone>, delta_sync: bool) -> Self {
        Self {
            session: session.to_owned(),
            tokens: usage.tokens,
            window: usage.window,
            share: usage.share(),
            zone: zone.map(|zone| zone.to_string()),
            advice: zone.map(|zone| zone.advice().to_owned()),
            delta_sync,
        }
    }
}

/// What survives a compaction, and what does not.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContextRules {
    /// What survives.
    pub preserved: Vec<ContextRule>,
    /// What does not.
    pub compacted: Vec<ContextRule>,
}

impl Answer for ContextRules {}

/// What happens to a part of a context.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContextRule {
    /// Which part.
    pub what: String,
    /// Why.
    pub why: String,
}

impl From<&(&str, &str)> for ContextRule {
    fn from((what, why): &(&str, &str)) -> Self {
        Self { what: (*what).to_owned(), why: (*why).to_owned() }
    }
}

/// Whether what the context believes contradicts the ledger.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ForkCheck {
    /// Whether anything does.
    pub forked: bool,
    /// How many claims do.
    pub forks: usize,
    /// Every claim.
    pub results: Vec<ComparedClaim>,
}

impl Answer for ForkCheck {}

impl From<&[Compared]> for ForkCheck {
    fn from(compared: &[Compared]) -> Self {
        let results: Vec<ComparedClaim> = compared.iter().map(ComparedClaim::from).collect();
        let forks = results.iter().filter(|result| result.resolution.is_some()).count();
        Self { forked: forks > 0, forks, results }
    }
}

/// A claim of the context beside what the ledger says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ComparedClaim {
    /// The claim.
    pub claim: String,
    /// How the two stand to each other.
    #[schemars(extend("enum" = ["contradicts", "agrees", "related", "unknown"]))]
    pub relation: String,
    /// What the ledger says.
    pub ledger: Option<String>,
    /// The note that says it.
    pub note: Option<String>,
    /// Why the two contradict each other.
    pub why: Option<String>,
    /// `ledger_wins` where they do.
    pub resolution: Option<String>,
}

impl From<&Compared> for ComparedClaim {
    fn from(compared: &Compared) -> Self {
        let note = compared.note.as_ref();
        let why = forks::contradiction(compared).map(|(_, why)| why.to_string());
        Self {
            claim: compared.claim.clone(),
            relation: compared.relation.as_str().to_owned(),
            ledger: note.map(|note| note.text.clone()),
            note: note.map(|note| note.id.to_string()),
            resolution: why.as_ref().map(|_| "ledger_wins".to_owned()),
            why,
        }
    }
}

/// What was found damaged, and what it was repaired from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Healing {
    /// Whether everything can be used again.
    pub ok: bool,
    /// Whether this was a dry run.
    pub check: bool,
    /// What was repaired.
    pub repaired: Vec<Repaired>,
    /// What is damaged still.
    pub damaged: Vec<Repaired>,
    /// The records that could not be saved.
    pub missing: Vec<Gap>,
    /// Where the damaged copies are.
    pub kept: Vec<String>,
}

impl Answer for Healing {}

impl Healing {
    pub fn new(repairs: &[Repair], missing: &[heirloom_ledger::Gap], check: bool) -> Self {
        let (repaired, damaged): (Vec<Repaired>, Vec<Repaired>) =
            repairs.iter().map(Repaired::from).partition(|repair| repair.repaired);
        Self {
            ok: damaged.is_empty(),
            check,
            repaired,
            damaged,
            missing: missing.iter().map(Gap::from).collect(),
            kept: repairs.iter().filter_map(|repair| repair.kept.clone()).collect(),
        }
    }
}

/// Something that was found damaged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Repaired {
    /// What.
    pub what: String,
    /// What is wrong with it.
    pub found: String,
    /// What it was, or would be, repaired from; `null` where a new one was begun, and where only a person can correct it.
    pub from: Option<String>,
    /// Where the damaged copy is.
    pub kept: Option<String>,
    /// Whether it is repaired now.
    pub repaired: bool,
}

impl From<&Repair> for Repaired {
    fn from(repair: &Repair) -> Self {
        let Repair { what, found, from, kept, repaired } = repair.clone();
        Self { what, found, from, kept, repaired }
    }
}
