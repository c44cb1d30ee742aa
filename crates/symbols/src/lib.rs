//! The function, type or heading around a line: what makes evidence findable when lines move.
//!
//! A crate of its own, because the grammars are megabytes that neither a hook nor a test of the
//! engine should have to link. Languages without a grammar are read by their indentation.

mod indent;
mod syntax;

/// The names around `line` (counted from 1) of the file `path`, outermost first.
pub fn enclosing(path: &str, text: &str, line: u32) -> Option<String> {
    let names = match syntax::grammar(path) {
        Some(grammar) => syntax::names(&grammar, text, line),
        None if path.rsplit_once('.').is_some_and(|(_, ending)| ending == "md") => {
            indent::heading(text, line).into_iter().collect()
        }
        None => indent::header(text, line).into_iter().collect(),
    };
    (!names.is_empty()).then(|| names.join("::"))
}

#[cfg(test)]
mod tests {
    use super::enclosing;

    #[test]
    fn a_line_is_inside_its_function_and_type_in_every_language() {
        for (path, text, line, symbol) in [
            (
                "a.rs",
                "mod m {\n  impl Auth {\n    fn rotate() {\n      1\n    }\n  }\n}\n",
                4,
                "m::Auth::rotate",
            ),
            ("a.py", "class Auth:\n    def rotate(self):\n        return 1\n", 3, "Auth::rotate"),
            (
                "a.ts",
                "export class Auth {\n  rotate(): void {\n    go();\n  }\n}\n",
                3,
                "Auth::rotate",
            ),
            ("a.tsx", "const View = () => {\n  return <a/>;\n};\n", 2, "View"),
            ("a.js", "function rotate() {\n  go();\n}\n", 2, "rotate"),
            ("a.go", "package a\nfunc Rotate() {\n\tgo1()\n}\n", 3, "Rotate"),
            ("a.sh", "rotate() {\n  echo 1\n}\n", 2, "rotate"),
            ("a.md", "# One\n```\n# not one\n```\ntext\n", 5, "One"),
            ("a.lua", "function rotate()\n    go()\nend\n", 2, "function rotate()"),
        ] {
            assert_eq!(enclosing(path, text, line).as_deref(), Some(symbol), "{path}");
        }
    }

    #[test]
    fn a_line_at_the_top_is_inside_nothing() {
        assert_eq!(enclosing("a.rs", "use std::fs;\nfn a() {}\n", 1), None);
        assert_eq!(enclosing("a.rs", "", 7), None);
        assert_eq!(enclosing("a.txt", "one\ntwo\n", 2), None);
    }
}
