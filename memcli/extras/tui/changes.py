"""Changes that the browser makes, one at a time, and back to the editor when one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.widgets import Static

from memcli.app.contradictions import link_found
from memcli.app.edit import edit
from memcli.app.remember import Outcome
from memcli.app.workspace import Workspace
from memcli.errors import ConflictError, MemcliError
from memcli.extras.tui import catalogue
from memcli.extras.tui.dialog import AddForm, Dialog, TextForm
from memcli.extras.tui.status import explain
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Json, Memory
from memcli.record import Record, replace
from memcli.render.clean import clean_line

if TYPE_CHECKING:
    from memcli.cli.editor import EditorFile
    from memcli.extras.tui.main_screen import MainScreen


class EditResult(Record):
    """What was done to the memory of the id `name`, as news for the status line, and warnings about it."""

    text: str
    name: str
    warnings: tuple[str, ...] = ()


class Editor(Record):
    """What the browser cannot do itself.

    `open` makes a draft of a memory, or of none; with the flag, of all its fields. `add` stores a new memory.
    """

    open: Callable[[Memory | None, bool], EditorFile]
    add: Callable[[Workspace, Mapping[str, Json]], Outcome]


Store = Callable[[Mapping[str, Json], Memory | None], EditResult]
"""Saves the fields that changed, given the memory that must still be stored."""


class Edit(Record):
    """A draft being edited: of `memory`, or of a new one. `expected` is what must still be stored when `store` saves it;
    `then` is called when it is saved."""

    draft: EditorFile
    memory: Memory | None
    expected: Memory | None
    store: Store
    then: Callable[[], object]


class EditAgain(Dialog[bool]):
    """The question what to do with a text that could not be saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e,enter,y", "dismiss(True)", "Edit again", show=False),
        Binding("n,q", "dismiss", "Keep the file", show=False),
    ]

    def __init__(self, problem: str, path: str) -> None:
        keys = "e or Enter: edit again   Esc: keep the file and close"
        texts = Static(problem, markup=False, classes="problem"), Static(f"\nThe text is in {path}", markup=False)
        super().__init__("not saved", keys, *texts)


def change_fields(workspace: Workspace, name: str, fields: Mapping[str, Json], expected: Memory | None) -> EditResult:
    """Changes fields of the memory of the id `name`."""
    memory, _ = edit(workspace, name, fields, expected)
    if "raw" in fields:
        link_found(workspace, memory)
    return EditResult(changed(memory, fields), memory.id)


def changed(memory: Memory, fields: Mapping[str, Json]) -> str:
    """Which fields of a memory were changed, in words."""
    names = ", ".join("text" if name == "raw" else name for name in sorted(fields))
    return f"changed {clean_line(f'{names} of {memory.path}')}"


def add_new(workspace: Workspace, editor: Editor, scope: CatalogueFilter, fields: Mapping[str, Json]) -> EditResult:
    """Stores a new memory, with the place, kind and tags that are browsed where it is given none."""
    kind = scope.kinds[0] if len(scope.kinds) == 1 else None
    given = {"path_hint": scope.under or None, "kind": kind, "tags": list(scope.tags) or None}
    outcome = editor.add(workspace, {**{k: v for k, v in given.items() if v is not None}, **fields})
    warnings = tuple(clean_line(one.words(workspace.space)) for one in outcome.found or ())
    return EditResult(f"{outcome.status} {clean_line(outcome.path)}", outcome.id, warnings)


_Problem = MemcliError | OSError


class Changer:
    """Changes memories for a screen, holding `lock`. `unsaved` are the files of texts that could not be saved."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.lock = asyncio.Lock()
        self.unsaved: list[str] = []

    def run(
        self,
        act: Callable[[], EditResult],
        failed: Callable[[_Problem], None],
        *,
        show: bool = False,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Acts when all acts before have ended; `failed` gets what went wrong, `then` is called when nothing did. With
        `show` the cursor goes to the memory, wherever it is then."""
        screen = self._screen

        async def act_in_turn() -> None:
            async with self.lock:
                try:
                    done = await asyncio.to_thread(act)
                except (MemcliError, OSError) as error:
                    failed(error)
                    return
                try:
                    screen.view.read(await asyncio.to_thread(catalogue.read, screen.workspace, screen.view.scope))
                except (MemcliError, OSError) as error:
                    screen.fail(error)
                    return
            if show:
                screen.go_to(screen.view.catalogue.find(done.name))
            else:
                screen.refill()
            screen.say(done.text)
            for text in done.warnings:
                screen.warn(text)
            then()

        screen.run_worker(act_in_turn(), group="change")

    def add(self, editor: Editor, fields: Mapping[str, Json] | None = None, problem: str = "") -> None:
        """Asks for a new memory in a form, which comes back with what was typed when it cannot be stored."""
        screen = self._screen

        def answered(given: Mapping[str, Json] | None) -> None:
            if given is None:
                screen.say("nothing added")
                return
            act = partial(add_new, screen.workspace, editor, screen.view.scope, given)
            self.run(act, lambda error: self.add(editor, given, explain(error)), show=True)

        screen.app.push_screen(AddForm(fields or {}, problem), answered)

    def edit(
        self,
        editor: Editor,
        memory: Memory | None,
        as_object: bool,
        store: Store,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Opens the text of `memory`, all its fields, or an empty file for a new memory in the editor."""
        try:
            draft = editor.open(memory, as_object)
        except (MemcliError, OSError) as error:
            self._screen.fail(error)
            return
        self._edit(Edit(draft, memory, memory, store, then))

    def _edit(self, edited: Edit) -> None:
        problem: _Problem | None = None
        try:
            with self._screen.app.suspend():  # which restores the screen only if nothing is raised in it
                try:
                    edited.draft.edit()
                except (MemcliError, OSError) as error:
                    problem = error
        except SuspendNotSupported:  # no other program can have the screen, as in a browser: the user edits in a field

            def answered(text: str | None) -> None:
                problem: _Problem | None = None
                if text is not None:
                    try:
                        edited.draft.write(text)
                    except (MemcliError, OSError) as error:
                        problem = error
                self._take(edited, problem)

            title = f"edit {clean_line(edited.memory.path)}" if edited.memory else "new memory"
            self._screen.app.push_screen(TextForm(title, edited.draft.text), answered)
            return
        self._take(edited, problem)

    def _take(self, edited: Edit, problem: _Problem | None) -> None:
        """Saves what the draft holds after it was edited."""
        draft, fields = edited.draft, dict[str, Json]()
        try:
            fields = dict(draft.fields()) if problem is None else {}
        except MemcliError as error:
            problem = error

        def save() -> EditResult:
            done = edited.store(fields, edited.expected)
            draft.remove()
            return done

        if problem is not None:
            self._ask_again(edited, problem)
        elif fields:
            self.run(save, partial(self._ask_again, edited), show=True, then=edited.then)
        else:
            draft.remove()
            self._screen.say("nothing changed" if edited.memory else "nothing added")

    def _ask_again(self, edited: Edit, problem: _Problem) -> None:
        """Asks whether to edit again what could not be saved."""
        screen, path = self._screen, edited.draft.path
        if not edited.draft.is_changed:
            edited.draft.remove()
            screen.fail(problem)
            return
        # A user who saves again after reading that the memory has changed means to overwrite it.
        expected = None if isinstance(problem, ConflictError) else edited.expected
        self.unsaved.append(path)

        def answered(again: bool | None) -> None:
            if again:
                self.unsaved.remove(path)
                self._edit(replace(edited, expected=expected))
            else:
                screen.say(f"not saved; the text is in {path}")

        screen.app.push_screen(EditAgain(explain(problem), path), answered)
