"""What a space was at its last sync with another store, in `sync/<space>/`: the base of the next merge."""

from __future__ import annotations

import os
from collections.abc import Collection

from memcli.codec.canonical import decode, encode_line
from memcli.codec.space import decode_space, encode_space
from memcli.digests import sha256
from memcli.errors import CorruptError, StoreError
from memcli.model.space import Space
from memcli.record import replace
from memcli.store.atomic import make_folder, write_file
from memcli.store.layout import Layout
from memcli.store.reading import read_regular

_FORMAT = "memcli/sync"
_MODE, _FOLDER_MODE = 0o600, 0o700


class FileSyncBase:
    """The bases of the store at `layout` for syncs with the store of this identity. See `ports.SyncBase`."""

    def __init__(self, layout: Layout, identity: str) -> None:
        self._layout = layout
        self._name = f"{identity[:16]}.json"

    def load(self, space: str) -> Space | None:
        return _read(os.path.join(_folder(self._layout, space), self._name))

    def save(self, space: Space) -> None:
        folder = _folder(self._layout, space.name)
        if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
            raise StoreError(f"{folder} is a symbolic link", "replace it with a folder")
        make_folder(os.path.dirname(folder), _FOLDER_MODE)
        make_folder(folder, _FOLDER_MODE)
        _write(os.path.join(folder, self._name), space)


def erase_bases(layout: Layout, space: str, ids: Collection[str]) -> None:
    """Takes the memories of these ids out of every base of the space. Raises StoreError."""
    folder = _folder(layout, space)
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {folder}: {error.strerror}", "check its permissions") from None
    for path in (os.path.join(folder, name) for name in names if name.endswith(".json")):
        base = _read(path)
        if base is None:
            _write(path, Space(space))  # whatever is in a damaged one
        elif any(memory.id in ids for memory in base.objects):
            _write(path, replace(base, objects=tuple(m for m in base.objects if m.id not in ids)))


def _folder(layout: Layout, space: str) -> str:
    return layout.private(os.path.join("sync", space))


def _write(path: str, space: Space) -> None:
    data = encode_space(space)
    head = encode_line({"format": _FORMAT, "version": 1, "hash": sha256(data).hexdigest()})
    write_file(path, head + b"\n" + data, _MODE, alone=True)


def _read(path: str) -> Space | None:
    """The base in a file; None where there is none, or it is damaged: a merge without a base deletes nothing."""
    try:
        head, _, data = (read_regular(path, -1) or b"").partition(b"\n")
        told = decode(head, path)
        if isinstance(told, dict) and told.get("hash") == sha256(data).hexdigest():
            return decode_space(data, path)
    except CorruptError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", "check its permissions") from None
    return None
