"""Changes of memories by the browser, which run one at a time; a text that cannot be saved can be edited again."""

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
from memcli.extras.tui.catalogue import PathCatalogue
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
    """A change of the memory with the id `name`: the message for the status line, and warnings."""

    text: str
    name: str
    warnings: tuple[str, ...] = ()


class Editor(Record):
    """The functions of the command line that the browser needs.

    `open` makes a draft of the text of a memory, or of a new one; with True, of all its fields. `add` stores a new memory.
    """

    open: Callable[[Memory | None, bool], EditorFile]
    add: Callable[[Workspace, Mapping[str, Json]], Outcome]


Store = Callable[[Mapping[str, Json], Memory | None], EditResult]
"""Saves the changed fields of a memory. Raises ConflictError if the stored memory is not the one given, unless that is None."""


class Edit(Record):
    """A draft of `memory`, or of a new one, that is being edited. `store` saves it if `expected` is still stored; `then` is
    called afterwards."""

    draft: EditorFile
    memory: Memory | None
    expected: Memory | None
    store: Store
    then: Callable[[], object]


class EditAgain(Dialog[bool]):
    """Asks whether to edit a text again that could not be saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e,enter,y", "dismiss(True)", "Edit again", show=False),
        Binding("n,q", "dismiss", "Keep the file", show=False),
    ]

    def __init__(self, problem: str, path: str) -> None:
        keys = "e or Enter: edit again   Esc: keep the file and close"
        texts = Static(problem, markup=False, classes="problem"), Static(f"\nThe text is in {path}", markup=False)
        super().__init__("not saved", keys, *texts)


def change_fields(workspace: Workspace, name: str, fields: Mapping[str, Json], expected: Memory | None) -> EditResult:
    """Changes fields of the memory with the id `name`; see `Store` for `expected`."""
    memory, _ = edit(workspace, name, fields, expected)
    # A new text may contradict another memory, and recall would show both as if they agreed.
    if "raw" in fields:
        link_found(workspace, memory)
    return EditResult(changed(memory, fields), memory.id)


def changed(memory: Memory, fields: Mapping[str, Json]) -> str:
    """The message that names the changed fields of a memory."""
    names = ", ".join("text" if name == "raw" else name for name in sorted(fields))
    return f"changed {clean_line(f'{names} of {memory.path}')}"


def add_new(workspace: Workspace, editor: Editor, scope: CatalogueFilter, fields: Mapping[str, Json]) -> EditResult:
    """Stores a new memory. Where it has no path, kind or tags, it has those of the scope."""
    kind = scope.kinds[0] if len(scope.kinds) == 1 else None
    given = {"path_hint": scope.under or None, "kind": kind, "tags": list(scope.tags) or None}
    outcome = editor.add(workspace, {**{k: v for k, v in given.items() if v is not None}, **fields})
    warnings = tuple(clean_line(one.words(workspace.space)) for one in outcome.found or ())
    return EditResult(f"{outcome.status} {clean_line(outcome.path)}", outcome.id, warnings)


_Problem = MemcliError | OSError


class Changer:
    """Changes memories for the main screen, one at a time, with `lock`. `unsaved` has the paths of texts that could not be saved."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        # Each change is compared with the memory as it was read: two at once would refuse each other.
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
        """Runs `act` in a thread once all changes before it have ended, then reads the space again.

        `failed` receives an error of `act`; without one `then` is called. With `show` the cursor goes to the changed memory.
        """
        screen = self._screen

        async def act_in_turn() -> None:
            async with self.lock:
                try:
                    done = await asyncio.to_thread(act)
                except (MemcliError, OSError) as error:
                    failed(error)
                    return
                try:
                    screen.view.read(await asyncio.to_thread(PathCatalogue, screen.workspace, screen.view.scope))
                except (MemcliError, OSError) as error:  # the screen keeps what it has read before
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
        """Opens the form for a new memory. If it cannot be stored, the form opens again with the same fields and the problem."""
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
        """Opens the text of `memory` in the editor, with `as_object` all its fields; without a memory, an empty file for a new one."""
        try:
            draft = editor.open(memory, as_object)
        except (MemcliError, OSError) as error:
            self._screen.fail(error)
            return
        self._edit(Edit(draft, memory, memory, store, then))

    def _edit(self, edited: Edit) -> None:
        """Has the user edit a draft, in the editor or in a field, and saves it."""
        problem: _Problem | None = None
        try:
            with self._screen.app.suspend():  # restores the screen only if its body raises nothing
                try:
                    edited.draft.edit()
                except (MemcliError, OSError) as error:
                    problem = error
        except SuspendNotSupported:  # no other program can use the screen, as in a web browser: a field takes the text

            def answered(given: Mapping[str, Json] | None) -> None:
                problem: _Problem | None = None
                if given is not None:
                    try:
                        # To the file first, so that a text that cannot be stored is not lost.
                        edited.draft.write(str(given["raw"]))
                    except (MemcliError, OSError) as error:
                        problem = error
                self._take(edited, problem)

            title = f"edit {clean_line(edited.memory.path)}" if edited.memory else "new memory"
            self._screen.app.push_screen(TextForm(title, edited.draft.text), answered)
            return
        self._take(edited, problem)

    def _take(self, edited: Edit, problem: _Problem | None) -> None:
        """Saves an edited draft; `problem` is an error of the editor."""
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
        """Asks whether to edit a draft again that could not be saved. One without changes is dropped."""
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
