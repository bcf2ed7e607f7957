"""Logs: what a process in the background did, as lines of JSON, in a file that does not grow without bound."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress

from memcli.codec.canonical import encode_line
from memcli.model.memory import Json
from memcli.store.atomic import append_line
from memcli.store.reading import read_regular

MAX_BYTES = 1_000_000


class Log:
    """The log at `path`. Once it is full it becomes `path.1`, in the place of the one before. Not for several writers."""

    def __init__(self, path: str, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def add(self, entry: Mapping[str, Json]) -> None:
        """Appends a line. A log that cannot be written is done without: it must not stop what it tells of."""
        with suppress(OSError):
            self.append(entry)

    def append(self, entry: Mapping[str, Json]) -> None:
        """Appends a line. Raises OSError, StoreError."""
        with suppress(FileNotFoundError):
            if os.path.getsize(self._path) >= self._max_bytes:
                os.replace(self._path, f"{self._path}.1")
        append_line(self._path, encode_line(dict(entry)))

    def last(self, event: str | None = None) -> dict[str, Json] | None:
        """The last entry, or the last whose `event` is this one; None when the log does not have any."""
        for path in (self._path, f"{self._path}.1"):
            for line in reversed(_lines(path)):
                with suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict) and event in (None, entry.get("event")):
                        return entry
        return None


def _lines(path: str) -> list[bytes]:
    with suppress(OSError):
        return (read_regular(path, 2 * MAX_BYTES) or b"").splitlines()
    return []
