#!/bin/sh
# Stands in for Claude Code on an issue: does what the issue's plan says for this launch.
plan='@PLAN@'
issue=$HEIRLOOM_ISSUE
mkdir -p "$plan/$issue.runs"
n=1
while ! mkdir "$plan/$issue.runs/$n" 2> /dev/null; do n=$((n + 1)); done
dir="$plan/$issue.runs/$n"
printf '%s\n' "$@" > "$dir/argv"
pwd > "$dir/cwd"
echo $$ > "$dir/pid"
id=unknown from= previous=
for argument in "$@"; do
  case "$previous" in
    --session-id) id=$argument ;;
    --resume) from=$argument; id=$argument ;;
  esac
  previous=$argument
done
IFS= read -r line
printf '%s' "$line" > "$dir/stdin"
step=$(sed -n "${n}p" "$plan/$issue" 2> /dev/null)
[ -n "$step" ] || step=$(tail -n 1 "$plan/$issue" 2> /dev/null)
printf '%s' "$step" > "$dir/step"

say() { printf '%s\n' "$1"; }
init() { say '{"type":"system","subtype":"init","session_id":"'"$id"'","model":"claude-opus-5-5"}'; }
end() {
  say '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"'"${1:-done}"'","session_id":"'"$id"'","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}'
}
# An error of the model's API: HTTP status, word, reason.
fails() {
  say '{"type":"assistant","error":"'"$2"'","isApiErrorMessage":true,"message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}'
  say '{"type":"result","subtype":"success","is_error":true,"terminal_reason":"'"$3"'","api_error_status":'"$1"',"result":"API Error: '"$1"'","session_id":"'"$id"'","num_turns":1,"total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0}}'
  exit 1
}

case "$step" in stale)
  echo "No conversation found with session ID: $from" >&2
  say '{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"00000000-0000-4000-8000-00000000dead","errors":["No conversation found with session ID: '"$from"'"]}'
  exit 1 ;;
esac
[ "$step" = astray ] && id=00000000-0000-4000-8000-00000000beef
[ "$step" = mute ] && exec sleep 600
init
case "$step" in
  apart-crash) git update-ref -d refs/heads/heirloom/work/main; exit 7 ;;
  crash) echo 'out of luck' >&2; exit 7 ;;
  hang | astray) exec sleep 600 ;;
  deaf) trap '' INT; trap 'touch "$dir/asked-term"' TERM; while :; do sleep 0.1; done ;;
  slow) sleep 1 ;;
  wait) while [ ! -e "$plan/go" ]; do sleep 0.05; done ;;
  limit) fails 429 rate_limit api_error ;;
  overloaded) fails 529 overloaded api_error ;;
  broken) fails 500 server_error api_error ;;
  auth) fails 401 authentication_failed api_error ;;
  model) fails 404 model_not_found api_error ;;
  cap) say '{"type":"result","subtype":"success","is_error":true,"result":"You'"'"'ve hit your session limit · resets 3:30pm (UTC)","session_id":"'"$id"'","num_turns":1}'; exit 1 ;;
  offline) say '{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"Connection error.","session_id":"'"$id"'","num_turns":1}'; exit 1 ;;
  long) fails 400 invalid_request prompt_too_long ;;
  credit) fails 400 billing_error api_error ;;
  nothing) end; exit 0 ;;
  shrug) end 'I could not reproduce this, I have not changed anything.'; exit 0 ;;
  claims) end 'NOTHING TO DO: it is all there already'; exit 0 ;;
  lies) end 'NOTHING TO DO: it is all there already\nREADME.md:1: words that nobody wrote'; exit 0 ;;
  shows) end 'I looked.\n\nNOTHING TO DO: it is written down already\n- `.heirloom/config.yaml:1: work:`'; exit 0 ;;
  approves) end 'It does what it should.\n\nREVIEW: approved'; exit 0 ;;
  objects) end 'I looked.\n\nREVIEW: changes\n- done.txt:1: it does not say why'; exit 0 ;;
  mumbles) end 'Looks good to me.'; exit 0 ;;
  meddles)
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    echo meddled > meddled.txt; git add -A; git commit -qm meddled; echo more > more.txt; git checkout -q --detach
    end 'REVIEW: approved'; exit 0 ;;
  half)
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git merge -q heirloom/work/main > /dev/null 2>&1
    end; exit 0 ;;
  switch) git checkout -q feature; echo x > switched.txt; end; exit 0 ;;
  back) git stash -qu; git checkout -q "heirloom/issue/$issue" ;;
  commit)
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    echo "$issue" > "$issue.txt"; git add "$issue.txt"; git commit -qm "$issue" ;;
  scenarios)
    @HEIRLOOM@ note scenario 'A used token is refused' --issue "$issue" > /dev/null 2>&1
    @HEIRLOOM@ note scenario 'A fresh token is taken' --issue "$issue" > /dev/null 2>&1 ;;
  flood) yes 'this is no JSON, and there is a lot of it' | head -n 100000; echo "$issue" >&2 ;;
  vanish) here=$(pwd); cd /; rm -rf "$here"; end; exit 0 ;;
  closes) @HEIRLOOM@ issues close "$issue" --reason 'I say so' > /dev/null 2>&1 ;;
  stray)
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git checkout -qb "stray-$issue"; echo stray > stray.txt; git add -A; git commit -qm stray; end; exit 0 ;;
  home) git checkout -q "heirloom/issue/$issue" ;;
  edit) echo both > same.txt ;;
  reaches) echo reached >> "$HEIRLOOM_MAIN/mine.txt" ;;
  stash) echo stashed > stashed.txt; git stash push -qu; end; exit 0 ;;
  pops) git stash pop -q ;;
  stash-hang) echo stashed > stashed.txt; git stash push -qu; exec sleep 600 ;;
  clear-hang) git stash clear; exec sleep 600 ;;
  clears) git stash clear ;;
  moves) git branch -qf feature HEAD~1; git tag -d v1 > /dev/null; git branch new-one; git config user.email agent@localhost ;;
  underfoot) git update-ref refs/heads/main HEAD~1 ;;
  breaks) git config core.bare true ;;
  mute) ;;
  locks) : > "$(git rev-parse --git-path index.lock)" ;;
  escapes)
    say '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"\u001b]0;pwned\u0007\u001b[2Jgone \u202e evil"}]}}'
    printf '\033[2Jno JSON\n'; printf '\033]0;pwned\007\n' >&2
    echo x > "$(printf 'name\033[2J')" ;;
  gitless) rm -f .git; end; exit 0 ;;
  gitdirless) rm -rf "$(git rev-parse --git-dir)"; end; exit 0 ;;
  orphan) git checkout -q --orphan "stray-$issue"; end; exit 0 ;;
  unbranch) git checkout -q --detach; git branch -qD "heirloom/issue/$issue"; end; exit 0 ;;
  rebranch) git checkout -q -b "heirloom/issue/$issue" ;;
  prunes) git stash clear; git reflog expire --expire=now --all; git gc -q --prune=now ;;
  link) ln -s "$HEIRLOOM_MAIN" main ;;
  newline) echo x > "$(printf 'new\nline')" ;;
  fifo) mkfifo pipe ;;
  wait-apart)
    while [ ! -e "$plan/go" ]; do sleep 0.05; done
    git update-ref -d refs/heads/heirloom/work/main ;;
  apart) git update-ref -d refs/heads/heirloom/work/main ;;
  filters) echo '* filter=evil' > .gitattributes; git config filter.evil.clean "touch '$plan/filtered'; cat" ;;
  child) setsid sleep 600 > /dev/null 2>&1 < /dev/null & echo $! > "$dir/child" ;;
  bad) echo bad > "bad-$issue" ;;
  same) echo "$issue" > same.txt ;;
  merge)
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git merge -q heirloom/work/main > /dev/null 2>&1
    echo both > same.txt
    git add -A
    git commit -qm merged ;;
esac
[ "$step" = bad ] || rm -f "bad-$issue"
case "$step" in same | merge | edit) true ;; *) false ;; esac || echo "$issue" > "$issue.txt"
end
