use super::*;

/// 200 prompts as people type them, each with what it lays down, if anything.
const PROMPTS: &str = include_str!("prompts.tsv");

/// What the classifier made of the prompts.
struct Measured {
    prompts: usize,
    found: usize,
    right: usize,
    laid_down: usize,
    wrong: Vec<String>,
}

fn measured() -> Measured {
    let mut measured = Measured { prompts: 0, found: 0, right: 0, laid_down: 0, wrong: Vec::new() };
    for line in PROMPTS.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [label, expected, prompt] = fields[..] else { panic!("three fields: {line}") };
        let prompt = prompt.replace("\\n", "\n");
        let rules = rules(&prompt);
        measured.prompts += 1;
        measured.laid_down += usize::from(label == "rule");
        measured.found += rules.len();
        let hits = |rule: &&Rule| {
            let said = prompt[rule.place.clone()].to_lowercase();
            label == "rule" && said.contains(&expected.to_lowercase())
        };
        let right = rules.iter().filter(hits).count().min(1);
        measured.right += right;
        if right < rules.len() {
            let said: Vec<&str> = rules.iter().map(|rule| &prompt[rule.place.clone()]).collect();
            measured.wrong.push(format!("{said:?} in {prompt:?}"));
        } else if label == "rule" && right == 0 {
            measured.wrong.push(format!("nothing in {prompt:?}"));
        }
    }
    measured
}

#[test]
fn at_least_nine_of_ten_rules_that_are_found_were_laid_down() {
    let measured = measured();
    assert_eq!(measured.prompts, 200);
    assert!(measured.laid_down >= 60, "{}", measured.laid_down);
    let wrong = measured.wrong.join("\n");
    assert!(
        measured.right * 10 >= measured.found * 9,
        "{}/{}\n{wrong}",
        measured.right,
        measured.found
    );
    // Not by finding hardly any.
    assert!(
        measured.right * 10 >= measured.laid_down * 8,
        "{} of {}\n{wrong}",
        measured.right,
        measured.laid_down
    );
}

#[test]
fn a_rule_is_told_in_the_persons_own_words() {
    let prompt = "Fix the parser. Also, please don't touch legacy/ — and always run `make check` before a commit!";
    let said: Vec<(&str, Force)> =
        rules(prompt).into_iter().map(|rule| (&prompt[rule.place.clone()], rule.force)).collect();
    assert_eq!(
        said,
        [
            ("please don't touch legacy/", Force::Forbids),
            ("and always run `make check` before a commit!", Force::Requires),
        ]
    );
}

#[test]
fn what_is_forbidden_and_required_in_other_words_is_found_too() {
    use Force::{Forbids, Requires};
    for (prompt, said, force) in [
        ("please do not ever rewrite the history of main", "", Forbids),
        ("Leave vendor/ alone.", "", Forbids),
        ("Leave vendor/ alone, we do not own it.", "", Forbids),
        (
            "Do the parser and leave the public API as it is",
            "and leave the public API as it is",
            Forbids,
        ),
        (
            "fix the build, but please leave the lockfile untouched",
            "but please leave the lockfile untouched",
            Forbids,
        ),
        ("From now on use pnpm for everything", "", Requires),
        ("going forward, run the linter before each commit", "", Requires),
        ("From now on, leave the changelog alone", "leave the changelog alone", Forbids),
        ("Stay out of infra/prod!", "", Forbids),
        ("keep the letterhead untouched, legal signed it off", "", Forbids),
        (
            "do the totals, but keep the wire format as is",
            "but keep the wire format as is",
            Forbids,
        ),
        ("Keep the old endpoints exactly as they are!", "", Forbids),
        ("the checkout page stays as it is", "", Forbids),
        (
            "Port it. Under no circumstances touch vendor/",
            "Under no circumstances touch vendor/",
            Forbids,
        ),
        ("and on no account change the wire format", "", Forbids),
        ("Under no circumstances should you push to main", "", Forbids),
        ("hands off the migrations please", "", Forbids),
        ("The billing module is off limits.", "", Forbids),
        ("I don't want you to touch the schema", "", Forbids),
        ("You may not edit files under gen/", "", Forbids),
        ("you are not allowed to push to origin", "", Forbids),
        ("Make sure you never log a token", "", Forbids),
        ("you shouldn't mock the database", "", Forbids),
        ("DON'T PUSH TO MAIN", "", Forbids),
        ("'never' touch the schema", "", Forbids),
        ("pls don't ever run the migrations on staging", "", Forbids),
        ("plz dont commit the .env file", "", Forbids),
        ("nope, never squash my commits", "never squash my commits", Forbids),
        (
            "hey, you can't push to the release branch",
            "you can't push to the release branch",
            Forbids,
        ),
        ("you cannot use eval in templates", "", Forbids),
        ("no force-pushing to main ok", "", Forbids),
        ("alright, no committing generated files", "no committing generated files", Forbids),
        ("avoid mocking the database in tests", "", Forbids),
        ("keep off the vendor directory", "", Forbids),
        ("leave the billing code alone for now", "", Forbids),
        ("For now, leave vendor/ alone.", "leave vendor/ alone.", Forbids),
        (
            "port the parser, but leave the old exporter alone for now",
            "but leave the old exporter alone for now",
            Forbids,
        ),
        ("nobody pushes to main", "", Forbids),
        ("Nobody merges to release without a review.", "", Forbids),
        ("no one may edit the schema", "", Forbids),
        ("nobody must push to the mirror", "", Forbids),
        ("fix the totals, nobody touches the ledger", "nobody touches the ledger", Forbids),
        ("hands off legacy/", "", Forbids),
        ("Hands-off legacy/ please", "", Forbids),
        ("rework the importer. Hands off legacy/!", "Hands off legacy/!", Forbids),
        (
            "wire up the retries, pls dont touch the billing code",
            "pls dont touch the billing code",
            Forbids,
        ),
    ] {
        let found = rules(prompt);
        let expected = if said.is_empty() { prompt } else { said };
        let found: Vec<_> =
            found.into_iter().map(|rule| (&prompt[rule.place], rule.force)).collect();
        assert_eq!(found, [(expected, force)], "{prompt}");
    }
}

#[test]
fn what_only_sounds_like_a_rule_is_none() {
    for prompt in [
        "there is no logging in the worker",
        "no testing framework is installed here",
        "nah, the tests are fine",
        "I can't push to origin",
        "nobody can delete their account",
        "no one can open the settings page",
        "we cannot build it on my laptop",
        "it can't read the file",
        "no string is longer than that",
        "avoid it",
        "ok next we wire up the retry thing",
        "no, running it twice is fine",
        "keep going until it is unchanged",
        "keep it as is",
        "it stays as it is",
        "if the cache stays untouched it is faster",
        "keep the tests short",
        "nobody uses the old API",
        "nobody reads the docs",
        "nobody pushes it",
        "nobody changes the host when it is down",
        "leave it alone for now",
        "for now don't touch the parser",
        "hands off!",
    ] {
        assert_eq!(rules(prompt), [], "{prompt}");
    }
}

#[test]
fn what_was_pasted_is_not_the_persons_word() {
    let pasted = "- never do x to the files\n".repeat(20);
    for prompt in [
        format!("summarise this:\n{pasted}"),
        "```\nnever touch the files\n```".to_owned(),
        "> always run the tests".to_owned(),
        "    never touch the files".to_owned(),
    ] {
        assert_eq!(rules(&prompt), [], "{prompt}");
    }
}

proptest::proptest! {
    #[test]
    fn every_rule_stands_where_it_says(prompt in "(never|always|don't|must| |[a-zé,.;!?:\n]{1,8}){0,30}") {
        for rule in rules(&prompt) {
            proptest::prop_assert!(prompt.get(rule.place).is_some());
        }
    }
}
