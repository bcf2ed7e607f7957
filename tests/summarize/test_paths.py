"""Where memories are put."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS


def test_paths() -> None:
    cases = [
        ("decisions/postgresql-mysql-jsonb", {"raw": "We chose PostgreSQL over MySQL because we need JSONB."}),
        ("shop/decisions/redis", {"raw": "We chose Redis.", "project": "shop"}),
        ("never/push-main-directly", {"raw": "Never push to main directly."}),
        ("constraints/public-endpoints-p99", {"raw": "All public endpoints must respond within 200 ms at p99."}),
        (
            "procedures/rotate-signing-keys",
            {"raw": "# Runbook: rotate the signing keys\n\n1. Make a key.\n2. Use it.\n"},
        ),
        ("logs/2026-03-02-2-4-0-token-refresh", {"raw": "2026-03-02 Released 2.4.0: token refresh works."}),
        ("my-kind/redis", {"raw": "Redis is down.", "kind": "My Kind!"}),
        ("notes/redis", {"raw": "Redis is down.", "kind": "!"}),
        ("facts/untitled", {"raw": "!!!"}),
        ("auth/tokens", {"raw": "Redis is down.", "path_hint": "auth/tokens"}),
        ("auth/tokens/redis", {"raw": "Redis is down.", "path_hint": "auth/tokens/"}),
        ("docs/deploy/deploying", {"raw": "# Deploying\n\nMerge.", "path_hint": "docs/deploy/"}),
        ("docs/guides/deploy", {"raw": "# Deploying\n\nMerge.", "metadata": {"source": "docs/guides/deploy.md"}}),
        ("shop/docs/README", {"raw": "# Shop\n\nSells.", "metadata": {"source": "README.md"}, "project": "shop"}),
        ("code/src/auth/tokens", {"raw": "import a\nimport b\n", "metadata": {"source": "./src/auth/tokens.py"}}),
        ("code/tokens", {"raw": "import a\nimport b\n", "metadata": {"source": "/home/bo/src/tokens.py"}}),
        ("config/env", {"raw": "A=1\nB=2", "metadata": {"source": ".env.example"}}),
        ("never/push-main-directly", {"raw": "Never push to main directly.", "metadata": {"source": "CLAUDE.md"}}),
        ("facts/redis", {"raw": "Redis is down.", "metadata": {"source": "https://example.com/a.md"}}),
        ("etc/passwd", {"raw": "Redis is down.", "path_hint": "../../etc/passwd"}),
    ]
    assert [(path, fields) for path, fields in cases if SUMMARIZERS["local"]().describe(fields)["path"] != path] == []


def test_a_leaf_is_short() -> None:
    title = "A very long title about the rotation of the signing keys in every region of the world"
    path = SUMMARIZERS["local"]().describe({"raw": f"# {title}\n\nText."})["path"]
    assert path == "facts/a-very-long-title-about-rotation-of-signing-keys"
