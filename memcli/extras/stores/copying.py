"""Copies whole spaces from one store to another without loss: memories, header, audit log and trash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

from memcli.app.workspace import Workspace, load_space
from memcli.codec.audit import act_key, bare, entries, verify
from memcli.codec.canonical import encode_line
from memcli.codec.memory import AT_ITS_SOURCE, check_memories
from memcli.codec.run import run_bytes
from memcli.codec.space import check_writable, encode_full, encode_memory, header_to_json
from memcli.digests import sha256
from memcli.errors import CorruptError, NotFoundError, RefusedError, StoreError, from_elsewhere
from memcli.model.links import Run
from memcli.model.memory import Json
from memcli.model.names import counted
from memcli.model.space import Change, Space
from memcli.policy.draft import plan_intake
from memcli.ports import Progress, Shelf
from memcli.record import Record
from memcli.settings import is_beside

# An interrupted copy goes on behind the last transaction.
BATCH = 2_000
"""The number of memories in one transaction of a server."""
_DIFFERS = "choose --mode merge or --mode replace"


class Copied(Record):
    """The result of copying one space: `hash` is the SHA-256 of its canonical file, verified in the target; `objects` is the
    number of its memories, and the others count what was written or removed."""

    space: str
    hash: str
    objects: int
    written: int = 0
    removed: int = 0
    runs: int = 0
    entries: int = 0


def copied_spaces(source: Workspace, name: str | None = None) -> list[str]:
    """The spaces to copy: `name`, or all except those that stay on this machine. Raises NotFoundError."""
    runs = {run.space.name for run in source.trash.runs()}
    found = {one for one in (*source.store.spaces(), *runs, *source.audit.spaces()) if not is_beside(one)}
    if name is None:
        return sorted(found)
    if name not in found:
        raise NotFoundError(f"no space {name!r} to copy", "`memcli space list` lists the spaces")
    return [name]


def check_copy(source: Workspace, target: Workspace, names: Sequence[str], *, is_shared: bool) -> None:
    """Raises RefusedError for a store that is not trusted here, and, if the target `is_shared`, for spaces that may not be on a
    server; CorruptError for a space of a newer format in either store."""
    # All spaces are checked first: where one is refused, none is copied.
    check_trusted(source, target)
    for name in names:
        for workspace in (source, target):
            with closing(workspace.store.open(name)) as snapshot:
                check_writable(snapshot.header(), f"space {name!r}")
    for name in names if is_shared else ():
        policy = source.store.policy(name)
        if not policy.is_tracked:
            raise RefusedError(
                f"space {name!r} is {policy.visibility} and cannot be on a server",
                "copy the other spaces one by one with --space",
            )
        if waiting := len(source.trust.waiting(name)):
            raise RefusedError(
                f"{waiting} imported memories of space {name!r} wait for review",
                "accept them with `memcli trust`, then copy",
            )


def check_trusted(*workspaces: Workspace) -> None:
    """Raises RefusedError for a store that came with a clone and was not accepted here."""
    for workspace in workspaces:
        if not workspace.trust.is_accepted:
            raise RefusedError(
                f"the store at {workspace.root} was cloned and is not trusted yet",
                "review it with `memcli trust --status`, accept it with `memcli trust`",
            )


def copy_space(
    source: Workspace,
    target: Workspace,
    name: str,
    mode: str = "",
    batch: int = 0,
    progress: Progress | None = None,
    settled: Callable[[Space], None] = lambda _: None,
    shown: str = "the source",
) -> Copied:
    """Copies one space, in writes of `batch` memories (0: all in one); equal memories are skipped. Calls `settled` with the
    space if both stores are equal in the end. `shown` names the source in messages.

    See `plan_intake` for the modes; without one, differences are refused. Raises RefusedError, CorruptError, StoreError.
    """
    with from_elsewhere(AT_ITS_SOURCE, shown):
        space = sound(load_space(source.store, name))
    before = load_space(target.store, name)
    _, count = source.redactor.clean_space(space)
    if count:  # memcli redacts what it stores, so somebody wrote these into the file
        places = "1 place has" if count == 1 else f"{count} places have"
        raise RefusedError(
            f"{places} secrets in space {space.name!r}", "`memcli check secrets` shows where; redact them first"
        )
    is_new = not before.objects and not before.updated_at
    if mode:
        after = plan_intake(before, space, mode, is_new).after
    elif is_new:
        after = space
    else:
        known = _encoded(before)
        wanted = _encoded(space)
        other = [name for name, body in known.items() if wanted.get(name) != body]
        if other:
            raise RefusedError(
                f"{counted(len(other), 'memory', 'memories')} of space {space.name!r} in the target {'differs' if len(other) == 1 else 'differ'}",
                _DIFFERS,
            )
        if encode_line(header_to_json(before)) != encode_line(header_to_json(space)):
            raise RefusedError(f"space {space.name!r} in the target has another policy, metadata or date", _DIFFERS)
        after = space
    acts = _missing_entries(source, target, name, mode)
    runs = _missing_runs(source, target, name, mode)
    # The log first: the act of this copy then follows those that it copies, which a resumed copy expects.
    if acts:
        target.audit.append(name, acts)
    for run in runs:
        target.trash.put(run)
    # Before the memories are stored: after a crash in between none of them passes for reviewed.
    if target.root != source.root:
        target.trust.bring(name, source.trust.waiting(name))
    changes = _changes(before, after, mode, batch)
    total, done = sum(len(change.put) for change in changes), 0
    for change in changes:
        target.store.update(name, partial(_given, change))
        done += len(change.put)
        if progress:
            progress(done, total)
    stored = load_space(target.store, name)
    removed = sum(len(change.drop) for change in changes)
    digest = _verified(stored, after)
    if encode_full(stored) == encode_full(space):
        settled(stored)
    return Copied(name, digest, len(stored.objects), total, removed, len(runs), len(acts))


def sound(space: Space, known: Space | None = None) -> Space:
    """Returns the space, which comes from another store, after checking its memories, except those that are equal in `known`.
    Raises CorruptError for a memory that memcli would not store."""
    checked = {memory.id: memory for memory in known.objects} if known else {}
    check_memories(space.objects, f"space {space.name!r}", checked=checked)
    return space


def change_to(before: Space, after: Space) -> Change:
    """The change from `before` to `after`, byte for byte."""
    return next(iter(_changes(before, after, "", 0)), Change())


def _given(change: Change, _: Shelf) -> Change:
    return change


def _changes(before: Space, after: Space, mode: str, batch: int) -> list[Change]:
    """The writes from `before` to `after`, of `batch` memories each (0: one write). The first has the header and the removals, so
    that an interrupted copy can be resumed."""
    known = _encoded(before)
    put = [memory for memory in after.objects if known.get(memory.id) != encode_memory(memory)]
    drop = known.keys() - {memory.id for memory in after.objects}
    header = None if encode_line(header_to_json(before)) == encode_line(header_to_json(after)) else after
    if not put and not drop and header is None:
        return []
    step = batch or len(put) or 1
    parts = [tuple(put[n : n + step]) for n in range(0, len(put), step)] or [()]
    displaced = frozenset(memory.id for memory in put) & known.keys() if mode == "replace" else frozenset[str]()
    first = Change(parts[0], frozenset(drop), header=header, displaced=displaced & {m.id for m in parts[0]})
    rest = (Change(part, displaced=displaced & {m.id for m in part}) for part in parts[1:])
    return [first, *rest]


def _missing_entries(source: Workspace, target: Workspace, name: str, mode: str) -> list[dict[str, Json]]:
    """The acts that the audit log of the target lacks, in their order. Raises RefusedError, CorruptError."""
    data = source.audit.read(name)
    log = verify(data)
    if log.broken:
        raise CorruptError(
            f"the audit log of space {name!r} is broken at line {log.broken}",
            "see `memcli store audit --verify` in that store",
        )
    if log.gap:
        target.warn(f"the audit log of space {name!r} is copied as it stands: {log.gap}")
    acts = list(entries(data))
    ours, theirs = ([act_key(entry) for entry in log] for log in (acts, entries(target.audit.read(name))))
    if ours[: len(theirs)] == theirs:
        return [bare(entry) for entry in acts[len(theirs) :]]
    if theirs[: len(ours)] == ours:
        return []
    if not mode:
        raise RefusedError(f"space {name!r} in the target has another audit log", _DIFFERS)
    known = set(theirs)
    return [bare(entry) for entry, key in zip(acts, ours, strict=True) if key not in known]


def _missing_runs(source: Workspace, target: Workspace, name: str, mode: str) -> list[Run]:
    """The runs that the trash of the target lacks, oldest first. Raises RefusedError."""
    known = {run.name: run_bytes(run) for run in target.trash.runs() if run.space.name == name}
    runs = [
        run for run in reversed(source.trash.runs()) if run.space.name == name and run_bytes(run) != known.get(run.name)
    ]
    if not mode and (other := [run for run in runs if run.name in known]):
        raise RefusedError(f"run {other[0].name} in the trash of the target differs", _DIFFERS)
    found = [run for run in runs if mode == "replace" or run.name not in known]
    for run in found:
        check_memories(run.space.objects, f"run {run.name} in the trash")
    return found


def _encoded(space: Space) -> dict[str, bytes]:
    return {memory.id: encode_memory(memory) for memory in space.objects}


def _verified(stored: Space, wanted: Space) -> str:
    """The SHA-256 of the stored space. Raises StoreError if it is not the `wanted` one."""
    data = encode_full(stored)
    if data != encode_full(wanted):
        raise StoreError(
            f"space {wanted.name!r} in the target is not what was copied: somebody wrote to it",
            "run the command again; if that does not help, check both stores with `memcli check store`",
        )
    return sha256(data).hexdigest()
