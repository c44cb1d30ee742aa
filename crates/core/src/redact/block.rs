//! Finds private keys in armour: PEM, OpenSSH, PGP and `PuTTY`, also cut off before their
//! end, quoted in a mail or a diff, or on one line with `\n` written out as in JSON.

use std::ops::Range;

use super::finding::{Candidate, Rank};
use super::set::{BASE64_PAD, Set};

/// The least key material that makes a block worth hiding: prose only names the armour.
const LEAST: usize = 16;
const END: &[u8] = b"-----END";

/// A block at `-----BEGIN`.
pub(super) fn armoured(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let dashes = Set::of(b"-").run_back(text, hit.start, 8);
    let label = Set::run(LABEL, text, hit.end);
    let name = &text[hit.end..label];
    if !contains(name, b"PRIVATE KEY") && !contains(name, b"SECRET KEY") {
        return None;
    }
    let body = Set::of(b"-").run(text, label);
    let next = position(&text[body..], b"-----BEGIN").map_or(text.len(), |n| body + n);
    let end = match position(&text[body..next], END) {
        Some(n) if has_material(&text[body..body + n]) => line_of_end(text, body + n),
        Some(_) => return None,
        None => cut_off(&text[..next], body)?,
    };
    Some(Candidate::new("private-key", dashes..end, Rank::Block))
}

/// The private lines of a `PuTTY` key file, after `Private-Lines:`.
pub(super) fn putty(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let count = Set::of(b" 0123456789").run(text, hit.end);
    let end = cut_off(text, count)?;
    Some(Candidate::new("private-key", count..end, Rank::Block))
}

const LABEL: Set = Set::of(b" ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

fn line_of_end(text: &[u8], at: usize) -> usize {
    let label = Set::run(LABEL, text, at + END.len());
    Set::of(b"-").run(text, label)
}

/// Follows the lines of a key without an end, and returns where the last of them ends.
fn cut_off(text: &[u8], from: usize) -> Option<usize> {
    let (mut at, mut end) = (from, from);
    while let Some(line) = next_line(text, at) {
        let stop = BASE64_PAD.run(text, line);
        let rest = &text[stop..];
        if rest.starts_with(b": ") || rest.starts_with(b"-") && is_header(&text[line..]) {
            at = rest.iter().position(|&b| b == b'\n').map_or(text.len(), |n| stop + n);
        } else if stop - line >= LEAST || (stop > line && ends_line(rest)) {
            (at, end) = (stop, stop);
        } else {
            break;
        }
    }
    has_material(&text[from..end]).then_some(end)
}

fn ends_line(rest: &[u8]) -> bool {
    rest.first().is_none_or(|b| b.is_ascii_whitespace() || b"\\\"'`".contains(b))
}

/// `Proc-Type: 4,ENCRYPTED`, `DEK-Info: …`.
fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"Proc-Type:") || line.starts_with(b"DEK-Info:")
}

/// Skips the end of a line, real or written out, and the quoting before the next one.
fn next_line(text: &[u8], at: usize) -> Option<usize> {
    let mut now = at;
    let mut broken = false;
    loop {
        now += match text.get(now..)? {
            [b'\n' | b'\r' | b' ' | b'\t', ..] => 1,
            [b'\\', b'n' | b'r', ..] => 2,
            [b'\\', b'\\', b'n' | b'r', ..] => 3,
            [b'>' | b'|' | b'+' | b'"' | b'\'' | b',', ..] if broken => 1,
            [] => return None,
            _ => break,
        };
        broken = true;
    }
    broken.then_some(now)
}

fn has_material(body: &[u8]) -> bool {
    let mut at = 0;
    while at < body.len() {
        let end = BASE64_PAD.run(body, at);
        if end - at >= LEAST && !super::judge::is_mask(&body[at..end]) {
            return true;
        }
        at = end + 1;
    }
    false
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    position(text, part).is_some()
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|w| w == part)
}
