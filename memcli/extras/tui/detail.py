"""The right side: one memory, or a heading, as text to read and scroll.

The neighbourhood of a memory: what it links to and what links to it, in any space, some steps away.

The history of a memory: what each commit changed in it, and what the audit log of this machine says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from memcli.app.timeline import MAX_COMMITS, Timeline, TimelineVersion, timeline
from memcli.app.workspace import Workspace, load
from memcli.codec.canonical import encode, encode_line
from memcli.codec.memory import memory_to_json
from memcli.errors import NotFoundError
from memcli.extras.tui.catalogue import PathCatalogue, Tie
from memcli.extras.tui.comparison import Comparison
from memcli.extras.tui.dialog import ListWindow
from memcli.extras.tui.keys import HISTORY, LINKS, TEXT, bindings
from memcli.extras.tui.view import BrowseView, ViewRow, memories_below
from memcli.git.revisions import open_history
from memcli.graph.elements import HAS_TAG, Edge, Graph, build, neighbourhood, node_id
from memcli.model.memory import Json, Memory
from memcli.model.recall import Section
from memcli.model.references import MUTUAL, elsewhere, target
from memcli.record import Record, replace
from memcli.render.changes import change_lines
from memcli.render.clean import clean, clean_line
from memcli.render.memory import marks
from memcli.safety.injection.screening import is_marked
from memcli.store.layout import Layout

_MOST_CHARACTERS = 20_000
_MOST_LINES = 200
_LONG_TEXT = 600
_LABEL_WIDTH = 10
_TAB = 4
_ELSEWHERE = frozenset(
    (
        "id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", "tags", "metadata", "relevance",
        "pinned", "created_at", "updated_at", "content", "chunks", "context", "links", "active", "superseded_by",
        "version", "proposal",
    )
)  # fmt: skip
_HEAD = "bold"
_LABEL = "$text-muted"


def of_row(row: ViewRow | None, view: BrowseView, now: str = "") -> Content:
    """What there is to say of a row; of no row, nothing."""
    if row is None:
        return Content("")
    if row.memory is None:
        return of_heading(row, view.catalogue)
    return of_memory(view.catalogue.show(row.memory), view.catalogue, view.section(row.memory), now)


def of_memory(memory: Memory, catalogue: PathCatalogue, section: Section | None = None, now: str = "") -> Content:
    """One memory: path and facts, what it says, where it leads, and all else that is stored of it."""
    parts = [
        _facts(memory, now),
        _why(section),
        _block("Contradicted by", [_contradiction(n, other, catalogue) for n, other in catalogue.contradicted(memory)]),
        Content(_body(memory)),
        _block("Summary", [Content(_text(memory.summary_short))] if len(memory.raw) > _LONG_TEXT else []),
        _block("Context", [Content(_context(item)) for item in memory.context]),
        _block("Links", [_link(n, tie, catalogue) for n, tie in enumerate(catalogue.ties(memory), 1)]),
        _block("Details", _details(memory)),
        _block("Metadata", _metadata(memory)),
    ]
    return Content("\n\n").join([part for part in parts if part.plain])


def of_heading(row: ViewRow, catalogue: PathCatalogue) -> Content:
    """What lies below a heading."""
    memories = memories_below(row.node)
    kinds = Counter(clean_line(m.kind) for m in memories)
    facts = f"{plural(len(memories))}: " + ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common())
    lines = [_below(catalogue.show(m), row.path) for m in memories[:_MOST_LINES]]
    if len(memories) > _MOST_LINES:
        lines.append(Content.styled(f"… and {len(memories) - _MOST_LINES:,} more", _LABEL))
    head = Content.assemble((f"{clean_line(row.path)}/", _HEAD), "\n", facts)
    return Content("\n\n").join([head, Content("\n").join(lines)])


def plural(n: int) -> str:
    """So many memories, in words."""
    return "1 memory" if n == 1 else f"{n:,} memories"


def _facts(memory: Memory, now: str) -> Content:
    states = {
        "pinned": memory.pinned,
        "forgotten (u makes it active again)": not memory.active,
        "superseded": bool(memory.superseded_by),
        f"expired {memory.valid_until}": bool(now and memory.valid_until and memory.valid_until <= now),
        "untrusted: excluded from recall": is_marked(memory),
    }
    facts = [memory.id, memory.kind, memory.relevance, *(state for state, holds in states.items() if holds)]
    head = Content.assemble((clean_line(memory.path), _HEAD), "\n", clean_line(" · ".join(facts)))
    tags = " ".join(f"#{clean_line(tag)}" for tag in memory.tags)
    return head + Content(f"\n{tags}") if tags else head


def _why(section: Section | None) -> Content:
    if section is None or not section.why:
        return Content("")
    why = ", ".join(f"{name} {value:.2f}" for name, value in section.why.items())
    return Content.styled(f"score {section.score:.2f}: {why}", _LABEL)


def _body(memory: Memory) -> str:
    text = _text(memory.raw)
    content = _text(encode(memory.content).decode()) if memory.content is not None else ""
    return "\n\n".join(part for part in (text, content) if part)


def _text(text: str) -> str:
    """Stored text as it is shown: harmless, without tabs, of bearable length."""
    kept = clean(text[:_MOST_CHARACTERS]).expandtabs(_TAB).strip()
    more = len(text) - _MOST_CHARACTERS
    return f"{kept}\n… and {more:,} more characters; see `memcli get`" if more > 0 else kept


def _context(item: Json) -> str:
    if not isinstance(item, dict):
        return ""
    origin = " ".join(clean_line(str(item[name])) for name in ("role", "source") if item.get(name))
    return ": ".join(part for part in (origin, _text(str(item.get("text", "")))) if part)


def _contradiction(n: int, other: Memory, catalogue: PathCatalogue) -> Content:
    told = catalogue.show(other)
    path = (clean_line(told.path), Style.from_meta({"@click": f"screen.follow({n})"}))
    return Content.assemble(
        (f"{n:>2}  ", "$text-warning"), path, f": {clean_line(told.summary_micro or told.raw[:_LONG_TEXT])}"
    )


def _link(n: int, tie: Tie, catalogue: PathCatalogue) -> Content:
    target = catalogue.find(tie.other)
    relation = clean_line(tie.relation).replace("_", " ")
    arrow = "<>" if tie.relation in MUTUAL else "<-" if tie.incoming else "->"
    name = clean_line(target.path if target else tie.other)
    label = (f"{n:>2}  {arrow} {relation}  ", _LABEL)
    if target is None:
        if elsewhere(tie.other) is None:
            return Content.assemble(label, f"{name} (not in this space)")
        return Content.assemble(label, (name, Style.from_meta({"@click": f"screen.follow({n})"})))
    return Content.assemble(label, (name, Style.from_meta({"@click": f"screen.follow({n})"})))


def _details(memory: Memory) -> list[Content]:
    updated = f"{_moment(memory.updated_at)}, version {memory.version}"
    rest = {name: value for name, value in memory_to_json(memory).items() if name not in _ELSEWHERE}
    fields = {"created": _moment(memory.created_at), "updated": updated, **dict(sorted(rest.items()))}
    if memory.chunks:
        fields["chunks"] = str(len(memory.chunks))
    return [_field(name, value) for name, value in fields.items()]


def _field(name: str, value: Json) -> Content:
    text = value if isinstance(value, str) else encode_line(value).decode()
    return Content.assemble((f"{clean_line(name):<{_LABEL_WIDTH}} ", _LABEL), clean_line(text[:_MOST_CHARACTERS]))


def _metadata(memory: Memory) -> list[Content]:
    shown = {**memory.metadata, **({"hash": _short(memory.hash)} if memory.hash else {})}
    return [_field(name, value) for name, value in sorted(shown.items())]


def _short(digest: str) -> str:
    return f"{digest[:19]}…" if len(digest) > 20 else digest


def _moment(time: str) -> str:
    """`2026-01-31T09:30:00Z` for the eye."""
    return f"{time[:10]} {time[11:16]} UTC" if len(time) == len("2026-01-31T09:30:00Z") else time


def _block(title: str, lines: Sequence[Content]) -> Content:
    shown = [line for line in lines if line.plain]
    return Content("\n").join([Content.styled(title, _HEAD), *shown]) if shown else Content("")


def _below(memory: Memory, path: str) -> Content:
    name = clean_line(memory.path.removeprefix(f"{path}/"))
    return Content.assemble((name, _HEAD), f": {clean_line(memory.summary_micro or memory.raw[:_LONG_TEXT])}")


class Detail(VerticalScroll, can_focus=True):
    """Text with a scroll bar. Shown the same thing again, it stays where it was."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TEXT)
    DEFAULT_CSS = """
    Detail { width: 3fr; border: round $border-blurred; padding: 0 1; }
    Detail:focus { border: round $border; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = Static("", markup=False)
        self._shown = ""

    def compose(self) -> ComposeResult:
        yield self._text

    def show(self, what: str, text: Content) -> None:
        """Shows `text`, which is about `what`."""
        self._text.update(text)
        if what != self._shown:
            self._shown = what
            self.scroll_home(animate=False)

    @property
    def text(self) -> str:
        """What is shown, without style."""
        content = self._text.content
        return content.plain if isinstance(content, Content) else str(content)


_MOST_STEPS = 9
_NEIGHBOURS_LABEL = "$text-muted"


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
    beside = workspace.copy_with(is_space_named=False).asked_spaces
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
        policy = self._workspace.store.policy(place.space)
        return of_memory(self._workspace.redactor.show([place.memory], policy)[0], self._catalogue)

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
        return f"{plural(len(self._steps))} {away} away{'; there are more beyond' if near.cut else ''}"

    def _line(self, step: NeighbourStep) -> Content:
        node, edge = self._known[step.name], step.edge
        place = self._place(step)
        arrow = "<>" if edge.relation in MUTUAL else "->" if edge.end == step.name else "<-"
        mark = marks(place.memory)
        relation = clean_line(f"{arrow} {edge.relation.replace('_', ' ')}")
        name = clean_line(f"{node.label}{f' [{mark}]' if mark else ''}")
        return Content.assemble(
            "  " * (step.depth - 1),
            (f"{relation}  ", _NEIGHBOURS_LABEL),
            name,
            (f"  {clean_line(place.memory.kind)}", _NEIGHBOURS_LABEL),
        )

    def _place(self, step: NeighbourStep) -> Neighbour:
        node = self._known[step.name]
        assert node.memory is not None
        return Neighbour(node.space, node.memory)


_SHORT = 10
_PAST_LABEL = "$text-muted"


def read_past(workspace: Workspace, memory: Memory) -> Timeline:
    """The history of a memory; where git has none, of the audit log. Raises CorruptError, StoreError, ProviderError."""
    try:
        return timeline(workspace, open_history(Layout(workspace.root).spaces), memory)
    except NotFoundError:  # no repository, or none with commits
        return timeline(workspace, None, memory)


class Past(ListWindow[None]):
    """Versions and acts, newest first; the changes of the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(HISTORY)
    keys = HISTORY

    def __init__(self, memory: Memory, past: Timeline) -> None:
        super().__init__()
        self.title_text = f"history of {clean_line(memory.path)}"
        self._memory = memory
        self._past = past

    def on_mount(self) -> None:
        """Shows all there is."""
        lines = [_version_line(version) for version in self._past.versions]
        self.fill([*lines, *map(_act_line, self._past.acts)], _note(self._past))

    def about(self, n: int) -> Content:
        """The changes of a version, or an act in full."""
        versions = self._past.versions
        return _version(versions[n]) if n < len(versions) else _act(self._past.acts[n - len(versions)], self._memory.id)

    def on_option_list_option_selected(self) -> None:
        """Enter on a line of the list."""
        self.action_compare()

    def action_compare(self) -> None:
        """Compares the version under the cursor with the memory as it is now."""
        if self.index is None or self.index >= len(self._past.versions):
            self.notify("this entry has no version to compare", severity="warning")
            return
        version = self._past.versions[self.index]
        then = f"{_when(version)} {_name(version)}"
        self.app.push_screen(Comparison(version.change.memory, self._memory, (then, "now")))


def _note(past: Timeline) -> str:
    if not past.versions and not past.acts:
        return "No commit contains this memory, and the audit log of this machine does not mention it."
    commits = sum(version.commit is not None for version in past.versions)
    told = f"{commits} {'commit' if commits == 1 else 'commits'}, {len(past.acts)} in the audit log of this machine"
    return f"{told}; only the last {MAX_COMMITS:,} commits were read" if past.is_cut else told


def _version_line(version: TimelineVersion) -> Content:
    subject = version.commit.subject if version.commit else "not committed yet"
    return Content.assemble(
        f"{_when(version):<10} ",
        (f"{_name(version):<10} ", _PAST_LABEL),
        f"{version.change.status:<10} ",
        clean_line(subject),
    )


def _name(version: TimelineVersion) -> str:
    return version.commit.hash[:_SHORT] if version.commit else "-"


def _when(version: TimelineVersion) -> str:
    return (version.commit.date if version.commit else version.change.memory.updated_at)[:10]


def _act_line(act: dict[str, Any]) -> Content:
    told = clean_line(f"{act.get('command')}: {act.get('action')}")
    return Content.assemble(f"{str(act.get('time'))[:10]:<10} ", (f"{'audit':<10} ", _PAST_LABEL), f"{'':<10} ", told)


def _version(version: TimelineVersion) -> Content:
    commit = version.commit
    head = [Content(clean_line(f"commit {commit.hash}  {commit.author}  {commit.date}"))] if commit else []
    return Content("\n").join([*head, *map(Content, change_lines(version.change))])


def _act(act: dict[str, Any], identifier: str) -> Content:
    names = {"time": "time", "user": "user", "command": "command", "action": "action"}
    found: dict[str, Any] = next((one for one in act.get("changes", ()) if one.get("id") == identifier), {})
    what = "created" if not found.get("before") else "deleted" if not found.get("after") else "changed"
    others = len(act.get("changes", ())) - 1
    values = {**{name: act.get(key) for name, key in names.items()}, "memory": what}
    if others > 0:
        values["others"] = f"{others} other {'memory' if others == 1 else 'memories'} in the same act"
    return Content("\n").join(
        Content.assemble((f"{name:<10} ", _PAST_LABEL), clean_line(str(value)))
        for name, value in values.items()
        if value
    )
