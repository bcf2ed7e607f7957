"""Whether somebody here has accepted the store, and which memories came from elsewhere and were not accepted yet.

`local/trust.json` says so. Nothing in a clone may say it for itself, and a file can be committed though it is ignored.
So the file is sealed with what no clone and no archive can bring along: it names the inode of its folder, and its
time of change is an even second to the nanosecond, which a checkout practically never is. A copy of a store is not
trusted either; one that was moved is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from memcli.codec.canonical import encode
from memcli.store.atomic import make_folder, read_regular, remove_quietly, write_file
from memcli.store.layout import Layout
from memcli.store.lock import locked

FORMAT = "memcli/trust"
_EVEN = 2_000_000_000
_MAX_BYTES = 64 << 20


class FileTrust:
    """What `local/` knows of trust. Read once for each command; one file when nothing waits to be reviewed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = layout.local("trust.json")
        self._seal: dict[str, object] | None = None
        self._ids: dict[str, frozenset[str]] = {}

    @property
    def is_accepted(self) -> bool:
        if self._seal is None:
            self._seal = self._read_seal()
        return bool(self._seal)

    def is_reviewed(self, space: str, name: str) -> bool:
        return self.is_accepted and name not in self.waiting(space)

    def waiting(self, space: str) -> frozenset[str]:
        if space not in self._ids:
            listed = self.is_accepted and space in self._spaces()
            self._ids[space] = self._read_ids(space) if listed else frozenset()
        return self._ids[space]

    def accept(self) -> None:
        make_folder(os.path.dirname(self._path))
        with self._locked():
            self._write_seal(self._spaces() if self.is_accepted else [])

    def revoke(self) -> None:
        remove_quietly(self._path)
        self._forget()

    def bring(self, space: str, ids: Iterable[str]) -> None:
        self._change(space, lambda known: known | frozenset(ids))

    def accept_memories(self, space: str, ids: Iterable[str] | None = None) -> int:
        before = self.waiting(space)
        if before:
            gone = before if ids is None else frozenset(ids)
            self._change(space, lambda known: known - gone)
        return len(before - self.waiting(space))

    def _change(self, space: str, change: Callable[[frozenset[str]], frozenset[str]]) -> None:
        if not self.is_accepted:
            return  # all of it is unreviewed anyway, and accepting the store means to accept all of it
        with self._locked():
            self._forget()
            ids = change(self.waiting(space))
            spaces = {*self._spaces(), space} if ids else {*self._spaces()} - {space}
            path = self._layout.local(os.path.join("unreviewed", f"{space}.json"))
            if ids:
                make_folder(os.path.dirname(path))
                write_file(path, encode({"ids": sorted(ids)}) + b"\n", 0o600, alone=True)
            self._write_seal(sorted(spaces))
            if not ids:
                remove_quietly(path)

    def _locked(self) -> AbstractContextManager[object]:
        make_folder(os.path.dirname(self._path))
        return locked(self._layout.local("trust.lock"), "the trust of this store")

    def _spaces(self) -> list[str]:
        spaces = (self._seal or {}).get("unreviewed", [])
        return [name for name in spaces if isinstance(name, str)] if isinstance(spaces, list) else []

    def _forget(self) -> None:
        self._seal = None
        self._ids = {}

    def _read_seal(self) -> dict[str, object]:
        """What the file says; nothing when it is not there, or not of this place."""
        try:
            folder = os.stat(os.path.dirname(self._path)).st_ino
            changed = os.lstat(self._path).st_mtime_ns
            seal = json.loads(read_regular(self._path, _MAX_BYTES) or b"null")
        except (OSError, ValueError, RecursionError):
            return {}
        valid = isinstance(seal, dict) and seal.get("format") == FORMAT and seal.get("folder") == folder
        return seal if valid and changed % _EVEN == 0 else {}

    def _write_seal(self, spaces: Iterable[str]) -> None:
        folder = os.stat(os.path.dirname(self._path))
        seal = {"format": FORMAT, "version": 1, "folder": folder.st_ino, "unreviewed": sorted(spaces)}
        even = folder.st_mtime_ns // _EVEN * _EVEN
        write_file(self._path, encode(seal) + b"\n", 0o600, alone=True, changed_ns=even)
        self._forget()

    def _read_ids(self, space: str) -> frozenset[str]:
        path = self._layout.local(os.path.join("unreviewed", f"{space}.json"))
        try:
            ids = json.loads(read_regular(path, _MAX_BYTES) or b"{}").get("ids", [])
        except (OSError, ValueError, AttributeError):
            return frozenset()
        return frozenset(name for name in ids if isinstance(name, str))
