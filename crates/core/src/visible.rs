//! Text of others, so that a terminal shows it and does nothing else.
//!
//! Whatever an agent, a repository or another host wrote may hold characters that move the cursor, change the
//! terminal's settings, or show a line in another order than it is in. They are not removed, because what is hidden cannot
//! be noticed: they are written out.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character written out that a terminal would act on. Lines and tabs stay, and a line
/// may end as it does on Windows.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !may_act(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            // The pictures of the control characters stand in their order.
            '\0'..='\u{1f}' if acts(character) => {
                shown.extend(char::from_u32(0x2400 + u32::from(character)));
            }
            '\u{7f}' => shown.push('\u{2421}'),
            _ if acts(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// A text of JSON that means the same, with the same characters as `\uXXXX`. Those below the space are so already.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if !may_act(json) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if u32::from(character) >= 0x7f && acts(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Whether there can be such a character at all: by the bytes they begin with.
fn may_act(text: &str) -> bool {
    text.bytes().any(|byte| match byte {
        b'\n' | b'\t' => false,
        0..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe1 | 0xe2 | 0xef | 0xf3 => true,
        _ => false,
    })
}

/// Whether a terminal does something else with the character than showing it where it stands.
const fn acts(character: char) -> bool {
    matches!(character,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // The order of a line: marks, embeddings, overrides, isolates.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Lines that are no lines.
        | '\u{2028}' | '\u{2029}'
        // Nothing to see: text could be hidden in them.
        | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        for (text, shown) in [
            ("\u{1b}]0;title\u{7}", "␛]0;title␇"),
            ("\u{1b}[2J\u{1b}[H", "␛[2J␛[H"),
            ("\u{9b}31mred", "\\u{9b}31mred"),
            ("a\u{202e}cba", "a\\u{202e}cba"),
            ("one\rtwo\r\nthree\u{7f}", "one␍two\nthree␡"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn ordinary_text_is_left_as_it_is() {
        for text in ["", "two\n\tlines", "naïve – „Größe“ 日本語 ✔ 👩\u{200d}💻 \u{fe0f}", "🇩🇪"]
        {
            assert_eq!(visible(text), text);
        }
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_left(text in "\\PC*|[\\x00-\\x9f\u{2000}-\u{206f}\u{e0000}-\u{e007f}]*") {
            prop_assert!(!visible(&text).chars().any(acts));
        }

        #[test]
        fn json_means_the_same(text in "[\\x00-\\x9f\u{61c}\u{2000}-\u{206f}\u{feff}\u{e0000}-\u{e007f}a-z\"\\\\]*") {
            let json = serde_json::to_string(&text).unwrap();
            let shown = visible_json(&json);
            prop_assert!(!shown.chars().any(acts));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }
}
