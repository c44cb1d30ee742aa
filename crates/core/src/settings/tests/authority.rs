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

#[test]
fn nobody_weakens_what_the_machines_owner_asks_for() {
    let owner = "requirements: {audit: {type: guard, guard_type: protected_branch}}\n\
                 guard: {on_uncertain: deny}\n";
    let alone = {
        let mut layers = Layers::new();
        layers.add_file(Authority::Owner, "owner.yaml", owner);
        layers.resolve().unwrap().settings
    };
    for weaker in [
        "enabled: false",
        "requirements: null",
        "requirements: {audit: null}",
        "requirements: {audit: {enabled: false}}",
        "requirements: {audit: {protected_branches: [nowhere]}}",
        "guard: {enabled: false, enforcement: off, exempt: ['**']}",
        "guard: {on_uncertain: allow}",
    ] {
        // What a repository says of `guard` goes for its own requirements.
        let is_its_own = weaker.contains("exempt");
        let others = [Authority::Person, Authority::Repository];
        for authority in &others[..others.len() - usize::from(is_its_own)] {
            let mut layers = Layers::new();
            layers.add_file(Authority::Owner, "owner.yaml", owner);
            layers.add_file(*authority, "other.yaml", weaker);
            let resolved = layers.resolve().unwrap();
            assert_eq!(resolved.settings, alone, "{authority:?}: {weaker}");
        }
    }
}

#[test]
fn what_cannot_be_read_hides_nothing_that_another_layer_asks_for() {
    let policy = |layers: Layers| {
        let (tree, odd) = match layers.resolve() {
            Ok(resolved) => (resolved.tree, resolved.odd),
            Err(broken) => (broken.rest.tree, broken.rest.odd),
        };
        (crate::guard::settings::policy(&tree), odd)
    };
    let mine = "requirements: {mine: {type: dynamic, thresholds: {block: 9}}}\n\
                guard: {on_uncertain: deny, protect_settings: deny}\n";
    for odd in [
        "requirements: 7",
        "requirements: text",
        "requirements: {mine: [a]}",
        "requirements: {mine: {thresholds: {block: many}}}",
        "requirements: {mine: {ttl: soon}}",
        "guard: 7",
        "guard: {exempt: 7}",
        "guard: {on_uncertain: 7}",
    ] {
        for authority in [Authority::Owner, Authority::Person, Authority::Repository] {
            // What the machine's owner says of a requirement replaces the person's.
            if authority == Authority::Owner && odd.contains("mine") {
                continue;
            }
            let mut layers = Layers::new();
            layers.add_file(Authority::Person, "user.yaml", mine);
            layers.add_file(authority, "odd.yaml", odd);
            let (policy, told) = policy(layers);
            assert!(policy.get("mine").is_some(), "{authority:?}: {odd}");
            assert_eq!(policy.on_uncertain, crate::guard::policy::OnUncertain::Deny, "{odd}");
            // A repository has no say in these, readable or not.
            let is_cut = authority == Authority::Repository
                && (odd.contains("mine") || odd.contains("on_uncertain"));
            assert_eq!(told.is_empty(), is_cut, "{authority:?}: {odd} {told:?}");
        }
    }
}

#[test]
fn a_layer_that_is_no_settings_at_all_leaves_the_others() {
    for broken in ["{{{{", "- a", "requirements: ["] {
        let mut layers = Layers::new();
        layers.add_file(Authority::Owner, "owner.yaml", "requirements: {audit: {}}\n");
        layers.add_file(Authority::Person, "user.yaml", broken);
        layers.add_file(Authority::Repository, "repo.yaml", "requirements: {theirs: {}}\n");
        let broken = *layers.resolve().unwrap_err().rest;
        let names: Vec<&String> = broken.tree["requirements"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["theirs", "audit"]);
        assert!(broken.unread.iter().all(|found| found.file == "user.yaml"));
        assert!(!broken.unread.is_empty());
    }
}
