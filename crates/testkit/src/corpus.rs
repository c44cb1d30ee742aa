//! Conversations that nobody had, with things hidden in them that are known: what a search is measured by.
//!
//! The same numbers make the same text, on every machine. Sessions are transcripts of Claude Code, since
//! every tool in this field reads those: write them to a directory and let any of them look for the needles.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// Where a needle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hidden {
    Prompt,
    Answer,
    ToolInput,
    ToolOutput,
    /// As an identifier in an answer, asked for by its parts.
    Identifier,
    /// In what was said before the context was compacted.
    BeforeCompaction,
    /// In the error of a command that was then mended.
    Failure,
}

impl Hidden {
    /// All places, in turn.
    pub const ALL: [Self; 7] = [
        Self::Prompt,
        Self::Answer,
        Self::ToolInput,
        Self::ToolOutput,
        Self::Identifier,
        Self::BeforeCompaction,
        Self::Failure,
    ];
}

/// Something that is in one session only.
#[derive(Debug, Clone)]
pub struct Needle {
    /// The number of the session.
    pub session: usize,
    pub hidden: Hidden,
    /// What finds it.
    pub query: String,
}

/// How much is made.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub sessions: usize,
    /// In each.
    pub messages: usize,
    pub needles: usize,
}

impl Size {
    /// About 141 MB.
    pub const FULL: Self = Self { sessions: 200, messages: 500, needles: 100 };
    /// For a test.
    pub const SMALL: Self = Self { sessions: 14, messages: 40, needles: 28 };
}

/// Numbers that look like chance and are always the same.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap_or(0)
    }

    /// A number below `most`, small ones far more often.
    fn rank(&mut self, most: usize) -> usize {
        let (a, b) = (self.below(most) + 1, self.below(most) + 1);
        (a * b / most.max(1)).min(self.below(most))
    }
}

/// A corpus: what there is to say, and what is hidden where.
#[derive(Debug)]
pub struct Corpus {
    size: Size,
    words: Vec<String>,
    identifiers: Vec<String>,
    pub needles: Vec<Needle>,
}

const SYLLABLES: [&str; 24] = [
    "ba", "cor", "del", "fen", "gri", "hol", "ix", "jam", "kel", "lum", "mor", "nex", "pol",
    "quan", "ras", "sil", "tor", "ul", "ver", "wex", "yon", "zar", "ost", "imp",
];

/// A word that is made of syllables; every number is another word.
fn word(mut number: usize) -> String {
    let mut word = String::new();
    for _ in 0..3 {
        word.push_str(SYLLABLES[number % SYLLABLES.len()]);
        number /= SYLLABLES.len();
    }
    word
}

impl Corpus {
    /// The corpus of a size.
    pub fn new(size: Size) -> Self {
        let words: Vec<String> = (0..12_000).map(word).collect();
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let identifiers = (0..3000)
            .map(|number| {
                let (a, b) = (&words[dice.rank(2000)], &words[dice.rank(2000)]);
                let capital = format!("{}{}", b[..1].to_uppercase(), &b[1..]);
                if number % 2 == 0 { format!("{a}{capital}") } else { format!("{a}_{b}") }
            })
            .collect();
        let needles = (0..size.needles).map(|number| needle(number, size)).collect();
        Self { size, words, identifiers, needles }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.size.sessions
    }

    /// A word that a good part of all messages has.
    pub fn common(&self, number: usize) -> &str {
        &self.words[number % 40]
    }

    /// A word that few messages have.
    pub fn rare(&self, number: usize) -> &str {
        &self.words[11_000 + number % 900]
    }

    /// An identifier that several sessions have.
    pub fn identifier(&self, number: usize) -> &str {
        &self.identifiers[1000 + number % 500]
    }

    /// The agent's id of a session.
    pub fn id(session: usize) -> String {
        format!("c0de0000-0000-4000-8000-{session:012}")
    }

    fn sentence(&self, dice: &mut Dice, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..words {
            let word = match dice.below(12) {
                0 => &self.identifiers[dice.rank(self.identifiers.len())],
                _ => &self.words[dice.rank(self.words.len())],
            };
            let _ = write!(text, "{word} ");
        }
        text
    }

    /// The transcript of a session that worked in `cwd`.
    pub fn transcript(&self, session: usize, cwd: &str) -> String {
        let mut writing = Writing {
            dice: Dice(0x2545_f491_4f6c_dd1d ^ (session as u64 + 1).wrapping_mul(0x9e37_79b9)),
            id: Self::id(session),
            cwd,
            // A session a day, a message a minute.
            at: 1_735_700_000 + 86_400 * session as u64,
            lines: String::new(),
            count: 0,
        };
        let mine: Vec<&Needle> =
            self.needles.iter().filter(|needle| needle.session == session).collect();
        let mut left: Vec<&Needle> = mine.clone();
        while writing.count < self.size.messages {
            // Spread over the session, what was said before a compaction in its first half.
            let due = self.size.messages * (mine.len() - left.len() + 1) / (mine.len() + 2);
            let needle = if writing.count >= due { left.pop() } else { None };
            self.turn(&mut writing, needle);
        }
        writing.lines
    }

    fn turn(&self, writing: &mut Writing<'_>, needle: Option<&Needle>) {
        let place = needle.map(|needle| needle.hidden);
        let phrase = needle.map(as_hidden).unwrap_or_default();
        let put = |hidden: Hidden| if place == Some(hidden) { phrase.as_str() } else { "" };
        let mut dice = writing.dice.clone();
        let asked = self.sentence(&mut dice, 14);
        writing.asks(&format!("{asked}{}{}", put(Hidden::Prompt), put(Hidden::BeforeCompaction)));
        let said = self.sentence(&mut dice, 60);
        writing.says(&format!("{said}{}{}", put(Hidden::Answer), put(Hidden::Identifier)));
        for step in 0..3 {
            let first = step == 0;
            let input = if first { put(Hidden::ToolInput) } else { "" };
            let command = format!("run {}{input}", self.sentence(&mut dice, 8));
            let output = if first { put(Hidden::ToolOutput) } else { "" };
            let long = 60 + dice.below(420);
            let output = format!("{}{output}", self.sentence(&mut dice, long));
            writing.runs(&command, &output, false);
        }
        if place == Some(Hidden::Failure) {
            let command = format!("run {}", self.sentence(&mut dice, 4));
            writing.runs(&command, &format!("Exit code 1\nerror: {phrase}"), true);
            writing.runs(&command, "done", false);
        }
        if place == Some(Hidden::BeforeCompaction) {
            writing.compacts(&self.sentence(&mut dice, 40));
        }
        writing.dice = dice;
    }
}

fn needle(number: usize, size: Size) -> Needle {
    // Words that no sentence has: they begin with a syllable of their own.
    let (one, two) =
        (format!("thq{}", word(number * 7 + 3)), format!("psw{}", word(number * 11 + 5)));
    let hidden = Hidden::ALL[number % Hidden::ALL.len()];
    // Every session may hold one, not only the newest.
    let session = number * 37 % size.sessions;
    Needle { session, hidden, query: format!("{one} {two}") }
}

/// A needle as it stands in the text.
fn as_hidden(needle: &Needle) -> String {
    let Some((one, two)) = needle.query.split_once(' ') else { return needle.query.clone() };
    match needle.hidden {
        Hidden::Identifier => format!("{one}{}{}", two[..1].to_uppercase(), &two[1..]),
        _ => format!("the {one} of {two}"),
    }
}

struct Writing<'a> {
    dice: Dice,
    id: String,
    cwd: &'a str,
    at: u64,
    lines: String,
    count: usize,
}

impl Writing<'_> {
    fn put(&mut self, kind: &str, more: &Value) {
        self.at += 60;
        self.count += 1;
        let (day, second) = (self.at / 86_400, self.at % 86_400);
        let date = date(day);
        let at = format!("{date}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
        let mut line = json!({
            "type": kind, "sessionId": self.id, "cwd": self.cwd, "gitBranch": "main",
            "version": "2.1.325", "entrypoint": "cli", "timestamp": at,
            "uuid": format!("{}-{}", self.id, self.count),
        });
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        let _ = writeln!(self.lines, "{line}");
    }

    fn asks(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text});
        self.put("user", &json!({"promptSource": "typed", "message": message}));
    }

    fn says(&mut self, text: &str) {
        let message = json!({"id": format!("m{}", self.count), "model": "none", "role": "assistant",
                             "content": [{"type": "text", "text": text}],
                             "usage": {"input_tokens": 10, "output_tokens": 5}});
        self.put("assistant", &json!({"message": message}));
    }

    fn runs(&mut self, command: &str, output: &str, is_error: bool) {
        let id = format!("t{}", self.count);
        let used =
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        let message = json!({"id": format!("m{id}"), "role": "assistant", "content": [used]});
        self.put("assistant", &json!({"message": message}));
        let came = json!({"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": output});
        self.put("user", &json!({"message": {"role": "user", "content": [came]}}));
    }

    fn compacts(&mut self, summary: &str) {
        let about = json!({"trigger": "auto", "preTokens": 150_000});
        self.put("system", &json!({"subtype": "compact_boundary", "compactMetadata": about}));
        let message = json!({"role": "user", "content": summary});
        self.put("user", &json!({"isCompactSummary": true, "message": message}));
    }
}

/// The date of a day, counted from 1970.
fn date(day: u64) -> String {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, more) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{of_month:02}", era * 400 + year + more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_numbers_make_the_same_text_and_each_needle_is_in_its_session_only() {
        let (one, two) = (Corpus::new(Size::SMALL), Corpus::new(Size::SMALL));
        let all: Vec<String> = (0..one.sessions()).map(|n| one.transcript(n, "/w")).collect();
        assert_eq!(all[3], two.transcript(3, "/w"));
        for needle in &one.needles {
            let text = as_hidden(needle);
            let holding: Vec<usize> = all
                .iter()
                .enumerate()
                .filter(|(_, all)| all.contains(&text))
                .map(|(n, _)| n)
                .collect();
            assert_eq!(holding, [needle.session], "{needle:?}");
        }
        assert!(all.iter().all(|text| text.lines().count() >= Size::SMALL.messages));
        assert_eq!(date(20_468), "2026-01-15");
    }
}
