"""What hooks leave in `local/`: a line for each run, and up to which commit each work tree was followed."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, suppress

from memcli.codec.canonical import encode, encode_line
from memcli.model.memory import Json
from memcli.store.atomic import append_line, make_folder, read_json, write_file
from memcli.store.layout import Layout
from memcli.store.lock import Held, locked

_MAX_BYTES = 1_000_000


class HookLog:
    """The log, of at most two files of a megabyte each, and the state, of one space."""

    def __init__(self, layout: Layout, space: str) -> None:
        self._log = layout.local("hooks.log")
        self._state = layout.local(f"{space}.hooks.json")
        self._lock = layout.local("hooks.lock")

    def add(self, entry: Json) -> None:
        """Appends a line. Raises OSError, StoreError."""
        make_folder(os.path.dirname(self._log))
        with suppress(FileNotFoundError):
            if os.path.getsize(self._log) >= _MAX_BYTES:
                os.replace(self._log, f"{self._log}.1")
        append_line(self._log, encode_line(entry))

    def one_at_a_time(self, wait: float) -> AbstractContextManager[Held | None]:
        """Held while a hook works: those of commits that follow fast on one another would do the same work."""
        make_folder(os.path.dirname(self._lock))
        return locked(self._lock, "the work of hooks", wait)

    def seen(self, git_dir: str) -> str:
        """The commit up to which a work tree was followed, by its git folder as seen from the store, which may be moved
        with it; empty when it never was."""
        found = self._heads().get(git_dir)
        return found if isinstance(found, str) else ""

    def see(self, git_dir: str, commit: str) -> None:
        """Notes it. Raises StoreError."""
        if self.seen(git_dir) != commit:
            write_file(self._state, encode({"heads": {**self._heads(), git_dir: commit}}), 0o600)

    def _heads(self) -> dict[str, Json]:
        data = read_json(self._state)
        heads = data.get("heads") if isinstance(data, dict) else None
        return dict(heads) if isinstance(heads, dict) else {}
