#!/usr/bin/env bash
# What the team expects recall to answer stands in .memory/tests/ and is checked in CI.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-02T12:00:00Z

memcli init --quiet
memcli remember "We chose PostgreSQL because of JSONB." --kind decision --path db/choice --quiet
memcli remember "Deploy with make release, then push the tag." --kind procedure --path ops/deploy --quiet
mkdir .memory/tests
cat > .memory/tests/answers.toml <<'TOML'
[defaults]
top = 3

[[case]]
topic = "why did we choose PostgreSQL?"
must_include = ["db/*", "/jsonb/"]
must_not_include = ["ops/deploy"]

[[case]]
topic = "who won the world cup in 1954?"
empty = true
TOML
memcli check recall

echo "--- the memory was changed, and the answer with it"
memcli edit db/choice --set raw="We chose PostgreSQL because of its extensions." --quiet
memcli check recall || echo "the step fails with $?"
