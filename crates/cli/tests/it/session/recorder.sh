#!/bin/sh
# Stands in for Claude Code: records what it was given, and does what its prompt says.
record='@RECORD@'
n=1
while ! mkdir "$record/$n" 2> /dev/null; do n=$((n + 1)); done
dir="$record/$n"
printf '%s\n' "$@" > "$dir/argv"
env > "$dir/env"
pwd > "$dir/cwd"
id=unknown from=none previous=
for argument in "$@"; do
  case "$previous" in
    --session-id) id=$argument ;;
    --resume) from=$argument ;;
    --mcp-config) cp "$argument" "$dir/mcp"; stat -c %a "$argument" > "$dir/mcp-mode" ;;
    --system-prompt-file) cp "$argument" "$dir/system" ;;
    --append-system-prompt-file) cp "$argument" "$dir/append" ;;
  esac
  previous=$argument
done
IFS= read -r line
printf '%s' "$line" > "$dir/stdin"

say() { printf '%s\n' "$1" | tee -a "$dir/said"; }
text() {
  say '{"type":"assistant","uuid":"00000000-0000-4000-8000-00000000000'"$1"'","message":{"id":"m'"$1"'","content":[{"type":"text","text":"'"$2"'"}]}}'
}
ask() {
  say '{"type":"control_request","request_id":"'"$1"'","request":{"subtype":"can_use_tool","tool_name":"'"$2"'","input":{"command":"touch '"$1"'"},"tool_use_id":"t-'"$1"'"}}'
}
hear() {
  IFS= read -r answer
  printf '%s\n' "$answer" >> "$dir/answers"
}
end() {
  say '{"type":"result","subtype":"'"$1"'","is_error":'"$2"',"terminal_reason":"'"$3"'","result":"bye","session_id":"'"$id"'","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}'
}

case "$line" in *'be stale"'*)
  echo "No conversation found with session ID: $from" >&2
  say '{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"'"$from"'","errors":["No conversation found with session ID: '"$from"'"]}'
  exit 1 ;;
esac
say '{"type":"system","subtype":"init","session_id":"'"$id"'","model":"claude-opus-5-5"}'
case "$line" in
  *'work on'*)
    case "$line" in *'ask both'*) ask r1 Bash; ask r2 Read ;; *'ask once'*) ask r1 Bash ;; esac
    hear
    end error_during_execution true aborted_tools
    exit 1 ;;
  *'ask once'*) ask r1 Bash; hear ;;
  *'ask twice'*) ask r1 Bash; hear; ask r2 Bash; hear ;;
  *'ask both'*) ask r1 Bash; ask r2 Read; hear; hear ;;
  *'read much'*)
    say '{"type":"assistant","message":{"id":"m0","content":[{"type":"tool_use","id":"t-1","name":"Bash","input":{"command":"cat long"}}]}}'
    say '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t-1","content":"first line\nsecond line\nlast line"}]}}' ;;
  *'edit a notebook'*) ask r1 NotebookEdit; hear ;;
  *'be unpriced'*)
    say '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"bye","session_id":"'"$id"'","num_turns":1,"usage":{"input_tokens":10,"output_tokens":5}}'
    exit 0 ;;
  *'fail"'*) text 1 one; end error_during_execution true failed; exit 1 ;;
  *'speak slowly'*)
    say '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"the first half,"}}}'
    while [ ! -e "$record/go" ]; do sleep 0.05; done
    say '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" and the second"}}}'
    text 1 'the first half, and the second'
    end success false completed
    exit 0 ;;
  *'hang'*) echo $$ > "$dir/pid"; exec sleep 600 ;;
esac
text 1 one
text 2 two
end success false completed
