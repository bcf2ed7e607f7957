"""The view: what the left side shows, as a tree that passes the filter or as the ranked answer to a question."""

from __future__ import annotations

from collections.abc import Callable

from memcli.model.memory import Memory
from memcli.model.recall import Bundle, Query, Section
from memcli.model.tree import TreeNode, tree
from memcli.record import Record, field
from memcli.tui.catalogue import BrowseScope, PathCatalogue, is_current


class ViewRow(Record):
    """One line: a heading, a memory, or both. `path` is whole, `name` the part of it that the line shows."""

    path: str
    name: str
    node: TreeNode[Memory]
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


def outline(root: TreeNode[Memory], shows: Callable[[str], bool]) -> list[ViewRow]:
    """The rows of the tree below `root`, in order. Headings in a chain, with nothing beside them, share a row."""
    rows: list[ViewRow] = []
    waiting = [(child, name, 0) for name, child in reversed(root.children.items())]
    while waiting:
        node, path, depth = waiting.pop()
        name = node.name
        while (only := _only_heading(node)) is not None:
            node, path, name = only, f"{path}/{only.name}", f"{name}/{only.name}"
        is_open = shows(path) if node.children else None
        note = node.memory.kind if node.memory else str(count(node))
        rows.append(ViewRow(path, name, node, depth, is_open, note=note))
        if is_open:
            waiting += [(child, f"{path}/{key}", depth + 1) for key, child in reversed(node.children.items())]
    return rows


def memories_below(node: TreeNode[Memory]) -> list[Memory]:
    """All memories below `node`, in order, without its own."""
    found: list[Memory] = []
    waiting = list(reversed(node.children.values()))
    while waiting:
        child = waiting.pop()
        if child.memory is not None:
            found.append(child.memory)
        waiting += reversed(child.children.values())
    return found


def count(node: TreeNode[Memory]) -> int:
    """How many memories lie below `node`."""
    total = 0
    waiting = list(node.children.values())
    while waiting:
        child = waiting.pop()
        total += child.memory is not None
        waiting += child.children.values()
    return total


def _only_heading(node: TreeNode[Memory]) -> TreeNode[Memory] | None:
    if node.memory is not None or len(node.children) != 1:
        return None
    (child,) = node.children.values()
    return child if child.children else None


_OPEN_AT_FIRST = 200
"""A tree of more memories starts closed."""
_MOST_ANSWERS = 50


class BrowseView:
    """A catalogue, and how it is looked at: filter, answer, folds."""

    def __init__(self, catalogue: PathCatalogue, scope: BrowseScope) -> None:
        self.scope = scope
        self.everything = False
        self.words = ""
        self.answer: Bundle | None = None
        self._folds = Folds(is_open=len(catalogue.memories) <= _OPEN_AT_FIRST)
        self._filtered_folds = Folds()
        self._trail: list[str] = []
        self.read(catalogue)

    def read(self, catalogue: PathCatalogue) -> None:
        """Looks at a later reading in the same way."""
        self.catalogue = catalogue
        self._find()

    def filter(self, words: str) -> None:
        """Shows the memories with all of these words; an answer goes away."""
        self.answer = None
        self.words = words
        self._filtered_folds = Folds()
        self._find()

    def query(self, topic: str, now: str) -> Query:
        """The question `topic`, to what is browsed."""
        return Query(
            topic=topic,
            now=now,
            limit=_MOST_ANSWERS,
            under=self.scope.path,
            kinds=self.scope.kinds,
            tags=self.scope.tags,
            include_untrusted=True,  # a person who looks around sees them, with their mark
        )

    def reveal(self, memory: Memory) -> None:
        """Makes a row of `memory`: opens what is above it, and drops what hides it."""
        if not is_current(memory):
            self.show_everything(True)
        if memory.id not in {m.id for m in (self._found if self.answer is None else [m for _, m in self._answered()])}:
            self.filter("")
        self.folds.reveal(memory.path)

    def follow(self, memory: Memory, n: int) -> Memory | None:
        """Where the n-th link of `memory` leads; None when that is no part of what is browsed."""
        ties = self.catalogue.ties(memory)
        target = self.catalogue.find(ties[n - 1].other) if n <= len(ties) else None
        if target is None or not self.scope.holds(target):
            return None
        self.remember(memory)
        return target

    def remember(self, memory: Memory) -> None:
        """Notes where `back` leads to."""
        self._trail.append(memory.id)

    def back(self) -> Memory | None:
        """Where the last link was followed from."""
        return self.catalogue.find(self._trail.pop()) if self._trail else None

    def show_everything(self, everything: bool) -> None:
        """Shows, or leaves out, what is forgotten or superseded."""
        self.everything = everything
        self._find()

    @property
    def folds(self) -> Folds:
        """The folds of the tree that is shown."""
        return self._filtered_folds if self.words.strip() else self._folds

    @property
    def found(self) -> int:
        """How many memories are shown, or would be if all headings were open."""
        return len(self._found) if self.answer is None else len(self._answered())

    @property
    def left_out(self) -> int:
        """How many memories are not shown because they are forgotten or superseded."""
        return 0 if self.everything else sum(not is_current(m) for m in self.catalogue.memories)

    def rows(self) -> list[ViewRow]:
        """The lines to show."""
        if self.answer is None:
            return outline(self._tree, self.folds.shows)
        return [
            ViewRow(
                m.path,
                m.path,
                TreeNode(m.heading, m),
                lead=f"{n:>2} ",
                note=f"{section.score:.2f}" if section.why else "pinned",
            )
            for n, (section, m) in enumerate(self._answered(), 1)
        ]

    @property
    def best(self) -> str | None:
        """The path of the first memory of the answer that matches, rather than being pinned alone."""
        answered = self._answered()
        return next((m.path for section, m in answered if section.why), answered[0][1].path if answered else None)

    def section(self, memory: Memory) -> Section | None:
        """How the answer came by `memory`, when it is part of one."""
        sections = (*self.answer.sections, *self.answer.always) if self.answer else ()
        return next((s for s in sections if s.memory.id == memory.id), None)

    def _answered(self) -> list[tuple[Section, Memory]]:
        """The memories of the answer as they are now; those that are gone since are left out."""
        sections = (*self.answer.sections, *self.answer.always) if self.answer else ()
        current = ((s, self.catalogue.find(s.memory.id)) for s in sections)
        return [(s, m) for s, m in current if m is not None and (self.everything or is_current(m))]

    def _find(self) -> None:
        self._found = self.catalogue.matching(self.words.casefold().split(), self.everything)
        self._tree = tree(self._found)
