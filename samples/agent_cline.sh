#!/usr/bin/env bash
# Cline: what its hooks tell it; what others get as a session starts comes with the first prompt.
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
memcli agent install cline --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'

# Calls a hook as cline does: with JSON on standard input. What it prints goes to the model.
call() {
  echo "--- $1" && memcli hook run "$1" --agent cline | jq -r '.contextModification'
}
call session-start <<JSON
{"clineVersion": "3.82.0", "hookName": "TaskStart", "taskId": "1770633000", "workspaceRoots": ["$PWD"], "taskStart": {"taskMetadata": {"taskId": "1770633000"}}}
JSON
call prompt <<JSON
{"clineVersion": "3.82.0", "hookName": "UserPromptSubmit", "taskId": "1770633000", "workspaceRoots": ["$PWD"],
 "userPromptSubmit": {"prompt": "which payment provider do we use, and why?", "attachments": []}}
JSON
call before-tool <<JSON
{"clineVersion": "3.82.0", "hookName": "PreToolUse", "taskId": "1770633000", "workspaceRoots": ["$PWD"],
 "preToolUse": {"toolName": "write_to_file", "parameters": {"path": "src/payments.py", "content": "retry()"}}}
JSON
call session-end <<JSON
{"clineVersion": "3.82.0", "hookName": "TaskComplete", "taskId": "1770633000", "workspaceRoots": ["$PWD"], "taskComplete": {"taskMetadata": {"taskId": "1770633000"}}}
JSON

echo "--- uninstalled, nothing is left"
memcli agent uninstall cline --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'
