#!/usr/bin/env bash
# What an agent runs before it commits: the constraints and decisions that the staged change should know of.
set -euo pipefail
export MEMCLI_FREEZE_CLOCK=2026-05-03T12:00:00Z

before_commit() {
  local topic
  topic=$(git diff --cached --name-only -- . ':!.memory' && git diff --cached -U0 -- . ':!.memory' | sed -n 's/^[+-]\([^+-]\)/\1/p')
  memcli recall "${topic:0:1500}" --kind constraint --kind negative --kind decision --limit 3 --format prompt
}

memcli init --quiet
memcli remember "Session tokens live in the HttpOnly cookie, never in localStorage." --kind constraint --path auth/tokens --quiet
memcli remember "We sign session tokens with Ed25519; rotating the key needs no restart." --kind decision --path auth/signing --quiet
memcli remember "The logo lives in assets/logo.svg." --path brand/logo --quiet

mkdir -p auth
cat > auth/session.js <<'JS'
export function saveToken(token) {
  localStorage.setItem("session", token);
}
JS
git add auth
before_commit
