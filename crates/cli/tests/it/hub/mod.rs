//! A team through a hub: several homes, one real PostgreSQL.

mod authors;
mod courier;
mod crash;
mod fleet;
mod hostile;
mod months;
mod story;
mod withheld;

use heirloom_testkit::env::{Ran, TestEnv};
use heirloom_testkit::postgres::Postgres;

/// A hub with one repository, and the person who set it up.
struct Team {
    postgres: Postgres,
    owner: TestEnv,
}

impl Team {
    fn new() -> Self {
        let postgres = Postgres::start();
        let owner = home();
        owner.run(&["init", "--yes"]).success();
        owner.run(&["hub", "migrate", &postgres.owner()]).success();
        owner.run(&["hub", "join", &postgres.owner(), "--yes"]).success();
        Self { postgres, owner }
    }

    /// A team of the owner and ada who have the same code.
    fn with_code() -> (Self, TestEnv) {
        let team = Self::new();
        let ada = team.colleague("ada");
        for env in [&team.owner, &ada] {
            env.write("src/cache.rs", "// keyed by tenant\nfn key() {}\n");
            env.git(&["add", "-A"]);
            env.git(&["commit", "-qm", "cache"]);
        }
        (team, ada)
    }

    /// Another home of the same repository, whose person is let in under `name`.
    fn colleague(&self, name: &str) -> TestEnv {
        let url = self.invite(name);
        let env = self.clone_of_it();
        env.run(&["hub", "join", &url, "--yes"]).success();
        env
    }

    fn invite(&self, name: &str) -> String {
        let invited = self.owner.run(&["hub", "invite", name, "--json"]).success();
        invited.json()["url"].as_str().expect("a new member gets an address").to_owned()
    }

    fn clone_of_it(&self) -> TestEnv {
        let env = home();
        env.write(".heirloom/repository", &self.owner.read(".heirloom/repository"));
        env.run(&["init", "--yes"]).success();
        env
    }
}

fn home() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_heirloom"))
}

fn note(env: &TestEnv, text: &str) -> Ran {
    env.run(&["note", "learning", text]).success()
}

fn push(env: &TestEnv) -> serde_json::Value {
    env.run(&["hub", "push", "--json"]).success().json()
}

fn pull(env: &TestEnv) -> serde_json::Value {
    env.run(&["hub", "pull", "--json"]).success().json()
}

/// The texts of the notes that a home knows.
fn notes(env: &TestEnv) -> Vec<String> {
    let listed = env.run(&["notes", "--json"]).success().json();
    let texts = listed["notes"].as_array().expect("a list").iter();
    texts.map(|note| note["text"].as_str().expect("a text").to_owned()).collect()
}

/// The session in which a note was made.
fn session_of(env: &TestEnv, text: &str) -> String {
    let listed = env.run(&["notes", "--json"]).success().json();
    let notes = listed["notes"].as_array().expect("a list").clone();
    let found = notes.iter().find(|note| note["text"] == text).expect("such a note");
    found["session_id"].as_str().or(found["session"].as_str()).expect("its session").to_owned()
}
