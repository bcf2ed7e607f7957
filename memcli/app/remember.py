"""Remember: put memories into a space. Check, describe, then, under the lock, find what is there and merge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode
from memcli.codec.memory import LIST_FIELDS, checked_fields
from memcli.errors import UsageError
from memcli.model.ids import memory_id, short_digest, text_hash
from memcli.model.memory import Json, Memory
from memcli.model.names import check_id, check_path, check_tag
from memcli.model.shapes import MEMORY_FIELDS
from memcli.model.space import Change
from memcli.policy.compaction import room_for
from memcli.policy.draft import Draft, find
from memcli.policy.pinning import is_auto_pinned
from memcli.policy.recalled import own_words
from memcli.policy.redact_memory import FLAGS, with_flags
from memcli.policy.replaced import Place, outdated
from memcli.policy.screening import UNTRUSTED, is_marked, screened, without_marks
from memcli.policy.triggers import check_triggers
from memcli.ports import Shelf

MAX_TEXT_BYTES = 1 << 20
"""The largest text of one memory: what is longer is a document, and belongs into several."""

_HINTS = ("path_hint", "project")
_WHEN_THERE = ("untrusted", "compacted")
_KEPT = ("id", "created_at", "updated_at", "version")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one candidate. `status` is `created`, `updated`, `deduplicated` or `proposed`; or, of a memory that
    no candidate told again, `retired`.

    `untrusted` says why recall will withhold it. `compacted` is how many memories had to go so that the space does not
    exceed its `max_objects`; the last candidate of a write has it.
    """

    status: str
    id: str
    path: str
    space: str
    version: int
    redactions: Mapping[str, int] = field(default_factory=dict)
    untrusted: Sequence[str] = ()
    compacted: int = 0

    def to_json(self) -> dict[str, Json]:
        names = ["status", "id", "path", "space", "version", "redactions"]
        return {name: getattr(self, name) for name in [*names, *(n for n in _WHEN_THERE if getattr(self, n))]}


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


def remember(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    may_wait: bool = False,
    places: Sequence[Place] = (),
) -> list[Outcome]:
    """Stores the candidates in one write; one outcome each, in order, and then one for each that was retired.

    `supersedes` names a memory that the last candidate takes the place of. What stands at `places` and is none of the
    candidates is deactivated. With `may_wait` nothing is stored, and there are no outcomes, where the policy of the
    space wants a review (see `app/inbox.py`).
    Raises NotFoundError, LockedError, CorruptError, StoreError; then nothing was stored.
    """
    if not candidates and not places:
        return []
    request = {**request_of(workspace, candidates, supersedes), "may_wait": may_wait, "places": list(places)}
    answer, receipt = workspace.store.submit(workspace.space, request)
    if not answer:
        return []
    redactions = (candidate.redactions for candidate in candidates)
    outcomes = [Outcome(space=workspace.space, redactions=next(redactions, {}), **one) for one in answer]
    return [*outcomes[:-1], replace(outcomes[-1], compacted=receipt.removed)]


def request_of(workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None = None) -> Json:
    """What `remember` asks of a store, for `fold` to do."""
    return {
        "now": workspace.clock(),
        "candidates": [candidate.to_json() for candidate in candidates],
        "supersedes": supersedes,
    }


def fold(shelf: Shelf, request: Json, may_compact: bool = True) -> tuple[Change, Json]:
    """What a request of `remember` makes of a space, and its outcomes.

    `may_compact`: what is least valuable may go. Raises NotFoundError, UsageError, RefusedError when the space is full and its policy lets nothing go.
    """
    if request.get("may_wait") and shelf.header.policy.review:
        return Change(), []
    desk = _Desk(shelf, request["now"])
    outcomes = [desk.take(Candidate(**candidate)) for candidate in request["candidates"]]
    if request["supersedes"]:
        desk.supersede(request["supersedes"], outcomes[-1]["id"])
    outcomes += desk.retire(request.get("places", ()), {known for o in outcomes for known in (o["id"], o["path"])})
    gone = desk.make_room() if may_compact else frozenset[str]()
    return Change(tuple(desk.changed.values()), gone, request["now"]), outcomes


def prepare(workspace: Workspace, fields: Mapping[str, Json]) -> Candidate:
    """A candidate from the fields that a user or a source gave. Raises UsageError naming the wrong one."""
    if fields.get("anchors"):
        from memcli.app.anchors import anchored

        fields = anchored(workspace, fields)
    given = checked_fields({k: v for k, v in fields.items() if k not in _HINTS})
    if "raw" in given:
        given["raw"] = own_words(given["raw"])
    _check_text(given)
    check_triggers(given.get("triggers", ()))
    project = {"project": workspace.project} if workspace.project else {}
    redacted = workspace.redactor.take_in(workspace.space, {**project, **fields})
    if redacted.kinds:
        given = checked_fields({k: v for k, v in redacted.fields.items() if k not in _HINTS})
    for name, check in (("path", check_path), ("id", check_id)):
        if name in given:
            given[name] = check(given[name])
    if "tags" in given:
        given["tags"] = tuple(dict.fromkeys(check_tag(tag) for tag in given["tags"]))
    hints = {name: redacted.fields[name] for name in _HINTS if redacted.fields.get(name)}
    content = encode(given["content"]) if "content" in given else b""
    derived = workspace.summarizer.describe({**hints, **given})
    digest = text_hash(given.get("raw", ""), content)
    metadata = {
        **({"project": hints["project"]} if "project" in hints else {}),
        "space": workspace.space,
        **without_marks(given.get("metadata", {})),
        "hash": digest,
    }
    return Candidate({**given, "metadata": metadata}, derived, digest, redacted.kinds)


def _check_text(given: Mapping[str, Any]) -> None:
    raw = given.get("raw", "")
    if not raw.strip() and "content" not in given:
        raise UsageError(
            "nothing to remember: the text is empty", "give a text, --file FILE, --object JSON, or pipe one in"
        )
    if len(raw.encode()) > MAX_TEXT_BYTES:
        raise UsageError(
            f"the text is {len(raw.encode()) / 1e6:.1f} MB; one memory holds at most 1 MB",
            "remember what matters of it, or `memcli ingest` the file",
        )


class _Desk:
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
        given["metadata"] = _joined(existing.metadata, given["metadata"])
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
