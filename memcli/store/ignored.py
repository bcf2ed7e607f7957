"""What of the store git does not see: the lines of `.memory/.gitignore` for private spaces."""

from __future__ import annotations

import os

from memcli.errors import StoreError
from memcli.store.atomic import make_folder, write_file
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_regular

_MAX_BYTES = 1 << 20


def set_ignored(layout: Layout, space: str, ignored: bool) -> None:
    """Has git ignore the file of `space`, or see it again; other lines stay as they are. Raises StoreError."""
    line = f"spaces/{space}.json".encode()
    lock = layout.local(".gitignore.lock")
    make_folder(os.path.dirname(lock))
    with locked(lock, "the .gitignore of the store"):
        try:
            data = read_regular(layout.ignore, _MAX_BYTES) or b""
        except OSError as error:
            raise StoreError(
                f"cannot read {layout.ignore}: {error.strerror}", "replace it with a regular file"
            ) from None
        lines = data.splitlines()
        if (line in lines) == ignored:
            return
        kept = [*lines, line] if ignored else [known for known in lines if known != line]
        write_file(layout.ignore, b"".join(known + b"\n" for known in kept))
