"""The main screen, on which memories are found, read and changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ClassVar, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, Label

from memcli.app.edit import edit, forget, pin, tag
from memcli.app.inbox import waiting
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError
from memcli.extras.tui.changes import Changer, Editor, EditResult, add_new, change_fields
from memcli.extras.tui.detail import Detail, of_heading, of_memory
from memcli.extras.tui.dialog import EditTags, Question, TagChange
from memcli.extras.tui.keys import CHANGE, FIND, LOOK, bindings
from memcli.extras.tui.status import Recaller, Status, explain, nothing, summary, title
from memcli.extras.tui.view import BrowseView, Filter, Rows
from memcli.extras.tui.windows import Comparison, Inbox, Neighbours, Past, read_links, read_past
from memcli.model.memory import Memory
from memcli.model.recall import Query
from memcli.render.clean import clean_line

T = TypeVar("T")
_OF_A_MEMORY = frozenset(("pin", "tags", "edit", "forget", "copy", "history", "compare", "links"))
_MOST_ANSWERS = 50


class MainScreen(Screen[None]):
    """The filter, the list, the memory under the cursor, and the keys that work on them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FIND, LOOK, CHANGE)
    DEFAULT_CSS = """
    MainScreen {
        & #filter { height: 1; }
        & #filter Label { width: 3; content-align: center middle; text-style: bold; }
        & #filter Filter { width: 1fr; }
    }
    """

    def __init__(
        self,
        workspace: Workspace,
        view: BrowseView,
        recaller: Recaller,
        editor: Editor | None,
        leave: Callable[[str, str], None],
    ) -> None:
        """`leave` opens a memory of another space, by the name of the space and the id."""
        super().__init__()
        self._leave = leave
        self.workspace = workspace
        self.view = view
        self._recaller = recaller
        self._editor = editor
        self._has_memory = True
        # It can be brought back after it has left the list.
        self._forgotten: Memory | None = None
        self._marked = ""
        self.changer = Changer(self)

    def compose(self) -> ComposeResult:
        with Horizontal(id="filter"):
            yield Label("/")
            yield Filter()
        with Horizontal(id="panes"):
            yield Rows(lambda ids: self.view.catalogue.read(ids))  # noqa: PLW0108 - the view is replaced
            yield Detail()
        yield Status()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Shows the space for the first time."""
        self.query_one(Rows).focus()
        self.refill()

    def on_unmount(self) -> None:
        """Ends the thread of recalls."""
        self._recaller.close()

    def open(self, workspace: Workspace, view: BrowseView) -> None:
        """Shows another space."""
        self._cancel_recall()
        self.workspace, self.view, self._forgotten = workspace, view, None
        self._mark("")
        self.go_to(None)
        self.say(f"space {workspace.space}")

    # What is shown

    @property
    def memory(self) -> Memory | None:
        """The memory under the cursor."""
        row = self.query_one(Rows).current
        return self.view.catalogue.find(row.id) if row else None

    def refill(self, path: str | None = None) -> None:
        """Draws the rows of the view again, with the cursor on `path`."""
        self.query_one(Rows).show(self.view.rows(), nothing(self.view), path)
        self.query_one(Rows).border_title = Content(title(self.view))
        self.query_one(Status).settle(summary(self.view))

    def say(self, text: str) -> None:
        """Shows a message on the status line for some seconds."""
        self.query_one(Status).say(text)

    def warn(self, text: str) -> None:
        """Shows a warning in front of the screen."""
        self.notify(clean_line(text), severity="warning", markup=False)

    def fail(self, error: MemcliError | OSError) -> None:
        """Shows an error in front of the screen, as the command line prints it."""
        self.notify(explain(error), severity="error", markup=False, timeout=10)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's own
        """Whether an action is possible now; the footer leaves out the keys of those that are not."""
        if action in ("add", "edit") and self._editor is None:
            return False
        if action in _OF_A_MEMORY:
            return self.memory is not None
        return action != "filter" or not isinstance(self.focused, Filter)

    @on(Rows.Moved)
    def show_row(self, event: Rows.Moved) -> None:
        """Shows the memory or the heading under the cursor in the right pane."""
        row, catalogue = event.row, self.view.catalogue
        memory = catalogue.find(row.id) if row else None
        if memory:
            section = self.view.section(memory)
            text = of_memory(catalogue.show(memory), catalogue, section, self.workspace.clock())
        else:
            text = of_heading(row, catalogue) if row and not row.id else Content("")
        self.query_one(Detail).show(row.path if row else "", text)
        if self._has_memory != bool(self.memory):
            self._has_memory = bool(self.memory)
            self.refresh_bindings()

    @on(Rows.Chosen)
    def open_row(self, event: Rows.Chosen) -> None:
        """Opens or closes a heading; of a memory moves the focus to its text."""
        if event.row.is_open is None:
            self.query_one(Detail).focus()
        else:
            self.view.folds.toggle(event.row.path)
            self.refill()

    # Finding

    @on(Filter.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Filters as the user types."""
        if event.value != event.input.value:
            return  # the user has typed on: a later event has the whole text
        self._cancel_recall()
        self.view.filter(event.value)
        self.refill()

    @on(Filter.Submitted)
    def submit(self, event: Input.Submitted) -> None:
        """Recalls by the text of the filter as the topic."""
        if event.value.strip():
            self._recall(event.value.strip())
        self.action_focus_rows()

    @work(exclusive=True, group="ask")
    async def _recall(self, topic: str) -> None:
        """Shows the answer of a recall in the scope of the browser."""
        scope, status = self.view.scope, self.query_one(Status)
        query = Query(
            topic=topic, now=self.workspace.clock(), limit=_MOST_ANSWERS, under=scope.under, kinds=scope.kinds,
            tags=scope.tags, include_untrusted=True,  # a person sees them with their mark
        )  # fmt: skip
        status.work(f"searching: {topic} (Esc cancels)")
        try:
            answer = await self._recaller.recall(self.workspace, query)
        except (MemcliError, OSError) as error:
            status.rest()
            self.fail(error)
            return
        if answer is not None:
            self.view.answer = answer
            status.rest()
            self.refill(self.view.best)

    def _cancel_recall(self) -> None:
        self.workers.cancel_group(self, "ask")
        self._recaller.stop()
        self.query_one(Status).rest()

    def action_filter(self) -> None:
        """Moves the focus to the filter."""
        self.query_one(Filter).focus()

    def action_focus_rows(self) -> None:
        """Moves the focus to the list."""
        self.query_one(Rows).focus()

    def action_clear(self) -> None:
        """Moves the focus from the memory to the list; elsewhere clears the filter and the answer."""
        if not self.query_one(Detail).has_focus:
            self._cancel_recall()
            self.view.filter("")
            self.go_to(self.memory)
        self.action_focus_rows()

    def action_everything(self) -> None:
        """Shows or hides forgotten and superseded memories."""
        self.view.show_everything(not self.view.everything)
        self.refill()
        self.say("forgotten and superseded memories are " + ("shown" if self.view.everything else "hidden"))

    def action_fold_all(self) -> None:
        """Opens all headings; if one is open, closes all."""
        row = self.query_one(Rows).current
        self.view.folds.is_open = not any(r.is_open for r in self.view.rows())
        self.view.folds.toggled.clear()
        self.refill(row.path if row else None)

    def action_follow(self, n: int) -> None:
        """Goes to the memory at the n-th link of the current one."""
        if self.memory:
            if (far := self.view.catalogue.far(self.memory, n)) is not None:
                self._visit(*far)
                return
            target = self.view.follow(self.memory, n)
            self.go_to(target)
            if target is None:
                self.say(f"link {n} leads outside the memories shown here")

    def action_back(self) -> None:
        """Goes back to the memory whose link was followed last."""
        trail = self.view.trail
        self.go_to(self.view.catalogue.find(trail.pop()) if trail else None)

    def go_to(self, memory: Memory | None) -> None:
        """Moves the cursor to `memory`, and makes it visible if the filter, the answer or a heading hides it."""
        if memory:
            self.view.reveal(memory)
        field = self.query_one(Filter)
        with field.prevent(Input.Changed):  # the view is filtered by these words already
            field.value = self.view.words
        self.refill(memory.path if memory else None)

    def _visit(self, space: str, name: str) -> None:
        """Goes to the memory with the id `name`, in this space or another one."""
        if space == self.workspace.space:
            self.go_to(self.view.catalogue.find(name))
        else:
            self._leave(space, name)

    # Windows

    # Reading may take long, as of a long history in git: in one group, so that only the window that was asked for last
    # opens.
    @work(exclusive=True, group="window")
    async def action_history(self) -> None:
        """Opens the history of the memory from commits and the audit log."""
        if memory := self.memory:
            past = await self._read("reading the history", partial(read_past, self.workspace, memory))
            if past is not None:
                self.app.push_screen(Past(self.view.catalogue.show(memory), past))

    @work(exclusive=True, group="window")
    async def action_inbox(self) -> None:
        """Opens the proposals for the space."""
        proposed = await self._read("reading the inbox", partial(waiting, self.workspace))
        if proposed is not None:
            self.app.push_screen(Inbox(self, self._editor, proposed))

    @work(exclusive=True, group="window")
    async def action_links(self) -> None:
        """Opens the memories that links connect with this one, and goes to the one that the user chooses."""
        if not (memory := self.memory):
            return

        def answered(chosen: tuple[str, Memory] | None) -> None:
            if chosen is not None:
                self.view.trail.append(memory.id)
                self._visit(chosen[0], chosen[1].id)

        graph = await self._read("reading the links", partial(read_links, self.workspace))
        if graph is not None:
            self.app.push_screen(Neighbours(self.workspace, memory, graph, self.view.catalogue), answered)

    def action_compare(self) -> None:
        """Marks the memory, or compares it with the marked one."""
        if not (memory := self.memory):
            return
        marked = self.view.catalogue.find(self._marked)
        self._mark(memory.id if marked is None else "")
        if marked is None:
            self.say(f"marked {clean_line(memory.path)}; press c on another memory to compare them")
        elif marked.id == memory.id:
            self.say("no memory is marked")
        else:
            left, right = (self.view.catalogue.show(one) for one in (marked, memory))
            self.app.push_screen(Comparison(left, right, (clean_line(left.id), clean_line(right.id))))

    def _mark(self, name: str) -> None:
        """Marks the memory with the id `name` for a comparison; none if it is empty."""
        self._marked = name
        self.query_one(Rows).mark(name)

    async def _read(self, what: str, read: Callable[[], T]) -> T | None:
        """Runs `read` in a thread. Returns its result; None if it fails, or if another space has been opened meanwhile."""
        workspace = self.workspace
        self.query_one(Status).work(what)
        try:
            found = await asyncio.to_thread(read)
        except (MemcliError, OSError) as error:
            self.fail(error)
            return None
        finally:
            self.query_one(Status).rest()
        return found if workspace is self.workspace else None

    # Changing

    def action_copy(self) -> None:
        """Copies the id to the clipboard of the terminal."""
        if memory := self.memory:
            self.app.copy_to_clipboard(clean_line(memory.id))
            self.say(f"copied {memory.id}")

    def action_pin(self) -> None:
        """Pins or unpins the memory."""
        if not (memory := self.memory):
            return
        workspace, path = self.workspace, clean_line(self.view.catalogue.show(memory).path)

        def toggle() -> EditResult:
            # Read when its turn comes: the change before it may have pinned the same memory.
            current = self.view.catalogue.find(memory.id) or memory
            pin(workspace, [memory.id], not current.pinned)
            return EditResult(f"{'unpinned' if current.pinned else 'pinned'} {path}", memory.id)

        self.changer.run(toggle, self.fail)

    def action_tags(self) -> None:
        """Opens the dialog that edits the tags."""
        if not (memory := self.memory):
            return
        workspace, path = self.workspace, clean_line(memory.path)

        def answered(change: TagChange | None) -> None:
            if change and any(change):
                add, remove = change
                words = " ".join([*(f"+{one}" for one in add), *(f"-{clean_line(one)}" for one in remove)])
                self._change(memory, partial(tag, workspace, [memory.id], add, remove), f"tags of {path}: {words}")

        self.app.push_screen(EditTags(path, memory.tags), answered)

    def action_edit(self, as_object: bool = False) -> None:
        """Opens the text of the memory in the editor, with `as_object` all its fields."""
        if (memory := self.memory) and self._editor:
            self.changer.edit(self._editor, memory, as_object, partial(change_fields, self.workspace, memory.id))

    def action_add(self, in_editor: bool = False) -> None:
        """Opens the form for a new memory, or an empty file in the editor."""
        if (editor := self._editor) and in_editor:
            workspace, scope = self.workspace, self.view.scope
            self.changer.edit(editor, None, False, lambda fields, _: add_new(workspace, editor, scope, fields))
        elif editor:
            self.changer.add(editor)

    def action_forget(self) -> None:
        """Forgets the memory if the user confirms it."""
        if not (memory := self.memory) or not memory.active:
            return
        workspace, path = self.workspace, clean_line(memory.path)

        def answered(yes: bool | None) -> None:
            if yes:
                self._forgotten = memory
                self._change(memory, partial(forget, workspace, [memory.id]), f"forgot {path}; press u to undo")

        text = f"{path}\n\nRecall will no longer return it. It stays in the file; press u to undo."
        self.app.push_screen(Question("Forget this memory?", text, "forget"), answered)

    def action_bring_back(self) -> None:
        """Makes the memory active again if it is forgotten, else the one that was forgotten last."""
        memory = self.memory if self.memory and not self.memory.active else self._forgotten
        if memory:
            act = partial(edit, self.workspace, memory.id, {"active": True})
            self._change(memory, act, f"restored {clean_line(memory.path)}", show=True)
        else:
            self.say("nothing to undo; press a to show forgotten memories")

    def _change(self, memory: Memory, act: Callable[[], object], text: str, *, show: bool = False) -> None:
        """Runs a change of a memory, after which the status line shows `text`."""

        def changed() -> EditResult:
            act()
            return EditResult(text, memory.id)

        self.changer.run(changed, self.fail, show=show)
