//! From text to tree.

use std::collections::{BTreeMap, HashMap};

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, StrInput, Tag};

use super::scalar::resolve;
use super::{Entry, Node, Position, Value};

/// The most nodes a file may unfold to. Far above any honest file; aliases of aliases reach it fast.
const NODE_LIMIT: usize = 100_000;
const DEPTH_LIMIT: usize = 64;

/// Something wrong with a text, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub at: Position,
    pub fault: Fault,
}

/// What can be wrong with a text before anybody asks what it means.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Not YAML.
    #[error("not valid YAML: {reason}")]
    Syntax {
        /// In the parser's words.
        reason: String,
    },
    /// The same key twice in one map.
    #[error("the key `{key}` is given twice")]
    DuplicateKey {
        key: String,
        /// Where it was given first.
        first: Position,
    },
    /// A key that is a list, a map or nothing.
    #[error("a key must be text")]
    KeyNotText,
    /// `!thing`.
    #[error("the tag `{tag}` is not supported")]
    Tag {
        /// The tag as written.
        tag: String,
    },
    /// A second `---`.
    #[error("the file holds more than one document")]
    ManyDocuments,
    /// An alias inside the value that it stands for.
    #[error("this alias refers to a value that contains it")]
    SelfReference,
    /// `<<` with something that cannot be merged.
    #[error("`<<` takes a map, or a list of maps")]
    MergeNotMap,
    /// More nodes than any honest file has.
    #[error("the file expands to more than {NODE_LIMIT} values")]
    TooLarge,
}

impl Fault {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { reason } if reason.contains("tab") => {
                Some("indent with spaces; YAML does not allow tabs there".to_owned())
            }
            Self::DuplicateKey { first, .. } => {
                Some(format!("it is on line {} already; keep one of the two", first.line))
            }
            Self::Tag { .. } => Some("leave the tag out".to_owned()),
            Self::ManyDocuments => Some("keep one document, without `---` in between".to_owned()),
            Self::SelfReference | Self::TooLarge => {
                Some("write the value out instead of using an alias".to_owned())
            }
            Self::Syntax { .. } | Self::KeyNotText | Self::MergeNotMap => None,
        }
    }
}

/// Reads one document. A text without any is [`Value::Empty`].
///
/// `source` is written into every [`Position`], for the caller to tell texts apart.
pub fn parse(text: &str, source: u16) -> Result<Node, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: DEPTH_LIMIT,
        block_nesting_limit: DEPTH_LIMIT,
    };
    let parser = Parser::new_from_str_with_options(text, options);
    let mut builder =
        Builder { parser, source, anchors: HashMap::new(), size: 0, problems: Vec::new() };
    match builder.stream() {
        Ok(node) if builder.problems.is_empty() => return Ok(node),
        Ok(_) => {}
        Err(problem) => builder.problems.push(problem),
    }
    Err(builder.problems)
}

struct Builder<'a> {
    parser: Parser<'a, StrInput<'a>>,
    source: u16,
    anchors: HashMap<usize, Node>,
    size: usize,
    /// What did not stop the reading; what does is returned.
    problems: Vec<Problem>,
}

type Parsed<T> = Result<T, Problem>;

impl<'a> Builder<'a> {
    fn stream(&mut self) -> Parsed<Node> {
        let mut document = None;
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(..) if document.is_some() => {
                    return Err(Problem { at, fault: Fault::ManyDocuments });
                }
                Event::DocumentStart(..) => {
                    let (event, at) = self.next()?;
                    document = Some(self.node(event, at)?);
                }
                _ => {}
            }
        }
        let start = Position { source: self.source, line: 1, column: 1 };
        Ok(document.unwrap_or(Node { at: start, value: Value::Empty }))
    }

    fn next(&mut self) -> Parsed<(Event<'a>, Position)> {
        match self.parser.next_event() {
            // Where nothing is written the parser says `~`, over no characters.
            Some(Ok((Event::Scalar(_, ScalarStyle::Plain, anchor, tag), span)))
                if span.is_empty() =>
            {
                let nothing = Event::Scalar("".into(), ScalarStyle::Plain, anchor, tag);
                Ok((nothing, self.place(span.start)))
            }
            Some(Ok((event, span))) => Ok((event, self.place(span.start))),
            Some(Err(error)) => Err(self.syntax(&error)),
            None => Ok((Event::StreamEnd, self.place(Marker::default()))),
        }
    }

    fn node(&mut self, event: Event<'a>, at: Position) -> Parsed<Node> {
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let as_text = style != ScalarStyle::Plain || self.is_text_tag(tag.as_deref(), at);
                (if as_text { Value::Text(text.into_owned()) } else { resolve(&text) }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.is_text_tag(tag.as_deref(), at);
                (Value::List(self.items()?), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.is_text_tag(tag.as_deref(), at);
                (Value::Map(self.entries()?), anchor)
            }
            Event::Alias(id) => return self.alias(id, at),
            _ => return Err(Problem { at, fault: Fault::KeyNotText }),
        };
        let node = Node { at, value };
        self.grow(1, at)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn items(&mut self) -> Parsed<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, at) => items.push(self.node(event, at)?),
            }
        }
    }

    fn entries(&mut self) -> Parsed<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut seen: BTreeMap<String, Position> = BTreeMap::new();
        let mut merged = Vec::new();
        loop {
            let (event, at) = match self.next()? {
                (Event::MappingEnd, _) => break,
                other => other,
            };
            let is_merge =
                matches!(&event, Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<");
            let key = self.key(event, at)?;
            let (event, value_at) = self.next()?;
            let value = self.node(event, value_at)?;
            let Some(key) = key else { continue };
            if is_merge {
                merged.extend(self.mergeable(value));
            } else if let Some(first) = seen.get(&key) {
                self.problems
                    .push(Problem { at, fault: Fault::DuplicateKey { key, first: *first } });
            } else {
                seen.insert(key.clone(), at);
                entries.push(Entry { key, at, value });
            }
        }
        for entry in merged {
            if seen.insert(entry.key.clone(), entry.at).is_none() {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// The key's text; none, and a problem, when it has none.
    fn key(&mut self, event: Event<'a>, at: Position) -> Parsed<Option<String>> {
        if let Event::Scalar(text, ..) = &event
            && !text.is_empty()
        {
            let text = text.clone().into_owned();
            self.node(event, at)?;
            return Ok(Some(text));
        }
        self.problems.push(Problem { at, fault: Fault::KeyNotText });
        self.node(event, at)?;
        Ok(None)
    }

    fn mergeable(&mut self, node: Node) -> Vec<Entry> {
        match node.value {
            Value::Map(entries) => entries,
            Value::List(maps) if maps.iter().all(|map| matches!(map.value, Value::Map(_))) => {
                maps.into_iter().flat_map(|map| self.mergeable(map)).collect()
            }
            _ => {
                self.problems.push(Problem { at: node.at, fault: Fault::MergeNotMap });
                Vec::new()
            }
        }
    }

    fn alias(&mut self, id: usize, at: Position) -> Parsed<Node> {
        let Some(node) = self.anchors.get(&id) else {
            // The parser has refused names it does not know: this one is still being read.
            return Err(Problem { at, fault: Fault::SelfReference });
        };
        let node = node.clone();
        self.grow(node.size(), at)?;
        Ok(node)
    }

    fn grow(&mut self, by: usize, at: Position) -> Parsed<()> {
        self.size += by;
        if self.size > NODE_LIMIT { Err(Problem { at, fault: Fault::TooLarge }) } else { Ok(()) }
    }

    /// Whether the tag says "text"; one that is not of YAML itself is a problem.
    fn is_text_tag(&mut self, tag: Option<&Tag>, at: Position) -> bool {
        let Some(tag) = tag else { return false };
        if !tag.is_yaml_core_schema() {
            self.problems.push(Problem { at, fault: Fault::Tag { tag: tag.original() } });
        }
        tag.is_yaml_core_schema_tag("str")
    }

    fn syntax(&self, error: &ScanError) -> Problem {
        let fault = Fault::Syntax { reason: error.info() };
        Problem { at: self.place(*error.marker()), fault }
    }

    fn place(&self, marker: Marker) -> Position {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position {
            source: self.source,
            line: number(marker.line()),
            column: number(marker.col() + 1),
        }
    }
}
