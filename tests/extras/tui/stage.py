"""What the tests of the browser share: a store with few memories, keys, what is on the screen, an editor that obeys."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from textual import events
from textual.pilot import Pilot

from memcli.app.check import check
from memcli.app.remember import Outcome, prepare, remember
from memcli.app.workspace import Workspace, load
from memcli.errors import MemcliError, UsageError
from memcli.extras.tui.app import Browser
from memcli.extras.tui.changes import Editor
from memcli.extras.tui.detail import Detail
from memcli.extras.tui.main_screen import MainScreen
from memcli.extras.tui.status import Status
from memcli.extras.tui.view import Rows
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


@asynccontextmanager
async def opened(browser: Browser, size: tuple[int, int] = (100, 30)) -> AsyncIterator[tuple[Pilot[None], MainScreen]]:
    """The browser on a screen of its own: what presses its keys, and its main screen."""
    async with browser.run_test(size=size) as pilot:
        await quiet(pilot)
        yield pilot, browser.desk


async def quiet(pilot: Pilot[None]) -> None:
    """Waits until what was sent has gone through: from app to widget, from widget to desk, from desk to widget.

    Textual's own `pilot.pause()` measures how busy the process is, which takes long and errs on a busy machine.
    """
    for _ in range(4):
        await pilot.pause(0)


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await quiet(pilot)


async def settle(pilot: Pilot[None]) -> None:
    """Waits for what works in the background too."""
    await pilot.app.workers.wait_for_complete()
    await quiet(pilot)


async def enter(pilot: Pilot[None], text: str) -> None:
    """Puts `text` where the cursor is, in one go."""
    pilot.app.post_message(events.Paste(text))
    await quiet(pilot)


def screen(desk: MainScreen) -> list[str]:
    """The screen as text."""
    return ["".join(segment.text for segment in line) for line in desk._compositor.render_strips()]


def shown(pilot: Pilot[None]) -> str:
    """What is on top of the screen, as text."""
    return "\n".join("".join(s.text for s in line) for line in pilot.app.screen._compositor.render_strips())


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Waits for what happens by itself. Only a failure takes long."""
    async with asyncio.timeout(60):
        while not holds():
            await pilot.pause(0.01)


def names(desk: MainScreen) -> list[str]:
    return [row.name for row in desk.query_one(Rows).rows]


def here(desk: MainScreen) -> str:
    """The path of the memory under the cursor; empty on a heading."""
    return desk.memory.path if desk.memory else ""


def detail(desk: MainScreen) -> str:
    return desk.query_one(Detail).text


def status(desk: MainScreen) -> str:
    return desk.query_one(Status).text


def few(workspace: Workspace) -> Browser:
    put(
        workspace,
        memory("auth/tokens", kind="decision", raw="Refresh tokens rotate.", tags=("security",), pinned=True),
        memory(
            "auth/passwords", raw="Hash with argon2id.", links=({"to": "mem_ops_deploy", "relation": "relates_to"},)
        ),
        memory("ops/deploy", kind="procedure", raw="Run make deploy."),
    )
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
