"""Take in what the hooks of agents reported of their sessions, and finish what was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from memcli.app.session_end import Ended, end, finish_all
from memcli.app.session_import import DELETED, SessionImport, import_transcript
from memcli.app.workspace import Workspace
from memcli.errors import CorruptError, MemcliError, RefusedError, reason
from memcli.model.conversation import ENDED, Message
from memcli.model.memory import Json
from memcli.ports.sessions import Transcript
from memcli.record import Record, field

_Read = TypeVar("_Read")
Read = Callable[[str], Iterable[Transcript]]
"""Reads the conversations in a file. Raises MemcliError."""
_END = "session-end"
_SOURCES = {"claude": "claude-code"}
"""The formats of the transcripts of agents, where they are not named as the agent is."""


class SessionSyncResult(Record, frozen=False):
    """What was imported, and what was ended. `failed` says, by session, why a transcript could not be read."""

    imported: list[SessionImport] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        return {
            "imported": [one.to_json() for one in self.imported],
            "ended": [one.to_json() for one in self.ended],
            "failed": self.failed,
        }


def sync(workspace: Workspace, entries: Sequence[Mapping[str, Json]], read: Read) -> SessionSyncResult:
    """Imports the sessions that `entries` of the spool are of, and ends those that are over. The same entries again change
    nothing. Raises LockedError, CorruptError of the store, StoreError."""
    done = SessionSyncResult(ended=finish_all(workspace))
    sessions: dict[tuple[str, str], list[Mapping[str, Json]]] = {}
    for entry in entries:
        sessions.setdefault((_text(entry, "agent"), _text(entry, "session")), []).append(entry)
    for (agent, key), own in sessions.items():
        try:
            found = _import(workspace, agent, key, own, read, done)
            done.imported += found
            if any(entry.get("event") == _END for entry in own):
                over = [one.session for one in found if one.session.messages and one.session.state != ENDED]
                done.ended += [end(workspace, session) for session in over]
        except (CorruptError, RefusedError) as error:  # of one session: the others can be taken in
            done.failed[key] = error.message
    return done


def _import(
    workspace: Workspace,
    agent: str,
    key: str,
    entries: Sequence[Mapping[str, Json]],
    read: Read,
    done: SessionSyncResult,
) -> list[SessionImport]:
    """The session by its transcript; where there is none that can be read, by what was reported of it."""
    path = next((path for entry in reversed(entries) if (path := _text(entry, "transcript"))), "")
    try:
        found = [_Guarded(one) for one in _readable(partial(read, path)) if not key or one.key == key] if path else []
        if found:
            return _imported(workspace, found)
    except _UnreadableError as error:
        done.failed[key or path] = error.message
    reported = _Reported(_SOURCES.get(agent, agent), key, entries)
    return _imported(workspace, [reported]) if key and any(reported.messages()) else []


def _imported(workspace: Workspace, found: Sequence[Transcript]) -> list[SessionImport]:
    """What came of the conversations; a session that somebody has deleted does not come back."""
    done = (import_transcript(workspace, one, may_revive=False) for one in found)
    return [one for one in done if one.status != DELETED]


class _UnreadableError(MemcliError):
    """A transcript cannot be read. What the store raises is another matter: then all is to be taken in again."""


def _readable(read: Callable[[], Iterable[_Read]]) -> Iterator[_Read]:
    try:
        yield from read()
    except (MemcliError, OSError) as error:
        raise _UnreadableError(reason(error)) from None


class _Guarded:
    """A transcript that says when it cannot be read."""

    def __init__(self, told: Transcript) -> None:
        self.source, self.key, self.title, self.started_at = told.source, told.key, told.title, told.started_at
        self._told = told

    @property
    def skipped(self) -> Mapping[str, int]:
        return self._told.skipped

    def messages(self) -> Iterator[Message]:
        return _readable(self._told.messages)


class _Reported:
    """A session as the hooks of its agent reported it: what it said last, and what it summed up."""

    title = ""

    def __init__(self, source: str, key: str, entries: Sequence[Mapping[str, Json]]) -> None:
        self.source, self.key = source, key
        self.started_at = _text(entries[0], "at")
        self.skipped: Mapping[str, int] = {}
        self._entries = entries

    def messages(self) -> Iterator[Message]:
        for entry in self._entries:
            if text := _text(entry, "text"):
                at, event = _text(entry, "at"), _text(entry, "event")
                yield Message(0, "assistant", text, at, "", f"{event} {at}")


def _text(entry: Mapping[str, Json], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""
