//! `docs/agents.md` says what the adapters say.

use std::fmt::Write;
use std::path::Path;

use heirloom_agents::{ALL, Feature, Support};

/// The table of capabilities, and what there is to say about its cells.
fn table() -> String {
    let mut text = String::from("| feature |");
    for agent in ALL {
        write!(text, " {} |", agent.name()).unwrap();
    }
    writeln!(text, "\n| --- |{}", " --- |".repeat(ALL.len())).unwrap();
    for feature in Feature::ALL {
        write!(text, "| `{}` |", feature.as_str()).unwrap();
        for agent in ALL {
            let word = match agent.supports(feature) {
                Support::Yes => "yes",
                Support::Partly(_) => "partly",
                Support::No(_) => "no",
            };
            write!(text, " {word} |").unwrap();
        }
        text.push('\n');
    }
    text.push('\n');
    for agent in ALL {
        for feature in Feature::ALL {
            if let Support::Partly(note) | Support::No(note) = agent.supports(feature)
                && !note.is_empty()
            {
                writeln!(text, "- {}, `{}`: {note}.", agent.name(), feature.as_str()).unwrap();
            }
        }
    }
    text
}

#[test]
fn the_table_of_capabilities_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once("<!-- capabilities -->\n").expect("the beginning of the table");
    let (written, _) = rest.split_once("<!-- /capabilities -->").expect("the end of the table");
    let table = table();
    assert_eq!(written, table, "docs/agents.md should say:\n\n{table}");
}

#[test]
fn every_agent_has_a_section() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let text = std::fs::read_to_string(path).unwrap();
    for agent in ALL {
        let heading = format!("\n### {} (`{}`)\n", agent.title(), agent.name());
        assert!(text.contains(&heading), "docs/agents.md has no section{heading}");
    }
}
