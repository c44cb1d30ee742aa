//! What a line leaves open, and what it is with that looked up.

use super::{CommandPattern, Fit, Known, Open, parse, parse_knowing};

fn commands(command: &str, aliases: &[(&str, &str)]) -> Vec<String> {
    let pair = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    let aliases = aliases.iter().map(pair).collect();
    let known = Known { git_aliases: vec![(".".to_owned(), aliases)], ..Known::default() };
    let script = parse_knowing(command, &known);
    script.commands.iter().map(ToString::to_string).collect()
}

fn touched(command: &str, patch: &str) -> Vec<String> {
    let patches = vec![("fix.patch".to_owned(), patch.to_owned())];
    let script = parse_knowing(command, &Known { patches, ..Known::default() });
    assert!(script.applies_unknown, "what else it does is not known: {command}");
    script.touched.into_iter().map(|word| word.text).collect()
}

#[test]
fn a_word_that_git_does_not_have_is_left_open_and_nothing_else_is() {
    for (command, word, at) in [
        ("git p", "p", "."),
        ("make && git -C ../x p origin", "p", "../x"),
        ("cd sub; sudo git -c a.b=c lfs pull", "lfs", "sub/."),
        ("git -c alias.q=p q", "p", "."),
    ] {
        let open = parse(command).open;
        assert_eq!(open.git_words, [(word.to_owned(), at.to_owned())], "{command}");
    }
    for command in [
        "git status",
        "git push --force",
        "git -c alias.push=log push",
        "git -c alias.p=push p",
        "git $x",
        "git",
        "git --version",
        "echo git p",
        "git apply --check fix.patch",
        "echo '+++ b/x' > fix.patch && git apply fix.patch",
        "cargo test",
    ] {
        assert_eq!(parse(command).open, Open::default(), "{command}");
    }
}

#[test]
fn a_patch_that_the_line_did_not_make_is_left_open() {
    for (command, name, path) in [
        ("git apply fix.patch", "fix.patch", "fix.patch"),
        ("git am < fix.patch", "fix.patch", "fix.patch"),
        ("patch -p1 < fix.patch", "fix.patch", "fix.patch"),
        ("cd sub && patch -i ../fix.patch", "../fix.patch", "sub/../fix.patch"),
    ] {
        let open = parse(command).open;
        assert_eq!(open.patches, [(name.to_owned(), path.to_owned())], "{command}");
    }
    assert!(parse("curl x | git apply").open.patches.is_empty());
}

#[test]
fn an_alias_is_what_it_stands_for() {
    let aliases = [
        ("p", "push"),
        ("pf", "p --force"),
        ("ship", "!git push"),
        ("up", "-C sub pull"),
        ("a", "a"),
    ];
    for (command, meant) in [
        ("git p origin main", "git push origin main"),
        ("git P", "git push"),
        ("git pf", "git push --force"),
        ("git up -q", "git pull -q"),
        ("sudo git p", "git push"),
        ("git ship", "git push"),
    ] {
        let found = commands(command, &aliases);
        assert!(found.iter().any(|command| command == meant), "{command}: {found:?}");
    }
    // No alias stands for what git has itself, and one that stands for itself ends.
    assert_eq!(commands("git status", &[("status", "push")]), ["git status"]);
    assert_eq!(commands("git a", &aliases), ["git a"]);
}

#[test]
fn a_patch_touches_the_files_that_it_names() {
    let patch = "diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-a\n+b\n";
    for command in ["git apply fix.patch", "patch -p1 < fix.patch", "git am fix.patch"] {
        assert!(touched(command, patch).iter().all(|file| file == "src/a"), "{command}");
    }
    let files = touched("git apply -p2 --directory=lib fix.patch", patch);
    assert!(!files.is_empty() && files.iter().all(|file| file == "lib/a"), "{files:?}");
    let moved = "diff --git a/x b/src/b\nsimilarity index 100%\nrename from x\nrename to src/b\n";
    let files = touched("git apply fix.patch", moved);
    assert!(files.contains(&"src/b".to_owned()) && files.contains(&"x".to_owned()), "{files:?}");
}

#[test]
fn each_directory_has_its_own_aliases_and_each_meaning_is_judged() {
    let alias = |text: &str| vec![("x".to_owned(), text.to_owned())];
    let known = Known {
        git_aliases: vec![("a/.".to_owned(), alias("push")), ("b/.".to_owned(), alias("status"))],
        unseen: vec!["c/.".to_owned()],
        ..Known::default()
    };
    let push = CommandPattern(vec!["git".to_owned(), "push".to_owned()]);
    for (command, fit) in [
        ("cd a && git x; cd ../b && git x", Fit::Yes),
        ("cd b && git x", Fit::No),
        ("(cd b && git x); (cd a && git x)", Fit::Yes),
        ("(cd a && git status); (cd b && git x)", Fit::No),
        ("git x", Fit::No),
        ("cd c && git x", Fit::Maybe),
        ("cd c && git status", Fit::No),
        // What the line says of it may come to nothing.
        ("cd a && (false && git config alias.x log; git x)", Fit::Yes),
        ("git config alias.x push; false && git config alias.x log; git x", Fit::Yes),
        ("cd a && git -c alias.x=log x", Fit::No),
    ] {
        let script = parse_knowing(command, &known);
        assert_eq!(push.fit(&script, command).0, fit, "{command}: {:?}", script.commands);
    }
}
