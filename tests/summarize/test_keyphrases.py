"""Tags."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS
from memcli.text.words import terms


def tags(text: str, **fields: object) -> tuple[str, ...]:
    found = SUMMARIZERS["local"]().describe({"raw": text, **fields})["tags"]
    assert isinstance(found, tuple)
    return found


def test_tags_name_what_the_text_is_about() -> None:
    cases = [
        (
            "We chose PostgreSQL over MySQL because we need JSONB and row level security.",
            {"postgresql", "mysql", "jsonb", "row-level-security"},
        ),
        ("Never run migrations during business hours.", {"migrations", "business-hours"}),
        (
            "The Ledger team owns payments-api and the nightly settlement job.",
            {"ledger", "payments-api", "settlement-job"},
        ),
        ("Our goal is to cut the cold start of the CLI below 100 ms.", {"cold-start", "cli"}),
        (
            "CI runs on GitHub Actions now, with a runner for the GPU tests.",
            {"ci", "github-actions", "gpu-tests", "runner"},
        ),
        ("The query scans the orders table.", {"query", "orders-table"}),
        ("The worker retries failed jobs from the Redis queue.", {"worker", "redis", "queue"}),
        ("Set `max_connections` in postgresql.conf.", {"max-connections", "postgresql"}),
        ("All new services are written in Go and C++.", {"go", "cpp"}),
        ("Go to the dashboard and read the p99 latency.", {"p99-latency"}),
        ("Released 2.4.0 on 2026-03-02 at 10:30 with 3 fixes in 20 minutes.", set()),
        ("See https://example.com/a/b and write to bo@example.com or [REDACTED:email].", set()),
        ("データベースはPostgreSQLを使用します。", {"データベース", "postgresql", "使用"}),
    ]
    for text, expected in cases:
        found = set(tags(text))
        assert expected <= found or found <= expected
        assert bool(found) == bool(expected) or found.isdisjoint({"released", "minutes", "see", "write", "example"})


def test_no_tag_repeats_another() -> None:
    found = tags(
        "API keys: an API key is a key for the API. Keys of the API are rotated. The API-key rotation rotates keys."
    )
    stems = [frozenset(terms(tag)) for tag in found]
    assert not any(a <= b for n, a in enumerate(stems) for m, b in enumerate(stems) if n != m)


def test_what_is_said_often_comes_first() -> None:
    text = (
        "The importer reads rows. Rows without a price stop the importer. Restart the importer by hand; see the wiki."
    )
    assert tags(text)[0] == "importer"


def test_the_path_has_a_say() -> None:
    assert tags("It is refreshed every hour.", path_hint="auth/tokens") == ("tokens", "auth")
    assert "http-client" in tags("It retries.", metadata={"source": "src/http/client.py"})


def test_code_and_patches_are_tagged_by_their_names() -> None:
    code = "class TokenStore:\n    def refresh(self):\n        return 1\n\ndef main():\n    pass\n"
    assert tags(code, metadata={"source": "src/auth/store.py"})[:3] == ("token-store", "refresh", "auth")
    patch = "diff --git a/src/auth/tokens.py b/src/auth/tokens.py\n@@ -1 +1 @@ def refresh():\n-a\n+b\n"
    assert set(tags(patch)) == {"tokens", "refresh", "auth"}
