"""The usage log and the counters: nothing that several processes note is lost, each counts once, and no word is on disk."""

from __future__ import annotations

import multiprocessing
import os
from itertools import count as numbers
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.usage import COMPACTION, GET, HELPFUL, MAX_SPACES, OTHERS, RECALL, RUN, Access, Use, count
from memcli.store.layout import Layout, make_root
from memcli.store.notes import LocalCounters, LocalUsage
from memcli.store.state import State
from tests.store.conftest import at_once

AT = "2026-01-31T09:30:00Z"
KEY = (COMPACTION, "main")
A_IS_HELPFUL = Use(AT, HELPFUL, "main", ("a",))


@pytest.fixture
def usage(layout: Layout) -> LocalUsage:
    return LocalUsage(State(layout))


def shown(*ids: str, space: str = "main", at: str = AT, act: str = RECALL) -> Use:
    return Use(at, act, space, ids, places=tuple(range(1, len(ids) + 1)))


def stored(layout: Layout) -> bytes:
    return b"".join(Path(layout.local(name)).read_bytes() for name in sorted(os.listdir(layout.local(""))))


def test_what_is_noted_is_read_and_counted(usage: LocalUsage) -> None:
    usage.note([shown("a", "b")], "Which database?")
    usage.note([Use("2026-02-01T00:00:00Z", GET, "main", ("a",))])
    first, second = usage.read()
    assert (first.act, first.ids, second.act) == (RECALL, ("a", "b"), GET)
    assert (usage.read([GET]), usage.read([HELPFUL, RECALL])) == ([second], [first])
    assert usage.counts("main") == {"a": Access(2, "2026-02-01T00:00:00Z"), "b": Access(1, AT)}
    assert usage.counts("main", ["b", "gone", "it's"]) == {"b": Access(1, AT)}
    assert usage.counts("main", []) == usage.counts("repo") == {}


def test_equal_topics_have_equal_digests_and_no_word_is_stored(layout: Layout) -> None:
    usage = LocalUsage(State(layout), session="ses_secret")
    for topic in ("Which  DATABASE?", "which database?", "which queue?"):
        usage.note([shown("a")], topic)
    one, two, three = (use.topic for use in usage.read())
    assert one == two != three
    assert [word in stored(layout) for word in (b"atabase", b"ses_secret")] == [False, False]


def test_a_fold_keeps_the_counts_and_what_came_since(usage: LocalUsage) -> None:
    usage.note([shown("a")])
    old = usage.read()
    usage.note([shown("b")])
    usage.fold(old)
    assert [use.ids for use in usage.read()] == [("b",)]
    usage.fold(old)
    assert usage.counts("main") == {"a": Access(1, AT), "b": Access(1, AT)}


def test_a_full_log_folds_its_older_accesses_but_no_judgement(layout: Layout) -> None:
    usage = LocalUsage(State(layout), most=40)
    usage.judge([A_IS_HELPFUL])
    for _ in range(100):
        usage.note([shown("a")])
    assert (len(usage.read()) <= 41, usage.read()[0].act) == (True, HELPFUL)
    assert usage.counts("main") == {"a": Access(100, AT)}


def test_judgements_are_the_same_bytes_and_each_counts(usage: LocalUsage, tmp_path: Path) -> None:
    make_root(str(tmp_path / "other" / ".memory"))
    other = LocalUsage(State(Layout(str(tmp_path / "other" / ".memory"))))
    for each in (usage, other):
        for _ in range(2):
            each.judge([A_IS_HELPFUL])
            each.fold(each.read())
            each.judge([A_IS_HELPFUL])
    assert usage.read() == other.read()
    assert [use.ids for use in usage.read()] == [("a",)]


def test_what_is_erased_is_nowhere(usage: LocalUsage, layout: Layout) -> None:
    usage.note([shown("mem_gone", "mem_kept")])
    usage.fold(usage.read())
    usage.note([shown("mem_gone", "mem_kept"), shown("mem_gone", space="other")])
    usage.judge([Use(AT, HELPFUL, "main", ("mem_gone",))])
    for space in ("main", "other"):
        usage.erase(space, {"mem_gone"})
    assert b"mem_gone" not in stored(layout)
    assert usage.counts("main") == {"mem_kept": Access(2, AT)}
    assert [(use.ids, use.places) for use in usage.read()] == [(("mem_kept",), (2,))]


def test_the_last_bundle_is_that_of_the_session_also_when_it_was_folded(layout: Layout) -> None:
    own, other, any_ = LocalUsage(State(layout), "ses_1"), LocalUsage(State(layout), "ses_2"), LocalUsage(State(layout))
    own.note([shown("a"), shown("b", space="repo")])
    other.note([shown("c")])
    any_.note([Use(AT, GET, "main", ("d",))])
    for _ in range(2):
        assert [(use.space, use.ids) for use in own.last()] == [("main", ("a",)), ("repo", ("b",))]
        assert [use.ids for use in any_.last()] == [("c",)]
        own.fold(own.read())


def test_nothing_is_noted_while_it_should_not_be_or_where_the_store_is_gone(layout: Layout, tmp_path: Path) -> None:
    LocalUsage(State(layout), is_recording=lambda: False).note([shown("a")])
    LocalCounters(State(layout), lambda: False).count(*KEY)
    assert not os.path.exists(layout.local("state.db"))
    LocalCounters(State(Layout(str(tmp_path / "gone" / ".memory")))).count(*KEY)
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("damage", ["folder", "link", "pipe"])
def test_a_log_that_cannot_be_written_fails_nothing(usage: LocalUsage, layout: Layout, damage: str) -> None:
    os.makedirs(layout.local(""))
    place, other = layout.local("state.db"), Path(layout.root, "other")
    other.touch()
    {"folder": os.mkdir, "pipe": os.mkfifo, "link": lambda path: os.symlink(other, path)}[damage](place)
    usage.note([shown("a")])
    LocalCounters(State(layout)).count(*KEY)
    assert (usage.counts("main"), LocalCounters(State(layout)).read(), other.read_bytes()) == ({}, {}, b"")


def test_what_is_counted_is_read(layout: Layout) -> None:
    counters = LocalCounters(State(layout))
    assert counters.read() == {}
    counters.ran("recall", "main", "fusion", 0, 0.2)
    counters.count(*KEY, amount=3)
    totals = counters.read()
    assert (totals[RUN, "recall", "main", "fusion", "0"], totals[KEY]) == (1, 3)


def test_beyond_a_hundred_spaces_the_others_are_counted_together(layout: Layout) -> None:
    state = State(layout)
    counters = LocalCounters(state)
    with state.change():
        for n in range(MAX_SPACES + 5):
            counters.count(COMPACTION, f"s{n}")
    assert (counters.read()[COMPACTION, OTHERS], len(counters.read())) == (5, MAX_SPACES + 1)


def _note(root: str, name: str) -> None:
    state = State(Layout(root), note_seconds=60)
    for _ in range(50):
        LocalUsage(state, most=100).note([Use(AT, RECALL, "main", ("a", name))], "topic")
        LocalCounters(state).count(*KEY)


def test_processes_at_once_lose_nothing(usage: LocalUsage, layout: Layout) -> None:
    at_once(_note, [(layout.root, name) for name in "123"])
    usage.fold(usage.read())
    assert usage.counts("main") == {"a": Access(150, AT)} | {name: Access(50, AT) for name in "123"}
    assert LocalCounters(State(layout)).read() == {KEY: 150}


def _count_until_killed(root: str, counted: Connection) -> None:
    counters = LocalCounters(State(Layout(root), note_seconds=60))
    for _ in numbers():
        counters.count(*KEY)
        counted.send_bytes(b".")


@pytest.mark.slow
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


_USES = st.lists(
    st.builds(
        Use, st.sampled_from(["2026-01-01T00:00:00Z", AT]), st.sampled_from([RECALL, GET, HELPFUL]),
        st.sampled_from(["main", "repo"]), st.lists(st.sampled_from("abc"), min_size=1).map(tuple),
    )
)  # fmt: skip


@given(_USES, _USES)
def test_counting_in_two_steps_is_counting_at_once(one: list[Use], two: list[Use]) -> None:
    assert count(two, count(one)) == count([*one, *two])
