"""The last topics of sessions: for one day, for their owner alone, and without a word of them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memcli.conversation.topic import LastTopic, trace
from memcli.extras.agents.records import Topics
from memcli.store.layout import Layout, make_root
from memcli.store.state import State
from tests.conftest import NOW

PROMPT = "Which database do the orders in billing.py use?"


def kept(layout: Layout) -> Topics:
    topics = Topics(State(layout), NOW)
    topics.keep("s1", LastTopic(trace(PROMPT, topics.sign), "m", bytes(range(256))))
    return topics


def test_a_topic_is_read_as_it_was_kept_and_no_word_of_it_is_on_disk(layout: Layout) -> None:
    signed = trace(PROMPT, kept(layout).sign)
    found = Topics(State(layout), NOW).of("s1")
    assert found is not None
    assert (found.trace.terms, found.trace.names) == (signed.terms, signed.names)
    assert found.trace.weight == pytest.approx(trace(PROMPT).weight)
    assert (found.model, found.vector) == ("m", bytes(range(256)))
    assert Topics(State(layout), NOW).of("s2") is None
    file = Path(layout.local("state.db"))
    assert [word for word in (b"database", b"orders", b"billing") if word in file.read_bytes().lower()] == []
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


def test_the_hashes_of_another_store_are_others(layout: Layout, tmp_path: Path) -> None:
    make_root(str(tmp_path / "other" / ".memory"))
    other = Topics(State(Layout(str(tmp_path / "other" / ".memory"))), NOW)
    signs = [Topics(State(layout), NOW).sign("database") for _ in range(2)]
    assert signs[0] == signs[1] != other.sign("database")


@pytest.mark.parametrize(
    ("now", "is_there"),
    [("2026-02-01T09:29:59Z", True), ("2026-02-01T09:30:00Z", False), ("2026-01-31T09:29:59Z", False)],
)
def test_it_stays_for_one_day(layout: Layout, now: str, is_there: bool) -> None:
    kept(layout)
    assert (Topics(State(layout), now).of("s1") is not None) == is_there
    Topics(State(layout), now).forget()
    assert bool(State(layout).rows("SELECT 1 FROM topic")) == is_there


def test_one_topic_is_forgotten(layout: Layout) -> None:
    topics = kept(layout)
    topics.keep("s2", LastTopic(trace("birds", topics.sign)))
    topics.forget("s1")
    assert (topics.of("s1"), topics.of("s2") is None) == (None, False)
