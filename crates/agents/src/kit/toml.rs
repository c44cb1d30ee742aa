//! Our MCP server in a TOML file, as one table at its end.

use serde_json::json;

const HEADER: &str = "[mcp_servers.heirloom]";

/// The text with our table in it. What cannot be added to without a reader of TOML is refused.
pub(super) fn install(text: &str, server: &[String; 3]) -> Result<String, String> {
    let is_inline = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("mcp_servers").is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    if text.lines().any(is_inline) {
        return Err(
            "`mcp_servers` is written on one line, so nothing can be added to it".to_owned()
        );
    }
    let [shell, flag, line] = server;
    let table = format!(
        "{HEADER}\ncommand = {}\nargs = [{}, {}]\n",
        json!(shell),
        json!(flag),
        json!(line)
    );
    if text.contains(&table) {
        return Ok(text.to_owned());
    }
    let rest = uninstall(text);
    let between = match rest.as_str() {
        "" => "",
        rest if rest.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok(format!("{rest}{between}{table}"))
}

/// The text without our table, and without the empty line that came with it.
pub(super) fn uninstall(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(start) = lines.iter().position(|line| line.trim() == HEADER) else {
        return text.to_owned();
    };
    let behind = lines[start + 1..].iter().position(|line| line.trim_start().starts_with('['));
    let end = behind.map_or(lines.len(), |behind| start + 1 + behind);
    let is_spaced = start > 0 && lines[start - 1].trim().is_empty();
    let start = if is_spaced { start - 1 } else { start };
    // What follows keeps its own distance from what is before.
    let gap = if is_spaced && end < lines.len() { "\n" } else { "" };
    [&lines[..start].concat(), gap, &lines[end..].concat()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> [String; 3] {
        ["/bin/sh", "-c", "exec 'a \"b\"' mcp"].map(str::to_owned)
    }

    #[test]
    fn a_table_goes_to_the_end_and_out_again_wherever_it_is_by_then() {
        let theirs = "model = \"m\"\n\n[features]\nx = true\n";
        let with = install(theirs, &server()).unwrap();
        insta::assert_snapshot!(with, @r#"
        model = "m"

        [features]
        x = true

        [mcp_servers.heirloom]
        command = "/bin/sh"
        args = ["-c", "exec 'a \"b\"' mcp"]
        "#);
        assert_eq!(uninstall(&with), theirs);
        let later = format!("{with}\n[tui]\ntheme = \"dark\"\n");
        assert_eq!(uninstall(&later), format!("{theirs}\n[tui]\ntheme = \"dark\"\n"));
    }

    #[test]
    fn what_cannot_be_added_to_is_refused() {
        assert!(install("mcp_servers = {db = {command = \"db\"}}\n", &server()).is_err());
    }
}
