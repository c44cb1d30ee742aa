//! What an agent asks a person, with the answers it offers.

use std::collections::BTreeMap;

use heirloom_core::visible::visible;
use maud::{Markup, html};
use serde_json::{Value, json};

/// The questions, each with a choice of answers and room for one's own.
pub(super) fn form(input: &Value) -> Markup {
    let questions = input["questions"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! { @for (at, question) in questions.iter().enumerate() {
        @let many = question["multiSelect"].as_bool().unwrap_or_default();
        fieldset {
            legend { (visible(text(question, "question"))) }
            @for (nth, option) in options(question).iter().enumerate() {
                @let name = if many { format!("answer-{at}-{nth}") } else { format!("answer-{at}") };
                p { label.plain { input type=(if many { "checkbox" } else { "radio" }) name=(name) value=(text(option, "label"));
                    " " b { (visible(text(option, "label"))) } " " span.soft { (visible(text(option, "description"))) } } }
            }
            label for=(format!("own-{at}")) { "Another answer" }
            input id=(format!("own-{at}")) name=(format!("answer-{at}-own")) size="40";
        }
    } }
}

/// The input with what a person filled in; nothing where a question has no answer.
pub(super) fn answered(input: &Value, filled_in: &BTreeMap<String, String>) -> Option<Value> {
    let mut answers = serde_json::Map::new();
    for (at, question) in input["questions"].as_array()?.iter().enumerate() {
        let (one, many) = (format!("answer-{at}"), format!("answer-{at}-"));
        let own = filled_in.iter().filter(|(name, _)| **name == one || name.starts_with(&many));
        let mut own: Vec<&str> =
            own.map(|(_, answer)| answer.trim()).filter(|one| !one.is_empty()).collect();
        // Whoever writes an answer of their own below one that is chosen means theirs.
        if !question["multiSelect"].as_bool().unwrap_or_default() {
            own.drain(..own.len().saturating_sub(1));
        }
        if own.is_empty() {
            return None;
        }
        answers.insert(text(question, "question").to_owned(), json!(own.join(", ")));
    }
    let mut input = input.clone();
    input.as_object_mut()?.insert("answers".to_owned(), Value::Object(answers));
    Some(input)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn options(question: &Value) -> &[Value] {
    question["options"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_needs_an_answer_and_several_may_be_one() {
        let input = json!({"questions": [
            {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]},
            {"question": "What else?", "multiSelect": true, "options": [{"label": "C"}, {"label": "D"}]},
        ]});
        let filled = |fields: &[(&str, &str)]| {
            let fields =
                fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            answered(&input, &fields.collect())
        };
        assert_eq!(filled(&[("answer-0", "B"), ("answer-1-own", "  ")]), None);
        let all =
            [("answer-0", "B"), ("answer-1-0", "C"), ("answer-1-1", "D"), ("answer-1-own", "E")];
        let made = filled(&all).unwrap();
        assert_eq!(made["answers"], json!({"Which?": "B", "What else?": "C, D, E"}));
        let other = filled(&[("answer-0", "B"), ("answer-0-own", "mine"), ("answer-1-0", "C")]);
        assert_eq!(other.unwrap()["answers"]["Which?"], "mine");
        assert_eq!(made["questions"], input["questions"], "what was asked stays as it was");
        assert_eq!(answered(&json!({}), &BTreeMap::new()), None);
    }

    #[test]
    fn what_is_asked_is_text() {
        let input = json!({"questions": [{"question": "<b>Which?</b>", "options": [{"label": "A\u{202e}"}]}]});
        let form = form(&input).0;
        assert!(
            form.contains("&lt;b&gt;Which?&lt;/b&gt;") && !form.contains("<b>A\u{202e}"),
            "{form}"
        );
    }
}
