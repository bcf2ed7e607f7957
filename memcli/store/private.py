"""The place of the private state of a store: sessions, decisions and the trash, which cannot be recomputed.

In a git work tree it is `memcli/<path of the store from the top>/` in the folder of the repository, which all work trees
share and which survives `git clean` and the loss of a work tree; elsewhere it is `local/` of the store. If the repository's
folder cannot be written, as in the sandboxes of some agents, a process works on copies in `local/`: see `store/folding.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from memcli.git.index_file import shared_folder, work_trees
from memcli.settings import JOURNAL, is_journal

NAMES = frozenset((
    "agents.installed.json", "audit", "inbox", "off", "quarantine", "redaction.key", "serve-token", "serve-tokens.json",
    "sessions", "spaces", "state.db", "sync", "trash", "trust.json", "unreviewed",
))  # fmt: skip
"""The files and folders of the private state. Lock files lie beside them; they are neither copied nor merged."""

WAITING = "waiting"
"""The folder in `local/` with the originals of copied private state, as they were when they were copied."""
STATE = "state.db"
"""The local state: see `store/state.py`."""
_GIT_FOLDER = "memcli"
_STORE = ".memory"


def private_folder(root: str) -> str:
    """The folder of the private state of the store at `root`, writable or not."""
    work_tree = find_work_tree(os.path.dirname(root))
    common = work_tree and shared_folder(work_tree)
    if not work_tree or not common:
        return os.path.join(root, "local")
    return os.path.join(common, _GIT_FOLDER, os.path.relpath(root, work_tree))


def stores_of(work_tree: str) -> list[str]:
    """The roots of the stores in a work tree that have private state in its repository, sorted."""
    roots = (os.path.join(work_tree, store) for store in _stores_in(shared_folder(work_tree)))
    return sorted(root for root in roots if os.path.isdir(root))


def stranded(work_tree: str) -> dict[str, str]:
    """The folders of private state in a repository whose store exists in none of its work trees, each with the root that the
    store would have in `work_tree`."""
    shared = shared_folder(work_tree)
    # After a store was moved within its repository, its sessions and inbox stay below the old path, where no command looks.
    trees = [work_tree, *work_trees(shared)] if shared else []
    gone = (s for s in sorted(_stores_in(shared)) if not any(os.path.isdir(os.path.join(tree, s)) for tree in trees))
    found = {os.path.join(shared or "", _GIT_FOLDER, store): os.path.join(work_tree, store) for store in gone}
    return {
        folder: root for folder, root in found.items() if any(os.path.lexists(os.path.join(folder, n)) for n in NAMES)
    }


def _stores_in(shared: str | None) -> Iterator[str]:
    """The stores with private state in the folder of a repository, each by its path from the top of a work tree."""
    top = os.path.join(shared, _GIT_FOLDER) if shared else ""
    for folder, names, _ in os.walk(top) if shared else ():
        if _STORE in names:
            names.remove(_STORE)
            yield os.path.normpath(os.path.join(os.path.relpath(folder, top), _STORE))


def is_private_name(name: str) -> bool:
    """Whether `name`, a file or folder directly in `local/`, belongs to the private state, as the files of unfinished writes of
    a private space do too."""
    space, _, ending = name.rpartition(".")
    return name in NAMES or (ending in ("acts", "erasing") and is_journal(space))


def may_wait(root: str, private: str) -> bool:
    """Whether the store at `root` may have files to merge into the folder `private`; a cheap test before `folding.fold`."""
    local = os.path.join(root, "local")
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(local)
    if WAITING in names or (private != local and any(map(is_private_name, names))):
        return True
    # Where earlier versions had private state.
    earlier = ("audit", "sessions", os.path.join("spaces", f"{JOURNAL}.json"))
    return any(os.path.lexists(os.path.join(root, name)) for name in earlier)


def can_write(folder: str) -> bool:
    """Whether files can be created in the folder, or the folder itself if it does not exist."""
    while not os.path.isdir(folder):
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(folder):
            return False
        folder = parent
    return os.access(folder, os.W_OK | os.X_OK)


def find_work_tree(start: str, home: str = "") -> str | None:
    """The nearest folder at or above `start`, but not above `home`, that contains `.git`; None if there is none. Does not run
    git."""
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if folder in (parent, home):
            return None
        folder = parent
    return folder
