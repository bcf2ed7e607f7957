#!/usr/bin/env bash
# Gemini CLI: what its hooks tell it; constraints come with the file that it reads.
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
memcli agent install gemini --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'

# Calls a hook as gemini does: with JSON on standard input. What it prints goes to the model.
call() {
  echo "--- $1" && memcli hook run "$1" --agent gemini | jq -r '.hookSpecificOutput.additionalContext'
}
call session-start <<JSON
{"session_id": "gem-1", "transcript_path": "/tmp/chat.json", "cwd": "$PWD", "hook_event_name": "SessionStart", "source": "startup"}
JSON
call prompt <<JSON
{"session_id": "gem-1", "transcript_path": "/tmp/chat.json", "cwd": "$PWD", "hook_event_name": "BeforeAgent", "prompt": "which payment provider do we use, and why?"}
JSON
# It puts what the first hook printed before the prompt.
call prompt <<JSON
{"session_id": "gem-2", "transcript_path": "/tmp/chat.json", "cwd": "$PWD", "hook_event_name": "BeforeAgent", "prompt": "<hook_context>&lt;memory-1&gt;All amounts are integers.&lt;/memory-1&gt;</hook_context>\n\nwhich payment provider do we use, and why?"}
JSON
call before-tool <<JSON
{"session_id": "gem-1", "transcript_path": "/tmp/chat.json", "cwd": "$PWD", "hook_event_name": "AfterTool",
 "tool_name": "read_file", "tool_input": {"absolute_path": "$PWD/src/payments.py"}}
JSON
call session-end <<JSON
{"session_id": "gem-1", "transcript_path": "/tmp/chat.json", "cwd": "$PWD", "hook_event_name": "SessionEnd", "reason": "exit"}
JSON

echo "--- uninstalled, nothing is left"
memcli agent uninstall gemini --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'
