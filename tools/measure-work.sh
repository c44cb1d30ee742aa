#!/bin/bash
# What `heirloom work` costs beside a plain shell script that does the same for each issue: a worktree, an agent
# that commits, a merge, and the worktree gone again. CPU time of the whole process trees.
#
#   tools/measure-work.sh path/to/heirloom [issues]
set -eu
heirloom=$(realpath "$1")
issues=${2:-20}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export HOME="$place/home" HEIRLOOM_HOME="$place/heirloom" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
mkdir -p "$HOME"

# Claude Code, as far as it is seen: it changes a file, commits and says that it is done.
agent="$place/claude"
cat > "$agent" <<'AGENT'
#!/bin/sh
if [ "${1:-}" = --version ]; then echo '2.1.325 (Claude Code)'; exit; fi
echo "done in $PWD" > "file-$$"
git add "file-$$"
git commit -q -m "done by $$"
echo '{"type":"system","subtype":"init","session_id":"'"$$"'","model":"m"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done"}'
AGENT
chmod +x "$agent"
export HEIRLOOM_AGENT_CLAUDE="$agent"

repository() {
    mkdir "$place/$1"
    cd "$place/$1"
    git init -q -b main
    for n in $(seq 50); do echo "line $n" > "$n.txt"; done
    git add .
    git commit -q -m begin
}

# User and system time of what ran in a subshell, in seconds.
spent() {
    ("$@" > "$place/out" 2>&1; times > "$place/times")
    tail -1 "$place/times" | awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += t[1] * 60 + t[2] } printf "%.3f", s }'
}

by_script() {
    for n in $(seq "$issues"); do
        git worktree add -q -b "issue-$n" "../trees/$n" work
        (cd "../trees/$n" && "$agent" < /dev/null > /dev/null)
        [ -z "$(git -C "../trees/$n" status --porcelain)" ]
        git -C ../trees/joined merge -q --no-edit "issue-$n"
        git worktree remove "../trees/$n"
        git branch -q -D "issue-$n"
    done
}

repository script
git branch work
git worktree add -q ../trees/joined work
script=$(spent by_script)
merged=$(git rev-list --count --no-merges main..work)

repository ours
for n in $(seq "$issues"); do "$heirloom" issues create "Do number $n" > /dev/null; done
ours=$(spent "$heirloom" work --agent claude --max-agents 1)
closed=$("$heirloom" issues list --all --json | grep -o '"status": *"closed"' | wc -l)

echo "script: $merged of $issues merged, $script s; heirloom: $closed of $issues closed, $ours s"
awk -v a="$ours" -v b="$script" 'BEGIN { printf "ratio %.2f\n", a / b }'
