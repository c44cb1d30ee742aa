//! A file of issues, one a line.
//!
//! Lines that nothing happens to keep their bytes, and all keep their order. A line that cannot be
//! read is an error: what is skipped when reading would be lost when writing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use heirloom_core::issue::{BadIssue, Edge, Entry, Issue, IssueId, Line, glance, read_text};

use crate::issues::TrackerError;

/// What a merge that was not resolved leaves in a file.
const MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// A file of issues.
#[derive(Debug)]
pub(in crate::issues) struct Document {
    path: PathBuf,
    rows: Vec<Row>,
    at: HashMap<IssueId, usize>,
}

/// A line of the file. One without an issue is blank.
#[derive(Debug)]
struct Row {
    text: String,
    ending: &'static str,
    issue: Option<(Entry, Vec<Edge>)>,
}

impl Document {
    /// Reads the bytes of the file at `path`.
    pub(in crate::issues) fn read(path: &Path, bytes: &[u8]) -> Result<Self, TrackerError> {
        let content = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = before.split(|byte| *byte == b'\n').count();
            let why = BadIssue::NotJson { why: "it is not UTF-8".to_owned() };
            TrackerError::Line { path: path.to_owned(), line, why }
        })?;
        Self::parse(path, content)
    }

    /// Reads the content of the file at `path`.
    fn parse(path: &Path, content: &str) -> Result<Self, TrackerError> {
        let mut document = Self { path: path.to_owned(), rows: Vec::new(), at: HashMap::new() };
        for (line, whole) in (1..).zip(content.split_inclusive('\n')) {
            let row = document.row(line, whole)?;
            if let Some((entry, _)) = &row.issue
                && let Some(first) = document.at.insert(entry.id.clone(), line - 1)
            {
                let (path, id) = (path.to_owned(), entry.id.clone());
                return Err(TrackerError::Twice { path, line, first: first + 1, id });
            }
            document.rows.push(row);
        }
        Ok(document)
    }

    fn row(&self, line: usize, whole: &str) -> Result<Row, TrackerError> {
        let text = whole.trim_end_matches(['\n', '\r']);
        let ending = match &whole[text.len()..] {
            "" => "",
            "\r\n" => "\r\n",
            _ => "\n",
        };
        if MARKERS.iter().any(|marker| text.starts_with(marker)) {
            return Err(TrackerError::Conflict { path: self.path.clone(), line });
        }
        let issue = if text.trim().is_empty() {
            None
        } else {
            Some(glance(text).map_err(|why| self.bad(line, why))?)
        };
        Ok(Row { text: text.to_owned(), ending, issue })
    }

    fn bad(&self, line: usize, why: BadIssue) -> TrackerError {
        TrackerError::Line { path: self.path.clone(), line, why }
    }

    /// What choosing needs of every issue, and what they depend on.
    pub(in crate::issues) fn backlog(self) -> (Vec<Entry>, Vec<Edge>) {
        let (entries, edges): (Vec<Entry>, Vec<Vec<Edge>>) =
            self.rows.into_iter().filter_map(|row| row.issue).unzip();
        (entries, edges.into_iter().flatten().collect())
    }

    /// What the issues depend on.
    pub(in crate::issues) fn edges(&self) -> Vec<Edge> {
        let issues = self.rows.iter().filter_map(|row| row.issue.as_ref());
        issues.flat_map(|(_, edges)| edges).cloned().collect()
    }

    /// The ids of all issues, those that were deleted too.
    pub(in crate::issues) fn ids(&self) -> impl Iterator<Item = &IssueId> {
        self.rows.iter().filter_map(|row| row.issue.as_ref()).map(|(entry, _)| &entry.id)
    }

    /// Whether an issue with that id is or was there.
    pub(in crate::issues) fn has(&self, id: &IssueId) -> bool {
        self.at.contains_key(id)
    }

    /// Every issue, with its line to the letter.
    pub(in crate::issues) fn issues(
        &self,
    ) -> impl Iterator<Item = Result<(&str, Issue), TrackerError>> {
        let rows = (1..).zip(&self.rows).filter(|(_, row)| row.issue.is_some());
        rows.map(|(line, row)| {
            let issue = read_text(&row.text).map_err(|why| self.bad(line, why))?;
            Ok((row.text.as_str(), issue))
        })
    }

    /// One issue that was not deleted.
    pub(in crate::issues) fn find(&self, id: &IssueId) -> Result<Option<Issue>, TrackerError> {
        let Some(at) = self.at.get(id) else { return Ok(None) };
        let issue = read_text(&self.rows[*at].text).map_err(|why| self.bad(at + 1, why))?;
        Ok(Some(issue).filter(|issue| !issue.status.is_deleted()))
    }

    /// Changes the line of an issue that is there.
    pub(in crate::issues) fn edit(
        &mut self,
        id: &IssueId,
        change: impl FnOnce(&mut Line),
    ) -> Result<(), TrackerError> {
        let Some(at) = self.at.get(id).copied() else { return Ok(()) };
        let mut line = Line::parse(&self.rows[at].text).map_err(|why| self.bad(at + 1, why))?;
        change(&mut line);
        let text = line.to_string();
        let issue = glance(&text).map_err(|why| self.bad(at + 1, why))?;
        let row = &mut self.rows[at];
        (row.text, row.issue) = (text, Some(issue));
        Ok(())
    }

    /// Adds an issue: where its id belongs, if the file is in the order of ids, else at the end.
    pub(in crate::issues) fn add(&mut self, line: &Line) -> Result<(), TrackerError> {
        let text = line.to_string();
        let issue = glance(&text).map_err(|why| self.bad(self.rows.len() + 1, why))?;
        let id = issue.0.id.clone();
        let at = self.place_for(&id);
        let ending = self.rows.iter().map(|row| row.ending).find(|ending| !ending.is_empty());
        let ending = ending.unwrap_or("\n");
        // The last line may have no end; it must not run into this one.
        if let Some(before) = at.checked_sub(1).map(|before| &mut self.rows[before])
            && before.ending.is_empty()
        {
            before.ending = ending;
        }
        self.rows.insert(at, Row { text, ending, issue: Some(issue) });
        let ids = self.rows.iter().enumerate();
        self.at =
            ids.filter_map(|(at, row)| Some((row.issue.as_ref()?.0.id.clone(), at))).collect();
        Ok(())
    }

    fn place_for(&self, id: &IssueId) -> usize {
        if !self.ids().is_sorted() {
            return self.rows.len();
        }
        let later = |row: &Row| row.issue.as_ref().is_some_and(|(entry, _)| entry.id > *id);
        self.rows.iter().position(later).unwrap_or(self.rows.len())
    }

    /// The highest number that a comment has.
    pub(in crate::issues) fn highest_comment(&self) -> u64 {
        let said = self.rows.iter().filter(|row| row.text.contains("\"comments\""));
        let lines = said.filter_map(|row| Line::parse(&row.text).ok());
        lines.map(|line| line.highest_comment()).max().unwrap_or(0)
    }

    /// The content of the file.
    pub(in crate::issues) fn render(&self) -> String {
        self.rows.iter().flat_map(|row| [row.text.as_str(), row.ending]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_core::issue::NewIssue;
    use jiff::Timestamp;
    use proptest::prelude::*;

    fn parse(content: &str) -> Result<Document, TrackerError> {
        Document::parse(Path::new("issues.jsonl"), content)
    }

    fn line(id: &str) -> String {
        format!(r#"{{"zeta":1.0,"id":"{id}","title":"t","status":"open"}}"#)
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        let said = |content: &str| parse(content).unwrap_err().to_string();
        let good = line("a");
        assert_eq!(
            said(&format!("{good}\n{{\"id\":\"b\"}}\n")),
            "issues.jsonl:2 is not an issue: it has no `title`"
        );
        assert_eq!(
            said(&format!("{good}\n<<<<<<< HEAD\n{good}\n")),
            "issues.jsonl:2: unresolved merge conflict"
        );
        assert_eq!(said(&format!("{good}\n\n{good}\n")), "issues.jsonl:3 is a, and so is line 1");
        let bytes = [good.as_bytes(), b"\n\xff\n"].concat();
        assert_eq!(
            Document::read(Path::new("x"), &bytes).unwrap_err().to_string(),
            "x:2 is not an issue: it is not JSON: it is not UTF-8"
        );
        assert!(said("oops").starts_with("issues.jsonl:1 is not an issue: it is not JSON"));
    }

    #[test]
    fn a_new_issue_goes_where_its_id_belongs_or_to_the_end() {
        let new = |id: &str| {
            Line::of(
                &NewIssue { title: "n".into(), ..NewIssue::default() }
                    .make(id.parse().unwrap(), Timestamp::UNIX_EPOCH),
            )
        };
        let add = |content: &str| {
            let mut document = parse(content).unwrap();
            document.add(&new("b")).unwrap();
            let ids: Vec<String> = document.ids().map(IssueId::to_string).collect();
            assert!(document.has(&"c".parse().unwrap()) == content.contains("\"c\""));
            (ids.join(" "), document.render())
        };
        let (a, c) = (line("a"), line("c"));
        let (ids, text) = add(&format!("{a}\r\n{c}\r\n"));
        assert_eq!(ids, "a b c");
        assert_eq!(text, format!("{a}\r\n{}\r\n{c}\r\n", new("b")));
        let (ids, text) = add(&format!("{c}\n{a}"));
        assert_eq!(ids, "c a b");
        assert_eq!(text, format!("{c}\n{a}\n{}\n", new("b")));
        assert_eq!(add("").1, format!("{}\n", new("b")));
    }

    /// A value as somebody else may have written it.
    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("1.50".to_owned()),
            Just("-0".to_owned()),
            Just("123456789012345678901234567890".to_owned()),
            Just("1E+2".to_owned()),
            Just(r#""\u0041\/ä""#.to_owned()),
            "[a-z ]{0,6}".prop_map(|text| format!("\"{text}\"")),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3)
                    .prop_map(|items| format!("[{}]", items.join(" , "))),
                inner.prop_map(|value| format!("{{ \"k\" : {value} }}")),
            ]
        })
    }

    /// A file of issues in which strangers put whatever they like between what we know.
    fn file() -> impl Strategy<Value = String> {
        let stranger = ("x[a-z]{1,5}", value());
        let issue =
            (prop::collection::btree_map("x[a-z]{1,5}", value(), 0..4), any::<bool>(), stranger);
        prop::collection::vec((issue, any::<bool>()), 1..8).prop_map(|issues| {
            let line = |(number, ((strangers, first, last), crlf)): (usize, _)| -> String {
                let strangers: std::collections::BTreeMap<String, String> = strangers;
                let (last, crlf): ((String, String), bool) = (last, crlf);
                let known = format!(r#""id":"bd-{number}", "title" : "t {number}""#);
                let others: Vec<String> =
                    strangers.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                let mut parts = if first { vec![known] } else { Vec::new() };
                parts.extend(others);
                if !first {
                    parts.push(format!(r#""id":"bd-{number}","title":"t {number}""#));
                }
                if !strangers.contains_key(&last.0) {
                    parts.push(format!("\"{}\":{}", last.0, last.1));
                }
                format!("{{{}}}{}", parts.join(","), if crlf { "\r\n" } else { "\n" })
            };
            issues.into_iter().enumerate().map(line).collect()
        })
    }

    proptest! {
        #[test]
        fn untouched_lines_keep_their_bytes_and_touched_ones_their_strangers(
            content in file(), touched in any::<prop::sample::Index>()
        ) {
            let mut document = parse(&content).unwrap();
            prop_assert_eq!(document.render(), content.clone());
            let touched = touched.index(content.lines().count());
            let id: IssueId = format!("bd-{touched}").parse().unwrap();
            let before = document.find(&id).unwrap().unwrap();
            let after = Issue { notes: Some("found".to_owned()), ..before.clone() };
            document.edit(&id, |line| line.update(&before, &after)).unwrap();
            let rendered = document.render();
            let (old, new): (Vec<&str>, Vec<&str>) =
                (content.split_inclusive('\n').collect(), rendered.split_inclusive('\n').collect());
            prop_assert_eq!(old.len(), new.len());
            for (at, (old, new)) in old.iter().zip(&new).enumerate() {
                if at != touched {
                    prop_assert_eq!(old, new);
                    continue;
                }
                let without = new.replacen(r#""notes":"found","#, "", 1);
                let without = without.replacen(r#","notes":"found""#, "", 1);
                // Only the space around what we know is ours to choose.
                let tight = |text: &str| text.replace(r#"", "title" : ""#, r#"","title":""#);
                prop_assert_eq!(tight(old), tight(&without));
            }
        }
    }
}
