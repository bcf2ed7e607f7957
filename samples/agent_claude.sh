#!/usr/bin/env bash
# A day of Claude Code: what its hooks tell it, from the start of a session to its end, and what is noted for later.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-03T12:00:00Z
export MEMCLI_HOOK_FOREGROUND=1 # no time limit, so that what is shown does not depend on the machine

memcli init --quiet
mkdir -p src && printf 'def charge(order):\n    return gateway.post(order)\n' > src/payments.py
memcli remember "Payments go through Stripe: its webhooks are signed, and the old gateway's were not." --kind decision \
  --path payments/provider --quiet
memcli remember "Never retry a charge without an idempotency key: in March customers paid twice." --kind negative \
  --path payments/retries --anchor src/payments.py:1-2 --quiet
memcli remember "All amounts are integers of the smallest unit, such as cents." --path money/amounts --pin --quiet

echo "--- what the installation adds to the repository"
memcli agent install claude --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'

# Calls a hook as Claude Code does: with JSON on standard input. What it prints goes to the model.
session='"session_id": "9f0c", "transcript_path": "/home/ann/.claude/projects/-shop/9f0c.jsonl"'
call() {
  echo "--- $1: ${2-}"
  memcli hook run "$1" --agent claude <<JSON | jq -r '.hookSpecificOutput | "(\(.hookEventName))\n\(.additionalContext)"'
{$session, "cwd": "$PWD"${2+, $2}}
JSON
}
prompt() { call prompt "\"prompt\": \"$1\""; }

call session-start '"hook_event_name": "SessionStart", "source": "startup"'
prompt "which payment provider do we use, and why?"
prompt "who is our payment provider again?"          # shown before
prompt "now write a limerick about the sea"          # nothing relevant
prompt "how do we store an amount of money?"         # pinned, and shown at the start
call before-tool '"tool_name": "Edit", "tool_input": {"file_path": "src/payments.py", "old_string": "post", "new_string": "retry"}'
call before-tool '"tool_name": "Edit", "tool_input": {"file_path": "src/payments.py", "old_string": "retry", "new_string": "again"}'

echo "--- meanwhile, somebody decides otherwise: what changed may be shown again"
memcli remember "Payments go through Adyen since May: Stripe does not settle in our currency." --kind decision \
  --path payments/provider --quiet
prompt "is Stripe our payment provider?"

echo "--- the context is compacted: what is pinned comes again at once, the rest when it is needed"
call after-compaction '"hook_event_name": "PostCompact", "compact_summary": "We looked at payments."'
call session-start '"hook_event_name": "SessionStart", "source": "compact"'
call before-tool '"tool_name": "Write", "tool_input": {"file_path": "src/payments.py", "content": "retry()"}'
call stop '"hook_event_name": "Stop", "last_assistant_message": "Charges carry an idempotency key now."'
call session-end '"hook_event_name": "SessionEnd", "reason": "logout"'

echo "--- what was noted for later, and what each call did"
jq -c '{at, event, session, transcript, text}' .memory/local/agents.spool.jsonl
jq -r '"\(.event) \(.outcome) \(.memories // 0) \(.tokens // 0)"' .memory/local/agents.log
echo "most tokens at once: $(jq -s 'map(.tokens // 0) | max' .memory/local/agents.log)"

echo "--- uninstalled, nothing is left"
memcli agent uninstall claude --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'
