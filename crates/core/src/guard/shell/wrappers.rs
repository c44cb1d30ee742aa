//! Programs that run what follows in their own words: `sudo`, `nice`, `uv run`, `docker exec`, …

use super::Word;
use super::run::{Inner, joined};
use super::word::is_assignment;

/// A command whose arguments end in another command.
struct Wrapper {
    name: &'static str,
    /// The subcommand that does, where the program has several.
    sub: &'static [&'static str],
    /// The options that take the next word as their value.
    valued: &'static [&'static str],
    /// How many words of its own come before the command.
    operands: usize,
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// The rest is a command.
    Rest,
    /// The command follows `--`, if that is there.
    Dashes,
    /// The rest is one script.
    Script,
    /// Each of the remaining words is a script.
    Scripts,
    /// The command follows one of these options; without, there is none.
    Option(&'static [&'static str]),
    /// A script follows one of these options.
    ScriptOption(&'static [&'static str]),
}

const fn rest(name: &'static str, valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { name, sub: &[], valued, operands, how: How::Rest }
}

const fn sub(
    name: &'static str,
    sub: &'static [&'static str],
    valued: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, sub, valued, operands, how: How::Rest }
}

const fn dashes(
    name: &'static str,
    sub: &'static [&'static str],
    valued: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, sub, valued, operands, how: How::Dashes }
}

const fn with(name: &'static str, sub: &'static [&'static str], how: How) -> Wrapper {
    Wrapper { name, sub, valued: &[], operands: 0, how }
}

const CONTAINER: &[&str] = &[
    "-e",
    "--env",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--publish",
    "--name",
    "-v",
    "--volume",
    "--env-file",
    "--network",
    "--net",
    "--entrypoint",
    "--platform",
    "--mount",
    "-H",
    "--host",
    "--context",
    "--index",
    "--profile",
    "--detach-keys",
    "-l",
    "--label",
    "-m",
    "--memory",
    "--cpus",
    "--add-host",
    "--cap-add",
    "--device",
    "--gpus",
    "--hostname",
    "-h",
    "--ip",
    "--pid",
    "--pull",
    "--restart",
    "--security-opt",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "--userns",
    "--cidfile",
    "--dns",
    "--expose",
    "--link",
    "--runtime",
];
const SUDO: &[&str] = &[
    "-u",
    "--user",
    "-g",
    "--group",
    "-h",
    "--host",
    "-p",
    "--prompt",
    "-C",
    "--close-from",
    "-r",
    "--role",
    "-t",
    "--type",
    "-T",
    "--command-timeout",
    "-U",
    "--other-user",
    "-D",
    "--chdir",
    "-R",
    "--chroot",
];
const UV: &[&str] = &[
    "-p",
    "--python",
    "--with",
    "--with-editable",
    "--with-requirements",
    "--env-file",
    "--extra",
    "--group",
    "--package",
    "--project",
    "--directory",
    "--index-url",
    "--from",
    "--color",
    "-w",
];
const NODE: &[&str] =
    &["-p", "--package", "-w", "--workspace", "--filter", "-F", "-C", "--dir", "--prefix"];
const KUBE: &[&str] =
    &["-n", "--namespace", "-c", "--container", "--context", "--kubeconfig", "-l", "--cluster"];

const WRAPPERS: &[Wrapper] = &[
    rest("arch", &["-arch", "-e"], 0),
    sub("asdf", &["exec"], &[], 0),
    dashes("aws-vault", &["exec"], &["-d", "--duration"], 1),
    sub("bun", &["x"], NODE, 0),
    rest("bunx", NODE, 0),
    rest("builtin", &[], 0),
    sub("bundle", &["exec"], &[], 0),
    rest("busybox", &[], 0),
    rest("caffeinate", &["-t", "-w"], 0),
    rest("cgexec", &["-g"], 0),
    dashes("chamber", &["exec"], &[], 1),
    rest("chronic", &[], 0),
    rest("chroot", &["--userspec", "--groups"], 1),
    rest("chrt", &["-T", "-P", "-D"], 1),
    rest("command", &[], 0),
    with("concurrently", &[], How::Scripts),
    dashes("colima", &["ssh"], &["-p", "--profile"], 9),
    sub("conda", &["run"], &["-n", "--name", "-p", "--prefix", "--cwd"], 0),
    rest("cross-env", &[], 0),
    rest("dbus-run-session", &[], 0),
    sub(
        "devcontainer",
        &["exec"],
        &["--workspace-folder", "--container-id", "--config", "--id-label"],
        0,
    ),
    sub("direnv", &["exec"], &[], 1),
    dashes("distrobox", &["enter"], &["-n", "--name"], 9),
    rest("doas", &["-u", "-C"], 0),
    sub("docker", &["exec"], CONTAINER, 1),
    sub("docker", &["run"], CONTAINER, 1),
    sub("docker", &["container", "exec"], CONTAINER, 1),
    sub("docker", &["container", "run"], CONTAINER, 1),
    sub("docker", &["compose", "exec"], CONTAINER, 1),
    sub("docker", &["compose", "run"], CONTAINER, 1),
    sub("docker-compose", &["exec"], CONTAINER, 1),
    sub("docker-compose", &["run"], CONTAINER, 1),
    dashes("doppler", &["run"], &["-p", "--project", "-c", "--config"], 0),
    rest("dotenv", &["-e", "-f", "--file", "-v"], 0),
    dashes("dotenvx", &["run"], &["-f", "--env-file"], 0),
    rest("dumb-init", &[], 0),
    rest("entr", &[], 0),
    rest("env", &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"], 0),
    rest("exec", &["-a"], 0),
    rest("envchain", &[], 1),
    rest("fakeroot", &["-l", "-s", "-i", "-b"], 0),
    rest("faketime", &["-f"], 1),
    sub("finch", &["exec"], CONTAINER, 1),
    sub("finch", &["run"], CONTAINER, 1),
    rest("firejail", &[], 0),
    with("fly", &["ssh", "console"], How::ScriptOption(&["-C", "--command"])),
    with("flyctl", &["ssh", "console"], How::ScriptOption(&["-C", "--command"])),
    sub("fnm", &["exec"], &["--using"], 0),
    with("gcloud", &["compute", "ssh"], How::ScriptOption(&["--command"])),
    dashes("gh", &["codespace", "ssh"], &["-c"], 9),
    rest("gosu", &[], 1),
    rest("gnice", &["-n", "--adjustment"], 0),
    rest("gtimeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    sub("hatch", &["run"], &["-e", "--env"], 0),
    sub("heroku", &["run"], &["-a", "--app", "-r", "--remote", "-s", "--size"], 0),
    with("hyperfine", &[], How::Scripts),
    dashes("infisical", &["run"], &["--env", "--path", "--projectId"], 9),
    rest("ionice", &["-c", "--class", "-n", "--classdata", "-p", "--pid"], 0),
    with("just", &[], How::Option(&["-c", "--command"])),
    dashes("kubectl", &["exec"], KUBE, 1),
    dashes("kubectl", &["run"], KUBE, 9),
    dashes("lerna", &["exec"], &["--scope", "--ignore"], 0),
    rest("lima", &[], 0),
    sub("limactl", &["shell"], &["--workdir", "--shell"], 1),
    dashes("lxc", &["exec"], &[], 1),
    rest("ltrace", &["-e", "-o", "-p", "-u"], 0),
    sub("mamba", &["run"], &["-n", "--name", "-p", "--prefix"], 0),
    sub("micromamba", &["run"], &["-n", "--name", "-p", "--prefix"], 0),
    dashes("mise", &["exec"], &["-C", "-E"], 9),
    dashes("mise", &["x"], &["-C", "-E"], 9),
    dashes("mosh", &[], &["-p", "--port", "--ssh"], 1),
    dashes("multipass", &["exec"], &[], 1),
    sub("nerdctl", &["exec"], CONTAINER, 1),
    sub("nerdctl", &["run"], CONTAINER, 1),
    sub("nerdctl", &["compose", "exec"], CONTAINER, 1),
    rest("nice", &["-n", "--adjustment"], 0),
    with("nix", &["develop"], How::Option(&["-c", "--command"])),
    with("nix", &["shell"], How::Option(&["-c", "--command"])),
    with("nix-shell", &[], How::ScriptOption(&["--run", "--command"])),
    with("nodemon", &[], How::ScriptOption(&["-x", "--exec"])),
    sub("nodenv", &["exec"], &[], 0),
    rest("nohup", &[], 0),
    sub("npm", &["exec"], NODE, 0),
    sub("npm", &["x"], NODE, 0),
    rest("nsenter", &["-t", "--target"], 0),
    rest("numactl", &["-C", "-N", "-m", "--cpunodebind", "--membind"], 0),
    dashes("nx", &["exec"], &[], 9),
    dashes("oc", &["exec"], KUBE, 1),
    dashes("op", &["run"], &["--env-file"], 0),
    sub("pdm", &["run"], &["-p", "--project"], 0),
    sub("perf", &["record"], &["-e", "-o", "-F", "-g"], 0),
    sub("perf", &["stat"], &["-e", "-o", "-r"], 0),
    sub("pipenv", &["run"], &[], 0),
    sub("pipx", &["run"], &["--spec", "--python"], 0),
    sub("pixi", &["run"], &["-e", "--environment", "--manifest-path"], 0),
    rest("pkexec", &["--user"], 0),
    sub("pnpm", &["dlx"], NODE, 0),
    sub("pnpm", &["exec"], NODE, 0),
    sub("podman", &["exec"], CONTAINER, 1),
    sub("podman", &["run"], CONTAINER, 1),
    sub("poetry", &["run"], &["-C", "--directory", "-P", "--project"], 0),
    rest("prlimit", &[], 0),
    rest("proxychains", &["-f"], 0),
    rest("proxychains4", &["-f"], 0),
    sub("pyenv", &["exec"], &[], 0),
    sub("railway", &["run"], &["-s", "--service", "-e", "--environment", "-p", "--project"], 0),
    sub("rbenv", &["exec"], &[], 0),
    rest("rlwrap", &[], 0),
    sub("rye", &["run"], &[], 0),
    rest("screen", &["-S", "-c", "-e", "-h", "-p", "-s", "-t", "-T"], 0),
    rest("setarch", &[], 1),
    rest("setpriv", &["--reuid", "--regid", "--groups"], 0),
    rest("setsid", &[], 0),
    with("sops", &["exec-env"], How::Scripts),
    with("sops", &["exec-file"], How::Scripts),
    rest("ssh-agent", &["-a", "-t"], 0),
    rest("stdbuf", &["-i", "--input", "-o", "--output", "-e", "--error"], 0),
    rest("strace", &["-e", "-o", "-p", "-s", "-u", "-E", "-a", "-P"], 0),
    rest("su-exec", &[], 1),
    rest("sudo", SUDO, 0),
    rest("systemd-inhibit", &["--what", "--who", "--why", "--mode"], 0),
    rest(
        "systemd-run",
        &["-p", "--property", "-u", "--unit", "-E", "--setenv", "--uid", "--slice"],
        0,
    ),
    rest("taskset", &[], 1),
    rest("time", &["-f", "--format", "-o", "--output"], 0),
    rest("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    rest("tini", &["-p", "-e"], 0),
    with("tmux", &["new-session"], How::Scripts),
    with("tmux", &["new"], How::Scripts),
    with("tmux", &["new-window"], How::Scripts),
    with("tmux", &["send-keys"], How::Scripts),
    with("tmux", &["split-window"], How::Scripts),
    with("tmux", &["run-shell"], How::Scripts),
    with("tmux", &["run"], How::Scripts),
    with("tmux", &["if-shell"], How::Scripts),
    with("tmux", &["pipe-pane"], How::Scripts),
    with("tmux", &["respawn-pane"], How::Scripts),
    with("tmux", &["display-popup"], How::Scripts),
    sub("toolbox", &["run"], &["-c", "--container", "-d", "--distro", "-r", "--release"], 0),
    rest("torsocks", &[], 0),
    rest("unbuffer", &[], 0),
    rest("unshare", &["--map-user", "--map-group"], 0),
    sub("uv", &["run"], UV, 0),
    sub("uv", &["tool", "run"], UV, 0),
    rest("uvx", UV, 0),
    with("vagrant", &["ssh"], How::ScriptOption(&["-c", "--command"])),
    rest("valgrind", &[], 0),
    sub("volta", &["run"], &["--node", "--npm", "--pnpm", "--yarn"], 0),
    with("watch", &[], How::Script),
    dashes("watchexec", &[], &["-e", "--exts", "-w", "--watch", "-i", "--ignore", "-d", "-s"], 0),
    rest("winpty", &[], 0),
    rest("wsl", &["-d", "-u", "--cd"], 0),
    rest("xvfb-run", &["-s", "--server-args", "-n"], 0),
    sub("yarn", &["dlx"], NODE, 0),
    sub("yarn", &["exec"], NODE, 0),
];

/// Whether what it runs has other files than the line.
pub(super) fn is_elsewhere(name: &str) -> bool {
    name == "ssh"
}

/// What such a program runs.
pub(super) fn inner(name: &str, argv: &[Word]) -> Inner {
    if matches!(name, "npx" | "npm" | "pnpx")
        && let Some(text) = option_value(argv, &["-c", "--call"])
    {
        return Inner::Script { text, arguments: None };
    }
    if matches!(name, "npx" | "pnpx") {
        return command_start(argv, 1, NODE, 0).map_or(Inner::Nothing, Inner::Rest);
    }
    if name == "bwrap" {
        return sandboxed(argv).map_or(Inner::Nothing, Inner::Rest);
    }
    let own = WRAPPERS.iter().filter(|wrapper| wrapper.name == name);
    for wrapper in own {
        if let Some(from) = subcommand(argv, wrapper) {
            return follow(wrapper, argv, from);
        }
    }
    Inner::Nothing
}

/// Where the command of `bwrap` begins. Nearly all of its options take one word or more.
fn sandboxed(argv: &[Word]) -> Option<usize> {
    const FLAGS: [&str; 8] = [
        "new-session",
        "die-with-parent",
        "as-pid-1",
        "clearenv",
        "share-net",
        "disable-userns",
        "assert-userns-disabled",
        "level-prefix",
    ];
    let mut at = 1;
    while let Some(option) = argv.get(at)?.text.strip_prefix("--") {
        at += match option {
            "" => return (at + 1 < argv.len()).then_some(at + 1),
            "overlay" => 4,
            two if matches!(two, "setenv" | "symlink" | "file" | "chmod")
                || two.contains("bind") =>
            {
                3
            }
            flag if FLAGS.contains(&flag) || flag.starts_with("unshare-") => 1,
            _ => 2,
        };
    }
    Some(at)
}

fn follow(wrapper: &Wrapper, argv: &[Word], from: usize) -> Inner {
    let after_dashes = || {
        let at = argv[from..].iter().position(|word| word.text == "--")? + from + 1;
        (at < argv.len()).then_some(at)
    };
    let start = command_start(argv, from, wrapper.valued, wrapper.operands);
    let inner = match wrapper.how {
        How::Rest => start.map(Inner::Rest),
        How::Dashes => after_dashes().or(start).map(Inner::Rest),
        How::Script => {
            let start = command_start(argv, from, &["-n", "--interval", "-q", "--equexit"], 0);
            start.map(|start| joined(&argv[start..]))
        }
        How::Scripts => start.map(|start| {
            let words = argv[start..].iter().map(|word| word.text.clone());
            Inner::Scripts(words.filter(|text| text.contains(' ')).take(16).collect())
        }),
        How::Option(options) => argv
            .iter()
            .position(|word| options.contains(&word.text.as_str()))
            .filter(|index| index + 1 < argv.len())
            .map(|index| Inner::Rest(index + 1)),
        How::ScriptOption(options) => {
            option_value(argv, options).map(|text| Inner::Script { text, arguments: None })
        }
    };
    inner.unwrap_or(Inner::Nothing)
}

/// Where the words after the subcommand begin, if it is this one.
fn subcommand(argv: &[Word], wrapper: &Wrapper) -> Option<usize> {
    let mut at = 1;
    for wanted in wrapper.sub {
        while let Some(word) = argv.get(at).filter(|word| word.text.starts_with('-')) {
            at += 1 + usize::from(takes_next(&word.text, wrapper.valued));
        }
        if argv.get(at)?.text != *wanted {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Where the wrapped command begins: after options, their values, assignments and operands.
pub(super) fn command_start(
    argv: &[Word],
    from: usize,
    valued: &[&str],
    operands: usize,
) -> Option<usize> {
    let mut at = from;
    let mut options_ended = false;
    while let Some(word) = argv.get(at) {
        let text = word.text.as_str();
        if text == "--" && !options_ended {
            options_ended = true;
        } else if text.starts_with('-') && !options_ended {
            at += usize::from(takes_next(text, valued));
        } else if !is_assignment(text) {
            break;
        }
        at += 1;
    }
    let start = at + operands;
    (start < argv.len()).then_some(start)
}

/// Whether the value of an option, or of the last of a cluster of them, is the next word.
fn takes_next(option: &str, valued: &[&str]) -> bool {
    if option.starts_with("--") {
        return valued.contains(&option);
    }
    let is_valued =
        |c: char| valued.iter().any(|v| v.len() == 2 && v.starts_with('-') && v.ends_with(c));
    let letters = option.chars().count() - 1;
    option[1..].chars().position(is_valued).is_some_and(|index| index + 1 == letters)
}

/// The value of an option: the next word, what is attached to it, or the last of a cluster.
pub(super) fn option_value(argv: &[Word], options: &[&str]) -> Option<String> {
    argv.iter().enumerate().skip(1).find_map(|(index, word)| {
        let text = word.text.as_str();
        let next = || argv.get(index + 1).map(|next| next.text.clone());
        if let Some((name, value)) = text.split_once('=') {
            return options.contains(&name).then(|| value.to_owned());
        }
        let is_cluster = text.len() > 2
            && text.starts_with('-')
            && text[1..].bytes().all(|b| b.is_ascii_alphabetic())
            && options.iter().any(|o| o.len() == 2 && text.ends_with(&o[1..]));
        if options.contains(&text) || is_cluster { next() } else { None }
    })
}
