"""What kind of memory a text is, and how much it matters."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS

KINDS = [
    ("negative", "Never run migrations during business hours."),
    ("negative", "Do not use `git push --force` on shared branches."),
    ("negative", "Please don't commit generated files."),
    ("negative", "You must never log raw tokens."),
    ("negative", "Avoid lazy loading in request handlers at all costs."),
    ("negative", "IMPORTANT: never delete the staging bucket by hand."),
    ("negative", "If the build is red, don't merge."),
    ("decision", "We chose PostgreSQL over MySQL because we need JSONB and row level security."),
    ("decision", "We decided to keep the monolith for now."),
    ("decision", "Decision: all timestamps are stored in UTC."),
    ("decision", "ADR-12: we split the API by tenant."),
    ("decision", "The team agreed on trunk based development."),
    ("decision", "We will use Kafka for the event bus, since it must survive restarts."),
    ("decision", "Switched from Jest to Vitest in March 2026."),
    ("decision", "We use Terraform for all infrastructure because click-ops drifted twice."),
    ("procedure", "To deploy: merge to main, wait for the green build, run `make release`."),
    ("procedure", "How to rebuild the search index: stop the consumer and run `bin/reindex`."),
    ("procedure", "Steps:\n1. Freeze main.\n2. Tag the release.\n3. Push the tag."),
    ("procedure", "When the queue backs up, scale the worker deployment to 12 replicas."),
    ("procedure", "Before releasing, run the migration dry run."),
    ("preference", "I prefer small pull requests with one commit each."),
    ("preference", "Use uv rather than pip for everything in this repository."),
    ("preference", "User likes dark mode and answers in German."),
    ("correction", "Correction: the staging API listens on port 8443."),
    ("correction", "Actually, the rate limit is per API key."),
    ("correction", "We no longer support Python 3.8."),
    ("correction", "The default branch is main, not master."),
    ("constraint", "All public endpoints must respond within 200 ms."),
    ("constraint", "API responses must not exceed 1 MB."),
    ("constraint", "Customers on the free plan may have at most 5 seats."),
    ("constraint", "Only admins may delete a workspace."),
    ("constraint", "The CI job is limited to 20 minutes."),
    ("goal", "Goal: ship the importer by May."),
    ("goal", "Our goal is to cut the cold start below 100 ms."),
    ("goal", "We want to support offline mode by the end of the year."),
    ("config", "DATABASE_URL=postgres://localhost/app\nREDIS_URL=redis://localhost"),
    ("config", "Set `max_connections` to 200 in postgresql.conf."),
    ("config", "The dev server listens on port 5173 by default."),
    ("config", "[tool.ruff]\nline-length = 120\n\n[tool.mypy]\nstrict = true\n"),
    ("config", "services:\n  db:\n    image: postgres:16\n    ports:\n      - 5432:5432\n"),
    ("log", "2026-02-01T10:00:00Z ERROR payment-service timed out\n2026-02-01T10:00:02Z INFO retrying"),
    ("log", "Released 2.4.0 with atomic token refresh."),
    ("log", "2026-03-02 Deployed v3.2.1 to production."),
    ("log", "fix(parser): handle CRLF line endings in front matter"),
    ("log", "# Changelog\n\n## 1.2.0\n\n- Added anchors.\n"),
    ("log", "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'user'"),
    ("code", "def slugify(text: str) -> str:\n    return '-'.join(text.lower().split())"),
    ("code", "const debounce = (fn) => {\n  let timer;\n  return () => clearTimeout(timer);\n};"),
    ("code", "```sql\nSELECT * FROM users;\n```"),
    ("diff", "diff --git a/x.py b/x.py\n@@ -1 +1 @@\n-a\n+b\n"),
    ("diff", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"),
    ("diff", "-    old = 1\n+    new = 2\n     keep\n"),
    ("entity", "Maria is the product owner of the mobile app."),
    ("entity", "payments-api is a service owned by the Billing team."),
    ("entity", "ACME Corp is a customer on the self-hosted plan."),
    ("guide", "# Deploying\n\n" + "The deploy process has three parts, all of them simple. " * 15),
    ("fact", "SQLite in WAL mode allows one writer and many readers at the same time."),
    ("fact", "The cache never expires on its own."),
    ("fact", "Users who don't verify their address get a reminder."),
    ("fact", "We never saw this bug in production."),
    ("fact", "To our surprise, the cache was cold."),
    ("fact", "To speed up builds, we cache the layers."),
    ("fact", "Users who opted in get a weekly mail."),
    ("fact", "Dark mode is a user setting."),
    ("fact", "The region is selected by the client."),
    ("fact", "Shopping list:\n- milk\n- eggs\n- bread"),
]

BY_SOURCE = [
    ("guide", "docs/guides/tokens.md", "Tokens are rotated nightly."),
    ("decision", "docs/adr/0007-use-postgresql.md", "# 7. Use PostgreSQL\n\nAccepted."),
    ("log", "CHANGELOG.md", "# What is new\n\nAnchors."),
    ("config", "deploy/values.yaml", "replicas: 3\nimage: api\n"),
    ("config", ".env.example", "A=1"),
    ("code", "src/auth/tokens.py", "x = 1\ny = 2\n"),
    ("negative", "CLAUDE.md", "Never push to main directly."),
    ("constraint", "src/auth/tokens.py", "Tokens must expire within an hour."),
    ("diff", "src/auth/tokens.py", "@@ -1 +1 @@ def f():\n-a\n+b\n"),
]


def test_the_words_tell_the_kind() -> None:
    assert [
        (kind, text) for kind, text in KINDS if SUMMARIZERS["local"]().describe({"raw": text})["kind"] != kind
    ] == []


def test_the_file_tells_the_kind() -> None:
    assert [
        (kind, source, text)
        for kind, source, text in BY_SOURCE
        if SUMMARIZERS["local"]().describe({"raw": text, "metadata": {"source": source}})["kind"] != kind
    ] == []


def test_the_hinted_folder_tells_the_kind() -> None:
    found = SUMMARIZERS["local"]().describe({"raw": "Redis it is.", "path_hint": "decisions/cache"})
    assert (found["kind"], found["path"]) == ("decision", "decisions/cache")


def test_a_marker_tells_the_relevance() -> None:
    cases = [
        ("high", "IMPORTANT: rotate the keys."),
        ("high", "**WARNING!** The bucket is public."),
        ("high", "MUST READ: the billing cron runs once."),
        ("low", "nit: the README says Node 16."),
        ("low", "FYI: the office is closed."),
        ("medium", "It is important to rotate the keys."),
        ("medium", "This is critical: rotate the keys."),
        ("medium", "WARNING: disk almost full\nWARNING: disk full\n2026-01-01 10:00 WARNING: x"),
    ]
    for relevance, text in cases:
        kind = {"kind": "log"} if text.startswith("WARNING: disk") else {}
        assert SUMMARIZERS["local"]().describe({"raw": text, **kind})["relevance"] == relevance
