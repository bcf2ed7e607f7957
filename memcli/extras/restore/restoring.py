"""Restores memories from the trash, with the links that their removal cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from memcli.app.catalogue import find_in, reading
from memcli.app.edit import alter
from memcli.app.homes import Homes, beyond, by_home, grouped
from memcli.app.linked_store import without_lost
from memcli.app.repo import sync_behind
from memcli.app.workspace import Workspace, load_space
from memcli.codec.space import memory_digest
from memcli.errors import ConflictError, MemcliError, NotFoundError, RefusedError, StoreError, UsageError
from memcli.model.links import (
    SUPERSEDES,
    Run,
    Severed,
    is_same_memory,
    rejoined,
    relinked,
    severed_between,
    without_dangling,
)
from memcli.model.memory import Memory
from memcli.model.names import beginnings
from memcli.model.space import Change, find_reference, is_named
from memcli.policy.retention import is_due
from memcli.ports import Shelf
from memcli.record import Record, replace
from memcli.settings import REPO

_LIST = "`memcli restore --list` shows what can be restored"


class Restored(Record):
    """The result of a restore in a space. `memories` were restored, `existing` were stored already; of the restored ones, `due`
    expire at the next `gc`; `changed` are skipped, since they were changed after the run."""

    space: str
    memories: tuple[Memory, ...]
    existing: tuple[Memory, ...]
    due: tuple[Memory, ...]
    changed: tuple[Memory, ...] = ()


def restore(workspace: Workspace, refs: Sequence[str]) -> Restored:
    """Restores the memories of the workspace's space that `refs` name, all or none, each from the last run that removed it.
    A stored version of a restored memory goes to the trash.

    Raises NotFoundError, UsageError for the prefix of several ids, ConflictError if an id or a path is in use again,
    RefusedError for more memories than the space may hold.
    """
    with _all_runs(workspace) as all_runs:
        runs = [run for run in all_runs if run.space.name == workspace.space]
        found = dict(_find(runs, ref, workspace.space) for ref in refs)
    return _bring_back(workspace, workspace.space, found)


def reactivate(workspace: Workspace, refs: Sequence[str]) -> tuple[list[Memory], list[str]]:
    """Reactivates the forgotten memories among `refs`, and returns them and the references to no forgotten memory."""
    forgotten = []
    with reading(workspace) as spaces:
        for ref in refs:
            with suppress(NotFoundError, UsageError):  # the caller searches the trash for these
                if not find_in(spaces, ref)[1].active:
                    forgotten.append(ref)
    homes, _ = by_home(workspace, forgotten)
    found = [m for home, own in homes for m in alter(home, own, lambda memory, _: replace(memory, active=True))]
    return found, [ref for ref in refs if ref not in forgotten]


def by_trash(workspace: Workspace, refs: Sequence[str]) -> tuple[Homes, MemcliError | None]:
    """The references grouped by the workspace whose trash has the memory: that of the first space to read that has it, else
    the user-wide store; and the error for references to no deleted memory. Raises as `by_home`."""
    with _all_runs(workspace) as all_runs:
        theirs = [run for other in trashes(workspace)[1:] for run in other.trash.runs()]

        def home(ref: str) -> Workspace:
            removed = {
                run.space.name
                for run in all_runs
                if any(is_named(m, [ref]) or m.id.startswith(beginnings(ref)) for m in run.space.objects)
            }
            space = next((name for name in workspace.spaces_to_read if name in removed), workspace.space)
            try:
                _find([run for run in all_runs if run.space.name == space], ref, space)
            except NotFoundError:
                names = [run.space.name for run in theirs if any(is_named(m, [ref]) for m in run.space.objects)]
                if not names:
                    raise
                return beyond(workspace, ref, names[0])
            return workspace if space == workspace.space else workspace.copy_with(space=space, is_space_named=True)

        return grouped(refs, home)


def trashes(workspace: Workspace) -> list[Workspace]:
    """The workspaces whose trash is searched: this one and, unless the user named a space, the user-wide store."""
    other = None if workspace.is_space_named else workspace.elsewhere
    return [workspace] if other is None else [workspace, other]


def restore_run(workspace: Workspace, name: str) -> Restored:
    """Restores all memories of a run of the trash, and its space if that was deleted. Memories that were changed after the run
    are skipped.

    `name` is the name of the run or a unique prefix of it; the run may be in the user-wide store. Raises as `restore`.
    """
    with _all_runs(workspace) as all_runs:
        theirs = ((other, run) for other in trashes(workspace)[1:] for run in other.trash.runs())
        both = [*((workspace, run) for run in all_runs), *theirs]
        fitting = [(home, run) for home, run in both if name and run.name.startswith(name)]
        if len(fitting) > 1:
            raise UsageError(f"{name!r} matches {len(fitting)} runs", "use a longer prefix")
        if not fitting:
            raise NotFoundError(f"no run {name[:40]!r} in the trash", _LIST)
    if fitting[0][0] is not workspace:
        workspace = beyond(workspace, name)
    run = fitting[0][1]
    found = {m.id: (m, run) for m in run.space.objects}
    space = run.space.name
    changed: tuple[Memory, ...] = ()
    # A text that somebody wrote after the run must not be lost because the run is undone.
    if run.replaced and space in workspace.store.spaces():
        # A run without the digest of what replaced a memory, as of earlier versions, cannot show a change.
        changed = tuple(
            memory
            for memory in load_space(workspace.store, space).objects
            if memory.id in found
            and memory_digest(memory) != run.replaced.get(memory.id, memory_digest(memory))
            and memory != found[memory.id][0]
        )
    if changed and len(changed) == len(found):
        return Restored(space, (), (), (), changed)
    skipped = {memory.id for memory in changed}
    wanted = {name: one for name, one in found.items() if name not in skipped}
    # The run of an empty space that was deleted has no memory: the space alone is restored.
    return replace(_bring_back(workspace, space, wanted or {"": (None, run)}), changed=changed)


@contextmanager
def _all_runs(workspace: Workspace) -> Iterator[list[Run]]:
    """The readable runs of the trash. Warns about the others; raises StoreError with their problems if the block raises
    NotFoundError, since a memory that is not found may be in one of them."""
    skipped: list[str] = []
    runs = workspace.trash.runs(skipped.append)
    try:
        yield runs
    except NotFoundError as error:
        if not skipped:
            raise
        raise StoreError(
            f"{error.message}; {'; '.join(skipped)}", "`memcli check store` lists what is damaged"
        ) from None
    for problem in skipped:
        workspace.warn(problem)


def _find(runs: Sequence[Run], ref: str, space: str) -> tuple[str, tuple[Memory, Run]]:
    """The id of the memory that `ref` names, its latest version in the runs, and the run. Raises NotFoundError, UsageError."""
    exact: tuple[Memory, Run] | None = None
    ids: dict[str, tuple[Memory, Run]] = {}
    starts = beginnings(ref)
    for run in runs if ref else ():
        for memory in run.space.objects:
            if is_named(memory, [ref]):
                exact = exact or (memory, run)
            elif memory.id.startswith(starts):
                ids.setdefault(memory.id, (memory, run))
    memory, run = find_reference(ref, exact, list(ids), ids.get, f"the trash of space {space!r}", _LIST)
    return memory.id, (memory, run)


def _bring_back(workspace: Workspace, space: str, found: Mapping[str, tuple[Memory | None, Run]]) -> Restored:
    """Restores memories of a space, by id with their runs, in one write; None stands for an empty space. Raises as
    `restore`."""
    now = workspace.clock()
    is_new = space not in workspace.store.spaces()
    wanted = [without_lost(workspace.store, memory) for memory, _ in found.values() if memory is not None]
    existing: list[Memory] = []
    policy = next(iter(found.values()))[1].space.policy

    def change(shelf: Shelf) -> Change:
        nonlocal policy
        # Replaced whole, since a store on a server calls this again when its transaction is repeated.
        existing[:] = [memory for memory in wanted if shelf.get(memory.id) == memory]
        put = tuple(memory for memory in wanted if memory not in existing)
        _check(shelf, put)
        if is_new:  # the space was deleted with its memories: its header is restored with them
            back = {memory.id for memory in put}
            sound = tuple(without_dangling(memory, back.__contains__) for memory in put)
            return Change(sound, header=replace(next(iter(found.values()))[1].space, objects=()))
        policy = shelf.header.policy
        rejoined_all = _rejoined(shelf, put, [run for _, run in found.values()])
        return Change(rejoined_all, now=now, displaced=frozenset(m.id for m in put)) if put else Change()

    workspace.store.update(space, change)
    # The runs are dropped last: killed before, the restore can be repeated.
    with workspace.behind_the_write():
        runs = {run.name: run for _, run in found.values()}.values()
        _rejoin_trash(workspace, space, runs, {memory.id: memory for memory in wanted})
        _rejoin_elsewhere(workspace, space, runs, [memory.id for memory in wanted])
        for run in runs:
            workspace.trash.drop(run, {name for name, (_, home) in found.items() if home is run})
        # A copy of a derived memory that is back in `main` hides its original again.
        sync_behind(workspace.copy_with(space=REPO))
    restored = tuple(memory for memory in wanted if memory not in existing)
    return Restored(space, restored, tuple(existing), tuple(m for m in restored if is_due(m, policy, now)))


def _rejoined(shelf: Shelf, put: Sequence[Memory], runs: Sequence[Run]) -> tuple[Memory, ...]:
    """The restored memories without dangling references, and the stored memories that get back their references to them."""
    back = {memory.id: memory for memory in put}
    changed = {m.id: without_dangling(m, lambda name: name in back or shelf.get(name) is not None) for m in put}
    for severed in {id(one): one for run in runs for one in run.severed if not one.space}.values():
        memory = changed.get(severed.id) or shelf.get(severed.id)
        if memory is not None and (joined := rejoined(memory, severed, back)) != memory:
            changed[memory.id] = joined
    for memory in put:
        for link in changed[memory.id].links:
            old = changed.get(link["to"]) or shelf.get(link["to"])
            # A deletion makes what the memory superseded current again; its restoration takes that back.
            if link["relation"] == SUPERSEDES and old is not None and old.superseded_by is None:
                until = old.valid_until or link.get("created_at")
                changed[old.id] = replace(old, superseded_by=memory.id, valid_until=until)
    return tuple(changed.values())


def _rejoin_elsewhere(workspace: Workspace, space: str, runs: Iterable[Run], ids: Iterable[str]) -> None:
    """Restores the links of memories of other spaces to the memories with these ids."""
    names = {f"{space}:{name}" for name in ids}
    lost: dict[str, list[Severed]] = {}
    for severed in (one for run in runs for one in run.severed if one.space):
        lost.setdefault(severed.space, []).append(severed)

    def rejoin(shelf: Shelf, all_lost: Sequence[Severed]) -> Change:
        pairs = ((shelf.get(one.id), one) for one in all_lost)
        joined = ((memory, relinked(memory, one, names)) for memory, one in pairs if memory is not None)
        return Change(tuple(after for before, after in joined if after is not before))

    for name in sorted(lost.keys() & set(workspace.store.spaces())):
        workspace.store.update(name, partial(rejoin, all_lost=lost[name]))


def _rejoin_trash(workspace: Workspace, space: str, runs: Iterable[Run], back: Mapping[str, Memory]) -> None:
    """Records in the runs that stay in the trash the references between their memories and the restored ones (`back`), in both
    directions."""
    # Without this, a later restore of the others would not know them, so that the order of restores would matter.
    lost = {
        severed.id: severed for run in runs for severed in run.severed if not severed.space and severed.id not in back
    }
    for run in workspace.trash.runs():
        held = {memory.id: memory for memory in run.space.objects if memory.id not in back}
        if run.space.name != space or not held:
            continue
        joined = {name: rejoined(m, lost[name], back) for name, m in held.items() if name in lost}
        parted = (severed_between(m, without_dangling(m, lambda n: n not in held), held) for m in back.values())  # noqa: B023
        severed = tuple(one for one in parted if one is not None)
        objects = tuple(joined.get(memory.id, memory) for memory in run.space.objects)
        if severed or objects != run.space.objects:
            workspace.trash.put(
                replace(run, space=replace(run.space, objects=objects), severed=(*run.severed, *severed))
            )


def _check(shelf: Shelf, put: Sequence[Memory]) -> None:
    """Raises ConflictError if the id or the path of a restored memory is in use, RefusedError if there is no room."""
    paths: dict[str, str] = {}
    for memory in put:
        stored = shelf.get(memory.id)
        if stored is not None and not is_same_memory(stored, memory):
            raise ConflictError(
                f"the id {memory.id} is in use again", f"see `memcli get {memory.id}`; nothing was changed"
            )
        other = shelf.at(memory.path)
        holder = other.id if other is not None else paths.get(memory.path)
        if holder not in (None, memory.id):
            raise ConflictError(
                f"the path {memory.path!r} now belongs to {holder}",
                f"move it with `memcli edit {holder} --set path=...`; nothing was changed",
            )
        paths[memory.path] = memory.id
    most = shelf.header.policy.max_objects
    coming = sum(shelf.get(memory.id) is None for memory in put)
    if most is not None and coming and shelf.size + coming > most:
        name = shelf.header.name
        raise RefusedError(
            f"space {name!r} holds {shelf.size} memories of at most {most} (policy.max_objects)",
            f"run `memcli space policy {name} --set max_objects={shelf.size + coming}`",
        )
