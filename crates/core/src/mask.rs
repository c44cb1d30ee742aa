//! Words that have to go from wherever they stand.
//!
//! What was said in one session is quoted by others: as text, in JSON, and in JSON that is a text in JSON. Each of them
//! is masked by as many bytes as it has, so that whatever is known by its place is where it was, and JSON stays JSON.

mod sums;

use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::recover;

pub use sums::Sums;

/// A shorter one says too little to be known by it.
const SHORTEST: usize = 12;

/// A text of this length is known wherever it stands; a shorter one only by itself: others say "use Postgres" too.
const KNOWN: usize = 24;

/// The same for a line or a sentence of one: `use std::collections::HashMap;` is in many, and "go on with the tests" is
/// said by everybody.
pub const TELLING: usize = 32;

/// Words that have to go.
#[derive(Debug, Clone, Default)]
pub struct Words {
    forms: Vec<Form>,
    /// All forms at once, in their order; nothing where there are none.
    finder: Option<AhoCorasick>,
}

/// Words as they are written somewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    bytes: Vec<u8>,
    /// Whether JSON may have it: what holds a quotation mark as it is ends a string there.
    in_json: bool,
    /// Where it has to stand to be known.
    stands: Stands,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stands {
    Anywhere,
    /// By itself.
    Alone,
    /// In what heirloom told an agent of earlier sessions. Elsewhere it is somebody's own.
    Told,
}

impl Words {
    /// The texts, each as a whole, by its lines and by its sentences: who quotes one may have wrapped or cut it. And
    /// what a brief may quote, as it stands there: that goes from what heirloom told agents, and from nowhere else.
    pub fn new(
        texts: impl IntoIterator<Item = String>,
        quotes: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut forms = Vec::new();
        for text in texts {
            let parts = text.lines().flat_map(|line| line.split_inclusive(". "));
            let parts = text.lines().chain(parts).map(str::trim);
            for part in parts.filter(|part| part.len() >= TELLING) {
                forms.extend(written(part, Stands::Anywhere));
            }
            let whole = text.trim();
            if whole.len() >= SHORTEST {
                let stands = if whole.len() < KNOWN { Stands::Alone } else { Stands::Anywhere };
                forms.extend(written(whole, stands));
            }
        }
        for quote in quotes {
            let quote = quote.trim();
            if quote.len() >= SHORTEST {
                forms.extend(written(quote, Stands::Told));
            }
        }
        forms.sort();
        forms.dedup();
        let finder = (!forms.is_empty()).then(|| {
            let patterns = forms.iter().map(|form| &form.bytes);
            AhoCorasick::new(patterns).expect("what one session said is less than two gigabytes")
        });
        Self { forms, finder }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Where they stand.
    pub fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        let told = recover::told_in(bytes, is_json);
        let is_meant = |form: &Form, at: &Range<usize>| {
            (form.in_json || !is_json)
                && match form.stands {
                    Stands::Anywhere => true,
                    Stands::Alone => is_alone(bytes, at),
                    Stands::Told => {
                        told.iter().any(|told| told.start <= at.start && at.end <= told.end)
                    }
                }
        };
        let found = finder.find_overlapping_iter(bytes);
        let found =
            found.filter(|found| is_meant(&self.forms[found.pattern().as_usize()], &found.range()));
        found.map(|found| found.range()).collect()
    }

    /// Masks them. Returns whether there were any.
    pub fn mask(&self, bytes: &mut [u8]) -> bool {
        let places = self.places(bytes);
        fill(bytes, &places);
        !places.is_empty()
    }
}

/// Puts a mask in these places.
fn fill(bytes: &mut [u8], places: &[Range<usize>]) {
    for place in places {
        bytes[place.clone()].fill(MASK);
    }
}

/// As it stands in text, in JSON and in JSON within JSON.
fn written(text: &str, stands: Stands) -> [Form; 3] {
    let (once, twice) = (in_json(text), in_json(&in_json(text)));
    let in_json = once == text;
    [(text.to_owned(), in_json), (once, true), (twice, true)].map(|(text, in_json)| Form {
        bytes: text.into_bytes(),
        in_json,
        stands,
    })
}

/// Whether what stands there is all of a string, an item or a clause.
fn is_alone(bytes: &[u8], at: &Range<usize>) -> bool {
    const BEFORE: [&[u8]; 7] = [b"\"", b"\n", b"\\n", b"- ", b": ", b"; ", b"> "];
    const AFTER: [&[u8]; 7] = [b"\"", b"\n", b"\\", b" - ", b" (", b" [", b";"];
    let (before, after) = (&bytes[..at.start], &bytes[at.end..]);
    (before.is_empty() || BEFORE.iter().any(|end| before.ends_with(end)))
        && (after.is_empty() || AFTER.iter().any(|begin| after.starts_with(begin)))
}

/// What stands in their place.
pub const MASK: u8 = b'*';

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_others_say_as_well_stays_and_json_stays_json() {
        let lines =
            "read this:\nuse std::collections::HashMap;\n\"name\": \"heirloom\", \"version\": 1,";
        let words = Words::new(["use Postgres".to_owned(), lines.to_owned()], []);
        let own = json!({"text": "We use Postgres for sessions", "name": "heirloom", "version": 1});
        let own = own.to_string().replace("\",\"", "\", \"").replace("\":", "\": ");
        for text in [own, "use std::collections::HashMap;\nfn main() {}\n".to_owned()] {
            let mut bytes = text.clone().into_bytes();
            assert!(!words.mask(&mut bytes), "{text}: {}", String::from_utf8_lossy(&bytes));
        }
        for text in
            [json!({"decisions": ["use Postgres"]}).to_string(), "- use Postgres\n".to_owned()]
        {
            let mut bytes = text.clone().into_bytes();
            assert!(words.mask(&mut bytes), "{text}");
        }
    }

    #[test]
    fn words_go_from_text_and_from_json_however_deep() {
        let said = "rotate the \"refresh\" tokens";
        let words = Words::new([said.to_owned(), "short".to_owned()], []);
        let once = json!({"text": said, "other": "short"}).to_string();
        let twice = json!({"content": once}).to_string();
        for text in [format!("- {said}, always"), once, twice] {
            let mut bytes = text.clone().into_bytes();
            assert!(words.mask(&mut bytes), "{text}");
            let masked = String::from_utf8(bytes).unwrap();
            assert_eq!(masked.len(), text.len());
            assert!(!masked.contains("refresh"), "{masked}");
            if text.starts_with('{') {
                serde_json::from_str::<Value>(&masked).unwrap();
            }
        }
        assert!(!words.mask(&mut b"nothing of the sort, short".to_vec()));
    }

    #[test]
    fn what_a_brief_quotes_goes_from_what_was_told_and_stays_where_others_said_it() {
        let words = Words::new([], ["cargo test -p parser".to_owned()]);
        let brief = recover::wrap(&format!(
            "{}\nFailed last: `cargo test -p parser`: error",
            recover::MARK
        ));
        let own = json!({"command": "cargo test -p parser"}).to_string();
        let told = json!({"content": brief}).to_string();
        let mut bytes = format!("{told}\n{own}\n").into_bytes();
        assert!(words.mask(&mut bytes));
        let masked = String::from_utf8(bytes).unwrap();
        let (told, rest) = masked.split_once('\n').unwrap();
        assert!(!told.contains("cargo test") && told.contains("Failed last: `****"), "{told}");
        assert_eq!(rest.trim(), own);
    }

    #[test]
    fn words_that_run_into_each_other_go_both() {
        let said = ["the moon is made of green cheese", "green cheese and of nothing else"];
        let words = Words::new(said.map(str::to_owned), []);
        let mut bytes = b"- the moon is made of green cheese and of nothing else".to_vec();
        assert!(words.mask(&mut bytes));
        assert_eq!(bytes, [b"- ".as_slice(), &[MASK; 52]].concat());
    }
}
