//! Lets text go that cannot hold a secret, before the automaton is even built.

/// Tells whether `text` is plain words: no assignment, no URL and no word that could be a
/// token or a password.
pub(super) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    // The dearest questions last: most texts that are not plain have such a word near their beginning.
    !bytes.contains(&b'=')
        && !bytes.contains(&b':')
        && !bytes.split(u8::is_ascii_whitespace).any(may_be_secret)
        && !text.contains("login")
        && !text.contains("----")
}

/// The shortest thing found without `=` or `:` is a flag's value or a password in a
/// sentence: six bytes, of more than one kind.
fn may_be_secret(word: &[u8]) -> bool {
    word.len() >= 6
        && (word.iter().skip(1).any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
            || word.iter().any(|b| b"!@#$%^&*+?~<('\"".contains(b))
            || word.len() >= 16)
}
