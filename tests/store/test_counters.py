"""The counters: what several processes count is kept exactly, whoever is killed, and counting never fails."""

from __future__ import annotations

import multiprocessing
import os
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from memcli.model.usage import COMPACTION, MAX_SPACES, OTHERS, RUN
from memcli.store.layout import Layout
from memcli.store.notes import LocalCounters
from memcli.store.state import State

KEY = (COMPACTION, "main")


def test_what_is_counted_is_read(layout: Layout) -> None:
    counters = LocalCounters(State(layout))
    assert counters.read() == {}
    counters.ran("recall", "main", "fusion", 0, 0.2)
    counters.count(COMPACTION, "main", amount=3)
    totals = counters.read()
    assert totals[RUN, "recall", "main", "fusion", "0"] == 1
    assert totals[KEY] == 3


def test_nothing_is_counted_unless_it_is_to_be(layout: Layout) -> None:
    LocalCounters(State(layout), lambda: False).count(COMPACTION, "main")
    assert not os.path.exists(layout.local("state.db"))


def test_a_store_that_is_gone_is_not_made_again(layout: Layout, tmp_path: Path) -> None:
    LocalCounters(State(Layout(str(tmp_path / "gone" / ".memory")))).count(COMPACTION, "main")
    assert not (tmp_path / "gone").exists()


def test_a_link_in_the_place_of_the_log_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    counters = LocalCounters(State(layout))
    counters.count(COMPACTION, "main")
    other = tmp_path / "other"
    other.write_bytes(b"")
    os.unlink(layout.local("state.db"))
    os.symlink(other, layout.local("state.db"))
    counters.count(COMPACTION, "main")
    assert other.read_bytes() == b""
    assert counters.read() == {}


def test_who_holds_the_state_for_long_costs_an_event_and_no_error(layout: Layout) -> None:
    state = State(layout, note_seconds=0.01)
    counters = LocalCounters(state)
    counters.count(COMPACTION, "main")
    with State(layout).change():
        counters.count(COMPACTION, "main")
    assert counters.read()[KEY] == 1


def test_beyond_a_hundred_spaces_the_others_are_counted_together(layout: Layout) -> None:
    state = State(layout)
    counters = LocalCounters(state)
    with state.change():
        for n in range(MAX_SPACES + 5):
            counters.count(COMPACTION, f"s{n}")
    assert counters.read()[COMPACTION, OTHERS] == 5
    assert len(counters.read()) == MAX_SPACES + 1


def _count(root: str, times: int) -> None:
    counters = LocalCounters(State(Layout(root), note_seconds=60))
    for _ in range(times):
        counters.count(COMPACTION, "main")


@pytest.mark.slow
def test_sixteen_processes_lose_nothing(layout: Layout) -> None:
    context = multiprocessing.get_context("fork" if os.name == "posix" else None)
    writers = [context.Process(target=_count, args=(layout.root, 50)) for _ in range(16)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 16
    assert LocalCounters(State(layout)).read() == {KEY: 800}


def _count_until_killed(root: str, counted: Connection) -> None:
    counters = LocalCounters(State(Layout(root), note_seconds=60))
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
    assert counted <= LocalCounters(State(layout)).read()[KEY] <= counted + 16  # each may have been about to say so
