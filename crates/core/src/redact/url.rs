//! Finds the password in `scheme://user:password@host`. Only the password goes: who
//! connects where is what a reader of the note needs.

use std::ops::Range;

use super::finding::{Candidate, Rank};
use super::judge::{self, Trust};
use super::set::{ALNUM, DIGIT, Set};

/// No user and password together are longer, save tokens that have their own rule.
const LONGEST: usize = 600;

pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Candidate> {
    let scheme = &text[Set::run_back(ALNUM.and(b"+.-"), text, hit.start, 24)..hit.start];
    let start = hit.end;
    let window = &text[start..text.len().min(start + LONGEST)];
    let length = window.iter().position(|&b| ends_url(b)).unwrap_or(window.len());
    let info = user_info(&window[..length], scheme)?;
    let colon = info.iter().position(|&b| b == b':');
    let Some(colon) = colon else {
        return lone_user(text, start..start + info.len());
    };
    let (user, password) = (&info[..colon], &info[colon + 1..]);
    let span = start + colon + 1..start + info.len();
    is_password(user, password).then(|| Candidate::new("password", span, Rank::Url))
}

fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte)
}

/// What stands before the last `@` of the authority. A database password is often pasted
/// with its `/` or `#` not escaped; after a port there is no password, though.
fn user_info<'a>(url: &'a [u8], scheme: &[u8]) -> Option<&'a [u8]> {
    let authority = url.iter().position(|&b| b"/?#".contains(&b)).unwrap_or(url.len());
    if let Some(at) = url[..authority].iter().rposition(|&b| b == b'@') {
        return Some(&url[..at]);
    }
    if scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https") {
        return None;
    }
    let colon = url[..authority].iter().position(|&b| b == b':')?;
    let port = url[colon + 1..authority].iter().all(|&b| DIGIT.has(b));
    let at = url.iter().position(|&b| b == b'@')?;
    (!port && at > authority).then_some(&url[..at])
}

fn is_password(user: &[u8], password: &[u8]) -> bool {
    const DEFAULTS: &[&[u8]] = &[b"password", b"passwd", b"pass", b"pwd", b"pw"];
    password.len() >= 2
        && user != password
        && !password.contains(&b'[')
        && !user.contains(&b'[')
        && !DEFAULTS.iter().any(|word| password.eq_ignore_ascii_case(word))
        && !judge::is_stand_in(password)
}

/// `https://token@host`.
fn lone_user(text: &[u8], span: Range<usize>) -> Option<Candidate> {
    let random = span.len() >= 16 && judge::is_secret(&text[span.clone()], Trust::Token);
    let host = &text[span.end..text.len().min(span.end + 60)];
    let sentry = host.windows(6).any(|w| w == b"sentry");
    let kind = if sentry { "sentry-dsn" } else { "url-credential" };
    random.then(|| Candidate::new(kind, span, Rank::Url))
}
