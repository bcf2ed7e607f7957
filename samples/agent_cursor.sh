#!/usr/bin/env bash
# Cursor: what its hooks tell it.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-03T12:00:00Z
export MEMCLI_EMBEDDER=off # by words alone, which is faster
export MEMCLI_HOOK_FOREGROUND=1 # no time limit, so that what is shown does not depend on the machine

memcli init --quiet
mkdir -p src && printf 'def charge(order):\n    return gateway.post(order)\n' > src/payments.py
memcli remember "Payments go through Stripe: its webhooks are signed, and the old gateway's were not." --kind decision \
  --path payments/provider --quiet
memcli remember "Never retry a charge without an idempotency key: in March customers paid twice." --kind negative \
  --path payments/retries --anchor src/payments.py:1-2 --quiet
memcli remember "All amounts are integers of the smallest unit, such as cents." --path money/amounts --pin --quiet

echo "--- what the installation adds to the repository"
memcli agent install cursor --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'

# Calls a hook as cursor does: with JSON on standard input. What it prints goes to the model.
call() {
  echo "--- $1" && memcli hook run "$1" --agent cursor | jq -r '.additional_context'
}
call session-start <<JSON
{"conversation_id": "c-77", "generation_id": "g-1", "hook_event_name": "sessionStart", "workspace_roots": ["$PWD"], "cursor_version": "3.20.17"}
JSON
call prompt <<JSON
{"conversation_id": "c-77", "generation_id": "g-1", "hook_event_name": "beforeSubmitPrompt", "workspace_roots": ["$PWD"], "cursor_version": "3.20.17",
 "prompt": "which payment provider do we use, and why?"}
JSON
call before-tool <<JSON
{"conversation_id": "c-77", "generation_id": "g-1", "hook_event_name": "preToolUse", "workspace_roots": ["$PWD"], "cursor_version": "3.20.17",
 "tool_name": "Write", "tool_input": {"file_path": "$PWD/src/payments.py", "contents": "retry(gateway.post)"}}
JSON
call after-compaction <<JSON
{"conversation_id": "c-77", "generation_id": "g-1", "hook_event_name": "preCompact", "workspace_roots": ["$PWD"], "cursor_version": "3.20.17", "trigger": "auto"}
JSON
call prompt <<JSON
{"conversation_id": "c-77", "generation_id": "g-1", "hook_event_name": "beforeSubmitPrompt", "workspace_roots": ["$PWD"], "cursor_version": "3.20.17",
 "prompt": "who is our payment provider?"}
JSON

echo "--- uninstalled, nothing is left"
memcli agent uninstall cursor --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'
