//! Tells words and identifiers from random strings by their pairs of letters.
//!
//! Random tokens and long identifiers have about the same entropy; what differs is that the
//! letters of an identifier follow one another as they do in words. The table below holds,
//! for each pair, how common it is in English technical prose and identifiers, from 0 to 9.

/// Row: first letter, column: second letter.
#[rustfmt::skip]
const PAIRS: [&[u8; 26]; 26] = [
    b"26762351604867060778443242",
    b"52315000511610500442500020",
    b"72527306506530820547500030",
    b"52248321710412500452521020",
    b"73786552303668364987253630",
    b"51225510600420500333400030",
    b"40106134500325400541400000",
    b"60006000500121500424300020",
    b"65766560003669751567060405",
    b"20002000000000200010200000",
    b"31026010400102200042100000",
    b"61258220701602720145430060",
    b"74127000600241560042400000",
    b"62677582604324620278441031",
    b"34652440414668560865655200",
    b"61227014502600650745400020",
    b"00000000000100000000500000",
    b"72559440704454730576532050",
    b"51528216703432562268612040",
    b"71438306800432620765502151",
    b"54534330500657250666000101",
    b"50107000500000300001000000",
    b"40004003400103400330000000",
    b"20314101300000040004000100",
    b"21002000300223240142001000",
    b"30005000300000200000000001",
];

/// What a letter beside a digit counts for: rare in words, common in random strings.
const MIXED: usize = 1;
/// What the border between the words of `camelCase` counts for.
const CAMEL: usize = 3;

/// Returns how much `text` reads like words, in hundredths of a point: random strings are
/// around 200, identifiers around 600; strings with no pair at all count as words.
pub(super) fn score(text: &[u8]) -> usize {
    let (mut sum, mut count) = (0, 0);
    for pair in text.windows(2) {
        if let Some(points) = points(pair[0], pair[1]) {
            sum += points;
            count += 1;
        }
    }
    (sum * 100).checked_div(count).unwrap_or(500)
}

fn points(a: u8, b: u8) -> Option<usize> {
    match (a, b) {
        (b'a'..=b'z', b'A'..=b'Z') => Some(CAMEL),
        (b'0'..=b'9', b'0'..=b'9') => None,
        _ if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => Some(pair(a, b)),
        _ if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric() => Some(MIXED),
        _ => None,
    }
}

fn pair(a: u8, b: u8) -> usize {
    let (row, column) = (a.to_ascii_lowercase() - b'a', b.to_ascii_lowercase() - b'a');
    usize::from(PAIRS[usize::from(row)][usize::from(column)] - b'0')
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn identifiers_score_above_random_strings() {
        for word in ["getAuthenticationToken", "correct_horse_battery", "org.apache.commons.lang3"]
        {
            assert!(score(word.as_bytes()) > 430, "{word}: {}", score(word.as_bytes()));
        }
        for random in ["xK9vQz2LpW7nRt4Yb8Jd", "q8z7x2k4v9w1p3m6", "ZkPqWxVbNtRyJhGf"] {
            assert!(score(random.as_bytes()) < 300, "{random}: {}", score(random.as_bytes()));
        }
    }
}
