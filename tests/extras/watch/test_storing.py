"""What the watch does with what it is told, whatever happens to the store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from memcli.app.catalogue import newest
from memcli.app.remember import prepare, remember
from memcli.app.workspace import Workspace
from memcli.errors import LockedError, NotFoundError, StoreError
from memcli.extras.watch.storing import Watch
from memcli.model.catalogue import CatalogueFilter
from memcli.model.changes import Batch
from memcli.model.memory import Json, Memory
from tests.app.conftest import Given

IDLE = Batch(is_idle=True)


@dataclass
class Upserter:
    """A watch whose every edge is in the hands of the test."""

    workspace: Workspace
    texts: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    entries: list[Mapping[str, Json]] = field(default_factory=list)
    is_gone: bool = False
    state: None = None
    offs: list[bool] = field(default_factory=list)
    stops_after: int = 100
    poison: str = ""
    given: Iterable[Batch] = ()

    def doubt(self, batch: Batch) -> None:
        self.told.append(f"doubt {' '.join(batch.files + batch.removed)}")

    def save(self, state: None) -> None:
        self.told.append("save")

    def wait(self, seconds: float, /) -> bool:
        self.waits.append(seconds)
        return len(self.waits) >= self.stops_after

    def files(self, names: Sequence[str]) -> Given:
        if self.poison in names:
            raise KeyError(names)
        return Given(
            [{"path": n, "raw": self.texts[n], "metadata": {"source": n}, "provenance": {"source": "observed"}}
             for n in names if n in self.texts],
        )  # fmt: skip

    def commits(self, revisions: str) -> Given:
        raise NotFoundError(f"no such range: {revisions}", "")

    def lost_commits(self, commit: str) -> Sequence[str]:
        return ()

    def unreachable(self, commits: Collection[str]) -> Sequence[str]:
        return ()

    def batches(self) -> Iterator[Batch]:
        yield from self.given

    def recheck(self) -> None:
        self.told.append("recheck")

    def is_there(self) -> bool:
        return not self.is_gone

    def is_off(self) -> bool:
        return self.offs.pop(0) if self.offs else False

    def log(self, entry: Mapping[str, Json]) -> None:
        self.entries.append(entry)

    def watch(self, batches: Iterable[Batch], **options: Any) -> Watch:
        self.given = batches
        warned = self.workspace.copy_with(warn=lambda text: self.told.append(f"warn {text}"))
        return Watch(warned, self, self, self, **options)

    @property
    def watcher(self) -> Upserter:
        return self

    def paths(self) -> list[str]:
        return [memory.path for memory in self.listed()]

    def listed(self) -> list[Memory]:
        with newest(self.workspace, CatalogueFilter()) as found:
            return sorted(found.memories, key=lambda memory: memory.path)


@dataclass
class Failing:
    """A store whose first changes fail."""

    store: Any
    errors: list[Exception]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def submit(self, *arguments: Any) -> Any:
        if self.errors:
            raise self.errors.pop(0)
        return self.store.submit(*arguments)


@pytest.fixture
def desk(workspace: Workspace) -> Upserter:
    return Upserter(workspace, {"a.md": "The text of a.", "b.md": "The text of b."})


def test_what_is_told_is_noted_before_it_is_stored_and_saved_when_there_is_time(desk: Upserter):
    done = list(desk.watch([Batch(("a.md",)), Batch(("b.md",), ("a.md",)), IDLE, IDLE]).run())
    assert [(one.created, one.retired) for one in done] == [(1, 0), (1, 1)]
    assert [told for told in desk.told if not told.startswith("warn")] == ["doubt a.md", "doubt b.md a.md", "save"]
    assert desk.paths() == ["b.md"]
    assert [(e["event"], e["files"], e["removed"], e["created"]) for e in desk.entries] == [
        ("batch", 1, 0, 1), ("batch", 1, 1, 1),
    ]  # fmt: skip


def test_a_file_that_gives_nothing_any_more_is_marked(desk: Upserter):
    list(desk.watch([Batch(("a.md", "b.md"))]).run())
    del desk.texts["a.md"]
    list(desk.watch([Batch(("a.md", "b.md"))]).run())
    assert desk.paths() == ["b.md"]


def test_a_move_updates_what_was_there(desk: Upserter):
    list(desk.watch([Batch(("a.md",))]).run())
    (before,) = desk.listed()
    desk.texts |= {"new.md": "The text of a.", "a.md": "Something else."}
    (done,) = desk.watch([Batch(("new.md",), moved=(("a.md", "new.md"),))]).run()
    (after,) = desk.listed()
    assert (done.created, done.updated > 0, after.id, after.path) == (0, True, before.id, "new.md")
    list(desk.watch([Batch(("a.md",))]).run())
    assert desk.paths() == ["a.md", "new.md"]


def test_trouble_is_told_once_and_lived_through(desk: Upserter):
    locked = LockedError("locked", "")
    errors = [locked, locked, StoreError("disk full", ""), locked]
    desk.workspace = desk.workspace.copy_with(store=Failing(desk.workspace.store, errors))
    (done,) = desk.watch([Batch(("a.md",))]).run()
    assert done.created == 1
    assert desk.waits == [1, 2, 4, 8]
    warnings = [told for told in desk.told if told.startswith("warn")]
    assert [text.split(";")[0] for text in warnings] == ["warn locked", "warn disk full", "warn locked"]
    assert [e["event"] for e in desk.entries] == ["trouble", "trouble", "trouble", "batch"]


def test_stopped_off_or_without_a_store_nothing_is_saved_that_is_not_stored(desk: Upserter):
    batches = [Batch(("a.md",)), Batch(("b.md",)), IDLE]
    desk.is_gone = True
    assert list(desk.watch(batches).run()) == []
    assert desk.told == []
    desk.is_gone, desk.offs = False, [True]
    assert list(desk.watch(batches, once=True).run()) == []
    assert desk.paths() == [], "while memory is off"
    desk.offs = [True, True, False]
    (done,) = desk.watch(batches[:1]).run()
    assert (done.created, desk.waits) == (1, [1, 1])
    desk.told.clear()
    desk.workspace = desk.workspace.copy_with(store=Failing(desk.workspace.store, [StoreError("full", "")] * 9))
    desk.texts["a.md"], desk.stops_after = "Another text of a.", 5
    assert list(desk.watch(batches).run()) == []
    assert "save" not in desk.told


def test_commits_that_cannot_be_read_hold_up_nothing(desk: Upserter):
    done = list(desk.watch([Batch(("a.md",), commits="x..y"), Batch(("b.md",))]).run())
    assert [one.created for one in done] == [1, 1]
    assert "warn no such range: x..y; run `memcli ingest --git x..y` for these commits" in desk.told


def test_files_that_cannot_be_read_hold_up_nothing(desk: Upserter):
    desk.poison = "a.md"
    done = list(desk.watch([Batch(("a.md",)), Batch(("b.md",))]).run())
    assert ([one.created for one in done], desk.paths()) == ([0, 1], ["b.md"])
    assert [e["message"].partition(":")[0] for e in desk.entries if e["event"] == "trouble"] == ["skipped a.md"]


def test_the_index_is_brought_up_to_date_when_there_is_time(desk: Upserter, monkeypatch: pytest.MonkeyPatch):
    warmed: list[str] = []
    monkeypatch.setattr("memcli.extras.watch.storing.index_status", lambda _: warmed.append("index"))
    monkeypatch.setattr("memcli.extras.watch.storing.embed_or_warn", lambda _: warmed.append("vectors"))
    list(desk.watch([IDLE, Batch(("a.md",)), IDLE, IDLE, Batch(("a.md",)), IDLE]).run())
    assert warmed == ["index"]
    list(desk.watch([IDLE], embed=True).run())
    assert warmed == ["index", "vectors"]


def test_what_is_due_is_maintained_when_nothing_happens(desk: Upserter, monkeypatch: pytest.MonkeyPatch):
    looked: list[str] = []
    monkeypatch.setattr("memcli.extras.upkeep.maintain.maintain_behind", lambda one: looked.append(one.clock()) or [])
    quiet = [IDLE, IDLE, IDLE]
    list(desk.watch([Batch(("a.md",)), *quiet], upkeep=True).run())
    assert len(looked) == 1
    list(desk.watch([Batch(("a.md",)), *quiet]).run())
    desk.offs = [False, True, True, True]
    list(desk.watch([Batch(("a.md",)), *quiet], upkeep=True).run())
    assert len(looked) == 1


def test_a_space_that_came_with_another_commit_is_checked(desk: Upserter, workspace: Workspace):
    other = Batch(commits=None, left="1" * 40)

    def batches() -> Iterator[Batch]:
        yield from (Batch(("a.md",)), IDLE, IDLE, other)
        remember(workspace, [prepare(workspace, {"path": "z", "raw": "Written by a checkout."})])
        yield other
        yield other
        remember(workspace, [prepare(workspace, {"path": "y", "raw": "Written by somebody else."})])
        yield from (IDLE, IDLE, other)

    list(desk.watch(batches()).run())
    assert desk.told.count("recheck") == 1


def test_once_trouble_is_an_error_that_says_what_was_stored_before(
    desk: Upserter, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Failing(desk.workspace.store, [])
    desk.workspace = desk.workspace.copy_with(store=store)
    running = desk.watch([Batch(("a.md",)), Batch(("b.md",))], once=True).run()
    assert next(running).created == 1
    store.errors.append(LockedError("locked", ""))
    with pytest.raises(LockedError, match="stopped after 1 created: locked"):
        next(running)
    assert "save" not in desk.told

    def fail(_: object) -> None:
        raise StoreError("cannot write main.watch.json", "nothing was changed")

    monkeypatch.setattr(desk, "save", fail)
    with pytest.raises(StoreError, match="stopped after 1 created: cannot write") as failed:
        list(desk.watch([Batch(("b.md",))], once=True).run())
    assert "nothing was changed" not in failed.value.hint
