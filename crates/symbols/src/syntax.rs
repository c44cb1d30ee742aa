//! Names by grammar.

use tree_sitter::{Language, Node, Parser, Point};

/// The grammar for a file, by its ending.
pub(crate) fn grammar(path: &str) -> Option<Language> {
    let language = match path.rsplit_once('.')?.1 {
        "rs" => tree_sitter_rust::LANGUAGE,
        "py" | "pyi" => tree_sitter_python::LANGUAGE,
        "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX,
        "js" | "jsx" | "mjs" | "cjs" => tree_sitter_javascript::LANGUAGE,
        "go" => tree_sitter_go::LANGUAGE,
        "sh" | "bash" => tree_sitter_bash::LANGUAGE,
        _ => return None,
    };
    Some(language.into())
}

/// The names of what is around a line, outermost first.
pub(crate) fn names(grammar: &Language, text: &str, line: u32) -> Vec<String> {
    let mut parser = Parser::new();
    if parser.set_language(grammar).is_err() {
        return Vec::new();
    }
    let Some(tree) = parser.parse(text, None) else { return Vec::new() };
    let row = (line as usize).saturating_sub(1);
    let Some(content) = text.lines().nth(row) else { return Vec::new() };
    let column = content.len() - content.trim_start().len();
    let point = Point { row, column };
    let mut node = tree.root_node().descendant_for_point_range(point, point);
    let mut names = Vec::new();
    while let Some(current) = node {
        names.extend(name(current, text));
        node = current.parent();
    }
    names.reverse();
    names
}

/// The name of a node that gives one to what is inside of it.
fn name(node: Node<'_>, text: &str) -> Option<String> {
    let field = match node.kind() {
        "impl_item" => "type",
        "variable_declarator" => {
            let value = node.child_by_field_name("value")?;
            matches!(value.kind(), "arrow_function" | "function_expression").then_some("name")?
        }
        kind if names_its_inside(kind) => "name",
        _ => return None,
    };
    let name = node.child_by_field_name(field)?;
    text.get(name.byte_range()).map(str::to_owned)
}

fn names_its_inside(kind: &str) -> bool {
    matches!(
        kind,
        "function_item"
            | "struct_item"
            | "enum_item"
            | "trait_item"
            | "mod_item"
            | "macro_definition"
            | "function_definition"
            | "class_definition"
            | "function_declaration"
            | "generator_function_declaration"
            | "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "method_definition"
            | "method_declaration"
            | "type_spec"
    )
}
