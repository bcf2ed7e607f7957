#!/usr/bin/env bash
# What changed, and why: a repository's commits become memories, and a question finds the diff.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-04-01T12:00:00Z
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.org
commit() { git add -A && GIT_AUTHOR_DATE="$1" GIT_COMMITTER_DATE="$1" git commit -q -m "$2"; }

mkdir -p src
cat > src/retry.py <<'PY'
def fetch(url):
    return get(url)
PY
commit 2026-03-01T09:00:00Z "Fetch a page"
cat > src/retry.py <<'PY'
def fetch(url, attempts=3):
    for attempt in range(attempts):
        try:
            return get(url)
        except TimeoutError:
            sleep(2 ** attempt)
    raise TimeoutError(url)
PY
printf '# Notes\n\nRetries back off exponentially.\n' > NOTES.md
commit 2026-03-02T09:00:00Z "Retry with exponential backoff when a page times out"
printf 'def parse(page):\n    return page.split()\n' > src/parse.py
commit 2026-03-03T09:00:00Z "Parse words"

memcli init --quiet
memcli ingest --git HEAD
memcli ingest --git HEAD
memcli ingest NOTES.md
echo "--- what happens on a time-out?"
memcli recall "what happens when a page times out?" --limit 2
echo "--- only the code"
memcli recall "backoff" --kind diff --include-raw --limit 1 --json | jq -r '.raw[0].raw'
memcli list --tree code
