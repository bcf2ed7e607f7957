#!/usr/bin/env bash
# A day of Claude Code: what its hooks tell it, from the start of a session to its end, and what the next session knows of it.
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
transcripts="$(mktemp -d)" && trap 'rm -r "$transcripts"' EXIT # Claude Code has them in ~/.claude/projects
session='"session_id": "9f0c", "transcript_path": "'$transcripts'/9f0c.jsonl"'
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
prompt "and who signs its webhooks?"                 # goes on with the topic
prompt "now write a limerick about the sea"          # another topic, to which nothing is relevant
prompt "which provider do payments go through?"      # the topic has changed since: it may be shown again
prompt "how do we store an amount of money?"         # pinned, and of this topic not shown yet
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

# What Claude Code has written into its transcript meanwhile.
said() {
  jq -cn --arg type "$1" --arg id "$2" --arg parent "$3" --arg text "$4" --arg cwd "$PWD" '{type: $type, uuid: $id,
    parentUuid: (if $parent == "" then null else $parent end), sessionId: "9f0c", cwd: $cwd,
    timestamp: "2026-05-03T11:0\($id):00Z", message: {role: $type, content: $text}}' >> "$transcripts/9f0c.jsonl"
}
said user 1 "" "Customers were charged twice again last night. Please find out why."
said assistant 2 1 "The retry in src/payments.py sends a new idempotency key each time, so the gateway takes it for a new charge."
said user 3 2 "We decided to derive the idempotency key from the order number, because the gateway forgets a random key after a day."
said assistant 4 3 "Done: charge() takes the key from order.number, and the test for the retry passes now."
said user 5 4 "Great. Always run the contract tests against the sandbox before you change payments."
said assistant 6 5 "Noted. The contract tests pass against the sandbox; the double charge is fixed."

call stop '"hook_event_name": "Stop", "last_assistant_message": "The double charge is fixed."'
call session-end '"hook_event_name": "SessionEnd", "reason": "logout"'

echo "--- what was noted for later, and what each call did"
python3 -c 'import sqlite3; [print(entry) for entry, in sqlite3.connect(".git/memcli/.memory/state.db").execute("SELECT entry FROM spool")]' |
  jq -c '{at, event, session, text}'
jq -r '"\(.event) \(.outcome) \(.memories // 0) \(.tokens // 0)\(if .topic then " topic changed" else "" end)"' .memory/local/agents.log
echo "most tokens at once: $(jq -s 'map(.tokens // 0) | max' .memory/local/agents.log)"

echo "--- the session is taken in, by itself at the next start, or at once"
memcli session sync
memcli session list
memcli session arc "$(memcli session list --json | jq -r '.[0].id')"
echo "--- what is clear enough waits for a person"
memcli inbox
memcli inbox accept --all --quiet

echo "--- the next session knows of it"
session='"session_id": "a1b2", "transcript_path": "'$transcripts'/a1b2.jsonl"'
export MEMCLI_FREEZE_CLOCK=2026-05-04T08:00:00Z
call session-start '"hook_event_name": "SessionStart", "source": "startup"'
prompt "what is the idempotency key of a charge made of?"
prompt "why did a retry look like a new charge to the gateway?"

echo "--- uninstalled, nothing is left"
memcli agent uninstall claude --quiet
git status --short --untracked-files=all -- . ':!.memory' ':!src'
