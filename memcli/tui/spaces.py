"""The choice of a space."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memcli.render.clean import clean_line
from memcli.tui.dialog import Dialog


class ChooseSpace(Dialog[str]):
    """All spaces of the store; the one that is open bears the cursor at first."""

    AUTO_FOCUS = "OptionList"
    title_text = "spaces"
    keys_text = "Enter: open   Esc: close"

    def __init__(self, names: Sequence[str], current: str) -> None:
        super().__init__()
        self._names = names
        self._list = OptionList(*(Option(Content(clean_line(name))) for name in names), compact=True, markup=False)
        self._current = current

    def body(self) -> list[Widget]:
        return [self._list]

    def on_mount(self) -> None:
        """Puts the cursor on the open space."""
        self._list.highlighted = self._names.index(self._current) if self._current in self._names else 0

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Answers with the name."""
        self.dismiss(self._names[event.option_index])
