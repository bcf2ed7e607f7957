"""Logs in `local/` of what background processes and hooks did: lines of JSON, in files of limited size."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, suppress

from memcli import beneath
from memcli.codec.canonical import encode, encode_line
from memcli.model.findings import Failure
from memcli.model.memory import Json
from memcli.record import Record
from memcli.store.atomic import append_line, make_folder, read_json, read_regular, write_file
from memcli.store.layout import Layout
from memcli.store.lock import HeldLock, locked

MAX_BYTES = 1_000_000


class Log(Record):
    """A log of JSON lines at `path`. At `max_bytes` it is renamed to `path.1`, replacing an earlier one. Only one process at a
    time may write to it."""

    _path: str
    max_bytes: int = MAX_BYTES

    def add(self, entry: Mapping[str, Json]) -> None:
        """Appends a line. Never raises OSError: a log must not stop the work that it records."""
        with suppress(OSError):
            self.append(entry)

    def append(self, entry: Mapping[str, Json]) -> None:
        """Appends a line. Raises OSError, StoreError."""
        with suppress(FileNotFoundError):
            if os.path.getsize(self._path) >= self.max_bytes:
                beneath.replace(self._path, f"{self._path}.1")
        append_line(self._path, encode_line(dict(entry)))

    def last(self, event: str | None = None) -> dict[str, Json] | None:
        """The last entry, or the last with this `event`; None if there is none."""
        for path in (self._path, f"{self._path}.1"):
            lines: list[bytes] = []
            with suppress(OSError):
                lines = (read_regular(path, 2 * MAX_BYTES) or b"").splitlines()
            for line in reversed(lines):
                # A line that a crash tore must not hide the entries before it.
                with suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict) and event in (None, entry.get("event")):
                        return entry
        return None


_MAX_SKIPPED = 1_000
_OF_SKIPPED = ("commit", "reason", "at")


class HookLog:
    """What the git hooks did in one space: their log, which all spaces share, and the commits up to which they followed."""

    def __init__(self, layout: Layout, space: str) -> None:
        self._log = Log(layout.local("hooks.log"))
        self._state = layout.local(f"{space}.hooks.json")
        self._lock = layout.local("hooks.lock")

    def add(self, entry: Mapping[str, Json]) -> None:
        """Appends a line. Raises OSError, StoreError."""
        make_folder(os.path.dirname(self._state))
        self._log.append(entry)

    def one_at_a_time(self, wait: float) -> AbstractContextManager[HeldLock | None]:
        """The lock for the work of a hook, so that hooks of commits in quick succession do not repeat it."""
        make_folder(os.path.dirname(self._lock))
        return locked(self._lock, "the work of hooks", wait)

    def head(self, git_dir: str) -> str:
        """The commit up to which a work tree was ingested; empty if none was. `git_dir` is the git folder of the work tree,
        relative to the store, so that both can be moved together."""
        found = self._heads().get(git_dir)
        return found if isinstance(found, str) else ""

    def set_head(self, git_dir: str, commit: str) -> None:
        """Records the commit up to which a work tree was ingested. Raises StoreError."""
        if self.head(git_dir) != commit:
            self._write({**self._load(), "heads": {**self._heads(), git_dir: commit}})

    def last(self) -> dict[str, Json]:
        """The last entry of the log; empty if there is none."""
        return self._log.last() or {}

    def skipped(self) -> list[dict[str, str]]:
        """The commits that a hook could not ingest, each with the reason and the time, oldest first."""
        found = self._load().get("skipped")
        entries = found if isinstance(found, list) else []
        return [e for e in entries if isinstance(e, dict) and all(isinstance(e.get(name), str) for name in _OF_SKIPPED)]

    def skip(self, failures: Iterable[Failure], at: str, settled: Collection[str] = ()) -> None:
        """Records commits that could not be ingested, of which the last 1,000 are stored, and removes those that are `settled`:
        they were ingested after all, or no longer exist. Raises StoreError."""
        # The hooks go on behind a commit that fails, or it would hold up all later ones; `hook retry` reads this list.
        new = {f.commit: {"commit": f.commit, "reason": f.reason, "at": at} for f in failures if f.commit}
        if new or settled:
            others = [e for e in self.skipped() if e["commit"] not in new and e["commit"] not in settled]
            self._write({**self._load(), "skipped": [*others, *new.values()][-_MAX_SKIPPED:]})

    def _heads(self) -> dict[str, Json]:
        heads = self._load().get("heads")
        return dict(heads) if isinstance(heads, dict) else {}

    def _load(self) -> dict[str, Json]:
        data = read_json(self._state)
        return dict(data) if isinstance(data, dict) else {}

    def _write(self, state: dict[str, Json]) -> None:
        write_file(self._state, encode({name: value for name, value in state.items() if value}), 0o600)
