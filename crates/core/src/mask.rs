//! Words that have to go from wherever they stand.
//!
//! What was said in one session is quoted by others: as text, in JSON, and in JSON that is a text in JSON. Each of them
//! is masked by as many bytes as it has, so that whatever is known by its place is where it was, and JSON stays JSON.

use std::ops::Range;

use memchr::memmem;

/// A shorter one says too little to be known by it.
const SHORTEST: usize = 12;

/// A text of this length is known wherever it stands; a shorter one only by itself: others say "use Postgres" too.
const KNOWN: usize = 24;

/// The same for a part of one: `use std::collections::HashMap;` is in many.
const KNOWN_PART: usize = 32;

/// Words that have to go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    forms: Vec<Form>,
}

/// Words as they are written somewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    bytes: Vec<u8>,
    /// Whether JSON may have it: what holds a quotation mark as it is ends a string there.
    in_json: bool,
    /// Whether it has to stand by itself.
    alone: bool,
}

impl Words {
    /// The texts, each as a whole, by its lines and by its sentences: who quotes one may have wrapped or cut it.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let mut forms = Vec::new();
        for text in texts {
            let parts = text.lines().flat_map(|line| line.split_inclusive(". "));
            let parts = text.lines().chain(parts).map(str::trim);
            for part in parts.filter(|part| part.len() >= KNOWN_PART) {
                forms.extend(written(part, false));
            }
            let whole = text.trim();
            if whole.len() >= SHORTEST {
                forms.extend(written(whole, whole.len() < KNOWN));
            }
        }
        forms.sort();
        forms.dedup();
        Self { forms }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Where they stand.
    pub fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        let of_form = |form: &Form| {
            let length = form.bytes.len();
            let places = memmem::find_iter(bytes, &form.bytes).map(|at| at..at + length);
            places.filter(|at| !form.alone || is_alone(bytes, at)).collect::<Vec<_>>()
        };
        self.forms.iter().filter(|form| form.in_json || !is_json).flat_map(of_form).collect()
    }

    /// Masks them. Returns whether there were any.
    pub fn mask(&self, bytes: &mut [u8]) -> bool {
        let places = self.places(bytes);
        for place in &places {
            bytes[place.clone()].fill(MASK);
        }
        !places.is_empty()
    }
}

/// As it stands in text, in JSON and in JSON within JSON.
fn written(text: &str, alone: bool) -> [Form; 3] {
    let (once, twice) = (in_json(text), in_json(&in_json(text)));
    let in_json = once == text;
    [(text.to_owned(), in_json), (once, true), (twice, true)].map(|(text, in_json)| Form {
        bytes: text.into_bytes(),
        in_json,
        alone,
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
        let words = Words::new(["use Postgres".to_owned(), lines.to_owned()]);
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
        let words = Words::new([said.to_owned(), "short".to_owned()]);
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
}
