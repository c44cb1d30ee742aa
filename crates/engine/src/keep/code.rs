//! The code of a worktree, as grounding sees it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use heirloom_core::ground::ghost::{self, Pattern, Sighting};
use heirloom_core::ground::{self, Opened, Quote, Search, Sources, Text};
use heirloom_repo::{Place, git};

use crate::evidence::within;

/// The largest file that is opened.
pub(crate) const LARGEST: u64 = 8 << 20;

/// What stands for the root in paths that are written down.
pub const ROOT: &str = "${PROJECT_ROOT}/";

/// How many steps of renaming are followed.
const MOST_STEPS: usize = 50;

/// The code of a worktree.
#[derive(Debug)]
pub struct Code<'a> {
    place: &'a Place,
    real_root: PathBuf,
    /// The page of notes says what is missing, so it must not count as a mention.
    page: &'a str,
    files: OnceCell<Vec<String>>,
    ever: OnceCell<BTreeMap<String, String>>,
    since: HashMap<String, BTreeMap<String, String>>,
    candidates: HashMap<String, Rc<Opened>>,
    reach: u64,
    /// What files were at commits: nothing where git does not say, and no words where there was none.
    past: HashMap<(String, String), Option<Text>>,
    /// The files of each kin that was looked through; none where those are too many.
    surveyed: HashMap<String, Option<Files>>,
}

/// Files with their texts.
type Files = Vec<(String, Text)>;

/// How much of a repository is looked through for a quote that left its file.
const REACH: u64 = 64 << 20;

impl<'a> Code<'a> {
    /// The code at `place`; `page` is the page of notes in it.
    pub fn new(place: &'a Place, page: &'a str) -> Self {
        Self {
            place,
            real_root: fs::canonicalize(&place.root).unwrap_or_else(|_| place.root.clone()),
            page,
            files: OnceCell::new(),
            ever: OnceCell::new(),
            since: HashMap::new(),
            candidates: HashMap::new(),
            reach: REACH,
            past: HashMap::new(),
            surveyed: HashMap::new(),
        }
    }

    /// The same, where there is no time to look through a whole repository.
    pub fn at_a_glance(self) -> Self {
        Self { reach: 0, ..self }
    }

    fn files(&self) -> &[String] {
        self.files.get_or_init(|| git::files(self.place))
    }

    fn read(&self, path: &str) -> Opened {
        let path = path.strip_prefix(ROOT).unwrap_or(path);
        let Some(relative) = within(&self.place.root, &self.place.root, path) else {
            return Opened::Outside;
        };
        read_inside(&self.real_root, &self.place.root.join(relative))
    }

    /// Whether a file is heirloom's own record of the code, and not the code.
    fn is_record(&self, path: &str) -> bool {
        path == self.page || path.starts_with(".beads/") || path.starts_with(".heirloom/")
    }

    /// All files of a kin, unless they are more than is looked through.
    fn all_of(&self, alike: &str) -> Option<Files> {
        let files: Vec<&String> = (self.reach > 0)
            .then(|| self.files().iter())?
            .filter(|path| ground::kin(path) == alike && !self.is_record(path))
            .collect();
        let size = |path: &&String| {
            fs::metadata(self.place.root.join(path)).map_or(0, |metadata| metadata.len())
        };
        if files.iter().map(size).sum::<u64>() > self.reach {
            return None;
        }
        let texts = files.into_iter().filter_map(|path| match self.read(path) {
            Opened::Text(text) => Some((path.clone(), text)),
            _ => None,
        });
        Some(texts.collect())
    }

    /// The name a file has now, step by step.
    fn follow(steps: &BTreeMap<String, String>, path: &str) -> Option<String> {
        let mut name = path;
        for _ in 0..MOST_STEPS {
            match steps.get(name) {
                Some(next) => name = next,
                None => break,
            }
        }
        (name != path).then(|| name.to_owned())
    }
}

/// Opens a file unless it is, or leads, outside of `root`.
fn read_inside(root: &Path, file: &Path) -> Opened {
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Opened::Unreadable,
        Err(_) => return Opened::Missing,
    };
    if !fs::canonicalize(file).is_ok_and(|real| real.starts_with(root)) {
        return Opened::Outside;
    }
    if metadata.is_dir() {
        return Opened::Missing;
    }
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Opened::Unreadable;
    }
    match heirloom_repo::read_text(file) {
        Ok(Some(text)) if !text.contains('\0') => {
            Opened::Text(Text::of(&file.to_string_lossy(), &text))
        }
        _ => Opened::Unreadable,
    }
}

impl Sources for Code<'_> {
    fn open(&mut self, path: &str) -> Rc<Opened> {
        Rc::new(self.read(path))
    }

    fn candidate(&mut self, path: &str) -> Rc<Opened> {
        if let Some(opened) = self.candidates.get(path) {
            return Rc::clone(opened);
        }
        let opened = Rc::new(self.read(path));
        self.candidates.insert(path.to_owned(), Rc::clone(&opened));
        opened
    }

    fn became(&mut self, path: &str, commit: Option<&str>) -> Vec<String> {
        let path = path.strip_prefix(ROOT).unwrap_or(path);
        let since = commit.and_then(|commit| {
            let steps = self.since.entry(commit.to_owned());
            Self::follow(steps.or_insert_with(|| git::renames_since(self.place, commit)), path)
        });
        let named = since.or_else(|| {
            Self::follow(self.ever.get_or_init(|| git::renames_ever(self.place)), path)
        });
        if let Some(named) = named {
            return vec![named];
        }
        // git does not know: a file of the same name elsewhere is the next best guess.
        let name = path.rsplit('/').next().unwrap_or(path);
        let same = |file: &&String| file.rsplit('/').next() == Some(name) && file.as_str() != path;
        self.files().iter().filter(same).cloned().collect()
    }

    fn survey(&mut self, alike: &str, see: &mut dyn FnMut(&str, &Text)) -> bool {
        if !self.surveyed.contains_key(alike) {
            let texts = self.all_of(alike);
            self.surveyed.insert(alike.to_owned(), texts);
        }
        let Some(Some(texts)) = self.surveyed.get(alike) else { return false };
        for (path, text) in texts {
            see(path, text);
        }
        true
    }

    fn had(&mut self, path: &str, quote: Quote<'_>, commit: Option<&str>) -> Option<bool> {
        let commit = commit.unwrap_or("HEAD");
        let key = (commit.to_owned(), path.to_owned());
        let text = self.past.entry(key).or_insert_with(|| {
            let content = git::at(self.place, commit, path)?;
            Some(Text::of(path, &String::from_utf8_lossy(&content)))
        });
        Some(text.as_ref()?.search(quote, 0, 0) != Search::Nowhere)
    }

    fn look_for(&mut self, searches: &[String]) -> Sighting {
        let Ok(patterns) = ghost::patterns(searches) else { return Sighting::default() };
        let mut sighting = Sighting::default();
        for path in self.files() {
            if self.is_record(path) {
                continue;
            }
            let document = is_document(path);
            if !document && sighting.code.is_some() {
                continue;
            }
            let file = self.place.root.join(path);
            if fs::metadata(&file).map_or(true, |metadata| metadata.len() > LARGEST) {
                continue;
            }
            let Ok(Some(text)) = heirloom_repo::read_text(&file) else { continue };
            let Some(line) = first_line(&text, &patterns) else { continue };
            if document {
                sighting.documents += 1;
            } else {
                sighting.code = Some((path.clone(), line));
            }
        }
        sighting
    }
}

fn first_line(text: &str, patterns: &[Pattern]) -> Option<u32> {
    let found = text.lines().position(|line| patterns.iter().any(|pattern| pattern.is_on(line)));
    found.map(|index| u32::try_from(index + 1).unwrap_or(u32::MAX))
}

/// Whether a file says what the code does instead of doing it.
fn is_document(path: &str) -> bool {
    const ENDINGS: [&str; 6] = ["md", "mdx", "rst", "adoc", "txt", "org"];
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}
