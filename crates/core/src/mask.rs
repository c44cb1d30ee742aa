//! Words that have to go from wherever they stand.
//!
//! What was said in one session is quoted by others: as text, in JSON, and in JSON that is a text in JSON. Each of them
//! is masked by as many bytes as it has, so that whatever is known by its place is where it was, and JSON stays JSON.

mod heads;
mod lines;
mod sums;
mod unkeyed;
mod values;

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use self::heads::{Heads, begins};
use crate::recover;

pub use lines::item;
pub use sums::{Secret, Sums};
pub use unkeyed::Unkeyed;

/// A shorter one says too little to be known by it.
const SHORTEST: usize = 12;

/// A text of this length is known wherever it stands; a shorter one only by itself: others say "use Postgres" too.
const KNOWN: usize = 24;

/// The same for a line or a sentence of one: `use std::collections::HashMap;` is in many, and "go on with the tests" is
/// said by everybody.
pub const TELLING: usize = 32;

/// Words that have to go.
#[derive(Debug, Clone)]
pub struct Words {
    forms: Vec<Form>,
    /// How all forms begin, in their order.
    heads: Heads,
    /// What is too short to be known but by itself, and where heirloom told or passed it on.
    lines: BTreeSet<Form>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stands {
    Anywhere,
    /// By itself.
    Alone,
    /// In what heirloom told an agent of earlier sessions. Elsewhere it is somebody's own.
    Told,
    /// By itself in what heirloom passed on to a run.
    PassedOn,
}

impl Words {
    /// The texts, each as a whole, by its lines and by its sentences: who quotes one may have wrapped or cut it. And
    /// what a brief may quote, as it stands there: that goes from what heirloom told agents, and from nowhere else.
    /// Short lines of the texts are others' as well: those that are not are for [`Self::with_lines`].
    pub fn new(
        texts: impl IntoIterator<Item = String>,
        quotes: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut forms = Vec::new();
        let mut lines = BTreeSet::new();
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
            lines.extend(short(quote, SHORTEST, Stands::Told));
        }
        forms.sort();
        forms.dedup();
        let heads = Heads::new(FACTOR, forms.iter().map(|form| begins(FACTOR, &form.bytes)));
        Self { forms, heads, lines }
    }

    /// And these lines, where heirloom passed them on to a run: whoever says one otherwise says it of themselves.
    #[must_use]
    pub fn with_lines(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        let lines = lines.into_iter().flat_map(|line| short(&line, TELLING, Stands::PassedOn));
        self.lines.extend(lines);
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty() && self.lines.is_empty()
    }

    /// Where they stand.
    pub fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let place = Where::new(bytes);
        let mut places = Vec::new();
        self.heads.each(bytes, |start, number| {
            let form = &self.forms[number];
            let at = start..start.saturating_add(form.bytes.len());
            let is_it = (form.in_json || !place.is_json)
                && bytes.get(at.clone()) == Some(&form.bytes[..])
                && place.is_meant(form.stands, &at);
            if is_it {
                places.push(at);
            }
        });
        for stands in [Stands::Told, Stands::PassedOn] {
            let all = self.lines.iter().filter(|line| line.stands == stands);
            let lengths = all.map(|line| line.bytes.len()).collect();
            let mut found = lines::standing(&place, stands, &lengths);
            found.retain(|at| {
                let is_known = |in_json| {
                    self.lines.contains(&Form {
                        bytes: bytes[at.clone()].to_vec(),
                        in_json,
                        stands,
                    })
                };
                is_known(true) || !place.is_json && is_known(false)
            });
            places.extend(found);
        }
        places
    }

    /// Masks them. Returns whether there were any.
    pub fn mask(&self, bytes: &mut [u8]) -> bool {
        let places = self.places(bytes);
        fill(bytes, &places);
        !places.is_empty()
    }
}

/// How the beginnings of words are summed up.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// What words are looked for in.
struct Where<'a> {
    bytes: &'a [u8],
    is_json: bool,
    /// Where heirloom told an agent of earlier sessions.
    told: Vec<Range<usize>>,
    /// Where it passed on to a run what earlier ones left.
    passed_on: Vec<Range<usize>>,
}

impl<'a> Where<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        Self::of(bytes, is_json)
    }

    /// Lines of JSON, the first of which may have begun before.
    fn in_json(bytes: &'a [u8]) -> Self {
        Self::of(bytes, true)
    }

    fn of(bytes: &'a [u8], is_json: bool) -> Self {
        let told = recover::told_in(bytes, is_json);
        Self { bytes, is_json, told, passed_on: lines::passed_on_in(bytes, is_json) }
    }

    fn is_meant(&self, stands: Stands, at: &Range<usize>) -> bool {
        // A name says what something is, and whoever reads it looks for that.
        if values::is_key(self.bytes, at) {
            return false;
        }
        match stands {
            Stands::Anywhere => true,
            Stands::Alone => is_alone(self.bytes, at),
            Stands::Told => {
                self.told.iter().any(|told| told.start <= at.start && at.end <= told.end)
            }
            // Those are looked for where they stand.
            Stands::PassedOn => false,
        }
    }
}

/// Puts a mask in these places.
pub fn fill(bytes: &mut [u8], places: &[Range<usize>]) {
    for place in places {
        bytes[place.clone()].fill(MASK);
    }
}

/// The lines of a text that are shorter than `most`, as they are written.
fn short(text: &str, most: usize, stands: Stands) -> Vec<Form> {
    lines::of(text, most).flat_map(|line| written(line, stands)).collect()
}

/// As it stands in text, in JSON and in JSON within JSON. Gemini CLI writes what hooks tell it without angle brackets.
fn written(text: &str, stands: Stands) -> Vec<Form> {
    let escaped = text.replace('<', "&lt;").replace('>', "&gt;");
    let texts = if escaped == text { vec![escaped] } else { vec![text.to_owned(), escaped] };
    let mut forms = Vec::new();
    for text in texts {
        let (once, twice) = (in_json(&text), in_json(&in_json(&text)));
        let is_same = once == text;
        let all = [(text, is_same), (once, true), (twice, true)];
        forms.extend(all.map(|(text, in_json)| Form { bytes: text.into_bytes(), in_json, stands }));
    }
    forms
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
    fn a_name_stays_though_a_note_says_the_same() {
        let names = ["progress_summary", "cache_creation_input_tokens"].map(str::to_owned);
        let words = Words::new(names, []);
        let names = json!({"progress_summary": "x", "cache_creation_input_tokens": 7}).to_string();
        for names in [names.clone(), json!({ "text": names }).to_string()] {
            assert!(!words.mask(&mut names.clone().into_bytes()), "{names}");
        }
        assert!(words.mask(&mut json!({"x": "progress_summary"}).to_string().into_bytes()));
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
    fn what_gemini_was_told_without_angle_brackets_is_known_by_them_all_the_same() {
        let said = "return a Vec<String> and never a Box<dyn Iterator>";
        let words = Words::new([said.to_owned()], [said.to_owned()]);
        let escaped = said.replace('<', "&lt;").replace('>', "&gt;");
        let mut bytes = json!({ "text": escaped }).to_string().into_bytes();
        assert!(words.mask(&mut bytes));
        let masked: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(masked["text"], "*".repeat(escaped.len()));
    }

    #[test]
    fn what_is_long_goes_whole_though_no_line_of_it_is_known_by_itself() {
        let lines: Vec<String> = (0..40_000).map(|n| n.to_string()).collect();
        let short = lines.join("\n") + "\n";
        let words = Words::new([short.clone()], []);
        let mut bytes = format!("before\n{short}after").into_bytes();
        assert!(words.mask(&mut bytes));
        let masked = String::from_utf8(bytes).unwrap();
        assert_eq!(masked.trim_matches(|of| of != '*').len(), short.trim().len());
        assert!(masked.starts_with("before\n*") && masked.ends_with("*\nafter"));
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
