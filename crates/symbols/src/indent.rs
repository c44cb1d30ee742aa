//! Names by indentation and headings, where there is no grammar.

/// The nearest line above that is indented less: whatever it is, it is what the line is inside of.
pub(crate) fn header(text: &str, line: u32) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let (own, above) = lines.split_last()?;
    let depth = indent(own);
    let header = above.iter().rev().find(|line| !line.trim().is_empty() && indent(line) < depth)?;
    Some(header.trim().chars().take(80).collect())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The nearest heading above; what is inside a code fence is not one.
pub(crate) fn heading(text: &str, line: u32) -> Option<String> {
    let (mut fenced, mut heading) = (false, None);
    for line in text.lines().take(line as usize) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && line.starts_with('#') {
            heading = Some(line.trim_start_matches('#').trim().to_owned());
        }
    }
    heading
}
