use super::*;

#[test]
fn test_runs_are_told_from_other_commands() {
    for command in [
        "cargo test -p core",
        "RUST_LOG=debug cargo +nightly nextest run",
        "cd web && npm run test -- --watch=false",
        "npm run test:unit",
        "timeout 60 pytest -x tests/",
        "uv run pytest",
        "python3 -m pytest",
        "python -m unittest -v",
        "python manage.py test media",
        "./manage.py test",
        "go test ./...",
        "npx vitest run",
        "./node_modules/.bin/jest --ci",
        "vendor/bin/phpunit --filter nested",
        "bundle exec rspec",
        "bin/rails test",
        "mvn -q clean test",
        "./gradlew :app:test",
        "node --test src/",
        "cargo test 2>&1 | tail -20",
        "sbt testOnly parser.NestedSpec",
        "clojure -M:test",
        "flutter test test/nested_test.dart",
        "bazel test //parser/...",
        "stack test --fast",
        "pdm run pytest -x",
        "forge test -vvv",
    ] {
        assert!(test_run(command).is_some(), "{command}");
    }
    for command in [
        "cargo build",
        "cat test.txt",
        "git commit -m 'go test it'",
        "echo pytest",
        "test -f a && ls",
        "mvn package",
        "python test.py",
    ] {
        assert_eq!(test_run(command), None, "{command}");
    }
    assert_eq!(
        test_run("cd a && RUST_LOG=1 cargo test -p b 2>&1 | tail -5"),
        Some(vec!["cargo", "test", "-p", "b"])
    );
}

#[test]
fn a_run_without_more_words_is_one_of_all_tests() {
    for command in ["cargo test", "pytest", "python -m pytest", "cargo nextest run", "mvn test"] {
        assert!(runs_all(&test_run(command).unwrap()), "{command}");
    }
    for command in ["cargo test -p a", "pytest a.py", "pytest -m slow", "mvn -pl a test"] {
        assert!(!runs_all(&test_run(command).unwrap()), "{command}");
    }
}

#[test]
fn what_is_piped_does_not_tell_how_it_went() {
    for command in ["cargo test", "cd web && npm test", "cargo test && cargo clippy"] {
        assert!(tells_status(command), "{command}");
    }
    for command in [
        "cargo test 2>&1 | tail -5",
        "cargo test; true",
        "npm test || true",
        "go test ./... | tail -5 && echo ok",
        "cd a && go test ./... | tail -5 && echo ok && echo done",
    ] {
        assert!(!tells_status(command), "{command}");
    }
    for output in [
        "test result: FAILED. 1 passed; 2 failed; 0 ignored",
        "=== 1 failed, 2 passed in 0.03s ===",
        "Tests:       1 failed, 2 passed, 3 total",
        "FAILED (failures=1)",
        "3 examples, 1 failure",
        "  2 failing",
        "FAIL\texample.com/a\t0.01s",
        "75% tests passed, 1 tests failed out of 4",
    ] {
        assert!(says_failed(output), "{output}");
    }
    for output in ["test result: ok. 3 passed; 0 failed", "3 examples, 0 failures", "ok"] {
        assert!(!says_failed(output), "{output}");
    }
}

#[track_caller]
fn assert_names(output: &str, expected: &[(&str, bool)]) {
    let named: Vec<(String, bool)> =
        tests(output).into_iter().map(|test| (test.name, test.passed)).collect();
    let expected: Vec<(String, bool)> =
        expected.iter().map(|(name, passed)| ((*name).to_owned(), *passed)).collect();
    assert_eq!(named, expected, "{output}");
}

#[test]
fn tests_are_named_by_every_common_runner() {
    assert_names(
        "test parser::nested ... FAILED\ntest parser::flat ... ok\ntest slow ... ignored",
        &[("parser::nested", false), ("parser::flat", true)],
    );
    assert_names("FAIL [   0.005s] mycrate module::slow", &[("module::slow", false)]);
    assert_names(
        "tests/test_a.py::test_y PASSED  [ 50%]\ntests/test_a.py::test_x FAILED [100%]\n\
         FAILED tests/test_a.py::test_x - assert 1 == 2\nERROR tests/test_b.py - ImportError: no",
        &[
            ("tests/test_a.py::test_y", true),
            ("tests/test_a.py::test_x", false),
            ("tests/test_b.py", false),
        ],
    );
    assert_names("--- FAIL: TestSum (0.00s)", &[("TestSum", false)]);
    assert_names(
        "  ✓ adds numbers (3 ms)\n  ✕ subtracts",
        &[("adds numbers", true), ("subtracts", false)],
    );
    assert_names(
        " FAIL src/a.test.js\n  ● math › adds\n    expect(received)\nTests: 1 failed, 1 total",
        &[("math › adds", false)],
    );
    assert_names(
        "   × focus > stays 5ms\n FAIL  src/focus.test.ts > focus > stays\nAssertionError: no",
        &[("src/focus.test.ts > focus > stays", false)],
    );
    assert_names(
        "FAIL: test_twice (media.tests.Upload)\nERROR: test_x (a.B)\nERROR: no (see the log)",
        &[("test_twice", false), ("test_x", false)],
    );
    assert_names("test_x (a.B.test_x) ... FAIL\n", &[("test_x", false)]);
}

#[test]
fn tests_are_named_by_the_less_common_ones_too() {
    assert_names(
        "    ✔ adds\n    1) subtracts\n  1 passing\n  1 failing\n  1) math\n       subtracts:\n",
        &[("adds", true), ("subtracts", false)],
    );
    assert_names(
        "Failures:\n  1) Parser nests lists\n3 examples, 1 failure\n\
         rspec ./spec/parser_spec.rb:12 # Parser nests lists",
        &[("Parser nests lists", false)],
    );
    assert_names(
        "1) Tests\\ParserTest::testNested\nFailed asserting\nFAILURES!\nTests: 3, Failures: 1.",
        &[("Tests\\ParserTest::testNested", false)],
    );
    assert_names(
        "  1) test nests lists (ParserTest)\n3 tests, 1 failure",
        &[("test nests lists (ParserTest)", false)],
    );
    assert_names("1) read this\n2) then that\n", &[]);
    assert_names(
        "ParserTest > nested() FAILED\nParserTest > flat() PASSED",
        &[("ParserTest > nested()", false), ("ParserTest > flat()", true)],
    );
    assert_names(
        "[ERROR] Tests run: 2, Failures: 1 <<< FAILURE! -- in a.B\n\
         [ERROR] a.ParserTest.nested -- Time elapsed: 0.01 s <<< FAILURE!",
        &[("a.ParserTest.nested", false)],
    );
    assert_names(
        "  Failed A.B.Nested [12 ms]\n  Passed A.B.Flat [1 ms]\nFailed to build [x]",
        &[("A.B.Nested", false), ("A.B.Flat", true)],
    );
    assert_names(
        "Failure:\nParserTest#test_nested [test/parser_test.rb:5]:\nExpected true",
        &[("ParserTest#test_nested", false)],
    );
    assert_names(
        "not ok 1 - nests lists\nok 2 - flat # time=1ms",
        &[("nests lists", false), ("flat", true)],
    );
    assert_names(
        "(fail) math > adds [0.12ms]\n(pass) math > takes [0.1ms]",
        &[("math > adds", false), ("math > takes", true)],
    );
    assert_names(
        "Test Case 'ParserTests.testNested' failed (0.1 seconds)\n✘ Test flat() failed after 0.1 seconds",
        &[("ParserTests.testNested", false), ("flat()", false)],
    );
    assert_names(
        "1/2 Test #1: nested ...........***Failed    0.01 sec\n2/2 Test #2: flat ....   Passed    0.01 sec",
        &[("nested", false), ("flat", true)],
    );
    assert_names(
        "error: 'parser.test.nested' failed: expected 1",
        &[("parser.test.nested", false)],
    );
}

#[test]
fn tests_are_named_by_runners_of_other_languages() {
    assert_names(
        "[ RUN      ] Parser.Nested\n[  FAILED  ] Parser.Nested (3 ms)\n[       OK ] Parser.Flat (0 ms)\n\
         [  FAILED  ] 1 test, listed below:\n[  FAILED  ] Parser.Nested",
        &[("Parser.Nested", false), ("Parser.Flat", true)],
    );
    assert_names(
        "[info] ParserSpec:\n[info] - should nest lists *** FAILED ***\n[info]   1 did not equal 2",
        &[("should nest lists", false)],
    );
    assert_names(
        "00:00 +1: parser flat\n00:01 +1 -1: parser nests lists [E]\n  Expected: 2",
        &[("parser nests lists", false)],
    );
    assert_names("FAIL in (nested-test) (parser_test.clj:12)", &[("nested-test", false)]);
    assert_names(
        "//parser:nested_test        FAILED in 0.3s\n//parser:flat_test   (cached) PASSED in 0.1s",
        &[("//parser:nested_test", false), ("//parser:flat_test", true)],
    );
    assert_names("[FAIL] Parser [It] nests lists", &[("Parser [It] nests lists", false)]);
    assert_names(
        "[FAIL: assertion failed] testNested() (gas: 2411)\n[PASS] testFlat() (gas: 301)",
        &[("testNested()", false), ("testFlat()", true)],
    );
    assert_names(
        "[INFO] - built *** in 3 s\n// a comment FAILED in review\nFAIL in production",
        &[],
    );
}

#[test]
fn what_tap_expects_nothing_of_is_left_out() {
    assert_names(
        "ok 1 - a\nnot ok 2 - b # TODO later\nok 3 - c # SKIP no network\nnot ok 4 - d",
        &[("a", true), ("d", false)],
    );
}
