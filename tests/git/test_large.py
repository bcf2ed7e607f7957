"""Commands that change, check or compare a few memories hold no whole space, however large it is."""

from __future__ import annotations

import os
import sqlite3
import tracemalloc
from collections.abc import Callable

import pytest

from memcli.codec import window
from memcli.codec.bundle import MAX_OBJECTS, check_size
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import UsageError
from memcli.ingest.patch import read_diff
from memcli.model.space import Space
from memcli.store.snapshot import ByteSnapshot, FileSnapshot
from tests.conftest import NOW, memory
from tests.git.conftest import Team

_COMMANDS = ("gc", "check code", "diff", "forget one --purge --yes", "forget three --purge --now --yes")


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was read as a whole."""
    found: list[str] = []

    def noted(name: str, real: Callable[..., object]) -> Callable[..., object]:
        return lambda self: (found.append(name), real(self))[1]

    for kind, method in ((ByteSnapshot, "load"), (SpliceShelf, "load"), (FileSnapshot, "read")):
        monkeypatch.setattr(kind, method, noted(f"{kind.__name__}.{method}", getattr(kind, method)))
    return found


@pytest.mark.parametrize("is_foreign", [False, True], ids=["written here", "written by others"])
def test_no_space_is_read_whole(team: Team, whole: list[str], is_foreign: bool) -> None:
    for path in ("one", "two", "three"):
        team.remember(path, f"The text of {path} is quite long.")
    team.memcli("link", "two", "one")
    team.memcli("edit", "two", "--text", "Another text.")
    if is_foreign:
        os.utime(team.file(), (1_800_000_000, 1_800_000_000))
    team.memcli("recall", "long text")
    for line in _COMMANDS:
        whole.clear()
        team.memcli(*line.split())
        assert whole == [], line


def test_a_purge_leaves_the_index_for_the_next_recall(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("one", "two", "three"):
        team.remember(path, f"The text of {path} is quite long.")
    team.memcli("recall", "long text")
    team.memcli("forget", "one", "--purge", "--now", "--yes")
    with sqlite3.connect(team.root / ".memory" / "cache" / "main.index") as index:
        assert {path for (path,) in index.execute("SELECT path FROM memory")} == {"db/choice", "two", "three"}
    index.close()
    compared: list[object] = []
    monkeypatch.setattr("memcli.index.update._compared", compared.append)
    team.memcli("recall", "long text")
    assert compared == []


@pytest.mark.slow
def test_a_space_is_streamed_in_less_than_its_size(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "HELD", 1 << 16)
    objects = tuple(memory(f"m{n:05}", path=f"at/{n}", raw="A text of some length. " * 80) for n in range(4_000))
    data = encode_space(Space("main", objects, updated_at=NOW))
    team.file().write_bytes(data)
    snapshot = FileSnapshot("main", str(team.file()))
    tracemalloc.start()
    try:
        assert sum(1 for _ in snapshot.memories()) == len(objects)
        assert snapshot.is_canonical()
        assert tracemalloc.get_traced_memory()[1] < len(data) / 4
    finally:
        tracemalloc.stop()
        snapshot.close()


def test_an_export_of_too_many_is_refused_before_they_are_read(
    team: Team, whole: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.codec.bundle.MAX_OBJECTS", 0)
    team.memcli("export", "--out", "-", code=UsageError.exit_code)
    assert whole == []
    monkeypatch.undo()
    check_size("main", MAX_OBJECTS)


@pytest.mark.slow
def test_a_long_diff_is_read_in_twice_its_size() -> None:
    lines = "".join(f"+a line that is number {n:7d} of many\n" for n in range(60_000))
    data = f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,60000 @@\n{lines}".encode()
    tracemalloc.start()
    try:
        (edit,) = read_diff(data, "a diff")
        assert (len(edit.added), edit.added[0][0]) == (60_000, 1)
        assert sum(number for number, _ in edit.added) == 60_000 * 60_001 // 2
        assert tracemalloc.get_traced_memory()[1] < len(data)
    finally:
        tracemalloc.stop()
