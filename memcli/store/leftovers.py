"""Leftovers: the temporary files of writers that died, and caches that an earlier version put aside."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress

from memcli.errors import LockedError
from memcli.store.atomic import TEMP_MARK, make_folder, remove_quietly
from memcli.store.layout import Layout
from memcli.store.lock import locked

JOURNAL = os.path.join("local", "journal")
"""The folder whose writers start again where a file of theirs is gone."""
_SPACES = "spaces"
_CACHE = re.compile(r"cache(\.\d+)?\Z")
_CACHED = re.compile(r"\S+\.(index|places|vectors)(-\w+)?(\.\d+)?\Z")


def leftovers(layout: Layout) -> Iterator[tuple[str, str, str]]:
    """The folder and the name of each temporary file or folder whose writer is not alive, and who that was.

    Without an owner, whoever holds the lock of the space that the file is named for may be at work on it.
    """
    for base, folders, files in os.walk(layout.root):
        folder = os.path.relpath(base, layout.root)
        folder = "" if folder == "." else folder
        folders[:] = sorted(name for name in folders if os.path.join(folder, name) != "local/quarantine")
        for name in sorted([*files, *folders]):
            stem, mark, owner = name.rpartition(TEMP_MARK)
            if mark and stem.startswith(".") and not _is_alive(owner):
                yield folder, name, owner


def remove_leftovers(layout: Layout) -> None:
    """Removes the temporary files of writers that died: they may hold a text that is being erased. Raises StoreError."""
    for folder, name, owner in list(leftovers(layout)):
        path = os.path.join(layout.root, folder, name)
        if owner or folder.startswith(JOURNAL):
            remove_quietly(path)
        elif os.path.basename(folder) == _SPACES:
            space = name.rpartition(TEMP_MARK)[0][1:].removesuffix(".json")
            lock = Layout(os.path.dirname(os.path.join(layout.root, folder))).lock(space)
            make_folder(os.path.dirname(lock))
            with suppress(LockedError), locked(lock, f"space {space!r}", wait=0):  # else somebody is writing it
                remove_quietly(path)


def remove_quarantined_caches(layout: Layout) -> None:
    """Removes the caches that an earlier version put aside: they hold words, and nobody needs them. Raises OSError."""
    folder = layout.local("quarantine")
    with suppress(FileNotFoundError):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if _CACHE.match(name) and os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            elif _CACHED.match(name):
                remove_quietly(path)


def _is_alive(owner: str) -> bool:
    if os.name == "nt":  # pragma: no cover - there the signal 0 is no question
        return bool(owner)
    try:
        os.kill(int(owner), 0)
    except PermissionError:
        return True
    except (ValueError, OverflowError, OSError):
        return False
    return True
