//! Where sentences end: a text is cut there, and nowhere else if that can be helped.

/// The sentences of a text. The white space between two begins the second.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(end) = rest
        .char_indices()
        .zip(rest.chars().skip(1))
        .find(|((_, c), next)| *c == '\n' || ".!?;".contains(*c) && next.is_whitespace())
        .map(|((at, c), _)| at + c.len_utf8())
    {
        let (sentence, behind) = rest.split_at(end);
        found.push(sentence);
        rest = behind;
    }
    found.push(rest);
    found
}

/// As many whole sentences of a text on one line as `longest` characters hold; where not even the first
/// one fits, as many of its words.
pub(super) fn fitting(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let end = text.char_indices().nth(longest).map_or(text.len(), |(end, _)| end);
    let ends = split(text).into_iter().scan(0, |end, sentence| {
        *end += sentence.len();
        Some(*end)
    });
    // The space behind it has to fit as well.
    if let Some(whole) = ends.take_while(|whole| *whole < end).last() {
        return format!("{} …", &text[..whole]);
    }
    let begun = &text[..end];
    let words = begun.rfind(' ').map_or(begun, |end| &begun[..end]);
    let words: String = words.chars().take(longest.saturating_sub(1)).collect();
    format!("{words}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_a_sentence_ends_or_else_between_words() {
        let text = "Keep v1.0 as it is; it is read by ops. Then go on.";
        assert_eq!(split(text), ["Keep v1.0 as it is;", " it is read by ops.", " Then go on."]);
        assert_eq!(fitting(text, 50), text);
        assert_eq!(fitting(text, 49), "Keep v1.0 as it is; it is read by ops. …");
        assert_eq!(fitting(text, 39), "Keep v1.0 as it is; it is read by ops. …");
        assert_eq!(fitting(text, 38), "Keep v1.0 as it is; …");
        assert_eq!(fitting(text, 12), "Keep v1.0…");
        assert_eq!(fitting("unbroken", 4), "unb…");
    }
}
