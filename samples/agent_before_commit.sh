#!/usr/bin/env bash
# What an agent runs before it commits: what binds the staged change comes first, and what must not be done again stops it.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-03T12:00:00Z
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.org
export GIT_AUTHOR_DATE=2026-05-03T12:00:00Z GIT_COMMITTER_DATE=2026-05-03T12:00:00Z
before_commit() {
  git diff --cached | memcli recall --from-diff - --kind constraint --kind negative --kind decision --limit 3 --format prompt
  memcli guard --staged
}

printf '.memory/\n' > .gitignore # or commit it, to share what is remembered
mkdir -p auth
cat > auth/session.js <<'JS'
export function saveToken(token) {
  document.cookie = `session=${token}; Secure`;
}
JS
git add -A && git commit -q -m "Save the session token"

memcli init --quiet
memcli remember "Session tokens live in the cookie, never in localStorage: scripts of others read it." --kind negative \
  --path auth/tokens --trigger 'localStorage' --trigger 'path:auth/**' --enforce --quiet
memcli remember "We sign session tokens with Ed25519, so that rotating the key needs no restart." --kind decision \
  --path auth/signing --anchor auth/session.js::saveToken --quiet
memcli remember "The logo lives in assets/logo.svg." --path brand/logo --quiet

echo "--- an edit, and the step before its commit"
sed -i 's/document.cookie = .*/localStorage.setItem("session", token);/' auth/session.js
git add -A
before_commit || echo "refused: $?"

echo "--- another way, and nothing stands against it"
sed -i 's/localStorage.*/document.cookie = `session=${sign(token)}; Secure; SameSite=Strict`;/' auth/session.js
git add -A
memcli guard --staged && git commit -q -m "Sign the session token, and keep it to this site"

echo "--- the decision speaks of code that is no longer what it was: somebody looks, and accepts"
memcli check code || echo "to be looked at: $?"
memcli check code --reanchor

echo "--- a refactoring moves the code: the memory goes with it"
{ printf 'import { sign } from "./sign.js";\n\n' && cat auth/session.js; } > auth/session.tmp && mv auth/session.tmp auth/session.js
memcli check code
memcli recall "how are session tokens signed?" --limit 1
