"""The desk: where candidates are put among the memories of a space, and what becomes of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memcli.codec.memory import LIST_FIELDS
from memcli.errors import UsageError
from memcli.model.ids import memory_id, short_digest
from memcli.model.memory import Json, Memory
from memcli.model.shapes import MEMORY_FIELDS, OBSERVED
from memcli.model.space import Change
from memcli.policy.anchoring import is_same_block
from memcli.policy.compaction import room_for
from memcli.policy.draft import Draft, find
from memcli.policy.pinning import is_auto_pinned
from memcli.policy.redact_memory import FLAGS, with_flags
from memcli.policy.replaced import Place, outdated
from memcli.policy.screening import UNTRUSTED, is_marked, screened
from memcli.ports import Shelf

_KEPT = ("id", "created_at", "updated_at", "version")
_OF_THE_PIECE = ("headings", "symbol")
"""What is told of a part of a file, and holds no longer where the file is cut otherwise."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory on its way in: the fields that were given, and those that the semantic layer added.

    `redactions` counts what was taken out of it, by kind.
    """

    given: Mapping[str, Any]
    derived: Mapping[str, Any]
    hash: str
    redactions: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """As it stands in a request."""
        return {"given": self.given, "derived": self.derived, "hash": self.hash}


class Desk:
    """Where candidates are put among the memories of a space, found by id, path and hash."""

    def __init__(self, shelf: Shelf, now: str) -> None:
        self._draft = Draft(shelf)
        self._space = shelf.header.name
        self._now = now
        self.changed: dict[str, Memory] = {}

    def take(self, candidate: Candidate) -> dict[str, Json]:
        """Puts one candidate among the memories; returns its outcome."""
        existing = self._existing(candidate)
        if existing is None:
            return self._put(self._create(candidate), "created")
        if "path" not in candidate.given and "id" not in candidate.given:
            return self._put(_confirmed(existing, candidate, self._now), "deduplicated")
        updated = self._merged(existing, candidate)
        if updated == existing:
            return _outcome("deduplicated", existing)
        return self._put(replace(updated, updated_at=self._now, version=existing.version + 1), "updated")

    def supersede(self, ref: str, by: str) -> None:
        """Marks the memory that `ref` names as superseded by the one of id `by`, and links the two."""
        old, new = find(self._draft, ref), find(self._draft, by)
        if old.id == by:
            raise UsageError(f"memory {by} cannot supersede itself", "give the new text a path of its own")
        link = {"to": old.id, "relation": "supersedes", "weight": 1.0, "created_at": self._now}
        if not any(known["to"] == old.id and known["relation"] == "supersedes" for known in new.links):
            self._keep(replace(new, links=(*new.links, link)))
        self._keep(replace(old, superseded_by=by, updated_at=self._now, version=old.version + 1))

    def retire(self, places: Sequence[Place], told: Collection[str]) -> list[dict[str, Json]]:
        """Deactivates what stands at `places` and was not `told` again."""
        return [self._put(memory, "retired") for memory in outdated(self._draft, places, told, self._now)]

    def make_room(self) -> frozenset[str]:
        """What must go, because the space would hold more than it may. Raises RefusedError."""
        return room_for(self._draft, self._draft.grown, self._now, self.changed)

    def _existing(self, candidate: Candidate) -> Memory | None:
        given = candidate.given
        if "id" in given:
            return self._draft.get(given["id"])
        if "path" in given:
            known = self._draft.at(given["path"]) or self._draft.get(memory_id(self._space, given["path"]))
            return None if known and _is_of_another_file(known, given) else known
        return self._draft.hashed(candidate.hash)

    def _create(self, candidate: Candidate) -> Memory:
        fields = {**candidate.derived, **candidate.given}
        path = self._free_path(fields["path"], candidate)
        name = fields.get("id") or self._free_id(path)
        fields.setdefault("created_at", self._now)
        fields.setdefault("updated_at", self._now)
        memory = _memory({**fields, "id": name, "path": path})
        if "pinned" in candidate.given:
            return memory
        return replace(memory, pinned=memory.pinned or is_auto_pinned(memory, self._draft.header.policy))

    def _free_path(self, path: str, candidate: Candidate) -> str:
        """`path`, or, where another memory has it, `path` with a digest that makes it this one's own."""
        other = self._draft.at(path)
        if other is None or other.id == candidate.given.get("id"):
            return path
        return f"{path[:200]}-{short_digest(candidate.given.get('id') or candidate.hash, 8)}"

    def _free_id(self, path: str) -> str:
        """The id of a memory at `path`; another one when it went on to another path with its file."""
        while self._draft.get(name := memory_id(self._space, path)) is not None:
            path += "~"
        return name

    def _merged(self, existing: Memory, candidate: Candidate) -> Memory:
        """`existing` with the fields given; what the text alone decides follows the text, the rest stays."""
        given = {k: v for k, v in candidate.given.items() if k not in _KEPT}
        if "path" in given and given["path"] != existing.path:
            given["path"] = self._free_path(given["path"], candidate)
        outdated_keys = _OF_THE_PIECE if _is_observed(given) else ()
        before = {k: v for k, v in existing.metadata.items() if k not in outdated_keys}
        given["metadata"] = _joined(before, given["metadata"])
        if _is_only_elsewhere(existing, given):
            del given["anchors"]
        if candidate.hash != existing.hash:
            follows = ("summary_micro", "summary_short", "summary_long")
            given = {**{k: candidate.derived[k] for k in follows if k in candidate.derived}, **given}
            given.setdefault("chunks", candidate.derived.get("chunks", ()))
        return _memory({**_fields(existing), **given, "active": given.get("active", True)})

    def _put(self, memory: Memory, status: str) -> dict[str, Json]:
        self._keep(memory)
        return _outcome(status, memory)

    def _keep(self, memory: Memory) -> None:
        self.changed[memory.id] = memory
        self._draft.take(Change((memory,)))


def _is_of_another_file(memory: Memory, given: Mapping[str, Any]) -> bool:
    """Whether `memory` once was where `given` is to be, and has gone elsewhere with its file."""
    return (
        memory.path != given["path"]
        and memory.active
        and (memory.metadata.get("source") != given["metadata"].get("source"))
    )


def _confirmed(existing: Memory, candidate: Candidate, now: str) -> Memory:
    """`existing`, told once more: stronger, with the tags and links that came along."""
    given = candidate.given
    return replace(
        existing,
        strength=existing.strength + 1,
        tags=_union(existing.tags, given.get("tags", ())),
        links=_union(existing.links, given.get("links", ())),
        anchors=given.get("anchors") or existing.anchors,
        metadata=with_flags(existing.metadata, given["metadata"].get(FLAGS, ())),
        pinned=given.get("pinned", existing.pinned),
        active=True,
        updated_at=now,
    )


def _is_only_elsewhere(existing: Memory, given: Mapping[str, Any]) -> bool:
    """Whether what was read from a file stands on other lines now, and is the same.

    Recall sees where; a line more at the top of a file is no reason to write all that is below it anew.
    """
    anchors = given.get("anchors", ())
    if not _is_observed(given) or not anchors or len(anchors) != len(existing.anchors):
        return False
    return all(is_same_block(old, new) for old, new in zip(existing.anchors, anchors, strict=True))


def _is_observed(given: Mapping[str, Any]) -> bool:
    return bool(given.get("provenance", {}).get("source") == OBSERVED)


def _joined(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, Json]:
    """Metadata of old and new, and the marks of all that was ever redacted."""
    return with_flags({**old, **new}, old.get(FLAGS, ()))


def _memory(fields: Mapping[str, Any]) -> Memory:
    """A memory from its fields; those that no version knows go to `extra`. Chunks bear the memory's id."""
    known: dict[str, Any] = {k: tuple(v) if k in LIST_FIELDS else v for k, v in fields.items() if k in MEMORY_FIELDS}
    extra = {**fields.get("extra", {}), **{k: v for k, v in fields.items() if k not in MEMORY_FIELDS and k != "extra"}}
    if known.get("chunks"):
        known["chunks"] = tuple({**chunk, "chunk_id": f"{known['id']}#{n}"} for n, chunk in enumerate(known["chunks"]))
    return screened(Memory(**known, extra=extra))


def _fields(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in (*MEMORY_FIELDS, "extra")}


def _union(first: Iterable[Any], second: Iterable[Any]) -> tuple[Any, ...]:
    merged = list(first)
    merged.extend(item for item in second if item not in merged)
    return tuple(merged)


def _outcome(status: str, memory: Memory) -> dict[str, Json]:
    told: dict[str, Json] = {"status": status, "id": memory.id, "path": memory.path, "version": memory.version}
    if is_marked(memory):
        told["untrusted"] = memory.metadata[UNTRUSTED]
    return told
