"""State: what a watcher has already told, so that it can go on where it ended."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from memcli.record import Record, field, replace

_RAW = "//"


class Stamp(NamedTuple):
    """How a file was when it was last told of. `digest` is empty for one too large to read."""

    size: int
    mtime_ns: int
    digest: str


class WatchState(Record):
    """The files told of, by path, and the commit told of up to: None when commits were never followed, empty when
    there were none yet."""

    head: str | None = None
    files: Mapping[str, Stamp] = field(default_factory=lambda: MappingProxyType({}))

    def doubting(self, paths: Iterable[str]) -> WatchState:
        """The state when it is not known what became of these files: each is looked at again, and told, or is gone."""
        return replace(self, files={**self.files, **dict.fromkeys(paths, UNKNOWN)})

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON values, sorted."""
        return {"head": self.head, "files": {_quote(path): list(self.files[path]) for path in sorted(self.files)}}

    @classmethod
    def from_json(cls, value: object) -> WatchState:
        """The state that `to_json` gave. Whatever cannot be understood is left out, and so will be looked at again."""
        data = value if isinstance(value, dict) else {}
        head, files = data.get("head"), data.get("files")
        stamps = {}
        for path, facts in files.items() if isinstance(files, dict) else ():
            match facts:
                case [int(size), int(mtime_ns), str(digest)] if isinstance(path, str):
                    stamps[_unquote(path)] = Stamp(size, mtime_ns, digest)
        return cls(head if isinstance(head, str) else None, stamps)


UNKNOWN = Stamp(-1, -1, "")


def paths_to_json(paths: Iterable[str]) -> list[str]:
    """Names of files as plain JSON, in their order."""
    return [_quote(path) for path in paths]


def paths_from_json(value: object) -> list[str]:
    """The names that `paths_to_json` gave; whatever cannot be understood is left out."""
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
