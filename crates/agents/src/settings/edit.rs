//! Putting values into a JSON text and taking them out again.

use std::ops::Range;

use serde_json::Value;

use super::scan::{Kind, Node, ScanError, scan};

/// A JSON text that can be changed in places.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    text: String,
    root: Node,
}

/// One step down from a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segment<'a> {
    Key(&'a str),
    Index(usize),
}

impl Document {
    /// Reads `text`, which must be an object; an empty text is an empty one.
    pub(crate) fn parse(text: &str) -> Result<Self, ScanError> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        Ok(Self { text: text.to_owned(), root: scan(text)? })
    }

    /// The text as it is now.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Whether the whole is an object.
    pub(crate) const fn is_object(&self) -> bool {
        matches!(self.root.kind, Kind::Object(_))
    }

    /// Whether nothing is left in it, not even a comment.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.chars().filter(|c| !c.is_whitespace()).eq("{}".chars())
    }

    /// The value at `path`. Comments and trailing commas inside it are dropped.
    pub(crate) fn get(&self, path: &[Segment<'_>]) -> Option<Value> {
        Some(self.value(self.find(path)?))
    }

    /// How many items or members the value at `path` has; `None` if it has no such thing.
    pub(crate) fn len(&self, path: &[Segment<'_>]) -> Option<usize> {
        match &self.find(path)?.kind {
            Kind::Object(members) => Some(members.len()),
            Kind::Array(items) => Some(items.len()),
            Kind::Scalar => None,
        }
    }

    /// The keys of the object at `path`.
    pub(crate) fn keys(&self, path: &[Segment<'_>]) -> Vec<String> {
        match self.find(path).map(|node| &node.kind) {
            Some(Kind::Object(members)) => members.iter().map(|each| each.key.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Appends `value` to the array that the object keys of `path` lead to. Objects and the array
    /// are made where they are missing. `false` when something else stands in the way.
    pub(crate) fn push(&mut self, path: &[&str], value: &Value) -> bool {
        let mut depth = 0;
        let mut node = &self.root;
        while let Some(key) = path.get(depth) {
            let Kind::Object(members) = &node.kind else { return false };
            let Some(member) = members.iter().find(|member| member.key == *key) else { break };
            node = &member.value;
            depth += 1;
        }
        let missing = &path[depth..];
        let fits = match &node.kind {
            Kind::Object(_) => !missing.is_empty(),
            Kind::Array(_) => missing.is_empty(),
            Kind::Scalar => false,
        };
        if fits {
            let span = node.span.clone();
            let last = last_end(node);
            let item = self.item(missing, value, depth + 1);
            self.append(&span, last, &item, depth);
        }
        fits
    }

    /// Puts `value` at the end of the object keys of `path`, in place of what is there. Objects are made
    /// where they are missing. `false` when something else stands in the way.
    pub(crate) fn insert(&mut self, path: &[&str], value: &Value) -> bool {
        let mut depth = 0;
        let mut node = &self.root;
        while let Some(key) = path.get(depth) {
            let Kind::Object(members) = &node.kind else { return false };
            let Some(member) = members.iter().find(|member| member.key == *key) else { break };
            node = &member.value;
            depth += 1;
        }
        let (span, last) = (node.span.clone(), last_end(node));
        match (&path[depth..], &node.kind) {
            ([], _) => self.replace(span, &value.to_string()),
            (missing, Kind::Object(_)) => {
                let member = self.member(missing, value, depth + 1);
                self.append(&span, last, &member, depth);
            }
            _ => return false,
        }
        true
    }

    /// The text of a member that `value` is the innermost of, its first line not indented.
    fn member(&self, keys: &[&str], value: &Value, depth: usize) -> String {
        let Some((key, rest)) = keys.split_first() else { return value.to_string() };
        let (key, inner) = (Value::from(*key), self.member(rest, value, depth + 1));
        if rest.is_empty() {
            return format!("{key}: {inner}");
        }
        let (deeper, here) = (self.indent(depth + 1), self.indent(depth));
        format!("{key}: {{{deeper}{inner}{here}}}")
    }

    /// Takes the value at `path` out, and what is empty without it.
    pub(crate) fn remove(&mut self, path: &[Segment<'_>]) {
        let Some((last, parent)) = path.split_last() else { return };
        let Some(node) = self.find(parent) else { return };
        let spans = child_spans(node);
        let index = match (last, &node.kind) {
            (Segment::Index(index), Kind::Array(_)) => Some(*index),
            (Segment::Key(key), Kind::Object(members)) => {
                members.iter().position(|member| member.key == *key)
            }
            _ => None,
        };
        let Some(index) = index.filter(|index| *index < spans.len()) else { return };
        if spans.len() == 1 && !parent.is_empty() {
            return self.remove(parent);
        }
        let gone = match (index, spans.len()) {
            (0, 1) => node.span.start + 1..node.span.end - 1,
            (0, _) => spans[0].start..spans[1].start,
            _ => spans[index - 1].end..spans[index].end,
        };
        self.replace(gone, "");
    }

    fn find(&self, path: &[Segment<'_>]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, step| match (step, &node.kind) {
            (Segment::Key(key), Kind::Object(members)) => {
                members.iter().find(|member| member.key == *key).map(|member| &member.value)
            }
            (Segment::Index(index), Kind::Array(items)) => items.get(*index),
            _ => None,
        })
    }

    fn value(&self, node: &Node) -> Value {
        match &node.kind {
            Kind::Object(members) => {
                let each = members.iter().map(|each| (each.key.clone(), self.value(&each.value)));
                Value::Object(each.collect())
            }
            Kind::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Kind::Scalar => serde_json::from_str(&self.text[node.span.clone()]).unwrap_or_default(),
        }
    }

    /// The text of `value` below the keys that are still missing, its first line not indented.
    fn item(&self, missing: &[&str], value: &Value, depth: usize) -> String {
        let Some((key, rest)) = missing.split_first() else { return value.to_string() };
        let (open, close) = if rest.is_empty() { ('[', ']') } else { ('{', '}') };
        let inner = self.item(rest, value, depth + 1);
        let (deeper, here) = (self.indent(depth + 1), self.indent(depth));
        let key = Value::from(*key);
        format!("{key}: {open}{deeper}{inner}{here}{close}")
    }

    fn append(&mut self, span: &Range<usize>, last: Option<usize>, item: &str, depth: usize) {
        let (deeper, here) = (self.indent(depth + 1), self.indent(depth));
        match last {
            Some(end) => self.replace(end..end, &format!(",{deeper}{item}")),
            None => self.replace(span.start + 1..span.end - 1, &format!("{deeper}{item}{here}")),
        }
    }

    /// A new line and as many indents, in the style of the text.
    fn indent(&self, depth: usize) -> String {
        let lines = self.text.lines().skip(1);
        let leads = lines.filter_map(|line| {
            let lead = &line[..line.len() - line.trim_start().len()];
            (line.trim_start().starts_with('"') && !lead.is_empty()).then_some(lead)
        });
        let unit = leads.min_by_key(|lead| lead.len()).unwrap_or("  ");
        format!("\n{}", unit.repeat(depth))
    }

    fn replace(&mut self, span: Range<usize>, with: &str) {
        self.text.replace_range(span, with);
        self.root = scan(&self.text).expect("an edit keeps the text valid");
    }
}

fn child_spans(node: &Node) -> Vec<Range<usize>> {
    match &node.kind {
        Kind::Object(members) => {
            members.iter().map(|member| member.start..member.value.span.end).collect()
        }
        Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
        Kind::Scalar => Vec::new(),
    }
}

fn last_end(node: &Node) -> Option<usize> {
    child_spans(node).last().map(|span| span.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn put(text: &str) -> Document {
        let mut document = Document::parse(text).unwrap();
        assert!(document.push(&["hooks", "Stop"], &json!({"command": "x"})));
        document
    }

    #[test]
    fn what_was_put_in_comes_out_without_a_trace() {
        for text in [
            "{\n  \"a\": 1\n}\n",
            "{\"a\":1}",
            "{\n\t// mine\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"command\": \"theirs\"}, // why\n\t\t],\n\t},\n}\n",
            "{\"hooks\":{\"Start\":[1]},\"b\":2}",
        ] {
            let mut document = put(text);
            let at = document.len(&[Segment::Key("hooks"), Segment::Key("Stop")]).unwrap() - 1;
            document.remove(&[Segment::Key("hooks"), Segment::Key("Stop"), Segment::Index(at)]);
            assert_eq!(document.into_text(), text);
        }
    }

    #[test]
    fn a_new_file_is_laid_out_for_people_and_empty_again_afterwards() {
        let mut document = put("");
        insta::assert_snapshot!(document.text, @r#"
        {
          "hooks": {
            "Stop": [
              {"command":"x"}
            ]
          }
        }
        "#);
        document.remove(&[Segment::Key("hooks"), Segment::Key("Stop"), Segment::Index(0)]);
        assert!(document.is_blank());
    }

    #[test]
    fn a_value_that_stands_in_the_way_is_left_alone() {
        let mut document = Document::parse(r#"{"hooks": "off"}"#).unwrap();
        assert!(!document.push(&["hooks", "Stop"], &json!(1)));
        assert_eq!(document.into_text(), r#"{"hooks": "off"}"#);
    }

    proptest! {
        #[test]
        fn every_object_survives_an_edit_and_its_undoing(
            members in prop::collection::btree_map("[a-z\"\\\\é]{1,4}", any::<Option<i32>>(), 1..5),
            pretty in any::<bool>(),
        ) {
            let value = json!(members);
            let text = if pretty { format!("{value:#}\n") } else { value.to_string() };
            let mut document = put(&text);
            let edited = document.get(&[]).unwrap();
            prop_assert_eq!(&edited["hooks"]["Stop"][0]["command"], "x");
            document.remove(&[Segment::Key("hooks"), Segment::Key("Stop"), Segment::Index(0)]);
            prop_assert_eq!(document.into_text(), text);
        }
    }
}
