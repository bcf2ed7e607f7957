"""The usage log: what several processes append is kept, folding counts each use once, and no word is on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.usage import GET, HELPFUL, RECALL, Access, Use, count
from memcli.store.layout import Layout, make_root
from memcli.store.state import State
from memcli.store.usage import LocalUsage

AT = "2026-01-31T09:30:00Z"


def shown(*ids: str, space: str = "main", at: str = AT, act: str = RECALL) -> Use:
    return Use(at, act, space, ids, places=tuple(range(1, len(ids) + 1)))


def stored(layout: Layout) -> bytes:
    return b"".join(Path(layout.local(name)).read_bytes() for name in sorted(os.listdir(layout.local(""))))


def test_what_is_noted_is_read_and_counted(layout: Layout) -> None:
    usage = LocalUsage(State(layout))
    usage.note([shown("a", "b")], "Which database?")
    usage.note([Use("2026-02-01T00:00:00Z", GET, "main", ("a",))])
    first, second = usage.read()
    assert (first.act, first.ids, second.act) == (RECALL, ("a", "b"), GET)
    assert usage.counts("main") == {"a": Access(2, "2026-02-01T00:00:00Z"), "b": Access(1, AT)}
    assert usage.counts("repo") == {}


def test_equal_topics_have_equal_digests_and_no_word_is_stored(layout: Layout) -> None:
    usage = LocalUsage(State(layout), session="ses_secret")
    usage.note([shown("a")], "Which  DATABASE?")
    usage.note([shown("a")], "which database?")
    usage.note([shown("a")], "which queue?")
    one, two, three = (use.topic for use in usage.read())
    assert one == two != three
    assert b"atabase" not in stored(layout)
    assert b"ses_secret" not in stored(layout)


def test_a_fold_keeps_the_counts_and_what_came_since(layout: Layout) -> None:
    usage = LocalUsage(State(layout))
    usage.note([shown("a")])
    old = usage.read()
    usage.note([shown("b")])
    usage.fold(old)
    assert [use.ids for use in usage.read()] == [("b",)]
    usage.fold(old)
    assert usage.counts("main") == {"a": Access(1, AT), "b": Access(1, AT)}


def test_a_full_log_folds_its_older_accesses_but_no_judgement(layout: Layout) -> None:
    usage = LocalUsage(State(layout), most=40)
    usage.judge([Use(AT, HELPFUL, "main", ("a",))])
    for _ in range(100):
        usage.note([shown("a")])
    assert len(usage.read()) <= 41
    assert usage.read()[0].act == HELPFUL
    assert usage.counts("main") == {"a": Access(100, AT)}


def test_judgements_are_the_same_bytes_and_each_counts(layout: Layout, tmp_path: Path) -> None:
    make_root(str(tmp_path / "other" / ".memory"))
    both = LocalUsage(State(layout)), LocalUsage(State(Layout(str(tmp_path / "other" / ".memory"))))
    judgement = Use(AT, HELPFUL, "main", ("a",))
    for usage in both:
        for _ in range(2):
            usage.judge([judgement])
            usage.fold(usage.read())
            usage.judge([judgement])
    one, other = (usage.read() for usage in both)
    assert one == other
    assert [use.ids for use in one] == [("a",)]


def test_what_is_erased_is_nowhere(layout: Layout) -> None:
    usage = LocalUsage(State(layout))
    usage.note([shown("mem_gone", "mem_kept")])
    usage.fold(usage.read())
    usage.note([shown("mem_gone", "mem_kept"), shown("mem_gone", space="other")])
    usage.judge([Use(AT, HELPFUL, "main", ("mem_gone",))])
    usage.erase("main", {"mem_gone"})
    usage.erase("other", {"mem_gone"})
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


def test_nothing_is_recorded_while_it_should_not_be(layout: Layout) -> None:
    LocalUsage(State(layout), is_recording=lambda: False).note([shown("a")])
    assert not os.path.exists(layout.local("state.db"))


@pytest.mark.parametrize("damage", ["folder", "link", "pipe"])
def test_a_log_that_cannot_be_written_fails_nothing(layout: Layout, damage: str) -> None:
    os.makedirs(layout.local(""))
    if damage == "folder":
        os.mkdir(layout.local("state.db"))
    elif damage == "link":
        os.symlink("/dev/null", layout.local("state.db"))
    else:
        os.mkfifo(layout.local("state.db"))
    LocalUsage(State(layout)).note([shown("a")])
    assert LocalUsage(State(layout)).counts("main") == {}


@pytest.mark.slow
def test_many_processes_lose_nothing(layout: Layout) -> None:
    code = (
        "import sys; from memcli.store.layout import Layout; from memcli.store.state import State\n"
        "from memcli.store.usage import LocalUsage\n"
        "from memcli.model.usage import Use\n"
        "usage = LocalUsage(State(Layout(sys.argv[1]), note_seconds=60), most=200)\n"
        f"for n in range(100): usage.note([Use({AT!r}, 'recall', 'main', ('a', sys.argv[2]))], 'topic')\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, layout.root, str(n)]) for n in range(4)]
    folding = LocalUsage(State(layout))
    while any(process.poll() is None for process in started):
        folding.fold(folding.read())
    assert all(process.wait() == 0 for process in started)
    assert folding.counts("main") == {"a": Access(400, AT)} | {str(n): Access(100, AT) for n in range(4)}


_USES = st.lists(
    st.builds(
        Use, st.sampled_from(["2026-01-01T00:00:00Z", AT]), st.sampled_from([RECALL, GET, HELPFUL]),
        st.sampled_from(["main", "repo"]), st.lists(st.sampled_from("abc"), min_size=1).map(tuple),
    )
)  # fmt: skip


@given(_USES, _USES)
def test_counting_in_two_steps_is_counting_at_once(one: list[Use], two: list[Use]) -> None:
    assert count(two, count(one)) == count([*one, *two])
