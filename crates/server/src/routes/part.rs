//! Lists that are given part by part.

use heirloom_api::{Code, Failure};

/// The most of a part.
const MOST: usize = 1000;

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part<'a> {
    cursor: Option<&'a str>,
    limit: Option<usize>,
}

impl<'a> Part<'a> {
    pub(crate) fn new(cursor: Option<&'a str>, limit: Option<usize>) -> Self {
        Self { cursor: cursor.filter(|cursor| !cursor.is_empty()), limit }
    }

    /// The items after the one that the cursor names, and the cursor for those after them. Things that come
    /// and go in between do not shift the parts.
    pub(crate) fn of<T>(
        self,
        all: Vec<T>,
        id: impl Fn(&T) -> String,
    ) -> Result<(Vec<T>, Option<String>), Failure> {
        let start = match self.cursor {
            None => 0,
            Some(cursor) => {
                let at = all.iter().position(|item| id(item) == cursor);
                at.ok_or_else(|| bad_cursor(cursor))? + 1
            }
        };
        let limit = self.limit.unwrap_or(MOST).clamp(1, MOST);
        let (items, is_more) = cut(all, start, limit);
        let next = items.last().filter(|_| is_more).map(id);
        Ok((items, next))
    }

    /// The same for what has no id: the cursor is how many there were before.
    pub(crate) fn counted(self, usual: usize, most: usize) -> Result<(usize, usize), Failure> {
        let start = self.cursor.map(|text| text.parse().map_err(|_| bad_cursor(text)));
        let limit = self.limit.unwrap_or(usual).clamp(1, most);
        Ok((start.transpose()?.unwrap_or(0), limit))
    }
}

fn bad_cursor(cursor: &str) -> Failure {
    Failure::new(Code::RequestInvalid, format!("`{cursor}` is no cursor of this list"))
        .hint("use the `next` of the previous part; if that is gone, start over")
}

/// `limit` items from `start`, and whether there are more.
pub(crate) fn cut<T>(all: Vec<T>, start: usize, limit: usize) -> (Vec<T>, bool) {
    let is_more = start.saturating_add(limit) < all.len();
    (all.into_iter().skip(start).take(limit).collect(), is_more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_whole_whatever_comes_in_between() {
        let all: Vec<u8> = (0..7).collect();
        let id = |item: &u8| item.to_string();
        let (first, next) = Part::new(None, Some(3)).of(all.clone(), id).unwrap();
        assert_eq!((first, next.as_deref()), (vec![0, 1, 2], Some("2")));
        // Another one at the head, and one that went.
        let changed: Vec<u8> = [9].into_iter().chain(all.into_iter().filter(|n| *n != 1)).collect();
        let (second, next) = Part::new(Some("2"), Some(3)).of(changed.clone(), id).unwrap();
        assert_eq!((second, next.as_deref()), (vec![3, 4, 5], Some("5")));
        let (last, next) = Part::new(Some("5"), Some(3)).of(changed.clone(), id).unwrap();
        assert_eq!((last, next), (vec![6], None));
        assert!(Part::new(Some("1"), None).of(changed, id).is_err());
        assert!(Part::new(Some("x"), None).counted(20, 200).is_err());
    }
}
