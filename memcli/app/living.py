"""Memories of scope `session`: they are recalled only in their session, and deleted after it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import partial

from memcli.app import session as sessions
from memcli.app.workspace import Workspace
from memcli.errors import ConflictError, CorruptError, NotFoundError, UsageError
from memcli.model.conversation import ACTIVE, ENDED, PAUSED, Session
from memcli.model.links import removal
from memcli.model.memory import EXTRACTED, SESSION, Json, Memory
from memcli.settings import JOURNAL


def living(workspace: Workspace) -> str:
    """The id of the session of the workspace: the one that the environment names, or the current one; empty if there is none,
    or it has ended."""
    try:
        session = _chosen(workspace, workspace.named_session)
    except (NotFoundError, UsageError, CorruptError):
        return ""
    return "" if session.state == ENDED else session.id


def with_session(workspace: Workspace, given: Mapping[str, Json], name: str | None) -> dict[str, Json]:
    """The fields of a memory; for scope `session` with the id of its session: the one that `name` names, or as `living`.

    Raises NotFoundError, UsageError; ConflictError if the session has ended.
    """
    provenance = given.get("provenance") or {}
    if given.get("scope") != SESSION or not isinstance(provenance, Mapping) or provenance.get("source") == EXTRACTED:
        return dict(given)
    session = _chosen(workspace, name or provenance.get("session") or workspace.named_session)
    if session.state == ENDED:
        raise ConflictError(f"session {session.id} has ended", f"`memcli session resume {session.id}` reopens it")
    return {**given, "provenance": {**provenance, "session": session.id}}


def over_scope(workspace: Workspace, given: Mapping[str, Json]) -> Workspace:
    """The workspace over the space for a memory with these fields: `journal` for one of scope `session`, unless the user has
    named a space."""
    # The journal is private: in `main`, git would track a memory that is soon deleted.
    if given.get("scope") != SESSION or workspace.is_space_named:
        return workspace
    return workspace.copy_with(space=JOURNAL, is_space_named=True)


def collect_ended(workspace: Workspace, *, dry_run: bool = False) -> list[Memory]:
    """Deletes the memories of scope `session` whose session has ended, but not pinned ones; with `dry_run`, only returns them.
    Raises StoreError, LockedError, CorruptError."""
    # Also where the policy allows no deletion: whoever chose this scope wanted it.
    found: list[Memory] = []
    for name in workspace.spaces_to_read:
        with closing(workspace.store.open(name)) as snapshot:
            living = [memory for memory in snapshot.memories("session") if memory.session]
            is_private = snapshot.header().policy.is_private
        names = {memory.session for memory in living}
        over = {one for one in names if _is_over(workspace, one, is_private=is_private)}
        ended = [memory for memory in living if memory.session in over and not memory.pinned]
        ids = {memory.id for memory in ended}
        if ids and not dry_run:
            workspace.store.update(name, partial(removal, ids=ids, now=workspace.clock()))
        found += ended
    return found


def _chosen(workspace: Workspace, ref: str) -> Session:
    # Sessions belong to the space that they are held in; the journal has only what they yield.
    if workspace.space == JOURNAL:
        workspace = workspace.copy_with(space=workspace.main)
    return sessions.find(workspace, ref) if ref else sessions.current(workspace, ACTIVE, PAUSED)


def _is_over(workspace: Workspace, name: str, *, is_private: bool) -> bool:
    """Whether a session has ended or, in a private space, does not exist: in a shared one, it may be that of another clone."""
    for space in dict.fromkeys([workspace.main, *workspace.store.spaces()]):
        if name in workspace.sessions.ids(space):
            try:
                return workspace.sessions.open(space, name).state == ENDED
            # A session that cannot be read may still go on.
            except (NotFoundError, CorruptError):
                return False
    return is_private
