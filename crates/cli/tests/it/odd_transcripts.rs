//! A day of transcripts as no agent should write them: torn, rewound, rewritten, huge, of a version that nobody knows,
//! and two sessions at once. Nothing that was said is lost, and nothing is there twice.

use std::fs;

use heirloom_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::capture::{ID, json as answer};
use crate::handing_over::{agent, hook};
use crate::talk::Talk;

const OTHER: &str = "1b554780-986f-49f2-9a58-edfafd0188dd";

/// What is known of a session: its prompts with whether they were taken back, and what must be there once.
fn known(env: &TestEnv, id: &str) -> Value {
    let shown = answer(env, &["sessions", "show", id]);
    let prompts: Vec<Value> = shown["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| json!([prompt["text"], prompt["rewound"]]))
        .collect();
    json!({"prompts": prompts, "commits": shown["commits"], "commands": shown["commands"],
           "tokens": shown["tokens"], "turns": shown["turns"], "unknown": shown["unknown_lines"],
           "unread": shown["unread"]})
}

/// How often a word is found.
fn found(env: &TestEnv, word: &str) -> usize {
    answer(env, &["search", word])["results"].as_array().unwrap().len()
}

#[test]
fn a_day_of_odd_transcripts_loses_nothing_and_doubles_nothing() {
    let env = crate::env().var("HEIRLOOM_TEST_LINE", "bash");
    env.run(&["init", "--yes"]).success();
    let mut person = agent();
    let pid = person.id();
    let (mut one, mut two) = (Talk::new(&env, ID), Talk::new(&env, OTHER));
    for id in [ID, OTHER] {
        hook(&env, "SessionStart", id, pid, &json!({"source": "startup"}));
    }

    // The second one's file begins with a byte order mark.
    two.write("\u{feff}");
    two.minute = 120;
    two.prompt("draw the marsupial map");
    one.prompt("let the aardvark parser nest");
    one.answers("it nests");

    // Torn in the middle of a line, and read just then.
    let line = one.line("user", &json!({"role": "user", "content": "now count the bandicoots"}));
    let (begun, rest) = line.split_at(line.len() / 2);
    one.write(begun);
    for id in [OTHER, ID] {
        hook(&env, "PreCompact", id, pid, &json!({"trigger": "manual"}));
    }
    assert_eq!(known(&env, ID)["turns"], 1);
    assert_eq!((found(&env, "marsupial"), found(&env, "bandicoots")), (1, 0));
    one.write(rest);
    one.runs("git commit -am count", "[main 1a2b3c4] count the bandicoots");

    // What was said earlier than anything of the other one, and is taken in later.
    answer(&env, &["sync"]);
    assert_eq!(found(&env, "bandicoots"), 1);

    // Taken back, and said otherwise.
    let before = one.last.clone();
    one.prompt("paint them cassowary blue");
    one.answers("painted");
    one.last = before;
    one.prompt("paint them dingo yellow");

    // Of a version that nobody knows, and no line at all.
    one.write("{\"type\":\"hologram\",\"v\":9}\n{\"type\":\"hologram\",\"v\":9}\n\u{0}\u{1b}[2J\n");

    // A line of more than a hook reads.
    one.runs("cat log", &format!("{}\nthe echidna at its end", "x".repeat(3 << 20)));
    hook(&env, "PreCompact", ID, pid, &json!({"trigger": "auto"}));
    one.prompt("and file the frogmouth report");
    two.prompt("with a legend for the galah");
    answer(&env, &["sync"]);
    let texts = |id: &str| known(&env, id)["prompts"].clone();
    let all = json!([
        ["let the aardvark parser nest", false],
        ["now count the bandicoots", false],
        ["paint them cassowary blue", true],
        ["paint them dingo yellow", false],
        ["and file the frogmouth report", false],
    ]);
    assert_eq!(texts(ID), all);
    assert_eq!(
        texts(OTHER),
        json!([["draw the marsupial map", false], ["with a legend for the galah", false]])
    );
    let words = ["aardvark", "cassowary", "dingo", "echidna", "frogmouth", "galah", "marsupial"];
    assert_eq!(words.map(|word| found(&env, word)), [1; 7]);
    let now = known(&env, ID);
    assert_eq!((&now["unknown"], &now["unread"]), (&3.into(), &0.into()));
    assert_eq!(now["commits"], json!(["1a2b3c4 count the bandicoots"]));
    assert_eq!(now["commands"].as_array().map(Vec::len), Some(2));
    assert_eq!(now["tokens"], json!({"input": 20, "output": 2}));
    let doctor = env.run(&["doctor"]).stdout;
    assert!(doctor.contains("3 lines of a kind heirloom does not know"), "{doctor}");
    let shown = env.run(&["sessions", "show", ID]).success().stdout;
    assert!(shown.contains("3 lines of a kind heirloom does not know"), "{shown}");

    // Rewritten to the same length, beginning and end: what it says now counts, what it said is still found.
    let text = fs::read_to_string(&one.file).unwrap();
    fs::write(&one.file, text.replacen("dingo yellow", "emu coloured", 1)).unwrap();
    answer(&env, &["sync"]);
    assert_eq!(texts(ID)[3], json!(["paint them emu coloured", false]));
    assert_eq!(texts(ID).as_array().map(Vec::len), Some(5));
    assert_eq!(words.map(|word| found(&env, word)), [1; 7]);
    assert_eq!(found(&env, "emu"), 1);

    // Torn by a crash: what was written is kept, and the last whole line needs no end.
    let last = two.line("user", &json!({"role": "user", "content": "then print the hoopoe"}));
    two.write(last.trim_end());
    one.write("{\"type\":\"user\",\"mess");
    answer(&env, &["sync"]);
    assert_eq!(texts(OTHER)[2], json!(["then print the hoopoe", false]));
    assert_eq!(found(&env, "hoopoe"), 1);

    // Everything made anew from what is kept is what was read piece by piece.
    let before = [ID, OTHER].map(|id| known(&env, id));
    for talk in [&one, &two] {
        let bytes = fs::read(&talk.file).unwrap();
        fs::remove_file(&talk.file).unwrap();
        answer(&env, &["archive", "restore", talk.id]);
        assert_eq!(fs::read(&talk.file).unwrap(), bytes);
        fs::remove_file(&talk.file).unwrap();
    }
    for name in
        ["facts.db", "facts.db-wal", "facts.db-shm", "index.db", "index.db-wal", "index.db-shm"]
    {
        let _ = fs::remove_file(env.home().join(name));
    }
    answer(&env, &["sync"]);
    assert_eq!([ID, OTHER].map(|id| known(&env, id)), before);
    assert_eq!(words.map(|word| found(&env, word)), [1; 7]);
    assert_eq!((found(&env, "emu"), found(&env, "hoopoe")), (1, 1));
    person.kill().unwrap();
    person.wait().unwrap();
}
