"""Moves: files that are gone and files that are new, found to be the same by their content."""

from __future__ import annotations

import os
from collections import defaultdict

from memcli.watch.scan import Difference, Known


def find_moves(root: str, known: Known, found: Difference) -> tuple[tuple[str, str], ...]:
    """Pairs of the old and the new path of a file, in order of the new one; each file is in one pair at most.

    Of several with the same content, the one of the same name is taken, else the first. A file that took the place
    of another is no move: what was there has a history of its own; nor is one that is merely ignored from now on.
    """
    gone = defaultdict(list)
    for path in found.removed:
        stamp = known.get(path)
        if stamp and stamp.digest and stamp.size and not os.path.lexists(os.path.join(root, path)):
            gone[stamp.digest].append(path)
    moves = []
    for new in found.changed:
        if new not in known and (olds := gone.get(found.stamps[new].digest)):
            old = next((path for path in olds if _name(path) == _name(new)), olds[0])
            olds.remove(old)
            moves.append((old, new))
    return tuple(moves)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
