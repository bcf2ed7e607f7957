"""A store that stays open answers, to the last number, as one that is opened for the question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memcli import Memory
from memcli.app.purge import purge
from tests.conftest import NOW, memory, open_at, rewrite

WORDS = tuple("zebra tapir okapi quokka ibex deploy release pool lock index vector cache verify_token 0.28.1".split())
ASKED = ("zebra and tapir", "verify_token", "since which version is there a pool?", "unicorn")
VARIANTS: tuple[dict[str, Any], ...] = (
    {}, {"kind": ["fact"]}, {"limit": 3, "budget": 400}, {"about": "ibex and okapi"},
    {"weights": {"keyword": 0.9}, "recency_bias": 0.3}, {"include_inactive": True, "prefer_kind": ["diff"]},
    {"backend": "basic"}, {"backend": "graph"},
)  # fmt: skip


def sentence(n: int) -> str:
    return " ".join(WORDS[(n * k * 5 + k * k + n) % len(WORDS)] for k in range(3 + n * 7 % 23)) + "."


def text(n: int) -> str:
    parts = [f"# Part {n} of {WORDS[n % len(WORDS)]}", *(sentence(n + m) for m in range(1 + n % 4))]
    return "\n\n".join([*parts, "## Details", sentence(n + 9)])


@pytest.fixture
def root(tmp_path: Path) -> str:
    kinds = ("fact", "decision", "log", "guide", "diff")
    groups = [{"group": f"g{n % 4}"} if n % 3 else {} for n in range(40)]
    told = [memory(f"m{n}", raw=text(n), kind=kinds[n % 5], metadata=groups[n]) for n in range(40)]
    rewrite(open_at(tmp_path).store, lambda space: space.put(told, NOW))
    return str(tmp_path)


def opened(root: str) -> Memory:
    return Memory(root, freeze_clock="2026-02-01T00:00:00Z")


def told(store: Memory, asked: str, variant: dict[str, Any]) -> str:
    return json.dumps(store.recall(asked, explain=True, **variant), sort_keys=True)


def check(kept: Memory, root: str) -> None:
    found = 0
    for variant in VARIANTS:
        for asked in ASKED:
            with opened(root) as fresh:
                expected = told(fresh, asked, variant)
            assert told(kept, asked, variant) == expected
            found += '"reason": null' in expected or '"reason"' not in expected
    assert found


def test_it_answers_alike_before_and_after_writes_and_a_purge_by_another(root: str) -> None:
    with opened(root) as kept:
        check(kept, root)
        with opened(root) as other:
            name = other.remember("The zebra took the release lock of the pool.", path="notes/new", kind="fact")["id"]
        check(kept, root)
        with opened(root) as other:
            other.remember("No zebra at all, but one quokka.", path="notes/n3", kind="log")
            other.forget(name)
        gone = kept.recall("zebra and tapir")["sections"][0]["id"]
        purge(open_at(Path(root)), [gone], now=True)
        check(kept, root)
        assert gone not in told(kept, "zebra and tapir", {"limit": 50})
