//! The main screens as a person sees them, whole: narrow, usual and wide, and in colour.

use std::fmt::Write as _;

use heirloom_testkit::env::TestEnv;

use crate::env;

/// With no agent on the PATH, whatever is installed where the tests run, and data in the person's home.
fn alone(env: TestEnv) -> TestEnv {
    let data = env.user().join("data");
    env.without_agents().var("HEIRLOOM_HOME", data)
}

/// A repository in which something has happened, one thing a minute.
fn busy() -> TestEnv {
    let env = alone(env());
    env.write("src/auth.rs", "pub fn rotate() {\n    store.swap();\n}\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-qm", "rotate tokens"]);
    let title = "Blacklist the refresh token when somebody logs out of the last of their devices";
    let decision = "Swap refresh tokens in the store on every use, so that a stolen one is noticed";
    let because = "replay is possible otherwise";
    let run = ["--agent", "sim", "--permissions", "ask"];
    let first = [&["run", "ralph", "auth-v1", "2"], &run[..]].concat();
    let second = [&["run", "ralph", "auth-v2", "1", "--inherit", "auth-v1"], &run[..]].concat();
    let steps: [&[&str]; 7] = [
        &["init", "--yes"],
        &["issues", "create", title, "-p", "1", "-t", "bug"],
        &["issues", "create", "Document the admin routes", "-p", "3"],
        &["note", "decision", decision, "--because", because, "--evidence", "src/auth.rs:2"],
        &["note", "warning", "The clock of the test machines is off by seconds"],
        &first,
        &second,
    ];
    for (minute, arguments) in steps.into_iter().enumerate() {
        let mut command = env.command(arguments);
        command.env("HEIRLOOM_CLOCK", format!("2026-01-12T15:{:02}:00Z", 10 + minute));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    env
}

/// What a command prints on a screen of so many columns.
fn shown(env: &TestEnv, arguments: &[&str], columns: usize, colour: bool) -> String {
    let mut command = env.command(arguments);
    command.env("COLUMNS", columns.to_string());
    if colour {
        command.env("CLICOLOR_FORCE", "1");
    }
    let output = command.output().unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    text.push_str(&String::from_utf8(output.stderr).unwrap());
    text
}

/// One screen at every width; no line may be wider than the screen unless a single word is.
fn screen(env: &TestEnv, name: &str, arguments: &[&str]) {
    let mut whole = String::new();
    for columns in [60, 100, 160] {
        let text = shown(env, arguments, columns, false);
        assert!(!text.contains('\u{1b}'), "{name}: {text}");
        let wide = too_wide(&text, columns).collect::<Vec<_>>();
        assert!(wide.is_empty(), "{name} at {columns}: {wide:?}");
        write!(whole, "== {columns} columns ==\n{text}\n").unwrap();
    }
    let coloured = shown(env, arguments, 100, true);
    write!(whole, "== 100 columns, in colour ==\n{coloured}").unwrap();
    let whole = whole.replace('\u{1b}', "\\e");
    let version = env!("CARGO_PKG_VERSION").replace('.', "\\.");
    insta::with_settings!({
        omit_expression => true,
        prepend_module_to_snapshot => false,
        filters => vec![
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[an-id-of-six-and-thirty-characters]"),
            (r"(\\e\[\d+m|\b)[0-9a-f]{8}\b", "${1}[shortid"),
            (r"(\\e\[\d+m|\b)hl-[a-z0-9]{3}\b", "${1}hl-[id"),
            (r"\b\d+ kB", "[n] kB"),
            (version.as_str(), "[v]"),
        ],
    }, { insta::assert_snapshot!(name, whole) });
}

#[test]
fn the_main_screens_look_like_this() {
    let env = busy();
    for (name, arguments) in [
        ("home", &[][..]),
        ("sessions-list", &["sessions", "list"]),
        ("sessions-show", &["sessions", "show", "auth-v2"]),
        ("status", &["status", "auth-v2"]),
        ("search", &["search", "stolen"]),
        ("issues-list", &["issues", "list"]),
        ("work-dry-run", &["work", "--dry-run", "--agent", "sim"]),
        ("notes", &["notes"]),
        ("doctor", &["doctor"]),
        ("usage", &["usage"]),
        ("lineage", &["lineage", "auth-v2"]),
        ("req-status", &["req", "status"]),
    ] {
        screen(&env, name, arguments);
    }
}

/// Answers that people read, each with something in it.
const SCREENS: [&str; 53] = [
    "",
    "sessions list --all",
    "sessions show auth-v2",
    "sessions show auth-v2 --learnings",
    "sessions show auth-v2 --config",
    "sessions show auth-v2 --trajectory",
    "status auth-v2",
    "lineage auth-v2",
    "conversation auth-v2",
    "search stolen",
    "search stolen --open",
    "why src/auth.rs",
    "why src/auth.rs:2",
    "how nothing-like-it",
    "usage",
    "usage --by model --all-repos",
    "notes",
    "notes --ids",
    "handoffs list",
    "handoffs show",
    "rules list",
    "ground --all",
    "inherit auth-v1",
    "checkpoint --dry-run",
    "context rules",
    "context status --session auth-v2",
    "archive list",
    "req status",
    "req explain Edit --path src/auth.rs",
    "req log",
    "approvals list",
    "trust --show",
    "issues list",
    "issues show {issue}",
    "issues ready",
    "work --dry-run --agent sim",
    "work clean --dry-run",
    "runs list",
    "run ralph later 2 --agent sim --permissions ask --dry-run",
    "stages list",
    "pipelines list",
    "agents",
    "agents --features",
    "config show",
    "config show --sources",
    "config path",
    "doctor",
    "init --dry-run",
    "sync --dry-run",
    "ledger stats",
    "ledger verify",
    "repo show",
    "heal --check",
];

/// As [`shown`], where no colours are wanted whatever else is said, and no letters but those of ASCII.
fn bare(env: &TestEnv, arguments: &[&str], columns: usize) -> String {
    let mut command = env.command(arguments);
    command.env("COLUMNS", columns.to_string());
    command.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1").env("LC_ALL", "C");
    let output = command.output().unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    text.push_str(&String::from_utf8(output.stderr).unwrap());
    text
}

#[test]
fn every_screen_fits_in_unicode_and_in_ascii_and_can_do_without_colours() {
    let env = busy();
    let mut wrong = Vec::new();
    let issues = env.run(&["issues", "list", "--json"]).success().json();
    let issue = issues["issues"][0]["id"].as_str().unwrap();
    for screen in SCREENS {
        let screen = screen.replace("{issue}", issue);
        let arguments: Vec<&str> = screen.split_whitespace().collect();
        for columns in [60, 100, 160] {
            let plain = shown(&env, &arguments, columns, false);
            assert!(!plain.trim().is_empty(), "{screen} says nothing");
            let ascii = bare(&env, &arguments, columns);
            if !ascii.is_ascii() || ascii.contains('\u{1b}') {
                wrong.push(format!("{screen} at {columns} is not bare:\n{ascii}"));
            }
            let wide = too_wide(&plain, columns).chain(too_wide(&ascii, columns));
            wrong.extend(wide.map(|line| format!("{screen} at {columns}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stays on the screen of something that runs, at every width.
#[test]
fn what_runs_fits_as_well() {
    let env = busy();
    let mut wrong = Vec::new();
    for columns in [60, 100, 160] {
        let name = format!("auth-at-{columns}");
        let run = ["run", "ralph", &name, "2", "--inherit", "auth-v1", "--agent", "sim"];
        let run = [&run[..], &["--permissions", "ask"]].concat();
        env.run(&["issues", "create", "Blacklist every refresh token of somebody who logs out"])
            .success();
        let screens: [(&[&str], &str); 3] = [
            (&run, "up to 2 iterations"),
            (&["work", "--agent", "sim"], "started"),
            (&["demo"], "In your own repository"),
        ];
        for (arguments, says) in screens {
            let text = shown(&env, arguments, columns, false);
            assert!(text.contains(says), "{arguments:?}: {text}");
            let wide = too_wide(&text, columns);
            wrong.extend(wide.map(|line| format!("{arguments:?} at {columns}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines that a screen breaks in the middle. A word that is wider than half of it stays whole.
fn too_wide(text: &str, columns: usize) -> impl Iterator<Item = &str> {
    text.lines().filter(move |line| {
        let longest = line.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        line.chars().count() > columns && longest <= columns / 2
    })
}

/// The help of every command, at every width.
#[test]
fn every_help_fits() {
    let env = env();
    let mut left = vec![Vec::<String>::new()];
    let mut seen = 0;
    while let Some(command) = left.pop() {
        let words = command.iter().map(String::as_str).chain(["--help"]).collect::<Vec<_>>();
        for columns in [60, 100, 160] {
            let help = shown(&env, &words, columns, false);
            for line in help.lines() {
                let longest = line.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
                let fits = line.chars().count() <= columns || longest > columns / 3;
                // Usage and examples are one line, to be copied.
                let is_line = ["Usage: heirloom ", "       heirloom ", "  heirloom "];
                let is_line = is_line.iter().any(|begins| line.starts_with(begins));
                assert!(fits || is_line, "{words:?} at {columns}: {line}");
            }
            if columns == 160 {
                let below = crate::help::listed(&help).into_iter();
                left.extend(below.map(|name| [command.clone(), vec![name]].concat()));
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "only {seen} commands were looked at");
}

#[test]
fn on_a_narrow_screen_nothing_is_cut_that_somebody_has_to_type_or_read() {
    let env = busy();
    let narrow = |arguments: &[&str]| shown(&env, arguments, 60, false);
    env.write(".heirloom/local.yaml", "requirements: {commit_plan: {trigger_tools: [Edit]}}\n");
    for arguments in [&["config", "show"][..], &["config", "show", "--sources"]] {
        let settings = narrow(arguments);
        assert!(settings.contains("requirements.commit_plan.trigger_tools"), "{settings}");
    }
    std::fs::remove_file(env.repo().join(".heirloom/local.yaml")).unwrap();
    let config = narrow(&["sessions", "show", "auth-v1", "--config"]);
    let directory = config.lines().skip_while(|line| !line.contains("working dir")).nth(1);
    assert!(directory.is_some_and(|it| it.starts_with("    /") && !it.contains('…')), "{config}");
    // What goes on below is not taken for the next number.
    let conversation = narrow(&["conversation", "auth-v1"]);
    let read = conversation.lines().skip_while(|line| !line.ends_with("● Read")).nth(1);
    assert!(read.is_some_and(|line| line.starts_with("      ")), "{conversation}");
    let agents = narrow(&["agents"]);
    assert!(
        agents.contains("· claude     Claude Code\n    not installed: there is no"),
        "{agents}"
    );
    let records = narrow(&["sessions", "show", "auth-v1", "--trajectory"]);
    let created = records.lines().skip_while(|line| !line.contains("session.created")).nth(1);
    assert!(created.is_some_and(|line| line.chars().count() > 50), "{records}");
}

#[test]
fn what_was_noted_stands_with_whose_it_is_and_why() {
    let env = busy();
    let said = shown(&env, &["how", "swap refresh tokens"], 100, false);
    assert!(said.contains("decision  Swap refresh tokens in the store"), "{said}");
    assert!(said.contains("(notes-2026-01-12)\n"), "{said}");
    assert!(said.contains("\n          because replay is possible otherwise\n"), "{said}");
}
