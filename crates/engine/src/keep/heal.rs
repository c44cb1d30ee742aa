//! Healing: missing or damaged state is found and repaired.
//!
//! What the ledger knows is rendered from it. What only people wrote comes from the index, or the
//! last commit that had it. A template is used only where nothing else is left. The damaged copy is
//! kept, and what is reported is what happened.
//!
//! The ledger itself has no other source: of a damaged one, what can still be read is taken over.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use heirloom_core::event::{PageWritten, SelfHealed};
use heirloom_core::page;
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_core::yaml;
use heirloom_ledger::{Error, Gap, Ledger, NoteFilter, Notice, Options, Problem, Progress, Scope};
use heirloom_repo::file;
use heirloom_repo::{FileError, git, make_private_dir, replace_private, write_within};
use serde::Serialize;

use super::KeepError;
use super::base::Base;
use super::page::Keeper;
use crate::here::Here;

/// What a page is made from where nothing is known of it.
const TEMPLATE: &str = "a template";

/// The repository's settings.
const CONFIG: &str = ".heirloom/config.yaml";

/// Files that are repaired from git alone, where git has them.
const TRACKED: [&str; 2] = [CONFIG, ".beads/issues.jsonl"];

/// Something that was found damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    pub what: String,
    /// What is wrong with it.
    pub found: String,
    /// What it was, or would be, repaired from. There is nothing where a new one was begun, and where only a person can
    /// correct it.
    pub from: Option<String>,
    /// Where the damaged copy is.
    pub kept: Option<String>,
    /// Whether it is repaired now.
    pub repaired: bool,
}

/// What is wrong with a file that is repaired from git, if anything is: settings have to be YAML besides.
fn ailment_of(name: &str, bytes: Option<&[u8]>) -> Option<String> {
    let found = ailment(bytes).map(str::to_owned);
    if found.is_some() || name != CONFIG {
        return found;
    }
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok())?;
    let first = yaml::parse(text, 0).err()?.into_iter().next()?;
    let fault = first.fault.to_string();
    let fault = fault.trim_start_matches("not valid YAML: ");
    Some(format!("not valid YAML (line {}: {fault})", first.at.line))
}

/// What is wrong with a file, if anything is.
fn ailment(bytes: Option<&[u8]>) -> Option<&'static str> {
    let Some(bytes) = bytes else { return Some("missing") };
    if bytes.is_empty() {
        return Some("empty");
    }
    match std::str::from_utf8(bytes) {
        Err(_) => Some("not UTF-8"),
        Ok(text) if text.contains('\0') => Some("not text"),
        Ok(text) if text.trim().is_empty() => Some("only white space"),
        Ok(text) if page::is_truncated(text) => Some("cut off"),
        Ok(_) => None,
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    heirloom_repo::read_bytes(path)
}

/// Finds what is damaged, and changes nothing: where there is no ledger, none is made. Where the ledger
/// is damaged, nothing else can be judged.
pub fn check(
    here: &Here,
    settings: Option<&Settings>,
    progress: &mut Progress<'_>,
) -> Result<Vec<Repair>, KeepError> {
    let problems = Ledger::examine(&here.home, progress)?;
    if let Some(found) = described(&problems) {
        let from = Some("what can still be read of it".to_owned());
        let what = "the ledger".to_owned();
        return Ok(vec![Repair { what, found, from, kept: None, repaired: false }]);
    }
    let mut repairs: Vec<Repair> = Ledger::set_aside_in(&here.home)
        .into_iter()
        .map(|aside| Repair {
            what: "the ledger".to_owned(),
            found: "set aside, damaged".to_owned(),
            from: Some("what can still be read of it".to_owned()),
            kept: Some(aside.to_string_lossy().into_owned()),
            repaired: false,
        })
        .collect();
    let ledger = Ledger::exists_in(&here.home).then(|| here.ledger()).transpose()?;
    repairs.extend(Healer { here, settings, check: true }.find(ledger.as_ref())?);
    Ok(repairs)
}

/// What is wrong with a ledger, in a few words.
fn described(problems: &[Problem]) -> Option<String> {
    let first = problems.first()?;
    let first = if first.host.is_empty() { first.detail.clone() } else { first.to_string() };
    Some(match problems.len() {
        1 => format!("damaged ({first})"),
        more => format!("damaged ({first}; and {} more)", more - 1),
    })
}

/// The ledger after it was healed, and what that came to.
#[derive(Debug)]
pub struct Opened {
    /// The ledger, which can be used.
    pub ledger: Ledger,
    /// What was repaired of it.
    pub repairs: Vec<Repair>,
    /// The records of it that are gone.
    pub missing: Vec<Gap>,
}

/// Opens the ledger, a new one in place of a damaged one, and takes over what can still be read of
/// those that were set aside.
pub fn open(here: &Here, progress: &mut Progress<'_>) -> Result<Opened, KeepError> {
    let (mut repairs, mut missing) = attended(here)?;
    let problems = Ledger::examine(&here.home, progress)?;
    let found = described(&problems);
    if let Some(found) = &found {
        match Ledger::set_aside(&here.home, found) {
            Error::Damaged { set_aside: Some(_), .. } => {}
            stays => return Err(stays.into()),
        }
    }
    let mut ledger = match here.ledger() {
        // Somebody damaged it just now; it is set aside.
        Err(Error::Damaged { set_aside: Some(_), .. }) => here.ledger()?,
        opened => opened?,
    };
    let asides = Ledger::set_aside_in(&here.home);
    let newest = asides.last().cloned();
    for aside in asides {
        // Older states of the newest one may have what the damage took.
        let copies = if Some(&aside) == newest.as_ref() {
            Ledger::backups_in(&here.home)
        } else {
            Vec::new()
        };
        let copies: Vec<&Path> = copies.iter().map(PathBuf::as_path).collect();
        let saved = ledger.salvage(here.clock.now(), &[&aside], &copies, progress)?;
        missing.extend(saved.missing);
        let kept = put_away(here, &aside)?;
        repairs.push(Repair {
            what: "the ledger".to_owned(),
            found: found.clone().unwrap_or_else(|| "damaged".to_owned()),
            from: source(saved.added),
            kept: Some(kept.to_string_lossy().into_owned()),
            repaired: true,
        });
    }
    missing.sort();
    missing.dedup();
    Ok(Opened { ledger, repairs, missing })
}

/// What happened to a ledger that is not damaged.
fn attended(here: &Here) -> Result<(Vec<Repair>, Vec<Gap>), KeepError> {
    let (mut repairs, mut missing) = (Vec::new(), Vec::new());
    let notices = match Ledger::attend(&here.home, here.clock.now(), Options::COMMAND) {
        // That is what is repaired next.
        Err(Error::Damaged { .. }) => Vec::new(),
        attended => attended?,
    };
    for notice in notices {
        match notice {
            Notice::CutOff(gap) => {
                repairs.push(noticed("cut off", None));
                missing.push(gap);
            }
            Notice::Copied { from, .. } => {
                repairs.push(noticed("a copy", Some(format!("what it has of host {from}"))));
            }
            // That is repaired below; for a chain that is another one, and for a clock, there is no
            // remedy here.
            Notice::SetAside { .. } | Notice::Rewritten { .. } | Notice::Clock { .. } => {}
        }
    }
    Ok((repairs, missing))
}

/// Something that happened to the ledger, and is taken account of now.
fn noticed(found: &str, from: Option<String>) -> Repair {
    let (what, found) = ("the ledger".to_owned(), found.to_owned());
    Repair { what, found, from, kept: None, repaired: true }
}

fn source(saved: u64) -> Option<String> {
    match saved {
        0 => None,
        1 => Some("1 record of it that could be read".to_owned()),
        saved => Some(format!("{saved} records of it that could be read")),
    }
}

/// Moves a damaged ledger and its log to the other damaged copies.
fn put_away(here: &Here, aside: &Path) -> Result<PathBuf, FileError> {
    let directory = here.home.join("damaged");
    file::create_dir_all(&directory)?;
    let stamp = here.clock.now().strftime("%Y%m%dT%H%M%S").to_string();
    let mut number = 1;
    let mut place = directory.join(format!("{stamp}-ledger.db"));
    while place.exists() {
        number += 1;
        place = directory.join(format!("{stamp}-{number}-ledger.db"));
    }
    let beside = |path: &Path, suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for suffix in ["-wal", "-shm"] {
        // They need not be there.
        let _ = file::rename(beside(aside, suffix), beside(&place, suffix));
    }
    file::rename(aside, &place)?;
    Ok(place)
}

/// Repairs the repository's settings file, which says where everything else is: before anybody reads it.
pub fn settings_file(here: &Here) -> Result<Option<Repair>, KeepError> {
    Healer { here, settings: None, check: false }.tracked(CONFIG)
}

/// Finds what is damaged beside the ledger, and repairs it. `repairs` are those of the ledger and the settings file,
/// which [`open`] and [`settings_file`] made. Without settings nobody knows which page is meant.
pub fn heal(
    here: &Here,
    ledger: &mut Ledger,
    settings: Option<&Settings>,
    session: &Session,
    mut repairs: Vec<Repair>,
) -> Result<Vec<Repair>, KeepError> {
    let healer = Healer { here, settings, check: false };
    let page = healer.page(Some(ledger))?;
    let mut rest = healer.find_rest(Some(ledger))?;
    // What cannot be repaired was found before.
    rest.retain(|found| repairs.iter().all(|known| known.what != found.what));
    if let (Some((repair, base)), Some(settings)) = (page, settings) {
        healer.restore(ledger, settings, session, base.as_deref())?;
        repairs.push(repair);
    }
    repairs.extend(rest);
    for repair in repairs.iter().filter(|repair| repair.repaired) {
        let body = SelfHealed {
            what: repair.what.clone(),
            found: repair.found.clone(),
            from: repair.from.clone().unwrap_or_else(|| "nothing".to_owned()),
            kept: repair.kept.clone(),
        };
        ledger.append(here.clock.now(), Scope::session(session.id, &session.repo), &body)?;
    }
    Ok(repairs)
}

struct Healer<'a> {
    here: &'a Here,
    settings: Option<&'a Settings>,
    check: bool,
}

impl Healer<'_> {
    fn find(&self, ledger: Option<&Ledger>) -> Result<Vec<Repair>, KeepError> {
        let mut repairs: Vec<Repair> =
            self.page(ledger)?.map(|(repair, _)| repair).into_iter().collect();
        repairs.extend(self.find_rest(ledger)?);
        Ok(repairs)
    }

    /// Everything but the page.
    fn find_rest(&self, ledger: Option<&Ledger>) -> Result<Vec<Repair>, KeepError> {
        let mut repairs = Vec::new();
        for path in TRACKED {
            repairs.extend(self.tracked(path)?);
        }
        repairs.extend(self.index(ledger)?);
        Ok(repairs)
    }

    /// What is wrong with the page, and the text to repair it with.
    fn page(&self, ledger: Option<&Ledger>) -> Result<Option<(Repair, Option<String>)>, KeepError> {
        let Some(settings) = self.settings else { return Ok(None) };
        let name = settings.notes.file.as_str();
        let path = self.here.place.root.join(name);
        let bytes = read(&path)?;
        let Some(found) = ailment(bytes.as_deref()) else {
            return self.without_part(ledger, name, bytes.as_deref());
        };
        let (base, from) = self.source(ledger, name, bytes.as_deref())?;
        // A page that nobody has begun is not damaged, however much the ledger could put on it. Nor is
        // one that git took away with another branch, or that was only ever kept in another checkout.
        if self.check && bytes.is_none() && !self.was_here(name) {
            return Ok(None);
        }
        let kept = self.keep(name, bytes.as_deref())?;
        let what = name.to_owned();
        let found = found.to_owned();
        Ok(Some((Repair { what, found, from: Some(from), kept, repaired: !self.check }, base)))
    }

    /// Whether a page that is missing should be there: git has it, or it was written in this checkout
    /// and git, which never had it, cannot have taken it away.
    fn was_here(&self, name: &str) -> bool {
        let is_written = || Base::read(self.here, name).is_some();
        self.git_has(name).is_some() || (is_written() && !git::ever_had(&self.here.place, name))
    }

    /// A page that heirloom keeps and that has lost the part it keeps: what is left of it stays.
    fn without_part(
        &self,
        ledger: Option<&Ledger>,
        name: &str,
        bytes: Option<&[u8]>,
    ) -> Result<Option<(Repair, Option<String>)>, KeepError> {
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        let lost = text.map(page::read).is_some_and(|page| !page.is_kept && page.blocked.is_none());
        let Some(ledger) = ledger.filter(|_| lost) else { return Ok(None) };
        if ledger.kept::<PageWritten>(&self.here.place.repo, name)?.is_none() {
            return Ok(None);
        }
        let repair = Repair {
            what: name.to_owned(),
            found: format!("without its part \"{}\"", page::TITLE),
            from: Some("the ledger".to_owned()),
            kept: None,
            repaired: !self.check,
        };
        Ok(Some((repair, text.map(str::to_owned))))
    }

    /// What the page is repaired from: the text around the ledger's part, and in words.
    fn source(
        &self,
        ledger: Option<&Ledger>,
        name: &str,
        damaged: Option<&[u8]>,
    ) -> Result<(Option<String>, String), KeepError> {
        let repo = Some(self.here.place.repo.as_str());
        let filter = NoteFilter { repo, limit: Some(1), ..NoteFilter::default() };
        let knows = match ledger {
            Some(ledger) => !ledger.notes(&filter)?.is_empty(),
            None => false,
        };
        let and = if knows { " and the ledger" } else { "" };
        if let Some((text, from)) = self.git_has(name) {
            return Ok((Some(text), format!("{from}{and}")));
        }
        let beginning = damaged.and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(before);
        Ok(match (beginning, knows) {
            (Some(text), _) => (Some(text), "its own beginning and the ledger".to_owned()),
            (None, true) => (None, "the ledger".to_owned()),
            (None, false) => (None, TEMPLATE.to_owned()),
        })
    }

    fn git_has(&self, name: &str) -> Option<(String, String)> {
        let healthy = |bytes: Vec<u8>| {
            let is_healthy = ailment_of(name, Some(&bytes)).is_none();
            is_healthy.then(|| String::from_utf8(bytes).ok()).flatten()
        };
        if let Some(text) = git::staged(&self.here.place, name).and_then(healthy) {
            return Some((text, "the index".to_owned()));
        }
        let (commit, bytes) = git::committed(&self.here.place, name)?;
        let short = commit.get(..8).unwrap_or(&commit).to_owned();
        healthy(bytes).map(|text| (text, format!("commit {short}")))
    }

    fn restore(
        &self,
        ledger: &mut Ledger,
        settings: &Settings,
        session: &Session,
        base: Option<&str>,
    ) -> Result<(), KeepError> {
        let name = settings.notes.file.as_str();
        let root = &self.here.place.root;
        let path = root.join(name);
        let here = self.here;
        // What an older state of the page does not show was not taken off it by anybody.
        Base::forget(here);
        write_within(root, &path, base.unwrap_or("# Notes\n").as_bytes())?;
        Keeper { here, settings, session, checkpoint: None }.sync(ledger)?;
        Ok(())
    }

    fn tracked(&self, name: &str) -> Result<Option<Repair>, KeepError> {
        let path = self.here.place.root.join(name);
        let bytes = read(&path)?;
        let Some(found) = ailment_of(name, bytes.as_deref()) else { return Ok(None) };
        let Some((text, from)) = self.git_has(name) else {
            // What git never had may well be missing or empty on purpose.
            let is_meant = ailment(bytes.as_deref()).is_some();
            let (what, from) = (name.to_owned(), None);
            let repair = Repair { what, found, from, kept: None, repaired: false };
            return Ok((!is_meant).then_some(repair));
        };
        let kept = self.keep(name, bytes.as_deref())?;
        if !self.check {
            write_within(&self.here.place.root, &path, text.as_bytes())?;
        }
        let what = name.to_owned();
        Ok(Some(Repair { what, found, from: Some(from), kept, repaired: !self.check }))
    }

    fn index(&self, ledger: Option<&Ledger>) -> Result<Option<Repair>, KeepError> {
        let path = self.here.home.join("index.db");
        let Some(ledger) = ledger else { return Ok(None) };
        if is_database(&path)? {
            return Ok(None);
        }
        if !self.check {
            ledger.update_index()?;
        }
        Ok(Some(Repair {
            what: "the full-text index".to_owned(),
            found: "damaged".to_owned(),
            from: Some("the ledger".to_owned()),
            kept: None,
            repaired: !self.check,
        }))
    }

    /// Keeps a copy of what is damaged, if there is anything to keep.
    fn keep(&self, name: &str, bytes: Option<&[u8]>) -> Result<Option<String>, KeepError> {
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty() && !self.check) else {
            return Ok(None);
        };
        let stamp = self.here.clock.now().strftime("%Y%m%dT%H%M%S");
        let name = name.replace('/', "-");
        let directory: PathBuf = self.here.home.join("damaged");
        let label = self.here.place.label();
        let mut copy = directory.join(format!("{label}-{stamp}-{name}"));
        let mut number = 1;
        while copy.exists() {
            number += 1;
            copy = directory.join(format!("{label}-{stamp}-{number}-{name}"));
        }
        let cannot = |doing, source| FileError { doing, path: copy.clone(), source };
        make_private_dir(&directory).map_err(|source| cannot("make", source))?;
        replace_private(&copy, bytes).map_err(|source| cannot("write", source))?;
        Ok(Some(copy.to_string_lossy().into_owned()))
    }
}

/// Whether there is nothing at `path`, or a database. Reads its beginning only: the index may be large.
fn is_database(path: &Path) -> Result<bool, FileError> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let mut start = Vec::new();
    let file = match file::open_any(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        opened => opened?,
    };
    let read = file.take(MAGIC.len() as u64).read_to_end(&mut start);
    read.map_err(FileError::new("read", path))?;
    Ok(start == MAGIC)
}

/// What stands in front of the kept part of a page.
fn before(text: &str) -> Option<String> {
    let kept = page::outline(text).into_iter().find(|block| block.title == page::TITLE)?;
    let lines: Vec<&str> = text.lines().take(kept.at).collect();
    let beginning = lines.join("\n");
    (!beginning.trim().is_empty()).then(|| format!("{beginning}\n"))
}
