use std::process::ExitCode;

use clap_complete::Shell;
use heirloom_api::Completions;

use super::{App, Done};
use crate::failure::{Code, Failure};

/// Print a completion script for a shell
///
/// In bash, zsh and fish it completes session names, issue ids, stages and notes too.
///
/// bash: heirloom completions bash > ~/.local/share/bash-completion/completions/heirloom
///
/// zsh: heirloom completions zsh > a file called _heirloom in a directory of $fpath
///
/// fish: heirloom completions fish > ~/.config/fish/completions/heirloom.fish
///
/// With --keys, in the shell's own settings: eval "$(heirloom completions bash --keys)"
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
    /// Also bind Ctrl-G to choosing a past conversation: its command is put on the line
    #[arg(long)]
    keys: bool,
}

const BASH_KEY: &str = r#"
__heirloom_resume() {
  local line
  line=$(heirloom resume --print) && [ -n "$line" ] || return 0
  READLINE_LINE=$line READLINE_POINT=${#line}
}
bind -x '"\C-g": __heirloom_resume'
"#;

const ZSH_KEY: &str = r#"
__heirloom_resume() {
  local line
  line=$(heirloom resume --print < /dev/tty)
  if [ -n "$line" ]; then BUFFER=$line; CURSOR=$#BUFFER; fi
  zle reset-prompt
}
zle -N __heirloom_resume
bindkey '^G' __heirloom_resume
"#;

const FISH_KEY: &str = r#"
function __heirloom_resume
    set -l line (heirloom resume --print < /dev/tty | string collect)
    test -n "$line"; and commandline --replace -- $line
    commandline -f repaint
end
bind \cg __heirloom_resume
"#;

/// What binds the key in a shell.
fn binding(shell: Shell) -> Result<&'static str, Failure> {
    match shell {
        Shell::Bash => Ok(BASH_KEY),
        Shell::Zsh => Ok(ZSH_KEY),
        Shell::Fish => Ok(FISH_KEY),
        other => Err(Failure::new(Code::Usage, format!("keys cannot be bound in {other}"))
            .hint("bash, zsh and fish can")
            .usage()),
    }
}

/// These ask `heirloom complete`, so that they know what is there and stay right after an upgrade.
const BASH: &str = r#"_heirloom() {
    COMPREPLY=()
    local line
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <(heirloom complete --at "$COMP_CWORD" -- "${COMP_WORDS[@]}" 2>/dev/null)
}
complete -o default -F _heirloom heirloom
"#;

const ZSH: &str = r#"#compdef heirloom
_heirloom() {
    local -a found
    local line word about
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        about=${line#*$'\t'}
        found+=("${word//:/\\:}:$about")
    done < <(heirloom complete --at $((CURRENT - 1)) -- "${words[@]}" 2>/dev/null)
    if (( ${#found} )); then
        _describe heirloom found
    else
        _files
    fi
}
if [[ $funcstack[1] == _heirloom ]]; then
    _heirloom "$@"
else
    compdef _heirloom heirloom
fi
"#;

const FISH: &str = r#"function __heirloom_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    heirloom complete --at (count $before) -- $before "$word" 2>/dev/null
end
complete -c heirloom -f -a '(__heirloom_complete)'
"#;

pub(super) fn run(app: &App, args: &Args) -> Done {
    let mut script = match args.shell {
        Shell::Bash => BASH.to_owned(),
        Shell::Zsh => ZSH.to_owned(),
        Shell::Fish => FISH.to_owned(),
        other => generated(other),
    };
    if args.keys {
        script.push_str(binding(args.shell)?);
    }
    let answer = Completions { shell: args.shell.to_string(), script };
    app.ui.answer_verbatim(&answer, || answer.script.clone());
    Ok(ExitCode::SUCCESS)
}

/// For shells that are not asked: what does not change while heirloom is the same.
fn generated(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::tree(), "heirloom", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
