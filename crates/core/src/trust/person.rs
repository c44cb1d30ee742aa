//! What only a person may do, whoever asks and through whichever surface.
//!
//! An agent that could approve its own tool use, pause a requirement or trust a repository would be
//! guarded by itself. The table is here so that the shell, the daemon and its tools cannot disagree.

/// Something that only a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Say that a repository's commands may run, or take that back.
    Trust,
    /// Approve a tool use that waits.
    Approve,
    /// Pause requirements, or let them gate again.
    PauseRequirements,
    /// Take back that a requirement is satisfied.
    ClearRequirement,
    /// Approve what a requirement measured.
    ApproveRequirement,
    /// Satisfy a requirement that the agent's own word does not satisfy.
    SatisfyRequirement,
    /// Let a session's tool uses pass without asking.
    Bypass,
    /// Remove what was said in a session.
    Forget,
    /// Say that two repositories are one.
    LinkRepository,
    /// Keep what was said as a rule.
    KeepRule,
    /// Share with a team.
    Hub,
    /// Bring another ledger's records in.
    ImportLedger,
    /// Put a kept transcript back where its agent resumes it.
    RestoreArchive,
    /// Take the hooks out.
    Uninstall,
    /// Launch an agent with wider permissions than one's own.
    Widen,
    /// Look at what was said in other repositories.
    LookElsewhere,
    /// Have what is said in a repository kept.
    Capture,
}

impl Action {
    pub const ALL: [Self; 17] = [
        Self::Trust,
        Self::Approve,
        Self::PauseRequirements,
        Self::ClearRequirement,
        Self::ApproveRequirement,
        Self::SatisfyRequirement,
        Self::Bypass,
        Self::Forget,
        Self::LinkRepository,
        Self::KeepRule,
        Self::Hub,
        Self::ImportLedger,
        Self::RestoreArchive,
        Self::Uninstall,
        Self::Widen,
        Self::LookElsewhere,
        Self::Capture,
    ];

    /// What it is, after "only a person may".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Trust => "trust a repository",
            Self::Approve => "approve a tool use",
            Self::PauseRequirements => "pause requirements",
            Self::ClearRequirement => "clear a requirement",
            Self::ApproveRequirement => "approve a requirement",
            Self::SatisfyRequirement => "satisfy this requirement",
            Self::Bypass => "let tool uses pass without asking",
            Self::Forget => "forget a session",
            Self::LinkRepository => "link repositories",
            Self::KeepRule => "keep or drop a rule",
            Self::Hub => "share with a team",
            Self::ImportLedger => "import a ledger",
            Self::RestoreArchive => "restore a transcript",
            Self::Uninstall => "uninstall heirloom",
            Self::Widen => "launch an agent with wider permissions",
            Self::LookElsewhere => "look into other repositories",
            Self::Capture => "switch capture on",
        }
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Nothing speaks against a person.
    Person,
    /// An agent, or something it started; what gave it away.
    Agent(String),
    /// Nobody can tell: no terminal, and no process that started this is left.
    Unknown,
}

/// Somebody who is no person asked for something only a person may do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("only a person may {}", .action.words())]
pub struct NotAPerson {
    /// What was asked for.
    pub action: Action,
    /// Who asked.
    pub who: Who,
}

impl NotAPerson {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match &self.who {
            Who::Agent(how) => {
                format!("this runs inside an agent ({how}); a person runs it in another terminal")
            }
            Who::Unknown | Who::Person => {
                "run it in a terminal; nothing here shows who started this".to_owned()
            }
        }
    }
}

/// Whether it may be done.
pub fn allow(action: Action, who: Who) -> Result<(), NotAPerson> {
    match who {
        Who::Person => Ok(()),
        who => Err(NotAPerson { action, who }),
    }
}

/// One process on the way from us to the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Its short name.
    pub name: String,
    /// What it was started with.
    pub words: Vec<String>,
    /// The session whose agent it is, by the ledger.
    pub session: Option<String>,
}

/// What can be seen of who started a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The processes that led to it, nearest first, without the very first.
    pub line: Vec<Ancestor>,
    /// A variable that an agent sets for what it starts.
    pub variable: Option<String>,
    /// Whether there is a terminal that controls it.
    pub has_terminal: bool,
    /// Whether an agent was at work before the first of these processes that is not the system's began: it
    /// may have started it, and let go of it.
    pub may_be_let_go: bool,
    /// Whether the first of these processes came from outside: nothing above it can be seen, and nobody inside
    /// started it. So begins what is run in a container.
    pub is_entered: bool,
    /// Whether an agent was at work before all that can be seen from here began, and may have made that to be seen no
    /// more; or not even who started this can be seen.
    pub is_blind: bool,
    /// Whether this is Linux on Windows, whose `init` starts people's shells.
    pub is_wsl: bool,
    /// The lines of the clients that are attached to terminal multiplexers.
    pub clients: Vec<Vec<Ancestor>>,
}

/// Agents' programs by name, whether heirloom can drive them or not.
const AGENTS: [&str; 14] = [
    "claude",
    "codex",
    "gemini",
    "opencode",
    "aider",
    "amp",
    "copilot",
    "cursor-agent",
    "droid",
    "goose",
    "kimi",
    "pi",
    "q",
    "qwen",
];
/// Packages in which interpreters run agents.
const PACKAGES: [&str; 5] = [
    "@anthropic-ai/claude-code",
    "@openai/codex",
    "@google/gemini-cli",
    "opencode-ai",
    "claude-code",
];
/// Interpreters whose first argument is the program.
const INTERPRETERS: [&str; 6] = ["node", "bun", "deno", "python", "python3", "MainThread"];
/// What keeps terminals alive that nobody may be looking at.
const MULTIPLEXERS: [&str; 5] = ["tmux", "tmux: server", "screen", "SCREEN", "zellij"];
/// What starts things on nobody's behalf, or makes a terminal that nobody sits at.
const NOBODY: [&str; 14] = [
    "systemd",
    "init",
    "launchd",
    "tini",
    "dumb-init",
    "docker-init",
    "cron",
    "crond",
    "atd",
    "script",
    "expect",
    "unbuffer",
    "socat",
    "runit",
];

/// What says nothing about who started it.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "setsid"];

/// Whether a process is the system's own, or stands between it and others on nobody's behalf.
pub fn is_nobody(name: &str) -> bool {
    NOBODY.contains(&name)
}

/// Who it is, by what can be seen.
///
/// What gives an agent away is enough; what speaks for a person is only that nothing does. An agent
/// of the same user can go to lengths to hide (docs/security.md says which): this keeps honest
/// agents honest, and makes the others' way long and visible.
pub fn judge(seen: &Seen) -> Who {
    if let Some(agent) = agent_in(&seen.line) {
        return Who::Agent(agent);
    }
    if let Some(variable) = &seen.variable {
        return Who::Agent(format!("{variable} is set"));
    }
    if let Some(multiplexer) = seen.line.iter().find(|one| is_multiplexer(one)) {
        // Whoever is attached looks at it. With nobody attached it goes on by itself.
        return match seen.clients.iter().map(|line| agent_in(line)).min() {
            Some(None) => Who::Person,
            Some(Some(agent)) => Who::Agent(agent),
            None => Who::Agent(format!("{} with nobody attached", multiplexer.name)),
        };
    }
    if seen.is_blind {
        return Who::Unknown;
    }
    let Some(first) = seen.line.last() else {
        let is_somebody = seen.has_terminal || seen.is_entered;
        return if is_somebody { Who::Person } else { Who::Unknown };
    };
    let names = seen.line.iter().map(|one| one.name.as_str());
    let starts_shells = |name: &str| seen.is_wsl && seen.has_terminal && name == "init";
    let is_one = |name: &&str| !SHELLS.contains(name) && !starts_shells(name);
    let mut others = names.filter(is_one).peekable();
    // A terminal that was made for the purpose has no emulator, login or ssh above it.
    let is_system = others.peek().is_some() && others.all(is_nobody);
    let is_let_go = !seen.has_terminal && (is_nobody(&first.name) || seen.may_be_let_go);
    if is_system || is_let_go { Who::Unknown } else { Who::Person }
}

/// The first agent on the way, in words.
fn agent_in(line: &[Ancestor]) -> Option<String> {
    line.iter().find_map(|one| match &one.session {
        Some(session) => Some(format!("session {session}")),
        None if is_agent(one) => Some(one.name.clone()),
        None => None,
    })
}

/// Whether a process keeps terminals alive that nobody may be looking at, or is what looks at one.
pub fn is_multiplexer(one: &Ancestor) -> bool {
    MULTIPLEXERS.contains(&one.name.as_str())
}

/// Whether a process is what somebody looks at a multiplexer's terminals with, and not the multiplexer itself, which
/// may have the same name.
pub fn is_client(one: &Ancestor) -> bool {
    let mut words = one.words.iter().map(String::as_str);
    match one.name.as_str() {
        "tmux: client" => true,
        "screen" => !words.next().is_some_and(|first| first.starts_with("SCREEN")),
        "zellij" => !words.any(|word| word == "--server"),
        _ => false,
    }
}

/// Whether a process is an agent, by its program.
pub fn is_agent(one: &Ancestor) -> bool {
    let file = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let words: Vec<String> = one.words.iter().take(2).map(|word| file(word)).collect();
    let program = words.first().map_or(one.name.as_str(), String::as_str);
    // What heirloom launches, it launches as an agent, a plain command included.
    // One that only sends it to the background stands above it and drives nothing.
    let drives = matches!(
        words.get(1).map(String::as_str),
        Some("run" | "work" | "launch" | "continue" | "fork" | "resume" | "drive")
    ) && !one.words.iter().any(|word| word == "--detach");
    let is_named =
        |name: &str| AGENTS.contains(&name.trim_end_matches(".js").trim_end_matches(".mjs"));
    let is_interpreter =
        INTERPRETERS.contains(&program) || INTERPRETERS.contains(&one.name.as_str());
    let in_package = || {
        let script = one.words.get(1).map_or("", String::as_str);
        PACKAGES.iter().any(|package| script.contains(package))
    };
    is_named(program)
        || is_named(&one.name)
        || (program == "heirloom" && drives)
        || (is_interpreter && (words.get(1).is_some_and(|name| is_named(name)) || in_package()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(words: &str) -> Ancestor {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let name = words[0].rsplit('/').next().unwrap().to_owned();
        Ancestor { name, words, session: None }
    }

    /// A line of processes, nearest first, with `|` between them.
    fn line(text: &str) -> Vec<Ancestor> {
        text.split('|').filter(|words| !words.is_empty()).map(process).collect()
    }

    fn at(text: &str, has_terminal: bool) -> Who {
        judge(&Seen { line: line(text), has_terminal, ..Seen::default() })
    }

    #[test]
    fn a_person_is_one_at_a_terminal_over_ssh_in_an_editor_or_in_ci() {
        for (text, has_terminal) in [
            ("bash|gnome-terminal-|systemd", true),
            ("zsh|login", true),
            ("bash|sshd|sshd", true),
            ("bash|node /usr/share/code/out/server-main.js|code", true),
            ("bash|runner", false),
            ("sh|make|bash|gitlab-runner", false),
            ("", true),
        ] {
            assert_eq!(at(text, has_terminal), Who::Person, "{text}");
        }
    }

    #[test]
    fn an_agent_above_gives_itself_away_however_it_is_started() {
        for text in [
            "bash|claude -p x|bash",
            "sh|node /x/.bin/claude|zsh",
            "sh|node /opt/lib/node_modules/@openai/codex/bin/codex.js|zsh",
            "bash|codex|tmux: server",
            "setsid|sh|MainThread /x/gemini|bash",
            "script -qc x|sh|opencode|bash",
            "sh|heirloom run ralph a|bash",
            "env|/usr/local/bin/heirloom work|bash",
        ] {
            assert!(matches!(at(text, true), Who::Agent(_)), "{text}");
            assert!(matches!(at(text, false), Who::Agent(_)), "{text}");
        }
        // Words in a path or an argument name nobody.
        assert_eq!(at("bash|vim claude|bash|xterm", true), Who::Person);
        assert_eq!(at("bash|heirloom conversation claude|xterm", true), Who::Person);
        assert_eq!(at("heirloom run ralph a --detach|bash|xterm", true), Who::Person);
    }

    #[test]
    fn the_agent_of_a_recorded_session_is_known_by_its_process() {
        let mut seen =
            Seen { line: line("sh|wrapper|bash"), has_terminal: true, ..Seen::default() };
        seen.line[1].session = Some("8272974a".to_owned());
        assert_eq!(judge(&seen), Who::Agent("session 8272974a".to_owned()));
        let variable = Seen { variable: Some("CLAUDECODE".to_owned()), ..Seen::default() };
        assert!(matches!(judge(&variable), Who::Agent(_)));
    }

    #[test]
    fn in_a_multiplexer_whoever_is_attached_counts() {
        let inside = |clients: &[&str]| {
            let clients = clients.iter().map(|text| line(text)).collect();
            judge(&Seen { line: line("bash|tmux"), has_terminal: true, clients, ..Seen::default() })
        };
        assert_eq!(inside(&["bash|sshd"]), Who::Person);
        assert_eq!(inside(&["sh|claude|bash", "bash|xterm"]), Who::Person);
        assert!(matches!(inside(&[]), Who::Agent(_)));
        assert!(matches!(inside(&["sh|claude|bash"]), Who::Agent(_)));
    }

    #[test]
    fn a_multiplexer_is_not_what_somebody_looks_at_it_with() {
        let is_client = |name: &str, words: &str| {
            is_client(&Ancestor { name: name.to_owned(), ..process(words) })
        };
        for (name, words, expected) in [
            ("tmux: client", "tmux attach", true),
            ("tmux: server", "tmux new -d", false),
            ("screen", "screen -r", true),
            ("screen", "SCREEN -dmS x sh", false),
            ("zellij", "zellij attach", true),
            ("zellij", "/usr/bin/zellij --server /run/x", false),
            ("bash", "bash", false),
        ] {
            assert_eq!(is_client(name, words), expected, "{words}");
        }
    }

    #[test]
    fn what_was_let_go_of_shows_nobody() {
        for (text, has_terminal) in [
            ("", false),
            ("systemd", false),
            ("sh|systemd", false),
            ("sh|cron", false),
            ("sh|script -qc x", true),
            ("sh|expect x", true),
            ("sh|script -qc x|systemd", true),
            ("setsid -f env -i|sh|systemd", false),
            // `systemd-run --user`, with and without `--pty`.
            ("sh|systemd --user", true),
            ("systemd --user", true),
            ("systemd --user", false),
        ] {
            assert_eq!(at(text, has_terminal), Who::Unknown, "{text}");
        }
        for text in ["sh", "make", "env -i|python3 x.py|systemd"] {
            let seen = Seen { line: line(text), may_be_let_go: true, ..Seen::default() };
            assert_eq!(judge(&seen), Who::Unknown, "{text}");
            assert_eq!(judge(&Seen { has_terminal: true, ..seen }), Who::Person, "{text}");
        }
    }

    #[test]
    fn on_windows_the_shells_of_people_are_started_by_init() {
        let who = |text: &str, has_terminal: bool, is_wsl: bool| {
            judge(&Seen { line: line(text), has_terminal, is_wsl, ..Seen::default() })
        };
        assert_eq!(who("bash|init|init", true, true), Who::Person);
        assert_eq!(who("bash|Relay(9)|SessionLeader", true, true), Who::Person);
        for (text, has_terminal, is_wsl) in [
            ("bash|init|init", true, false),
            ("bash|init|init", false, true),
            ("setsid -f env -i|sh|init", false, true),
            ("sh|script -qc x|init", true, true),
            ("sh|systemd --user|init", true, true),
        ] {
            assert_eq!(who(text, has_terminal, is_wsl), Who::Unknown, "{text}");
        }
        assert!(matches!(who("bash|claude|init", true, true), Who::Agent(_)));
    }

    #[test]
    fn what_comes_from_outside_is_a_persons_unless_an_agent_may_have_gone_in() {
        let who = |text: &str, is_blind: bool, has_terminal: bool| {
            let is_entered = true;
            judge(&Seen { line: line(text), is_entered, is_blind, has_terminal, ..Seen::default() })
        };
        for text in ["", "sh", "bash|make"] {
            for has_terminal in [false, true] {
                assert_eq!(who(text, false, has_terminal), Who::Person, "{text}");
                assert_eq!(who(text, true, has_terminal), Who::Unknown, "{text}");
            }
        }
    }

    #[test]
    fn whoever_is_no_person_is_refused_everything_in_the_table() {
        for action in Action::ALL {
            assert_eq!(allow(action, Who::Person), Ok(()));
            for who in [Who::Agent("claude, process 7".to_owned()), Who::Unknown] {
                let refused = allow(action, who).unwrap_err();
                assert!(refused.to_string().starts_with("only a person may "), "{refused}");
                assert!(refused.hint().contains("terminal"));
            }
        }
    }
}
