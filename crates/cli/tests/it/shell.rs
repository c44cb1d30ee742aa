//! A shell as a reader of the docs has it: heirloom and git, no agent, and a clock that stands still. What differs
//! each time is replaced, so that what is printed can be compared with what was printed before.

use std::collections::HashMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use heirloom_testkit::env::{NOW, TestEnv};

/// Whatever else is installed where the tests run changes what heirloom prints.
const PROGRAMS: [&str; 8] = ["bash", "sh", "git", "mkdir", "cat", "rm", "sed", "env"];

/// A script, ready to be run, with its errors among what it prints.
pub(crate) fn bash(env: &TestEnv, directory: &Path, script: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(directory)
        .env_clear()
        .env("PATH", path(env))
        .env("HOME", env.user())
        .env("HEIRLOOM_HOME", env.home())
        .env("HEIRLOOM_CLOCK", NOW)
        .env("HEIRLOOM_TEST_LINE", "bash|xterm")
        .env("TZ", "UTC")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "ada")
        .env("GIT_AUTHOR_EMAIL", "ada@localhost")
        .env("GIT_COMMITTER_NAME", "ada")
        .env("GIT_COMMITTER_EMAIL", "ada@localhost")
        .stdin(Stdio::null());
    command
}

fn path(env: &TestEnv) -> PathBuf {
    let bin = env.home().with_file_name("bin");
    if bin.is_dir() {
        return bin;
    }
    std::fs::create_dir(&bin).unwrap();
    let outer = std::env::var_os("PATH").unwrap();
    for name in PROGRAMS {
        let mut places = std::env::split_paths(&outer).map(|directory| directory.join(name));
        symlink(places.find(|program| program.is_file()).unwrap(), bin.join(name)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_heirloom"), bin.join("heirloom")).unwrap();
    bin
}

/// Ids differ each time. Each is replaced by one that counts up, of the same length, so that columns stay columns.
pub(crate) fn with_steady_ids(text: &str, known: &mut HashMap<String, String>) -> String {
    let is_id = |word: &str| {
        let hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit()) && !part.is_empty();
        let long = word.len() == 36 && word.split('-').count() == 5 && word.split('-').all(hex);
        // A commit has seven digits. No word that heirloom prints is made of these letters alone.
        let short = (word.len() == 8 || word.len() == 7) && hex(word);
        let issue = word.strip_prefix("hl-").is_some_and(|rest| rest.len() == 3);
        long || short || issue
    };
    let mut steady = String::with_capacity(text.len());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut rest = text;
    while !rest.is_empty() {
        if rest.starts_with('\u{1b}') {
            let (style, after) = rest.split_at(rest.find('m').map_or(rest.len(), |end| end + 1));
            steady.push_str(style);
            rest = after;
            continue;
        }
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if is_id(word) {
            let count = known.len() + 1;
            let made = known.entry(word.to_owned()).or_insert_with(|| match word.len() {
                36 => format!("0199c0de-0000-7000-8000-{count:012x}"),
                6 => format!("hl-{:03}", 400 + count),
                7 => format!("{:07x}", 0x04f2_a000 + count),
                _ => format!("{:08x}", 0x4f2a_0000 + count),
            });
            steady.push_str(made);
        } else {
            steady.push_str(word);
        }
        let next = after.find(|c: char| is_part(c) || c == '\u{1b}').unwrap_or(after.len());
        steady.push_str(&after[..next]);
        rest = &after[next..];
    }
    steady
}

/// How long something took depends on the machine.
pub(crate) fn with_steady_durations(text: &str) -> String {
    let mut steady = String::with_capacity(text.len());
    for word in text.split_inclusive([' ', ',', '\n']) {
        let (minutes, rest) = word.split_once('m').unwrap_or_default();
        let (seconds, end) = rest.split_once('s').unwrap_or_default();
        let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        if is_number(minutes) && is_number(seconds) && seconds.len() == 2 {
            steady.push_str("0m00s");
            steady.push_str(end);
        } else {
            steady.push_str(word);
        }
    }
    steady
}

#[test]
fn only_what_differs_each_time_is_replaced() {
    let mut known = HashMap::new();
    let first = with_steady_ids("hl-x9z waits for hl-135, noted as fade0bad", &mut known);
    assert_eq!(first, "hl-401 waits for hl-402, noted as 4f2a0003");
    assert_eq!(with_steady_ids("hl-135 of 3 records", &mut known), "hl-402 of 3 records");
    let took = with_steady_durations("1  ok 12m07s  $0.00, 0m03s, 3 items");
    assert_eq!(took, "1  ok 0m00s  $0.00, 0m00s, 3 items");
}
