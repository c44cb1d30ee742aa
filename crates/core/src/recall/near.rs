//! What a mistyped word may have meant.

/// How many letters a word must share from its beginning to be looked at: a slip is rarely in the first
/// two, and looking at all words would take a hundred times as long.
pub const SHARED: usize = 2;

/// How many slips are forgiven in a word of so many letters.
const fn forgiven(letters: usize) -> usize {
    match letters {
        0..=3 => 0,
        4..=6 => 1,
        _ => 2,
    }
}

/// The nearest of the `known` words, each with how often it occurs: the fewest slips, then the most
/// frequent.
pub fn nearest<S: AsRef<str>>(word: &str, known: impl IntoIterator<Item = (S, u64)>) -> Option<S> {
    let letters = word.chars().count();
    let allowed = forgiven(letters);
    if allowed == 0 {
        return None;
    }
    known
        .into_iter()
        .filter(|(each, _)| each.as_ref().chars().count().abs_diff(letters) <= allowed)
        // Another number is another thing: whoever asks for E0382 has no use for E0308.
        .filter(|(each, _)| digits(word).eq(digits(each.as_ref())))
        .filter_map(|(each, count)| {
            let slips = strsim::damerau_levenshtein(word, each.as_ref());
            (slips > 0 && slips <= allowed).then_some((slips, u64::MAX - count, each))
        })
        .min_by_key(|(slips, rarity, _)| (*slips, *rarity))
        .map(|(_, _, each)| each)
}

fn digits(word: &str) -> impl Iterator<Item = char> + '_ {
    word.chars().filter(char::is_ascii_digit)
}

/// The beginning by which candidates are looked up; `None` where the word is too short to be guessed at.
pub fn beginning(word: &str) -> Option<&str> {
    let (end, _) = word.char_indices().nth(SHARED)?;
    (forgiven(word.chars().count()) > 0).then_some(&word[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_never_taken_for_another() {
        assert_eq!(nearest("2025", [("2026", 9)]), None);
        assert_eq!(nearest("e0382", [("e0308", 9)]), None);
        assert_eq!(nearest("sqllite3", [("sqlite3", 1)]), Some("sqlite3"));
    }

    #[test]
    fn a_slip_is_forgiven_and_more_of_them_in_a_long_word() {
        let known = [("sqlite", 5), ("sqlx", 900), ("squirrel", 1)];
        assert_eq!(nearest("sqllite", known), Some("sqlite"));
        assert_eq!(nearest("sqlitee", known), Some("sqlite"));
        assert_eq!(nearest("sql", known), None);
        assert_eq!(nearest("kangaroo", known), None);
    }

    #[test]
    fn of_two_that_are_as_near_the_frequent_one_is_meant() {
        assert_eq!(nearest("tokan", [("toman", 1), ("token", 50)]), Some("token"));
    }

    #[test]
    fn short_words_are_not_guessed_at() {
        assert_eq!(beginning("abc"), None);
        assert_eq!(beginning("abcd"), Some("ab"));
        assert_eq!(beginning("größe"), Some("gr"));
    }
}
