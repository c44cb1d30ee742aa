//! Talk between two people over many sessions, with questions that ask for what was said in other words: what the
//! retrieval of sessions is measured by. The same numbers make the same talk, on every machine.

use serde_json::json;

use crate::corpus::Dice;

/// Sessions, and questions about them.
#[derive(Debug, Clone, Default)]
pub struct Talks {
    pub sessions: Vec<Talk>,
    pub questions: Vec<Question>,
}

/// A session.
#[derive(Debug, Clone)]
pub struct Talk {
    /// What questions call it.
    pub name: String,
    /// When it began, as RFC 3339.
    pub at: String,
    /// Who said what.
    pub said: Vec<(String, String)>,
}

/// A question, and the sessions any of which answers it.
#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    pub sessions: Vec<String>,
}

impl Talk {
    /// As a transcript of Claude Code: the first who speaks is the person, the other one answers.
    pub fn transcript(&self, id: &str, cwd: &str) -> String {
        let person = self.said.first().map(|(speaker, _)| speaker.clone()).unwrap_or_default();
        let (mut lines, mut before) = (String::new(), None::<String>);
        for (number, (speaker, text)) in self.said.iter().enumerate() {
            let uuid = format!("{}-{number:012}", &id[..23]);
            let text = format!("{speaker}: {text}");
            let (role, content) = if *speaker == person {
                ("user", json!(text))
            } else {
                ("assistant", json!([{"type": "text", "text": text}]))
            };
            let line = json!({
                "type": role, "uuid": uuid, "parentUuid": before, "sessionId": id, "cwd": cwd,
                "version": "2.1.325", "isSidechain": false, "userType": "external",
                "timestamp": self.at,
                "message": {"id": format!("m{number}"), "role": role, "content": content},
            });
            lines.push_str(&line.to_string());
            lines.push('\n');
            before = Some(uuid);
        }
        lines
    }
}

/// What is told, and how it is asked for: other forms of the words, and not all of them. `{a}` tells it, `{f}` is
/// a friend, `{t}` a thing and `{p}` a place.
const TOLD: [(&str, &str); 12] = [
    (
        "I went to {p} with {f} and we bought an old {t} there.",
        "Where did {a} go to buy the {t} with {f}?",
    ),
    (
        "{f} taught me how to mend a {t} last weekend in {p}.",
        "Who was teaching {a} the mending of a {t}?",
    ),
    (
        "My {t} broke while we were hiking near {p}, {f} laughed so much.",
        "What did {a} break on the hike near {p}?",
    ),
    ("I have been painting a {t} for {f}, it hangs in {p} now.", "What has {a} painted for {f}?"),
    (
        "We drove through {p} at night and saw a {t} on the road, {f} screamed.",
        "Who screams about the {t} seen while driving through {p}?",
    ),
    ("I lost the {t} that {f} gave me, somewhere in {p}.", "Which gift from {f} was lost in {p}?"),
    (
        "They are opening a museum of the {t} in {p}, {f} is the director.",
        "Who directs the {t} museum that opens in {p}?",
    ),
    (
        "I dreamt of {p} again: {f} sang to a {t} and nobody minded.",
        "What did {a} dream about {f} singing to a {t}?",
    ),
    (
        "{f} married in {p}, and the cake looked like a {t}!",
        "What did the cake look like when {f} got married?",
    ),
    ("I sold my {t} to {f} for a trip to {p}.", "Why is {a} selling the {t}?"),
    (
        "The doctor in {p} told {f} to keep a {t} beside the bed.",
        "What should {f} keep by the bed, on a doctor's advice?",
    ),
    (
        "We planted a garden behind the {t} factory in {p} with {f}.",
        "Where was the garden planting with {f}?",
    ),
];

const FRIENDS: [&str; 24] = [
    "Amara", "Bruno", "Celia", "Dmitri", "Esther", "Farid", "Greta", "Hugo", "Imani", "Jonas",
    "Keiko", "Liam", "Marta", "Nadia", "Otto", "Priya", "Quentin", "Rosa", "Stefan", "Talia",
    "Umberto", "Vera", "Walter", "Yusuf",
];

const THINGS: [&str; 32] = [
    "lantern",
    "bicycle",
    "violin",
    "kettle",
    "compass",
    "umbrella",
    "telescope",
    "mirror",
    "typewriter",
    "carpet",
    "ladder",
    "canoe",
    "clock",
    "teapot",
    "helmet",
    "puppet",
    "stove",
    "globe",
    "drum",
    "scarf",
    "anchor",
    "basket",
    "camera",
    "dagger",
    "easel",
    "flute",
    "guitar",
    "hammock",
    "kite",
    "locket",
    "mask",
    "wagon",
];

const PLACES: [&str; 24] = [
    "Lisbon", "Tampere", "Osaka", "Cusco", "Zanzibar", "Galway", "Tbilisi", "Bergen", "Hanoi",
    "Quito", "Riga", "Valencia", "Windhoek", "Toledo", "Split", "Ghent", "Izmir", "Jaipur",
    "Kyoto", "Leeds", "Mendoza", "Nantes", "Oaxaca", "Perth",
];

/// What is said between, with the same things, friends and places in it.
const CHATTER: [&str; 10] = [
    "How was your week? I hardly slept, but the work is getting better.",
    "Have you heard from {f} lately? I keep meaning to call.",
    "I read something about {p} in the paper and thought of you.",
    "That sounds lovely. I should really do something like that too.",
    "My sister wants a {t} for her birthday, can you believe it?",
    "It rained all day here, so I cooked and listened to music.",
    "Do you remember {f} from the course? We talked about {p} for an hour.",
    "I think I am going to take a break next month and rest a little.",
    "A neighbour keeps a {t} in the hall, I stumble over it every time.",
    "Thanks for listening, it means a lot to me.",
];

/// One pair of people, and what they told each other.
pub fn made(number: usize) -> Talks {
    const SESSIONS: usize = 24;
    let mut dice = Dice::new(0x51ed_270b ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let people =
        [["Ines", "Theo"], ["Maud", "Kofi"], ["Lena", "Raul"], ["Sven", "Aiko"]][number % 4];
    let mut talks = Talks::default();
    for session in 0..SESSIONS {
        let name = format!("session {session}");
        let day = 1 + dice.below(28);
        let at = format!("2025-{:02}-{day:02}T{:02}:00:00Z", session / 2 + 1, 8 + dice.below(12));
        let mut said = Vec::new();
        let told: Vec<usize> = (0..4).map(|_| dice.below(TOLD.len())).collect();
        for line in 0..24 {
            let speaker = people[line % 2];
            let (friend, thing, place) = (
                FRIENDS[dice.below(FRIENDS.len())],
                THINGS[dice.below(THINGS.len())],
                PLACES[dice.below(PLACES.len())],
            );
            let fill = |text: &str| {
                text.replace("{a}", speaker)
                    .replace("{f}", friend)
                    .replace("{t}", thing)
                    .replace("{p}", place)
            };
            if line % 6 == 3 {
                let (fact, question) = TOLD[told[line / 6]];
                said.push((speaker.to_owned(), fill(fact)));
                talks
                    .questions
                    .push(Question { text: fill(question), sessions: vec![name.clone()] });
            } else {
                said.push((speaker.to_owned(), fill(CHATTER[dice.below(CHATTER.len())])));
            }
        }
        talks.sessions.push(Talk { name, at, said });
    }
    talks
}
