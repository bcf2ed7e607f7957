"""Talk: makes the messages of sessions searchable, as memories in a space of their own.

That space is a cache: missing messages are added before a search. Each message is a memory of kind `log`; older messages are
also summed up in memories of kind `chunk`, by default every ten. The group of both is the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice

from memcli.app import session as sessions
from memcli.app.remember import prepare, remember
from memcli.app.workspace import Workspace, load_space
from memcli.conversation.summary import fold
from memcli.errors import CorruptError, LockedError, NotFoundError, StoreError
from memcli.model.conversation import Session
from memcli.model.memory import Json
from memcli.model.space import Change
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf

CHUNK = "chunk"
"""The kind of the memories that sum up messages."""
NAME = "sessions"
"""The name of the space of messages in a bundle."""
_AT_ONCE = 2_000
"""The number of messages in one write, so that a session with a million takes little memory."""
_STATE = "sessions"


def up_to_date(workspace: Workspace) -> Workspace | None:
    """The workspace over the messages of the sessions of the space, brought up to date as far as it can be written; None where
    there are no sessions. A damaged one is rebuilt. Raises CorruptError, StoreError."""
    names = workspace.sessions.ids(workspace.space)
    talk = workspace.talk
    if not names and not talk.has_space(talk.space):
        return None
    try:
        try:
            _update(workspace, talk, names)
        except CorruptError:  # a cache: drop it, and make it from the sessions
            workspace.drop_talk()
            _update(workspace, talk, names)
    except (LockedError, StoreError) as error:  # older messages can be searched all the same
        workspace.warn(f"what was said last is not searched: {error.message}")
    return talk


def _update(workspace: Workspace, talk: Workspace, names: Sequence[str]) -> None:
    known = _known(talk)
    policy = workspace.in_force(workspace.store.policy(workspace.space))
    chunks = [policy.recent_messages, policy.chunk_size]
    for name in names:
        try:
            stamp = workspace.sessions.stamp(workspace.space, name)
            before = known.get(name, {})
            if (before.get("stamp"), before.get("chunks")) != (stamp, chunks):
                if before and before.get("chunks") != chunks:  # the sizes have changed: chunks of other messages
                    forget(workspace, name)
                    before = {}
                known[name] = {
                    "stamp": stamp,
                    "chunks": chunks,
                    "messages": _bring(workspace, talk, name, before, chunks),
                }
                _change(talk, known)
        except (NotFoundError, CorruptError) as error:  # another process deletes the session, or it is damaged
            load_space(talk.store, talk.space)  # raises CorruptError when the cache is what is damaged
            workspace.warn(f"session {name} is not searched: {error.message}")
    for name in sorted(known.keys() - set(workspace.sessions.ids(workspace.space))):  # some were deleted meanwhile
        forget(workspace, name)


def is_known(workspace: Workspace, name: str) -> bool:
    """Whether the cache has messages of a session. Raises CorruptError, StoreError."""
    talk = workspace.talk
    return talk.has_space(talk.space) and name in _known(talk)


def forget(workspace: Workspace, name: str) -> None:
    """Erases the messages of a session from the cache. Raises LockedError, StoreError."""
    talk = workspace.talk
    try:
        if not talk.has_space(talk.space):
            return
        known = _known(talk)
        messages = load_space(talk.store, talk.space).objects
        gone = [memory.id for memory in messages if memory.metadata.get("group") == name]
        known.pop(name, None)
        _change(talk, known, gone)
        talk.erase_traces(talk.space, gone)
    except CorruptError:
        workspace.drop_talk()


def _bring(workspace: Workspace, talk: Workspace, name: str, known: Mapping[str, Json], sizes: Sequence[int]) -> int:
    """Adds the new messages of a session, and complete chunks; returns the number of its messages. `sizes` are the number of
    recent messages, which are in no chunk, and the number of messages of a chunk."""
    session = workspace.sessions.open(workspace.space, name)
    first = known.get("messages", 0) + 1
    if first > session.messages + 1:  # the file was rewritten with fewer messages
        forget(workspace, name)
        first = 1
    new = sessions.messages(workspace, session, first)
    while part := list(islice(new, _AT_ONCE)):
        fields = [
            {
                **_common(session, f"{message.number:06}", (message.number, message.number), message.at),
                "raw": message.text,
                "kind": "log",
                "metadata": {"group": session.id, "speaker": message.who},
            }
            for message in part
        ]
        remember(talk, [prepare(talk, one) for one in fields])
    recent, size = sizes
    before, now = (max(0, count - recent) // size for count in (first - 1, session.messages))
    if before < now:  # chunks have become complete
        messages = list(sessions.messages(workspace, session, before * size + 1, now * size))
        found, _ = fold(messages, recent=0, size=size, most=len(messages))
        chunks = [
            {
                **_common(session, f"chunks/{n:05}", chunk.turns, messages[chunk.turns[1] - messages[0].number].at),
                "raw": chunk.summary,
                "kind": CHUNK,
                "tags": list(chunk.topics),
                "metadata": {"group": session.id},
            }
            for n, chunk in enumerate(found, before + 1)
            if chunk.summary
        ]
        remember(talk, [prepare(talk, one) for one in chunks])
    return session.messages


def _common(session: Session, leaf: str, turns: Sequence[int], at: str) -> dict[str, Json]:
    return {
        "id": f"{session.id}:{leaf.replace('/', ':')}",
        "path": f"sessions/{session.id}/{leaf}",
        "scope": "session",
        "provenance": {"source": "extracted", "session": session.id, "messages": list(turns)},
        **({"created_at": at} if at else {}),
    }


def _known(talk: Workspace) -> dict[str, dict[str, Json]]:
    """By session, the state of the cache: the stamp of the file, the sizes of chunks, and the number of messages."""
    with closing(talk.store.open(talk.space)) as snapshot:
        state = snapshot.header().metadata.get(_STATE)
    return dict(state) if isinstance(state, dict) else {}


def _change(talk: Workspace, known: Mapping[str, Json], gone: Sequence[str] | None = None) -> None:
    """Stores the state of the cache, and erases the memories `gone`."""

    def change(shelf: Shelf) -> Change:
        header = replace(shelf.header, metadata={**shelf.header.metadata, _STATE: dict(known)})
        drop = frozenset(one for one in gone or () if shelf.get(one))
        return Change(drop=drop, now=talk.clock(), header=header, erase=gone is not None)

    talk.store.update(talk.space, change)
