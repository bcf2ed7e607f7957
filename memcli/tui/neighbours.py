"""The neighbourhood of a memory: what it links to and what links to it, in any space, some steps away."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from memcli.app.opening import load
from memcli.app.workspace import Workspace
from memcli.graph.elements import HAS_TAG, Edge, Graph, build, neighbourhood, node_id
from memcli.model.memory import Memory
from memcli.model.references import MUTUAL, elsewhere, target
from memcli.record import Record, replace
from memcli.render.clean import clean_line
from memcli.render.memory import marks
from memcli.tui import detail
from memcli.tui.catalogue import PathCatalogue
from memcli.tui.dialog import ListWindow
from memcli.tui.keys import LINKS, bindings

_MOST_STEPS = 9
_LABEL = "$text-muted"


class Neighbour(Record):
    """A memory, and the space that has it."""

    space: str
    memory: Memory


class NeighbourStep(Record):
    """A memory that is reached over a link of the one above it, `depth` steps from the first."""

    depth: int
    edge: Edge
    name: str


def read_links(workspace: Workspace) -> Graph:
    """All memories of the space and of those that are recalled with it, and of the spaces that they link to, as far as
    links tie them together. Raises CorruptError, StoreError."""
    there = set(workspace.store.spaces())
    beside = replace(workspace, is_space_named=False).asked_spaces
    spaces: dict[str, tuple[Memory, ...]] = {}
    waiting = list(dict.fromkeys([workspace.space, *beside]))
    while waiting:
        name = waiting.pop()
        if name in there and name not in spaces:
            spaces[name] = load(workspace, name).objects
            waiting += _linked_spaces(spaces[name])
    graph = build(spaces, workspace.main)
    return replace(graph, edges=tuple(edge for edge in graph.edges if edge.relation != HAS_TAG))


def steps(graph: Graph, root: str) -> list[NeighbourStep]:
    """The memories of a neighbourhood as a tree, each below the nearest one that links to it."""
    edges = graph.neighbours()
    above: dict[str, tuple[str, Edge]] = {}
    frontier = [root]
    while frontier:
        reached = []
        for name in frontier:
            for edge in edges.get(name, ()):
                other = edge.end if edge.start == name else edge.start
                if other != root and other not in above:
                    above[other] = name, edge
                    reached.append(other)
        frontier = reached
    below: dict[str, list[tuple[str, Edge]]] = {}
    for other, (name, edge) in above.items():
        below.setdefault(name, []).append((other, edge))
    found: list[NeighbourStep] = []
    waiting = [(1, *one) for one in reversed(below.get(root, []))]
    while waiting:
        depth, name, edge = waiting.pop()
        found.append(NeighbourStep(depth, edge, name))
        waiting += [(depth + 1, *one) for one in reversed(below.get(name, []))]
    return found


def _linked_spaces(memories: Iterable[Memory]) -> list[str]:
    ends = (elsewhere(target(link)) for memory in memories for link in memory.links)
    return sorted({end[0] for end in ends if end})


class Neighbours(ListWindow[Neighbour]):
    """The memories around one, as a tree; the answer is the one to go to."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LINKS)
    keys = LINKS

    def __init__(self, workspace: Workspace, memory: Memory, graph: Graph, catalogue: PathCatalogue) -> None:
        super().__init__()
        self.title_text = f"links of {clean_line(memory.path)}"
        self._workspace = workspace
        self._catalogue = catalogue
        self._graph = graph
        self._known = graph.by_id()
        self._root = node_id(workspace.space, memory.id, workspace.main)
        self._depth = 1
        self._steps: list[NeighbourStep] = []

    def on_mount(self) -> None:
        """Shows what is one step away."""
        self._fill()

    def about(self, n: int) -> Content:
        """The memory of a line."""
        place = self._place(self._steps[n])
        policy = self._workspace.load_policy(place.space)
        return detail.of_memory(self._workspace.redactor.show([place.memory], policy)[0], self._catalogue)

    def action_depth(self, by: int) -> None:
        """Shows what is more, or fewer, steps away."""
        self._depth = max(1, min(_MOST_STEPS, self._depth + by))
        self._fill()

    def action_choose(self) -> None:
        """Answers with the memory under the cursor."""
        if self.index is not None:
            self.dismiss(self._place(self._steps[self.index]))

    def on_option_list_option_selected(self) -> None:
        """Enter on a line of the list."""
        self.action_choose()

    def _fill(self) -> None:
        near = neighbourhood(self._graph, [self._root], self._depth)
        here = self._steps[self.index].name if self.index is not None else ""
        self._steps = steps(near, self._root)
        at = next((n for n, step in enumerate(self._steps) if step.name == here), 0)
        self.fill([self._line(step) for step in self._steps], self._told(near), at)

    def _told(self, near: Graph) -> str:
        if not self._steps:
            return "No link leads to this memory or from it. `memcli link` makes one."
        away = "1 step" if self._depth == 1 else f"up to {self._depth} steps"
        return f"{detail.plural(len(self._steps))} {away} away{'; there are more beyond' if near.cut else ''}"

    def _line(self, step: NeighbourStep) -> Content:
        node, edge = self._known[step.name], step.edge
        place = self._place(step)
        arrow = "<>" if edge.relation in MUTUAL else "->" if edge.end == step.name else "<-"
        mark = marks(place.memory)
        relation = clean_line(f"{arrow} {edge.relation.replace('_', ' ')}")
        name = clean_line(f"{node.label}{f' [{mark}]' if mark else ''}")
        return Content.assemble(
            "  " * (step.depth - 1), (f"{relation}  ", _LABEL), name, (f"  {clean_line(place.memory.kind)}", _LABEL)
        )

    def _place(self, step: NeighbourStep) -> Neighbour:
        node = self._known[step.name]
        assert node.memory is not None
        return Neighbour(node.space, node.memory)
