"""Purge: delete memories that the caller names, or a session with the memories made from it, whatever the policy allows: a
leaked secret must be removed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from memcli.app import talk
from memcli.app.candidate import as_proposed
from memcli.app.catalogue import SpaceReader, reading
from memcli.app.edit import check_digest
from memcli.app.inbox import waiting, withdraw
from memcli.app.repo import COPIED
from memcli.app.session import made_from
from memcli.app.workspace import Workspace, load_space
from memcli.codec.space import memory_digest
from memcli.errors import NotFoundError, StoreError, reporting_done
from memcli.model.catalogue import CatalogueFilter
from memcli.model.conversation import Session
from memcli.model.links import Run, made_current, removal
from memcli.model.memory import Memory, telling_line
from memcli.model.space import Change, Touched, is_named
from memcli.ports import Shelf
from memcli.record import Record, replace
from memcli.settings import REPO, journal_of

_BEHIND_A_SERVER = "the WAL, logs, replicas and backups of the server, until its administrator removes it there"


class Purged(Record):
    """The deleted memories; those that are current again, because the memories that superseded them are deleted; and the places
    that still quote the erased texts."""

    memories: tuple[Memory, ...]
    current: tuple[Memory, ...] = ()
    quotes: tuple[str, ...] = ()

    def with_also(self, other: Purged) -> Purged:
        """The results of this and another purge as one."""
        quotes = tuple(dict.fromkeys([*self.quotes, *other.quotes]))
        return Purged((*self.memories, *other.memories), (*self.current, *other.current), quotes)


def find_named(workspace: Workspace, refs: Sequence[str], recursive: bool = False) -> list[Memory]:
    """The memories that a purge of `refs` would delete. Raises NotFoundError."""
    return [memory for _, memories in _located(workspace, refs, recursive) for memory in memories]


def _located(workspace: Workspace, refs: Sequence[str], recursive: bool) -> list[tuple[str, list[Memory]]]:
    """The memories that `refs` name, each in the first of the spaces to read that has it. Raises NotFoundError."""
    found: dict[str, dict[str, Memory]] = {}
    with reading(workspace, workspace.spaces_to_read) as spaces:
        *others, last = spaces
        for ref in refs:
            for space in others:
                with suppress(NotFoundError):
                    memories = _named(space, ref, recursive)
                    break
            else:
                space, memories = last, _named(last, ref, recursive)
            found.setdefault(space.name, {}).update((memory.id, memory) for memory in memories)
    return [(space, list(memories.values())) for space, memories in found.items()]


def _named(space: SpaceReader, ref: str, recursive: bool) -> list[Memory]:
    """The memories of a space that `ref` names. Raises NotFoundError, UsageError."""
    if recursive and (path := ref.strip("/")):
        below = space.read(space.places(CatalogueFilter(under=path, inactive=True)))
        if below:
            return below
    return [space.find(ref) or space.find_by_prefix(ref)]


def find_trashed(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """The memories in the trash that `refs` name, by id or path. Raises StoreError when there are none, but a run cannot be
    read."""
    skipped: list[str] = []
    found = [memory for _, memories in _trashed(workspace, refs, skipped.append) for memory in memories]
    # The run that cannot be read may be the one that has it, and a leaked secret must not be reported as absent.
    if skipped and not found:
        what = f"cannot look for {', '.join(refs)} in the whole trash: {'; '.join(skipped)}"
        raise StoreError(what, "`memcli check store` lists what is damaged")
    return found


def erase_trashed(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """Erases the memories in the trash that `refs` name, by id or path, so that they cannot be restored; returns them."""
    erased: list[Memory] = []
    found = _trashed(workspace, refs)
    _check_erasable(workspace, [memory for _, memories in found for memory in memories])
    with reporting_done(lambda: f"{len(erased)} erased from the trash" if erased else ""):
        for run, memories in found:
            space, ids = run.space.name, {memory.id for memory in memories}
            _purge_derived(workspace, space, memories, is_erased=True)
            workspace.erase_traces(space, ids)  # before the trash, so that after a crash they can be named again
            workspace.trash.drop(run, ids, erase=True)
            erased += memories
            touched = [Touched(m.id, "", memory_digest(m), "", m.created_at) for m in memories]
            workspace.audit.record(space, "erase", touched)
            if not workspace.keeps_here(space):
                workspace.warn(f"the text may also be in {_BEHIND_A_SERVER}")
    return erased


def find_proposed(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """The proposals in the inbox that `refs` name, by id or path, including rejected ones."""
    return [memory for _, memories in _proposed(workspace, refs) for memory in memories]


def erase_proposed(workspace: Workspace, refs: Sequence[str]) -> list[Memory]:
    """Erases the proposals that `refs` name, with all traces of their texts and paths; returns them."""
    found = _proposed(workspace, refs)
    _check_erasable(workspace, [memory for _, memories in found for memory in memories])
    for space, memories in found:
        withdraw(workspace.copy_with(space=space), memories)
        workspace.erase_traces(space, {memory.id for memory in memories})
    return [memory for _, memories in found for memory in memories]


def _proposed(workspace: Workspace, refs: Sequence[str]) -> list[tuple[str, list[Memory]]]:
    """The proposals that `refs` name, by space."""
    spaces = [name for name in workspace.inbox.spaces() if name in (workspace.space, *workspace.spaces_to_read)]
    found = ((name, map(as_proposed, load_space(workspace.inbox, name).objects)) for name in spaces)
    named = ((name, [memory for memory in memories if is_named(memory, refs)]) for name, memories in found)
    return [(name, memories) for name, memories in named if memories]


def purge(
    workspace: Workspace, refs: Sequence[str], recursive: bool = False, *, now: bool = False, digest: str | None = None
) -> Purged:
    """Deletes the memories that `refs` name, and every reference to them.

    With `recursive`, each of `refs` may be a path, and names all memories below it too. With `now`, and where the policy
    grants no grace, no byte of the texts is left in the space, trash, caches and logs.
    Raises NotFoundError; ChangedError when the `digest` given is not that of the stored memory; LockedError when a reader has a
    file open that is to be erased; StoreError when a file cannot be erased.
    """
    done = Purged(())
    found = _located(workspace, refs, recursive)
    _check_erasable(workspace, [m for space, memories in found if _is_erased(workspace, space, now) for m in memories])
    with reporting_done(lambda: f"{len(done.memories)} purged" if done.memories else ""):
        for space, memories in found:
            done = done.with_also(_purge(workspace, space, memories, now, digest))
    return done


def _is_erased(workspace: Workspace, space: str, now: bool) -> bool:
    """Whether a purge erases memories of a space at once, instead of moving them into the trash."""
    return now or workspace.in_force(workspace.store.policy(space)).grace_days == 0


def _check_erasable(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Raises StoreError when a file cannot be written that has one of the memories, or another one with the same text."""
    # Asked before anything is deleted: otherwise a purge would report as erased what stays in a folder it cannot write.
    workspace.check_erasable({mark for memory in memories for mark in (memory.id, memory.hash) if mark})


def _purge(workspace: Workspace, space: str, memories: Sequence[Memory], now: bool, digest: str | None) -> Purged:
    for memory in memories:
        check_digest(memory, digest)  # before the derived space is changed, and again under the lock
    is_erased = _is_erased(workspace, space, now)
    # First, so that after a crash the purge can be repeated.
    sources = _purge_derived(workspace, space, memories, is_erased)
    time = workspace.clock()
    purged = Purged(())

    def apply(shelf: Shelf) -> Change:
        nonlocal purged
        found = [m for memory in memories if (m := shelf.get(memory.id)) is not None]
        for memory in found:
            check_digest(memory, digest)
        change = removal(shelf, {memory.id for memory in found}, time)
        purged = Purged(tuple(found), tuple(made_current(shelf, change)))
        return replace(change, erase=now, purge=True)

    workspace.store.update(space, apply)
    if is_erased:
        with workspace.behind_the_write("the search for other copies of the text"):
            server = () if workspace.keeps_here(space) else (_BEHIND_A_SERVER,)
            return replace(purged, quotes=(*workspace.find_quotes(purged.memories), *sources, *server))
    return purged


def _purge_derived(workspace: Workspace, space: str, memories: Sequence[Memory], is_erased: bool) -> list[str]:
    """Removes from the derived space the memories with the same text as one of `memories` and, if `is_erased`, those that quote
    one; returns the files and commits from which these were read."""
    if space == REPO:
        return list(dict.fromkeys(map(_source, memories)))
    if not workspace.store.policy(REPO).is_derived:
        return []
    # A copy may have been edited since: the text that was copied is still in the derived space.
    hashes = {digest for memory in memories for digest in (memory.hash, memory.metadata.get(COPIED)) if digest}
    lines = [line for memory in memories if is_erased and (line := telling_line(memory.raw))]
    sources: dict[str, None] = {}

    def apply(shelf: Shelf) -> Change:
        gone = [m for m in shelf.memories() if m.hash in hashes or any(line in m.raw for line in lines)]
        sources.update((_source(memory), None) for memory in gone)
        return replace(removal(shelf, {memory.id for memory in gone}, workspace.clock()), erase=is_erased)

    workspace.store.update(REPO, apply)
    return list(sources)


def _source(memory: Memory) -> str:
    commit = memory.provenance.get("commit") if memory.kind == "diff" else None
    place = f"commit {str(commit)[:10]}" if commit else f"file {memory.metadata.get('source')}"
    return f"{place}, which `memcli ingest` reads again"


def _trashed(
    workspace: Workspace, refs: Sequence[str], skip: Callable[[str], None] | None = None
) -> list[tuple[Run, list[Memory]]]:
    """The runs that removed memories which `refs` name, by id or path, each with these memories."""
    spaces = workspace.spaces_to_read
    runs = (run for run in workspace.trash.runs(skip) if run.space.name in spaces)
    found = [(run, [memory for memory in run.space.objects if is_named(memory, refs)]) for run in runs]
    return [(run, memories) for run, memories in found if memories]


def made_from_session(workspace: Workspace, session: Session) -> dict[str, list[Memory]]:
    """The memories that were made from a session, by space."""
    found: dict[str, list[Memory]] = {}
    for space in (journal_of(session.space), session.space):
        objects = load_space(workspace.store, space).objects
        if own := made_from(objects, session):
            found[space] = own
    return found


def purge_session(workspace: Workspace, session: Session, *, keep_memories: bool = False) -> list[Memory]:
    """Deletes a session for good and, without `keep_memories`, purges the memories and proposals that were made from it, at once
    where the space of the session grants no grace. Returns these memories. Raises NotFoundError, LockedError, StoreError."""
    # The session last: after a crash, all of it can be done again.
    gone: list[Memory] = []
    workspace.check_erasable({session.id})
    before = workspace.sessions.digest(session.space, session.id)
    with reporting_done(lambda: f"{len(gone)} memories purged" if gone else ""):
        if not keep_memories:
            over = workspace.copy_with(space=session.space)
            if own := made_from(waiting(over), session):
                withdraw(over, own)
            has_grace = workspace.in_force(workspace.store.policy(session.space)).grace_days != 0
            for space, memories in made_from_session(workspace, session).items():
                over = workspace.copy_with(space=space, is_space_named=True)
                gone += purge(over, [memory.id for memory in memories], now=not has_grace).memories
        talk.forget(workspace, session.id)
        workspace.answers.erase()  # answers of models may quote the session
        workspace.sessions.delete(session.space, session.id)
        if talk.is_known(workspace, session.id):  # a recall has indexed it meanwhile
            talk.forget(workspace, session.id)
    workspace.audit.record(session.space, "delete session", [Touched(session.id, "", before, "")])
    return gone
