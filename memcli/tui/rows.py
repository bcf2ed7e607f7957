"""The left side: the field to filter or ask in, and the list of rows, drawn line by line so that ten thousand cost no more than those visible."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Label

from memcli.model.memory import Memory
from memcli.render.clean import clean_line
from memcli.render.memory import marks
from memcli.tui.keys import FILTER, LIST, bindings
from memcli.tui.view import ViewRow

_INDENT = 2
_MOST_INDENT = 12
_LEAST_NAME = 8


class Rows(ScrollView, can_focus=True):
    """Rows with a cursor. Knows nothing of what they stand for."""

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
        """The cursor is on another row, or on another version of it."""

        row: ViewRow | None

    @dataclass
    class Toggled(Message):
        """A heading is to be opened or closed."""

        row: ViewRow

    @dataclass
    class Chosen(Message):
        """A memory was chosen: the user wants to read it."""

        row: ViewRow

    def __init__(self) -> None:
        super().__init__()
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
        """Shows `rows`, or what is said when there are none.

        The cursor goes to `path`, or to what is above it; else it stays on its row, or on the line where that was.
        """
        here = self.current.path if self.current else ""
        index = _find(rows, path or here)
        while path and index is None and "/" in path:
            path = path.rpartition("/")[0]
            index = _find(rows, path)
        if index is None and self.rows:
            index = min(self._cursor, max(0, len(rows) - 1))
        self.rows, self.nothing = rows, nothing
        self._cursor = self._first_memory() if index is None else index
        self._margin = max((len(self._marks(r.memory)) for r in rows if r.memory), default=0) + 1 if rows else 0
        self.virtual_size = Size(0, len(rows))
        self._scroll()
        self.refresh()
        self.post_message(self.Moved(self.current))

    def mark(self, name: str) -> None:
        """Marks the memory of this id, and no other."""
        self._marked = name
        self.show(self.rows, self.nothing)

    def _marks(self, memory: Memory) -> str:
        return marks(memory) + ("=" if memory.id == self._marked else "")

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
        return self._draw(self.rows[y], width, self._cursor == y)

    def action_move(self, by: int) -> None:
        """Moves the cursor down, or up when `by` is negative."""
        self._go(self._cursor + by)

    def action_page(self, by: int) -> None:
        """Moves the cursor by what is seen at once."""
        self._go(self._cursor + by * max(1, self.scrollable_content_region.height - 1))

    def action_open(self) -> None:
        """Opens a heading; on an open one goes to what lies below it."""
        if self.current is not None and self.current.is_open is not None:
            if self.current.is_open:
                self.action_move(1)
            else:
                self.post_message(self.Toggled(self.current))

    def action_close(self) -> None:
        """Closes a heading; on anything else goes to the heading above it."""
        row = self.current
        if row is None:
            return
        if row.is_open:
            self.post_message(self.Toggled(row))
            return
        above = (n for n in range(self._cursor - 1, -1, -1) if self.rows[n].depth < row.depth)
        self._go(next(above, self._cursor))

    def action_choose(self) -> None:
        """Opens or closes a heading, reads a memory."""
        row = self.current
        if row is None:
            return
        self.post_message(self.Chosen(row) if row.is_open is None else self.Toggled(row))

    def on_resize(self) -> None:
        """Keeps the cursor in sight."""
        self._scroll()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or not self.rows:
            return
        y = at.y + self.scroll_offset.y
        if y >= len(self.rows):
            return
        again = y == self._cursor
        self._go(y)
        row = self.rows[y]
        if row.is_open is not None and (again or row.memory is None):
            self.post_message(self.Toggled(row))

    def _go(self, index: int) -> None:
        index = max(0, min(index, len(self.rows) - 1))
        if index == self._cursor or not self.rows:
            return
        self.refresh_lines(self._cursor, 1)
        self.refresh_lines(index, 1)
        self._cursor = index
        self._scroll()
        self.post_message(self.Moved(self.current))

    def _scroll(self) -> None:
        height, top = self.scrollable_content_region.height, round(self.scroll_y)
        if height > 0 and not top <= self._cursor < top + height:
            self.scroll_to(
                y=self._cursor if self._cursor < top else self._cursor - height + 1, animate=False, force=True
            )

    def _first_memory(self) -> int:
        return next((n for n, row in enumerate(self.rows) if row.memory), 0)

    def _draw(self, row: ViewRow, width: int, is_cursor: bool) -> Strip:
        base = self.rich_style
        if is_cursor:
            base += self.get_component_rich_style("rows--cursor", partial=True)
        name_style, note_style = base, base
        if row.memory is None:
            name_style += self.get_component_rich_style("rows--heading", partial=True)
        if not is_cursor:
            note_style += self.get_component_rich_style("rows--note", partial=True)
        left, name, note = self._cells(row, width)
        return Strip(_segments((left, base), (name, name_style), (note, note_style)), width)

    def _cells(self, row: ViewRow, width: int) -> tuple[str, str, str]:
        """What stands before the name, the name filled up, and the note; together `width` columns."""
        sign = "" if row.lead else "  " if row.is_open is None else "▾ " if row.is_open else "▸ "
        mark = self._marks(row.memory) if row.memory else ""
        left = f"{mark:<{self._margin}}{row.lead}{' ' * min(_MOST_INDENT, _INDENT * row.depth)}{sign}"
        left = set_cell_size(left, min(cell_len(left), width))
        note = f" {clean_line(row.note)} "
        room = width - cell_len(left) - cell_len(note)
        name = clean_line(row.name) or "?"
        if room < min(_LEAST_NAME, cell_len(name)):
            room, note = width - cell_len(left), ""
        return left, fit(name, max(0, room), keep_end=bool(row.lead)), note


def fit(text: str, width: int, keep_end: bool = False) -> str:
    """`text` in exactly `width` columns; `…` stands for what is cut off at the end, or at the beginning."""
    if cell_len(text) <= width or not width:
        return set_cell_size(text, width)
    if not keep_end:
        return set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)
    while cell_len(text) >= width:
        text = text[1:]
    return set_cell_size("…" + text, width)


def _segments(*parts: tuple[str, Style]) -> list[Segment]:
    return [Segment(text, style) for text, style in parts if text]


def _find(rows: Sequence[ViewRow], path: str) -> int | None:
    return next((n for n, row in enumerate(rows) if row.path == path), None)


_PLACEHOLDER = "filter by words; press Enter to search by meaning"


class Filter(Input):
    """A field of one line."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FILTER)

    def __init__(self) -> None:
        super().__init__(placeholder=_PLACEHOLDER, compact=True, select_on_focus=False)

    def put(self, words: str) -> None:
        """Shows `words` without filtering by them."""
        if self.value != words:
            with self.prevent(Input.Changed):
                self.value = words


class FilterBar(Horizontal):
    """The field with its sign."""

    DEFAULT_CSS = """
    FilterBar { height: 1; }
    FilterBar Label { width: 3; content-align: center middle; text-style: bold; }
    FilterBar Filter { width: 1fr; }
    """

    def compose(self) -> ComposeResult:
        yield Label("/")
        yield Filter()
