//! Finds credentials in HTTP headers and in the commands that carry them.

use std::ops::Range;

use super::finding::{Candidate, Rank};
use super::judge::{self, Trust};
use super::read;
use super::set::{ALNUM, BASE64_PAD, DIGIT, DOTTED, LETTER, Set};

const CREDENTIAL: Set = DOTTED.and(b"~+/=:|%");

/// `Authorization: [scheme] credential`, in any quoting.
pub(super) fn authorization(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let closed = Set::of(b"\"'\\`] \t*").run(text, hit.end);
    let value = match text.get(closed)? {
        b':' | b'=' | b',' => Set::of(b"\"'\\` \t*>=").run(text, closed + 1),
        _ => return None,
    };
    let word = Set::run(ALNUM.and(b"-"), text, value);
    let scheme = &text[value..word];
    if text.get(word) == Some(&b' ')
        && scheme.iter().all(|&b| LETTER.has(b) || b == b'-' || DIGIT.has(b))
        && !scheme.is_empty()
    {
        let at = Set::of(b" ").run(text, word);
        let at = if text[at..].starts_with(b"token=") { at + 6 } else { at };
        let at = Set::of(b"\"'\\").run(text, at);
        if let Some(found) = credential(text, at, scheme) {
            return Some(found);
        }
    }
    credential(text, value, b"")
}

fn credential(text: &[u8], at: usize, scheme: &[u8]) -> Option<Candidate> {
    let span = at..CREDENTIAL.run(text, at);
    let value = &text[span.clone()];
    let kind = match scheme {
        s if s.eq_ignore_ascii_case(b"bearer") => "bearer-token",
        s if s.eq_ignore_ascii_case(b"basic") => "basic-auth",
        _ => "authorization",
    };
    let told = !scheme.is_empty() && value.len() >= 6 && value.iter().any(|&b| DIGIT.has(b));
    let secret = judge::is_secret(value, Trust::Token)
        || (told && !judge::is_stand_in(value))
        || (kind == "basic-auth" && judge::is_basic_auth(value));
    secret.then(|| Candidate::new(kind, trimmed(text, span), Rank::Header))
}

/// `Bearer credential`, anywhere.
pub(super) fn bearer(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let span = trimmed(text, hit.end..CREDENTIAL.run(text, hit.end));
    judge::is_secret(&text[span.clone()], Trust::Token)
        .then(|| Candidate::new("bearer-token", span, Rank::Header))
}

/// `Basic credential`, anywhere.
pub(super) fn basic(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let span = hit.end..BASE64_PAD.run(text, hit.end);
    judge::is_basic_auth(&text[span.clone()])
        .then(|| Candidate::new("basic-auth", span, Rank::Header))
}

/// Cookies of web statistics: random, but they open nothing.
const COUNTERS: &[&[u8]] = &[b"_ga", b"_gid", b"_gcl", b"_fb", b"__utm"];

/// `Cookie: name=value; …`: every value that looks random.
pub(super) fn cookie(text: &[u8], hit: Range<usize>, found: &mut Vec<Candidate>) {
    let line = text[hit.end..].iter().position(|&b| b == b'\n').unwrap_or(text.len() - hit.end);
    let mut at = hit.end;
    while let Some(equals) = text[at..hit.end + line].iter().position(|&b| b == b'=') {
        let start = at + equals + 1;
        let span = start..Set::run(CREDENTIAL.and(b"!"), &text[..hit.end + line], start);
        at = span.end.max(start);
        let name = text[..start - 1].iter().rposition(|b| b"; :".contains(b)).map_or(0, |n| n + 1);
        let counter = COUNTERS.iter().any(|counter| text[name..].starts_with(counter));
        if !counter && span.len() >= 16 && judge::is_secret(&text[span.clone()], Trust::Token) {
            found.push(Candidate::new("cookie", span, Rank::Header));
        }
    }
}

/// Commands that take a password as an argument, and the flags before it.
const COMMANDS: &[(&[u8], &[&[u8]])] = &[
    (b"curl", &[b" -u ", b" --user ", b" --proxy-user ", b" -U "]),
    (b"wget", &[b" -u "]),
    (b"sshpass", &[b" -p ", b" -p"]),
    (b"docker login", &[b" -p "]),
    (b"redis-cli", &[b" -a "]),
    (b"mysql", &[b" -p"]),
];

/// `curl -u user:password` and its like.
pub(super) fn command(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let name = &text[hit.clone()];
    let (_, flags) = COMMANDS.iter().find(|(command, _)| name.eq_ignore_ascii_case(command))?;
    let stop = text.len().min(hit.end + 400);
    let line = &text[hit.end..stop];
    let line = &line[..line.iter().position(|&b| b == b'\n').unwrap_or(line.len())];
    let (flag, at) = flags.iter().find_map(|flag| {
        line.windows(flag.len()).position(|w| w == *flag).map(|n| (*flag, hit.end + n + flag.len()))
    })?;
    let value = read::value(text, at, false)?.span;
    let paired = flag.starts_with(b" -u") || flag.ends_with(b"user ") || flag == b" -U ";
    let start = match text[value.clone()].iter().position(|&b| b == b':') {
        Some(colon) if paired => value.start + colon + 1,
        _ if paired => return None,
        _ => value.start,
    };
    let trust = if paired || flag.ends_with(b" ") { Trust::Password } else { Trust::LoosePassword };
    judge::is_secret(&text[start..value.end], trust)
        .then(|| Candidate::new("password", start..value.end, Rank::Header))
}

fn trimmed(text: &[u8], span: Range<usize>) -> Range<usize> {
    let tail = text[span.clone()].iter().rev().take_while(|b| b".:|".contains(b)).count();
    span.start..span.end - tail
}
