"""The left pane: its rows, which are the tree of memories that pass the filter, or the ranked answer to a query; and its widgets, the
field for filter and query, and the list. The list draws only visible rows, so that ten thousand cost no more than these."""

from __future__ import annotations

import textwrap
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input

from memcli.extras.tui.catalogue import Listed, PathCatalogue, is_current, tree_key
from memcli.extras.tui.keys import FILTER, LIST, bindings
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Memory
from memcli.model.recall import Bundle, Section
from memcli.present.memory import marks
from memcli.record import NamedTuple, Record, field, replace
from memcli.render.clean import clean_line


class ViewRow(NamedTuple):
    """A row: a heading, a memory, or both. `path` is the whole path, `name` the part of it that the row shows, `id` that of the
    memory, and `below` are the memories below it."""

    path: str
    name: str
    id: str = ""
    below: Sequence[Listed] = ()
    depth: int = 0
    is_open: bool | None = None
    """Whether the rows below it are shown; None if there are none."""
    lead: str = ""
    note: str = ""


class Folds(Record, frozen=False):
    """Which headings are open: all or none of them, except those that were toggled."""

    is_open: bool = True
    toggled: set[str] = field(default_factory=set)

    def shows(self, path: str) -> bool:
        """Whether the heading `path` is open."""
        return self.is_open != (path in self.toggled)

    def toggle(self, path: str) -> None:
        """Opens a closed heading, closes an open one."""
        self.toggled ^= {path}

    def reveal(self, path: str) -> None:
        """Opens all headings above `path`."""
        for n, character in enumerate(path):
            if character == "/" and not self.shows(path[:n]):
                self.toggle(path[:n])


def outline(listed: Sequence[Listed], shows: Callable[[str], bool]) -> list[ViewRow]:
    """The rows of the tree of memories, given in its order, one at each path. A chain of headings that each have one child shares
    a row."""
    rows: list[ViewRow] = []
    # From one memory to before another, those whose paths have the first characters in common. No recursion: a path of thousands
    # of segments is deeper than that goes.
    waiting = [(0, len(listed), 0, 0)]
    while waiting:
        start, stop, common, depth = waiting.pop()
        if start == stop:
            continue
        first = listed[start]
        segment = first.path[:common] + first.path[common:].partition("/")[0]
        after = start + 1
        if after < stop and listed[after].path.startswith(f"{segment}/"):  # asked first: most memories have none below
            after = bisect_left(listed, f"{tree_key(segment)}\1", after, stop, key=lambda one: tree_key(one.path))
        waiting.append((after, stop, common, depth))
        path = first.path if after - start == 1 else _shared(first.path, listed[after - 1].path)
        if after - start == 1 and path != segment:  # a memory without others below it has a row of its own
            path = path.rpartition("/")[0]
        is_memory = path == first.path
        below = listed[start + is_memory : after]
        is_open = shows(path) if below else None
        name, note = (first.id, first.kind) if is_memory else ("", str(len(below)))
        rows.append(ViewRow(path, path[common:], name, below, depth, is_open, note=note))
        if is_open:
            waiting.append((after - len(below), after, len(path) + 1, depth + 1))
    return rows


def _shared(path: str, other: str) -> str:
    """The segments with which both paths begin."""
    pairs = zip(path.split("/"), other.split("/"), strict=False)
    return "/".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


_OPEN_AT_FIRST = 200
"""A tree of more memories starts closed."""


class BrowseView:
    """A catalogue with the filter, the answer and the folds of the user. `trail` has the ids of memories whose links were followed."""

    def __init__(self, catalogue: PathCatalogue, scope: CatalogueFilter) -> None:
        self.scope = scope
        self.everything = False
        self.words = ""
        self.answer: Bundle | None = None
        self._folds = Folds(is_open=len(catalogue.listed) <= _OPEN_AT_FIRST)
        self._filtered_folds = Folds()
        self.trail: list[str] = []
        self.read(catalogue)

    def read(self, catalogue: PathCatalogue) -> None:
        """Replaces the catalogue; filter, answer and folds remain."""
        self.catalogue = catalogue
        self._find()

    def filter(self, words: str) -> None:
        """Shows the memories with all of these words, in place of an answer."""
        self.answer = None
        self.words = words
        self._filtered_folds = Folds()
        self._find()

    def reveal(self, memory: Memory) -> None:
        """Makes `memory` visible: opens the headings above it, and drops the filter or the answer that hides it."""
        if not is_current(memory):
            self.show_everything(True)
        shown = self._found if self.answer is None else [m for _, m in self._answered()]
        if memory.id not in (one.id for one in shown):
            self.filter("")
        self.folds.reveal(memory.path)

    def follow(self, memory: Memory, n: int) -> Memory | None:
        """The memory at the n-th link of `memory`, which goes onto the trail; None if it is not in the scope."""
        links = self.catalogue.links(memory)
        target = self.catalogue.find(links[n - 1].other) if n <= len(links) else None
        if target is None or not replace(self.scope, inactive=True).has(target):
            return None
        self.trail.append(memory.id)
        return target

    def show_everything(self, everything: bool) -> None:
        """Shows or hides forgotten and superseded memories."""
        self.everything = everything
        self._find()

    @property
    def folds(self) -> Folds:
        """The folds of the current tree: with a filter, others than without one."""
        return self._filtered_folds if self.words.strip() else self._folds

    @property
    def found(self) -> int:
        """The number of memories in the rows if all headings were open."""
        return len(self._found) if self.answer is None else len(self._answered())

    @property
    def left_out(self) -> int:
        """The number of memories that are hidden because they are forgotten or superseded."""
        return 0 if self.everything else sum(one.is_hidden for one in self.catalogue.listed)

    def rows(self) -> list[ViewRow]:
        """The rows of the tree, or of the answer."""
        if self.answer is None:
            return outline(self._tree, self.folds.shows)
        return [
            ViewRow(m.path, m.path, m.id, lead=f"{n:>2} ", note=f"{section.score:.2f}" if section.why else "pinned")
            for n, (section, m) in enumerate(self._answered(), 1)
        ]

    @property
    def best(self) -> str | None:
        """The path of the first memory of the answer that matches the query, else of the first pinned one."""
        answered = self._answered()
        return next((m.path for section, m in answered if section.why), answered[0][1].path if answered else None)

    def section(self, memory: Memory) -> Section | None:
        """The section of the answer with `memory`; None if there is none."""
        return next((s for s in self._sections if s.memory.id == memory.id), None)

    @property
    def _sections(self) -> Sequence[Section]:
        return (*self.answer.sections, *self.answer.always) if self.answer else ()

    def _answered(self) -> list[tuple[Section, Memory]]:
        """The memories of the answer as they are now, without those that have been deleted since."""
        current = {m.id: m for m in self.catalogue.read([s.memory.id for s in self._sections])}
        known = ((s, current.get(s.memory.id)) for s in self._sections)
        return [(s, m) for s, m in known if m is not None and (self.everything or is_current(m))]

    def _find(self) -> None:
        """Applies the filter to the catalogue."""
        self._found = self.catalogue.matching(self.words.casefold().split(), self.everything)
        # Of several at one path, the first.
        self._tree = [one for n, one in enumerate(self._found) if not n or one.path != self._found[n - 1].path]


_INDENT = 2
_MOST_INDENT = 12
_LEAST_NAME = 8


class Rows(ScrollView, can_focus=True):
    """A list of rows with a cursor. It posts a message for what the user does with a row; the main screen handles it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LIST)
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--note", "rows--heading"}
    DEFAULT_CSS = """
    Rows {
        width: 2fr; max-width: 60; overflow-x: hidden; border: round $border-blurred; border-title-style: bold;
        &:focus { border: round $border; }
        & > .rows--cursor { background: $block-cursor-blurred-background; text-style: bold; }
        & > .rows--note { color: $text-muted; }
        & > .rows--heading { text-style: bold; }
        &:focus > .rows--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold;
        }
    }
    """

    @dataclass
    class Moved(Message):
        """The cursor has moved to another row, or its row has changed."""

        row: ViewRow | None

    @dataclass
    class Chosen(Message):
        """The user wants to open or close a heading, or read a memory."""

        row: ViewRow

    def __init__(self, read: Callable[[Sequence[str]], Sequence[Memory]]) -> None:
        """`read` reads memories by id; those that are on the screen."""
        super().__init__()
        self._read = read
        self._drawn: dict[str, Memory] = {}
        self.rows: Sequence[ViewRow] = ()
        self.nothing = ""
        self._cursor = 0
        self._margin = 0
        self._marked = ""

    @property
    def current(self) -> ViewRow | None:
        """The row under the cursor."""
        return self.rows[self._cursor] if self._cursor < len(self.rows) else None

    def show(self, rows: Sequence[ViewRow], nothing: str, path: str | None = None) -> None:
        """Shows `rows`, or the text `nothing` when there are none.

        The cursor goes to `path`, or to the nearest heading above it; else it remains on its row, or on the line of that.
        """
        # Reversed, so that the first of several rows with a path counts.
        places = {row.path: n for n, row in reversed(list(enumerate(rows)))}
        index = places.get(path or (self.current.path if self.current else ""))
        while path and index is None and "/" in path:
            path = path.rpartition("/")[0]
            index = places.get(path)
        if index is None and self.rows:
            index = min(self._cursor, max(0, len(rows) - 1))
        self.rows, self.nothing = rows, nothing
        self._cursor = next((n for n, row in enumerate(rows) if row.id), 0) if index is None else index
        self._margin = 0
        # Without a width, so that nothing scrolls sideways: rows are cut to the pane.
        self.virtual_size = Size(0, len(rows))
        self._scroll()
        self.refresh()
        self.post_message(self.Moved(self.current))

    def mark(self, name: str) -> None:
        """Marks the memory with the id `name`, and no other."""
        self._marked = name
        self.show(self.rows, self.nothing)

    def _marks(self, memory: Memory) -> str:
        """The marks of a memory, with that of a comparison."""
        return marks(memory) + ("=" if memory.id == self._marked else "")

    def render_lines(self, crop: Region) -> list[Strip]:
        """Reads the memories that are on the screen, at once, and draws the lines."""
        top = self.scroll_offset.y
        ids = [row.id for row in self.rows[top : top + self.size.height] if row.id]
        self._drawn = {memory.id: memory for memory in self._read(ids)}
        # Never narrower than on an earlier screen, so that names do not go back and forth.
        self._margin = max(self._margin, 1, *(len(self._marks(memory)) + 1 for memory in self._drawn.values()))
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        y += self.scroll_offset.y
        if not self.rows:
            lines = [
                line for part in self.nothing.split("\n") for line in textwrap.wrap(part, max(8, width - 2)) or [""]
            ]
            text = f" {lines[y]}" if y < len(lines) else ""
            return Strip([Segment(text, self.rich_style)]).adjust_cell_length(width, self.rich_style)
        if y >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        row, is_cursor = self.rows[y], self._cursor == y
        base = self.rich_style
        if is_cursor:
            base += self.get_component_rich_style("rows--cursor", partial=True)
        name_style, note_style = base, base
        if not row.id:
            name_style += self.get_component_rich_style("rows--heading", partial=True)
        if not is_cursor:
            note_style += self.get_component_rich_style("rows--note", partial=True)
        # The marks and the indent, the name padded or cut, and the note; together `width` columns.
        sign = "" if row.lead else "  " if row.is_open is None else "▾ " if row.is_open else "▸ "
        mark = self._marks(self._drawn[row.id]) if row.id in self._drawn else ""
        left = f"{mark:<{self._margin}}{row.lead}{' ' * min(_MOST_INDENT, _INDENT * row.depth)}{sign}"
        left = set_cell_size(left, min(cell_len(left), width))
        note = f" {clean_line(row.note)} "
        room = width - cell_len(left) - cell_len(note)
        name = clean_line(row.name) or "?"
        if room < min(_LEAST_NAME, cell_len(name)):
            room, note = width - cell_len(left), ""
        # A row of an answer has the whole path, of which the end is the most specific part.
        name = fit(name, max(0, room), keep_end=bool(row.lead))
        parts = ((left, base), (name, name_style), (note, note_style))
        return Strip([Segment(text, style) for text, style in parts if text], width)

    def action_move(self, by: int) -> None:
        """Moves the cursor down, or up when `by` is negative."""
        index = max(0, min(self._cursor + by, len(self.rows) - 1))
        if index == self._cursor or not self.rows:
            return
        self.refresh_lines(self._cursor, 1)
        self.refresh_lines(index, 1)
        self._cursor = index
        self._scroll()
        self.post_message(self.Moved(self.current))

    def action_page(self, by: int) -> None:
        """Moves the cursor by `by` times the visible lines but one."""
        self.action_move(by * max(1, self.scrollable_content_region.height - 1))

    def action_open(self) -> None:
        """Opens a heading; from an open one moves to the row below it."""
        if self.current is not None and self.current.is_open is not None:
            if self.current.is_open:
                self.action_move(1)
            else:
                self.post_message(self.Chosen(self.current))

    def action_close(self) -> None:
        """Closes an open heading; from any other row moves to the heading above it."""
        row = self.current
        if row is None:
            return
        if row.is_open:
            self.post_message(self.Chosen(row))
            return
        above = (n for n in range(self._cursor - 1, -1, -1) if self.rows[n].depth < row.depth)
        self.action_move(next(above, self._cursor) - self._cursor)

    def action_choose(self) -> None:
        """Opens or closes a heading, or moves to the text of a memory."""
        if self.current is not None:
            self.post_message(self.Chosen(self.current))

    def on_resize(self) -> None:
        """Scrolls to the cursor."""
        self._scroll()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or not self.rows:
            return
        y = at.y + self.scroll_offset.y
        if y >= len(self.rows):
            return
        # A click on a memory with rows below it shows the memory; the next one opens or closes it.
        again = y == self._cursor
        self.action_move(y - self._cursor)
        row = self.rows[y]
        if row.is_open is not None and (again or not row.id):
            self.post_message(self.Chosen(row))

    def _scroll(self) -> None:
        """Scrolls as far as needed to make the cursor visible."""
        height, top = self.scrollable_content_region.height, round(self.scroll_y)
        if height > 0 and not top <= self._cursor < top + height:
            self.scroll_to(
                y=self._cursor if self._cursor < top else self._cursor - height + 1, animate=False, force=True
            )


def fit(text: str, width: int, keep_end: bool = False) -> str:
    """`text` in exactly `width` columns, padded, or cut at the end with `…`; with `keep_end`, cut at the beginning."""
    # Measured in cells, since some characters take two columns, and others none.
    if cell_len(text) <= width or not width:
        return set_cell_size(text, width)
    if not keep_end:
        return set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)
    while cell_len(text) >= width:
        text = text[1:]
    return set_cell_size("…" + text, width)


class Filter(Input):
    """The field for the words of the filter, or the topic of a query."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FILTER)

    def __init__(self) -> None:
        placeholder = "filter by words; press Enter to search by meaning"
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False)
