#!/usr/bin/env bash
# A step of CI: is the memory that this branch shares whole, in order, and free of secrets? ci_workflow.yml calls the same.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-02T12:00:00Z
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.org
checks() {
  local failed=0
  for check in "check store" "store fmt --check" "check secrets" "store audit --verify"; do
    if memcli $check 2>&1; then echo "ok: $check"; else echo "FAILED ($?): $check" && failed=1; fi
  done
  return $failed
}

memcli init --quiet
memcli remember "We chose PostgreSQL because of JSONB." --kind decision --path db/choice --quiet
git add -A && git commit -q -m "Remember why"

echo "--- in a clone, as a runner has it"
git clone -q . ../runner
cd ../runner
checks

echo "--- somebody has edited the file by hand"
key=AKIA && sed -i "s/because of JSONB/with the key ${key}7QZ3MLW5XKTB2VPD/" .memory/spaces/main.json
{ checks || echo "the step fails"; } | sed -E 's/(aws_key) [0-9a-f]{8}$/\1 (and its mark)/' # another on each machine
