//! What a person took back: a choice that a later prompt replaces in words is not told as if it still stood.

use super::sentences;

/// Words by which a person says that they think otherwise now.
const OTHERWISE: [&str; 18] = [
    "changed my mind",
    "on second thought",
    "on reflection",
    "actually",
    "after all",
    "no longer",
    "scrap that",
    "scratch that",
    "strike that",
    "take that back",
    "forget that",
    "never mind",
    "nevermind",
    "nah",
    "nope",
    "hold on",
    "let's not",
    "better idea",
];

/// Words behind which stands what is given up.
const BEFORE: [&str; 9] = [
    "instead of ",
    "rather than ",
    "in place of ",
    "and not ",
    ", not ",
    "no longer use ",
    "no longer want ",
    "switch from ",
    "replace ",
];

/// The same, in words that people give up all sorts of things in: it is a choice only where another one is made.
const GIVES_UP: [&str; 14] = [
    "scrap ",
    "scratch ",
    "ditch ",
    "drop ",
    "nix ",
    "axe ",
    "lose ",
    "forget ",
    "forget about ",
    "skip ",
    "no more ",
    "get rid of ",
    "move off ",
    "done with ",
];

/// Words by which another choice is made.
const CHOOSES: [&str; 16] = [
    "let's",
    "lets",
    "go with",
    "going with",
    "instead",
    "we'll use",
    "we'll do",
    "just do",
    "just use",
    "use",
    "switch to",
    "stick with",
    "keep it in",
    "rather",
    "simpler",
    "do it with",
];

/// What is worked on everywhere: to give up some of it says nothing of the rest.
const COMMON: [&str; 40] = [
    "test", "tests", "docs", "file", "files", "code", "change", "changes", "function", "branch",
    "commit", "commits", "idea", "plan", "approach", "thing", "things", "stuff", "part", "rest",
    "whole", "table", "tables", "column", "step", "error", "server", "process", "about", "old",
    "client", "build", "page", "config", "module", "class", "user", "users", "request", "response",
];

/// Words that are not it yet.
const PASSED: [&str; 8] = ["a", "an", "the", "our", "using", "use", "to", "with"];

/// Words that stand for something, and name nothing.
const NAMELESS: [&str; 27] = [
    "this", "that", "these", "those", "them", "they", "only", "just", "what", "when", "where",
    "which", "your", "ours", "having", "have", "both", "each", "every", "from", "into", "more",
    "less", "being", "doing", "making", "some",
];

/// More of a prompt than this, in bytes, nobody typed.
const LONGEST: usize = 2000;

/// A shorter word is in too many sentences to mean one thing.
const SHORTEST: usize = 4;

/// What a prompt gives up, in lower case. Nothing where it only weighs one thing against another.
pub(super) fn given_up(prompt: &str) -> Vec<String> {
    // Whoever says more has pasted something.
    let prompt = &prompt[..prompt.floor_char_boundary(LONGEST)];
    let prompt = prompt.to_lowercase().replace('’', "'");
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| says(&prompt, phrase));
    let (otherwise, chooses) = (has(&OTHERWISE), has(&CHOOSES));
    let first = |rest: &str| words(rest).find(|word| !PASSED.contains(word)).map(str::to_owned);
    let names = |word: &String| {
        // Numbers are short, and mean one thing: a port, a status, a version.
        let is_number = word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        (word.len() >= SHORTEST || is_number)
            && !NAMELESS.contains(&word.as_str())
            && !COMMON.contains(&word.as_str())
    };
    let mut found: Vec<String> = Vec::new();
    if otherwise {
        let behind = BEFORE.iter().flat_map(|sign| behind(&prompt, sign));
        found.extend(behind.filter_map(first).filter(names));
    }
    if chooses {
        let behind = GIVES_UP.iter().flat_map(|sign| behind(&prompt, sign));
        found.extend(behind.filter_map(first).filter(names));
    }
    found
}

/// Whether a text that was written before speaks for something that was given up since, and for nothing else.
pub(super) fn is_taken_back(text: &str, given_up: &[String]) -> bool {
    !given_up.is_empty() && without(text, given_up).is_empty()
}

/// Whether a text has a phrase in it, as words of their own.
fn says(text: &str, phrase: &str) -> bool {
    behind(text, phrase).next().is_some()
}

/// What stands behind each place where a text has a phrase as words of their own.
fn behind<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = &'a str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    text.match_indices(phrase).filter_map(move |(at, _)| {
        let (before, rest) = (&text[..at], &text[at + phrase.len()..]);
        let starts = !phrase.starts_with(is_word) || !before.ends_with(is_word);
        let ends = !phrase.ends_with(is_word) || !rest.starts_with(is_word);
        (starts && ends).then_some(rest)
    })
}

/// An earlier prompt without the sentences that speak for what was given up since.
pub(super) fn without(prompt: &str, given_up: &[String]) -> String {
    if given_up.is_empty() {
        return prompt.to_owned();
    }
    let stands = |sentence: &&str| {
        let sentence = sentence.to_lowercase();
        // What stands behind such a word was given up then already.
        let ends = BEFORE.iter().filter_map(|sign| sentence.find(sign)).min();
        let chosen = &sentence[..ends.unwrap_or(sentence.len())];
        !words(chosen).any(|word| given_up.iter().any(|gone| gone == word))
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
    fn what_is_given_up_in_passing_is_given_up() {
        for (since, gone) in [
            ("nah, scrap redis, let's just do sqlite, fewer moving parts", "redis"),
            ("ok lets ditch Webpack and go with vite", "webpack"),
            ("scratch that, postgres instead of mongo pls", "mongo"),
            ("forget about graphql, we'll do plain rest", "graphql"),
            ("hold on, use tokio, not rayon", "rayon"),
            ("nope. switch from yarn to pnpm", "yarn"),
            ("scratch the 302 idea, their proxy eats it. use 307", "302"),
        ] {
            assert_eq!(given_up(since), [gone], "{since}");
        }
        let taken = ["redis".to_owned()];
        assert!(is_taken_back("Cache the rates in Redis", &taken));
        assert!(!is_taken_back("Cache the rates in Redis. Expire them hourly", &taken));
        assert!(!is_taken_back("SQLite instead of Redis", &taken));
        assert!(is_taken_back("Redis rather than SQLite", &taken));
        for nothing in [
            "drop the tests for now, let's ship it",
            "scrap that, let's go",
            "drop the users_old table",
            "skip the tests and use the flag",
            "let's forget it",
            "Hannah says we use sqlite",
        ] {
            assert_eq!(given_up(nothing), Vec::<String>::new(), "{nothing}");
        }
    }

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
