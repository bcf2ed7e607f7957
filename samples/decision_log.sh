#!/usr/bin/env bash
# A decision log: decide, ask, change one's mind, and see what was decided when.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-01-05T10:00:00Z
memcli init --quiet --project shop

memcli remember "We chose PostgreSQL over MySQL because we need JSONB and row-level security." \
  --kind decision --path db/engine
memcli remember "We keep sessions in Redis for thirty minutes: looking them up at every request was too slow." \
  --kind decision
memcli remember "Never store card numbers, not even hashed: the payment provider keeps them." --pin
memcli remember "Money is stored as integer cents, never as a float." --tag money

echo "--- ask"
memcli recall "which database, and why?" --limit 3
echo "--- change one's mind"
export MEMCLI_FREEZE_CLOCK=2026-03-01T10:00:00Z
memcli remember "We moved sessions from Redis to signed cookies: one service less to run." \
  --kind decision --path auth/sessions --supersedes "$(memcli list --kind decision --json | jq -r '.[] | select(.path != "db/engine") | .id')"
memcli recall "where do sessions live?" --format md
echo "--- what there is"
memcli list --tree
memcli list --all
memcli get auth/sessions
