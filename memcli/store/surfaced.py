"""What the sessions of agents were shown, in `local/agents/`: nothing is shown twice in a session until it or the topic changes.

One file a session, and one with the time of the last session start. Parallel processes share a lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from memcli.codec.canonical import encode_line
from memcli.digests import sha256
from memcli.model.memory import Json
from memcli.store.atomic import make_folder, remove_quietly, replace_file
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_json

_WAIT_SECONDS = 1.0
_SAME_SECONDS = 10
"""For how long a second call for the same event counts as the call of another harness."""
_MAX_SHOWN = 1_000
_MAX_CLAIMS = 40
_MAX_SESSIONS = 100


class SessionRecord:
    """The record of one session, while its lock is held. `since` is when the session before it began;
    `is_start_due`: what is shown at a start has yet to be shown."""

    def __init__(self, data: Mapping[str, Json]) -> None:
        self.shown = _pairs(data.get("shown"))
        self._claims = _pairs(data.get("claims"))
        since = data.get("since")
        self.since: str | None = since if isinstance(since, str) else None
        self.has_begun = data.get("has_begun") is True
        self.is_start_due = data.get("is_start_due") is True
        self._prompt = str(data.get("prompt") or "")
        prepared = data.get("prepared")
        self._prepared = [name for name in prepared if isinstance(name, str)] if isinstance(prepared, list) else []

    def claim(self, what: str, now: str) -> bool:
        """Whether this is the first call for `what` within a few seconds; notes the call."""
        if self.was_claimed(what, now):
            return False
        key = _digest(what)
        self._claims.pop(key, None)
        self._claims[key] = now
        return True

    def was_claimed(self, what: str, now: str) -> bool:
        """Whether there was a call for `what` within a few seconds before `now`."""
        before = self._claims.get(_digest(what))
        return before is not None and _seconds_between(before, now) <= _SAME_SECONDS

    def is_unseen(self, name: str, stamp: str) -> bool:
        """Whether the session was not shown the memory, or only before it changed."""
        return self.shown.get(name) != stamp

    def note(self, stamps: Mapping[str, str]) -> None:
        """Notes what the session was shown."""
        for name, stamp in stamps.items():
            self.shown.pop(name, None)
            self.shown[name] = stamp

    def turn(self, prompt: str) -> list[str]:
        """Notes that `prompt` is the last one; what was prepared since the one before it."""
        prepared, self._prepared = self._prepared, []
        self._prompt = _digest(prompt)
        return prepared

    def prepare(self, prompt: str, names: Sequence[str]) -> None:
        """Keeps memories for the prompt after `prompt`, unless that has come meanwhile."""
        if self._prompt == _digest(prompt):
            self._prepared = list(names)

    def to_json(self) -> dict[str, Json]:
        return {
            "shown": [list(pair) for pair in self.shown.items()][-_MAX_SHOWN:],
            "claims": [list(pair) for pair in self._claims.items()][-_MAX_CLAIMS:],
            "since": self.since,
            "has_begun": self.has_begun,
            **({"is_start_due": True} if self.is_start_due else {}),
            "prompt": self._prompt,
            "prepared": list(self._prepared),
        }


class Surfaced:
    """The records of all sessions of the store at `layout`."""

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.private("agents")
        self._lock = layout.private("agents.lock")
        self._last = layout.private("agents.last.json")

    @contextmanager
    def session(self, name: str) -> Iterator[SessionRecord]:
        """The record of a session, locked; what changes in it is kept. Raises LockedError, StoreError, OSError."""
        path = os.path.join(self._folder, f"{_digest(name)}.json")
        make_folder(self._folder)
        with locked(self._lock, "the sessions of agents", _WAIT_SECONDS):
            data = read_json(path)
            record = SessionRecord(data if isinstance(data, dict) else {})
            yield record
            replace_file(path, encode_line(record.to_json()))

    def begin(self, record: SessionRecord, now: str) -> None:
        """Notes that the session of `record` begins, unless it had begun before. Raises OSError."""
        if record.has_begun:
            return
        record.has_begun = True
        last = read_json(self._last)
        at = last.get("at") if isinstance(last, dict) else None
        record.since = at if isinstance(at, str) else None
        replace_file(self._last, encode_line({"at": now}))
        self._prune()

    def _prune(self) -> None:
        """Removes the records of the oldest sessions."""
        files = []
        for entry in os.scandir(self._folder):
            with suppress(OSError):
                files.append((entry.stat().st_mtime_ns, entry.path))
        for _, path in sorted(files)[:-_MAX_SESSIONS]:
            remove_quietly(path)


def _pairs(data: Json) -> dict[str, str]:
    """Pairs of texts, oldest first."""
    pairs = data if isinstance(data, list) else []
    return {p[0]: p[1] for p in pairs if isinstance(p, list) and len(p) == 2 and all(isinstance(t, str) for t in p)}


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _seconds_between(earlier: str, later: str) -> float:
    try:
        return abs((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds())
    except (ValueError, TypeError):
        return _SAME_SECONDS + 1
