"""The quarantine of damaged and foreign files, and the erasure of memories from them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection

from memcli.codec.canonical import encode
from memcli.codec.space import CLOSE, OPEN, of_space
from memcli.errors import StoreError
from memcli.store.atomic import read_regular, remove_file, write_file
from memcli.store.layout import Layout
from memcli.store.private import STATE

_SPACE = of_space("space")
_QUARANTINE_ID = re.compile(rb'"id":\s*("(?:[^"\\\n]|\\.)*")')
_ID_OF_MEMORY = re.compile(rb"^ {6}" + _QUARANTINE_ID.pattern, re.MULTILINE)


def erase_quarantined(layout: Layout, space: str, ids: Collection[str], warn: Callable[[str], None]) -> None:
    """Removes the memories of these ids in the space from every file in the quarantine.

    A file that is not of a space, or too damaged to remove a memory from it, is deleted with a warning; so is every database
    of local state. Raises StoreError.
    """
    top = layout.private("quarantine")
    marks = {encode(name) for name in ids}
    try:
        for folder, _, files in os.walk(top):
            for path in (os.path.join(folder, file) for file in sorted(files)):
                is_plain = os.path.isfile(path) and not os.path.islink(path)
                if is_plain and not _erase(path, space, marks):
                    warn(
                        f"removed {os.path.relpath(path, top)} from the quarantine: it had, or may have had, what was erased"
                    )
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or top}: {error.strerror}", "check its permissions") from None


def _erase(path: str, space: str, marks: Collection[bytes]) -> bool:
    """Removes the memories from a file; returns False if it had to be deleted. Raises StoreError, OSError."""
    if os.path.basename(path).startswith(STATE):  # its damaged pages may contain parts of any row
        remove_file(path)
        return False
    data = read_regular(path, -1) or b""
    ids = _ID_OF_MEMORY if OPEN in data else _QUARANTINE_ID

    def is_in(part: bytes) -> bool:
        return any(found[1] in marks for found in ids.finditer(part))

    is_of_another = _SPACE in data and _SPACE + encode(space) not in data  # whose memories may have the same ids
    if is_of_another or not is_in(data):
        return True
    first, *memories = data.split(OPEN)
    left = first + b"".join(
        memory.partition(CLOSE)[2].removeprefix(b",") if is_in(memory) else OPEN + memory for memory in memories
    )
    if not left or is_in(left):
        remove_file(path)
        return False
    write_file(path, left, 0o600)
    return True
