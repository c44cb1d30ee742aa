//! From the settings' `evidence` to what has to be true.

use super::policy::Problem;
use super::requirement::Evidence;
use crate::settings::{self as form, Either, OneOrMany, Period};

/// How many seconds a command may take where its settings do not say.
const TIMEOUT: u64 = 60;

/// What has to be true for the requirement called `name`.
pub(super) fn evidence(
    name: &str,
    items: Option<&OneOrMany<Either<String, form::Evidence>>>,
) -> Result<Vec<Evidence>, Problem> {
    let items = items.map_or(&[][..], OneOrMany::items);
    let none = || {
        let hint = Some("file: …, command: … or diff: true".to_owned());
        Problem::at(name, "evidence", "evidence is a file, a command or a diff".to_owned(), hint)
    };
    let read = |item: &Either<String, form::Evidence>| match item {
        Either::First(word) => (word == "diff").then(|| Evidence::Diff { paths: Vec::new() }),
        Either::Second(item) => one(item),
    };
    items.iter().map(|item| read(item).ok_or_else(none)).collect()
}

fn one(item: &form::Evidence) -> Option<Evidence> {
    if let Some(run) = &item.command {
        let timeout = item.timeout.map_or(TIMEOUT, Period::as_secs);
        return Some(Evidence::Command { run: run.clone(), timeout });
    }
    if let Some(diff) = &item.diff {
        let paths = match diff {
            Either::First(_) => Vec::new(),
            Either::Second(paths) => paths.items().to_vec(),
        };
        return Some(Evidence::Diff { paths });
    }
    let paths = all([&item.file, &item.dirs]);
    let mut markers = all([&item.marker, &item.require_markers]);
    match &item.require_verdict {
        None | Some(Either::First(false)) => {}
        Some(Either::First(true)) => markers.push("verdict".to_owned()),
        Some(Either::Second(verdicts)) => markers.extend_from_slice(verdicts.items()),
    }
    let max_age = item.max_age.or(item.max_age_seconds).map(Period::as_secs);
    (!paths.is_empty()).then_some(Evidence::File { paths, markers, max_age })
}

/// What two keys say together.
pub(super) fn all(keys: [&Option<OneOrMany<String>>; 2]) -> Vec<String> {
    keys.into_iter().flatten().flat_map(OneOrMany::items).cloned().collect()
}
