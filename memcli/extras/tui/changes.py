"""Changes that the browser makes, one at a time: what each key does, and back to the editor when a change fails.

Drafts: texts in the user's editor, and the question what to do with one that could not be saved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.app import App, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from memcli.app.contradictions import link_found
from memcli.app.edit import edit, forget, pin, tag
from memcli.app.remember import Outcome
from memcli.app.workspace import Workspace
from memcli.errors import ConflictError, MemcliError
from memcli.extras.tui import catalogue
from memcli.extras.tui.catalogue import BrowseScope
from memcli.extras.tui.dialog import AddForm, Dialog, EditTags, Question, TagChange, TextForm
from memcli.extras.tui.status import explain
from memcli.model.findings import Found
from memcli.model.memory import Json, Memory
from memcli.record import Record, replace
from memcli.render.clean import clean_line

if TYPE_CHECKING:
    from memcli.extras.tui.main_screen import MainScreen


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


Make = Callable[[Workspace, Memory], EditResult]


def toggle_pin(workspace: Workspace, memory: Memory) -> EditResult:
    """Pins what is not pinned, unpins what is."""
    pin(workspace, [memory.id], not memory.pinned)
    return EditResult(f"{'unpinned' if memory.pinned else 'pinned'} {clean_line(memory.path)}", memory.id)


def put_out(workspace: Workspace, memory: Memory) -> EditResult:
    """Forgets."""
    forget(workspace, [memory.id])
    return EditResult(f"forgot {clean_line(memory.path)}; press u to undo", memory.id)


def bring_back(workspace: Workspace, memory: Memory) -> EditResult:
    """Undoes forgetting."""
    edit(workspace, memory.id, {"active": True})
    return EditResult(f"restored {clean_line(memory.path)}", memory.id)


def retag(change: TagChange) -> Make:
    """Adds and takes away tags."""
    said = " ".join([*(f"+{t}" for t in change.add), *(f"-{clean_line(t)}" for t in change.remove)])

    def make(workspace: Workspace, memory: Memory) -> EditResult:
        tag(workspace, [memory.id], change.add, change.remove)
        return EditResult(f"tags of {clean_line(memory.path)}: {said}", memory.id)

    return make


def save(edited: Edit, fields: Mapping[str, Json]) -> EditResult:
    """Saves what the user edited, and deletes the draft."""
    done = edited.store(fields, edited.expected)
    edited.draft.remove()
    return done


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


def add_new(workspace: Workspace, editor: Editor, scope: BrowseScope, fields: Mapping[str, Json]) -> EditResult:
    """Stores a new memory, with the place, kind and tags that are browsed where it is given none."""
    kind = scope.kinds[0] if len(scope.kinds) == 1 else None
    given = {"path_hint": scope.path or None, "kind": kind, "tags": list(scope.tags) or None}
    outcome = editor.add(workspace, {**{k: v for k, v in given.items() if v is not None}, **fields})
    return EditResult(
        f"{outcome.status} {clean_line(outcome.path)}", outcome.id, tuple(map(finding, outcome.found or ()))
    )


def finding(one: Found) -> str:
    """What a memory contradicts or only repeats, in words."""
    return clean_line(f"{one.kind} {one.path}: {one.reason}")


_Problem = MemcliError | OSError


class Changer:
    """Changes memories for a screen. `unsaved` are the files of texts that could not be saved, `forgotten` is what was
    forgotten last."""

    def __init__(self, desk: MainScreen) -> None:
        self._desk = desk
        self._lock = asyncio.Lock()
        self.unsaved: list[str] = []
        self.forgotten: Memory | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a change is being made."""
        return self._lock.locked()

    def change(self, memory: Memory, make: Make, show: bool = False) -> None:
        """Makes a change to `memory`. With `show` the cursor goes to it, wherever it is then."""
        desk, workspace = self._desk, self._desk.workspace
        # As it is when its turn comes: the change before this one may have been to the same memory.
        self.run(lambda: make(workspace, desk.view.catalogue.find(memory.id) or memory), desk.fail, show=show)

    def ask_tags(self, memory: Memory) -> None:
        """Asks for the tags of a memory."""

        def answered(change: TagChange | None) -> None:
            if change:
                self.change(memory, retag(change))

        self._desk.app.push_screen(EditTags(clean_line(memory.path), memory.tags), answered)

    def ask_forget(self, memory: Memory) -> None:
        """Asks whether to forget a memory."""

        def answered(yes: bool | None) -> None:
            if yes:
                self.forgotten = memory
                self.change(memory, put_out)

        text = f"{clean_line(memory.path)}\n\nRecall will no longer return it. It stays in the file; press u to undo."
        self._desk.app.push_screen(Question("Forget this memory?", text, "forget"), answered)

    def add(self, editor: Editor, fields: Mapping[str, Json] | None = None, problem: str = "") -> None:
        """Asks for a new memory in a form, which comes back with what was typed when it cannot be stored."""
        desk = self._desk

        def failed(error: _Problem) -> None:
            self.add(editor, fields, explain(error))

        def answered(given: Mapping[str, Json] | None) -> None:
            if given is None:
                desk.say("nothing added")
                return
            nonlocal fields
            fields = given
            self.run(partial(add_new, desk.workspace, editor, desk.view.scope, given), failed, show=True)

        desk.app.push_screen(AddForm(fields or {}, problem), answered)

    def edit(self, editor: Editor, memory: Memory | None, as_object: bool = False) -> None:
        """Opens the text of `memory`, all its fields, or an empty file for a new memory in the editor."""
        desk = self._desk
        if memory is None:
            workspace, scope = desk.workspace, desk.view.scope
            self.edit_with(editor, None, as_object, lambda fields, _: add_new(workspace, editor, scope, fields))
        else:
            self.edit_with(editor, memory, as_object, partial(change_fields, desk.workspace, memory.id))

    def edit_with(
        self,
        editor: Editor,
        memory: Memory | None,
        as_object: bool,
        store: Callable[[Mapping[str, Json], Memory | None], EditResult],
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Opens the editor as `edit` does; `store` saves the fields that changed, `then` is called when it has."""
        try:
            draft = editor.open(memory, as_object)
        except (MemcliError, OSError) as error:
            self._desk.fail(error)
            return
        self._edit(Edit(draft, memory, memory, store, then))

    def _edit(self, edited: Edit) -> None:
        try:
            problem = use_editor(self._desk.app, edited.draft)
        except SuspendNotSupported:
            self._edit_here(edited)
            return
        self._take(edited, problem)

    def _edit_here(self, edited: Edit) -> None:
        """Lets the user edit in a field, where no other program can have the screen, as in a browser."""
        draft = edited.draft

        def answered(text: str | None) -> None:
            problem: _Problem | None = None
            if text is not None:
                try:
                    draft.write(text)
                except (MemcliError, OSError) as error:
                    problem = error
            self._take(edited, problem)

        title = f"edit {clean_line(edited.memory.path)}" if edited.memory else "new memory"
        self._desk.app.push_screen(TextForm(title, draft.text), answered)

    def _take(self, edited: Edit, problem: _Problem | None) -> None:
        """Saves what the draft holds after it was edited."""
        desk, draft, fields = self._desk, edited.draft, dict[str, Json]()
        try:
            fields = dict(draft.fields()) if problem is None else {}
        except MemcliError as error:
            problem = error
        if problem is not None:
            self._ask_again(edited, problem)
        elif fields:
            self.run(partial(save, edited, fields), partial(self._ask_again, edited), show=True, then=edited.then)
        else:
            draft.remove()
            desk.say("nothing changed" if edited.memory else "nothing added")

    def _ask_again(self, edited: Edit, problem: _Problem) -> None:
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
                self._edit(replace(edited, expected=expected))
            else:
                desk.say(f"not saved; the text is in {path}")

        desk.app.push_screen(EditAgain(explain(problem), path), answered)

    def run(
        self,
        act: Callable[[], EditResult],
        failed: Callable[[_Problem], None],
        *,
        show: bool = False,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Acts when all acts before have ended; `failed` is told what went wrong, `then` is called when nothing did."""
        self._desk.run_worker(self._do(act, failed, show, then), group="change")

    async def _do(
        self, act: Callable[[], EditResult], failed: Callable[[_Problem], None], show: bool, then: Callable[[], object]
    ) -> None:
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
        for text in done.warnings:
            desk.warn(text)
        then()
