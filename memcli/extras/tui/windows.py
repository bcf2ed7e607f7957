"""The windows over the main screen: the history of a memory, its links, the comparison of two memories, and the inbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList, Static

from memcli.app import inbox
from memcli.app.candidate import candidate_of
from memcli.app.workspace import Workspace, load
from memcli.codec.memory import memory_to_json
from memcli.codec.space import find_memory
from memcli.errors import CorruptError, MemcliError, NotFoundError
from memcli.extras.tui.catalogue import PathCatalogue
from memcli.extras.tui.changes import Editor, EditResult, changed
from memcli.extras.tui.detail import ARROWS, LABEL, brief, of_memory
from memcli.extras.tui.dialog import ListWindow, Question, Window
from memcli.extras.tui.keys import COMPARE, HISTORY, INBOX, LINKS, bindings
from memcli.extras.tui.status import explain
from memcli.git.revisions import open_history
from memcli.graph.elements import HAS_TAG, Graph, build, neighbourhood, node_id
from memcli.model.changes import FieldChange, HistoryCommit, MemoryChange
from memcli.model.links import elsewhere, target
from memcli.model.memory import Json, Memory
from memcli.present.changes import ADDED, REMOVED, Pair, commit_cells, compare, compared, difference, memory_change
from memcli.present.links import LinkStep, direction, link_steps, relation_words
from memcli.present.memory import count_of, marks
from memcli.record import replace
from memcli.render.clean import clean, clean_line, clean_value
from memcli.store.layout import Layout
from memcli.wiring import extra

if TYPE_CHECKING:
    from memcli.extras.tui.main_screen import MainScreen
    from memcli.git.revisions import StoreHistory


MAX_COMMITS = 1000
"""The most commits that a history reads, newest first."""

Version = tuple[HistoryCommit | None, MemoryChange]
"""The change of a memory by a commit; without a commit, the change that is not committed yet."""


Timeline = tuple[Sequence[Version], Sequence[Mapping[str, Any]], bool]
"""The versions of a memory, newest first; the acts of the audit log that touched it, newest first; and whether there are older
commits that were not read."""


def read_past(workspace: Workspace, memory: Memory) -> Timeline:
    """Reads the history of a memory from git, if there is any, and the audit log. Raises CorruptError, StoreError, ProviderError."""
    acts = tuple(reversed(extra("stores.log").log(workspace, None, None, memory.id)))
    try:
        found, is_cut = read_versions(open_history(Layout(workspace.root).spaces), memory, f"{workspace.space}.json")
    except NotFoundError:  # no repository, or none with commits
        return (), acts, False
    detector = workspace.redactor.on_the_way_out(workspace.store.policy(workspace.space))
    changes = extra("history.changes").clean_changes([change for _, change in found], detector)
    return [(commit, change) for (commit, _), change in zip(found, changes, strict=True)], acts, is_cut


def read_versions(history: StoreHistory, memory: Memory, name: str) -> tuple[list[Version], bool]:
    """The versions of a memory, whose space is in the file `name` now, and whether older commits were left out.

    Raises NotFoundError in a repository without commits, CorruptError, StoreError, ProviderError.
    """
    with history.reading() as read:

        @cache  # a version is read as that of its commit, and as the parent of the next one
        def at(commit: str, file: str) -> Memory | None:
            data = read(commit, file) if commit else None
            try:
                return find_memory(data, memory.id, f"{commit[:10]}:{file}") if data else None
            except CorruptError:  # a file that was damaged for some commits counts as empty
                return None

        start = history.repository.resolve("HEAD")
        now = memory_change(at(start, name), memory)
        found: list[Version] = [(None, now)] if now else []
        # One commit more than is read shows whether there are older ones.
        commits = list(islice(_commits(history, start, name), MAX_COMMITS + 1))
        for commit, file, parents in commits[:MAX_COMMITS]:
            changes = [memory_change(at(*parent), at(commit.hash, file)) for parent in parents or [("", "")]]
            if changes and all(changes):  # a merge that equals one of its parents changed nothing
                found += [(commit, change) for change in changes[:1] if change]
    return found, len(commits) > MAX_COMMITS


def _commits(
    history: StoreHistory, start: str, name: str
) -> Iterator[tuple[HistoryCommit, str, list[tuple[str, str]]]]:
    """Yields the commits that changed a file, under all its names: each with the name then, and its parents with the name there."""
    places = [(start, name)]
    while places:
        tip, file = places.pop()
        for commit in history.commits(tip, file):
            parents = [(parent, file) for parent in commit.parents]
            if not parents and (origin := history.renamed_from(commit.hash, file)):
                older, parent = origin
                parents = [(parent, older)]
                places.append((parent, older))
            yield commit, file, parents


class Past(ListWindow[None]):
    """The history of a memory: its versions, then the acts of the audit log, newest first."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(HISTORY)

    def __init__(self, memory: Memory, past: Timeline) -> None:
        super().__init__(f"history of {clean_line(memory.path)}", HISTORY)
        self._memory = memory
        self._versions, self._acts, self._is_cut = past

    def refill(self) -> None:
        """Lists the versions and the acts."""
        commits = sum(commit is not None for commit, _ in self._versions)
        note = f"{count_of(commits, 'commit')}, {len(self._acts)} in the audit log of this machine"
        if not self._versions and not self._acts:
            note = "No commit contains this memory, and the audit log of this machine does not mention it."
        elif self._is_cut:
            note += f"; only the last {MAX_COMMITS:,} commits were read"
        rows = [(*_moment_of(one), one[1].status, commit_cells(one[0])[3]) for one in self._versions]
        rows += [
            (str(act.get("time"))[:10], "audit", "", f"{act.get('command')}: {act.get('action')}") for act in self._acts
        ]
        lines = [
            Content.assemble(f"{day:<10} ", (f"{name:<10} ", LABEL), f"{status:<10} ", clean_line(text))
            for day, name, status, text in rows
        ]
        self.fill(lines, note)

    def about(self, n: int) -> Content:
        """The changed fields of a version, or an act in full, with what it did to the memory."""
        if n >= len(self._versions):
            act = self._acts[n - len(self._versions)]
            changes = act.get("changes", ())
            own: Mapping[str, Any] = next((one for one in changes if one.get("id") == self._memory.id), {})
            others = len(changes) - 1
            values = {
                **{name: act.get(name) for name in ("time", "user", "command", "action")},
                "memory": "created" if not own.get("before") else "deleted" if not own.get("after") else "changed",
                "others": f"{count_of(others, 'other memory', 'other memories')} in the same act" if others > 0 else "",
            }
            shown = [(name, clean_line(str(value))) for name, value in values.items() if value]
            return Content("\n").join(Content.assemble((f"{name:<10} ", LABEL), text) for name, text in shown)
        commit, change = self._versions[n]
        head = [clean_line(f"commit {commit.hash}  {commit.author}  {commit.date}")] if commit else []
        return Content("\n".join([*head, *extra("history.rendering").change_lines(change)]))

    @on(OptionList.OptionSelected)
    def action_compare(self) -> None:
        """Compares the version under the cursor with the memory as it is now."""
        if self.index is None or self.index >= len(self._versions):
            self.notify("this entry has no version to compare", severity="warning")
            return
        version = self._versions[self.index]
        self.app.push_screen(Comparison(version[1].memory, self._memory, (" ".join(_moment_of(version)), "now")))


def _moment_of(version: Version) -> tuple[str, str]:
    """The day of a version and its short hash, or `-` while it is not committed."""
    commit, change = version
    name, day, _, _ = commit_cells(commit)
    return day or change.memory.updated_at[:10], name or "-"


_MOST_STEPS = 9


def read_links(workspace: Workspace) -> Graph:
    """The graph of links between the memories of the space, of the spaces that recall searches with it, and of all spaces that
    these link to. Raises CorruptError, StoreError."""
    existing = set(workspace.store.spaces())
    # A recall that names no space also searches those beside `main`.
    beside = workspace.copy_with(is_space_named=False).spaces_to_read
    spaces: dict[str, tuple[Memory, ...]] = {}
    waiting = list(dict.fromkeys([workspace.space, *beside]))
    while waiting:
        name = waiting.pop()
        if name in existing and name not in spaces:
            spaces[name] = load(workspace, name).objects
            ends = (elsewhere(target(link)) for memory in spaces[name] for link in memory.links)
            waiting += sorted({end[0] for end in ends if end})
    graph = build(spaces, workspace.main)
    # Tags would connect memories that no link connects.
    return replace(graph, edges=tuple(edge for edge in graph.edges if edge.relation != HAS_TAG))


class Neighbours(ListWindow[tuple[str, Memory]]):
    """The memories that links connect with one, as a tree. Its result is the space and the memory that the user chooses."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LINKS)

    def __init__(self, workspace: Workspace, memory: Memory, graph: Graph, catalogue: PathCatalogue) -> None:
        super().__init__(f"links of {clean_line(memory.path)}", LINKS)
        self._workspace = workspace
        self._catalogue = catalogue
        self._graph = graph
        self._known = {node.id: node for node in graph.nodes}
        self._root = node_id(workspace.space, memory.id, workspace.main)
        self._depth = 1
        self._steps: list[LinkStep] = []

    def refill(self) -> None:
        """Lists the memories that are `_depth` steps away at most."""
        near = neighbourhood(self._graph, [self._root], self._depth)
        here = self._steps[self.index].name if self.index is not None else ""
        self._steps = link_steps(near, self._root)
        at = next((n for n, step in enumerate(self._steps) if step.name == here), 0)
        note = "No link leads to this memory or from it. `memcli link` makes one."
        if self._steps:
            away = "1 step" if self._depth == 1 else f"up to {self._depth} steps"
            beyond = "; there are more beyond" if near.cut else ""
            note = f"{count_of(len(self._steps), 'memory', 'memories')} {away} away{beyond}"
        self.fill([self._line(step) for step in self._steps], note, at)

    def about(self, n: int) -> Content:
        """The memory of the n-th line."""
        space, memory = self._memory(n)
        policy = self._workspace.store.policy(space)
        return of_memory(self._workspace.redactor.show([memory], policy)[0], self._catalogue)

    def action_depth(self, by: int) -> None:
        """Lists memories that are more or fewer steps away."""
        self._depth = max(1, min(_MOST_STEPS, self._depth + by))
        self.refill()

    @on(OptionList.OptionSelected)
    def action_choose(self) -> None:
        """Closes the window with the memory under the cursor as its result."""
        if self.index is not None:
            self.dismiss(self._memory(self.index))

    def _memory(self, n: int) -> tuple[str, Memory]:
        node = self._known[self._steps[n].name]
        assert node.memory is not None
        return node.space, node.memory

    def _line(self, step: LinkStep) -> Content:
        node, edge = self._known[step.name], step.edge
        assert node.memory is not None
        arrow = ARROWS[direction(edge.relation, is_out=edge.end == step.name)]
        mark = marks(node.memory)
        return Content.assemble(
            "  " * (step.depth - 1),
            (f"{clean_line(f'{arrow} {relation_words(edge.relation)}')}  ", LABEL),
            clean_line(f"{node.label}{f' [{mark}]' if mark else ''}"),
            (f"  {clean_line(node.memory.kind)}", LABEL),
        )


_LEAST_WIDTH = 60
"""The least number of columns for a comparison side by side."""
# Underlined too: the meaning must not depend on colours alone.
_GONE, _NEW = "$text-error underline", "$text-success underline"


class Comparison(Window[None]):
    """The comparison of two memories, or of two versions of one."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(COMPARE)

    def __init__(self, left: Memory, right: Memory, titles: tuple[str, str]) -> None:
        self._text = Static("", markup=False)
        super().__init__("comparison", COMPARE, self._text)
        self._memories = left, right
        self._titles = titles
        self._is_split: bool | None = None

    def on_resize(self) -> None:
        """Draws the columns again for the new size."""
        self.call_after_refresh(self._draw)

    def action_layout(self) -> None:
        """Switches between side by side and one above the other."""
        self._is_split = not self._is_side_by_side()
        self._draw()

    def _is_side_by_side(self) -> bool:
        return self._text.size.width >= _LEAST_WIDTH if self._is_split is None else self._is_split

    def _draw(self) -> None:
        draw = side_by_side if self._is_side_by_side() else one_above_other
        self._text.update(draw(*self._memories, self._titles, self._text.size.width))


def side_by_side(left: Memory, right: Memory, titles: tuple[str, str], width: int) -> Content:
    """Both memories in two columns; the sign between them says what differs: `≠` changed, `<` `>` on one side alone."""
    column = (width - 3) // 2

    def row(left: Content, right: Content, sign: str) -> list[Content]:
        cells = zip_longest(_wrapped(left, column), _wrapped(right, column), fillvalue=Content(""))
        return [
            Content.assemble(one.pad_right(max(0, column - one.cell_length)), (" │ " if n else sign, LABEL), other)
            for n, (one, other) in enumerate(cells)
        ]

    lines = row(Content.styled(titles[0], "bold"), Content.styled(titles[1], "bold"), " │ ")
    for label, pairs in _parts(left, right):
        lines.append(Content.styled(f"── {label} ", LABEL))
        for one, other in pairs:
            sign = "│" if one == other else "<" if other is None else ">" if one is None else "≠"
            lines += row(*_marked(one, other), f" {sign} ")
    return Content("\n").join(lines)


def one_above_other(left: Memory, right: Memory, titles: tuple[str, str], width: int) -> Content:
    """Both memories in one column, `-` before lines of the first alone and `+` before those of the second."""
    lines = [Content.styled(f"- {titles[0]}", "bold"), Content.styled(f"+ {titles[1]}", "bold")]
    for label, pairs in _parts(left, right):
        lines.append(Content.styled(f"── {label} ", LABEL))
        for one, other in pairs:
            gone, new = _marked(one, other)
            signed = (
                [("  ", gone)] if one == other else [("- ", gone)] if other is None else [("- ", gone), ("+ ", new)]
            )
            signed = [("+ ", new)] if one is None else signed
            lines += [Content(sign) + line for sign, text in signed for line in _wrapped(text, width - 2)]
    return Content("\n").join(lines)


def _parts(left: Memory, right: Memory) -> Iterable[tuple[str, list[Pair]]]:
    """The parts of a comparison with their pairs of lines, without control characters."""
    fields = [
        FieldChange(clean_line(change.name), clean_value(change.before), clean_value(change.after))
        for change in compare(memory_to_json(left), memory_to_json(right))
    ]
    one, other = (replace(m, path=clean_line(m.path), kind=clean_line(m.kind), raw=clean(m.raw)) for m in (left, right))
    return compared(one, other, fields)


def _marked(left: str | None, right: str | None) -> tuple[Content, Content]:
    """A pair of lines, with the words marked that differ."""
    if left is None or right is None:
        return Content.styled(left or "", _GONE), Content.styled(right or "", _NEW)
    pieces = difference(left, right)
    return (
        Content.assemble(*((text, _GONE if state == REMOVED else "") for text, state in pieces if state != ADDED)),
        Content.assemble(*((text, _NEW if state == ADDED else "") for text, state in pieces if state != REMOVED)),
    )


def _wrapped(text: Content, width: int) -> list[Content]:
    """The lines of a text that is wrapped at `width` columns; one for an empty text."""
    return text.wrap(max(2, width)) if text.plain else [text]


class Inbox(ListWindow[None]):
    """The inbox: the proposals for a space, with the one under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(INBOX)

    def __init__(self, main_screen: MainScreen, editor: Editor | None, waiting: Sequence[Memory]) -> None:
        super().__init__(f"inbox of {clean_line(main_screen.workspace.space)}", INBOX)
        self._main_screen = main_screen
        self._editor = editor
        self._waiting = waiting

    def refill(self) -> None:
        """Lists the proposals."""
        lines = [Content.assemble(clean_line(m.path), (f"  {clean_line(m.kind)}", LABEL)) for m in self._waiting]
        proposed = f"{count_of(len(lines), 'memory', 'memories')} proposed"
        self.fill(lines, proposed if lines else "The inbox is empty: nothing is proposed.", self.index or 0)

    def about(self, n: int) -> Content:
        """The effects of accepting a proposal, and the proposal in full."""
        workspace, catalogue, memory = self._main_screen.workspace, self._main_screen.view.catalogue, self._waiting[n]
        present = catalogue.find(memory.path)
        _, supersedes = candidate_of(memory)
        lines = [
            *([f"changes the memory that is there: {brief(catalogue.show(present))}"] if present else []),
            *([f"supersedes {supersedes}"] if supersedes else []),
            *(clean_line(one.words(workspace.space)) for one in extra("inbox.review").findings(workspace, [memory])[0]),
        ]
        effect = Content.styled("".join(f"{line}\n\n" for line in lines), "$text-warning")
        return effect + of_memory(catalogue.show(memory), catalogue)

    def action_accept(self) -> None:
        """Adds the proposal to the space."""
        if (memory := self._memory) is not None:
            self._accept([memory])

    def action_accept_all(self) -> None:
        """Adds all proposals to the space if the user confirms it."""
        waiting = self._waiting
        if waiting:
            text = f"{count_of(len(waiting), 'memory', 'memories')} will be added."
            question = Question("Accept all proposals?", text, "accept", "cancel")
            self.app.push_screen(question, lambda yes: self._accept(waiting) if yes else None)

    def action_reject(self) -> None:
        """Rejects the proposal for good if the user confirms it."""
        if (memory := self._memory) is None:
            return
        workspace, path = self._main_screen.workspace, clean_line(memory.path)

        def reject() -> EditResult:
            extra("inbox.review").reject(workspace, [memory])
            return EditResult(f"rejected {path}", memory.id)

        text = f"{path}\n\nIts text will be deleted and not be proposed again."
        question = Question("Reject this proposal?", text, "reject")
        self.app.push_screen(question, lambda yes: self._run(reject) if yes else None)

    def action_edit(self, as_object: bool = False) -> None:
        """Opens the text of the proposal in the editor, with `as_object` all its fields."""
        if (memory := self._memory) is None or self._editor is None:
            return
        workspace = self._main_screen.workspace

        def store(fields: Mapping[str, Json], _: Memory | None) -> EditResult:
            edited = extra("inbox.review").edit(workspace, memory.id, fields)
            return EditResult(changed(edited, fields), edited.id)

        self._main_screen.changer.edit(self._editor, memory, as_object, store, self._read)

    @property
    def _memory(self) -> Memory | None:
        return None if self.index is None else self._waiting[self.index]

    def _accept(self, memories: Sequence[Memory]) -> None:
        workspace = self._main_screen.workspace

        def accept() -> EditResult:
            stored = extra("inbox.review").accept(workspace, memories)
            what = memories[0].path if len(memories) == 1 else count_of(len(memories), "memory", "memories")
            return EditResult(f"accepted {clean_line(what)}", stored.outcomes[-1].id)

        self._run(accept)

    def _run(self, act: Callable[[], EditResult]) -> None:
        """Runs a change, and reads the proposals again, also after an error."""

        def failed(error: MemcliError | OSError) -> None:
            self._main_screen.fail(error)
            self._read()

        self._main_screen.changer.run(act, failed, then=self._read)

    def _read(self) -> None:
        """Reads the proposals again, and lists them if the window is still open."""
        try:
            self._waiting = inbox.waiting(self._main_screen.workspace)
        except (MemcliError, OSError) as error:
            self.notify(explain(error), severity="error", markup=False)
            return
        if self.is_attached:
            self.refill()
