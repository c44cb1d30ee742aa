//! The workflows and templates that only GitHub runs, read by our own YAML parser.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use heirloom_core::yaml;
use serde_json::Value;

use super::{read, root};

/// Every file of a directory that ends in `.yml`, with what is in it.
fn all(directory: &str) -> Vec<(String, Value)> {
    let entries = fs::read_dir(root().join(directory)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files = names.filter(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "yml"));
    files
        .map(|name| {
            let path = format!("{directory}/{name}");
            let (node, problems) = parsed(&read(&path));
            assert_eq!(problems, Vec::<String>::new(), "{path}");
            (path, node)
        })
        .collect()
}

fn parsed(text: &str) -> (Value, Vec<String>) {
    match yaml::parse(text, 0) {
        Ok(node) => (node.to_json(), Vec::new()),
        Err(problems) => (Value::Null, problems.iter().map(|it| format!("{it:?}")).collect()),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Fails unless the shell can read it.
fn check_script(place: &str, script: &str) {
    use std::io::Write;
    let mut shell = Command::new("bash");
    shell.arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{place}: {}", String::from_utf8_lossy(&output.stderr));
    // GitHub puts expressions into a script as text: a branch named `$(…)` would be run.
    assert!(!script.contains("${{"), "{place}: pass the expression through `env`");
    for word in script.split_whitespace() {
        let word = word.trim_start_matches("./");
        if word == "test" || word.starts_with("dist/") {
            let found =
                fs::metadata(root().join(word)).unwrap_or_else(|_| panic!("{place}: {word}"));
            assert!(found.permissions().mode() & 0o100 != 0, "{place}: {word} cannot be run");
        }
    }
}

fn check_step(place: &str, step: &Value) {
    match (step["run"].as_str(), step["uses"].as_str()) {
        (Some(script), None) => check_script(place, script),
        (None, Some(action)) => {
            let (name, commit) = action.split_once('@').unwrap();
            let is_commit = commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit());
            assert!(is_commit, "{place}: {action} is not pinned to a commit");
            // A token that stays in .git/config is readable by every build script.
            let keeps_token = step["with"]["persist-credentials"] != false;
            assert!(name != "actions/checkout" || !keeps_token, "{place}: the token stays");
        }
        _ => panic!("{place}: a step either runs or uses something"),
    }
}

/// Fails if an expression names something of the matrix that is not in it.
fn check_matrix(place: &str, job: &Value) {
    let matrix = &job["strategy"]["matrix"];
    let mut known: BTreeSet<&str> =
        matrix.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let included = list(&matrix["include"]).iter().filter_map(Value::as_object);
    known.extend(included.flatten().map(|(key, _)| key.as_str()));
    let text = job.to_string();
    for name in text.split("matrix.").skip(1) {
        let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
        assert!(known.contains(name), "{place}: the matrix has no {name}");
    }
}

#[test]
fn every_workflow_has_jobs_whose_steps_are_pinned_and_whose_scripts_can_be_read() {
    let workflows = all(".github/workflows");
    let names: Vec<&str> = workflows.iter().map(|(path, _)| path.as_str()).collect();
    assert!(names.contains(&".github/workflows/ci.yml"), "{names:?}");
    assert!(names.contains(&".github/workflows/release.yml"), "{names:?}");
    for (path, workflow) in &workflows {
        assert!(workflow["on"].is_object(), "{path}: when does it run?");
        assert_eq!(workflow["permissions"]["contents"], "read", "{path}: grant it to a job");
        let jobs = workflow["jobs"].as_object().unwrap();
        assert!(!jobs.is_empty(), "{path}");
        for (name, job) in jobs {
            let place = format!("{path}: {name}");
            assert!(job["runs-on"].is_string(), "{place}: where does it run?");
            assert!(job["timeout-minutes"].is_i64(), "{place}: it may hang for six hours");
            check_matrix(&place, job);
            let needs = job["needs"].as_str().into_iter();
            for need in needs.chain(list(&job["needs"]).iter().filter_map(Value::as_str)) {
                assert!(jobs.contains_key(need), "{place}: there is no job {need}");
            }
            assert!(!list(&job["steps"]).is_empty(), "{place}: it has no steps");
            for (step, number) in list(&job["steps"]).iter().zip(1..) {
                check_step(&format!("{place}: step {number}"), step);
            }
        }
    }
}

#[test]
fn linux_and_macos_are_tested_and_released() {
    let of = |name: &str| parsed(&read(&format!(".github/workflows/{name}.yml"))).0;
    let runners = of("ci")["jobs"].to_string();
    assert!(runners.contains("ubuntu-") && runners.contains("macos-"), "{runners}");
    let release = of("release");
    let matrix = list(&release["jobs"]["build"]["strategy"]["matrix"]["include"]);
    let targets: Vec<&str> = matrix.iter().filter_map(|it| it["target"].as_str()).collect();
    for target in &targets {
        assert!(read("dist/render").contains(target), "dist/render does not know {target}");
    }
    assert_eq!(targets.len(), 4);
    let publish = &release["jobs"]["publish"];
    assert_eq!(publish["permissions"]["attestations"], "write");
    let uses: Vec<&str> =
        list(&publish["steps"]).iter().filter_map(|step| step["uses"].as_str()).collect();
    assert!(uses.iter().any(|action| action.starts_with("actions/attest-build-provenance@")));
}

#[test]
fn an_issue_template_has_a_name_and_asks_for_each_thing_once() {
    for (path, template) in all(".github/ISSUE_TEMPLATE") {
        if path.ends_with("/config.yml") {
            assert!(template["blank_issues_enabled"].is_boolean(), "{path}");
            continue;
        }
        assert!(template["name"].is_string() && template["description"].is_string(), "{path}");
        let mut ids = BTreeSet::new();
        for field in list(&template["body"]) {
            let kind = field["type"].as_str().unwrap();
            assert!(["markdown", "textarea", "input", "dropdown", "checkboxes"].contains(&kind));
            if kind != "markdown" {
                assert!(field["attributes"]["label"].is_string(), "{path}: {field}");
                assert!(ids.insert(field["id"].as_str().unwrap()), "{path}: {field}");
            }
        }
        assert!(!ids.is_empty(), "{path} asks for nothing");
    }
    assert!(read(".github/pull_request_template.md").contains("./test"));
}
