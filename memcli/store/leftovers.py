"""Leftovers: the temporary files of writers that died."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from memcli.errors import LockedError
from memcli.store.atomic import TEMP_MARK, make_folder, remove_quietly
from memcli.store.layout import FOLDER, Layout
from memcli.store.lock import locked


class Leftover(NamedTuple):
    """A temporary file or folder whose writer is not alive. `where` names it for people.

    `lock` is the lock file of the space that it was to replace, whose holder may be at work on it; empty where nobody
    can be, and None where that cannot be known.
    """

    path: str
    where: str
    lock: str | None = ""


def leftovers(layout: Layout) -> Iterator[Leftover]:
    """The temporary files of writers that died, in the store and its private state."""
    places = [(layout.root, FOLDER)]
    if not layout.private_folder.startswith(layout.root):
        places.append((layout.private_folder, layout.private_folder))
    for top, named in places:
        for base, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "quarantine")
            for name in sorted([*files, *folders]):
                stem, mark, owner = name.rpartition(TEMP_MARK)
                if mark and stem.startswith(".") and not _is_alive(owner):
                    where = os.path.normpath(os.path.join(named, os.path.relpath(base, top), name))
                    is_request = os.path.basename(os.path.dirname(base)) == "journal"  # whose writers start again
                    lock = "" if owner or is_request else _lock(layout, base, stem)
                    yield Leftover(os.path.join(base, name), where.removeprefix(f"{FOLDER}{os.sep}"), lock)


def _lock(layout: Layout, folder: str, stem: str) -> str | None:
    """The lock file of the space that a temporary file in `folder` was for; None when it was for none.

    It was made in `local/tmp`, or beside the file of the space, of the store or of one within it such as the inbox.
    """
    parent, mark, name = stem[1:].rpartition("%")
    if (parent if mark else os.path.basename(folder)) != "spaces":
        return None
    space = name.removesuffix(".json")
    top = os.path.dirname(os.path.dirname(folder) if mark else folder)
    if top in (layout.root, layout.private_folder):
        return layout.lock(space)
    return Layout(top, top).lock(space)


def remove_leftovers(layout: Layout) -> None:
    """Removes the temporary files of writers that died: they may hold a text that is being erased. Raises StoreError."""
    for path, _, lock in list(leftovers(layout)):
        if not lock:
            if lock is not None:
                remove_quietly(path)
            continue
        make_folder(os.path.dirname(lock))
        with suppress(LockedError), locked(lock, "the space", wait=0):  # else somebody is writing it
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
