"""The git attributes of a store, which travel with it: no line end is ever changed, and spaces are merged by memcli."""

from __future__ import annotations

import os

from memcli.errors import StoreError
from memcli.git.driver import NAME
from memcli.store.atomic import write_file
from memcli.store.reading import read_regular

LINES = ("*.json text eol=lf", f"spaces/*.json merge={NAME}")
_TITLE = "# Written by memcli: how git treats memories."
_MOST_BYTES = 1 << 20


def install_attributes(root: str) -> bool:
    """Adds what `.gitattributes` of the store at `root` lacks; whether that was anything. Raises StoreError."""
    path = os.path.join(root, ".gitattributes")
    try:
        lines = (read_regular(path, _MOST_BYTES) or b"").decode().splitlines()
    except (OSError, UnicodeDecodeError):
        raise StoreError(f"cannot read {path}", "replace it with a text file") from None
    missing = [line for line in LINES if line not in lines]
    if missing:
        write_file(path, "\n".join([*(lines or [_TITLE]), *missing, ""]).encode())
    return bool(missing)
