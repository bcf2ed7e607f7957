"""The desk: the one screen on which memories are found, read and changed."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input

from memcli.app import inbox
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError
from memcli.model.memory import Memory
from memcli.render.clean import clean_line
from memcli.tui import changes, detail
from memcli.tui.changes import Changer
from memcli.tui.comparison import Comparison
from memcli.tui.detail import Detail
from memcli.tui.dialog import EditTags, Question, TagChange
from memcli.tui.drafts import Editor
from memcli.tui.keys import CHANGE, FIND, LOOK, bindings
from memcli.tui.past import Past, read_past
from memcli.tui.review import Inbox
from memcli.tui.rows import Filter, FilterBar, Rows
from memcli.tui.status import Recaller, Status, Voice, explain, nothing, summary, title
from memcli.tui.view import View

_OF_A_MEMORY = frozenset(("pin", "tags", "edit", "forget", "copy", "history", "compare", "links"))
_IN_AN_EDITOR = frozenset(("add", "edit"))


class MainScreen(Screen[None]):
    """Filter, list and memory, and the keys that work on them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FIND, LOOK, CHANGE)

    def __init__(self, workspace: Workspace, view: View, voice: Voice, editor: Editor | None) -> None:
        super().__init__()
        self.workspace = workspace
        self.view = view
        self._editor = editor
        self._recaller = Recaller(voice)
        self._forgotten: Memory | None = None
        self._marked: Memory | None = None
        self._has_memory = True
        self.changer = Changer(self)

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

    def open(self, workspace: Workspace, view: View) -> None:
        """Shows another space."""
        self._give_up_asking()
        self.workspace, self.view, self._forgotten, self._marked = workspace, view, None, None
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
            target = self.view.follow(self.memory, n)
            self.go_to(target)
            if target is None:
                self.say(f"link {n} leads outside the memories shown here")

    def action_back(self) -> None:
        """Goes back to where a link was followed."""
        self.go_to(self.view.back())

    # Looking

    @work(exclusive=True, group="history")
    async def action_history(self) -> None:
        """Shows what commits and the audit log say of the memory."""
        if (memory := self.memory) is None:
            return
        self.query_one(Status).work("reading the history")
        try:
            past = await asyncio.to_thread(read_past, self.workspace, memory)
        except (MemcliError, OSError) as error:
            self.fail(error)
            return
        finally:
            self.query_one(Status).rest()
        self.app.push_screen(Past(self.view.catalogue.show(memory), past))

    @work(exclusive=True, group="inbox")
    async def action_inbox(self) -> None:
        """Shows what is proposed for the space."""
        try:
            waiting = await asyncio.to_thread(inbox.waiting, self.workspace)
        except (MemcliError, OSError) as error:
            self.fail(error)
            return
        self.app.push_screen(Inbox(self, self._editor, waiting))

    def action_compare(self) -> None:
        """Marks the memory, or compares it with the one that is marked."""
        memory, marked = self.memory, self._marked and self.view.catalogue.find(self._marked.id)
        if memory is None:
            return
        if marked is None or marked.id == memory.id:
            self._mark(None if marked else memory)
            return
        self._mark(None)
        left, right = (self.view.catalogue.show(one) for one in (marked, memory))
        self.app.push_screen(Comparison(left, right, (clean_line(left.id), clean_line(right.id))))

    def _mark(self, memory: Memory | None) -> None:
        self._marked = memory
        self.query_one(Rows).mark(memory.id if memory else "")
        path = clean_line(memory.path) if memory else ""
        self.say(f"marked {path}; press c on another memory to compare them" if memory else "no memory is marked")

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

            def answered(change: TagChange | None) -> None:
                if change:
                    self.changer.change(memory, changes.retag(change))

            self.app.push_screen(EditTags(clean_line(memory.path), memory.tags), answered)

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
        memory = self.memory
        if memory and memory.active:

            def answered(yes: bool | None) -> None:
                if yes:
                    self._forgotten = memory
                    self.changer.change(memory, changes.put_out)

            text = (
                f"{clean_line(memory.path)}\n\nRecall will no longer return it. It stays in the file; press u to undo."
            )
            self.app.push_screen(Question("Forget this memory?", text, "forget"), answered)

    def action_bring_back(self) -> None:
        """Brings back the memory, or the one forgotten last."""
        memory = self.memory if self.memory and not self.memory.active else self._forgotten
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

    def _give_up_asking(self) -> None:
        self.workers.cancel_group(self, "ask")
        self._recaller.stop()
        self.query_one(Status).rest()
