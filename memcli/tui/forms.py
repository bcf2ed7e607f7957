"""Forms: fields to fill in for a new memory, and a field for a text where no editor can run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.binding import BindingType
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Label, Static, TextArea

from memcli.errors import MemcliError
from memcli.model.memory import Json
from memcli.model.names import check_path
from memcli.model.shapes import KINDS
from memcli.tui.dialog import Dialog
from memcli.tui.keys import FORM, bindings

T = TypeVar("T")


class Form(Dialog[T], Generic[T]):
    """A dialog with a text. What was typed is not lost by one Escape."""

    AUTO_FOCUS = "TextArea"
    BINDINGS: ClassVar[list[BindingType]] = bindings(FORM)
    DEFAULT_CSS = """
    Form {
        & > Box { width: 100; height: 94%; }
        & TextArea { height: 1fr; min-height: 3; border: none; padding: 0; }
        & Label { color: $text-muted; }
    }
    """
    keys_text = "Ctrl-S: save   Tab: next field   Esc: cancel"

    def __init__(self, text: str, problem: str = "") -> None:
        super().__init__()
        self._field = TextArea(text, tab_behavior="focus", compact=True)
        self._problem = Static(problem, markup=False, classes="problem")
        self._before = text
        self._is_warned = False

    @property
    def is_changed(self) -> bool:
        """Whether something was typed that would be lost."""
        return self._field.text != self._before

    def action_leave(self) -> None:
        """Cancels; when something was typed, only if asked twice."""
        if self.is_changed and not self._is_warned:
            self._is_warned = True
            self._problem.update("not saved: press Esc again to discard the text, Ctrl-S to save it")
        else:
            self.dismiss(None)

    @on(TextArea.Changed)
    def keep(self) -> None:
        """Whoever types on does not want to leave."""
        if self._is_warned:
            self._is_warned = False
            self._problem.update("")


class TextForm(Form[str]):
    """A text to edit."""

    def __init__(self, title: str, text: str) -> None:
        super().__init__(text)
        self.title_text = title

    def body(self) -> list[Widget]:
        return [self._field, self._problem]

    def action_save(self) -> None:
        """Answers with the text."""
        self.dismiss(self._field.text)


class AddForm(Form[Mapping[str, Json]]):
    """Kind, path and text of a new memory; without kind or path, memcli derives them from the text."""

    title_text = "new memory"

    def __init__(self, fields: Mapping[str, Json], problem: str = "") -> None:
        super().__init__(str(fields.get("raw", "")), problem)
        self._kind = Input(
            str(fields.get("kind", "")), placeholder="derived from the text", compact=True,
            suggester=SuggestFromList(sorted(KINDS)),
        )  # fmt: skip
        self._path = Input(str(fields.get("path", "")), placeholder="project/module/topic, or derived", compact=True)
        self._before = ""

    def body(self) -> list[Widget]:
        return [Label("kind"), self._kind, Label("path"), self._path, Label("text"), self._field, self._problem]

    @on(Input.Submitted)
    def next_field(self) -> None:
        """Enter in a field of one line."""
        self.focus_next()

    def action_save(self) -> None:
        """Answers with the fields that were given, unless one cannot be stored."""
        given = {"kind": self._kind.value.strip(), "path": self._path.value.strip(), "raw": self._field.text.strip()}
        try:
            if given["path"]:
                check_path(given["path"])
        except MemcliError as error:
            self._problem.update(f"{error.message}: {error.hint}")
            return
        if not given["raw"]:
            self._problem.update("the text is empty: type what to remember")
            return
        self.dismiss({name: value for name, value in given.items() if value})
