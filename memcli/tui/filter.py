"""The field on top: words that filter as they are typed, or a question."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Label

_PLACEHOLDER = "filter by words; press Enter to search by meaning"


class Filter(Input):
    """A field of one line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "search by meaning"),
        Binding("escape", "screen.clear", "clear"),
        Binding("down", "screen.focus_rows", "go to the list", key_display="↓"),
    ]

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
