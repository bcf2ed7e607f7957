"""The dialog: a box in front of everything else, which Escape takes away."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

T = TypeVar("T")


class Dialog(ModalScreen[T | None], Generic[T]):
    """A titled box. Its answer is None when it was left with Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]
    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > VerticalScroll {
            width: 64; max-width: 96%; height: auto; max-height: 94%;
            border: round $primary; border-title-style: bold; padding: 0 1; background: $surface;
        }
        & .keys { color: $text-muted; margin-top: 1; }
        & .problem { color: $text-error; height: auto; }
    }
    """

    AUTO_FOCUS = "VerticalScroll"
    title_text = ""
    keys_text = "Esc closes"

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = Content(self.title_text)
            yield from self.body()
            yield Static(self.keys_text, markup=False, classes="keys")

    def body(self) -> list[Widget]:
        """What stands in the box."""
        return []

    def action_leave(self) -> None:
        """Takes the box away, with no answer."""
        self.dismiss(None)


class Forget(Dialog[bool]):
    """The question before a memory is forgotten."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "yes", "Yes", show=False),
        Binding("n,q", "leave", "No", show=False),
    ]

    title_text = "Forget this memory?"
    keys_text = "y or Enter: forget   n or Esc: keep"

    def __init__(self, path: str) -> None:
        super().__init__()
        self._text = f"{path}\n\nRecall will no longer return it. It stays in the file; press u to undo."

    def body(self) -> list[Widget]:
        return [Static(self._text, markup=False)]

    def action_yes(self) -> None:
        """Answers yes."""
        self.dismiss(True)
