#!/bin/sh
# Stands in for Claude Code: looks into a file and says what it found.
id=unknown previous=
for argument in "$@"; do
  [ "$previous" = --session-id ] && id=$argument
  previous=$argument
done
cat > /dev/null &
printf '%s\n' \
  '{"type":"system","subtype":"init","session_id":"'"$id"'","model":"claude-opus-4-6"}' \
  '{"type":"assistant","uuid":"00000000-0000-4000-8000-000000000001","message":{"id":"m1","content":[{"type":"text","text":"I will look at the retry loop in fetchInvoices."},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"src/billing/retry.rs"}}]}}' \
  '{"type":"user","uuid":"00000000-0000-4000-8000-000000000002","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"backoff doubles\nexport STRIPE_SECRET_KEY=sk_live_4eC39HqLyjWDarjtT1zdp7dc"}]}}' \
  '{"type":"assistant","uuid":"00000000-0000-4000-8000-000000000003","message":{"id":"m2","content":[{"type":"text","text":"The backoff has no ceiling, so the sqlite queue starves."}]}}' \
  '{"type":"result","subtype":"success","is_error":false,"result":"bye","session_id":"'"$id"'","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}'
