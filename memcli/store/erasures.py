"""Erasures: which memories are being erased from everything that memcli keeps beside their space.

Before a space is written without them, `local/<space>.erasing` names them, by ids and digests alone; it is removed once
no trace of them is left. So a crash between the two leaves no text behind: the next writer, or `fsck --repair`, finds
the file and finishes the erasure.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence

from memcli.codec.canonical import encode
from memcli.errors import MemcliError, StoreError
from memcli.model.memory import Memory
from memcli.store.atomic import remove_file, write_file
from memcli.store.layout import Layout
from memcli.store.reading import read_regular

_SUFFIX = ".erasing"
_MAX_BYTES = 1 << 28


class Erasures:
    """The erasures of the store at `layout`. `erase` erases the traces in a space of memories by their ids, each with
    the hash of its text; `warn` hears of what cannot be finished yet."""

    def __init__(
        self, layout: Layout, erase: Callable[[str, Mapping[str, str]], None], warn: Callable[[str], None]
    ) -> None:
        self._layout = layout
        self._erase = erase
        self._warn = warn

    def begin(self, space: str, memories: Sequence[Memory]) -> None:
        """Notes what a write is going to take out of a space for good. Raises StoreError; then nothing may be written."""
        hashes = {**_read(self._layout, space), **{memory.id: memory.hash for memory in memories}}
        write_file(_path(self._layout, space), encode(hashes) + b"\n", 0o600, alone=True)

    def finish(self, space: str) -> None:
        """Erases what was noted. Raises StoreError, LockedError; then it stays noted."""
        if hashes := _read(self._layout, space):
            self._erase(space, hashes)
            remove_file(_path(self._layout, space))

    def settle(self, space: str, stands: Callable[[str], bool]) -> None:
        """Finishes what a writer that died or failed had begun; what still stands in the space was not taken out."""
        hashes = _read(self._layout, space)
        if not hashes:
            return
        gone = {name: text for name, text in hashes.items() if not stands(name)}
        try:
            if gone:
                self._erase(space, gone)
                self._warn(f"finished the erasure of {len(gone)} memories that a command had begun and not ended")
            remove_file(_path(self._layout, space))
        except MemcliError as error:
            self._warn(f"cannot finish an earlier erasure in space {space!r} yet: {error.message} ({error.hint})")


def pending_erasures(layout: Layout) -> list[str]:
    """The spaces with an erasure that was begun and not finished. Raises StoreError."""
    try:
        names = os.listdir(layout.local(""))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"cannot read {layout.local('')}: {error.strerror}", "check its permissions") from None
    spaces = sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
    return [space for space in spaces if _read(layout, space)]


def _path(layout: Layout, space: str) -> str:
    return layout.local(f"{space}{_SUFFIX}")


def _read(layout: Layout, space: str) -> dict[str, str]:
    """The hashes of the texts of what is being erased, by id."""
    path = _path(layout, space)
    try:
        noted = json.loads(read_regular(path, _MAX_BYTES) or b"{}")
    except (ValueError, RecursionError):
        return {}
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", "make it a plain file") from None
    if not isinstance(noted, dict):
        return {}
    return {name: text for name, text in noted.items() if isinstance(text, str)}
