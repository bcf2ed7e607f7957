#!/usr/bin/env bash
# Windsurf: its hooks take no text, so it has instructions only; what a session produced is noted.
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
memcli agent install windsurf --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'

# Calls a hook as windsurf does: with JSON on standard input. What it prints goes to the model.
call() {
  echo "--- $1" && memcli hook run "$1" --agent windsurf
}
call stop <<JSON
{"agent_action_name": "post_cascade_response", "trajectory_id": "tr-1", "timestamp": "2026-05-03T12:00:00Z",
 "tool_info": {"response": "Charges are retried now."}}
JSON
python3 -c 'import sqlite3; [print(entry) for entry, in sqlite3.connect(".git/memcli/.memory/state.db").execute("SELECT entry FROM spool")]' |
  jq -c '{event, session, text}'

echo "--- uninstalled, nothing is left"
memcli agent uninstall windsurf --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'
