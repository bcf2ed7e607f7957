#!/usr/bin/env bash
# A release checklist, written once, recalled when it is needed, by heading and by kind.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-02-10T08:00:00Z
memcli init --quiet

memcli remember --path release/checklist --kind procedure --pin <<'TEXT'
# Release checklist

1. Run `make test` on a clean clone.
2. Update CHANGELOG.md and the version constant.
3. Tag with `git tag -s vX.Y.Z` and push the tag.
4. Watch the canary for thirty minutes before promoting.
5. If the error rate doubles, roll back with `make rollback`.
TEXT
memcli remember "The canary dashboard is the one called edge-latency; the others lag by five minutes." --path release/canary
memcli remember "Never release on a Friday after noon." --path release/friday --kind negative
memcli remember "The logo lives in assets/logo.svg." --path brand/logo

echo "--- before a release"
memcli recall "how do we release?" --include-raw --limit 3
echo "--- under a heading"
memcli recall "canary" --under release
echo "--- by kind"
memcli recall --kind negative --json | jq -c '.sections[] | {path, summary_micro}'
echo "--- why"
memcli recall "watch the canary" --under release --explain --json | jq -c '.sections[] | [.path, .score]'
echo "--- nothing to say"
memcli recall "who won the football match?" --under brand --json | jq -r '.reason'
