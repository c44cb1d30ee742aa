use crate::env;

#[test]
fn every_command_has_help_with_examples_of_its_arguments() {
    let env = env();
    let help = env.run(&["--help"]).success().stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in commands {
        let help = env.run(&[command, "--help"]).success().stdout;
        assert!(help.contains(&format!("Usage: heirloom {command}")), "{help}");
        assert!(help.contains("--json"), "{command} has no --json");
    }
}

#[test]
fn the_version_is_an_answer() {
    let ran = env().run(&["--version"]).success();
    assert_eq!(ran.stdout, format!("heirloom {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_the_man_page_know_every_command() {
    let env = env();
    for shell in ["bash", "zsh", "fish"] {
        let script = env.run(&["completions", shell]).success().stdout;
        assert!(script.contains("sessions") && script.contains("lineage"), "{shell}");
    }
    let page = env.run(&["man"]).success().stdout;
    assert!(page.starts_with(".ie") || page.starts_with(".TH") || page.contains(".TH"), "{page}");
    assert!(page.contains("lineage"));
}
