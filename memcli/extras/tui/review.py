"""The inbox: proposed memories, to accept, reject or edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from memcli.app import inbox
from memcli.app.candidate import candidate_of
from memcli.errors import MemcliError
from memcli.extras.tui import detail
from memcli.extras.tui.changes import Changer, Editor, EditResult, changed, finding
from memcli.extras.tui.dialog import ListWindow, Question
from memcli.extras.tui.keys import INBOX, bindings
from memcli.extras.tui.status import explain
from memcli.model.memory import Json, Memory
from memcli.render.clean import clean_line

if TYPE_CHECKING:
    from memcli.extras.tui.main_screen import MainScreen

_BRIEF = 200


class Inbox(ListWindow[None]):
    """The proposals for a space, each in full below the list."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(INBOX)
    keys = INBOX

    def __init__(self, desk: MainScreen, editor: Editor | None, waiting: Sequence[Memory]) -> None:
        super().__init__()
        self.title_text = f"inbox of {clean_line(desk.workspace.space)}"
        self._desk = desk
        self._editor = editor
        self._waiting = waiting

    @property
    def changer(self) -> Changer:
        """What makes the changes, one at a time."""
        return self._desk.changer

    def on_mount(self) -> None:
        """Shows what waits."""
        self._show()

    def about(self, n: int) -> Content:
        """The whole proposal."""
        catalogue, memory = self._desk.view.catalogue, self._waiting[n]
        there = catalogue.at(memory.path)
        _, supersedes = candidate_of(memory)
        lines = [
            *([f"changes the memory that is there: {_brief(catalogue.show(there))}"] if there else []),
            *([f"supersedes {supersedes}"] if supersedes else []),
            *(finding(one) for one in inbox.findings(self._desk.workspace, [memory])[0]),
        ]
        effect = Content.styled("".join(f"{line}\n\n" for line in lines), "$text-warning")
        return effect + detail.of_memory(catalogue.show(memory), catalogue)

    def action_accept(self) -> None:
        """Adds the proposal to the space."""
        if (memory := self._memory) is not None:
            self._accept([memory])

    def action_accept_all(self) -> None:
        """Adds all proposals to the space, after a question."""
        waiting = self._waiting
        if waiting:
            question = Question(
                "Accept all proposals?", f"{detail.plural(len(waiting))} will be added.", "accept", "cancel"
            )
            self.app.push_screen(question, lambda yes: self._accept(waiting) if yes else None)

    def action_reject(self) -> None:
        """Drops the proposal for good, after a question."""
        if (memory := self._memory) is not None:
            text = f"{clean_line(memory.path)}\n\nIts text will be deleted and not be proposed again."
            question = Question("Reject this proposal?", text, "reject")
            self.app.push_screen(question, lambda yes: self._reject(memory) if yes else None)

    def action_edit(self, as_object: bool = False) -> None:
        """Opens the text of the proposal, or all its fields, in the editor."""
        if (memory := self._memory) is None or self._editor is None:
            return
        workspace = self._desk.workspace

        def store(fields: Mapping[str, Json], _: Memory | None) -> EditResult:
            edited = inbox.edit(workspace, memory.id, fields)
            return EditResult(changed(edited, fields), edited.id)

        self.changer.edit_with(self._editor, memory, as_object, store, self._read)

    @property
    def _memory(self) -> Memory | None:
        return None if self.index is None else self._waiting[self.index]

    def _accept(self, memories: Sequence[Memory]) -> None:
        workspace = self._desk.workspace

        def act() -> EditResult:
            stored = inbox.accept(workspace, memories)
            told = clean_line(memories[0].path) if len(memories) == 1 else detail.plural(len(memories))
            return EditResult(f"accepted {told}", stored.outcomes[-1].id)

        self._run(act)

    def _reject(self, memory: Memory) -> None:
        workspace = self._desk.workspace

        def act() -> EditResult:
            inbox.reject(workspace, [memory])
            return EditResult(f"rejected {clean_line(memory.path)}", memory.id)

        self._run(act)

    def _run(self, act: Callable[[], EditResult]) -> None:
        self.changer.run(act, self._failed, then=self._read)

    def _failed(self, error: MemcliError | OSError) -> None:
        self._desk.fail(error)
        self._read()

    def _read(self) -> None:
        """Shows what waits now."""
        try:
            self._waiting = inbox.waiting(self._desk.workspace)
        except (MemcliError, OSError) as error:
            self.notify(explain(error), severity="error", markup=False)
            return
        if self.is_attached:
            self._show()

    def _show(self) -> None:
        lines = [
            Content.assemble(clean_line(m.path), (f"  {clean_line(m.kind)}", "$text-muted")) for m in self._waiting
        ]
        note = f"{detail.plural(len(lines))} proposed" if lines else "The inbox is empty: nothing is proposed."
        self.fill(lines, note, self.index or 0)


def _brief(memory: Memory) -> str:
    return clean_line(memory.summary_micro or memory.raw[:_BRIEF])
