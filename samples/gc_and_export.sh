#!/usr/bin/env bash
# Governance: what expires, what stays, and a bundle that can be handed on and taken back.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
at() { export MEMCLI_FREEZE_CLOCK="$1"; }
export MEMCLI_USER=ann

at 2025-06-01T00:00:00Z
memcli init --quiet
memcli remember "The old staging server is at 10.0.0.7." --path ops/staging --space ops
memcli remember "Root keys rotate every ninety days." --path ops/keys --space ops --pin
at 2026-01-01T00:00:00Z
memcli remember "Staging moved to the new cluster." --path ops/cluster --space ops

memcli space policy ops --set ttl_days=90
memcli gc --space ops --dry-run
memcli gc --space ops || echo "refused with exit code $?"
memcli space policy ops --set allow_delete=true
memcli gc --space ops
memcli list --space ops

echo "--- take it back, and let it go again"
memcli restore ops/staging --space ops
memcli gc --space ops
memcli store audit --space ops --limit 3
memcli store audit --space ops --verify

echo "--- hand on, and take back"
memcli export ops --out ops.json
jq -c '{format, space, counts}' ops.json
cp .memory/spaces/ops.json before.json
memcli space delete ops
memcli import ops.json
cmp before.json .memory/spaces/ops.json && echo "the same bytes"
sed 's/ninety/nine hundred/' ops.json > forged.json
memcli import forged.json || echo "refused with exit code $?"
rm before.json forged.json
