//! Options, however they are spelled: `-rf` is `-r -f` is `--recursive --force`.

use super::mark::{self, NAME, ONE, STAR};
use super::pattern::Fit;
use crate::guard::glob;

/// What else counts as an option of a rule, by program and subcommand; nothing is any of them.
struct Spelling {
    programs: &'static [&'static str],
    subcommand: Option<&'static str>,
    wanted: &'static [&'static str],
    accepted: &'static [&'static str],
}

const fn spelling(
    programs: &'static [&'static str],
    subcommand: Option<&'static str>,
    wanted: &'static [&'static str],
    accepted: &'static [&'static str],
) -> Spelling {
    Spelling { programs, subcommand, wanted, accepted }
}

/// A refspec that is pushed by force, and one that deletes: what an option would say otherwise.
const FORCED: &str = "+*";
const DELETED: &str = ":*";

const SPELLINGS: &[Spelling] = &[
    spelling(
        &["git"],
        Some("push"),
        &["-f", "--force"],
        &["-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", FORCED],
    ),
    spelling(&["git"], Some("push"), &["-d", "--delete"], &["-d", "--delete", DELETED]),
    spelling(&["git"], Some("push"), &["-n"], &["-n", "--dry-run"]),
    spelling(&["git"], Some("push"), &["-u"], &["-u", "--set-upstream"]),
    spelling(&["git"], Some("commit"), &["-n", "--no-verify"], &["-n", "--no-verify"]),
    spelling(&["git"], Some("branch"), &["-d", "--delete"], &["-d", "-D", "--delete"]),
    spelling(&["git"], Some("branch"), &["-m", "--move"], &["-m", "-M", "--move"]),
    spelling(&["git"], Some("branch"), &["-f", "--force"], &["-f", "-D", "-M", "-C", "--force"]),
    spelling(&["git"], Some("switch"), &["-f", "--force"], &["-f", "--force", "--discard-changes"]),
    spelling(&["git"], None, &["-f", "--force"], &["-f", "--force"]),
    spelling(&["git"], None, &["-d", "--delete"], &["-d", "--delete"]),
    spelling(&["git"], None, &["-a", "--all"], &["-a", "--all"]),
    spelling(&["git"], None, &["-A"], &["-A", "--all"]),
    spelling(&["git"], None, &["-i", "--interactive"], &["-i", "--interactive"]),
    spelling(&["git"], None, &["-m", "--message"], &["-m", "--message"]),
    spelling(&["git"], None, &["-x", "--exec"], &["-x", "--exec"]),
    spelling(
        &["rm", "chmod", "chown", "chgrp", "cp", "grep", "ls", "setfacl", "scp"],
        None,
        &["-r", "-R", "--recursive"],
        &["-r", "-R", "--recursive"],
    ),
    spelling(
        &["rm", "cp", "mv", "ln", "docker", "podman", "npm", "pnpm", "yarn", "cargo"],
        None,
        &["-f", "--force"],
        &["-f", "--force"],
    ),
    spelling(&["npm", "pnpm"], None, &["-g", "--global"], &["-g", "--global", "--location"]),
    spelling(&["docker", "podman"], None, &["-v", "--volume"], &["-v", "--volume", "--mount"]),
    spelling(&["docker", "podman"], None, &["-a", "--all"], &["-a", "--all"]),
    spelling(&["kubectl"], None, &["-f", "--filename"], &["-f", "--filename"]),
    spelling(&["sed", "perl"], None, &["-i", "--in-place"], &["-i", "--in-place"]),
];

/// Programs whose options of several letters begin with one dash.
const ONE_DASH: &[&str] = &[
    "clang",
    "convert",
    "ffmpeg",
    "find",
    "g++",
    "gcc",
    "go",
    "java",
    "javac",
    "openssl",
    "packer",
    "terraform",
    "tofu",
    "vault",
    "xcodebuild",
    "consul",
    "nomad",
];

/// Programs that do not take a shorter spelling of a long option.
const NO_PREFIXES: &[&str] = &["cargo", "docker", "npm", "pnpm", "yarn", "kubectl", "gh", "podman"];

/// Where an option of a rule is looked for.
#[derive(Clone, Copy)]
pub(in crate::guard) struct Of<'a> {
    pub(in crate::guard) program: &'a str,
    pub(in crate::guard) subcommand: Option<&'a str>,
}

/// Whether an option of a rule is given in `words`.
pub(in crate::guard) fn given<'a>(
    wanted: &str,
    of: Of<'_>,
    words: impl Iterator<Item = &'a str> + Clone,
) -> Fit {
    let is_cluster = wanted.len() > 2
        && wanted.len() <= 4
        && !wanted.starts_with("--")
        && wanted[1..].bytes().all(|b| b.is_ascii_alphabetic())
        && !ONE_DASH.contains(&of.program);
    if !is_cluster {
        return one(wanted, of, words);
    }
    let exact = words.clone().take_while(|word| *word != "--").any(|word| word == wanted);
    if exact {
        return Fit::Yes;
    }
    let letters = wanted[1..].chars().map(|letter| one(&format!("-{letter}"), of, words.clone()));
    letters.min().unwrap_or(Fit::No)
}

fn one<'a>(wanted: &str, of: Of<'_>, words: impl Iterator<Item = &'a str>) -> Fit {
    let own = [wanted];
    let accepted = SPELLINGS
        .iter()
        .find(|spelling| {
            spelling.programs.contains(&of.program)
                && spelling.subcommand.is_none_or(|own| of.subcommand == Some(own))
                && spelling.wanted.contains(&wanted)
        })
        .map_or(&own[..], |spelling| spelling.accepted);
    let mut best = Fit::No;
    let mut options_ended = false;
    for word in words {
        for option in accepted {
            if options_ended && option.starts_with('-') {
                continue;
            }
            best = best.max(is(option, of, word));
        }
        options_ended |= word == "--";
    }
    best
}

/// Whether a word is this option: on its own, with a value, in a cluster, or shortened.
fn is(option: &str, of: Of<'_>, word: &str) -> Fit {
    if let Some(sign) = option.strip_suffix('*') {
        // A refspec: what follows the sign does not matter.
        return if word.starts_with(sign) { Fit::Yes } else { hole(word, option) };
    }
    if !mark::is_known(word) {
        let known = word.split(mark::is_hole).next().unwrap_or_default();
        if known.len() > 1 && known.starts_with('-') {
            // `--force-with-lease=$x`, `-f$x`: what is known of it may say enough.
            let fit = is(option, of, known.split('=').next().unwrap_or(known));
            if fit == Fit::Yes && (known.contains('=') || !known.starts_with("--")) {
                return fit;
            }
        }
        return hole(word, option);
    }
    let Some(given) = word.strip_prefix('-') else { return Fit::No };
    if option.contains('=') || option.contains(['*', '?', '[', '{']) {
        return Fit::from(glob::wildcard(option, word));
    }
    let name = word.split('=').next().unwrap_or(word);
    if name == option {
        return Fit::Yes;
    }
    if let Some(long) = option.strip_prefix("--") {
        // GNU's and git's take any beginning that is no other option's.
        let shortened = name.strip_prefix("--").is_some_and(|name| {
            name.len() >= 3 && long.starts_with(name) && !NO_PREFIXES.contains(&of.program)
        });
        return Fit::from(shortened);
    }
    let letter = option.chars().nth(1).filter(|_| option.chars().count() == 2);
    let in_cluster = letter.is_some_and(|letter| {
        !given.starts_with('-')
            && !ONE_DASH.contains(&of.program)
            && letters(of, given).any(|c| c == letter)
    });
    Fit::from(in_cluster)
}

/// The letters of a cluster, up to one that takes the rest as its value.
fn letters<'a>(of: Of<'_>, given: &'a str) -> impl Iterator<Item = char> + 'a {
    let valued: &[char] = match of.program {
        "git" => &['m', 'F', 'C', 'c', 'o', 'S', 'U', 'x'],
        _ => &[],
    };
    let mut has_ended = false;
    given.chars().take_while(move |c| {
        let goes_on = !has_ended && c.is_ascii_alphanumeric();
        has_ended |= valued.contains(c);
        goes_on
    })
}

/// Whether a word that is not all known may be this option. What stands for a file's name or a number
/// is none.
fn hole(word: &str, option: &str) -> Fit {
    let Some(first) = word.chars().next() else { return Fit::No };
    if matches!(first, STAR | ONE | NAME | mark::ROOT) {
        return Fit::No;
    }
    let is_letter = option.chars().count() == 2 && !option.ends_with('*');
    if is_letter && (first == '-' || mark::is_hole(first)) {
        // Any cluster of letters would do.
        let rest = word.chars().filter(|c| !mark::is_hole(*c));
        let only_letters = rest.skip(usize::from(first == '-')).all(|c| c.is_ascii_alphanumeric());
        return if only_letters && !word.starts_with("--") { Fit::Maybe } else { Fit::No };
    }
    if super::pattern::could_be(option, word) { Fit::Maybe } else { Fit::No }
}
