"""The local state of the sessions of agents: the memories that each was shown, its last topic, and the reports of its hooks."""

from __future__ import annotations

import json
import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from memcli.clock import days_between
from memcli.codec.canonical import encode_line
from memcli.digests import sha256
from memcli.model.memory import Json
from memcli.store.atomic import make_folder
from memcli.store.lock import locked
from memcli.store.state import State, set_value, trim
from memcli.store.trust import digester

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.conversation.topic import LastTopic

# How long a hook waits for the lock that hooks of other agents hold; then its event is not handled.
_WAIT_SECONDS = 1.0
# Two programs may run the same hook, as Copilot CLI and Cursor run those of Claude Code's settings too.
_SAME_SECONDS = 10
"""How long a second call for the same event is a duplicate."""
_MAX_SHOWN = 1_000
_MAX_CLAIMS = 40
_LAST_START = "agents.start"


class SessionRecord:
    """The record of one session, within a transaction. `since` is the time at which the session before it began;
    `is_start_due` holds until the memories for the start of the session were injected."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.shown: dict[str, str] = dict(data.get("shown", ()))
        self._claims: dict[str, str] = dict(data.get("claims", ()))
        self.since: str | None = data.get("since")
        self.has_begun: bool = data.get("has_begun", False)
        self.is_start_due: bool = data.get("is_start_due", False)
        self._prompt: str = data.get("prompt", "")
        self._prepared: list[str] = data.get("prepared", [])

    def claim(self, what: str, now: str) -> bool:
        """Whether this is the first call for `what` within `_SAME_SECONDS`; if so, records it."""
        if self.was_claimed(what, now):
            return False
        key = _digest(what)
        self._claims.pop(key, None)
        self._claims[key] = now
        return True

    def release(self, what: str) -> None:
        """Takes a claim back, so that the next call for `what` is the first again."""
        self._claims.pop(_digest(what), None)

    def was_claimed(self, what: str, now: str) -> bool:
        """Whether a call for `what` was recorded within `_SAME_SECONDS` of `now`."""
        before = self._claims.get(_digest(what))
        if before is None:
            return False
        passed = datetime.fromisoformat(now) - datetime.fromisoformat(before)
        return abs(passed.total_seconds()) <= _SAME_SECONDS

    def is_unseen(self, name: str, stamp: str) -> bool:
        """Whether the session was not shown this version of the memory."""
        return self.shown.get(name) != stamp

    def note(self, stamps: Mapping[str, str]) -> None:
        """Records the memories that the session was shown, by name and stamp."""
        # Removed first: the oldest in this order are dropped when the record is stored.
        for name, stamp in stamps.items():
            self.shown.pop(name, None)
            self.shown[name] = stamp

    def turn(self, prompt: str) -> list[str]:
        """Records `prompt` as the last one; returns and removes the memories that were prepared since the one before it."""
        prepared, self._prepared = self._prepared, []
        self._prompt = _digest(prompt)
        return prepared

    def prepare(self, prompt: str, names: Sequence[str]) -> None:
        """Stores the names of memories for the prompt after `prompt`, unless that has arrived meanwhile."""
        if self._prompt == _digest(prompt):
            self._prepared = list(names)

    def to_json(self) -> dict[str, Json]:
        return {
            "shown": [list(pair) for pair in self.shown.items()][-_MAX_SHOWN:],
            "claims": [list(pair) for pair in self._claims.items()][-_MAX_CLAIMS:],
            "since": self.since, "has_begun": self.has_begun, "is_start_due": self.is_start_due,
            "prompt": self._prompt, "prepared": list(self._prepared),
        }  # fmt: skip


@contextmanager
def session_record(state: State, name: str) -> Iterator[SessionRecord]:
    """The record of a session, within a transaction at whose end it is stored. Raises LockedError, StoreError."""
    key = _digest(name)
    # Not synced to the disk, since an agent waits: after a crash of the machine a session is shown some memories again.
    with state.change(_WAIT_SECONDS, sync=False) as connection:
        found = connection.execute("SELECT record FROM agent_session WHERE name = ?", (key,)).fetchone()
        record = SessionRecord(json.loads(found[0]) if found else {})
        yield record
        # The highest number marks the record as the latest: `trim` retains the last hundred.
        connection.execute(
            "INSERT OR REPLACE INTO agent_session SELECT ?, 1 + ifnull(max(number), 0), ? FROM agent_session",
            (key, encode_line(record.to_json()).decode()),
        )
        if not found:
            trim(connection, "agent_session")


def begin_session(state: State, record: SessionRecord, now: str) -> None:
    """Records that the session of `record` begins at `now`, unless it had begun before."""
    if not record.has_begun:
        record.has_begun = True
        record.since = state.value(_LAST_START) or None
        with state.change(_WAIT_SECONDS, sync=False) as connection:
            set_value(connection, _LAST_START, now)


_DAYS = 1.0
# Keeps these hashes apart from any other use of the key.
_PERSON = b"memcli/topic/1"


class Topics:
    """The last topics of sessions, each stored for one day: its vector and the keyed hashes of its words that `sign` computes,
    never the words. Methods raise StoreError, LockedError."""

    def __init__(self, state: State, now: str) -> None:
        self._state, self._now = state, now
        self.sign = digester(state.layout, _PERSON)

    def of(self, session: str) -> LastTopic | None:
        """The last topic of a session; None if there is none, or it is older than a day."""
        found = self._state.rows("SELECT at, topic FROM topic WHERE session = ?", _digest(session))
        if not found or not self._is_new(found[0][0]):
            return None
        from memcli.conversation.topic import LastTopic, Trace

        data = json.loads(found[0][1])
        trace = Trace(frozenset(data["terms"]), frozenset(data["names"]), data["weight"])
        return LastTopic(trace, data["model"], a2b_base64(data["vector"]))

    def keep(self, session: str, topic: LastTopic) -> None:
        """Stores the last topic of a session, and removes all that are older than a day."""
        self.forget()
        with self._state.change(_WAIT_SECONDS, sync=False) as connection:
            trace = topic.trace
            data = {
                "terms": sorted(trace.terms), "names": sorted(trace.names), "weight": round(trace.weight, 2),
                "model": topic.model, "vector": b2a_base64(topic.vector, newline=False).decode(),
            }  # fmt: skip
            row = (_digest(session), self._now, encode_line(data).decode())
            connection.execute("INSERT OR REPLACE INTO topic VALUES (?, ?, ?)", row)

    def forget(self, session: str = "") -> None:
        """Removes the last topic of a session, and all that are older than a day."""
        gone = [
            name
            for name, at in self._state.rows("SELECT session, at FROM topic")
            if name == _digest(session) or not self._is_new(at)
        ]
        if gone:
            with self._state.change(_WAIT_SECONDS, sync=False) as connection:
                connection.executemany("DELETE FROM topic WHERE session = ?", ((name,) for name in gone))

    def _is_new(self, at: str) -> bool:
        return at <= self._now and days_between(at, self._now) < _DAYS


VERSION = 1
MAX_TEXT = 4_000


# An entry has `at`, `agent`, `event`, `session`, `cwd`, `transcript` and `text`. `event` is `after-compaction` (`text` is the
# summary), `stop` (`text` is the last message of the agent) or `session-end`. `session`, `cwd`, `transcript` and `text` are
# empty where the agent does not report them.
def add_report(state: State, entry: Mapping[str, Json]) -> None:
    """Appends the report of a hook to the queue, which `session sync` imports, oldest first. `text` of the entry is redacted and
    cut to 4,000 characters; the transcript is not copied. The oldest entries are dropped above the limit of the table.

    Raises LockedError, StoreError.
    """
    with state.change(_WAIT_SECONDS, sync=False) as connection:
        text = encode_line({"version": VERSION, **entry}).decode()
        connection.execute("INSERT INTO spool (entry) VALUES (?)", (text,))
        trim(connection, "spool")


def has_reports(state: State) -> bool:
    """Whether the queue of reports has entries."""
    return bool(state.rows("SELECT 1 FROM spool LIMIT 1"))


@contextmanager
def take_reports(state: State) -> Iterator[list[dict[str, Json]]]:
    """The entries of the queue, oldest first. They are deleted when the block ends without an exception.

    Raises LockedError while another process imports them, StoreError.
    """
    lock = state.layout.private("spool.lock")
    make_folder(os.path.dirname(lock))
    with locked(lock, "what agents' hooks reported", 0):
        found = state.rows("SELECT id, entry FROM spool ORDER BY id", strict=True)
        yield [json.loads(entry) for _, entry in found]
        if found:
            # Erased, not only deleted: no byte of a reported text may stay in the file.
            state.erase(lambda c: c.execute("DELETE FROM spool WHERE id <= ?", (found[-1][0],)))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
