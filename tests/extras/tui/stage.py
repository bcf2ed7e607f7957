"""What the tests of the browser share: a store with few memories, keys, what is on the screen, an editor that obeys."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from memcli.app.check import check
from memcli.app.remember import Outcome, prepare, remember
from memcli.app.workspace import Workspace, load
from memcli.errors import MemcliError, UsageError
from memcli.extras.tui.app import Browser
from memcli.extras.tui.changes import Editor
from memcli.extras.tui.detail import Detail
from memcli.extras.tui.dialog import ListWindow
from memcli.extras.tui.main_screen import MainScreen
from memcli.extras.tui.status import Status
from memcli.extras.tui.view import Rows
from memcli.extras.tui.windows import Comparison
from memcli.model.findings import Resolution
from memcli.model.memory import Json, Memory
from memcli.record import replace
from tests.conftest import rewrite

T = "2026-01-01T00:00:00Z"


def memory(path: str, **fields: object) -> Memory:
    made = Memory(
        id=f"mem_{path.replace('/', '_')}", path=path, kind="fact", raw=f"Text of {path}.", created_at=T, updated_at=T
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def put(workspace: Workspace, *memories: Memory) -> None:
    rewrite(workspace.store, lambda space: space.put(memories, T), workspace.space)


def stored(workspace: Workspace, path: str) -> Memory:
    return load(workspace).find(path)


class Ui:
    """The browser on a screen: its keys, and what it shows."""

    def __init__(self, pilot: Pilot[None], main_screen: MainScreen) -> None:
        self.pilot, self.main_screen = pilot, main_screen

    async def quiet(self) -> None:
        """Waits until what was sent has gone through: from app to widget, from widget to main_screen, from main_screen to widget.

        Textual's own `pilot.pause()` measures how busy the process is, which takes long and errs on a busy machine.
        """
        for _ in range(4):
            await self.pilot.pause(0)

    async def settle(self) -> None:
        """Waits for what works in the background too."""
        await self.pilot.app.workers.wait_for_complete()
        await self.quiet()

    async def press(self, *keys: str) -> None:
        """Presses keys, one after the other; what begins with `=` is pasted where the cursor is."""
        for key in keys:
            sent = events.Paste(key[1:]) if key[:1] == "=" else events.Key(key, key if len(key) == 1 else None)
            self.pilot.app.post_message(sent)
            await self.quiet()
        await self.settle()

    async def play(self, *steps: tuple[str, ...]) -> None:
        """Presses the keys of each step, as a shell would split them; then the texts behind them are to be read, and those
        with `!` before them are not. A text such as `status: ...` is a whole line of `read`."""
        for keys, *texts in steps:
            await self.press(*shlex.split(keys))
            read = self.read
            for text in texts:
                wanted = text.removeprefix("!")
                is_line = wanted.partition(" ")[0] in ("top:", "focus:", "space:", "status:", "at:", "names:")
                assert ((f"\n{wanted}\n" if is_line else wanted) in read) is (wanted == text), (keys, text, read)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for what happens by itself. Only a failure takes long."""
        async with asyncio.timeout(60):
            while not holds():
                await self.pilot.pause(0.01)

    @property
    def top(self) -> Screen[object]:
        return self.pilot.app.screen

    @property
    def lines(self) -> list[str]:
        """The screen on top as text."""
        return ["".join(segment.text for segment in line) for line in self.top._compositor.render_strips()]

    @property
    def window(self) -> str:
        """The window on top without style: its note, its lines, and what is said of the one under the cursor."""
        if isinstance(self.top, Comparison):
            return str(self.top._text.content)
        assert isinstance(self.top, ListWindow), self.top
        lines = [str(option.prompt) for option in self.top._list.options]
        return "\n".join([str(self.top._note.content), *lines, str(self.top._about.content)])

    @property
    def names(self) -> list[str]:
        return [row.name for row in self.main_screen.query_one(Rows).rows]

    @property
    def here(self) -> str:
        """The path of the memory under the cursor; empty on a heading."""
        return self.main_screen.memory.path if self.main_screen.memory else ""

    @property
    def detail(self) -> str:
        return str(self.main_screen.query_one(Detail)._text.content)

    @property
    def status(self) -> str:
        return str(self.main_screen.query_one(Status).content)

    @property
    def read(self) -> str:
        """All that there is to read: which screen is on top, what the widgets have, and what is drawn."""
        about = [f"top: {type(self.top).__name__}", f"focus: {type(self.top.focused).__name__}"]
        about += [f"space: {self.main_screen.workspace.space}", f"status: {self.status}", f"at: {self.here}"]
        own = self.window if isinstance(self.top, ListWindow | Comparison) else self.detail
        return "\n".join(["", *about, f"names: {' '.join(self.names)}", own, *self.lines, ""])

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self.pilot.app._notifications]


@asynccontextmanager
async def opened(browser: Browser, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Ui]:
    """The browser on a screen of its own."""
    async with browser.run_test(size=size) as pilot:
        ui = Ui(pilot, browser.main_screen)
        await ui.quiet()
        yield ui


FEW = (
    memory("auth/tokens", kind="decision", raw="Refresh tokens rotate.", tags=("security",), pinned=True),
    memory("auth/passwords", raw="Hash with argon2id.", links=({"to": "mem_ops_deploy", "relation": "relates_to"},)),
    memory("ops/deploy", kind="procedure", raw="Run make deploy."),
)


def few(workspace: Workspace) -> Browser:
    put(workspace, *FEW)
    return Browser(workspace)


def add(workspace: Workspace, fields: Mapping[str, Json]) -> Outcome:
    """Stores a memory, checked as from the command line."""
    candidates = [prepare(workspace, fields)]
    return remember(workspace, candidates, resolution=Resolution(check(workspace, candidates))).outcomes[0]


class FakeDraft:
    """A draft whose editor does what the test says, in the order in which it is opened."""

    def __init__(self, memory: Memory | None, as_object: bool, steps: list[Json]) -> None:
        self.memory, self.as_object, self.steps = memory, as_object, steps
        self.path, self.is_changed, self.is_removed = "/tmp/draft", False, False
        self.now: Json = {}

    @property
    def text(self) -> str:
        return self.memory.raw if self.memory else ""

    def write(self, text: str) -> None:
        self.now = {"raw": text}

    def edit(self) -> None:
        self.now = self.steps.pop(0)
        self.is_changed = self.now not in ({}, None)
        if isinstance(self.now, MemcliError):
            self.is_changed = bool(self.now.hint)
            raise self.now

    def fields(self) -> dict[str, Json]:
        if isinstance(self.now, str):
            raise UsageError(f"not JSON: {self.now}", "mend it")
        return dict(self.now)

    def remove(self) -> None:
        self.is_removed = True


class Fake:
    """An editor, and the drafts that were opened in it."""

    def __init__(self, *steps: Json) -> None:
        self.steps = list(steps)
        self.drafts: list[FakeDraft] = []

    def open(self, memory: Memory | None, as_object: bool) -> FakeDraft:
        self.drafts.append(FakeDraft(memory, as_object, self.steps))
        return self.drafts[-1]

    @property
    def editor(self) -> Editor:
        return Editor(self.open, add)
