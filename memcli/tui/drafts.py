"""Drafts: texts in the user's editor, and the question what to do with one that could not be saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol

from textual.app import App
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from memcli.app.remember import Outcome
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError
from memcli.model.memory import Json, Memory
from memcli.record import Record
from memcli.tui.dialog import Dialog


class EditResult(Record):
    """What was done, in words, to the memory of the id `name`, and what there is to know of it."""

    text: str
    name: str
    warnings: tuple[str, ...] = ()


class DraftFile(Protocol):
    """A file for the user's editor. It lasts until it is removed."""

    path: str

    @property
    def text(self) -> str:
        """What the file holds. Raises UsageError for what is not UTF-8."""

    def write(self, text: str) -> None:
        """Puts a text into the file."""

    @property
    def is_changed(self) -> bool:
        """Whether the file holds something that would be lost with it."""

    def edit(self) -> None:
        """Opens the file in the editor and waits. Raises MemcliError."""

    def fields(self) -> Mapping[str, Json]:
        """The fields of the memory that were changed. Raises UsageError for what cannot be saved."""

    def remove(self) -> None:
        """Deletes the file."""


class Editor(Record):
    """What the browser cannot do itself.

    `open` makes a draft of a memory, or of none; with the flag, of all its fields. `add` stores a new memory.
    """

    open: Callable[[Memory | None, bool], DraftFile]
    add: Callable[[Workspace, Mapping[str, Json]], Outcome]


class Edit(Record):
    """A draft being edited: of `memory`, or of a new one. `expected` is what must still be stored when it is saved; `store`
    saves the fields that changed, given that, and `then` is called when they are saved."""

    draft: DraftFile
    memory: Memory | None
    expected: Memory | None
    store: Callable[[Mapping[str, Json], Memory | None], EditResult]
    then: Callable[[], object]


def use_editor(app: App[object], draft: DraftFile) -> MemcliError | OSError | None:
    """Lets the user edit while the screen is away; what went wrong. Raises SuspendNotSupported."""
    problem: MemcliError | OSError | None = None
    with app.suspend():  # which restores the screen only if nothing is raised in it
        try:
            draft.edit()
        except (MemcliError, OSError) as error:
            problem = error
    return problem


class EditAgain(Dialog[bool]):
    """The question what to do with a text that could not be saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e,enter,y", "again", "Edit again", show=False),
        Binding("n,q", "leave", "Leave", show=False),
    ]

    title_text = "not saved"
    keys_text = "e or Enter: edit again   Esc: keep the file and close"

    def __init__(self, problem: str, path: str) -> None:
        super().__init__()
        self._problem = problem
        self._path = path

    def body(self) -> list[Widget]:
        return [
            Static(self._problem, markup=False, classes="problem"),
            Static(f"\nThe text is in {self._path}", markup=False),
        ]

    def action_again(self) -> None:
        """Answers yes."""
        self.dismiss(True)
