"""The indexes of earlier states of a store: one folder for each commit that was asked for, and only the last few."""

from __future__ import annotations

import os
from contextlib import suppress

from memcli import beneath
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
        for path in (os.path.dirname(folder), folder, own):
            with suppress(FileExistsError):
                beneath.make(path, 0o700)
        with beneath.at(own) as (name, above):
            os.utime(name, dir_fd=above)
        others = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False) and entry.name != commit]
        others.sort(key=lambda entry: (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
        for entry in others[: max(0, len(others) - KEPT + 1)]:
            beneath.remove_tree(entry.path, ignore_errors=True)
    return own
