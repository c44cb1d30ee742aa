//! The flags of Claude Code that the simulation understands.

use std::path::PathBuf;

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are just that")]
pub(super) struct Args {
    pub(super) stream_input: bool,
    pub(super) session_id: Option<String>,
    pub(super) resume: Option<String>,
    pub(super) fork: bool,
    pub(super) model: Option<String>,
    pub(super) permission_mode: Option<String>,
    pub(super) asks_on_stdio: bool,
    pub(super) max_turns: Option<u32>,
    pub(super) max_cost_usd: Option<f64>,
    pub(super) allowed: Vec<String>,
    pub(super) disallowed: Vec<String>,
    /// Files whose text goes before the conversation.
    pub(super) prompts: Vec<PathBuf>,
    pub(super) version: bool,
}

impl Args {
    pub(super) fn parse(args: &[String]) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let (flag, joined) = match arg.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            if parsed.switch(flag) {
                continue;
            }
            let value = joined.or_else(|| rest.next().cloned());
            let value = value.ok_or_else(|| format!("option '{flag}' argument missing"))?;
            parsed.set(flag, value)?;
        }
        if parsed.resume.is_some() && parsed.session_id.is_some() && !parsed.fork {
            return Err("--session-id can only be used with --continue or --resume if --fork-session is also specified.".to_owned());
        }
        Ok(parsed)
    }

    fn switch(&mut self, flag: &str) -> bool {
        match flag {
            "--fork-session" => self.fork = true,
            "--version" => self.version = true,
            "--print" | "--verbose" | "--strict-mcp-config" => {}
            _ => return false,
        }
        true
    }

    fn set(&mut self, flag: &str, value: String) -> Result<(), String> {
        match flag {
            "--input-format" => self.stream_input = value == "stream-json",
            "--session-id" => self.session_id = Some(value),
            "--resume" => self.resume = Some(value),
            "--model" => self.model = Some(value),
            "--permission-mode" => self.permission_mode = Some(value),
            "--permission-prompt-tool" => self.asks_on_stdio = value == "stdio",
            "--max-turns" => self.max_turns = value.parse().ok(),
            "--max-budget-usd" => self.max_cost_usd = value.parse().ok(),
            "--allowedTools" => self.allowed.push(value),
            "--disallowedTools" => self.disallowed.push(value),
            "--system-prompt-file" | "--append-system-prompt-file" => {
                self.prompts.push(value.into());
            }
            "--output-format"
            | "--name"
            | "--add-dir"
            | "--mcp-config"
            | "--system-prompt-snapshot" => {}
            _ => return Err(format!("unknown option '{flag}'")),
        }
        Ok(())
    }
}
