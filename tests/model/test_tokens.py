"""Estimates of tokens."""

from __future__ import annotations

from memcli.model.tokens import count_tokens, cut_tokens
from tests.conftest import ROOT

COUNTED = {
    "We chose PostgreSQL because it supports row-level security, and the team already runs it in production.": 20,
    'def connect(url: str, *, timeout: float = 5.0) -> Connection:\n    """Opens a connection."""\n    if not url:\n'
    '        raise ValueError("url is empty")\n    return Connection(url, timeout)\n': 48,
    "@@ class BaseClient:\n-    def __init__(self, app=None):\n"
    "+    def __init__(self, app: typing.Optional[Callable[..., Any]] = None):\n         self._app = app\n": 47,
    "| option | meaning |\n|---|---|\n| `--budget` | at most so many tokens |\n| `--limit` | at most so many entries |\n": 35,
    "1. [mem_nr7thmrpr5lf] 2026-11-22 · decision · arch/sessions\n   Sessions live in Redis from now on.\n": 35,
    '{"id": "mem_a", "path": "arch/sessions", "kind": "decision", "tags": ["auth", "redis"], "pinned": false}': 37,
}
"""The most that o200k, cl100k and the public tokenizer of Claude count, as their own libraries gave it."""
FILES = {"LICENSE": 230, "memcli/embed/LICENSE-APACHE-2.0": 2270, "memcli/embed/NOTICE": 257}


def test_an_estimate_is_not_below_what_tokenizers_of_models_count_nor_far_above() -> None:
    assert [text for text, most in COUNTED.items() if not most <= count_tokens(text) < 1.7 * most] == []
    long = {name: count_tokens((ROOT / name).read_text()) for name in FILES}
    assert [name for name, most in FILES.items() if not most <= long[name] < 1.6 * most] == []


def test_what_is_cut_has_no_more_tokens_than_asked() -> None:
    for text in COUNTED:
        for most in range(40):
            cut = cut_tokens(text, most)
            assert cut == text or count_tokens(cut.removesuffix("…")) <= most
