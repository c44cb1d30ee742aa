use super::*;

fn value(text: &str) -> Value {
    parse(text, 0).unwrap().get("k").unwrap().value.clone()
}

/// The problems as `line:column what`.
fn problems(text: &str) -> Vec<String> {
    let problems = parse(text, 0).unwrap_err();
    problems.iter().map(|p| format!("{}:{} {}", p.at.line, p.at.column, p.fault)).collect()
}

#[test]
fn scalars_mean_what_yaml_1_2_says() {
    let cases = [
        ("", Value::Empty),
        ("~", Value::Null),
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("False", Value::Bool(false)),
        ("12", Value::Int(12)),
        ("-3", Value::Int(-3)),
        ("0x1F", Value::Int(31)),
        ("0o17", Value::Int(15)),
        ("010", Value::Int(10)),
        ("0.95", Value::Float(0.95)),
        (".5", Value::Float(0.5)),
        ("1e3", Value::Float(1000.0)),
        ("-.inf", Value::Float(f64::NEG_INFINITY)),
    ];
    for (text, expected) in cases {
        assert_eq!(value(&format!("k: {text}\n")), expected, "{text}");
    }
    for text in ["yes", "on", "inf", "nan", "1_000", "0x-1", "1.2.3", "'12'", "\"true\"", "!!str 7"]
    {
        assert!(matches!(value(&format!("k: {text}\n")), Value::Text(_)), "{text}");
    }
}

#[test]
fn every_node_knows_its_line_and_column() {
    let tree = parse("work:\n  gate: [a, b]\n  max: 2\n", 7).unwrap();
    let work = tree.get("work").unwrap();
    assert_eq!(work.get("max").unwrap().at, Position { source: 7, line: 3, column: 8 });
    let Value::List(items) = &work.get("gate").unwrap().value else { panic!("no list") };
    assert_eq!(items[1].at, Position { source: 7, line: 2, column: 13 });
    let Value::Map(entries) = &work.value else { panic!("no map") };
    assert_eq!(entries[1].at, Position { source: 7, line: 3, column: 3 });
}

#[test]
fn nothing_is_an_empty_tree() {
    for text in ["", "\n\n", "# only a comment\n", "---\n", "\u{feff}"] {
        assert_eq!(parse(text, 0).unwrap().value, Value::Empty, "{text:?}");
    }
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_no_matter() {
    let tree = parse("\u{feff}a: 1\r\nb:\r\n  c: x\r\n", 0).unwrap();
    assert_eq!(tree.get("a").unwrap().value, Value::Int(1));
    let c = tree.get("b").unwrap().get("c").unwrap();
    assert_eq!((c.at.line, &c.value), (3, &Value::Text("x".into())));
}

#[test]
fn all_doubled_keys_are_reported_where_they_come_again() {
    assert_eq!(
        problems("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n"),
        ["4:3 the key `c` is given twice", "5:1 the key `a` is given twice"]
    );
}

#[test]
fn what_is_not_plain_data_is_refused() {
    assert_eq!(problems("a: 1\n---\nb: 2\n"), ["2:1 the file holds more than one document"]);
    assert_eq!(problems("a: !env HOME\n"), ["1:9 the tag `!env` is not supported"]);
    assert_eq!(problems("[a]: 1\n"), ["1:1 a key must be text"]);
    assert_eq!(problems("a: &x [*x]\n"), ["1:8 this alias refers to a value that contains it"]);
}

#[test]
fn a_tab_in_the_indent_is_explained() {
    let found = parse("a:\n\tb: 1\n", 0).unwrap_err();
    assert_eq!(found[0].at.line, 2);
    assert_eq!(
        found[0].fault.hint().as_deref(),
        Some("indent with spaces; YAML does not allow tabs there"),
        "{}",
        found[0].fault
    );
}

#[test]
fn a_syntax_error_has_a_place() {
    for text in ["a: [1, 2\n", "a: 'x\n", "a: b: c\n", "a: 1\n b: 2\n", "- a\nb: 1\n", "a: *gone\n"]
    {
        let found = parse(text, 0).unwrap_err();
        assert!(matches!(found[0].fault, Fault::Syntax { .. }), "{text:?}: {found:?}");
        assert!(found[0].at.line >= 1 && found[0].at.column >= 1, "{text:?}");
    }
}

#[test]
fn aliases_stand_for_their_value_and_keep_its_place() {
    let tree = parse("a: &x {k: 1}\nb: *x\n", 0).unwrap();
    assert_eq!(tree.get("b"), tree.get("a"));
}

#[test]
fn a_merge_key_fills_in_what_is_not_there() {
    let tree = parse("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n", 0).unwrap();
    let b = tree.get("b").unwrap();
    assert_eq!(b.get("k").unwrap().value, Value::Int(3));
    assert_eq!(b.get("l").unwrap().value, Value::Int(2));
    assert_eq!(problems("b: {<<: 3}\n"), ["1:9 `<<` takes a map, or a list of maps"]);
}

#[test]
fn aliases_of_aliases_cannot_fill_the_memory() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let item = format!("*a{}", n - 1);
        let items = [item.as_str(); 10].join(", ");
        text = format!("{text}a{n}: &a{n} [{items}]\n");
    }
    assert!(matches!(parse(&text, 0).unwrap_err()[0].fault, Fault::TooLarge));
}

#[test]
fn a_deep_nest_is_refused_without_harm() {
    let text = "[".repeat(5000);
    assert!(matches!(parse(&text, 0).unwrap_err()[0].fault, Fault::Syntax { .. }));
}

#[test]
fn a_tree_can_come_from_data_without_lines() {
    let at = Position { source: 2, line: 0, column: 0 };
    let json = serde_json::json!({"a": [1, "x", 0.5, true, null]});
    let tree = Node::from_json(&json, at);
    let Value::List(items) = &tree.get("a").unwrap().value else { panic!("no list") };
    assert_eq!(items[2], Node { at, value: Value::Float(0.5) });
    assert_eq!(tree.size(), 7);
}

#[test]
fn a_tree_gives_its_data_without_what_is_null() {
    let tree = parse("b: {x: 1, y: ~, z: }\na: [t, 0.5, null]\nc: {d: null}\n", 0).unwrap();
    assert_eq!(tree.to_json().to_string(), r#"{"b":{"x":1},"a":["t",0.5,null],"c":{}}"#);
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "[a-c:\\-\\[\\]{}&*!#|> \n\t'\"<,0-9]{0,60}") {
        let _ = parse(&text, 0);
    }
}
