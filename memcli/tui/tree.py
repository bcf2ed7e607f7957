"""The rows of a tree: what of it is open, line by line."""

from __future__ import annotations

from collections.abc import Callable

from memcli.model.memory import Memory
from memcli.model.tree import Node
from memcli.record import Record, field


class Row(Record):
    """One line: a heading, a memory, or both. `path` is whole, `name` the part of it that the line shows."""

    path: str
    name: str
    node: Node
    depth: int = 0
    is_open: bool | None = None
    """Whether what lies below is shown; None when nothing does."""
    lead: str = ""
    note: str = ""

    @property
    def memory(self) -> Memory | None:
        return self.node.memory


class Folds(Record, frozen=False):
    """Which headings are open: all or none of them, except those that were toggled."""

    is_open: bool = True
    toggled: set[str] = field(default_factory=set)

    def shows(self, path: str) -> bool:
        """Whether what lies below `path` is shown."""
        return self.is_open != (path in self.toggled)

    def toggle(self, path: str) -> None:
        """Opens what is closed, closes what is open."""
        self.toggled ^= {path}

    def reveal(self, path: str) -> None:
        """Opens all headings above `path`."""
        for n, character in enumerate(path):
            if character == "/" and not self.shows(path[:n]):
                self.toggle(path[:n])

    def set_all(self, is_open: bool) -> None:
        """Opens or closes every heading."""
        self.is_open = is_open
        self.toggled.clear()


def outline(root: Node, shows: Callable[[str], bool]) -> list[Row]:
    """The rows of the tree below `root`, in order. Headings in a chain, with nothing beside them, share a row."""
    rows: list[Row] = []
    waiting = [(child, name, 0) for name, child in reversed(root.children.items())]
    while waiting:
        node, path, depth = waiting.pop()
        name = node.name
        while (only := _only_heading(node)) is not None:
            node, path, name = only, f"{path}/{only.name}", f"{name}/{only.name}"
        is_open = shows(path) if node.children else None
        note = node.memory.kind if node.memory else str(count(node))
        rows.append(Row(path, name, node, depth, is_open, note=note))
        if is_open:
            waiting += [(child, f"{path}/{key}", depth + 1) for key, child in reversed(node.children.items())]
    return rows


def memories_below(node: Node) -> list[Memory]:
    """All memories below `node`, in order, without its own."""
    found: list[Memory] = []
    waiting = list(reversed(node.children.values()))
    while waiting:
        child = waiting.pop()
        if child.memory is not None:
            found.append(child.memory)
        waiting += reversed(child.children.values())
    return found


def count(node: Node) -> int:
    """How many memories lie below `node`."""
    total = 0
    waiting = list(node.children.values())
    while waiting:
        child = waiting.pop()
        total += child.memory is not None
        waiting += child.children.values()
    return total


def _only_heading(node: Node) -> Node | None:
    if node.memory is not None or len(node.children) != 1:
        return None
    (child,) = node.children.values()
    return child if child.children else None
