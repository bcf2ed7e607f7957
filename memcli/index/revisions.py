"""The indexes of earlier states of a store: one folder for each commit that was asked for, and only the last few."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from memcli.errors import StoreError

KEPT = 4
"""As many commits as are asked about in turn; an index that is gone costs one more look at its space."""


def folder_for(folder: str, commit: str) -> str:
    """The folder for the indexes of `commit` below `folder`, made if it is not there; older ones go.

    Raises StoreError when a link stands in its place, which would lead out of the cache.
    """
    own = os.path.join(folder, commit)
    for path in (folder, own):
        if os.path.islink(path):
            raise StoreError(f"{path} is a symbolic link", "delete it; memcli rebuilds the cache")
    with suppress(OSError):  # then the index is kept in memory, as everywhere
        os.makedirs(folder, 0o700, exist_ok=True)
        os.makedirs(own, 0o700, exist_ok=True)
        os.utime(own)
        others = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False) and entry.name != commit]
        others.sort(key=lambda entry: (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
        for entry in others[: max(0, len(others) - KEPT + 1)]:
            shutil.rmtree(entry.path, ignore_errors=True)
    return own
