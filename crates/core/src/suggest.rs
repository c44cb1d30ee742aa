//! "Did you mean": the nearest of the known words.

/// Returns the candidate nearest to `given`, when one is near enough to be what was meant.
///
/// Near enough is a typing slip: a distance of at most a third of the word, at least one, or one
/// being the beginning of the other. Ties go to the first candidate, so callers order them by how
/// likely they are.
pub fn nearest<'a, I>(given: &str, candidates: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    let given = given.to_lowercase();
    let allowed = (given.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&given, candidate, allowed)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(given: &str, candidate: &str, allowed: usize) -> Option<usize> {
    let candidate = candidate.to_lowercase();
    let is_beginning = given.len() >= 3 && candidate.starts_with(given);
    let distance = strsim::damerau_levenshtein(given, &candidate);
    // A beginning ranks behind a slip of one letter, before anything further away.
    if distance <= 1 {
        Some(distance * 2)
    } else if is_beginning {
        Some(3)
    } else {
        None
    }
    .or_else(|| (distance <= allowed).then_some(distance * 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [&str; 4] = ["learning", "pattern", "warning", "decision"];

    #[test]
    fn a_slip_finds_the_word() {
        assert_eq!(nearest("lerning", KINDS), Some("learning"));
        assert_eq!(nearest("desicion", KINDS), Some("decision"));
        assert_eq!(nearest("Pattern", KINDS), Some("pattern"));
    }

    #[test]
    fn a_beginning_finds_the_word() {
        assert_eq!(nearest("auth", ["payments", "auth-v2-review"]), Some("auth-v2-review"));
    }

    #[test]
    fn the_first_of_equals_wins() {
        assert_eq!(nearest("auth-v", ["auth-v2", "auth-v1"]), Some("auth-v2"));
    }

    #[test]
    fn a_stranger_finds_nothing() {
        assert_eq!(nearest("zebra", KINDS), None);
        assert_eq!(nearest("", KINDS), None);
        assert_eq!(nearest("x", []), None);
    }
}
