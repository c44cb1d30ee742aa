//! An example or two of every command, for its help. A test parses every one of them.

/// The examples of a command, by its words.
pub(super) fn of(path: &str) -> Vec<&'static str> {
    let own = |(command, _): &&(&str, &str)| *command == path;
    let found = EXAMPLES.iter().find(own).map(|(_, lines)| lines.lines());
    found.into_iter().flatten().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Every example with the command it is one of.
#[cfg(test)]
pub(super) fn all() -> Vec<(&'static str, &'static str)> {
    let each = |(path, _): &(&'static str, &'static str)| {
        let path = *path;
        of(path).into_iter().map(move |line| (path, line))
    };
    EXAMPLES.iter().flat_map(each).collect()
}

/// The words of an example as a shell would give them: without what comes after a pipe, and without quotes.
#[cfg(test)]
pub(super) fn words(line: &str) -> Vec<std::ffi::OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for character in line.chars() {
        match (character, quote) {
            ('\'' | '"', None) => quote = Some(character),
            (end, Some(open)) if end == open => quote = None,
            ('|' | '>' | '<', None) => break,
            (' ', None) if word.is_empty() => {}
            (' ', None) => words.push(std::mem::take(&mut word).into()),
            (other, _) => word.push(other),
        }
    }
    if !word.is_empty() {
        words.push(word.into());
    }
    words
}

const EXAMPLES: &[(&str, &str)] = &[
    ("init", "heirloom init\nheirloom init --agent claude --yes\nheirloom init --uninstall"),
    ("doctor", "heirloom doctor\nheirloom doctor --fix"),
    ("trust", "heirloom trust --show\nheirloom trust"),
    ("demo", "heirloom demo"),
    ("usage", "heirloom usage --since 7d\nheirloom usage --by model --all-repos"),
    (
        "run",
        "heirloom run ralph auth-v2 25 --inherit auth-v1\n\
         heirloom run ralph auth-v2 --resume\n\
         heirloom run ralph nightly 50 --max-cost 20 --detach",
    ),
    ("watch", "heirloom watch auth-v2\nheirloom watch --json"),
    ("stages", "heirloom stages\nheirloom stages show ralph"),
    ("stages list", "heirloom stages list"),
    ("stages show", "heirloom stages show ralph"),
    ("stages lint", "heirloom stages lint\nheirloom stages lint my-stage"),
    ("pipelines", "heirloom pipelines\nheirloom pipelines lint"),
    ("pipelines list", "heirloom pipelines list"),
    ("pipelines show", "heirloom pipelines show refine"),
    ("pipelines lint", "heirloom pipelines lint"),
    (
        "inherit",
        "heirloom inherit auth-v1\nheirloom inherit auth-v1 --select learnings,decisions --json",
    ),
    (
        "note",
        "heirloom note learning \"the tests need redis\"\n\
         heirloom note decision \"RS256\" --because \"keys rotate\" --evidence src/jwt.rs:23",
    ),
    ("notes", "heirloom notes\nheirloom notes --kind decision --session auth-v2"),
    ("rules", "heirloom rules\nheirloom rules keep \"never touch legacy/\""),
    ("rules list", "heirloom rules list"),
    ("rules keep", "heirloom rules keep \"never touch legacy/\""),
    ("rules drop", "heirloom rules drop 4f2a9c1e"),
    ("ground", "heirloom ground\nheirloom ground --session auth-v2 --json"),
    ("checkpoint", "heirloom checkpoint\nheirloom checkpoint --for compact --dry-run"),
    ("handoffs", "heirloom handoffs\nheirloom handoffs show"),
    ("handoffs list", "heirloom handoffs list --limit 5"),
    ("handoffs show", "heirloom handoffs show"),
    ("why", "heirloom why src/auth.rs:42\nheirloom why src/auth.rs"),
    ("how", "heirloom how \"address already in use\""),
    ("recover", "heirloom recover\nheirloom recover 2 --query \"token refresh\""),
    ("context", "heirloom context status\nheirloom context rules"),
    ("context status", "heirloom context status"),
    ("context rules", "heirloom context rules"),
    ("fork-check", "heirloom fork-check --claim \"tokens are signed with HS256\""),
    ("heal", "heirloom heal --check\nheirloom heal"),
    (
        "search",
        "heirloom search \"refresh token\" --since \"late October\"\n\
         heirloom search flaky --kind tool_result --since 7d\n\
         heirloom search migration --all-repos --agent codex",
    ),
    (
        "resume",
        "heirloom resume\nheirloom resume \"refresh token\"\nheirloom resume refresh --with codex",
    ),
    ("sync", "heirloom sync\nheirloom sync --since 30d --dry-run"),
    ("archive", "heirloom archive\nheirloom archive restore auth-v2"),
    ("archive list", "heirloom archive list"),
    ("archive show", "heirloom archive show auth-v2"),
    ("archive restore", "heirloom archive restore auth-v2"),
    ("req", "heirloom req\nheirloom req explain Bash --command \"git commit\""),
    ("req status", "heirloom req status\nheirloom req status --session auth-v2"),
    ("req satisfy", "heirloom req satisfy ticket --branch --reason \"PAY-12\""),
    ("req approve", "heirloom req approve reviewed --ttl 30m"),
    ("req clear", "heirloom req clear reviewed\nheirloom req clear --all"),
    ("req pause", "heirloom req pause --repo --for 1h --reason \"release day\""),
    ("req resume", "heirloom req resume --repo"),
    (
        "req explain",
        "heirloom req explain Edit --path src/auth.rs\n\
         heirloom req explain Bash --command \"git push --force\"",
    ),
    ("req state", "heirloom req state --branch main"),
    ("req prune", "heirloom req prune --dry-run"),
    ("req log", "heirloom req log --limit 10"),
    (
        "work",
        "heirloom work --dry-run\n\
         heirloom work --resume --max-agents 3\n\
         heirloom work --issue hl-4f2 --max-cost 5",
    ),
    ("work clean", "heirloom work clean --dry-run\nheirloom work clean"),
    ("runs", "heirloom runs\nheirloom runs show"),
    ("runs list", "heirloom runs list --limit 5"),
    ("runs show", "heirloom runs show\nheirloom runs show 01997d3a"),
    (
        "issues",
        "heirloom issues\nheirloom issues ready\nheirloom issues create \"Rotate tokens\" -p 1",
    ),
    ("issues list", "heirloom issues list\nheirloom issues list --label auth --all"),
    ("issues ready", "heirloom issues ready --limit 5"),
    ("issues show", "heirloom issues show hl-4f2"),
    (
        "issues create",
        "heirloom issues create \"Rotate refresh tokens\" -p 1 -t bug -d \"Replay is possible\"",
    ),
    (
        "issues update",
        "heirloom issues update hl-4f2 --claim\nheirloom issues update hl-4f2 --priority 0",
    ),
    ("issues close", "heirloom issues close hl-4f2 --reason \"done in 3f2a1c9\""),
    ("issues dep", "heirloom issues dep hl-77c hl-4f2\nheirloom issues dep list hl-77c"),
    ("issues dep add", "heirloom issues dep add hl-77c hl-4f2"),
    ("issues dep remove", "heirloom issues dep remove hl-77c hl-4f2"),
    ("issues dep list", "heirloom issues dep list hl-77c"),
    ("issues comment", "heirloom issues comment hl-4f2 \"needs a migration\""),
    ("issues import", "heirloom issues import issues.jsonl"),
    ("issues export", "heirloom issues export issues.jsonl"),
    ("hook", "heirloom hook claude PreToolUse < payload.json"),
    ("sessions", "heirloom sessions\nheirloom sessions --running\nheirloom sessions show auth-v2"),
    ("sessions list", "heirloom sessions list --completed\nheirloom sessions list --all-repos"),
    ("sessions show", "heirloom sessions show auth-v2\nheirloom sessions show auth-v2 --config"),
    ("sessions stop", "heirloom sessions stop auth-v2\nheirloom sessions stop auth-v2 --now"),
    (
        "sessions update",
        "heirloom sessions update auth-v2 --title \"Token refresh\"\n\
         heirloom sessions update auth-v2 --bypass 30m",
    ),
    ("sessions forget", "heirloom sessions forget auth-v0"),
    ("sessions distill", "heirloom sessions distill auth-v2"),
    (
        "sessions private",
        "heirloom sessions private auth-v2\nheirloom sessions private auth-v2 --off",
    ),
    ("sessions hide", "heirloom sessions hide auth-v0\nheirloom sessions hide auth-v0 --undo"),
    ("status", "heirloom status auth-v2"),
    ("lineage", "heirloom lineage auth-v2"),
    (
        "launch",
        "heirloom launch \"fix the flaky test\"\n\
         heirloom launch --agent codex --name sdk-retry --prompt-file task.md",
    ),
    (
        "continue",
        "heirloom continue auth-v2 \"now the admin routes\"\n\
         heirloom continue auth-v2 \"try again\" --clear allowed_tools",
    ),
    ("fork", "heirloom fork auth-v2 \"do it without a migration\""),
    ("interrupt", "heirloom interrupt auth-v2"),
    ("conversation", "heirloom conversation auth-v2"),
    ("approvals", "heirloom approvals\nheirloom approvals approve 4f2a9c1e"),
    ("approvals list", "heirloom approvals list --all-repos"),
    ("approvals show", "heirloom approvals show 4f2a9c1e"),
    (
        "approvals approve",
        "heirloom approvals approve 4f2a9c1e\n\
         heirloom approvals approve 4f2a9c1e --rule \"Bash(git *)\"",
    ),
    ("approvals deny", "heirloom approvals deny 4f2a9c1e --reason \"not on main\""),
    ("serve", "heirloom serve\nheirloom serve --listen 127.0.0.1:8080\nheirloom serve --link"),
    ("mcp", "heirloom mcp"),
    ("statusline", "heirloom statusline < payload.json"),
    ("ledger", "heirloom ledger\nheirloom ledger verify"),
    ("ledger verify", "heirloom ledger verify\nheirloom ledger verify --against heads.json"),
    ("ledger heads", "heirloom ledger heads --json > heads.json"),
    ("ledger rebuild", "heirloom ledger rebuild"),
    ("ledger stats", "heirloom ledger stats"),
    ("ledger export", "heirloom ledger export ledger.jsonl"),
    ("ledger import", "heirloom ledger import ledger.jsonl"),
    ("ledger backup", "heirloom ledger backup ledger-backup.db"),
    ("ledger rehost", "heirloom ledger rehost"),
    ("ledger gc", "heirloom ledger gc --dry-run"),
    ("import", "heirloom import daemon daemon.db"),
    ("import daemon", "heirloom import daemon daemon.db"),
    ("hub", "heirloom hub status\nheirloom hub push"),
    ("hub migrate", "heirloom hub migrate postgresql://hub_owner:PASSWORD@db.example.com/hub"),
    ("hub join", "heirloom hub join postgresql://ada:PASSWORD@db.example.com/hub --history"),
    ("hub status", "heirloom hub status"),
    ("hub push", "heirloom hub push"),
    ("hub pull", "heirloom hub pull"),
    ("hub invite", "heirloom hub invite ada"),
    ("hub revoke", "heirloom hub revoke ada"),
    ("hub leave", "heirloom hub leave"),
    ("repo", "heirloom repo\nheirloom repo link ../payments-old"),
    ("repo show", "heirloom repo show"),
    ("repo link", "heirloom repo link ../payments-old"),
    ("agents", "heirloom agents\nheirloom agents --features"),
    ("config", "heirloom config\nheirloom config path"),
    ("config show", "heirloom config show"),
    ("config schema", "heirloom config schema > heirloom.schema.json"),
    ("config path", "heirloom config path"),
    ("config save-template", "heirloom config save-template auth-v2 careful"),
    ("config templates", "heirloom config templates"),
    ("schema", "heirloom schema\nheirloom schema sessions-list"),
    (
        "completions",
        "heirloom completions bash > ~/.local/share/bash-completion/completions/heirloom",
    ),
    ("man", "heirloom man | man -l -\nheirloom man --dir ~/.local/share/man/man1"),
];
