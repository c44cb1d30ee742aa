//! An error with everything that caused it, as one line.

use std::error::Error;

/// The error, then each cause after a colon. A cause that the error before it already ends with is
/// not said twice: many errors put their source into their own text.
pub fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read {path}")]
    struct Outer {
        path: &'static str,
        source: Middle,
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the disk said: {source}")]
    struct Middle {
        source: std::fmt::Error,
    }

    #[test]
    fn every_cause_is_told_and_none_of_them_twice() {
        let error = Outer { path: "a.txt", source: Middle { source: std::fmt::Error } };
        assert_eq!(told(&error), format!("cannot read a.txt: the disk said: {}", std::fmt::Error));
    }
}
