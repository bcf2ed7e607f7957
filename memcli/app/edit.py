"""Edit, tag, pin, forget and purge memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memcli.app.candidate import follows
from memcli.app.catalogue import telling_where
from memcli.app.repo import Copies, over_main, references
from memcli.app.workspace import Workspace, load_space
from memcli.codec.canonical import encode
from memcli.codec.memory import check_memory, checked_fields, memory_from_json, memory_to_json
from memcli.codec.space import encode_space, memory_digest
from memcli.codec.splice import SpliceShelf
from memcli.errors import ChangedError, ConflictError, CorruptError, NotFoundError, UsageError
from memcli.model.links import elsewhere, is_found
from memcli.model.memory import SESSION, Json, Memory, increased
from memcli.model.names import check_tag, text_hash
from memcli.model.shapes import MEMORY_FIELDS
from memcli.model.space import Change
from memcli.model.usage import PIN_TOGGLE
from memcli.policy.draft import Draft, check_references, consistent, find, resolve_links
from memcli.policy.triggers import check_triggers
from memcli.ports import Shelf
from memcli.record import replace
from memcli.safety.screening import ACCEPTED, UNTRUSTED, screened, without_marks
from memcli.safety.secrets.redact_memory import FLAGS, with_flags
from memcli.settings import is_journal

_FIXED = ("id", "created_at", "updated_at", "version")


def alter(
    workspace: Workspace,
    refs: Sequence[str],
    change: Callable[[Memory, Shelf], Memory],
    related: Sequence[str] = (),
    digest: str | None = None,
) -> list[Memory]:
    """Applies `change` to the memories that `refs` name; returns the new versions, in that order.

    A memory that `change` returns unchanged is not written. A memory of a derived space is copied into `main`, and the copy is
    changed; `related` memories, which the new versions refer to, are copied too. Raises NotFoundError, and ChangedError when
    the `digest` given is not that of the stored memory; nothing is changed then.
    """
    workspace = over_main(workspace)
    now = workspace.clock()
    after: dict[str, Memory] = {}
    copies = Copies(workspace)

    def apply(shelf: Shelf) -> Change:
        # A store on a server may repeat the transaction, and with it this function.
        after.clear()
        draft = copies.over(shelf, refs, related)
        found = {memory.id: memory for memory in (copies.find(draft, ref) for ref in refs)}
        for ref in refs if digest is not None else ():
            # Of a memory that is copied now, the caller has read the original.
            check_digest(copies.original(ref) or copies.find(draft, ref), digest)
        for name, memory in found.items():
            # Somebody may have put a secret into the file by hand: a memory that is changed is redacted as a whole.
            (clean,) = workspace.redactor.rewrite([memory], shelf.header.policy)
            changed = change(clean, draft)
            after[name] = memory if changed == memory else _edition(memory, changed, now)
        put = copies.made | {name: m for name, m in after.items() if m is not found[name]}
        for memory in [after[name] for name, memory in found.items() if after[name].hash != memory.hash]:
            if any(is_found(link) for link in memory.links):
                from memcli.app.contradictions import settled

                over = Draft(draft)
                over.take(Change(tuple(put.values())))
                put |= {changed.id: changed for changed in settled(over, memory)}
        return Change(tuple(put.values()), now=now)

    with telling_where(workspace, refs):
        workspace.store.update(workspace.space, apply)
    copies.settle()
    return list(after.values())


def _at_home(
    workspace: Workspace,
    refs: Sequence[str],
    act: Callable[[Workspace, Sequence[str]], list[Memory]],
    *,
    below: bool = False,
) -> list[Memory]:
    """The result of `act` on the memories that `refs` name, in the journal of the space for those that only the journal has.
    With `below`, a path names all memories below it. Raises as `act`, and NotFoundError for the first that neither has."""
    # The space alone first: the journal is rarely meant, and reading it takes time.
    try:
        return act(workspace, refs)
    except NotFoundError:
        # Recall shows memories of the journal, too, so that users and agents refer to them here.
        journal = next((name for name in workspace.spaces_to_read[1:] if is_journal(name)), "")
        if not journal:
            raise
        stored, extracted = (
            Draft(SpliceShelf(encode_space(load_space(workspace.store, name)), name))
            for name in (workspace.space, journal)
        )
        own = [ref for ref in refs if not _names(stored, ref, below=below) and _names(extracted, ref, below=below)]
        if not own:
            raise
    others = [ref for ref in refs if ref not in own]
    done = act(workspace, others) if others else []
    return [*done, *act(workspace.copy_with(space=journal, is_alone=True, is_space_named=True), own)]


def _names(shelf: Shelf, ref: str, *, below: bool) -> bool:
    try:
        return bool(named(shelf, [ref], below))
    except NotFoundError:
        return False


def check_digest(memory: Memory, digest: str | None) -> None:
    """Raises ChangedError when a digest is given that is not that of the stored memory."""
    if digest is not None and memory_digest(memory) != digest:
        raise ChangedError(f"{memory.path} has changed", "read it again, and decide anew")


def pin(workspace: Workspace, refs: Sequence[str], pinned: bool, digest: str | None = None) -> list[Memory]:
    """Pins or unpins memories, and sets `updated_at` even where the pin does not change. Raises as `alter`."""
    now = workspace.clock()

    def act(over: Workspace, refs: Sequence[str]) -> list[Memory]:
        return alter(over, refs, lambda m, _: replace(m, pinned=pinned, updated_at=now), digest=digest)

    memories = _at_home(workspace, refs, act)
    workspace.counters.count(PIN_TOGGLE, workspace.space, amount=len(memories))
    return memories


def tag(
    workspace: Workspace, refs: Sequence[str], add: Sequence[str], remove: Sequence[str], digest: str | None = None
) -> list[Memory]:
    """Adds and removes tags. Raises UsageError for an invalid tag, and as `alter`."""
    redacted = workspace.redactor.take_in(workspace.space, {"tags": list(add)})
    added = [check_tag(text) for text in redacted.fields["tags"]]
    removed = frozenset(check_tag(text) for text in remove)

    def change(memory: Memory, _: Shelf) -> Memory:
        tags = dict.fromkeys([*memory.tags, *added])
        metadata = with_flags(memory.metadata, redacted.flags)
        return replace(memory, tags=tuple(t for t in tags if t not in removed), metadata=metadata)

    return _at_home(workspace, refs, lambda over, refs: alter(over, refs, change, digest=digest))


def edit(
    workspace: Workspace,
    ref: str,
    fields: Mapping[str, Json],
    expected: Memory | None = None,
    digest: str | None = None,
) -> tuple[Memory, Mapping[str, int]]:
    """Sets fields (null restores the default) and increases `version`; returns the memory, and the number of redactions by kind.

    Raises UsageError naming the invalid field; ConflictError when one of the fields is not as in `expected`, ChangedError when
    the `digest` given is not that of the stored memory.
    """
    for name in fields:
        if name in _FIXED:
            raise UsageError(f"{name} cannot be set", "memcli sets this field itself")
        if name not in MEMORY_FIELDS:
            raise UsageError(f"no field {name!r}", f"fields: {', '.join(sorted(MEMORY_FIELDS))}")

    if fields.get("anchors"):
        from memcli.app.anchors import anchored

        fields = anchored(workspace, fields)
    check_triggers(checked_fields(fields).get("triggers", ()))
    fields = _abroad(workspace, ref, fields)
    redacted = workspace.redactor.take_in(workspace.space, fields)
    clean = {name: redacted.fields[name] for name in fields}
    now = workspace.clock()

    def change(memory: Memory, shelf: Shelf) -> Memory:
        names = fields if expected is not None else ()
        changed = ["text" if n == "raw" else n for n in names if getattr(memory, n) != getattr(expected, n)]
        if changed:
            raise ConflictError(
                f"{', '.join(changed)} of {memory.path} has changed since it was opened", "save again to overwrite it"
            )
        raw = clean.get("raw")
        # Summaries and tags of the old text would keep statements that the new one no longer makes.
        made = follows(workspace.describe, memory, raw) if isinstance(raw, str) and raw.strip() else {}
        edited = _edited(shelf, memory, {**made, **clean}, redacted.flags, now)
        if edited.scope == SESSION != memory.scope and not edited.session:
            raise UsageError(
                "scope session needs a session", "`memcli remember --scope session` stores a memory of one"
            )
        other = shelf.at(edited.path)
        if other is not None and other.id != memory.id:
            raise ConflictError(f"the path {edited.path!r} belongs to {other.id}", "choose another path")
        if edited.links != memory.links or edited.superseded_by != memory.superseded_by:
            check_references(shelf, edited)
        return edited

    edited = _at_home(workspace, [ref], lambda over, refs: alter(over, refs, change, references(clean), digest))
    return edited[0], redacted.kinds


def _abroad(workspace: Workspace, ref: str, fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """The fields, in which new links to memories of other spaces have their ids. Raises NotFoundError, UsageError, RefusedError."""
    links = checked_fields(fields).get("links") or ()
    if not any(elsewhere(str(link["to"])) for link in links):
        return fields
    from memcli.app.catalogue import get
    from memcli.app.homes import resolve_abroad

    (memory,) = get(workspace, [ref], as_stored=True)
    return {**fields, "links": list(resolve_abroad(workspace, links, memory.links))}


def forget(
    workspace: Workspace, refs: Sequence[str], recursive: bool = False, digest: str | None = None
) -> list[Memory]:
    """Deactivates memories; with `recursive`, each of `refs` may be a path, and names all memories below it too.

    Raises NotFoundError, ChangedError.
    """

    def act(over: Workspace, refs: Sequence[str]) -> list[Memory]:
        if not recursive:
            return alter(over, refs, lambda memory, _: replace(memory, active=False), digest=digest)
        now = over.clock()
        gone: list[Memory] = []

        def apply(shelf: Shelf) -> Change:
            gone[:] = named(shelf, refs, recursive=True)
            return Change(tuple(_edition(m, replace(m, active=False), now) for m in gone if m.active), now=now)

        with telling_where(over, refs):
            over.store.update(over.space, apply)
        return gone

    return _at_home(workspace, refs, act, below=recursive)


def _edition(before: Memory, after: Memory, now: str) -> Memory:
    """`after` as the next version of `before`; a new `updated_at` alone does not increase the version."""
    is_edited = replace(after, updated_at=before.updated_at) != before
    return replace(after, updated_at=now, version=increased(before.version, is_edited))


def named(shelf: Shelf, refs: Sequence[str], recursive: bool) -> list[Memory]:
    """The memories that `refs` name, each once; with `recursive` also those below a path. Raises NotFoundError."""
    found: dict[str, Memory] = {}
    for ref in refs:
        below = shelf.under(ref.rstrip("/")) if recursive and ref.strip("/") else []
        for memory in below or [find(shelf, ref)]:
            found[memory.id] = memory
    if not found:
        raise NotFoundError("no memory named", "give an id or a path")
    return list(found.values())


def _edited(shelf: Shelf, memory: Memory, fields: dict[str, Json], flags: Sequence[str], now: str) -> Memory:
    """The memory with these fields, null for the default; references become ids, and links get their dates. `flags` are the kinds
    of redactions. Raises UsageError."""
    if fields.get("links"):
        fields["links"] = resolve_links(shelf, fields["links"], memory.links, now)
    if (ref := fields.get("superseded_by")) and (found := shelf.get(ref) or shelf.at(ref)):
        fields["superseded_by"] = found.id
    stored = memory_to_json(memory)
    data: dict[str, Any] = {**stored, **checked_fields(fields)}
    for name, value in fields.items():
        if value is None:
            data.pop(name, None)
    if "tags" in data:
        data["tags"] = list(dict.fromkeys(check_tag(t) for t in data["tags"]))
    if not str(data.get("raw", "")).strip() and data.get("content") is None:
        raise UsageError("a memory needs raw or content", "use `memcli forget` to remove a memory from recall")
    content = encode(data["content"]) if data.get("content") is not None else b""
    # Only the inspection of the text sets these marks: an edit can neither accept a memory nor clear it.
    marks = {name: stored["metadata"][name] for name in (UNTRUSTED, ACCEPTED) if name in stored["metadata"]}
    given = with_flags(without_marks(data.get("metadata", {})), [*flags, *memory.metadata.get(FLAGS, ())])
    if "conflicts" in given:
        from memcli.codec.merge import without_notes

        # Whoever edits a field has chosen its value.
        given = dict(without_notes(given, lambda note: note.get("field") in fields))
    data["metadata"] = {**given, **marks, "hash": text_hash(data.get("raw", ""), content)}
    if data.get("chunks"):
        data["chunks"] = [{**chunk, "chunk_id": f"{memory.id}#{n}"} for n, chunk in enumerate(data["chunks"])]
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in data.items()}
    try:
        edited = memory_from_json(listed, "the edited memory")
    except CorruptError as error:
        raise UsageError(error.message, "this field cannot be removed") from None
    check_memory(edited)
    return screened(consistent(edited))
