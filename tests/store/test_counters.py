"""The counters: what several processes count is kept exactly, whoever is killed, and counting never fails."""

from __future__ import annotations

import multiprocessing
import os
import stat
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from memcli.errors import StoreError
from memcli.model.usage import COMPACTION, RUN
from memcli.store import counter_totals
from memcli.store.counters import FileCounters
from memcli.store.layout import Layout, make_root
from memcli.store.lock import locked

KEY = (COMPACTION, "main")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    make_root(str(tmp_path / ".memory"))
    return Layout(str(tmp_path / ".memory"))


def test_what_is_counted_is_read(layout: Layout) -> None:
    counters = FileCounters(layout)
    assert counters.read() == {}
    counters.ran("recall", "main", "fusion", 0, 0.2)
    counters.count(COMPACTION, "main", amount=3)
    totals = counters.read()
    assert totals[RUN, "recall", "main", "fusion", "0"] == 1
    assert totals[KEY] == 3


def test_nothing_is_counted_unless_it_is_to_be(layout: Layout) -> None:
    FileCounters(layout, lambda: False).count(COMPACTION, "main")
    assert not os.path.exists(layout.local("counters"))


def test_a_fold_keeps_the_sums_and_bounds_the_log(layout: Layout) -> None:
    counters = FileCounters(layout, max_bytes=200)
    for n in range(100):
        counters.count(COMPACTION, "main")
        assert counters.read()[KEY] == n + 1
        path = Path(layout.local("counters"))
        assert not path.exists() or path.stat().st_size < 300
    assert Path(layout.local("counters.totals")).exists()


@pytest.mark.parametrize("later", [0, 1, 30])
def test_a_fold_that_is_killed_counts_nothing_twice(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, later: int
) -> None:
    counters = FileCounters(layout, max_bytes=200)
    with monkeypatch.context() as patched:

        def killed(path: str) -> None:
            raise StoreError(f"killed before {path} was removed")

        patched.setattr(counter_totals, "remove_file", killed)
        for n in range(20):
            counters.count(COMPACTION, "main")
            assert counters.read()[KEY] == n + 1
    for _ in range(later):
        counters.count(COMPACTION, "main")
    assert counters.read()[KEY] == 20 + later


def test_a_log_that_was_deleted_begins_anew(layout: Layout) -> None:
    counters = FileCounters(layout, max_bytes=100)
    for _ in range(30):
        counters.count(COMPACTION, "main")
    before = counters.read()[KEY]
    counters.count(COMPACTION, "main")
    os.unlink(layout.local("counters"))
    counters.count(COMPACTION, "main")
    assert before <= counters.read()[KEY] <= before + 1


def test_a_torn_line_is_left_out(layout: Layout) -> None:
    counters = FileCounters(layout)
    counters.count(COMPACTION, "main")
    with open(layout.local("counters"), "ab") as log:
        log.write(b"compaction\tmain\t7")
    assert counters.read()[KEY] == 1


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"counts": [[1], ["a"], [[], 2], ["compaction", "main", -1]]}'])
def test_damaged_sums_are_no_error(layout: Layout, data: bytes) -> None:
    make = Path(layout.local("counters.totals"))
    make.parent.mkdir(exist_ok=True)
    make.write_bytes(data)
    counters = FileCounters(layout)
    counters.count(COMPACTION, "main")
    assert counters.read() == {KEY: 1}


def test_the_files_are_the_users_alone(layout: Layout) -> None:
    counters = FileCounters(layout, max_bytes=50)
    for _ in range(9):
        counters.count(COMPACTION, "main")
    names = [name for name in os.listdir(layout.local("")) if name.startswith("counters")]
    assert set(names) >= {"counters.lock", "counters.totals"}
    assert {stat.S_IMODE(os.stat(layout.local(name)).st_mode) for name in names} == {0o600}


def test_a_store_that_is_gone_is_not_made_again(layout: Layout, tmp_path: Path) -> None:
    FileCounters(Layout(str(tmp_path / "gone" / ".memory"))).count(COMPACTION, "main")
    assert not (tmp_path / "gone").exists()


def test_a_full_disk_is_no_error(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    counters = FileCounters(layout)
    counters.count(COMPACTION, "main")

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        counters.count(COMPACTION, "main")
    assert counters.read()[KEY] == 1


def test_a_link_in_the_place_of_the_log_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    counters = FileCounters(layout)
    counters.count(COMPACTION, "main")
    other = tmp_path / "other"
    other.write_bytes(b"")
    os.unlink(layout.local("counters"))
    os.symlink(other, layout.local("counters"))
    counters.count(COMPACTION, "main")
    assert other.read_bytes() == b""
    assert counters.read() == {}


def test_who_holds_the_lock_for_long_costs_an_event_and_no_error(layout: Layout) -> None:
    counters = FileCounters(layout, wait=0.01)
    counters.count(COMPACTION, "main")
    with locked(layout.local("counters.lock"), "the counters"):
        counters.count(COMPACTION, "main")
        assert counters.read()[KEY] == 1


def _count(root: str, times: int) -> None:
    counters = FileCounters(Layout(root), max_bytes=1_000, wait=60)
    for _ in range(times):
        counters.count(COMPACTION, "main")


def test_sixteen_processes_lose_nothing(layout: Layout) -> None:
    context = multiprocessing.get_context("fork" if os.name == "posix" else None)
    writers = [context.Process(target=_count, args=(layout.root, 50)) for _ in range(16)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 16
    assert FileCounters(layout).read() == {KEY: 800}


def _count_until_killed(root: str, counted: Connection) -> None:
    counters = FileCounters(Layout(root), max_bytes=500, wait=60)
    for _ in count():
        counters.count(COMPACTION, "main")
        counted.send_bytes(b".")


def test_whoever_is_killed_each_event_counts_once(layout: Layout) -> None:
    context = multiprocessing.get_context("fork" if os.name == "posix" else None)
    counted = 0
    for _ in range(8):
        here, there = context.Pipe(duplex=False)
        writers = [context.Process(target=_count_until_killed, args=(layout.root, there)) for _ in range(2)]
        for writer in writers:
            writer.start()
        for _ in range(30):
            here.recv_bytes()
            counted += 1
        for writer in writers:
            writer.kill()  # wherever it is
            writer.join()
        there.close()
        try:
            while here.poll():
                here.recv_bytes()
                counted += 1
        except EOFError:
            pass
    assert counted <= FileCounters(layout).read()[KEY] <= counted + 16  # each may have been about to say so
