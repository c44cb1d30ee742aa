//! What a scalar means: the core schema of YAML 1.2.
//!
//! So `yes`, `on` and `010` are text, text and ten: the readings of YAML 1.1 that surprised
//! everybody are gone.

use super::Value;

/// The value that unquoted `text` stands for.
pub(super) fn resolve(text: &str) -> Value {
    match text {
        "" => Value::Empty,
        "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => whole(text)
            .map(Value::Int)
            .or_else(|| fraction(text).map(Value::Float))
            .unwrap_or_else(|| Value::Text(text.to_owned())),
    }
}

fn whole(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return unsigned(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return unsigned(digits, 8);
    }
    text.parse().ok()
}

fn unsigned(digits: &str, radix: u32) -> Option<i64> {
    // `from_str_radix` would take a sign here, YAML does not.
    digits.chars().all(|c| c.is_digit(radix)).then(|| i64::from_str_radix(digits, radix).ok())?
}

fn fraction(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) if text.starts_with('-') => (-1.0, rest),
        Some(rest) => (1.0, rest),
        None => (1.0, text),
    };
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    // Rust also parses `inf`, `nan` and `infinity`; for YAML those are words.
    let starts = rest.strip_prefix('.').unwrap_or(rest);
    if !starts.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    rest.parse::<f64>().ok().map(|number| sign * number)
}
