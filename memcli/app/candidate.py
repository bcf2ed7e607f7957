"""The candidate: a memory on its way into a space, or into the inbox as a proposal; and how many became what.

The field `proposal` says which fields were given, so that accepting a candidate is the same as remembering it; what it
supersedes; what was at its path; and its path and id, since several may wait for one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count

from memcli.errors import UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import check_id, check_path, marked, short_digest, show
from memcli.model.shapes import MEMORY_FIELDS, OBSERVED, READ_SOURCES, TEXT, TEXTS, Shape, problem
from memcli.record import Record, field, replace
from memcli.safety.injection import ACCEPTED, UNTRUSTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from memcli.ports import Shelf


class Candidate(Record):
    """A memory on its way in: the fields that were given, and those that the semantic layer added.

    `redactions` counts what was taken out of it, by kind.
    """

    given: Mapping[str, Any]
    derived: Mapping[str, Any]
    hash: str
    redactions: Mapping[str, int] = field(default_factory=dict)


def is_read(fields: Mapping[str, Any]) -> bool:
    """Whether the fields are those of a memory that was read from a file or another store."""
    return fields.get("provenance", {}).get("source") in READ_SOURCES


def is_observed(fields: Mapping[str, Any]) -> bool:
    """Whether the fields are those of a memory that was read from a file."""
    return bool(fields.get("provenance", {}).get("source") == OBSERVED)


_FIELD = "proposal"
_NOTED: Mapping[str, Shape] = {"given": TEXTS, "supersedes": TEXT, "path": TEXT, "id": TEXT}


def as_proposal(candidate: Candidate, supersedes: str | None, target: Json) -> Candidate:
    """The candidate as it waits: to supersede a memory, and, with a path, to change the `target` that is there."""
    noted = {
        "given": sorted(candidate.given),
        "supersedes": supersedes,
        "target": target,
        "path": candidate.given.get("path"),
        "id": candidate.given.get("id"),
    }
    return replace(candidate, given={**candidate.given, _FIELD: noted})


def set_apart(candidate: Candidate, shelf: Shelf) -> Candidate:
    """The candidate with a path of its own in the inbox, where another text waits for its path or has its id.

    What was read from a file takes the place of what was read there before.
    """
    given = candidate.given
    there = shelf.get(given["id"]) if "id" in given else shelf.at(given["path"]) if "path" in given else None
    if there is None or there.hash == candidate.hash or is_read(given):
        return candidate
    base = given.get("path", there.path)
    marks = (short_digest(f"{candidate.hash}{n or ''}", 8) for n in count())
    path = next(free for mark in marks if shelf.at(free := marked(base, mark)) is None)
    return replace(candidate, given={**{k: v for k, v in given.items() if k != "id"}, "path": path})


def as_proposed(memory: Memory) -> Memory:
    """The candidate at the path that it was proposed for."""
    path = note_of(memory).get("path")
    return replace(memory, path=path) if isinstance(path, str) else memory


def note_of(memory: Memory) -> Mapping[str, Any]:
    """What the field says; empty when there is none."""
    noted = memory.extra.get(_FIELD)
    return noted if isinstance(noted, dict) else {}


def check_note(memory: Memory) -> None:
    """Raises UsageError for a candidate from elsewhere whose field cannot be used."""
    noted = memory.extra.get(_FIELD, {})
    if not isinstance(noted, dict):
        raise UsageError(f"{_FIELD} must be an object", "export it again")
    told = {name: value for name, value in noted.items() if value is not None}
    for name, shape in _NOTED.items():
        if name in told and (wrong := problem(told[name], shape, f"{_FIELD}.{name}")):
            raise UsageError(wrong, "export it again")
    if "path" in told and check_path(told["path"]) != told["path"]:
        raise UsageError(f"the path {show(told['path'])} is not in Unicode normal form C", "export it again")
    if "id" in told:
        check_id(told["id"])


def with_note(memory: Memory, noted: Mapping[str, Json]) -> Memory:
    """The memory with the field."""
    return replace(memory, extra={**memory.extra, _FIELD: dict(noted)})


def candidate_of(memory: Memory) -> tuple[Candidate, str | None]:
    """What was proposed, as it would have been remembered, and what it supersedes."""
    noted = note_of(memory)
    given = {*noted.get("given", []), "raw", "metadata"}
    fields = {name: getattr(as_proposed(memory), name) for name in MEMORY_FIELDS if name not in ("id", "version")}
    fields["metadata"] = {k: v for k, v in memory.metadata.items() if k not in (UNTRUSTED, ACCEPTED)}
    if "id" in given:
        fields["id"] = noted.get("id") or memory.id
    for name in ("created_at", "updated_at"):
        if name not in given:
            del fields[name]
    rest = {name: value for name, value in memory.extra.items() if name != _FIELD}
    first = {name: value for name, value in fields.items() if name in given}
    second = {name: value for name, value in fields.items() if name not in given}
    supersedes = noted.get("supersedes")
    return Candidate({**first, **rest}, second, memory.hash), supersedes if isinstance(supersedes, str) else None


Describe: TypeAlias = "Callable[[Mapping[str, Any]], Mapping[str, Any]]"
"""The semantic layer: the fields that it adds to those of a memory."""


def follows(describe: Describe, memory: Memory, raw: str) -> dict[str, Any]:
    """The summaries, the chunks and, where they were made from the text and not given, the tags of a memory whose text
    becomes `raw`."""
    made = describe({"kind": memory.kind, "metadata": memory.metadata, "raw": raw})
    names = ("summary_micro", "summary_short", "summary_long", "chunks")
    tags = {"tags": made.get("tags")} if has_made_tags(describe, memory) else {}
    return {**{name: made.get(name) for name in names}, **tags}


def has_made_tags(describe: Describe, memory: Memory) -> bool:
    """Whether the tags of the memory are those that its text alone gives, with the path that was asked for or without."""
    if not memory.tags:
        return False
    given = {"kind": memory.kind, "metadata": memory.metadata, "raw": memory.raw, "content": memory.content}
    return any(
        tuple(describe({**given, **hint}).get("tags") or ()) == memory.tags for hint in ({}, {"path": memory.path})
    )


class WriteCounts(Record, frozen=False):
    """How many memories were stored, by what became of each. `skipped` counts what gave no memory, by reason;
    `redactions` what was taken out, by kind."""

    created: int = 0
    updated: int = 0
    deduplicated: int = 0
    proposed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)

    def count(self, status: str) -> None:
        """Counts one memory of this status."""
        setattr(self, status, getattr(self, status) + 1)

    def sorted_counts(self, *names: str) -> dict[str, Json]:
        """These counters, sorted."""
        return {name: dict(sorted(getattr(self, name).items())) for name in names}

    def merge_counts(self, other: WriteCounts) -> None:
        """Adds the counts of another."""
        for name in ("created", "updated", "deduplicated", "proposed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped.update(other.skipped)
        self.redactions.update(other.redactions)
