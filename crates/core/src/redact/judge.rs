//! Judges whether a value that stands where a secret could stand is one.
//!
//! The same value is a secret after `API_KEY=` and nothing after `checksum =`, so the name
//! decides how much proof is asked for ([`Trust`]); this module knows values only.

use super::set::{ALNUM, BASE64, BASE64_PAD, DIGIT, HEX, LETTER, LOWER, Set, UPPER, URL64};
use super::{wordlike, words};

/// How much the place of a value says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// A literal given to a password: anything that is not a stand-in counts.
    Password,
    /// A bare word after `password:`: must not read like a sentence going on.
    LoosePassword,
    /// The value of a token, secret or key: must look random.
    Token,
    /// A name that often holds identifiers, such as `key`: must look random beyond doubt.
    Weak,
}

const TOKEN_BYTES: Set = ALNUM.and(b"_+/=.~:!@#$%^&*-|?");

/// Tells whether a value is a stand-in: a mask, a template, a reference or an example.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    if is_mask(value) || is_template(value) {
        return true;
    }
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    words::of(words::REFERENCES).any(|start| lower.starts_with(start))
        || words::of(words::STAND_INS).any(|part| lower.contains(part))
}

/// Tells whether a value is a word that says what belongs there, or that nothing does.
fn is_word(value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    words::has(words::WORDS, lower.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

/// Tells whether the body of a token is only a picture of one, as in `ghp_xxxxxxxx`.
pub(super) fn is_mask(body: &[u8]) -> bool {
    const MASK: Set = Set::of(b"xX*.-_#?0=/ ");
    let has = |part: &[u8]| body.windows(part.len()).any(|w| w.eq_ignore_ascii_case(part));
    !body.is_empty() && body.iter().all(|&b| MASK.has(b))
        || has(b"xxxxx")
        || has(b"your")
        || has(b"placeholder")
        || has(b"redacted")
}

fn is_template(value: &[u8]) -> bool {
    let name = |rest: &[u8]| {
        let cased = rest.iter().all(|&b| UPPER.has(b) || DIGIT.has(b) || b == b'_')
            || rest.iter().all(|&b| LETTER.has(b) || b == b'_');
        cased && !rest.is_empty()
    };
    let has = |part: &[u8]| value.windows(part.len()).any(|w| w == part);
    match value {
        [b'<' | b'[' | b'&', ..] | [b'{', b'{' | b'}', ..] | [b'%', b'd' | b'v' | b'q'] => true,
        [b'$', rest @ ..] if name(rest) => true,
        [b'%', rest @ .., b'%'] | [b'@', rest @ .., b'@'] if name(rest) => true,
        [b'{', rest @ .., b'}'] => rest.iter().all(|&b| ALNUM.has(b) || b"_.:!-".contains(&b)),
        _ => {
            has(b"${")
                || has(b"$(")
                || has(b"{{")
                || has(b"#{")
                || has(b"%s")
                || has(b"%(")
                || has(b"<%")
        }
    }
}

/// Tells whether `value` is a secret where `trust` says what to ask of it.
pub(super) fn is_secret(value: &[u8], trust: Trust) -> bool {
    if value.iter().any(u8::is_ascii_whitespace) || is_mask(value) || is_template(value) {
        return false;
    }
    // A long random string is one even if it happens to spell a word.
    let certain = value.len() >= 32 && is_beyond_doubt(value) && is_random(value, 32);
    if !certain && (is_stand_in(value) || is_word(value)) {
        return false;
    }
    match trust {
        Trust::Password => is_password(value),
        Trust::LoosePassword => is_loose_password(value),
        Trust::Token => is_random(value, 10),
        Trust::Weak => is_random(value, 20) && is_beyond_doubt(value),
    }
}

fn is_password(value: &[u8]) -> bool {
    let letters_only = value.iter().all(|&b| LETTER.has(b) || b"_-. ".contains(&b));
    match value.len() {
        0..4 => false,
        _ if is_call(value) || is_term(value) || value.starts_with(b"/") => false,
        _ if value.starts_with(b"\\x") => false,
        _ if !letters_only => !is_numeric(value) || value.len() >= 6,
        // `Required`, `forgot-password`, `users.password`: labels and names, not literals.
        _ if value.iter().any(|&b| !LETTER.has(b)) => wordlike::score(value) < 330,
        _ if value.iter().any(|&b| UPPER.has(b)) => wordlike::score(value) < 430,
        len => len >= 8,
    }
}

fn is_loose_password(value: &[u8]) -> bool {
    let has = |set: Set| value.iter().any(|&b| set.has(b));
    let inner = value.split_last().map_or(value, |(_, rest)| rest);
    let symbol = inner.iter().any(|&b| b"!@#$%^&*+=?~".contains(&b));
    if value.len() < 6 || is_call(value) || is_term(value) || is_field(value) {
        return false;
    }
    // Names have separators or capitals: this many small letters in a row are a passphrase.
    let run = value.len() >= 20 && value.iter().all(|&b| LOWER.has(b));
    let made = has(DIGIT) || symbol || run || is_random(value, 16);
    let path = value.starts_with(b"/");
    has(LETTER) && !path && !is_place(value) && made && !is_measure(value)
}

/// Tells whether `value` looks made by a machine and is at least `min` long.
fn is_random(value: &[u8], min: usize) -> bool {
    let count = |set: Set| value.iter().filter(|&&b| set.has(b)).count();
    if value.len() < min || count(TOKEN_BYTES) < value.len() || is_call(value) || is_place(value) {
        return false;
    }
    let body = value.strip_prefix(b"0x").unwrap_or(value);
    if count(DIGIT) > 0 && body.iter().all(|&b| HEX.has(b)) {
        return count(LETTER) > 0 && value.len() >= 16 && variety(value) >= 6;
    }
    if is_uuid(value) {
        return true;
    }
    let limit = match (count(DIGIT) > 0, value.len()) {
        (true, 20..) => 430,
        (true, _) => 400,
        (false, 16..) => 360,
        (false, _) => return false,
    };
    count(LETTER) > 0 && variety(value) * 5 >= value.len().min(40) && wordlike::score(value) < limit
}

/// For weak names: three kinds of character, or hex of the length of a key.
fn is_beyond_doubt(value: &[u8]) -> bool {
    let has = |set: Set| value.iter().any(|&b| set.has(b));
    let plain = value.iter().all(|&b| BASE64_PAD.has(b) || URL64.has(b));
    let paths = slashes(value) * 8 > value.len();
    plain && !paths && !is_uuid(value) && has(LOWER) && has(UPPER) && has(DIGIT)
}

/// Hex of 32 or more: a key if the name is in the style of the environment.
pub(super) fn is_long_hex(value: &[u8]) -> bool {
    value.len() >= 32 && value.iter().all(|&b| HEX.has(b)) && variety(value) >= 6
}

/// The form of an AWS secret key. The one in the documentation of AWS spells words, so
/// being random is not asked of it.
pub(super) fn is_aws_secret(value: &[u8]) -> bool {
    let has = |set: Set| value.iter().any(|&b| set.has(b));
    let form = value.len() == 40 && value.iter().all(|&b| BASE64.has(b));
    form && has(LOWER) && has(UPPER) && has(DIGIT) && variety(value) >= 12
}

/// A bare word of small letters, of which nothing says that it is a label.
pub(super) fn is_plain_password(value: &[u8]) -> bool {
    value.len() >= 6
        && value.iter().all(|&b| LOWER.has(b))
        && !is_word(value)
        && !is_stand_in(value)
        && !is_term(value)
}

fn variety(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    for &b in value {
        seen[usize::from(b)] = true;
    }
    seen.iter().filter(|&&s| s).count()
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, &b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => HEX.has(b),
        })
}

fn is_call(value: &[u8]) -> bool {
    let has = |part: &[u8]| value.windows(part.len()).any(|w| w == part);
    is_number(value)
        || value.starts_with(b"!0")
        || value.starts_with(b"!1")
        || has(b"()")
        || has(b"::")
        || has(b"->")
        || has(b"=>")
        || opens_call(value)
}

/// A number in hex, short enough to be a constant of some header.
fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or_default();
    !digits.is_empty()
        && value.len() < 24
        && digits.iter().all(|&b| HEX.has(b) || b"_ui".contains(&b))
}

/// `vector.2`, `user.name`: names and numbers with dots between them.
fn is_field(value: &[u8]) -> bool {
    let mut parts = value.split(|&b| b == b'.').peekable();
    value.contains(&b'.')
        && parts.all(|part| {
            let name = part.iter().all(|&b| LETTER.has(b) || b == b'_');
            !part.is_empty() && (name || part.iter().all(|&b| DIGIT.has(b)))
        })
}

/// `name(…`: a name, then a parenthesis.
fn opens_call(value: &[u8]) -> bool {
    let end = Set::run(ALNUM.and(b"_."), value, 0);
    end > 0 && value.get(end).is_some_and(|&b| b == b'(' || b == b'[')
}

/// A version, date, address, number with a unit, path, file or place in a file.
fn is_place(value: &[u8]) -> bool {
    let has = |part: &[u8]| value.windows(part.len()).any(|w| w == part);
    let numbers = value.iter().filter(|&&b| DIGIT.has(b) || b".:-/_".contains(&b)).count();
    has(b"://")
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/")
        || numbers + 1 >= value.len()
        || starts_with_line_number(value)
        || (slashes(value) >= 2 && wordlike::score(value) > 380)
        || value.starts_with(b"/") && wordlike::score(value) > 330
}

fn slashes(value: &[u8]) -> usize {
    value.split(|&b| b == b'/').count() - 1
}

fn starts_with_line_number(value: &[u8]) -> bool {
    let end = DIGIT.run(value, 0);
    end > 0 && value.get(end) == Some(&b':') && end < 6
}

fn is_numeric(value: &[u8]) -> bool {
    value.iter().all(|&b| DIGIT.has(b) || b"._-:/,%".contains(&b))
}

/// `8-character`, `12+`: a number and what it counts.
fn is_measure(value: &[u8]) -> bool {
    let digits = DIGIT.run(value, 0);
    let rest = &value[digits..];
    digits > 0
        && rest.first().is_some_and(|b| b"-+%x".contains(b))
        && rest[1..].iter().all(|&b| LETTER.has(b) || b == b'-')
}

fn is_term(value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    words::of(words::TERMS)
        .find(|term| lower.starts_with(term) || lower.ends_with(term))
        .is_some_and(|term| lower.len() < term.len() + 12)
}

/// Tells whether `value` is base64 of `user:password`.
pub(super) fn is_basic_auth(value: &[u8]) -> bool {
    value.len() >= 8
        && value.iter().all(|&b| BASE64_PAD.has(b) || b == b'-' || b == b'_')
        && !is_mask(value)
        && decode(value).is_some_and(|plain| {
            plain.contains(&b':') && plain.iter().all(|&b| (0x20..0x7f).contains(&b))
        })
}

fn decode(value: &[u8]) -> Option<Vec<u8>> {
    let (mut bits, mut have, mut plain) = (0u32, 0, Vec::with_capacity(value.len()));
    for &byte in value.iter().take_while(|&&b| b != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        have += 6;
        if have >= 8 {
            have -= 8;
            plain.push(u8::try_from((bits >> have) & 0xff).expect("masked to one byte"));
        }
    }
    Some(plain)
}
