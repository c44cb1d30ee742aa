//! What a person took back: a choice that a later prompt replaces in words is not told as if it still stood.

use super::sentences;

/// Words by which a person says that they think otherwise now.
const OTHERWISE: [&str; 6] =
    ["changed my mind", "on second thought", "actually", "after all", "no longer", "scrap that"];

/// Words behind which stands what is given up.
const BEFORE: [&str; 3] = ["instead of ", "rather than ", "and not "];

/// Words that are not it yet.
const PASSED: [&str; 8] = ["a", "an", "the", "our", "using", "use", "to", "with"];

/// Words that stand for something, and name nothing.
const NAMELESS: [&str; 27] = [
    "this", "that", "these", "those", "them", "they", "only", "just", "what", "when", "where",
    "which", "your", "ours", "having", "have", "both", "each", "every", "from", "into", "more",
    "less", "being", "doing", "making", "some",
];

/// A shorter word is in too many sentences to mean one thing.
const SHORTEST: usize = 4;

/// What a prompt gives up, in lower case. Nothing where it only weighs one thing against another.
pub(super) fn given_up(prompt: &str) -> Vec<String> {
    let prompt = prompt.to_lowercase();
    if !OTHERWISE.iter().any(|words| prompt.contains(words)) {
        return Vec::new();
    }
    let behind = BEFORE.iter().flat_map(|sign| prompt.split(sign).skip(1));
    let first = |rest: &str| words(rest).find(|word| !PASSED.contains(word)).map(str::to_owned);
    let names = |word: &String| word.len() >= SHORTEST && !NAMELESS.contains(&word.as_str());
    behind.filter_map(first).filter(names).collect()
}

/// An earlier prompt without the sentences that speak for what was given up since.
pub(super) fn without(prompt: &str, given_up: &[String]) -> String {
    if given_up.is_empty() {
        return prompt.to_owned();
    }
    let stands = |sentence: &&str| {
        let sentence = sentence.to_lowercase();
        let speaks_for = words(&sentence).any(|word| given_up.iter().any(|gone| gone == word));
        !speaks_for || BEFORE.iter().any(|sign| sentence.contains(sign))
    };
    sentences::split(prompt).into_iter().filter(stands).collect::<String>().trim().to_owned()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_took_back_is_left_out_of_what_they_said_before() {
        let since = "I changed my mind: use a table instead of RabbitMQ, we have no broker.";
        assert_eq!(given_up(since), ["rabbitmq"]);
        let before =
            "Invoices go out twice. Keep the queue in RabbitMQ, it is there. Never edit v1.0/.";
        assert_eq!(without(before, &given_up(since)), "Invoices go out twice. Never edit v1.0/.");
        assert_eq!(without("Put it in RabbitMQ", &given_up(since)), "");
        // What weighs one thing against another takes nothing back, and what already gave it up still says so.
        assert!(given_up("Use a stack instead of recursion, deep input overflowed.").is_empty());
        let same = "Take Kafka rather than RabbitMQ.";
        assert_eq!(without(same, &given_up(since)), same);
        for nothing in [
            "Actually, go on instead of it",
            "Actually, do it here rather than that",
            "Test all of them after all, and not only the parser",
        ] {
            assert!(given_up(nothing).is_empty(), "{nothing}");
        }
    }
}
