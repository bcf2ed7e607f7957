"""Bundles: export a space to a file, and import one.

Import what another tool remembers, and which of its decisions supersede others.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from memcli.app.candidate import Candidate, WriteCounts
from memcli.app.inbox import offer, propose
from memcli.app.remember import fold, prepare, request_of
from memcli.app.workspace import Workspace, load, load_space
from memcli.codec.audit import purged
from memcli.codec.bundle import FORMATS, MAX_OBJECTS, Export, check_size, seal
from memcli.codec.canonical import encode
from memcli.codec.memory import check_hashes, memory_from_json, memory_to_json
from memcli.codec.signature import MissingExtraError, verify
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import CorruptError, NotFoundError, RefusedError, UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import marked, short_digest, show, text_hash
from memcli.model.references import removal
from memcli.model.shapes import MEMORY_FIELDS
from memcli.model.space import Change, Space, change_between, is_under
from memcli.policy.draft import Draft, IntakePlan, plan_intake
from memcli.policy.retention import room_for
from memcli.ports import Shelf, Source
from memcli.record import Record, field, replace
from memcli.safety.secrets.redact_memory import redact_fields

_COUNTS = ("created", "updated", "unchanged", "kept", "removed")


class Selection(Record):
    """Which memories to hand on: of one of the kinds, with all of the tags, at or below a path. Empty: all."""

    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()
    under: str = ""

    def takes(self, memory: Memory) -> bool:
        """Whether the memory is one of them."""
        return (
            (not self.kinds or memory.kind in self.kinds)
            and all(tag in memory.tags for tag in self.tags)
            and is_under(memory.path, self.under)
        )

    def told(self) -> dict[str, list[str]]:
        """The filters that are set, by the names of their options."""
        told = {"kind": sorted(set(self.kinds)), "tag": sorted(set(self.tags)), "under": [self.under.strip("/")]}
        return {name: values for name, values in told.items() if any(values)}


class BundleImport(Record):
    """What an import did, or with `dry_run` would do. `signed_by` is a fingerprint; empty when there is none."""

    space: str
    plan: IntakePlan
    signed_by: str = ""
    is_signed: bool = False
    dry_run: bool = False
    redactions: Mapping[str, int] = field(default_factory=dict)
    proposed: int = 0

    def to_json(self) -> dict[str, Json]:
        counts = {**{name: getattr(self.plan, name) for name in _COUNTS}, "proposed": self.proposed}
        return {
            "space": self.space, **counts, "policy": self.plan.policy, "signed": self.is_signed,
            "signed_by": self.signed_by or None, "dry_run": self.dry_run, "redactions": dict(self.redactions),
        }  # fmt: skip


def export_space(
    workspace: Workspace,
    name: str,
    selection: Selection,
    sign: Callable[[bytes], str] | None = None,
    *,
    redact: bool = False,
) -> Export:
    """The space `name`, or what is selected of it, ready to be written; with `redact` without what is secret in it.

    Raises NotFoundError, CorruptError; RefusedError for a private space, and for secrets that may not be taken out.
    """
    if not workspace.has_space(name):
        raise NotFoundError(f"no space {name!r}", "`memcli space list` lists the spaces")
    with closing(workspace.store.open(name)) as snapshot:
        space = snapshot.header()
        if not selection.told():
            check_size(name, sum(1 for _ in snapshot.records()))
    if space.policy.is_private:
        raise RefusedError(
            f"space {name!r} is private (policy.visibility) and cannot be exported",
            f"`memcli space policy {name} --unset visibility` shares it",
        )
    space = load(workspace, name)
    part = selection.told()
    if part:
        space = replace(space, objects=tuple(m for m in space.objects if selection.takes(m)))
    clean, count = workspace.redactor.clean_space(space)
    if count and not redact:
        places = "1 place has" if count == 1 else f"{count} places have"
        raise RefusedError(
            f"{places} secrets in the export of space {name!r}",
            "`memcli check secrets` shows where; --redact exports without them",
        )
    return seal(clean, part, sign)


def written(export: Export, form: str) -> Iterator[bytes]:
    """The export in one of the formats, piece by piece."""
    return FORMATS[form].encode(export)


def import_bundle(
    workspace: Workspace,
    export: Export,
    where: str,
    *,
    into: str | None = None,
    mode: str = "merge",
    trusted: frozenset[str] | None = None,
    dry_run: bool = False,
) -> BundleImport:
    """Imports an export into the space `into` (by default the one it names): all of it, or nothing.

    See `plan_intake` for `mode`. With `trusted`, fingerprints of keys, one of them must have signed it. With `dry_run`,
    nothing is stored. If the policy of the space wants a review, the memories go into the inbox. What was purged here for
    good, and not made anew since, is left out with a warning, whatever the mode.

    Raises CorruptError if it has a wrong signature or is invalid, UsageError for a part that is to
    replace a space, RefusedError, LockedError, StoreError.
    """
    signed_by = check_signature(export.hash, export.signature, where, trusted)
    if export.part and mode == "replace":
        raise UsageError(
            f"{where} holds a part of space {export.space.name!r} ({_told(export.part)})",
            "a part cannot replace a whole space; use --mode merge",
        )
    check_hashes(export.space.objects, where)
    target = into or export.space.name
    incoming, redactions = redacted(workspace, target, _without_purged(workspace, target, export.space))
    plan, proposed = take_in(workspace, target, incoming, mode, dry_run=dry_run)
    return BundleImport(target, plan, signed_by, bool(export.signature), dry_run, redactions, proposed)


def _without_purged(workspace: Workspace, target: str, incoming: Space) -> Space:
    """The space without what was purged for good from it here, or from the space that it goes into."""
    gone: dict[str, str] = {}
    for space in {incoming.name, target}:
        gone |= purged(workspace.audit.read(space))
    there = {memory.id for memory in load_space(workspace.store, target).objects} if gone else set()
    left = [m for m in incoming.objects if m.id in gone and m.created_at <= gone[m.id] and m.id not in there]
    if not left:
        return incoming
    paths = ", ".join(show(memory.path) for memory in left[:5])
    what = f"{len(left)} memories that were" if len(left) > 1 else "1 memory that was"
    workspace.warn(f"{what} purged here left out: {paths} (to have one again, store it with `memcli remember`)")
    return replace(incoming, objects=tuple(memory for memory in incoming.objects if memory not in left))


def take_in(workspace: Workspace, target: str, incoming: Space, mode: str, *, dry_run: bool) -> tuple[IntakePlan, int]:
    """Takes `incoming`, which was redacted, into the space `target`, or with `dry_run` stores nothing; the plan, and how many
    memories go into the inbox instead, since the policy wants a review."""
    plan = _try_intake(workspace, target, incoming, mode) if dry_run else _take_in(workspace, target, incoming, mode)
    return (plan, 0) if plan is not None else _proposed(workspace, target, incoming, dry_run)


def _try_intake(workspace: Workspace, target: str, incoming: Space, mode: str) -> IntakePlan | None:
    """What `_take_in` would do; stores nothing."""
    shelf = SpliceShelf(encode_space(load_space(workspace.store, target)), target)
    _, plan = _intake(shelf, incoming, mode, workspace.clock())
    return plan


def _take_in(workspace: Workspace, target: str, incoming: Space, mode: str) -> IntakePlan | None:
    """Stores what comes in; returns the plan, or None if the policy wants a review and nothing was stored."""
    _bring(workspace, target, incoming)
    plan: IntakePlan | None = None

    def apply(shelf: Shelf) -> Change:
        nonlocal plan
        change, plan = _intake(shelf, incoming, mode, workspace.clock())
        return change

    workspace.store.update(target, apply)
    return plan


def _intake(shelf: Shelf, incoming: Space, mode: str, now: str) -> tuple[Change, IntakePlan | None]:
    """The change that takes `incoming` into the space, and the plan for it, None if the policy wants a review."""
    if shelf.header.policy.review:
        return Change(), None
    space = shelf.load()
    is_new = not space.objects and not space.updated_at
    plan = plan_intake(space, incoming, mode, is_new)
    change = change_between(space, plan.after)
    if mode == "replace":
        change = replace(change, displaced=frozenset(memory.id for memory in change.put))
    change = replace(change, header=plan.after) if is_new else change  # an empty space is created all the same
    return _with_room(shelf, change, plan.created, now), plan


def _with_room(shelf: Shelf, change: Change, created: int, now: str) -> Change:
    """`change`, and what must go for it. Raises RefusedError when the policy of the space lets nothing go."""
    draft = Draft(shelf)
    draft.take(change)
    gone = room_for(draft, created, now, {m.id for m in change.put})
    if not gone:
        return change
    released = removal(draft, gone, now)
    put = {memory.id: memory for memory in (*change.put, *released.put)}
    return replace(change, put=tuple(put.values()), drop=change.drop | gone)


def _bring(workspace: Workspace, target: str, incoming: Space) -> None:
    """Notes what comes from elsewhere, before it comes: a crash between the two leaves nothing that looks reviewed."""
    known = load_space(workspace.store, target)
    if not known.policy.review:
        there = {memory.id: memory for memory in known.objects}
        workspace.trust.bring(target, [m.id for m in incoming.objects if there.get(m.id) != m])


def _proposed(workspace: Workspace, target: str, incoming: Space, dry_run: bool) -> tuple[IntakePlan, int]:
    """Puts the memories of the bundle into the inbox; returns the plan and how many were proposed."""
    if dry_run:
        return IntakePlan(incoming), len(incoming.objects)
    candidates = [
        Candidate({name: getattr(m, name) for name in MEMORY_FIELDS if name != "version"}, {}, m.hash)
        for m in incoming.objects
    ]
    outcomes = propose(workspace.copy_with(space=target), candidates)
    proposed = sum(outcome.status == "proposed" for outcome in outcomes)
    return IntakePlan(incoming, unchanged=len(outcomes) - proposed), proposed


def redacted(workspace: Workspace, target: str, incoming: Space) -> tuple[Space, Mapping[str, int]]:
    """What came, without what is secret in it, and what that was. A space that is there already decides by its policy."""
    redactor = workspace.redactor
    is_new = target not in workspace.store.spaces()
    detector = redactor.by_policy(incoming.policy.pii_redaction) if is_new else redactor.detector(target)
    header = redact_fields(detector, {"metadata": incoming.metadata})
    kinds = Counter(header.kinds)
    objects = []
    for memory in incoming.objects:
        redacted = redact_fields(detector, memory_to_json(memory))
        kinds.update(redacted.kinds)
        objects.append(_rehashed(redacted.fields) if redacted.kinds else memory)
    return replace(incoming, metadata=header.fields["metadata"], objects=tuple(objects)), kinds


def _rehashed(fields: Mapping[str, Json]) -> Memory:
    """The memory of these fields, with the digest of the text that it now has."""
    content = encode(fields["content"]) if fields.get("content") is not None else b""
    metadata = {**fields["metadata"], "hash": text_hash(fields["raw"], content)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    return memory_from_json({**plain, "metadata": metadata}, "the bundle")


def check_signature(digest: str, signature: str, where: str, trusted: frozenset[str] | None) -> str:
    """The fingerprint of the key that signed a digest; empty for none, or when it cannot be checked here and need not be.

    Raises CorruptError for a wrong signature, and with `trusted` unless it is by one of these keys.
    """
    if not signature:
        if trusted is not None:
            raise CorruptError(f"{where} is not signed", "ask for an export made with --sign")
        return ""
    try:
        signed_by = verify(digest.encode(), signature, where)
    except MissingExtraError:
        if trusted is not None:
            raise
        return ""
    if trusted is not None and signed_by not in trusted:
        raise CorruptError(f"{where} is signed by {signed_by}, which is not a trusted key", "check who created it")
    return signed_by


def _told(part: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{name} {' '.join(values)}" for name, values in sorted(part.items()))


class Adopted(WriteCounts, frozen=False):
    """What was, or with `dry_run` would be, done. `found` counts the files by what they were read as."""

    space: str = ""
    found: Counter[str] = field(default_factory=Counter)
    dry_run: bool = False

    def to_json(self) -> dict[str, Json]:
        counts = {name: getattr(self, name) for name in ("space", "created", "updated", "proposed", "dry_run")}
        return {**counts, "unchanged": self.deduplicated, **self.told("found", "skipped", "redactions")}


def adopt(workspace: Workspace, source: Source, found: Counter[str], dry_run: bool = False) -> Adopted:
    """Stores what `source` yields, all of it in one write; importing the same again changes nothing.

    The source gives links by the paths of their memories, and counts in `found` what it read. With `dry_run`, nothing is
    stored. Raises what the source raises, UsageError for more than fits, LockedError, CorruptError, StoreError.
    """
    done = Adopted(space=workspace.space, dry_run=dry_run)
    shelf = _shelf(workspace)
    candidates = with_stored(shelf, list(_prepared(workspace, source, _Places(shelf), done.skipped)))
    _, outcomes = fold(shelf, request_of(workspace, candidates))
    statuses = [outcome["status"] for outcome in outcomes]
    if not dry_run:
        if not shelf.header.policy.review:  # before they come: a crash must leave nothing that looks reviewed
            workspace.trust.bring(workspace.space, [o["id"] for o in outcomes if o["status"] in ("created", "updated")])
        statuses = [outcome.status for outcome in offer(workspace, candidates).outcomes]
    for status in statuses:
        done.count(status)
    for candidate in candidates:
        done.redactions.update(candidate.redactions)
    done.skipped.update(source.skipped)
    done.found.update(found)
    return done


class _Places:
    """Where each memory goes. One that is there and came from elsewhere is not touched."""

    def __init__(self, shelf: SpliceShelf) -> None:
        self._shelf = shelf

    def path(self, fields: Mapping[str, Any]) -> str:
        """The path for what a source would put at `fields["path"]`."""
        return self._free(fields["path"], fields["metadata"]["source"])

    def _free(self, path: str, source: str) -> str:
        return path if _is_of(self._shelf.at(path), source) else marked(path, short_digest(source, 8), "~")


def _is_of(memory: Memory | None, source: str) -> bool:
    return memory is None or memory.metadata.get("source") == source


def _prepared(workspace: Workspace, source: Source, places: _Places, skipped: Counter[str]) -> Iterator[Candidate]:
    candidates = list(source.candidates())
    if len(candidates) > MAX_OBJECTS:
        raise UsageError(f"{len(candidates)} memories; one import takes at most {MAX_OBJECTS}", "import it in parts")
    fit: dict[str, Candidate] = {}
    for fields in candidates:
        plain = {name: value for name, value in fields.items() if name not in ("links", "superseded_by")}
        try:
            fit[str(fields["path"])] = prepare(workspace, {**plain, "path": places.path(fields)})
        except UsageError:
            skipped["unfit"] += 1  # too long, say: the rest is worth having
    for fields in candidates:
        if candidate := fit.get(str(fields["path"])):
            yield replace(candidate, given={**candidate.given, **_linked(fields, fit)})


def _linked(fields: Mapping[str, Any], fit: Mapping[str, Candidate]) -> dict[str, Json]:
    """The links, to where the memories that they lead to go; those to what was not fit are left out."""
    linked: dict[str, Json] = {}
    if links := [_relinked(link, fit) for link in fields.get("links", ()) if link["to"] in fit]:
        linked["links"] = tuple(links)
    if (successor := fields.get("superseded_by")) in fit:
        linked["superseded_by"] = fit[str(successor)].given["path"]
    return linked


def _relinked(link: Mapping[str, Any], fit: Mapping[str, Candidate]) -> dict[str, Json]:
    return {**link, "to": fit[link["to"]].given["path"]}


def _shelf(workspace: Workspace) -> SpliceShelf:
    return SpliceShelf(encode_space(load_space(workspace.store, workspace.space)), workspace.space)


def with_stored(shelf: Shelf, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, each at a path, tied to the decisions that are stored; and, unless the space wants a review, one for
    each stored decision that one of them supersedes or is superseded by."""
    named = {name: n for n, candidate in enumerate(candidates) for name in _names(candidate.given["metadata"])}
    if not any(_is_decision(candidate.given["metadata"]) for candidate in candidates):
        return list(candidates)
    refs = [candidate.given["path"] for candidate in candidates]
    given = frozenset(refs)
    stored = [m for m in shelf.load().objects if _is_decision(m.metadata) and m.path not in given]
    known = {name: memory for memory in stored for name in _names(memory.metadata)}
    tied = list(candidates)
    changes: dict[str, dict[str, Any]] = {}

    def tie(newer: str, older: str) -> None:
        if successor(newer) == older:  # each says that it replaces the other: the first one stays in force
            return
        for name, change in ((older, {"superseded_by": newer}), (newer, {"links": [_link(older)]})):
            if name in given:
                n = refs.index(name)
                tied[n] = replace(tied[n], given=_with(tied[n].given, change))
            else:
                memory = next(m for m in stored if m.id == name)
                changes[name] = _with(changes.get(name, {"links": memory.links}), change)

    def successor(name: str) -> str | None:
        if name in given:
            return tied[refs.index(name)].given.get("superseded_by")
        stored_one = next(m for m in stored if m.id == name)
        return changes.get(name, {}).get("superseded_by", stored_one.superseded_by)

    for candidate, name in zip(candidates, refs, strict=True):
        metadata = candidate.given["metadata"]
        for older in _list(metadata, "supersedes"):
            if older in known:
                tie(name, known[older].id)
        for newer in _list(metadata, "superseded_by"):
            if newer in known:
                tie(known[newer].id, name)
    for memory in stored:
        for older in _list(memory.metadata, "supersedes"):
            if older in named:
                tie(memory.id, refs[named[older]])
        for newer in _list(memory.metadata, "superseded_by"):
            if newer in named:
                tie(refs[named[newer]], memory.id)
    if shelf.header.policy.review:
        return tied
    return [*tied, *(_update(memory, changes[memory.id]) for memory in stored if memory.id in changes)]


def _update(memory: Memory, fields: Mapping[str, Any]) -> Candidate:
    given = {**fields, "id": memory.id, "metadata": {}, "active": memory.active}
    if fields.get("superseded_by"):
        given["active"] = True  # a reader is led to what holds now, as with any other that was superseded
    return Candidate(given, {}, memory.hash)


def _with(fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    if "links" not in more:
        return {**fields, **more, "active": True}
    (link,) = more["links"]
    links = list(fields.get("links", ()))
    if not any(known["to"] == link["to"] and known["relation"] == "supersedes" for known in links):
        links.append(link)
    return {**fields, "links": tuple(links)}


def _link(older: str) -> dict[str, str]:
    return {"to": older, "relation": "supersedes"}


def _is_decision(metadata: Mapping[str, Any]) -> bool:
    return bool(_names(metadata)) and any(name in metadata for name in ("number", "supersedes", "superseded_by"))


def _names(metadata: Mapping[str, Any]) -> list[str]:
    """What other records may call this one, as `ingest/decisions.py` names them."""
    source, number = metadata.get("source"), metadata.get("number")
    if not isinstance(source, str):
        return []
    return [f"file:{source}", *([f"adr:{posixpath.dirname(source)}/{number}"] if isinstance(number, str) else [])]


def _list(metadata: Mapping[str, Any], name: str) -> list[str]:
    value = metadata.get(name, ())
    found = [value] if isinstance(value, str) else value
    return [one for one in found if isinstance(one, str)] if isinstance(found, list | tuple) else []
