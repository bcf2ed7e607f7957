"""The right side: one memory, to be read and scrolled."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static


class Detail(VerticalScroll, can_focus=True):
    """Text with a scroll bar. Shown the same thing again, it stays where it was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False),
        Binding("k", "scroll_up", "Up", show=False),
        Binding("g", "scroll_home", "First", show=False),
        Binding("G", "scroll_end", "Last", show=False),
        Binding("left,h", "screen.focus_rows", "Back to the list", show=False),
    ]
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
