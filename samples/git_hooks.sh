#!/usr/bin/env bash
# Memory that follows the repository: hooks ingest each commit, and tell the next one what was decided.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-01T12:00:00Z
export MEMCLI_HOOK_FOREGROUND=1 # hooks work in the background; a script that looks at once lets them finish
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.org
commit() { git add -A && GIT_AUTHOR_DATE="$1" GIT_COMMITTER_DATE="$1" git commit -q "${@:2}"; }

printf '#!/bin/sh\necho "the hook that was here before"\n' > .git/hooks/post-commit
chmod +x .git/hooks/post-commit
printf '.memory/\n' > .gitignore # or commit it, to share what is remembered
memcli init --quiet
memcli hook install
memcli hook status --json | jq -r '.hooks[] | "\(.name) \(.state)"'

mkdir -p net
printf 'def fetch(url):\n    return get(url)\n' > net/fetch.py
commit 2026-04-01T09:00:00Z -m "Fetch a page" 2>&1
printf 'def fetch(url, attempts=3):\n    return retry(get, url, attempts)\n' > net/fetch.py
commit 2026-04-02T09:00:00Z -m "Retry when a page times out" 2>&1

echo "--- what the commits brought"
memcli recall "when do we retry?" --limit 1
echo "--- a better message takes the place of the first one"
commit 2026-04-02T09:00:00Z --amend -m "Retry thrice when a page times out" 2>&1
memcli list code/net

echo "--- what was decided shows in the editor of the next commit"
memcli remember "Fetch never retries a POST." --kind constraint --path net/fetch/post --quiet
printf 'def fetch(url, attempts=5):\n    return retry(get, url, attempts)\n' > net/fetch.py
git add -A
GIT_EDITOR='grep "^# memcli"' git commit -q 2> /dev/null || true # with no message there is no commit

echo "--- and everything is as it was"
memcli hook uninstall
cat .git/hooks/post-commit
