"""Upsert: adds candidates to a space, or updates the memories that have the same id, path or text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, count

from memcli.app.candidate import Candidate, Describe, has_made_tags, is_observed, is_read
from memcli.codec.canonical import encode
from memcli.errors import UsageError
from memcli.model.links import SUPERSEDES, is_found, link_key, removal, union, without_dangling
from memcli.model.memory import Json, Memory, holds, increased
from memcli.model.names import marked, memory_id, short_digest, text_hash
from memcli.model.shapes import LIST_FIELDS, MEMORY_FIELDS
from memcli.model.space import Change
from memcli.policy.draft import Draft, check_references, consistent, find, is_auto_pinned
from memcli.policy.retention import Place, is_of_source, outdated, room_for
from memcli.record import Record, as_dict, replace
from memcli.safety.screening import UNTRUSTED, is_marked, screened
from memcli.safety.secrets.redact_memory import FLAGS, with_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.ports import Shelf

_PLACE = {"id", "path"}
"""The fields by which a candidate names the memory that it updates."""
_FIXED = ("id", "created_at", "updated_at", "version")
"""The fields that an update takes from the existing memory."""
_VALID: Mapping[str, Any] = {"superseded_by": None, "valid_until": None}
"""The fields of a memory that is stored again after its end, and is valid from now on."""
_OF_THE_PART = ("headings", "symbol")
"""Metadata of a part of a file, which do not apply to another part at the same path."""


class AdvisedStep(Record):
    """Advice to delete the memory `target`; `merged`, if any, is the new version of another memory that takes over its content."""

    target: Memory
    merged: Memory | None
    reason: str
    model: str

    def to_json(self) -> Json:
        """The step in the audit log, which has no text of a memory."""
        into = {"into": self.merged.id} if self.merged else {}
        return {"id": self.target.id, **into, "reason": self.reason, "model": self.model}


Follow = Callable[..., Sequence[AdvisedStep]]
"""Returns the advised steps that are still possible (see `extras/advice/advised.py`)."""


class Upserter:
    """Collects the changes to a space that a batch of candidates makes, in a draft over the stored space."""

    def __init__(
        self,
        shelf: Shelf,
        now: str,
        is_in_trash: Callable[[str], bool] = lambda _: False,
        describe: Describe = lambda _: {},
        follow: Follow = lambda *_: (),
    ) -> None:
        self.draft = Draft(shelf)
        self._describe, self._follow = describe, follow
        self._space = shelf.header.name
        self._now = now
        self._is_in_trash = is_in_trash
        self.changed: dict[str, Memory] = {}
        self.dropped: frozenset[str] = frozenset()
        self._linked: dict[str, None] = {}

    def take(self, candidate: Candidate) -> dict[str, Json]:
        """Adds a candidate, or updates the memory that has its id, path or text; returns the outcome."""
        candidate = replace(candidate, given=self._placed(self._resolved(candidate.given)))
        existing = self._existing(candidate)
        if existing is None:
            outcome = self._put(self._create(candidate), "created")
        elif not _PLACE & candidate.given.keys():
            outcome = self._put(_confirmed(existing, candidate, self._now), "deduplicated")
        elif (updated := self._merged(existing, candidate)) == existing:
            outcome = _outcome("deduplicated", existing)
        else:
            outcome = self._put(replace(updated, updated_at=self._now, version=increased(existing.version)), "updated")
        if candidate.given.get("links") or candidate.given.get("superseded_by"):
            self._linked[str(outcome["id"])] = None
        return outcome

    def supersede(self, ref: str, candidate: Candidate) -> dict[str, Json]:
        """Adds a candidate that supersedes the memory that `ref` names; returns the outcome.

        It inherits path, kind, tags and pin unless it has its own, or was stored before. Raises NotFoundError, UsageError.
        """
        old = find(self.draft, ref)
        candidate = replace(candidate, given=self._resolved(candidate.given))  # before the old memory gives up its path
        if candidate.hash == old.hash or candidate.given.get("id") == old.id:
            raise UsageError(
                f"memory {old.id} cannot supersede itself", "store the new text without the id of the old memory"
            )
        named = old
        if not _PLACE & candidate.given.keys() and (same := self._existing(candidate)) is not None:
            candidate = replace(candidate, given={**candidate.given, "id": same.id})
            named = same
        inherited: dict[str, Json] = {"path": named.path, "kind": named.kind, "tags": named.tags}
        if old.pinned:
            inherited["pinned"] = True
        candidate = replace(candidate, given={**inherited, **candidate.given})
        # It ends now, or when it had ended before, but not before it began.
        until = max(min(old.valid_until or self._now, self._now), old.valid_from or "")
        before = old
        old = replace(old, valid_until=until, updated_at=self._now, version=increased(old.version))
        if candidate.given["path"] == old.path:
            old = replace(old, path=self._free_path(marked(old.path, "superseded"), old.hash, old.id))
        self.keep(old)
        outcome = self.take(candidate)
        new = find(self.draft, str(outcome["id"]))
        link = {"to": old.id, "relation": SUPERSEDES, "weight": 1.0, "created_at": self._now}
        self.keep(replace(new, links=union(new.links, [link], link_key)))
        old = replace(old, superseded_by=new.id)
        # Superseding a memory once more by the same text changes nothing, as any repeated command.
        is_repeated = replace(old, updated_at=before.updated_at, version=before.version) == before
        self.keep(before if is_repeated else old)
        return outcome

    def merge(self, target: Sequence[str], candidate: Candidate) -> dict[str, Json] | None:
        """Strengthens the memory with the id and hash `target` instead of storing the candidate, which repeats it; stored memories
        with the text of the candidate become superseded by it. Returns the outcome; None where that memory is no longer valid,
        or has another text than when the two were compared."""
        first = self.draft.get(target[0])
        if first is None or not first.active or not holds(first, self._now) or first.hash != target[1]:
            return None
        for same in self.draft.find_by_hash(candidate.hash):
            if same.id != first.id and holds(same, self._now):
                ended = replace(same, superseded_by=first.id, valid_until=self._now, updated_at=self._now)
                self.keep(replace(ended, version=increased(same.version)))
        candidate = replace(candidate, given=self._resolved(candidate.given))
        return self._put(_confirmed(first, candidate, self._now), "deduplicated")

    def resolve_links(self, drop: bool = False) -> None:
        """Checks the targets of all given links, and replaces paths by ids, after all candidates were added: they may link to each
        other.

        Raises NotFoundError for a target that does not exist, unless such links are to be dropped; UsageError for a link of a
        memory to itself.
        """
        for name in self._linked:
            memory = find(self.draft, name)
            given = as_dict(memory)
            resolved = screened(consistent(_made({**given, **self._resolved(given)})))
            if drop:
                named = {*(link["to"] for link in resolved.links), resolved.superseded_by} - {None, name}
                resolved = without_dangling(resolved, {to for to in named if self.draft.get(to)}.__contains__)
            check_references(self.draft, resolved)
            if resolved != memory:
                self.keep(resolved)

    def retire(self, places: Sequence[Place], retained: Collection[str]) -> list[dict[str, Json]]:
        """Deactivates the memories at `places` that are not `retained`, by id or path; removes them from a derived space."""
        gone = outdated(self.draft, places, retained, self._now)
        # What was read can be read again; elsewhere somebody may want it back.
        if gone and self.draft.header.policy.is_derived:
            self.dropped = frozenset(memory.id for memory in gone)
            self._release(self.dropped)
            return [_outcome("retired", memory) for memory in gone]
        return [self._put(memory, "retired") for memory in gone]

    def make_room(self, advice: Json = None) -> tuple[frozenset[str], Sequence[AdvisedStep]]:
        """Selects the memories to delete where the space would exceed its `max_objects`: first by the `advice` of a model, as far
        as that is still possible. Returns their ids, and the steps of the advice. Raises RefusedError."""
        # Whoever stores a memory is told that it is stored: the same write must not delete it.
        spared = frozenset(self.changed)
        done = self._follow(self.draft, advice, spared, self._now, self._describe, self.keep) if advice else ()
        spared |= {step.merged.id for step in done if step.merged}
        gone = room_for(self.draft, self.draft.grown, self._now, spared, [step.target.id for step in done])
        if gone:
            self._release(gone)
        return gone, done

    def _release(self, gone: Collection[str]) -> None:
        """Removes the references of other memories to deleted ones."""
        for memory in removal(self.draft, gone, self._now).put:
            self.keep(memory)

    def _resolved(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """`given`, in which references have ids instead of paths, as far as their targets exist already."""
        resolved = dict(given)
        if given.get("links"):
            dated = ({"created_at": self._now, **link, "to": self._target(link["to"])} for link in given["links"])
            resolved["links"] = union((), dated, link_key)
        if given.get("superseded_by"):
            resolved["superseded_by"] = self._target(given["superseded_by"])
        return resolved

    def _target(self, ref: str) -> str:
        found = self.draft.get(ref) or self.draft.at(ref)
        return found.id if found is not None else ref

    def _placed(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """`given`; where its path belongs to a memory of another source, with a free path below. For memories read from files."""
        if "id" in given or "path" not in given or not is_read(given):
            return given
        # What a person stored at the path of a file would be replaced by what the file says, without a trace. The mark
        # is made of the path, so that the file finds its own memory the next time.
        path = given["path"]
        marks = (short_digest(f"{path}{n or ''}", 8) for n in count())
        places = chain([path], (marked(path, mark, "/") for mark in marks))
        free = (p for p in places if (other := self.draft.at(p)) is None or is_of_source(other, given))
        return {**given, "path": next(free)}

    def _existing(self, candidate: Candidate) -> Memory | None:
        given = candidate.given
        if "id" in given:
            return self.draft.get(given["id"])
        if "path" in given:
            return self.draft.at(given["path"])
        holding = [memory for memory in self.draft.find_by_hash(candidate.hash) if holds(memory, self._now)]
        return min(holding, key=lambda memory: not memory.active, default=None)

    def _create(self, candidate: Candidate) -> Memory:
        fields = {**candidate.derived, **candidate.given}
        path = self._free_path(fields["path"], candidate.hash, fields.get("id", ""))
        # The id of the path may belong to a memory that has moved, or is in the trash and can be restored.
        ids = (memory_id(self._space, path, number) for number in count(1))
        free = (one for one in ids if self.draft.get(one) is None and not self._is_in_trash(one))
        name = fields.get("id") or next(free)
        fields.setdefault("created_at", self._now)
        fields.setdefault("updated_at", self._now)
        memory = screened(consistent(_made({**fields, "id": name, "path": path})))
        if "pinned" in candidate.given:
            return memory
        return replace(memory, pinned=memory.pinned or is_auto_pinned(memory, self.draft.header.policy))

    def _free_path(self, path: str, seed: str, own: str) -> str:
        """`path`, or where a memory other than `own` has it, `path` marked with the first digest that makes it free."""
        free, marks = path, count()
        while (other := self.draft.at(free)) is not None and other.id != own:
            free = marked(path, short_digest(f"{own or seed}{next(marks) or ''}", 8))
        return free

    def _merged(self, existing: Memory, candidate: Candidate) -> Memory:
        """`existing` with the given fields. Fields that are derived from the text are derived again where it changes."""
        given = {k: v for k, v in candidate.given.items() if k not in _FIXED}
        if is_observed(given) and "created_at" in candidate.given and candidate.hash != existing.hash:
            given["created_at"] = candidate.given["created_at"]  # the date of the new content
        if "path" in given and given["path"] != existing.path:
            given["path"] = self._free_path(given["path"], candidate.hash, existing.id)
        outdated_keys = _OF_THE_PART if is_observed(given) else ()
        before = {k: v for k, v in existing.metadata.items() if k not in outdated_keys}
        content = given.get("content", existing.content)
        digest = text_hash(given.get("raw", existing.raw), encode(content) if content is not None else b"")
        # Flags of earlier redactions stay: the marks of removed secrets may still be in the text.
        given["metadata"] = {**with_flags({**before, **given["metadata"]}, before.get(FLAGS, ())), "hash": digest}
        anchors = given.get("anchors", ())
        if is_observed(given) and anchors and len(anchors) == len(existing.anchors):
            from memcli.code.anchors import is_same_block

            # Code that is unchanged on other lines keeps its anchors: recall finds the present lines, and a new line at the top
            # of a file would otherwise rewrite the memories of all parts below it.
            if all(is_same_block(old, new) for old, new in zip(existing.anchors, anchors, strict=True)):
                del given["anchors"]
        if digest != existing.hash:
            follows = ("summary_micro", "summary_short", "summary_long")
            given = {**{k: candidate.derived[k] for k in follows if k in candidate.derived}, **given}
            given.setdefault("chunks", candidate.derived.get("chunks", ()))
            if "tags" not in given and "tags" in candidate.derived and has_made_tags(self._describe, existing):
                given["tags"] = candidate.derived["tags"]
        if "links" in given:  # links that are given again keep their date; those of supersessions and of the check stay
            known = {link_key(link): link for link in existing.links}
            lasting = [link for link in existing.links if link["relation"] == SUPERSEDES or is_found(link)]
            given["links"] = union(lasting, (known.get(link_key(k), k) for k in given["links"]), link_key)
        # A user or agent states that an ended memory is true again; a file that is read once more states nothing new.
        is_valid_again = not is_read(given) and not holds(existing, self._now)
        revived = {"active": True, **(_VALID if is_valid_again else {})}
        return screened(consistent(_made({**as_dict(existing), **revived, **given})))

    def _put(self, memory: Memory, status: str) -> dict[str, Json]:
        self.keep(memory)
        return _outcome(status, memory)

    def keep(self, memory: Memory) -> None:
        """Adds or replaces a memory in the draft."""
        self.changed[memory.id] = memory
        self.draft.take(Change((memory,)))


def _confirmed(existing: Memory, candidate: Candidate, now: str) -> Memory:
    """`existing` after it was remembered once more: stronger, with the tags and links of the candidate too."""
    given = candidate.given
    return replace(
        existing,
        strength=increased(existing.strength),
        tags=union(existing.tags, given.get("tags", ())),
        links=union(existing.links, given.get("links", ()), link_key),
        anchors=given.get("anchors") or existing.anchors,
        metadata=with_flags(existing.metadata, given["metadata"].get(FLAGS, ())),
        pinned=given.get("pinned", existing.pinned),
        active=True,
        updated_at=now,
    )


def _made(fields: Mapping[str, Any]) -> Memory:
    """A memory from its fields; unknown ones go to `extra`. Chunks get ids made of the id of the memory."""
    known: dict[str, Any] = {k: tuple(v) if k in LIST_FIELDS else v for k, v in fields.items() if k in MEMORY_FIELDS}
    extra = {**fields.get("extra", {}), **{k: v for k, v in fields.items() if k not in MEMORY_FIELDS and k != "extra"}}
    if known.get("chunks"):
        known["chunks"] = tuple({**chunk, "chunk_id": f"{known['id']}#{n}"} for n, chunk in enumerate(known["chunks"]))
    return Memory(**known, extra=extra)


def _outcome(status: str, memory: Memory) -> dict[str, Json]:
    outcome: dict[str, Json] = {"status": status, "id": memory.id, "path": memory.path, "version": memory.version}
    if is_marked(memory):
        outcome["untrusted"] = memory.metadata[UNTRUSTED]
    return outcome
