"""The state of a space after its last sync with another store, in `sync/<space>/`: the base of the next three-way merge."""

from __future__ import annotations

import os
from collections.abc import Collection

from memcli.codec.canonical import decode, encode_line
from memcli.codec.space import decode_space, encode_full
from memcli.digests import sha256
from memcli.errors import CorruptError, StoreError
from memcli.model.links import Lineage, SyncPoint
from memcli.record import Record, replace
from memcli.store.atomic import listed, make_folder, read_stored, remove_file, write_file
from memcli.store.layout import Layout

_FORMAT, _VERSION = "memcli/sync", 2
_MODE, _FOLDER_MODE = 0o600, 0o700


class FileSyncBase(Record):
    """The bases of the store at `layout` for syncs with the store at `address`."""

    _layout: Layout
    _address: str

    def load(self, space: str, store: str) -> SyncPoint | None:
        """The base of the last sync with the store of this id; None if there was none. Raises StoreError."""
        found = _read(os.path.join(_folder(self._layout, space), self._name(store)))
        return found and found[1]

    def has_other(self, space: str, store: str) -> bool:
        """Whether another store was at this address at an earlier sync. Raises StoreError."""
        paths = (path for path in _paths(self._layout, space) if os.path.basename(path) != self._name(store))
        return any(found is not None and self._address in found[0] for found in map(_read, paths))

    def save(self, point: SyncPoint) -> None:
        """Stores the base, which both sides have now. Raises StoreError."""
        folder = _folder(self._layout, point.space.name)
        if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
            raise StoreError(f"{folder} is a symbolic link", "replace it with a folder")
        make_folder(os.path.dirname(folder), _FOLDER_MODE)
        make_folder(folder, _FOLDER_MODE)
        path = os.path.join(folder, self._name(point.lineage.store))
        known = _read(path)
        # A store may be reached by several addresses. Each is remembered, so that another store at one of them is noticed.
        _write(path, {self._address, *(known[0] if known else ())}, point)

    def _name(self, store: str) -> str:
        """The file name for a store id; for a store in files, which has none, for the address."""
        digest = sha256(store.encode()).hexdigest() if store else self._address
        return f"{digest[:16]}.json"


def erase_bases(layout: Layout, space: str, ids: Collection[str]) -> None:
    """Removes the memories of these ids from every base of the space. Raises StoreError."""
    for path in _paths(layout, space):
        found = _read(path)
        if found is None:
            remove_file(path)  # a damaged file may contain the memories
            continue
        addresses, point = found
        left = tuple(memory for memory in point.space.objects if memory.id not in ids)
        if len(left) < len(point.space.objects):
            _write(path, addresses, replace(point, space=replace(point.space, objects=left)))


def _paths(layout: Layout, space: str) -> list[str]:
    """The files of the bases of a space, sorted. Raises StoreError."""
    folder = _folder(layout, space)
    return [os.path.join(folder, name) for name in listed(folder) if name.endswith(".json")]


def _folder(layout: Layout, space: str) -> str:
    return layout.private(os.path.join("sync", space))


def _write(path: str, addresses: Collection[str], point: SyncPoint) -> None:
    data = encode_full(point.space)
    lineage = point.lineage
    head = {
        "format": _FORMAT, "version": _VERSION, "hash": sha256(data).hexdigest(), "addresses": sorted(addresses),
        "lineage": [lineage.store, lineage.epoch, lineage.version], "entries": point.entries, "head": point.head, "there": dict(point.there),
    }  # fmt: skip
    write_file(path, encode_line(head) + b"\n" + data, _MODE, alone=True)


def _read(path: str) -> tuple[Collection[str], SyncPoint] | None:
    """The addresses at which the store of a base was reached, and the base; None for a file that is missing, damaged, or of an
    earlier version, without a lineage."""
    # None is safe: a merge without a base deletes nothing.
    try:
        head, _, data = (read_stored(path) or b"").partition(b"\n")
        fields = decode(head, path)
        if fields["version"] == _VERSION and fields["hash"] == sha256(data).hexdigest():
            lineage = Lineage(*fields["lineage"])
            point = SyncPoint(decode_space(data, path), lineage, fields["entries"], fields["head"], fields["there"])
            return fields["addresses"], point
    except (CorruptError, KeyError, TypeError):
        return None
    return None
