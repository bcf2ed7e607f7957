"""Whether somebody here has accepted the store, and which memories came from elsewhere and were not accepted yet.

`trust.json` of the private state says so, for all work trees of the repository. Nothing in a clone may say it for itself, so
the file is sealed (see `store/key.py`). A store that was moved stays trusted, and so does a copy by the same user.

What cannot be distinguished: an archive that holds the user's own private state, changed by somebody else and unpacked again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from memcli.codec.canonical import encode
from memcli.store.atomic import make_folder, remove_quietly, write_file
from memcli.store.key import read_sealed, write_sealed
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_regular

_FORMAT, _FACT = "memcli/trust", "unreviewed"
_MAX_BYTES = 64 << 20
_UNREAD: list[str] = []


class FileTrust:
    """What the private state knows of trust. Read once for each command; one file when nothing waits to be reviewed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = layout.private("trust.json")
        self._spaces: list[str] | None = _UNREAD
        self._ids: dict[str, frozenset[str]] = {}

    @property
    def is_accepted(self) -> bool:
        """Whether the store was made here, or came with a clone that was accepted here."""
        return self._unreviewed is not None

    def is_reviewed(self, space: str, name: str) -> bool:
        """Whether the memory of this id is neither of a store nor of an import that waits to be accepted."""
        return self.is_accepted and name not in self.waiting(space)

    def waiting(self, space: str) -> frozenset[str]:
        """The ids that were imported and not accepted."""
        if space not in self._ids:
            self._ids[space] = self._read_ids(space) if space in (self._unreviewed or ()) else frozenset()
        return self._ids[space]

    def accept(self) -> None:
        """Accepts the store. Raises StoreError, LockedError."""
        make_folder(os.path.dirname(self._path))
        with self._locked():
            self._write(self._unreviewed or ())

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
            path = self._list(space)
            if ids:  # before the seal names the space: a list that is missing passes for an empty one
                make_folder(os.path.dirname(path))
                write_file(path, encode({"ids": sorted(ids)}) + b"\n", 0o600, alone=True)
            others = {*(self._unreviewed or ())} - {space}
            self._write({*others, space} if ids else others)
            if not ids:
                remove_quietly(path)

    def _locked(self) -> AbstractContextManager[object]:
        make_folder(os.path.dirname(self._path))
        return locked(self._layout.private("trust.lock"), "the trust of this store")

    @property
    def _unreviewed(self) -> list[str] | None:
        """The spaces that have unreviewed memories; None where nobody has accepted the store."""
        if self._spaces is _UNREAD:
            found, is_here = read_sealed(self._path, _FORMAT, _FACT)
            names = [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
            self._spaces = names if is_here or found is not None else None
        return self._spaces

    def _write(self, spaces: Iterable[str]) -> None:
        write_sealed(self._path, _FORMAT, _FACT, sorted(spaces))
        self._forget()

    def _forget(self) -> None:
        self._spaces = _UNREAD
        self._ids = {}

    def _read_ids(self, space: str) -> frozenset[str]:
        path = self._list(space)
        try:
            ids = json.loads(read_regular(path, _MAX_BYTES) or b"{}").get("ids", [])
        except (OSError, ValueError, AttributeError):
            return frozenset()
        return frozenset(name for name in ids if isinstance(name, str))

    def _list(self, space: str) -> str:
        return self._layout.private(os.path.join("unreviewed", f"{space}.json"))
