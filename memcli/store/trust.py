"""Whether somebody here has accepted the store, and which memories came from elsewhere and were not accepted yet.

`trust.json` of the private state says so, for all work trees of the repository. Nothing in a clone may say it for itself,
and a file can be committed though it is ignored. So the file is sealed as `store/place.py` says: it names the inode of
its folder, its time of change is an even second to the nanosecond, and it bears a digest by the key of this user. A store
that was moved stays trusted, and so does a copy by the same user.

What is not told apart: an archive that holds the user's own private state, changed by somebody else and unpacked again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress

from memcli.codec.canonical import encode, encode_line
from memcli.digests import blake2b
from memcli.errors import StoreError
from memcli.model.memory import Json
from memcli.store.atomic import create_file, make_folder, remove_quietly, write_file
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_regular

_NAME = "machine.key"
_BYTES = 32
_PERSON = b"memcli/seal/1"


def seal(facts: Mapping[str, Json]) -> str:
    """A digest of `facts` that only this user can make; empty where no key can be kept. The key is made at first need."""
    key = _read() or _make()
    return _digest(key, facts) if key else ""


def is_sealed(facts: Mapping[str, Json], digest: object) -> bool:
    """Whether `digest` is what `seal` gave for these facts."""
    key = _read() if digest else None
    return key is not None and _digest(key, facts) == digest


def _digest(key: bytes, facts: Mapping[str, Json]) -> str:
    return blake2b(encode_line(dict(facts)), digest_size=32, key=key, person=_PERSON).hexdigest()


def _path() -> str:
    system = sys.platform
    if system == "linux":  # as `wiring/roots.py` finds the user-wide store
        home = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
        return os.path.join(home, "memcli", _NAME)
    import platformdirs

    return os.path.join(platformdirs.user_data_dir("memcli", appauthor=False), _NAME)


def _read() -> bytes | None:
    try:
        key = read_regular(_path(), _BYTES + 1)
    except OSError:
        return None
    return key if key is not None and len(key) == _BYTES else None


def _make() -> bytes | None:
    """A new key, or the one that another process made meanwhile; None where there is no place for one."""
    with suppress(OSError, StoreError):
        make_folder(os.path.dirname(_path()))
        create_file(_path(), os.urandom(_BYTES))
    return _read()


FORMAT = "memcli/trust"
EVEN = 2_000_000_000
"""A sealed file has a time of change that this divides, in nanoseconds."""
_MAX_BYTES = 64 << 20


class FileTrust:
    """What the private state knows of trust. Read once for each command; one file when nothing waits to be reviewed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = layout.private("trust.json")
        self._seal: dict[str, Json] | None = None
        self._ids: dict[str, frozenset[str]] = {}

    @property
    def is_accepted(self) -> bool:
        """Whether the store was made here, or came with a clone that was accepted here."""
        if self._seal is None:
            self._seal = self._read_seal()
        return bool(self._seal)

    def is_reviewed(self, space: str, name: str) -> bool:
        """Whether the memory of this id is neither of a store nor of an import that waits to be accepted."""
        return self.is_accepted and name not in self.waiting(space)

    def waiting(self, space: str) -> frozenset[str]:
        """The ids that were imported and not accepted."""
        if space not in self._ids:
            listed = self.is_accepted and space in self._spaces()
            self._ids[space] = self._read_ids(space) if listed else frozenset()
        return self._ids[space]

    def accept(self) -> None:
        """Accepts the store. Raises StoreError, LockedError."""
        make_folder(os.path.dirname(self._path))
        with self._locked():
            self._write_seal(self._spaces() if self.is_accepted else [])

    def revoke(self) -> None:
        """Takes it back."""
        remove_quietly(self._path)
        self._forget()

    def bring(self, space: str, ids: Iterable[str]) -> None:
        """Memories of these ids came from elsewhere. Raises StoreError, LockedError."""
        self._change(space, lambda known: known | frozenset(ids))

    def accept_memories(self, space: str, ids: Iterable[str] | None = None) -> int:
        """Accepts what was imported, or of it these ids; returns how many. Raises StoreError, LockedError."""
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
            if ids:
                self._write_ids(space, ids)
            self._write_seal(sorted(spaces))
            if not ids:
                remove_quietly(self._list(space))

    def _locked(self) -> AbstractContextManager[object]:
        make_folder(os.path.dirname(self._path))
        return locked(self._layout.private("trust.lock"), "the trust of this store")

    def _spaces(self) -> list[str]:
        spaces = (self._seal or {}).get("unreviewed", [])
        return [name for name in spaces if isinstance(name, str)] if isinstance(spaces, list) else []

    def _forget(self) -> None:
        self._seal = None
        self._ids = {}

    def _read_seal(self) -> dict[str, Json]:
        """What the file says; nothing when it is not there, or neither of this folder nor of this user."""
        try:
            folder = os.stat(os.path.dirname(self._path)).st_ino
            changed = os.lstat(self._path).st_mtime_ns
            found = json.loads(read_regular(self._path, _MAX_BYTES) or b"null")
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            return {}
        is_here = found.get("folder") == folder and changed % EVEN == 0
        return found if is_here or is_sealed(_facts(found), found.get("seal")) else {}

    def _write_seal(self, spaces: Iterable[str]) -> None:
        folder = os.stat(os.path.dirname(self._path))
        facts: dict[str, Json] = {"format": FORMAT, "version": 1, "unreviewed": sorted(spaces)}
        data = {**facts, "folder": folder.st_ino, "seal": seal(facts)}
        even = folder.st_mtime_ns // EVEN * EVEN
        write_file(self._path, encode(data) + b"\n", 0o600, alone=True, changed_ns=even)
        self._forget()

    def _write_ids(self, space: str, ids: Iterable[str]) -> None:
        path = self._list(space)
        make_folder(os.path.dirname(path))
        write_file(path, encode({"ids": sorted(ids)}) + b"\n", 0o600, alone=True)

    def _read_ids(self, space: str) -> frozenset[str]:
        path = self._list(space)
        try:
            ids = json.loads(read_regular(path, _MAX_BYTES) or b"{}").get("ids", [])
        except (OSError, ValueError, AttributeError):
            return frozenset()
        return frozenset(name for name in ids if isinstance(name, str))

    def _list(self, space: str) -> str:
        return self._layout.private(os.path.join("unreviewed", f"{space}.json"))


def _facts(found: Mapping[str, Json]) -> dict[str, Json]:
    return {"format": FORMAT, "version": found.get("version"), "unreviewed": found.get("unreviewed")}
