//! Holding a block under its limit: the least valuable goes first.

use crate::tokens::CHARACTERS_PER_TOKEN;

use super::block::{Inherited, InheritedNote};
use super::progress::Progress;
use super::select::Category;

/// What is given up, in this order, once the progress summary is gone.
const LEAST_VALUABLE_FIRST: [Category; 4] =
    [Category::Patterns, Category::Learnings, Category::Decisions, Category::Warnings];

/// What an item costs besides its own characters: comma, line end and indentation; the same again
/// for its rich form.
const PER_ITEM: usize = 8;
/// What closing the five lists and wider numbers can cost.
const SLACK: usize = 60;

/// An item as it will be delivered.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) string: String,
    /// The same with all that is known about it, where there is room for that.
    pub(super) note: Option<InheritedNote>,
}

/// Everything that could be delivered.
#[derive(Debug)]
pub(super) struct Draft {
    /// The block with neither items nor summary.
    pub(super) block: Inherited,
    /// The summary.
    pub(super) progress: Progress,
    /// The items of each category of [`Category::NOTES`], oldest first.
    pub(super) items: [Vec<Delivery>; 4],
}

impl Draft {
    /// Makes the block, which costs at most `max_tokens` unless its envelope alone costs more.
    pub(super) fn fit(mut self, max_tokens: usize) -> Inherited {
        let limit = max_tokens.saturating_mul(CHARACTERS_PER_TOKEN);
        let mut size = self.size();
        if size > limit {
            self.lighten();
            size = self.size();
        }
        // Nothing is left out so that something else can be said twice.
        if size > limit {
            size -= self.say_once(|note| !note.rests_on_something(), size - limit);
        }
        if size > limit {
            size -= self.say_once(|note| note.evidence.is_empty(), size - limit);
        }
        if size > limit {
            size -= self.shorten_progress(size - limit);
        }
        for category in LEAST_VALUABLE_FIRST {
            let list = &mut self.items[category as usize];
            let mut dropped = 0;
            while size > limit && dropped < list.len() {
                size -= list[dropped].cost();
                dropped += 1;
            }
            list.drain(..dropped);
            *self.block.truncated.count(category) += dropped;
        }
        self.deliver()
    }

    fn size(&self) -> usize {
        let items: usize = self.items.iter().flatten().map(Delivery::cost).sum();
        self.block.characters() + SLACK + quoted(&self.progress.render()) + items
    }

    /// Takes from the rich forms what is only of use to programs.
    fn lighten(&mut self) {
        let notes = self.items.iter_mut().flatten().filter_map(|delivery| delivery.note.as_mut());
        for note in notes.filter(|note| !note.rests_on_something()) {
            note.id = None;
            note.at = None;
        }
    }

    /// Drops rich forms that say little more than their string, the oldest first, until `excess` is
    /// saved; what was saved.
    fn say_once(&mut self, is_little: impl Fn(&InheritedNote) -> bool, excess: usize) -> usize {
        let mut saved = 0;
        for delivery in self.items.iter_mut().flatten() {
            if saved >= excess {
                break;
            }
            let before = delivery.cost();
            if delivery.note.take_if(|note| is_little(note)).is_some() {
                saved += before - delivery.cost();
            }
        }
        saved
    }

    fn shorten_progress(&mut self, excess: usize) -> usize {
        let before = self.progress.render();
        self.progress.shorten(excess);
        let after = self.progress.render();
        self.block.truncated.progress += before.chars().count() - after.chars().count();
        quoted(&before) - quoted(&after)
    }

    fn deliver(self) -> Inherited {
        let Self { mut block, progress, items } = self;
        block.progress_summary = progress.render();
        for (category, list) in Category::NOTES.into_iter().zip(items) {
            for delivery in list {
                block.notes.extend(delivery.note);
                if let Some(strings) = block.strings_mut(category) {
                    strings.push(delivery.string);
                }
            }
        }
        block.redacted = block.count_redacted();
        block.measure();
        block
    }
}

impl Delivery {
    fn cost(&self) -> usize {
        let rich = self.note.as_ref().map_or(0, |note| {
            let text = crate::layout::to_lines(note, 0).expect("notes always serialise");
            text.chars().count() + PER_ITEM
        });
        quoted(&self.string) + PER_ITEM + rich
    }
}

/// Characters of `text` as a JSON string.
fn quoted(text: &str) -> usize {
    serde_json::to_string(text).expect("text always serialises").chars().count()
}
