"""The spool of sessions: what the hooks of agents report for a later command to take in.

`agents.spool.jsonl` has one JSON object a line, oldest first, and a line is written whole:

    {"version": 1, "at": "2026-05-03T12:00:00Z", "agent": "claude", "event": "stop", "session": "9f0c...",
     "cwd": "/home/ann/shop", "transcript": "/home/ann/.claude/projects/.../9f0c....jsonl", "text": "..."}

`event` is `after-compaction` (`text` is the summary), `stop` (`text` is the last message of the agent) or
`session-end`. `session`, `cwd`, `transcript` and `text` are empty where the agent does not report them. `text` is
redacted and cut to 4,000 characters; the transcript is not copied. While lines are taken in they are in
`agents.spool.jsonl.taken`. Consumers skip lines of another `version`, and lines
that are not JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress

from memcli import beneath
from memcli.codec.canonical import encode_line
from memcli.model.memory import Json
from memcli.store.atomic import append_line, make_folder
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_regular

VERSION = 1
MAX_TEXT = 4_000
_MAX_BYTES = 4_000_000
_WAIT_SECONDS = 1.0


class Spool:
    """The spool of the store at `layout`. Once it is full, the older half makes room: `.1` holds it until the next time."""

    def __init__(self, layout: Layout) -> None:
        self._path = layout.private("agents.spool.jsonl")

    def add(self, entry: Mapping[str, Json]) -> None:
        """Appends a line. Raises OSError, LockedError, StoreError."""
        make_folder(os.path.dirname(self._path))
        with self._locked():
            with suppress(FileNotFoundError):
                if os.path.getsize(self._path) >= _MAX_BYTES:
                    beneath.replace(self._path, f"{self._path}.1")
            append_line(self._path, encode_line({"version": VERSION, **entry}))

    @property
    def is_waiting(self) -> bool:
        """Whether there is anything to take in."""
        return any(map(os.path.exists, self._paths))

    @contextmanager
    def taking(self) -> Iterator[list[dict[str, Json]]]:
        """What waits, oldest first, to be taken in by one process alone; it is gone after the block, unless that raised.

        Raises LockedError if another process takes it in, OSError, StoreError.
        """
        taken = self._paths[0]
        make_folder(os.path.dirname(taken))
        with locked(f"{self._path}.taking.lock", "what agents' hooks reported", 0):
            with self._locked():
                is_full = os.path.exists(taken) and os.path.getsize(taken) >= _MAX_BYTES
                for path in [] if is_full else self._paths[1:]:
                    with suppress(FileNotFoundError):
                        for line in (read_regular(path, 2 * _MAX_BYTES) or b"").splitlines():
                            append_line(taken, line)
                        beneath.unlink(path)
            yield self._read([taken])
            with suppress(FileNotFoundError):
                beneath.unlink(taken)

    def entries(self) -> list[dict[str, Json]]:
        """What waits, oldest first."""
        return self._read(self._paths)

    @property
    def _paths(self) -> list[str]:
        return [f"{self._path}.taken", f"{self._path}.1", self._path]

    def _locked(self) -> AbstractContextManager[object]:
        return locked(f"{self._path}.lock", "the spool of sessions", _WAIT_SECONDS)

    def _read(self, paths: Iterable[str]) -> list[dict[str, Json]]:
        found = []
        for path in paths:
            with suppress(OSError):
                for line in (read_regular(path, 4 * _MAX_BYTES) or b"").splitlines():
                    with suppress(ValueError):
                        entry = json.loads(line)
                        if isinstance(entry, dict) and entry.get("version") == VERSION:
                            found.append(entry)
        return found
