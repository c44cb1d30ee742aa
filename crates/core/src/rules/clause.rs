//! One clause: whose words it is, and whether it lays something down.

use std::ops::Range;

use super::words::{FOR_NOW, HARMS, LEAD_INS, MOMENTARY, PARTICIPLES, PHRASES, SUBJECTS, VERBS};

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Force {
    Forbids,
    Requires,
}

impl Force {
    /// The word for it in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forbids => "forbids",
            Self::Requires => "requires",
        }
    }
}

/// A block of more lines than this was pasted.
const PASTED_LINES: usize = 8;

/// A line that is longer than this was not typed.
const PASTED_LINE: usize = 600;

/// The blocks of a prompt that the person wrote: not what is fenced, quoted, indented like code, or as long
/// as only a paste is.
pub(super) fn own_words(prompt: &str) -> Vec<Range<usize>> {
    let (mut blocks, mut current): (Vec<Vec<Range<usize>>>, Vec<Range<usize>>) = Default::default();
    let (mut at, mut fenced) = (0, false);
    for line in prompt.split_inclusive('\n') {
        let place = at..at + line.len();
        at = place.end;
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let is_quoted = trimmed.starts_with('>') || trimmed.starts_with('|');
        let is_code = line.starts_with("    ") || line.starts_with('\t');
        if is_fence {
            fenced = !fenced;
        }
        if fenced || is_fence || trimmed.is_empty() {
            blocks.push(std::mem::take(&mut current));
        } else if !is_quoted && !is_code && line.len() <= PASTED_LINE {
            current.push(place);
        }
    }
    blocks.push(current);
    blocks.retain(|lines| !lines.is_empty() && lines.len() <= PASTED_LINES);
    blocks.into_iter().flatten().collect()
}

/// The clauses of a line, each where it stands, its end included.
pub(super) fn clauses(prompt: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let text = &prompt[line.clone()];
    let mut ends = Vec::new();
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1);
        let at_end = next.is_none_or(u8::is_ascii_whitespace);
        match byte {
            b'.' | b'!' | b'?' | b';' if at_end => ends.push(at + 1),
            b'\n' => ends.push(at),
            b',' | b':' if splits(&text[at + 1..]) => ends.push(at),
            _ => {}
        }
    }
    for joint in [" but ", " and ", " — ", " – ", " - "] {
        for (at, _) in text.match_indices(joint) {
            if splits(&text[at + joint.len()..]) {
                ends.push(at);
            }
        }
    }
    ends.push(text.len());
    ends.sort_unstable();
    let (mut places, mut from) = (Vec::new(), 0);
    for end in ends {
        let part = &text[from..end];
        let start = from
            + (part.len()
                - part.trim_start_matches([' ', ',', ':', '-', '*', '•', '–', '—', '\t']).len());
        let finish = end - (part.len() - part.trim_end().len());
        if start < finish {
            places.push(line.start + start..line.start + finish);
        }
        from = end.max(from);
    }
    places
}

/// Whether a new clause of its own begins here, which may be a rule.
fn splits(rest: &str) -> bool {
    let rest = rest.trim_start().to_ascii_lowercase();
    let rest = rest.strip_prefix("and ").or_else(|| rest.strip_prefix("but ")).unwrap_or(&rest);
    let rest =
        ["please ", "pls ", "plz "].iter().find_map(|asks| rest.strip_prefix(asks)).unwrap_or(rest);
    if rest
        .strip_prefix("no ")
        .is_some_and(|rest| rest.split_whitespace().next().is_some_and(|word| gerund(bare(word))))
    {
        return true;
    }
    if let Some(kept) = rest.strip_prefix("keep ") {
        let words: Vec<&str> = kept.split_whitespace().take(FEW * 2).map(bare).collect();
        return before(&words, AS_IT_IS).is_some();
    }
    [
        "never ",
        "don't ",
        "dont ",
        "don’t ",
        "do not ",
        "always ",
        "leave ",
        "under no circumstances ",
        "on no account ",
        "stay out of ",
        "stay away from ",
        "hands off ",
        "hands-off ",
        "nobody ",
        "no one ",
        "from now on ",
        "from now on, ",
        "you must ",
        "we never ",
        "we always ",
        "you can't ",
        "you cannot ",
        "you should never ",
        "avoid ",
        "keep off ",
    ]
    .iter()
    .any(|beginning| rest.starts_with(beginning))
}

/// Whether a clause lays something down.
pub(super) fn force(clause: &str) -> Option<Force> {
    if clause.trim_end().ends_with('?') || clause.contains('"') && quoted(clause) {
        return None;
    }
    let text = clause.to_lowercase().replace('’', "'");
    let text = text.trim_end_matches(['.', '!', ';', ' ']);
    let words: Vec<&str> =
        text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    // Most clauses lay nothing down, and looking for what holds only now is dear.
    let told = nobody(&words).or_else(|| imperative(&words)).or_else(|| obligation(&words));
    // "Leave it alone for now" holds until somebody says otherwise, and the next context was not there.
    let words = if told.is_none() { without_for_now(&words) } else { &words };
    let force = told.or_else(|| untouched(words))?;
    (!is_momentary(after_lead_ins(words))).then_some(force)
}

/// What is said without "for now" in front of it or behind it.
fn without_for_now<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let said = after_lead_ins(words);
    let words = FOR_NOW.iter().find_map(|phrase| begins(said, phrase)).unwrap_or(words);
    let ends = |phrase: &&str| {
        let length = phrase.split(' ').count();
        let (before, end) = words.split_at(words.len().checked_sub(length)?);
        begins(end, phrase).map(|_| before)
    };
    FOR_NOW.iter().find_map(ends).unwrap_or(words)
}

/// "Nobody pushes to main", "no one may edit the schema": said of everybody, and so of whoever does the work.
fn nobody(words: &[&str]) -> Option<Force> {
    let led_in = after_lead_ins(words);
    let who = ["nobody", "no-one"].iter().find_map(|who| begins(led_in, who));
    // "No" alone leads in.
    let rest = who.or_else(|| begins(words, "no one"))?;
    if rest.iter().any(|word| TELLING.contains(word)) {
        return None;
    }
    // "Nobody can delete their account" is what somebody complains of.
    let obliged =
        ["is allowed to", "is to", "may", "should", "must", "gets to", "else may", "ever"];
    let is_asked = if let Some(rest) = obliged.iter().find_map(|phrase| begins(rest, phrase)) {
        asks(rest)
    } else {
        // "Nobody uses it" and "nobody reads the docs" are reports.
        let (verb, object) = rest.split_first()?;
        let is_done = |harm: &&str| matches!(verb.strip_prefix(*harm), Some("s" | "es"));
        HARMS.iter().any(is_done) && object.iter().any(|word| !VAGUE.contains(word))
    };
    is_asked.then_some(Force::Forbids)
}

/// A word without what surrounds it.
fn bare(word: &str) -> &str {
    word.trim_matches([',', ':', '(', ')', '*', '_', '"', '\''])
}

/// Whether what would be the rule is somebody's words that are only told.
fn quoted(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    ["says \"", "said \"", "prints \"", "reads \"", "message \"", "error \""]
        .iter()
        .any(|telling| lower.contains(telling))
}

fn is_momentary(words: &[&str]) -> bool {
    let joined = format!(" {} ", words.join(" "));
    MOMENTARY.iter().any(|word| joined.contains(&format!(" {word} ")))
}

/// What is left after words that change nothing.
fn after_lead_ins<'a, 'w>(mut words: &'a [&'w str]) -> &'a [&'w str] {
    loop {
        let longest = LEAD_INS
            .iter()
            .filter_map(|lead| begins(words, lead))
            .max_by_key(|rest| words.len() - rest.len());
        match longest {
            Some(rest) if !rest.is_empty() => words = rest,
            _ => return words,
        }
    }
}

/// What follows `phrase`, where `words` begin with it.
fn begins<'a, 'w>(words: &'a [&'w str], phrase: &str) -> Option<&'a [&'w str]> {
    // Few phrases begin with the same word: the others are told apart without being taken apart.
    if !phrase.starts_with(words.first()?) {
        return None;
    }
    let mut rest = words;
    for part in phrase.split(' ') {
        let (first, others) = rest.split_first()?;
        if *first != part {
            return None;
        }
        rest = others;
    }
    Some(rest)
}

/// "Never VERB OBJECT", "always VERB OBJECT", with or without "you" or "we" in front.
fn imperative(words: &[&str]) -> Option<Force> {
    let words = after_lead_ins(words);
    let told =
        SUBJECTS.iter().filter_map(|subject| begins(words, subject)).min_by_key(|rest| rest.len());
    let is_we = words.first() == Some(&"we");
    let rest = told.unwrap_or(words);
    let forbidding = [
        "never ever",
        "never",
        "don't ever",
        "do not ever",
        "don't",
        "dont",
        "do not",
        "not",
        "mustn't",
        "shouldn't",
        "may not",
        "can't",
        "cannot",
        "are not allowed to",
        "aren't allowed to",
        "i don't want you to",
        "i do not want you to",
        "i never want you to",
    ];
    let has_subject = told.is_some();
    for word in forbidding {
        let Some(rest) = begins(rest, word) else { continue };
        // "You don't use it" and "we don't have" are reports; "you must not" is not.
        let reports = has_subject && word.starts_with("do") && !is_we;
        let obliged =
            words.contains(&"must") || words.contains(&"should") || words.contains(&"can");
        // "We cannot build it" reports, and so does "cannot read the file".
        let unable = word.starts_with("can") && words.first() != Some(&"you");
        if (word == "not" && !obliged) || reports || unable {
            return None;
        }
        return asks(rest).then_some(Force::Forbids);
    }
    begins(rest, "always").and_then(|rest| asks(rest).then_some(Force::Requires))
}

/// Words by which something is said once and for all.
const FOR_GOOD: &[&str] =
    &["from now on", "going forward", "in future", "in the future", "from here on"];

/// Words by which something is to be left, or kept, the way it is.
const AS_IT_IS: &[&str] = &[
    "untouched",
    "unchanged",
    "as is",
    "as it is",
    "as they are",
    "the way it is",
    "the way they are",
];

/// Words by which something is said to be nobody's to change.
const OFF_LIMITS: &[&str] = &[
    "is off limits",
    "are off limits",
    "is off-limits",
    "are off-limits",
    "stays untouched",
    "stay untouched",
    "stays as is",
    "stay as is",
    "stays as it is",
    "stay as they are",
];

/// "Leave X alone", "keep X as it is", "stay out of X", "X is off limits", and what is asked for "from now on": said without any of
/// the words that forbid and require.
fn untouched(words: &[&str]) -> Option<Force> {
    let is_named = |object: &[&str]| object.iter().any(|word| !VAGUE.contains(word));
    let lasting = FOR_GOOD.iter().find_map(|lead| begins(words, lead));
    if let Some(rest) = lasting.map(after_lead_ins)
        && rest.split_first().is_some_and(|(verb, _)| *verb != "leave")
        && asks(rest)
    {
        return Some(Force::Requires);
    }
    // "No force-pushing to main", "avoid mocking the database".
    let not_done = |pair: &[&str]| matches!(pair[0], "no" | "avoid") && gerund(pair[1]);
    if let Some(at) = words.windows(2).position(not_done)
        && (at == 0 || LEAD_INS.contains(&&*after_lead_ins(&words[..at]).join(" ")))
    {
        // "No testing framework is installed" reports.
        let (object, tells) = (&words[at + 2..], ["is", "are", "was", "were", "has", "have"]);
        let is_told = words[at] == "no" && object.iter().any(|word| tells.contains(word));
        return (is_named(object) && !is_told).then_some(Force::Forbids);
    }
    let words = after_lead_ins(words);
    let absolute = ["under no circumstances", "on no account", "at no point"];
    if let Some(rest) = absolute.iter().find_map(|lead| begins(words, lead)) {
        let rest = begins(rest, "should you").or_else(|| begins(rest, "may you")).unwrap_or(rest);
        return asks(rest).then_some(Force::Forbids);
    }
    let away = [
        "stay out of",
        "stay away from",
        "hands off",
        "hands-off",
        "keep your hands off",
        "keep out of",
        "keep off",
    ];
    if let Some(object) = away.iter().find_map(|phrase| begins(words, phrase)) {
        return is_named(object).then_some(Force::Forbids);
    }
    if let Some(rest) = begins(words, "leave") {
        let object = before(rest, &["alone"]).or_else(|| before(rest, AS_IT_IS));
        return object.is_some_and(is_named).then_some(Force::Forbids);
    }
    if let Some(rest) = begins(words, "keep") {
        return before(rest, AS_IT_IS).is_some_and(is_named).then_some(Force::Forbids);
    }
    let subject = before(words, OFF_LIMITS)?;
    let is_told = subject.iter().any(|word| TELLING.contains(word) || GUESSING.contains(word));
    (is_named(subject) && !is_told).then_some(Force::Forbids)
}

/// Whether a word is what work is asked for in, as it is done: `pushing`, `using`, `committing`.
fn gerund(word: &str) -> bool {
    let Some(stem) = word.strip_suffix("ing") else { return false };
    let mut without_double = stem.chars();
    let doubled = without_double.next_back();
    let is_doubled = doubled.is_some() && without_double.clone().next_back() == doubled;
    VERBS.contains(&stem)
        || VERBS.contains(&&*format!("{stem}e"))
        || is_doubled && VERBS.contains(&without_double.as_str())
}

/// So many words may name something.
const FEW: usize = 8;

/// The few words before the first of these phrases.
fn before<'a, 'w>(words: &'a [&'w str], phrases: &[&str]) -> Option<&'a [&'w str]> {
    let stands = |at: &usize| phrases.iter().any(|phrase| begins(&words[*at..], phrase).is_some());
    (0..words.len().min(FEW + 1)).find(stands).map(|at| &words[..at])
}

/// Whether a verb of work follows, with an object.
fn asks(rest: &[&str]) -> bool {
    let rest = begins(rest, "ever").or_else(|| begins(rest, "just")).unwrap_or(rest);
    let Some((verb, object)) = rest.split_first() else { return false };
    let is_work = VERBS.contains(verb) && !(PHRASES.contains(verb) && object.is_empty());
    is_work && object.iter().any(|word| !VAGUE.contains(word))
}

/// An object that says nothing where the rest of the conversation is gone.
const VAGUE: &[&str] = &[
    "it", "that", "this", "them", "so", "those", "these", "me", "us", "anything", "again", "there",
    "too",
];

/// Who is guessed about.
const GUESSING: &[&str] =
    &["i", "it", "that", "this", "there", "he", "she", "they", "something", "someone"];

/// Words of a condition, or of something that is only told.
const TELLING: &[&str] = &[
    "if", "when", "because", "why", "says", "said", "think", "thinks", "guess", "means", "whether",
];

/// "X must BE/VERB Y": whatever does not follow it is wrong.
fn obligation(words: &[&str]) -> Option<Force> {
    let words = after_lead_ins(words);
    let at = words.iter().position(|word| matches!(*word, "must" | "mustn't"))?;
    let (subject, rest) = (&words[..at], &words[at + 1..]);
    // A guess, not a rule: "that must be it", "I must have missed it".
    if subject.is_empty() || subject.iter().any(|word| GUESSING.contains(word)) {
        return None;
    }
    if subject.iter().any(|word| TELLING.contains(word)) || subject.len() > 8 {
        return None;
    }
    let forbids = words[at] == "mustn't" || matches!(rest.first(), Some(&"not" | &"never"));
    let rest =
        if matches!(rest.first(), Some(&"not" | &"never" | &"always")) { &rest[1..] } else { rest };
    let force = if forbids { Force::Forbids } else { Force::Requires };
    match rest.split_first() {
        Some((&"be", state)) => {
            let state = state.iter().take(2).any(|word| PARTICIPLES.contains(word));
            (state && subject != ["you"]).then_some(force)
        }
        Some((&"have", what)) => {
            let counted = matches!(
                what.first(),
                Some(&"a" | &"an" | &"at" | &"its" | &"tests" | &"one" | &"no")
            );
            counted.then_some(force)
        }
        Some((verb, object)) => {
            let object = object.iter().any(|word| !VAGUE.contains(word));
            (VERBS.contains(verb) && object).then_some(force)
        }
        None => None,
    }
}
