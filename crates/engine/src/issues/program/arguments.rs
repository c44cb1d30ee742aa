//! Command lines for the programs.
//!
//! Texts of issues begin with whatever people write, lists above all. None of them may be taken for
//! an option.

/// A command line that is being put together.
pub(super) struct Arguments(Vec<String>);

impl Arguments {
    pub(super) fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// An option with its value. One that could be taken for another option is tied to its name.
    pub(super) fn option(&mut self, name: &str, value: Option<&str>) {
        match value {
            None => {}
            Some(value) if value.starts_with('-') && name.starts_with("--") => {
                self.0.push(format!("{name}={value}"));
            }
            // A short option takes whatever stands right behind it.
            Some(value) if value.starts_with('-') => self.0.push(format!("{name}{value}")),
            Some(value) => self.0.extend([name.to_owned(), value.to_owned()]),
        }
    }

    /// The whole line, with the answer asked for as JSON.
    pub(super) fn json(mut self) -> Vec<String> {
        self.0.push("--json".to_owned());
        self.0
    }

    /// The whole line with a text at `at`, or behind everything if it could be taken for an option.
    pub(super) fn json_with(self, at: usize, text: &str) -> Vec<String> {
        let mut arguments = self.json();
        if text.starts_with('-') {
            arguments.extend(["--".to_owned(), text.to_owned()]);
        } else {
            arguments.insert(at, text.to_owned());
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_taken_for_an_option() {
        let line = |text: &str| {
            let mut arguments = Arguments::new(&["create"]);
            arguments.option("-d", Some(text));
            arguments.option("--notes", Some(text));
            arguments.option("--design", None);
            arguments.json_with(1, text).join("|")
        };
        assert_eq!(line("text"), "create|text|-d|text|--notes|text|--json");
        assert_eq!(line("- x"), "create|-d- x|--notes=- x|--json|--|- x");
        assert_eq!(line(""), "create||-d||--notes||--json");
    }
}
