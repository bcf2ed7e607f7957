"""State: what a watch has seen and stored, kept in `local/`, so that the next one goes on from there.

A save replaces the whole state. The paths of a batch are appended to the doubts before it is stored, and the doubts are
removed once the state behind them is saved: whenever a watch is killed, the next one reads those files again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from memcli.codec.canonical import encode, encode_line
from memcli.model.changes import Batch
from memcli.record import Record, field, replace

_RAW = "//"
_STATE, _DOUBTS = "watch.json", "watch.doubts"


class Stamp(NamedTuple):
    """How a file was when it was last seen. `digest` is empty for one too large to read."""

    size: int
    mtime_ns: int
    digest: str


class WatchState(Record):
    """The files seen, by path, and the last commit seen: None when commits were never followed, empty when there were
    none yet."""

    head: str | None = None
    files: Mapping[str, Stamp] = field(default_factory=lambda: MappingProxyType({}))

    def doubting(self, paths: Iterable[str]) -> WatchState:
        """The state when it is not known what became of these files: the next scan finds each changed, or gone."""
        return replace(self, files={**self.files, **dict.fromkeys(paths, UNKNOWN)})

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON values, sorted."""
        return {"head": self.head, "files": {_quote(path): list(self.files[path]) for path in sorted(self.files)}}

    @classmethod
    def from_json(cls, value: object) -> WatchState:
        """The state that `to_json` gave. Whatever cannot be understood is left out, and so will be read again."""
        data = value if isinstance(value, dict) else {}
        head, files = data.get("head"), data.get("files")
        stamps = {}
        for path, facts in files.items() if isinstance(files, dict) else ():
            match facts:
                case [int(size), int(mtime_ns), str(digest)] if isinstance(path, str):
                    stamps[_unquote(path)] = Stamp(size, mtime_ns, digest)
        return cls(head if isinstance(head, str) else None, stamps)


UNKNOWN = Stamp(-1, -1, "")


class Local(Protocol):
    """The files of one space's watch in `local/`, by name. Those that read and write raise StoreError."""

    def read(self, name: str) -> bytes:
        """The content; empty when there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Replaces the content, durably and all at once."""

    def append(self, name: str, line: bytes) -> None:
        """Adds a line, durably; it is a line of its own also after one that was cut off."""

    def remove(self, name: str) -> None:
        """Removes the file when it is there and can be."""

    def without_secrets(self, paths: Sequence[str]) -> Sequence[str]:
        """The paths that may be written down."""


class SavedState:
    """The state on disk, and behind it the paths of the files that it may be wrong about. A file whose name is a secret
    is in neither, and is read again by each watch."""

    def __init__(self, local: Local) -> None:
        self._local = local

    def load(self) -> WatchState | None:
        """The state, in doubt of some files; None when there is none yet. Raises StoreError."""
        known = _from_json(self._local.read(_STATE))
        lines = self._local.read(_DOUBTS).splitlines()
        # The last line may be half of one, of a watch that was killed.
        doubts = [path for line in lines for path in _paths(_from_json(line))]
        if known is None and not doubts:
            return None
        return WatchState.from_json(known).doubting(doubts)

    def save(self, state: WatchState) -> None:
        """Replaces the state, of which nothing is in doubt. Raises StoreError."""
        kept = self._local.without_secrets(list(state.files))
        if len(kept) != len(state.files):
            state = replace(state, files={path: state.files[path] for path in kept})
        self._local.write(_STATE, encode(state.to_json()))
        self._local.remove(_DOUBTS)  # killed before this, the next watch reads some files in vain

    def doubt(self, batch: Batch) -> None:
        """Notes that the files of this batch may or may not be stored, until the next `save`. Raises StoreError."""
        if paths := batch.paths():
            safe = self._local.without_secrets(paths)
            self._local.append(_DOUBTS, encode_line([_quote(path) for path in safe]))


def _from_json(data: bytes) -> object:
    try:
        return json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None


def _paths(value: object) -> list[str]:
    return [_unquote(path) for path in value if isinstance(path, str)] if isinstance(value, list) else []


def _quote(path: str) -> str:
    """A name that is no UTF-8 has no place in JSON; no relative path begins with `//`."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return _RAW + os.fsencode(path).hex()
    return path


def _unquote(path: str) -> str:
    if not path.startswith(_RAW):
        return path
    try:
        return os.fsdecode(bytes.fromhex(path.removeprefix(_RAW)))
    except ValueError:
        return path
