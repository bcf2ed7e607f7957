#!/usr/bin/env bash
# A context window: a session that goes on, what is remembered about its task, and a budget.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-04T09:00:00Z
memcli init --quiet --project shop

memcli remember --batch - <<'JSONL'
{"raw": "Never store card numbers, not even hashed: the payment provider keeps them.", "path": "payments/cards", "kind": "negative", "pinned": true}
{"raw": "The job queue lives in PostgreSQL and not in Redis: one service less to run.", "path": "queue/engine", "kind": "decision"}
{"raw": "A job that fails is retried five times, after 10 seconds first and 10 minutes last.", "path": "queue/retries", "kind": "fact"}
{"raw": "Every job must be idempotent: a worker that dies after the commit runs its job again.", "path": "queue/idempotent", "kind": "constraint"}
{"raw": "The nightly report runs at 02:00 UTC as a job of the queue.", "path": "reports/nightly", "kind": "fact"}
{"raw": "The shop speaks German, English and French.", "path": "shop/languages", "kind": "fact"}
JSONL

export MEMCLI_SESSION && MEMCLI_SESSION=$(memcli session start --title "Slow report")
say() { memcli session add --quiet --role "$1" "$2"; }
say user "The nightly report takes three hours instead of ten minutes. Why?"
say assistant "The query plan has a sequential scan on order_lines."
say tool "ran: psql -c 'explain analyze ...' (exit 0)"
say assistant "The root cause is migration 142: it made the table anew and forgot the index on order_id."
say user "We decided to add the index in a new migration, because released migrations are never edited."
say assistant "I wrote migration 157, which creates the index concurrently."
say tool "ran: make test (exit 1)"
say assistant "The migration cannot run in a transaction. I set atomic to False, and all tests pass."
for step in orders refunds invoices stock customers suppliers returns prices carts coupons; do
  say user "Does the report of $step use the index too?"
  say assistant "Yes, the report of $step takes four seconds now."
done
memcli remember "Migrations that create an index concurrently need atomic = False." --path db/concurrent --kind fact --context 60
say user "What happens if the worker dies in the middle of the report job?"
say assistant "Let me look at how jobs are retried."
say user "And how often?"

echo "You are a careful engineer. Answer in two sentences." >system.md
echo "--- the whole window"
memcli session context --system system.md
echo "--- a small one, and what it lacks"
memcli session context "is a job run twice?" --system system.md --total 600 --json | jq -c '.used, .allocation, .left_out[:3]'
echo "--- with the context of a memory, for a provider"
memcli session context "concurrent index" --total 900 --insert db/concurrent --format openai --quiet | jq -r '.[] | "\(.role): \(.content)"'
echo "--- without a session"
memcli session context "which languages?" --no-session --quiet
