//! JSON laid out for readers: one item a line.
//!
//! Agents read files through tools that cut long lines, and people read diffs. A compact document is
//! one endless line, a pretty one spends most of its characters on indentation. Here the outer
//! levels are indented and whatever lies deeper stands on one line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes `value` with its outer `levels` of objects and arrays indented.
pub fn to_lines<T: Serialize + ?Sized>(value: &T, levels: usize) -> serde_json::Result<String> {
    let mut bytes = Vec::with_capacity(256);
    let layout = Layout { levels, depth: 0, has_items: false };
    value.serialize(&mut Serializer::with_formatter(&mut bytes, layout))?;
    Ok(String::from_utf8(bytes).expect("serde_json writes UTF-8"))
}

struct Layout {
    levels: usize,
    depth: usize,
    has_items: bool,
}

impl Layout {
    fn open<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_items = false;
        writer.write_all(bracket)
    }

    fn close<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let is_indented = self.depth <= self.levels;
        self.depth -= 1;
        if self.has_items && is_indented {
            self.new_line(writer)?;
        }
        self.has_items = true;
        writer.write_all(bracket)
    }

    fn item<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= self.levels {
            return self.new_line(writer);
        }
        if first { Ok(()) } else { writer.write_all(b" ") }
    }

    fn new_line<W: Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Layout {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn outer_levels_are_indented_and_items_stand_on_one_line() {
        let value = json!({"a": [{"b": [1, 2]}, {}], "c": {}, "d": []});
        insta::assert_snapshot!(to_lines(&value, 2).unwrap(), @r#"
        {
          "a": [
            {"b": [1, 2]},
            {}
          ],
          "c": {},
          "d": []
        }
        "#);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_laid_out_reads_back_as_the_same(value in any_json(), levels in 0usize..6) {
            let text = to_lines(&value, levels).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }
}
