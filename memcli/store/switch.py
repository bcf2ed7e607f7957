"""The switch of a clone: while memory is off, hooks, watches and agents record and inject nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping

from memcli.settings import is_on
from memcli.store.atomic import make_folder, remove_file, write_file
from memcli.store.layout import Layout

_FILE = "off"


def is_off(root: str, environ: Mapping[str, str]) -> bool:
    """Whether memory is off for the store at `root`: switched off in this clone, or by MEMCLI_OFF."""
    return is_on(environ, "MEMCLI_OFF") or os.path.lexists(Layout(root).private(_FILE))


def switch(root: str, *, on: bool) -> bool:
    """Switches memory on or off in this clone. Returns whether that changes anything. Raises StoreError."""
    path = Layout(root).private(_FILE)
    if os.path.lexists(path) != on:
        return False
    if on:
        remove_file(path)
    else:
        make_folder(os.path.dirname(path))
        write_file(path, b"", 0o600)
    return True
