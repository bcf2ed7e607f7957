"""The spool of sessions: what the hooks of agents report for a later command to take in.

`local/agents.spool.jsonl` has one JSON object a line, oldest first, and a line is written whole:

    {"version": 1, "at": "2026-05-03T12:00:00Z", "agent": "claude", "event": "stop", "session": "9f0c...",
     "cwd": "/home/ann/shop", "transcript": "/home/ann/.claude/projects/.../9f0c....jsonl", "text": "..."}

`event` is `after-compaction` (`text` is the summary), `stop` (`text` is the last message of the agent) or
`session-end`. `session`, `cwd`, `transcript` and `text` are empty where the agent does not report them. `text` is
redacted and cut to 4,000 characters; the transcript is not copied. Consumers skip lines of another `version`, and lines
that are not JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress

from memcli.codec.canonical import encode_line
from memcli.model.memory import Json
from memcli.store.atomic import append_line, make_folder
from memcli.store.layout import Layout
from memcli.store.reading import read_regular

VERSION = 1
MAX_TEXT = 4_000
_MAX_BYTES = 4_000_000


class Spool:
    """The spool of the store at `layout`. Once it is full, the older half makes room: `.1` holds it until the next time."""

    def __init__(self, layout: Layout) -> None:
        self._path = layout.local("agents.spool.jsonl")

    def add(self, entry: Mapping[str, Json]) -> None:
        """Appends a line. Raises OSError, StoreError."""
        make_folder(os.path.dirname(self._path))
        with suppress(FileNotFoundError):
            if os.path.getsize(self._path) >= _MAX_BYTES:
                os.replace(self._path, f"{self._path}.1")
        append_line(self._path, encode_line({"version": VERSION, **entry}))

    def entries(self) -> list[dict[str, Json]]:
        """What waits, oldest first."""
        found = []
        for path in (f"{self._path}.1", self._path):
            with suppress(OSError):
                for line in (read_regular(path, 2 * _MAX_BYTES) or b"").splitlines():
                    with suppress(ValueError):
                        entry = json.loads(line)
                        if isinstance(entry, dict) and entry.get("version") == VERSION:
                            found.append(entry)
        return found
