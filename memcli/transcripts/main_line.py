"""The main line of a tree of messages: the way from the last leaf back to the root. A node takes 33 bytes."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memcli.transcripts import reasons
from memcli.transcripts.seen import number_of

if TYPE_CHECKING:
    import numpy

    Numbers = numpy.ndarray[Any, Any]

BETWEEN, MESSAGE, RESULTS, QUIET_RESULTS, SIDE = range(5)
"""What a node is: no message; one; results of tools; results that say nothing new; part of a side chain."""


class Nodes:
    """The nodes of a tree in the order of the file, as columns of numbers."""

    def __init__(self) -> None:
        self.ids = array("Q")
        self.parents = array("Q")
        self.groups = array("Q")
        self.offsets = array("Q")
        self.kinds = array("B")

    def add(self, offset: int, kind: int, key: str, parent: str, group: str) -> None:
        """A node; the nodes of one group are one message."""
        self.ids.append(number_of(key))
        self.parents.append(number_of(parent) if parent else 0)
        self.groups.append(number_of(group) if group else 0)
        self.offsets.append(offset)
        self.kinds.append(kind)

    def main_line(self, skipped: Counter[str]) -> Iterator[tuple[int, ...]]:
        """The offsets of the messages on the main line, those of one message together; what is off it is counted."""
        if not self.ids:
            return
        order = self._order(skipped)
        offsets: list[int] = []
        group = 0
        for node in order:
            if offsets and not (group and self.groups[node] == group):
                yield tuple(offsets)
                offsets = []
            group = self.groups[node]
            offsets.append(self.offsets[node])
        if offsets:
            yield tuple(offsets)

    def _order(self, skipped: Counter[str]) -> array[int]:
        import numpy as np

        tree = _Tree(self, skipped)
        rank = tree.ranks(skipped)
        kinds = tree.kinds
        is_left_out = (rank < 0) & tree.is_main & ((kinds == MESSAGE) | (kinds == RESULTS))
        _count(skipped, reasons.BRANCH, int(is_left_out.sum()))
        _count(skipped, reasons.SIDE, int((kinds == SIDE).sum()))
        chosen = np.flatnonzero((rank >= 0) & ((kinds == MESSAGE) | (kinds == RESULTS)))
        return array("q", chosen[np.lexsort((chosen, rank[chosen]))].astype(np.int64).tobytes())


class _Tree:
    """The nodes as arrays. A node whose id came before is no part of the tree."""

    def __init__(self, nodes: Nodes, skipped: Counter[str]) -> None:
        import numpy as np

        ids = np.frombuffer(nodes.ids, np.uint64)
        parents = np.frombuffer(nodes.parents, np.uint64)
        self.groups = np.frombuffer(nodes.groups, np.uint64)
        self.kinds = np.frombuffer(nodes.kinds, np.uint8)
        self.size = len(ids)
        unique, first = np.unique(ids, return_index=True)
        _count(skipped, reasons.DUPLICATE, self.size - len(unique))
        is_first = np.zeros(self.size, bool)
        is_first[first] = True
        self.is_main = is_first & (self.kinds != SIDE)
        place = np.minimum(np.searchsorted(unique, parents), len(unique) - 1)
        is_known = (unique[place] == parents) & (parents != 0)
        self.is_said = self.is_main & (self.kinds != BETWEEN)
        self.before = self._before()
        # Where the line of the parent is lost, what was said before in the file takes its place.
        self.parent = np.where(is_known, first[place], np.where(parents == 0, -1, self.before))

    def ranks(self, skipped: Counter[str]) -> Numbers:
        """The place of each node on the main line, or -1."""
        import numpy as np

        chain = self._chain(self._last_leaf(), skipped)
        rank = np.full(self.size, -1, np.int64)
        rank[chain] = np.arange(len(chain))
        self._join_groups(rank, chain)
        # Of calls made at once, only one result is an ancestor of what follows.
        is_result = (self.kinds == RESULTS) & self.is_main & (rank < 0) & (self.parent >= 0)
        rank[is_result] = rank[self.parent[is_result]]
        return rank

    def _before(self) -> Numbers:
        """For each node the message before it in the file, or -1."""
        import numpy as np

        latest = np.maximum.accumulate(np.where(self.is_said, np.arange(self.size), -1))
        return np.concatenate([[-1], latest[:-1]])

    def _last_leaf(self) -> int:
        """The last message in the file that no other one follows in the tree."""
        import numpy as np

        if not self.is_said.any():
            return -1
        # From each node to the next message above it, by steps that double.
        above = np.append(np.where(self.is_said, np.arange(self.size), self.parent), -1)
        for _ in range(self.size.bit_length()):
            above = above[above]
        is_followed = np.zeros(self.size + 1, bool)
        is_followed[above[self.parent[self.is_said]]] = True
        leaves = np.flatnonzero(self.is_said & ~is_followed[:-1])
        return int((leaves if len(leaves) else np.flatnonzero(self.is_said))[-1])

    def _chain(self, leaf: int, skipped: Counter[str]) -> Numbers:
        """The nodes from the root to the leaf. A circle is left for what stands before it in the file."""
        import numpy as np

        parent = array("q", self.parent.astype(np.int64).tobytes())
        chain = array("q")
        is_seen = bytearray(self.size)
        node = leaf
        while node >= 0:
            is_seen[node] = True
            chain.append(node)
            above = parent[node]
            if above >= 0 and is_seen[above]:
                skipped[reasons.CYCLE] += 1
                above = int(self.before[node])
                if above >= 0 and is_seen[above]:
                    break
            node = above
        return np.frombuffer(chain, np.int64)[::-1] if chain else np.empty(0, np.int64)

    def _join_groups(self, rank: Numbers, chain: Numbers) -> None:
        """Gives all nodes of a group the first place of one of them."""
        import numpy as np

        groups, first = np.unique(self.groups[chain], return_index=True)
        if not len(groups):
            return
        place = np.minimum(np.searchsorted(groups, self.groups), len(groups) - 1)
        is_joined = (groups[place] == self.groups) & (self.groups != 0) & self.is_main
        rank[is_joined] = first[place[is_joined]]


def _count(skipped: Counter[str], reason: str, number: int) -> None:
    if number:
        skipped[reason] += number
