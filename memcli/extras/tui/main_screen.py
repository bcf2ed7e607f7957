"""The desk: the one screen on which memories are found, read and changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Input

from memcli.app.workspace import Workspace
from memcli.errors import MemcliError
from memcli.extras.tui import changes, detail
from memcli.extras.tui.changes import Changer, Editor
from memcli.extras.tui.detail import Detail
from memcli.extras.tui.keys import CHANGE, FIND, LOOK, bindings
from memcli.extras.tui.status import Recaller, Status, Voice, explain, nothing, summary, title
from memcli.extras.tui.view import BrowseView, Filter, FilterBar, Rows
from memcli.extras.tui.windows import Windows
from memcli.model.memory import Memory
from memcli.render.clean import clean_line

_OF_A_MEMORY = frozenset(("pin", "tags", "edit", "forget", "copy", "history", "compare", "links"))
_IN_AN_EDITOR = frozenset(("add", "edit"))


class MainScreen(Screen[None]):
    """Filter, list and memory, and the keys that work on them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FIND, LOOK, CHANGE)

    @dataclass
    class Leave(Message):
        """The user goes to a memory of another space."""

        space: str
        name: str

    def __init__(self, workspace: Workspace, view: BrowseView, voice: Voice, editor: Editor | None) -> None:
        super().__init__()
        self.workspace = workspace
        self.view = view
        self._editor = editor
        self._recaller = Recaller(voice)
        self._has_memory = True
        self.changer = Changer(self)
        self.windows = Windows(self)

    def compose(self) -> ComposeResult:
        yield FilterBar()
        with Horizontal(id="panes"):
            yield Rows()
            yield Detail()
        yield Status()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Shows the space."""
        self.query_one(Rows).focus()
        self.refill()

    def on_unmount(self) -> None:
        """Lets go of what works in the background."""
        self._recaller.close()

    def open(self, workspace: Workspace, view: BrowseView) -> None:
        """Shows another space."""
        self._give_up_asking()
        self.workspace, self.view, self.changer.forgotten = workspace, view, None
        self.windows.unmark()
        self.go_to(None)
        self.say(f"space {workspace.space}")

    # What is shown

    @property
    def memory(self) -> Memory | None:
        """The memory under the cursor."""
        row = self.query_one(Rows).current
        return row.memory if row else None

    def refill(self, path: str | None = None) -> None:
        """Shows the view as it is now, with the cursor on `path`."""
        self.query_one(Rows).show(self.view.rows(), nothing(self.view), path)
        self.query_one(Rows).border_title = Content(title(self.view))
        self.query_one(Status).settle(summary(self.view))

    def say(self, text: str) -> None:
        """News on the status line."""
        self.query_one(Status).say(text)

    def warn(self, text: str) -> None:
        """A word of warning."""
        self.notify(clean_line(text), severity="warning", markup=False)

    def fail(self, error: MemcliError | OSError) -> None:
        """Tells of an error, in the words of the command line."""
        self.notify(explain(error), severity="error", markup=False, timeout=10)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's own
        """Whether a key means something now; those that do not are not in the footer either."""
        if action in _IN_AN_EDITOR and self._editor is None:
            return False
        if action in _OF_A_MEMORY:
            return self.memory is not None
        return action != "filter" or not isinstance(self.focused, Filter)

    @on(Rows.Moved)
    def show_row(self, event: Rows.Moved) -> None:
        """Shows what the cursor is on."""
        text = detail.of_row(event.row, self.view, self.workspace.clock())
        self.query_one(Detail).show(event.row.path if event.row else "", text)
        if self._has_memory != bool(self.memory):
            self._has_memory = bool(self.memory)
            self.refresh_bindings()

    @on(Rows.Toggled)
    def toggle_row(self, event: Rows.Toggled) -> None:
        """Opens or closes a heading."""
        self.view.folds.toggle(event.row.path)
        self.refill()

    @on(Rows.Chosen)
    def read_row(self) -> None:
        """Goes over to the memory, to scroll in it."""
        self.query_one(Detail).focus()

    # Finding

    @on(Filter.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Filters as the user types."""
        if event.value != event.input.value:
            return  # more was typed since, and is on its way here
        self._give_up_asking()
        self.view.filter(event.value)
        self.refill()

    @on(Filter.Submitted)
    def submit(self, event: Input.Submitted) -> None:
        """Asks what was typed."""
        if event.value.strip():
            self._ask(event.value.strip())
        self.action_focus_rows()

    @work(exclusive=True, group="ask")
    async def _ask(self, topic: str) -> None:
        self.query_one(Status).work(f"searching: {topic} (Esc cancels)")
        try:
            answer = await self._recaller.ask(self.workspace, self.view.query(topic, self.workspace.clock()))
        except (MemcliError, OSError) as error:
            self.query_one(Status).rest()
            self.fail(error)
            return
        if answer is not None:
            self.view.answer = answer
            self.query_one(Status).rest()
            self.refill(self.view.best)

    def action_filter(self) -> None:
        """Goes to the filter."""
        self.query_one(Filter).focus()

    def action_focus_rows(self) -> None:
        """Goes to the list."""
        self.query_one(Rows).focus()

    def action_clear(self) -> None:
        """From the memory back to the list; else no filter and no answers any more."""
        if not self.query_one(Detail).has_focus:
            self._give_up_asking()
            self.view.filter("")
            self.go_to(self.memory)
        self.action_focus_rows()

    def action_everything(self) -> None:
        """Shows what is forgotten or superseded, or leaves it out again."""
        self.view.show_everything(not self.view.everything)
        self.refill()
        self.say("forgotten and superseded memories are " + ("shown" if self.view.everything else "hidden"))

    def action_fold_all(self) -> None:
        """Opens all headings, or closes them when one is open."""
        row = self.query_one(Rows).current
        self.view.folds.set_all(not any(r.is_open for r in self.view.rows()))
        self.refill(row.path if row else None)

    def action_follow(self, n: int) -> None:
        """Goes where the n-th link of the memory leads."""
        if self.memory:
            if (far := self.view.catalogue.far(self.memory, n)) is not None:
                self.visit(*far)
                return
            target = self.view.follow(self.memory, n)
            self.go_to(target)
            if target is None:
                self.say(f"link {n} leads outside the memories shown here")

    def action_back(self) -> None:
        """Goes back to where a link was followed."""
        self.go_to(self.view.back())

    # Looking

    def action_history(self) -> None:
        """Shows what commits and the audit log say of the memory."""
        if memory := self.memory:
            self.windows.history(memory)

    def action_inbox(self) -> None:
        """Shows what is proposed for the space."""
        self.windows.inbox(self._editor)

    def action_links(self) -> None:
        """Shows what the memory links to, and what links to it."""
        if memory := self.memory:
            self.windows.links(memory)

    def action_compare(self) -> None:
        """Marks the memory, or compares it with the one that is marked."""
        if memory := self.memory:
            self.windows.compare(memory)

    def visit(self, space: str, name: str) -> None:
        """Goes to the memory of the id `name`, in this space or in another."""
        if space == self.workspace.space:
            self.go_to(self.view.catalogue.find(name))
        else:
            self.post_message(self.Leave(space, name))

    # Changing

    def action_copy(self) -> None:
        """Copies the id, by way of the terminal."""
        if self.memory:
            self.app.copy_to_clipboard(clean_line(self.memory.id))
            self.say(f"copied {self.memory.id}")

    def action_pin(self) -> None:
        """Pins or unpins."""
        if memory := self.memory:
            self.changer.change(memory, changes.toggle_pin)

    def action_tags(self) -> None:
        """Asks for the tags."""
        if memory := self.memory:
            self.changer.ask_tags(memory)

    def action_edit(self, as_object: bool = False) -> None:
        """Opens the text of the memory, or all its fields, in the editor."""
        if (memory := self.memory) and self._editor:
            self.changer.edit(self._editor, memory, as_object)

    def action_add(self, in_editor: bool = False) -> None:
        """Asks for a new memory, in a form or in the editor."""
        if (editor := self._editor) and in_editor:
            self.changer.edit(editor, None)
        elif editor:
            self.changer.add(editor)

    def action_forget(self) -> None:
        """Forgets, after a question."""
        if (memory := self.memory) and memory.active:
            self.changer.ask_forget(memory)

    def action_bring_back(self) -> None:
        """Brings back the memory, or the one forgotten last."""
        memory = self.memory if self.memory and not self.memory.active else self.changer.forgotten
        if memory:
            self.changer.change(memory, changes.bring_back, show=True)
        else:
            self.say("nothing to undo; press a to show forgotten memories")

    def go_to(self, memory: Memory | None) -> None:
        """Shows the view with the cursor on `memory`, whatever hides it now."""
        if memory:
            self.view.reveal(memory)
        self.query_one(Filter).put(self.view.words)
        self.refill(memory.path if memory else None)

    def arrive(self, name: str) -> None:
        """Shows the memory of the id `name` in the space that was opened for it."""
        memory = self.view.catalogue.find(name)
        self.go_to(memory)
        self.say(f"space {self.workspace.space}" if memory else f"no memory {name} in space {self.workspace.space}")

    def _give_up_asking(self) -> None:
        self.workers.cancel_group(self, "ask")
        self._recaller.stop()
        self.query_one(Status).rest()
