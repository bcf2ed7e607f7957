"""The candidate: a memory to be stored in a space, or as a proposal in the inbox; and counts of stored candidates.

A proposal has a field `proposal` with the names of the given fields, so that accepting it is the same as remembering it; the
memory that it supersedes; the one that was at its path; and its path and id, since several proposals may have the same.
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
from memcli.safety.screening import ACCEPTED, UNTRUSTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from memcli.ports import Shelf


class Candidate(Record):
    """A memory to be stored: the `given` fields, and those that the semantic layer `derived` from them.

    `redactions` is the number of secrets that were removed, by kind.
    """

    given: Mapping[str, Any]
    derived: Mapping[str, Any]
    hash: str
    redactions: Mapping[str, int] = field(default_factory=dict)


def is_read(fields: Mapping[str, Any]) -> bool:
    """Whether these are the fields of a memory that was read from a file or imported."""
    return fields.get("provenance", {}).get("source") in READ_SOURCES


def is_observed(fields: Mapping[str, Any]) -> bool:
    """Whether these are the fields of a memory that was read from a file or a commit."""
    return bool(fields.get("provenance", {}).get("source") == OBSERVED)


_FIELD = "proposal"
_NOTED: Mapping[str, Shape] = {"given": TEXTS, "supersedes": TEXT, "path": TEXT, "id": TEXT}


def as_proposal(candidate: Candidate, supersedes: str | None, target: Json) -> Candidate:
    """The candidate as a proposal to supersede a memory, or to change `target`, the id and hash of the one at its path."""
    # The review refuses a proposal where the memory at its path is no longer this `target`.
    noted = {
        "given": sorted(candidate.given),
        "supersedes": supersedes,
        "target": target,
        "path": candidate.given.get("path"),
        "id": candidate.given.get("id"),
    }
    return replace(candidate, given={**candidate.given, _FIELD: noted})


def set_apart(candidate: Candidate, shelf: Shelf) -> Candidate:
    """The candidate with a path of its own in the inbox, where a proposal with another text has its path or id.

    One that was read from a file replaces the proposal that was read from that file before.
    """
    given = candidate.given
    there = shelf.get(given["id"]) if "id" in given else shelf.at(given["path"]) if "path" in given else None
    # It would replace that proposal, whose text is stored nowhere else.
    if there is None or there.hash == candidate.hash or is_read(given):
        return candidate
    base = given.get("path", there.path)
    marks = (short_digest(f"{candidate.hash}{n or ''}", 8) for n in count())
    path = next(free for mark in marks if shelf.at(free := marked(base, mark)) is None)
    return replace(candidate, given={**{k: v for k, v in given.items() if k != "id"}, "path": path})


def as_proposed(memory: Memory) -> Memory:
    """The proposal with the path that it was proposed for, which its path in the inbox may differ from."""
    path = note_of(memory).get("path")
    return replace(memory, path=path) if isinstance(path, str) else memory


def note_of(memory: Memory) -> Mapping[str, Any]:
    """The field `proposal` of a memory, empty when there is none."""
    noted = memory.extra.get(_FIELD)
    return noted if isinstance(noted, dict) else {}


def check_note(memory: Memory) -> None:
    """Checks the field `proposal` of a memory from another store. Raises UsageError."""
    noted = memory.extra.get(_FIELD, {})
    if not isinstance(noted, dict):
        raise UsageError(f"{_FIELD} must be an object", "export it again")
    values = {name: value for name, value in noted.items() if value is not None}
    for name, shape in _NOTED.items():
        if name in values and (wrong := problem(values[name], shape, f"{_FIELD}.{name}")):
            raise UsageError(wrong, "export it again")
    if "path" in values and check_path(values["path"]) != values["path"]:
        raise UsageError(f"the path {show(values['path'])} is not in Unicode normal form C", "export it again")
    if "id" in values:
        check_id(values["id"])


def with_note(memory: Memory, noted: Mapping[str, Json]) -> Memory:
    """The memory with this field `proposal`."""
    return replace(memory, extra={**memory.extra, _FIELD: dict(noted)})


def candidate_of(memory: Memory) -> tuple[Candidate, str | None]:
    """The candidate of a proposal, as it was proposed, and the id or path that it supersedes."""
    noted = note_of(memory)
    given = {*noted.get("given", []), "raw", "metadata"}
    fields = {name: getattr(as_proposed(memory), name) for name in MEMORY_FIELDS if name not in ("id", "version")}
    # Accepting inspects the text again, and sets these marks anew.
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
    """The summaries and chunks of a memory whose text becomes `raw`, and the tags, where these were derived and not given."""
    made = describe({"kind": memory.kind, "metadata": memory.metadata, "raw": raw})
    names = ("summary_micro", "summary_short", "summary_long", "chunks")
    # Tags that were made of the old text may name what the new one no longer says; tags that a user chose stay.
    tags = {"tags": made.get("tags")} if has_made_tags(describe, memory) else {}
    return {**{name: made.get(name) for name in names}, **tags}


def has_made_tags(describe: Describe, memory: Memory) -> bool:
    """Whether the tags of the memory were derived from its text, with its path as a hint or without, and not given."""
    if not memory.tags:
        return False
    given = {"kind": memory.kind, "metadata": memory.metadata, "raw": memory.raw, "content": memory.content}
    return any(
        tuple(describe({**given, **hint}).get("tags") or ()) == memory.tags for hint in ({"path": memory.path}, {})
    )


class WriteCounts(Record, frozen=False):
    """The number of candidates by status. `skipped` counts items without a candidate, by reason; `redactions` removed secrets,
    by kind."""

    created: int = 0
    updated: int = 0
    deduplicated: int = 0
    proposed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)

    def count(self, status: str) -> None:
        """Counts one candidate with this status."""
        setattr(self, status, getattr(self, status) + 1)

    def sorted_counts(self, *names: str) -> dict[str, Json]:
        """These counters for JSON, with sorted keys."""
        return {name: dict(sorted(getattr(self, name).items())) for name in names}

    def merge_counts(self, other: WriteCounts) -> None:
        """Adds the counts of another."""
        for name in ("created", "updated", "deduplicated", "proposed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped.update(other.skipped)
        self.redactions.update(other.redactions)
