"""The browser: the app around the main screen. It reloads what other processes change, opens spaces, shows the help and quits."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import work
from textual.app import App
from textual.binding import BindingType
from textual.worker import WorkerFailed

from memcli.app.catalogue import newest
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError
from memcli.extras.tui.catalogue import PathCatalogue
from memcli.extras.tui.changes import Editor
from memcli.extras.tui.dialog import ChooseSpace, Help
from memcli.extras.tui.keys import APP, bindings
from memcli.extras.tui.main_screen import MainScreen
from memcli.extras.tui.status import Recaller, Status
from memcli.extras.tui.view import BrowseView
from memcli.model.catalogue import CatalogueFilter


class Browser(App[None]):
    """Shows the memories in `scope` of the space of `workspace`. Raises NotFoundError if the path of the scope does not exist."""

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
        workspace = workspace.copy_with(warn=self._recaller.warn, is_space_named=True)  # one space is shown at a time
        self.failure: Exception | None = None
        first = PathCatalogue(workspace, scope)
        with newest(workspace, CatalogueFilter(scope.under), 0):  # raises NotFoundError if the path does not exist
            pass
        self.main_screen = MainScreen(workspace, BrowseView(first, scope), self._recaller, editor, self._open_space)
        self._seen = self.main_screen.view.catalogue.fingerprint

    def get_default_screen(self) -> MainScreen:
        """The screen to start with."""
        return self.main_screen

    def on_mount(self) -> None:
        """Shows warnings and progress of the workspace, and polls for changes by other processes."""
        main_screen = self.main_screen
        # Both come from other threads, which may not touch widgets: `call_later` passes them to the thread of the app.
        self._recaller.on_warning = lambda text: self.call_later(main_screen.warn, text)
        self._recaller.on_progress = lambda text: self.call_later(main_screen.query_one(Status).report_progress, text)
        self.set_interval(self.POLL_SECONDS, self._poll)

    def action_help(self) -> None:
        """Shows every key."""
        self.push_screen(Help())

    def action_help_quit(self) -> None:
        """Quits. Textual calls it for Ctrl-C when no text is selected."""
        self.exit()

    def action_space(self) -> None:
        """Opens the dialog that chooses another space."""
        try:
            names = self.main_screen.workspace.store.spaces()
        except MemcliError as error:
            self.main_screen.fail(error)
            return
        if not names:
            self.main_screen.say("this store has no spaces yet")
            return
        self.push_screen(ChooseSpace(names, self.main_screen.workspace.space), self._open_space)

    def _open_space(self, name: str | None, at: str = "") -> None:
        """Opens another space, if `at` is not empty, at the memory with this id."""
        if name is None or name == self.main_screen.workspace.space:
            return
        workspace = self.main_screen.workspace.copy_with(space=name)
        try:
            view = BrowseView(PathCatalogue(workspace, CatalogueFilter()), CatalogueFilter())
        except (MemcliError, OSError) as error:
            self.main_screen.fail(error)
            return
        self._seen = view.catalogue.fingerprint
        self.main_screen.open(workspace, view)
        if at:
            memory = view.catalogue.find(at)
            self.main_screen.go_to(memory)
            self.main_screen.say(f"space {name}" if memory else f"no memory {at} in space {name}")

    def _poll(self) -> None:
        """Reloads the space if its fingerprint has changed."""
        if self.main_screen.changer.lock.locked():  # a change reads the space itself when it is done
            return
        workspace = self.main_screen.workspace
        try:
            now = workspace.fingerprint(workspace.space)
        except MemcliError as error:
            now = error.message
        # An error stands for the fingerprint, so that it is shown once, not every two seconds.
        if now not in (self._seen, self.main_screen.view.catalogue.fingerprint):
            self._seen = now
            self.action_reload("reloaded: another process changed the space")

    @work(exclusive=True, group="read")
    async def action_reload(self, done: str = "reloaded") -> None:
        """Reads the space again, and shows the message `done`."""
        workspace, scope = self.main_screen.workspace, self.main_screen.view.scope
        try:
            fresh = await asyncio.to_thread(PathCatalogue, workspace, scope)
        except (MemcliError, OSError) as error:
            self.main_screen.fail(error)
            return
        if workspace is self.main_screen.workspace:  # the user may have opened another space meanwhile
            self._seen = fresh.fingerprint
            self.main_screen.view.read(fresh)
            self.main_screen.refill()
            self.main_screen.say(done)

    def _handle_exception(self, error: Exception) -> None:
        """Ends the browser after an unexpected error, as any command: the caller reports it on one line."""
        if self.is_headless:  # tests need the traceback
            super()._handle_exception(error)
        elif self.failure is None:
            cause = error.error if isinstance(error, WorkerFailed) else error
            self.failure = cause if isinstance(cause, Exception) else error
            self.exit(return_code=1)
