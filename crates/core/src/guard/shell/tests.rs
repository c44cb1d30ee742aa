use proptest::prelude::*;

use super::*;

/// Every command on a line of its own, words separated by `·`.
fn commands(text: &str) -> String {
    let script = parse(text);
    let mut lines: Vec<String> = script
        .commands
        .iter()
        .map(|c| c.argv.iter().map(|w| w.shown().into_owned()).collect::<Vec<_>>().join("·"))
        .collect();
    if script.incomplete {
        lines.push("(incomplete)".to_owned());
    }
    lines.join("\n")
}

fn runs(text: &str, words: &[&str]) -> bool {
    fit(text, words) == Fit::Yes
}

fn fit(text: &str, words: &[&str]) -> Fit {
    pattern(words).fit(&parse(text), text).0
}

fn pattern(words: &[&str]) -> CommandPattern {
    CommandPattern(words.iter().map(|word| (*word).to_owned()).collect())
}

const COMMITS: &[&str] = &[
    "git commit",
    "git commit -m 'a; b'",
    "git add . && git commit -m x",
    "true || git commit",
    "ls; git commit",
    "ls & git commit",
    "ls\ngit commit",
    "ls \\\n  && git \\\n commit",
    "cat x | git commit -F -",
    "cat x |& git commit -F -",
    "(cd sub; git commit)",
    "( ( git commit ) )",
    "((1+2)); git commit",
    "{ git commit; }",
    "! git commit",
    "echo $(git commit)",
    "echo \"now $(git commit -m \"a b\")\"",
    "echo `git commit`",
    "echo \"`git commit`\"",
    "echo \\`x\\`; git commit",
    "echo ${X:-$(git commit)}",
    "echo $((1 + $(git commit | wc -l)))",
    "echo $((1<<2)); git commit",
    "diff <(git commit) x",
    "tee >(git commit) < x",
    "if git diff --quiet; then git commit; fi",
    "if true; then :; elif false; then :; else git commit; fi",
    "for f in a b; do git commit $f; done",
    "for ((i=0; i<2; i++)); do git commit; done",
    "for f in $(git commit); do :; done",
    "while read -r x; do git commit; done < list",
    "until false; do git commit; done",
    "case $x in a|b) git commit ;; *) : ;; esac",
    "case $x in (a) :;; (b) git commit; esac",
    "case x in esac; git commit",
    "case x in a) :;; esac; git commit",
    "case \"$(git commit)\" in *) ;; esac",
    "$(case x in a) git commit;; esac)",
    "f() { git commit; }; f",
    "function f { git commit; }",
    "function f() { git commit; }",
    "f () ( git commit )",
    "select x in a b; do git commit; done",
    "[[ -f x && ( a < b ) ]] && git commit",
    "[[ $x =~ ^(a|b)$ ]]; git commit",
    "A=b git commit",
    "A=b C=\"d e\" git commit",
    "A=(x y) git commit",
    "A+=x git commit",
    "A[0]=x git commit",
    ">out git commit",
    "2>&1 >/dev/null git commit",
    "git commit 2>&1 | tail",
    "git commit &>log",
    "git commit &",
    "time git commit",
    "time -p git commit",
    "time { git commit; }",
    "/usr/bin/time -f %e git commit",
    "coproc git commit",
    "\\git commit",
    "'git' \"commit\"",
    "g''it com\"mi\"t",
    "$'git' commit",
    "/usr/bin/git commit",
    "'C:\\Git\\git.exe' commit",
    "git-commit -m x",
    "git -C dir commit",
    "git -C dir -c user.name=x --no-pager --git-dir=y --work-tree z commit",
    "git --no-pager -p commit",
    "git -c alias.ci=commit ci",
    "git -c 'alias.ci=!git commit' ci",
    "env git commit",
    "env -i A=b -u C git commit",
    "env -S 'git commit'",
    "env -S'git commit' -m x",
    "sudo git commit",
    "sudo -u root -E git commit",
    "sudo -nu root A=b git commit",
    "sudo --user=root -- git commit",
    "doas -u x git commit",
    "command git commit",
    "command -p git commit",
    "exec git commit",
    "exec -a name git commit",
    "builtin command git commit",
    "nohup git commit",
    "nice git commit",
    "nice -n 5 git commit",
    "nice -5 git commit",
    "timeout 5 git commit",
    "timeout -k 1 -s KILL 5s git commit",
    "stdbuf -oL git commit",
    "stdbuf -o L git commit",
    "xargs git commit",
    "echo x | xargs -n 1 -I{} git commit {}",
    "echo x | xargs -0 -r git commit",
    "setsid -w git commit",
    "flock /tmp/x git commit",
    "flock /tmp/x -c 'git commit'",
    "su - me -c 'git commit'",
    "watch -n 1 git commit",
    "ssh host git commit",
    "find . -name x -exec git commit {} \\;",
    "find . -exec ls {} + -exec git commit {} +",
    "sudo env A=b nice -n 5 timeout 3 git commit",
    "bash -c 'git commit'",
    "bash -c \"cd x && git commit\"",
    "sh -lc 'git commit' name arg",
    "bash -o pipefail -ec 'git commit'",
    "bash --norc -c 'git commit'",
    "bash -c 'bash -c \"git commit\"'",
    "bash <<EOF\ngit commit\nEOF",
    "bash -s x <<'EOF'\ngit commit\nEOF",
    "sudo bash <<EOF\ngit commit\nEOF",
    "bash <<< 'git commit'",
    "eval 'git commit'",
    "eval git commit -m \"$X\"",
    "trap 'git commit' EXIT",
    "cat <<EOF\n$(git commit)\nEOF",
    "cat <<EOF; git commit\nbody\nEOF",
    "cat <<EOF\nbody\nEOF\ngit commit",
    "cat <<-EOF\n\tbody\n\tEOF\ngit commit",
    "cat <<A <<'B'\n1\nA\n2\nB\ngit commit",
    "echo hi # a comment\ngit commit",
    "echo a#b; git commit",
    "git commit -m \"$(cat <<'EOF'\nit's a \"message\" with ) and `\n\nEOF\n)\"",
    "x=$(git commit)",
    "export X=$(git commit)",
    "echo $'it\\'s'; git commit",
    "echo \"a\\\"b\"; git commit",
    "shopt -s extglob; ls !(a|b) @(c); git commit",
    "ls\r\ngit commit\r\n",
];

#[test]
fn a_commit_is_found_wherever_the_shell_would_run_it() {
    for text in COMMITS {
        assert!(runs(text, &["git", "commit"]), "{text}\n{}", commands(text));
    }
}

#[test]
fn what_is_only_text_is_no_command() {
    for text in [
        "echo git commit",
        "echo 'git commit'",
        "echo \"git commit\"",
        "echo \"; git commit\"",
        "echo '$(git commit)'",
        "echo \"\\$(git commit)\"",
        "echo \\$\\(git commit\\)",
        "# git commit",
        "ls # git commit",
        "ls # it's && git commit",
        "cat <<EOF\ngit commit\nEOF",
        "cat <<'EOF'\n$(git commit)\nEOF",
        "cat <<\\EOF\n`git commit`\nEOF",
        "cat <<EOF\n\\$(git commit)\nEOF",
        "cat <<EOF\n  git commit\n EOF\nEOF",
        "grep -r 'git commit' .",
        "rg \"git commit\" | head",
        "git log --grep commit",
        "git -C commit status",
        "git -c x=commit push",
        "git status; echo commit",
        "git; commit",
        "git | commit",
        "git > commit",
        "git\ncommit",
        "X=git commit",
        "A=(git commit)",
        "for git in commit; do :; done",
        "case git in commit) ;; esac",
        "case commit in git) ;; esac",
        "[[ git == commit ]]",
        "gitk commit",
        "git commit-tree x",
        "mygit commit",
        "git/x commit",
        "command -v git commit",
        "bash script.sh git commit",
        "bash -c 'echo git commit'",
        "python -c 'git commit'",
        "timeout git commit",
        "alias g='git commit'",
        "printf '%s\\n' 'git commit' > notes",
        "echo ${X:-git commit}",
        "echo $'\\'; git commit'",
    ] {
        assert!(!runs(text, &["git", "commit"]), "{text}\n{}", commands(text));
    }
}

#[test]
fn commands_are_listed_with_what_runs_them() {
    insta::assert_snapshot!(
        commands("A=1 sudo -u me env B=2 git -C x push --force origin 2>&1 | tee log && echo \"done $X\""),
        @"
    sudo·-u·me·env·B=2·git·-C·x·push·--force·origin
    env·B=2·git·-C·x·push·--force·origin
    git·push·--force·origin
    tee·log
    echo·done …
    "
    );
    insta::assert_snapshot!(commands("$GIT commit; eval \"$X\""), @"
    …·commit
    eval·…
    …
    ");
}

#[test]
fn files_that_are_written_are_listed() {
    let script = parse("echo a >src/a.rs; cat b >> 'src/b c' 2>/dev/null <in; x >&2 &>all >|force");
    assert_eq!(script.writes, ["src/a.rs", "src/b c", "/dev/null", "all", "force"]);
    assert!(!script.incomplete);
}

#[test]
fn what_cannot_be_followed_is_flagged() {
    for text in [
        "echo 'never closed",
        "echo \"never closed",
        "echo $(never closed",
        "(never closed",
        "echo `never closed",
        "echo ${never",
        "cat <<EOF\nnever closed",
        "case x in a) b",
        "case x",
        "[[ a",
        "ls )",
        "A=(x",
        "cat <",
        &format!("{}ls", "(".repeat(100)),
        &"env ".repeat(50),
    ] {
        assert!(parse(text).incomplete, "{text}");
    }
    for text in
        ["", " ", "\n\n", "ls", "ls;", "a && b", "a | b; c &", "x=$y", "{ ls; }", "a() { :; }"]
    {
        assert!(!parse(text).incomplete, "{text}");
    }
}

#[test]
fn what_cannot_be_followed_is_searched_for_the_words() {
    let commit = ["git", "commit"];
    assert_eq!(fit("echo 'open; git commit -m x", &commit), Fit::Maybe);
    assert_eq!(fit(&format!("{}git -C x commit", "(".repeat(100)), &commit), Fit::Maybe);
    assert_eq!(fit("eval \"$X git commit\"", &commit), Fit::Maybe);
    assert_eq!(fit("echo 'open; git status\ncommit", &commit), Fit::No);
}

#[test]
fn options_between_the_words_do_not_matter() {
    for (text, words) in [
        ("npm --registry https://x publish", vec!["npm", "publish"]),
        ("npm --silent publish", vec!["npm", "publish"]),
        ("gh -R o/r pr create --fill", vec!["gh", "pr", "create"]),
        ("cargo +nightly publish", vec!["cargo", "publish"]),
        ("kubectl -n prod apply -f x", vec!["kubectl", "apply"]),
        ("git push origin main --force", vec!["git", "push", "--force"]),
        ("git push -uf origin", vec!["git", "push", "-f"]),
        ("git push --force-with-lease=x", vec!["git", "push", "--force-with-lease"]),
        ("git push --force-with-lease", vec!["git", "push", "--force"]),
        ("npm run deploy:prod", vec!["npm", "run", "deploy*"]),
        ("terraform apply", vec!["terraform", "{apply,destroy}"]),
        ("rm -rf x", vec!["rm"]),
    ] {
        assert!(runs(text, &words), "{text}");
    }
    for (text, words) in [
        ("npm run publish", vec!["npm", "publish"]),
        ("npm test publish", vec!["npm", "publish"]),
        ("git push origin main", vec!["git", "push", "--force"]),
        ("git push origin fix-f", vec!["git", "push", "-f"]),
        ("gh issue create", vec!["gh", "pr", "create"]),
        ("ls", vec![]),
    ] {
        assert!(!runs(text, &words), "{text}");
    }
}

/// Text made of what the reader has rules for, so that random input reaches them.
fn shell_like() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "git",
        "commit",
        "echo",
        " ",
        " ",
        "\n",
        ";",
        "&&",
        "|",
        "&",
        "(",
        ")",
        "((",
        "))",
        "$(",
        "`",
        "'",
        "\"",
        "${",
        "}",
        "{ ",
        "$",
        "\\",
        "#",
        "<<EOF",
        "EOF\n",
        "<<<",
        "<",
        ">",
        "<(",
        "if ",
        "then ",
        "fi",
        "case ",
        "in ",
        "esac",
        ";;",
        "for ",
        "do ",
        "done",
        "[[ ",
        "]]",
        "a=",
        "a=(",
        "env ",
        "bash -c ",
        "eval ",
        "sudo ",
        "xargs ",
        "find -exec ",
        "xargs -I{} ",
        "parallel ",
        "f() { ",
        "f ",
        "alias f=",
        "x=$x$x;",
        "$x",
        "${x:-",
        "{a,b}",
        "echo $x | sh;",
        "> f;",
        "sh f;",
        "$'",
        "\\x",
        "é",
        "😀",
        "*",
        "!(",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

/// The same words, in another quoting.
fn requoted(words: &[String], how: usize) -> String {
    let quoted = |word: &String| match how {
        0 => word.clone(),
        1 => format!("'{word}'"),
        2 => format!("\"{word}\""),
        3 => word.chars().flat_map(|c| ['\\', c]).collect(),
        4 => format!("$'{word}'"),
        5 => format!("''{word}\"\""),
        6 => format!("$(echo {word})"),
        _ => word.chars().flat_map(|c| ['\'', c, '\'']).collect(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

proptest! {
    #[test]
    fn quoting_changes_no_verdict(
        words in prop::collection::vec("(git|push|rm|-rf|-f|origin|status|[a-z]{1,4}|--force|--)", 1..6),
        how in 0usize..8,
    ) {
        let plain = requoted(&words, 0);
        let other = requoted(&words, how);
        for rule in [&["git", "push"][..], &["git", "push", "--force"], &["rm", "-rf"]] {
            prop_assert_eq!(fit(&plain, rule), fit(&other, rule), "{} and {}", &plain, &other);
        }
    }

    #[test]
    fn any_text_ends_in_a_script(text in any::<String>()) {
        let script = parse(&text);
        prop_assert!(script.commands.iter().all(|command| !command.argv.is_empty()));
    }

    #[test]
    fn any_shell_like_text_ends_in_a_script(text in shell_like()) {
        let script = parse(&text);
        prop_assert!(script.commands.iter().all(|command| !command.argv.is_empty()));
    }

    #[test]
    // A text that has the marks of its own is taken for unknown, see `mark`.
    fn a_quoted_text_is_one_word_and_no_command(text in "[^'\u{f8f0}-\u{f8ff}]{0,40}") {
        let script = parse(&format!("echo '{text}'"));
        prop_assert_eq!(script.commands.len(), 1);
        prop_assert_eq!(&script.commands[0].argv[1].text, &text);
        prop_assert!(!script.incomplete);
    }

    #[test]
    fn a_command_after_balanced_text_is_found(word in "[a-z ]{0,10}", shape in 0usize..9) {
        let before = [
            format!("echo '{word}'"), format!("echo \"{word}\""), format!("( echo {word})"),
            format!("echo $(echo {word})"), format!("echo `echo {word}`"), format!("x=({word})"),
            format!("cat <<E\n{word}\nE\n"), format!("echo # {word}\n"), format!("[[ x{word} ]]"),
        ];
        let text = format!("{}; git push", before[shape]).replace("\n; ", "\n");
        prop_assert!(runs(&text, &["git", "push"]), "{}", text);
    }
}

#[test]
fn the_work_grows_with_the_length_and_not_faster() {
    // Each of these was, or could be, quadratic: the number of commands bounds the work done.
    for unit in [
        "$(",
        "`",
        "((",
        "env ",
        "bash -c '",
        "a=(",
        "${",
        "\"$(",
        "<<E ",
        "a[=(x)",
        "case x in ",
        "x=$x$x;",
        "f(){ f;f; };f;",
        "{a,b}",
        "$(a) ",
        "x=1;",
        "eval eval ",
    ] {
        let text = unit.repeat(20_000);
        assert!(parse(&text).commands.len() <= 3 * 20_000, "{unit}");
    }
}
