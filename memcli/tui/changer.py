"""The changer: makes the changes that keys ask for, one at a time, and goes back to the editor when one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from memcli.errors import ConflictError, MemcliError
from memcli.model.memory import Memory
from memcli.record import replace
from memcli.tui import catalogue, changes
from memcli.tui.changes import Done
from memcli.tui.editing import Edit, EditAgain, Editor, use_editor
from memcli.tui.status import explain

if TYPE_CHECKING:
    from memcli.tui.main_screen import MainScreen

_Problem = MemcliError | OSError


class Changer:
    """Changes memories for a screen. `unsaved` are the files of texts that could not be saved."""

    def __init__(self, desk: MainScreen) -> None:
        self._desk = desk
        self._lock = asyncio.Lock()
        self.unsaved: list[str] = []

    @property
    def is_busy(self) -> bool:
        """Whether a change is being made."""
        return self._lock.locked()

    def change(self, memory: Memory, make: changes.Make, show: bool = False) -> None:
        """Makes a change to `memory`. With `show` the cursor goes to it, wherever it is then."""
        desk, workspace = self._desk, self._desk.workspace
        # As it is when its turn comes: the change before this one may have been to the same memory.
        self._begin(lambda: make(workspace, desk.view.catalogue.find(memory.id) or memory), show, desk.fail)

    def edit(self, editor: Editor, memory: Memory | None, as_object: bool = False) -> None:
        """Opens the text of `memory`, all its fields, or an empty file for a new memory in the editor."""
        try:
            draft = editor.open(memory, as_object)
        except (MemcliError, OSError) as error:
            self._desk.fail(error)
            return
        self._edit(editor, Edit(draft, memory, memory))

    def _edit(self, editor: Editor, edited: Edit) -> None:
        desk, draft = self._desk, edited.draft
        try:
            problem = use_editor(desk.app, draft)
            fields = draft.fields() if problem is None else {}
        except SuspendNotSupported:
            draft.remove()
            desk.say("cannot open an editor in this terminal")
            return
        except MemcliError as error:
            problem, fields = error, {}
        if problem is not None:
            self._ask_again(editor, edited, problem)
        elif fields:
            act = partial(changes.save, desk.workspace, editor, desk.view.scope, edited, fields)
            self._begin(act, True, partial(self._ask_again, editor, edited))
        else:
            draft.remove()
            desk.say("nothing changed" if edited.memory else "nothing added")

    def _ask_again(self, editor: Editor, edited: Edit, problem: _Problem) -> None:
        """Asks whether to edit again what could not be saved."""
        desk, path = self._desk, edited.draft.path
        if not edited.draft.is_changed:
            edited.draft.remove()
            desk.fail(problem)
            return
        # Who was told that the memory has changed overwrites it by saving again.
        expected = None if isinstance(problem, ConflictError) else edited.expected
        self.unsaved.append(path)

        def answered(again: bool | None) -> None:
            if again:
                self.unsaved.remove(path)
                self._edit(editor, replace(edited, expected=expected))
            else:
                desk.say(f"not saved; the text is in {path}")

        desk.app.push_screen(EditAgain(explain(problem), path), answered)

    def _begin(self, act: Callable[[], Done], show: bool, failed: Callable[[_Problem], None]) -> None:
        self._desk.run_worker(self._do(act, show, failed), group="change")

    async def _do(self, act: Callable[[], Done], show: bool, failed: Callable[[_Problem], None]) -> None:
        desk = self._desk
        async with self._lock:
            try:
                done = await asyncio.to_thread(act)
            except (MemcliError, OSError) as error:
                failed(error)
                return
            try:
                desk.view.read(await asyncio.to_thread(catalogue.read, desk.workspace, desk.view.scope))
            except (MemcliError, OSError) as error:
                desk.fail(error)
                return
        if show:
            desk.go_to(desk.view.catalogue.find(done.name))
        else:
            desk.refill()
        desk.say(done.text)
