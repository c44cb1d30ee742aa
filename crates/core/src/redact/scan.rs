//! One pass over the text for all keywords, and for each the reader that belongs to it.

use std::sync::LazyLock;

use super::finding::{Candidate, Rank};
use super::judge;
use super::literals::Literals;
use super::rule::Rule;
use super::set::BASE64;
use super::{assign, block, header, rules, url};

/// Who looks at a keyword.
#[derive(Clone, Copy, Debug)]
enum Reader {
    Rule(&'static Rule),
    Armour,
    Putty,
    Url,
    Authorization,
    Bearer,
    Basic,
    Cookie,
    Command,
    Name,
}

/// Keywords of the readers that are no rules; all in small letters.
const WORDS: &[(&str, Reader)] = &[
    ("----begin ", Reader::Armour),
    ("private-lines:", Reader::Putty),
    ("://", Reader::Url),
    ("authorization", Reader::Authorization),
    ("bearer ", Reader::Bearer),
    ("basic ", Reader::Basic),
    ("cookie:", Reader::Cookie),
    ("curl", Reader::Command),
    ("wget", Reader::Command),
    ("sshpass", Reader::Command),
    ("docker login", Reader::Command),
    ("redis-cli", Reader::Command),
    ("mysql", Reader::Command),
    ("pass", Reader::Name),
    ("pwd", Reader::Name),
    ("psw", Reader::Name),
    ("secret", Reader::Name),
    ("token", Reader::Name),
    ("key", Reader::Name),
    ("cred", Reader::Name),
    ("auth", Reader::Name),
    ("jwt", Reader::Name),
    ("_pat", Reader::Name),
    ("_pw", Reader::Name),
    ("identified by", Reader::Name),
];

static LITERALS: LazyLock<Literals<Reader>> = LazyLock::new(|| {
    let rules = rules::all().map(|rule| (rule.literal, Reader::Rule(rule)));
    Literals::new(WORDS.iter().copied().chain(rules))
});

/// Words that make a name that of a secret, though no reader begins with them: only a document says that it is a
/// name. `by` is one behind `identified`.
const IN_NAMES: &[&str] = &["pw", "pat", "identified"];

/// What a keyword says of a JSON text.
#[derive(Clone, Copy)]
enum Keyword {
    /// A reader has to look.
    Any,
    /// The same, but only where the word ends: not in `path`, `log_path` and `pwned`.
    Whole,
    Rule(&'static Rule),
}

const WHOLE: [&str; 4] = ["_pat", "_pw", "pat", "pw"];

static KEYWORDS: LazyLock<Literals<Keyword>> = LazyLock::new(|| {
    let words = WORDS.iter().map(|(word, _)| *word).chain(IN_NAMES.iter().copied());
    let words =
        words.map(|word| (word, if WHOLE.contains(&word) { Keyword::Whole } else { Keyword::Any }));
    Literals::new(words.chain(rules::all().map(|rule| (rule.literal, Keyword::Rule(rule)))))
});

/// Whether a word stands in a JSON text that a reader begins with, or that makes a name that of a secret.
pub(super) fn has_keyword(json: &[u8]) -> bool {
    // Without an escape in it every string stands there to the letter, and what a rule finds in it can be seen.
    let is_verbatim = !json.contains(&b'\\');
    let mut has = false;
    KEYWORDS.each_in(json, |at, keyword| {
        has |= match keyword {
            Keyword::Any => true,
            Keyword::Whole => !goes_on(json, at.end),
            Keyword::Rule(rule) => !is_verbatim || rule.find(json, at).is_some(),
        };
    });
    has
}

/// Whether a word goes on behind a place: no name is taken apart between two small letters.
fn goes_on(text: &[u8], place: usize) -> bool {
    let is_small = |at: usize| text.get(at).is_some_and(u8::is_ascii_lowercase);
    is_small(place - 1) && is_small(place)
}

/// Returns all that any reader takes for a secret; spans may overlap.
pub(super) fn candidates(text: &[u8]) -> Vec<Candidate> {
    let mut found = Vec::new();
    LITERALS.each_in(text, |at, reader| match reader {
        Reader::Rule(rule) => with_rule(text, at, rule, &mut found),
        Reader::Armour => found.extend(block::armoured(text, at)),
        Reader::Putty => found.extend(block::putty(text, at)),
        Reader::Url => found.extend(url::find(text, at)),
        Reader::Authorization => found.extend(header::authorization(text, at)),
        Reader::Bearer => found.extend(header::bearer(text, at)),
        Reader::Basic => found.extend(header::basic(text, at)),
        Reader::Cookie => header::cookie(text, at, &mut found),
        Reader::Command => found.extend(header::command(text, at)),
        Reader::Name => found.extend(assign::find(text, at)),
    });
    found
}

fn with_rule(
    text: &[u8],
    at: std::ops::Range<usize>,
    rule: &'static Rule,
    found: &mut Vec<Candidate>,
) {
    let Some(span) = rule.find(text, at) else { return };
    if rule.kind == "aws-access-key" {
        found.extend(aws_secret(text, span.end));
    }
    let rank = if rule.shared { Rank::Prefix } else { Rank::Token };
    found.push(Candidate::new(rule.kind, span, rank));
}

/// The secret that belongs to an AWS key id and stands beside it without a name, as in the
/// CSV that the console hands out.
fn aws_secret(text: &[u8], from: usize) -> Option<Candidate> {
    let stop = text.len().min(from + 200);
    let mut at = from;
    while at < stop {
        let end = BASE64.run(text, at);
        if end - at == 40 && judge::is_aws_secret(&text[at..end]) {
            return Some(Candidate::new("aws-secret-key", at..end, Rank::Token));
        }
        at = end + 1;
    }
    None
}
