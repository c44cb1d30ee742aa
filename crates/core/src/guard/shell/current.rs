//! The command that is being read: its words so far, the compound commands it is in, and what was printed before it.

use std::mem::take;

use super::MAX_VALUE;
use super::read::{Input, Output};
use super::word::Lexed;
use super::world::Scope;

/// What a list has printed so far.
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) is_known: bool,
}

impl Default for Printed {
    fn default() -> Self {
        Self { text: String::new(), is_known: true }
    }
}

impl Printed {
    pub(super) fn add(&mut self, output: Output) {
        match output {
            Some(text) if self.text.len() + text.len() <= MAX_VALUE => self.text.push_str(&text),
            _ => self.is_known = false,
        }
    }

    pub(super) fn output(self) -> Output {
        self.is_known.then_some(self.text)
    }
}

/// The simple command that is being read, and what it is in.
pub(super) struct Current {
    pub(super) words: Vec<Lexed>,
    pub(super) piped: Option<Input>,
    pub(super) redirected: Option<Input>,
    pub(super) to: Option<(String, bool)>,
    /// What the command before this place printed.
    pub(super) stage: Option<Output>,
    pub(super) printed: Printed,
    pub(super) blocks: Vec<Block>,
    /// What comes in where nothing else is said.
    pub(super) outer: Input,
    /// It stands after `||`.
    pub(super) is_alternative: bool,
    pub(super) after_time: bool,
    /// The function whose body comes next.
    pub(super) defining: Option<String>,
}

/// A compound command that is open.
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) printed: Printed,
    pub(super) outer: Input,
}

pub(super) enum Kind {
    Plain,
    Conditional,
    Case,
    Function { name: String, start: usize, before: Before },
}

/// What the world was like before a function's body, which is read again where it is called.
pub(super) struct Before {
    pub(super) counts: [usize; 4],
    pub(super) flags: [bool; 2],
    pub(super) scope: Scope,
}

impl Current {
    pub(super) fn new(input: Input) -> Self {
        Self {
            words: Vec::new(),
            piped: None,
            redirected: None,
            to: None,
            stage: None,
            printed: Printed::default(),
            blocks: Vec::new(),
            outer: input,
            is_alternative: false,
            after_time: false,
            defining: None,
        }
    }

    pub(super) fn open(&mut self, kind: Kind) {
        let input = self.piped.take().unwrap_or_else(|| match &self.outer {
            Input::Nothing => Input::Later,
            outer => outer.clone(),
        });
        let outer = std::mem::replace(&mut self.outer, input);
        self.blocks.push(Block { kind, printed: take(&mut self.printed), outer });
    }

    pub(super) fn close(&mut self) -> Option<Kind> {
        let block = self.blocks.pop()?;
        self.settle();
        let inner = std::mem::replace(&mut self.printed, block.printed);
        self.stage = Some(inner.output());
        self.outer = block.outer;
        Some(block.kind)
    }

    pub(super) fn settle(&mut self) {
        if let Some(output) = self.stage.take() {
            self.printed.add(output);
        }
        self.piped = None;
    }

    pub(super) fn is_conditional(&self) -> bool {
        self.is_alternative
            || self.blocks.iter().any(|b| matches!(b.kind, Kind::Conditional | Kind::Case))
    }

    pub(super) fn in_case(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.kind, Kind::Case))
    }
}
