"""Spaces and questions made of a number: small vocabularies, so that scores tie, and memories of every form."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

from memcli.model.memory import Memory
from memcli.model.recall import BACKENDS, Query
from memcli.model.space import Space
from tests.conftest import NOW

_WORDS = (
    "cache token invoice server deploy backup login index vector queue retry limit schema branch release zebra okapi tapir "
    "database PostgreSQL timeout HTTPServer parse_args --dry-run v2.4.1 config.toml read-only it's-a don't naïve Straße "
    "日本語 数据库 user's O'Neill-x the and of why chosen because"
).split()
_NAMES = ("Anna", "Tom", "Maria")
_KINDS = ("fact", "decision", "guide", "log", "diff", "negative", "procedure", "episode", "code", "preference")
_TAGS = ("auth", "db", "ops", "ui", "x" * 30)
_T = TypeVar("_T")


class Chance:
    """Numbers made of a seed: the same on every machine."""

    def __init__(self, seed: str) -> None:
        self._seed, self._n = seed, 0

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, but not, `limit`."""
        self._n += 1
        return int.from_bytes(sha256(f"{self._seed}/{self._n}".encode()).digest()[:6], "big") % limit

    def one(self, values: Sequence[_T]) -> _T:
        """One of the values; the first ones more often."""
        return values[min(self.below(len(values)), self.below(len(values)))]

    def words(self, most: int) -> str:
        """Up to so many words."""
        return " ".join(self.one(_WORDS) for _ in range(1 + self.below(most)))


def steps(seed: int) -> list[tuple[list[Memory], list[str]]]:
    """What is written one after the other: what is put, and the ids that are removed."""
    chance = Chance(f"space {seed}")
    count = 1 + chance.below((6, 40, 160)[chance.below(3)])
    ids = [f"mem_{n:03}" for n in range(count)]
    done: list[tuple[list[Memory], list[str]]] = []
    left = [*ids, *(chance.one(ids) for _ in range(chance.below(8)))]
    while left:
        size = 1 + chance.below(max(1, len(left)))
        some, left = left[:size], left[size:]
        gone = [chance.one(ids)] if not chance.below(3) else []
        put = {name: memory(chance, name, ids) for name in some}
        done.append((list(put.values()), [name for name in gone if name not in put]))
    return done


def memory(chance: Chance, name: str, ids: Sequence[str]) -> Memory:
    """A memory of this id, which may link to others."""
    kind = chance.one(_KINDS)
    group = chance.one(("", "s1", "s2", "c1", "c2"))
    times = [f"2025-{1 + chance.below(12):02}-{1 + chance.below(28):02}T{chance.below(24):02}:00:00Z" for _ in range(3)]
    metadata: dict[str, object] = {"group": group} if group else {}
    if kind == "log":
        metadata["speaker"] = chance.one(_NAMES)
    if not chance.below(3):
        metadata["source"] = f"docs/{chance.one(_TAGS)}.md"
    fields: dict[str, object] = {}
    if kind == "diff" and group:
        metadata |= {"subject": chance.words(4), "source": f"src/{chance.below(4)}.py"}
        fields["provenance"] = {"source": "observed", "commit": group}
    if not chance.below(6):
        fields["links"] = ({"to": chance.one(ids), "relation": "relates_to", "weight": chance.below(11) / 10},)
    if not chance.below(8):
        fields["valid_from" if chance.below(2) else "valid_until"] = times[2]
    if not chance.below(9):
        fields["superseded_by"] = chance.one(ids)
    if not chance.below(7):
        fields["triggers"] = (chance.one(_WORDS),)
    if not chance.below(7):
        fields["anchors"] = ({"file": f"src/{chance.below(3)}.py", "lines": [1, 9]},)
    if not chance.below(8):
        fields["content"] = {"goal": chance.words(5), "n": chance.below(9)}
    return Memory(
        id=name, path=f"{chance.one(_TAGS)}/{chance.one(_WORDS)}/{name}", kind=kind, raw=_raw(chance, kind, group),
        summary_micro=chance.words(6), summary_short=chance.words(9) if chance.below(2) else "",
        tags=tuple(sorted({chance.one(_TAGS) for _ in range(chance.below(3))})), metadata=metadata,
        relevance=chance.one(("medium", "high", "low")), pinned=not chance.below(12), active=bool(chance.below(10)),
        importance=None if chance.below(2) else chance.below(11) / 10, created_at=min(times[:2]), updated_at=max(times[:2]),
        **fields,
    )  # fmt: skip


def _raw(chance: Chance, kind: str, group: str) -> str:
    form = chance.below(6)
    if kind == "diff":
        message = f"Change {group}\n\n{chance.words(9)}" if group else chance.words(5)
        return f"{message}\n\nsrc/a.py\n@@ -1 +1 @@\n-{chance.words(6)}\n+{chance.words(6)}"
    if form == 0:
        parts = [f"## {chance.words(3)}\n\n{'. '.join(chance.words(12) for _ in range(9))}" for _ in range(4)]
        return f"# {chance.words(2)}\n\n" + "\n\n".join(parts)
    if form == 1:
        return "The zebra cache is small."  # the same text again and again
    return ". ".join(chance.words(14) for _ in range(1 + chance.below(4)))


def questions(seed: int, count: int) -> list[Query]:
    """Questions to such a space, some with filters."""
    chance = Chance(f"questions {seed}")
    return [question(chance) for _ in range(count)]


def question(chance: Chance) -> Query:
    """A question."""
    given: dict[str, object] = {}
    filters: Sequence[tuple[str, object]] = (
        ("kinds", (chance.one(_KINDS), chance.one(_KINDS))), ("without_kinds", (chance.one(_KINDS),)),
        ("tags", (chance.one(_TAGS),)), ("under", chance.one(_TAGS)), ("at", f"2025-{1 + chance.below(12):02}-10T00:00:00Z"),
        ("since", "2025-04-01T00:00:00Z"), ("until", "2025-09-01T00:00:00Z"), ("changed_since", "2025-06-01T00:00:00Z"),
        ("min_importance", chance.below(10) / 10), ("require_high_relevance", True), ("include_inactive", True),
        ("about", chance.words(3)), ("deadline", 60.0),
    )  # fmt: skip
    if not chance.below(2):
        name, value = filters[chance.below(len(filters))]
        given[name] = value
    topic = chance.words(7)
    if not chance.below(4):
        topic = f"What did {chance.one(_NAMES)} say about {topic} in May 2025?"
    backend = "fusion" if chance.below(2) else BACKENDS[chance.below(len(BACKENDS))]
    return Query(topic=topic, now=NOW, limit=1 + chance.below(12), backend=backend, **given)


def after(space: Space, put: Sequence[Memory], gone: Sequence[str]) -> Space:
    """The space after a write."""
    return space.drop(gone, NOW).put(put, NOW)
