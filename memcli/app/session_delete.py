"""Delete a session, and what was made from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcli.app import talk
from memcli.app.inbox import waiting, withdraw
from memcli.app.purge import purge
from memcli.app.session import made_from
from memcli.app.workspace import Workspace, load_space
from memcli.errors import reporting_done
from memcli.model.conversation import Session
from memcli.model.memory import Memory
from memcli.model.space import Touched
from memcli.settings import journal_of


def derived(workspace: Workspace, session: Session) -> dict[str, list[Memory]]:
    """The memories that were made from a session, by space."""
    found: dict[str, list[Memory]] = {}
    for space in (journal_of(session.space), session.space):
        objects = load_space(workspace.store, space).objects
        if own := made_from(objects, session):
            found[space] = own
    return found


def delete(workspace: Workspace, session: Session, *, keep_memories: bool = False) -> list[Memory]:
    """Deletes a session for good and, unless they are to be kept, the memories and proposals that were made from it, as a
    purge does, at once where the space of the session grants no grace; those memories. Killed half-way, it can be done again. Raises NotFoundError, LockedError, StoreError."""
    gone: list[Memory] = []
    workspace.check_erasable({session.id})
    before = workspace.sessions.digest(session.space, session.id)
    with reporting_done(lambda: f"{len(gone)} memories purged" if gone else ""):
        if not keep_memories:
            for purged in _purge_derived(workspace, session):
                gone += purged
        talk.forget(workspace, session.id)
        workspace.answers.erase()  # a model may have repeated what was said
        workspace.sessions.delete(session.space, session.id)
        if talk.is_known(workspace, session.id):  # a recall has read it meanwhile
            talk.forget(workspace, session.id)
    workspace.audit.record(session.space, "delete session", [Touched(session.id, "", before, "")])
    return gone


def _purge_derived(workspace: Workspace, session: Session) -> Iterator[Sequence[Memory]]:
    """Purges what was made from a session, space by space, once the proposals are withdrawn."""
    over = workspace.copy_with(space=session.space)
    if own := made_from(waiting(over), session):
        withdraw(over, own)
    has_grace = workspace.in_force(workspace.store.policy(session.space)).grace_days != 0
    for space, memories in derived(workspace, session).items():
        over = workspace.copy_with(space=space, is_space_named=True)
        yield purge(over, [memory.id for memory in memories], now=not has_grace).memories
