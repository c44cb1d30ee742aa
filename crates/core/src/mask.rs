//! Words that have to go from wherever they stand.
//!
//! What was said in one session is quoted by others: as text, in JSON, and in JSON that is a text in JSON. Each of them
//! is masked by as many bytes as it has, so that whatever is known by its place is where it was, and JSON stays JSON.

use std::ops::Range;

use memchr::memmem;

/// A shorter one says too little to be known by it.
const SHORTEST: usize = 12;

/// Words that have to go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    plain: Vec<String>,
    /// As they stand in text, in JSON and in JSON within JSON.
    forms: Vec<Vec<u8>>,
}

impl Words {
    /// The texts, each as a whole and line by line: who quotes one may have wrapped it.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let mut plain: Vec<String> = Vec::new();
        for text in texts {
            plain.extend(text.lines().map(|line| line.trim().to_owned()));
            plain.push(text);
        }
        plain.retain(|text| text.trim().len() >= SHORTEST);
        plain.sort();
        plain.dedup();
        let mut forms: Vec<Vec<u8>> = plain
            .iter()
            .flat_map(|text| [text.clone(), in_json(text), in_json(&in_json(text))])
            .map(String::into_bytes)
            .collect();
        forms.sort();
        forms.dedup();
        Self { plain, forms }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// The words as they were said.
    pub fn plain(&self) -> &[String] {
        &self.plain
    }

    /// Where they stand.
    pub fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let of_form = |form: &'_ Vec<u8>| {
            let length = form.len();
            memmem::find_iter(bytes, form).map(move |at| at..at + length).collect::<Vec<_>>()
        };
        self.forms.iter().flat_map(of_form).collect()
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
