//! Long answers, a page at a time.

use std::ffi::OsStr;
use std::io::Write;
use std::process::Stdio;

use heirloom_engine::here::Here;
use heirloom_repo::child;

use crate::printer;

/// What shows long answers: `HEIRLOOM_PAGER`, `PAGER`, or less. Nothing where nobody looks, or where the person wants none.
pub(crate) fn choose(here: &Here) -> Option<String> {
    if !printer::is_terminal() {
        return None;
    }
    let told =
        ["HEIRLOOM_PAGER", "PAGER"].into_iter().find_map(|name| here.env.get(OsStr::new(name)));
    let told = told.map(|value| value.to_string_lossy().trim().to_owned());
    let usual = || has_less(here).then(|| "less".to_owned());
    told.map_or_else(usual, Some).filter(|pager| is_one(pager))
}

fn has_less(here: &Here) -> bool {
    let path = here.env.get(OsStr::new("PATH"));
    path.is_some_and(|path| std::env::split_paths(path).any(|dir| dir.join("less").is_file()))
}

/// `cat`, and nothing, are how people say that they want no pager.
fn is_one(pager: &str) -> bool {
    !pager.is_empty() && pager != "cat"
}

/// Shows a text that is longer than the screen; false where it is not, or where the pager could not be started.
pub(crate) fn show(pager: &str, text: &str) -> bool {
    let rows = terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0));
    if text.lines().count() < rows {
        return false;
    }
    // As a shell would read it: people write `less -R` there.
    let mut command = child::shell(pager);
    command.stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // Somebody who has seen enough closes it.
        let _ = stdin.write_all(&printer::for_pager(&format!("{text}\n")));
    }
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_can_want_none() {
        assert_eq!(["less -R", "cat", ""].map(is_one), [true, false, false]);
    }
}
