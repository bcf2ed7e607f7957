#!/usr/bin/env bash
# GitHub Copilot and VS Code: what their hooks tell them.
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
memcli agent install copilot --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'

# Calls a hook as copilot does: with JSON on standard input. What it prints goes to the model.
call() {
  echo "--- $1" && memcli hook run "$1" --agent copilot | jq -r '.additionalContext, (.additionalContext == .hookSpecificOutput.additionalContext)'
}
call session-start <<JSON
{"timestamp": "2026-05-03T12:00:00.000Z", "cwd": "$PWD", "sessionId": "vs-5", "hookEventName": "SessionStart", "source": "new"}
JSON
call prompt <<JSON
{"timestamp": "2026-05-03T12:00:00.000Z", "cwd": "$PWD", "session_id": "vs-5", "hook_event_name": "UserPromptSubmit", "prompt": "which payment provider do we use, and why?"}
JSON
call before-tool <<JSON
{"timestamp": "2026-05-03T12:00:00.000Z", "cwd": "$PWD", "sessionId": "vs-5", "hookEventName": "PreToolUse",
 "tool_name": "editFiles", "tool_input": {"files": ["src/payments.py"]}}
JSON
call stop <<JSON
{"timestamp": "2026-05-03T12:00:00.000Z", "cwd": "$PWD", "sessionId": "vs-5", "hookEventName": "Stop", "stop_hook_active": false}
JSON

echo "--- uninstalled, nothing is left"
memcli agent uninstall copilot --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'
