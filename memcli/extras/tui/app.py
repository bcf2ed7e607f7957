"""The browser: the app around the desk. It watches the store, changes the space, helps and quits."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import work
from textual.app import App
from textual.binding import BindingType
from textual.worker import WorkerFailed

from memcli.app.catalogue import list_memories
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError
from memcli.extras.tui import catalogue
from memcli.extras.tui.changes import Editor
from memcli.extras.tui.dialog import ChooseSpace, Help
from memcli.extras.tui.keys import APP, bindings
from memcli.extras.tui.main_screen import MainScreen
from memcli.extras.tui.status import Recaller, Status
from memcli.extras.tui.view import BrowseView
from memcli.model.catalogue import CatalogueFilter


class Browser(App[None]):
    """Looks at a space of `workspace`, at the part of it in `scope`. Raises NotFoundError when that names nothing."""

    TITLE = "memcli"
    ENABLE_COMMAND_PALETTE = False
    POLL_SECONDS = 2.0
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-wide")]  # noqa: RUF012 - so typed by Textual
    CSS = """
    MainScreen.-narrow #panes { layout: vertical; }
    MainScreen.-narrow Rows, MainScreen.-narrow Detail { width: 100%; max-width: 100%; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(APP)

    def __init__(
        self,
        workspace: Workspace,
        scope: CatalogueFilter | None = None,
        editor: Editor | None = None,
        recaller: Recaller | None = None,
    ) -> None:
        super().__init__()
        scope = scope or CatalogueFilter()
        self._recaller = recaller or Recaller()
        workspace = workspace.copy_with(warn=self._recaller.warn, is_space_named=True)  # it shows one space at a time
        self.failure: Exception | None = None
        first = catalogue.read(workspace, scope)
        if not first.memories:
            list_memories(workspace, CatalogueFilter(scope.under))  # which raises where the path leads nowhere
        self.desk = MainScreen(workspace, BrowseView(first, scope), self._recaller, editor, self._open_at)
        self._seen = self.desk.view.catalogue.fingerprint

    def get_default_screen(self) -> MainScreen:
        """The screen to begin with."""
        return self.desk

    def on_mount(self) -> None:
        """Shows warnings and progress of the workspace, from any thread, and watches for what other processes change."""
        desk = self.desk
        self._recaller.on_warning = lambda text: self.call_later(desk.warn, text)
        self._recaller.on_progress = lambda text: self.call_later(desk.query_one(Status).hear, text)
        self.set_interval(self.POLL_SECONDS, self._poll)

    def action_help(self) -> None:
        """Shows every key."""
        self.push_screen(Help())

    def action_help_quit(self) -> None:
        """Ctrl-C, when it has nothing to copy."""
        self.exit()

    def action_space(self) -> None:
        """Asks for another space."""
        try:
            names = self.desk.workspace.store.spaces()
        except MemcliError as error:
            self.desk.fail(error)
            return
        if not names:
            self.desk.say("this store has no spaces yet")
            return
        self.push_screen(ChooseSpace(names, self.desk.workspace.space), self._open_space)

    def _open_at(self, space: str, name: str) -> None:
        """Opens another space at the memory of the id `name`."""
        self._open_space(space)
        if self.desk.workspace.space == space:
            memory = self.desk.view.catalogue.find(name)
            self.desk.go_to(memory)
            self.desk.say(f"space {space}" if memory else f"no memory {name} in space {space}")

    def _open_space(self, name: str | None) -> None:
        if name is None or name == self.desk.workspace.space:
            return
        workspace = self.desk.workspace.copy_with(space=name)
        try:
            view = BrowseView(catalogue.read(workspace, CatalogueFilter()), CatalogueFilter())
        except (MemcliError, OSError) as error:
            self.desk.fail(error)
            return
        self._seen = view.catalogue.fingerprint
        self.desk.open(workspace, view)

    def _poll(self) -> None:
        if self.desk.changer.lock.locked():
            return
        try:
            now = catalogue.fingerprint(self.desk.workspace)
        except MemcliError as error:
            now = error.message
        # An error of reading is shown once, not every two seconds.
        if now not in (self._seen, self.desk.view.catalogue.fingerprint):
            self._seen = now
            self.action_reload("reloaded: another process changed the space")

    @work(exclusive=True, group="read")
    async def action_reload(self, done: str = "reloaded") -> None:
        """Reads the space anew, with `done` as news."""
        workspace, scope = self.desk.workspace, self.desk.view.scope
        try:
            fresh = await asyncio.to_thread(catalogue.read, workspace, scope)
        except (MemcliError, OSError) as error:
            self.desk.fail(error)
            return
        if workspace is self.desk.workspace:
            self._seen = fresh.fingerprint
            self.desk.view.read(fresh)
            self.desk.refill()
            self.desk.say(done)

    def _handle_exception(self, error: Exception) -> None:
        """A bug ends the browser as it ends any command: the caller reports it in one line."""
        if self.is_headless:
            super()._handle_exception(error)
        elif self.failure is None:
            cause = error.error if isinstance(error, WorkerFailed) else error
            self.failure = cause if isinstance(cause, Exception) else error
            self.exit(return_code=1)
