use super::*;

/// A person's file for all repositories, and a repository's.
fn opened(person: &str, repository: &str) -> Resolved {
    let mut layers = Layers::new();
    layers.add_file(Authority::Person, "user.yaml", person);
    layers.add_file(Authority::Repository, ".heirloom/config.yaml", repository);
    layers.resolve().unwrap()
}

const MINE: &str = "requirements: {mine: {trigger_tools: [Bash]}}\n";

#[test]
fn nothing_a_repository_says_weakens_a_requirement_of_the_person() {
    for repository in [
        "enabled: false",
        "enabled: null",
        "guard: null",
        "requirements: null",
        "requirements: {mine: null}",
        "requirements: {mine: {enabled: false}}",
        "requirements: {mine: {trigger_tools: [Never]}}",
        "requirements: {mine: {enforcement: off, ttl: 99999999}}",
        "guard: {protect_settings: off}",
        "trust: {paths: [/]}",
    ] {
        let before = opened(MINE, "");
        let after = opened(MINE, repository);
        assert_eq!(after.settings, before.settings, "{repository}");
        assert!(!after.warnings.is_empty(), "{repository} is not said to be ignored");
    }
}

#[test]
fn a_repository_adds_requirements_of_its_own() {
    let resolved = opened(MINE, "requirements: {theirs: {scope: branch}}\nwork: {max_agents: 5}\n");
    let names: Vec<&String> = resolved.settings.requirements.keys().collect();
    assert_eq!(names, ["mine", "theirs"]);
    assert_eq!(resolved.settings.work.max_agents.get(), 5);
    assert_eq!(resolved.warnings, []);
}

#[test]
fn a_repository_names_no_agents_program_and_says_so_with_its_line() {
    let resolved = opened("", "agents:\n  claude: {command: [./evil.sh], model: opus}\n");
    assert_eq!(resolved.settings.agents["claude"].command, None);
    assert_eq!(resolved.settings.agents["claude"].model.as_deref(), Some("opus"));
    insta::assert_snapshot!(shown(&resolved.warnings), @"warning: .heirloom/config.yaml:2:12: `agents.claude.command` is ignored here: a repository cannot say which program an agent is");
}

#[test]
fn only_a_person_locks_and_a_lock_holds_against_their_own_settings_for_one_repository() {
    let mut layers = Layers::new();
    let mine = "requirements: {mine: {locked: true}, other: {}}\n";
    layers.add_file(Authority::Person, "user.yaml", mine);
    layers.add_file(Authority::Repository, "repo", "requirements: {theirs: {locked: true}}\n");
    let local = "enabled: false\nguard: {enforcement: off}\n\
                 requirements: {mine: {enabled: false}, other: {enabled: false}}\n";
    layers.add_file(Authority::Person, ".heirloom/local.yaml", local);
    let resolved = layers.resolve().unwrap();
    let requirements = &resolved.settings.requirements;
    assert!(resolved.settings.enabled);
    assert_eq!(resolved.settings.guard.enforcement, Enforcement::Block);
    assert!(requirements["mine"].enabled && requirements["mine"].locked);
    assert!(!requirements["other"].enabled, "what is not locked is theirs to switch off");
    assert!(!requirements["theirs"].locked);
    assert_eq!(resolved.warnings.len(), 4);
}

#[test]
fn the_owners_word_goes_over_everything() {
    let mut layers = Layers::new();
    layers.add_file(
        Authority::Owner,
        "owner.yaml",
        "work: {max_agents: 1}\nrequirements: {audit: {}}\n",
    );
    layers.add_file(Authority::Person, "user.yaml", "work: {max_agents: 9}\n");
    layers.add_file(Authority::Repository, "repo", "requirements: {audit: {enabled: false}}\n");
    layers.add_flag("--max-agents", "work.max_agents", &serde_json::json!(7));
    let resolved = layers.resolve().unwrap();
    assert_eq!(resolved.settings.work.max_agents.get(), 1);
    assert!(resolved.settings.requirements["audit"].enabled);
}

#[test]
fn what_nobody_trusted_is_left_out_and_named() {
    let mut layers = Layers::new();
    let text = "work: {gate: [./evil.sh], max_fixes: 1}\nrequirements: {plan: {message: obey}}\n";
    layers.add_untrusted_file(".heirloom/config.yaml", text);
    let resolved = layers.resolve().unwrap();
    assert_eq!(resolved.withheld, ["work.gate"]);
    assert_eq!(resolved.settings.work.gate, Vec::<String>::new());
    assert_eq!(resolved.settings.work.max_fixes, 1);
    assert_eq!(resolved.settings.requirements["plan"].message, None);
}
