//! Letters as they are compared: lower case, and without the marks that people leave out when they type.

/// The letter without its case and, for Latin letters, without its mark.
pub(super) fn fold(letter: char, out: &mut String) {
    for lower in letter.to_lowercase() {
        match base(lower) {
            Some(plain) => out.push_str(plain),
            None => out.push(lower),
        }
    }
}

fn base(letter: char) -> Option<&'static str> {
    Some(match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ł' | 'ĺ' | 'ļ' | 'ľ' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ß' => "ss",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ţ' | 'ť' | 'ț' => "t",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        // Combining marks, where a letter and its mark are two characters.
        '\u{300}'..='\u{36f}' => "",
        _ => return None,
    })
}

/// Whether a script puts no spaces between words: its texts are compared by pairs of characters.
pub(super) fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{e00}'..='\u{e7f}')
}
