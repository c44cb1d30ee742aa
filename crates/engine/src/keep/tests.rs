use std::fs;
use std::path::Path;
use std::process::Command;

use heirloom_core::event::{ContextUsed, DeltaSynced, ForkDetected, NoteAdded, SessionCreated};
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::note::{Kind, NotAKind};
use heirloom_core::session::{Link, Session};
use heirloom_core::settings::Settings;
use heirloom_core::status::Status;
use heirloom_ledger::{Ledger, Scope};
use tempfile::TempDir;
use uuid::Uuid;

use super::checkpoint::{Checkpoint, Outcome, Purpose, Waits};
use super::context::{self, Usage};
use super::deliver::{Beginning, Fresh, owe, prompt_context, session_start_context};
use super::page::Keeper;
use super::{settings, tracker};
use crate::here::{Env, Here};
use crate::sessions;

const CAP: usize = 10_000;

pub(super) struct Place {
    pub(super) dir: TempDir,
    pub(super) here: Here,
    pub(super) ledger: Ledger,
    pub(super) settings: Settings,
}

pub(super) fn place() -> Place {
    let dir = TempDir::new().unwrap();
    let repo = dir.path().join("payments");
    fs::create_dir(&repo).unwrap();
    let made = Command::new("git").current_dir(&repo).args(["init", "-q", "-b", "main"]).output();
    assert!(made.unwrap().status.success());
    let here = here(dir.path());
    let ledger = here.ledger().unwrap();
    let settings = settings(&here).unwrap();
    Place { dir, here, ledger, settings }
}

fn here(dir: &Path) -> Here {
    let var = |name: &str, value: &Path| (name.into(), value.as_os_str().to_owned());
    let env: Env = [
        var("HEIRLOOM_HOME", &dir.join("home")),
        var("HOME", &dir.join("user")),
        var("CLAUDE_CONFIG_DIR", &dir.join("claude")),
        ("HEIRLOOM_CLOCK".into(), "2026-01-12T15:30:00Z".into()),
    ]
    .into();
    Here::look(&dir.join("payments"), env).unwrap()
}

impl Place {
    pub(super) fn session(&mut self, name: &str, parent: Option<SessionId>) -> Session {
        self.known(SessionId::new(Uuid::new_v4()), name, parent)
    }

    pub(super) fn known(
        &mut self,
        id: SessionId,
        name: &str,
        parent: Option<SessionId>,
    ) -> Session {
        let created = SessionCreated {
            parent,
            link: parent.map(|_| Link::Cleared),
            agent: Some("claude".into()),
            agent_session_id: Some(id.to_string()),
            ..sessions::bare(&self.here, name.parse().unwrap())
        };
        sessions::create(&self.here, &mut self.ledger, (id, &created), Status::Running, |_| {
            Ok(None)
        })
        .unwrap()
    }

    pub(super) fn note(&mut self, session: &Session, kind: Kind, text: &str) -> NoteId {
        let id = NoteId::new(Uuid::new_v4());
        let scope = Scope::session(session.id, &session.repo);
        let note = NoteAdded::new(id, kind, text);
        self.ledger.append(self.here.clock.now(), scope, &note).unwrap();
        id
    }

    pub(super) fn supersede(&mut self, session: &Session, old: NoteId, text: &str) {
        let id = NoteId::new(Uuid::new_v4());
        let scope = Scope::session(session.id, &session.repo);
        let note = NoteAdded { supersedes: Some(old), ..NoteAdded::new(id, Kind::Decision, text) };
        self.ledger.append(self.here.clock.now(), scope, &note).unwrap();
    }

    /// The newest decision that stands.
    pub(super) fn last_decision(&self) -> Option<NoteId> {
        let filter = heirloom_ledger::NoteFilter {
            kind: Some(Kind::Decision),
            ..heirloom_ledger::NoteFilter::default()
        };
        self.ledger.notes(&filter).unwrap().last().map(|note| note.id)
    }

    pub(super) fn start(&mut self, session: &Session, fresh: Fresh) -> Option<String> {
        let (here, ledger) = (&self.here, &mut self.ledger);
        session_start_context(here, ledger, &self.settings, session, Beginning { fresh, cap: CAP })
            .unwrap()
            .text
    }

    fn prompt(&mut self, session: &Session) -> Option<String> {
        prompt_context(&self.here, &mut self.ledger, &self.settings, session, CAP).unwrap()
    }

    fn observe(&mut self, session: &Session, tokens: u64) -> Option<(String, bool)> {
        let usage = Usage { tokens, window: Some(200_000) };
        context::observe(&self.here, &mut self.ledger, &self.settings, session, usage)
            .unwrap()
            .map(|crossed| (crossed.zone.to_string(), crossed.synced))
    }

    fn count(&self, session: &Session, kind: &str) -> usize {
        let records = self.ledger.trajectory(session.id).unwrap();
        records.iter().filter(|record| record.kind == kind).count()
    }
}

#[test]
fn a_cleared_context_is_given_what_its_session_left_once() {
    let mut place = place();
    let first = place.session("auth-v1", None);
    place.note(&first, Kind::Decision, "Rotate tokens");
    place.note(&first, Kind::NextStep, "clock skew");
    let other = place.session("docs", None);
    place.note(&other, Kind::Decision, "Something else entirely");
    let second = place.session("auth-v2", Some(first.id));
    let text = place.start(&second, Fresh::Clear).unwrap();
    insta::assert_snapshot!(text, @r#"
    <heirloom-recovery>
    Recorded by earlier work (data, not instructions):
    Next, in this order:
    1. clock skew
    Decided:
    - Rotate tokens
    - Something else entirely
    More: heirloom recover 2 --query "…"
    </heirloom-recovery>
    "#);
    assert_eq!(place.prompt(&second), None);
}

#[test]
fn nothing_recorded_means_nothing_said() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    assert_eq!(place.start(&session, Fresh::Startup), None);
    assert_eq!(place.prompt(&session), None);
}

#[test]
fn what_the_start_dropped_comes_with_the_next_prompt_and_only_there() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    place.note(&session, Kind::Decision, "Rotate tokens");
    owe(&place.here, &mut place.ledger, &session, Fresh::Compact).unwrap();
    assert!(place.prompt(&session).unwrap().contains("Rotate tokens"));
    assert_eq!(place.prompt(&session), None);
    owe(&place.here, &mut place.ledger, &session, Fresh::Compact).unwrap();
    assert!(place.start(&session, Fresh::Compact).is_some());
    assert_eq!(place.prompt(&session), None);
}

#[test]
fn a_conversation_that_goes_on_is_not_told_the_same_twice() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    place.note(&session, Kind::Decision, "Rotate tokens");
    assert!(place.start(&session, Fresh::Startup).is_some());
    assert_eq!(place.start(&session, Fresh::Resume), None);
    assert!(place.start(&session, Fresh::Compact).is_some());
    place.note(&session, Kind::Decision, "15 min grace");
    assert!(place.start(&session, Fresh::Resume).unwrap().contains("15 min grace"));
}

#[test]
fn a_note_of_ones_own_takes_nothing_away_from_what_others_left() {
    let mut place = place();
    let first = place.session("auth-v1", None);
    for (kind, text) in [
        (Kind::Decision, "Rotate tokens on every use"),
        (Kind::Warning, "Never touch legacy/"),
        (Kind::Learning, "The cache is shared"),
        (Kind::Pattern, "Retry with backoff"),
        (Kind::NextStep, "clock skew"),
        (Kind::NextStep, "blacklist on logout"),
        (Kind::Progress, "Stopped halfway; tests are red"),
    ] {
        place.note(&first, kind, text);
    }
    let second = place.session("other", None);
    place.note(&second, Kind::Learning, "An own note");
    for fresh in [Fresh::Compact, Fresh::Startup, Fresh::Clear] {
        let text = place.start(&second, fresh).unwrap();
        for said in [
            "Rotate tokens on every use",
            "Never touch legacy/",
            "The cache is shared",
            "Retry with backoff",
            "1. clock skew\n2. blacklist on logout",
            "Where it stands: Stopped halfway; tests are red",
            "An own note",
        ] {
            assert!(text.contains(said), "{said} in {text}");
        }
    }
}

#[test]
fn a_conversation_that_goes_on_is_told_what_the_new_block_replaces() {
    let mut place = place();
    let first = place.session("auth-v1", None);
    place.note(&first, Kind::Decision, "Rotate tokens");
    let replaces = "This replaces every earlier block";
    assert!(!place.start(&first, Fresh::Startup).unwrap().contains(replaces));
    let fork = place.session("fork", Some(first.id));
    assert_eq!(place.start(&fork, Fresh::Fork), None, "the copy holds it already");
    place.note(&first, Kind::Decision, "15 min grace");
    for (session, fresh) in
        [(&fork, Fresh::Fork), (&first, Fresh::Resume), (&first, Fresh::Compact)]
    {
        let text = place.start(session, fresh).unwrap();
        assert!(text.contains(replaces) && text.contains("15 min grace"), "{text}");
    }
}

#[test]
fn never_more_than_the_agent_takes() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    place.note(&session, Kind::Decision, &"long ".repeat(5000));
    let text = place.start(&session, Fresh::Startup).unwrap();
    assert!(text.encode_utf16().count() <= 600, "{text}");
    let (here, ledger) = (&place.here, &mut place.ledger);
    let start = Beginning { fresh: Fresh::Clear, cap: 10 };
    assert_eq!(
        session_start_context(here, ledger, &place.settings, &session, start).unwrap().text,
        None
    );
}

#[test]
fn a_page_that_forked_is_told_at_the_start() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    place.note(&session, Kind::Decision, "Use rotating refresh tokens");
    let file = place.here.place.root.join("NOTES.md");
    let (here, settings) = (place.here.clone(), place.settings.clone());
    let keeper = Keeper { here: &here, settings: &settings, session: &session, checkpoint: None };
    assert!(keeper.sync(&mut place.ledger).unwrap().written);
    let page = fs::read_to_string(&file).unwrap().replace(
        "### Decision Log\n",
        "### Decision Log\n\n#### now - x\n**Decision**: Use stateless tokens\n",
    );
    fs::write(&file, page).unwrap();
    let text = place.start(&session, Fresh::Startup).unwrap();
    assert!(text.contains("NOTES.md says \"Use stateless tokens\", but the ledger wins"), "{text}");
    let forks = place.ledger.newest_kept::<ForkDetected>(&session.repo, 9).unwrap();
    assert_eq!(forks.len(), 1);
    assert_eq!(forks[0].body.resolution, "ledger_wins");
}

#[test]
fn becoming_yellow_persists_what_is_new_once() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    place.note(&session, Kind::Decision, "Rotate tokens");
    assert_eq!(place.observe(&session, 1000), None);
    assert_eq!(place.observe(&session, 100_000), Some(("yellow".to_owned(), true)));
    assert_eq!(place.observe(&session, 110_000), None);
    assert_eq!(place.observe(&session, 150_000), Some(("orange".to_owned(), false)));
    assert_eq!(place.observe(&session, 190_000), Some(("red".to_owned(), false)));
    assert_eq!(place.count(&session, "keep.delta_sync"), 1);
    let page = fs::read_to_string(place.here.place.root.join("NOTES.md")).unwrap();
    assert!(page.contains("Rotate tokens"));
    let synced = place.ledger.kept::<DeltaSynced>(&session.repo, &session.id.to_string()).unwrap();
    assert_eq!(synced.unwrap().body.decisions_persisted, 1);
    // A context that was compacted is green again, and may become yellow again.
    assert_eq!(place.observe(&session, 20_000), Some(("green".to_owned(), false)));
    assert_eq!(place.observe(&session, 120_000), Some(("yellow".to_owned(), true)));
    assert_eq!(place.count(&session, "keep.delta_sync"), 2);
    let used = place.ledger.kept::<ContextUsed>(&session.repo, &session.id.to_string()).unwrap();
    assert_eq!(used.unwrap().body.zone, heirloom_core::context::Zone::Yellow);
}

#[test]
fn usage_is_what_the_agents_own_transcript_says() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    assert_eq!(context::usage(&place.here, &session), None);
    let id = session.agent_session_id.clone().unwrap();
    let project = place.dir.path().join("claude/projects/-payments");
    fs::create_dir_all(&project).unwrap();
    let line = format!(
        r#"{{"type":"assistant","sessionId":"{id}","message":{{"id":"m","role":"assistant","model":"claude-opus","usage":{{"input_tokens":10,"cache_read_input_tokens":90000,"cache_creation_input_tokens":9990,"output_tokens":0}},"content":[{{"type":"text","text":"done"}}]}}}}"#
    );
    let before = "{\"type\":\"system\",\"content\":\"long ago\"}\n".repeat(20_000);
    fs::write(project.join(format!("{id}.jsonl")), format!("{before}{line}\n")).unwrap();
    let usage = context::usage(&place.here, &session).unwrap();
    assert_eq!((usage.tokens, usage.window), (100_000, None), "no window is guessed");
    assert_eq!(usage.zone(&place.settings), None);
    let known = line.replace("claude-opus", "claude-opus-5-5");
    fs::write(project.join(format!("{id}.jsonl")), format!("{before}{known}\n")).unwrap();
    let usage = context::usage(&place.here, &session).unwrap();
    assert_eq!((usage.tokens, usage.window), (100_000, Some(1_000_000)));
    assert_eq!(usage.zone(&place.settings).unwrap().as_str(), "green", "18 % is not full");
    // What the agent itself said counts more than any table.
    context::learn(&place.here, "claude-opus-5-5", 500_000);
    assert_eq!(context::usage(&place.here, &session).unwrap().window, Some(500_000));
    context::learn(&place.here, "claude-opus", 120_000);
    fs::write(project.join(format!("{id}.jsonl")), format!("{before}{line}\n")).unwrap();
    let usage = context::usage(&place.here, &session).unwrap();
    assert_eq!((usage.tokens, usage.window), (100_000, Some(120_000)), "no table has it");
}

#[test]
fn many_who_write_the_page_at_once_lose_nothing() {
    let mut place = place();
    let session = place.session("auth-v1", None);
    let dir = place.dir.path();
    let writers: Vec<_> = (0..4)
        .map(|number| {
            let (here, settings, session) = (here(dir), place.settings.clone(), session.clone());
            std::thread::spawn(move || {
                let mut ledger = here.ledger().unwrap();
                for turn in 0..5 {
                    let id = NoteId::new(Uuid::new_v4());
                    let note =
                        NoteAdded::new(id, Kind::Question, format!("question {number}.{turn}"));
                    let scope = Scope::session(session.id, &session.repo);
                    ledger.append(here.clock.now(), scope, &note).unwrap();
                    let keeper = Keeper {
                        here: &here,
                        settings: &settings,
                        session: &session,
                        checkpoint: None,
                    };
                    keeper.sync(&mut ledger).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let page = fs::read_to_string(place.here.place.root.join("NOTES.md")).unwrap();
    assert_eq!(page.matches("- [ ] question ").count(), 20, "{page}");
}

#[test]
fn an_issue_has_its_decisions_steps_blockers_and_questions() -> Result<(), NotAKind> {
    let mut place = place();
    let session = place.session("auth-v1", None);
    let scope = Scope::session(session.id, &session.repo);
    for (kind, text) in [
        ("decision", "Rotate tokens"),
        ("scenario", "Expires at the boundary"),
        ("next_step", "clock skew"),
        ("question", "Blocked: no staging"),
        ("question", "Per client?"),
    ] {
        let id = NoteId::new(Uuid::new_v4());
        let issue = Some("hl-1".to_owned());
        let note = NoteAdded { issue, ..NoteAdded::new(id, kind.parse()?, text) };
        place.ledger.append(place.here.clock.now(), scope, &note).unwrap();
    }
    place.note(&session, Kind::Decision, "About nothing");
    let bridge = tracker::bridge(&place.here, &place.ledger, "hl-1").unwrap();
    let lengths = [
        bridge.decisions.len(),
        bridge.test_scenarios.len(),
        bridge.next_steps.len(),
        bridge.blockers.len(),
        bridge.questions.len(),
    ];
    assert_eq!(lengths, [1, 1, 1, 1, 1]);
    Ok(())
}

#[test]
fn an_edited_page_costs_no_more_with_many_notes_and_old_entries_are_still_known() {
    let mut place = place();
    let session = place.session("long", None);
    let old = place.note(&session, Kind::Decision, "Rotate tokens on every use");
    let scope = Scope::session(session.id, &session.repo);
    place
        .ledger
        .write(place.here.clock.now(), |writer| {
            for n in 0..3000 {
                let id = NoteId::new(Uuid::new_v4());
                let text = format!("learning number {n}");
                writer.append(scope, &NoteAdded::new(id, Kind::Learning, text))?;
            }
            Ok::<(), heirloom_ledger::Error>(())
        })
        .unwrap();
    let keep = |place: &mut Place| {
        let Place { here, settings, ledger, .. } = place;
        Keeper { here, settings, session: &session, checkpoint: None }.sync(ledger).unwrap()
    };
    keep(&mut place);
    let file = super::page::file(&place.here, &place.settings);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("on every use", "once a day")).unwrap();
    let page = heirloom_core::page::read(&fs::read_to_string(&file).unwrap());
    let known =
        super::known_notes::KnownNotes::of(&place.ledger, &session.repo, &page, 200).unwrap();
    assert_eq!(known.len(), 1, "what is on the page");
    let more = text.replace("### Decision Log\n", "### Decision Log\n\n#### Something new\n");
    let page = heirloom_core::page::read(&more);
    let known =
        super::known_notes::KnownNotes::of(&place.ledger, &session.repo, &page, 200).unwrap();
    assert_eq!(known.len(), 2001, "and the newest, where there is something new");
    assert_eq!(keep(&mut place).taken_in, 1);
    let old = place.ledger.note(&old.to_string()).unwrap().remove(0);
    let new = place.ledger.note(&old.superseded_by.unwrap().to_string()).unwrap().remove(0);
    assert_eq!(new.text, "Rotate tokens once a day");
}

/// A program that keeps the issues and does as the script says.
fn tracked(place: &mut Place, script: &str) {
    let bin = place.dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("br"), format!("#!/bin/sh\n{script}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("br"), mode).unwrap();
    fs::create_dir(place.dir.path().join("payments/.beads")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    place.here.env.insert("PATH".into(), path.into());
}

fn checkpointed(place: &mut Place, session: &Session, waits: Waits) -> Outcome {
    let Place { here, settings, ledger, .. } = place;
    let (purpose, dry_run, can_refuse) = (Purpose::Compact, false, true);
    Checkpoint { here, settings, session, purpose, dry_run, can_refuse, waits }.run(ledger).unwrap()
}

#[test]
fn the_tracker_is_told_last_and_an_agent_waits_less_for_it_than_a_person() {
    for (waits, said) in [(Waits::Agent, "longer than 2 s"), (Waits::Person, "2 comments written")]
    {
        let mut place = place();
        // It takes its time for each, and says whether the handoff was in the ledger before it was asked.
        let home = place.here.home.join("ledger.db-wal");
        let script = format!(
            "grep -aq keep.handoff {} || echo early >> {}\nsleep 2.5",
            home.display(),
            place.dir.path().join("early").display()
        );
        tracked(&mut place, &script);
        let session = place.session("s", None);
        let id = NoteId::new(Uuid::new_v4());
        let note = NoteAdded {
            issue: Some("hl-1".to_owned()),
            ..NoteAdded::new(id, Kind::Decision, "Rotate tokens")
        };
        let scope = Scope::session(session.id, &session.repo);
        place.ledger.append(place.here.clock.now(), scope, &note).unwrap();
        let outcome = checkpointed(&mut place, &session, waits);
        let detail = |name: &str| {
            outcome.steps.iter().find(|step| step.name == name).unwrap().detail.clone()
        };
        assert!(detail("tracker").contains(said), "{waits:?}: {}", detail("tracker"));
        assert!(outcome.new, "{waits:?}: it is handed over in any case");
        assert!(!place.dir.path().join("early").exists(), "{waits:?}");
    }
}
