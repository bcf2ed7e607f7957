"""When the watch looks at what, by values alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.extras.watch.scan import Difference
from memcli.extras.watch.watcher import Loop

NOTHING = Difference()
SOMETHING = Difference(changed=("a",))
LATER = 1_000.0
"""When the next scan is due, in most of these."""


def after_scan(state: Loop, found: Difference, **facts: object) -> tuple[Loop, str]:
    values = {"now": 100.0, "seconds": 0.0, "cpu": 0.0, "has_new_watches": False, "is_polling": False, **facts}
    return state.after_scan(found=found, **values)  # type: ignore[arg-type]


def test_files_that_events_name_are_read_unless_a_scan_is_due():
    assert Loop().is_scan_due(5.0, False)
    moments = ((5.0, False), (5.0, True), (LATER, False))
    assert [Loop(scan_at=LATER).is_scan_due(*moment) for moment in moments] == [False, True, True]


def test_a_scan_follows_changes_since_events_get_lost():
    state = Loop(scan_at=LATER).after_look(5.0, has_paths=True)
    assert state.scan_at == 7.0
    assert state.after_look(6.0, has_paths=True).scan_at == 7.0  # changes do not put it off
    assert Loop(scan_at=LATER).after_look(5.0, has_paths=False) == Loop(scan_at=LATER)
    assert Loop(scan_at=LATER, cost=0.5).after_look(5.0, has_paths=True).scan_at == 15.0, "later after costly ones"


def test_the_time_to_the_next_scan():
    for found, facts, pause in (
        (NOTHING, {}, 60),
        (NOTHING, {"cpu": 0.5}, 500),
        (NOTHING, {"seconds": 10.0, "cpu": 0.1}, 500),  # waiting for a disk counts for less
        (SOMETHING, {}, 2),
        (Difference(removed=("a",)), {}, 2),
        (NOTHING, {"has_new_watches": True}, 0),  # what came before the watch did was not reported
        (SOMETHING, {"is_polling": True}, 1),
        (NOTHING, {"is_polling": True, "cpu": 0.1}, 20),
    ):
        assert after_scan(Loop(), found, **facts)[0].scan_at == pytest.approx(100 + pause), (found, facts)


def test_polling_is_announced_once():
    state, warning = after_scan(Loop(), NOTHING, cpu=0.1, has_new_watches=True, is_polling=True)
    assert "polling every 20 s" in warning
    assert after_scan(state, NOTHING, cpu=0.1, has_new_watches=True, is_polling=True) == (state, "")


def test_it_waits_for_news_in_short_ticks():
    state = Loop(scan_at=LATER).after_batches(5.0)
    ticks = [state.tick(now) for now in (5.0, 5.95, 6.0)]
    assert (state.until, ticks) == (6.0, pytest.approx([0.1, 0.05, 0]))
    due = Loop(scan_at=5.0).after_batches(5.0)
    assert (due.until, due.tick(5.0)) == (5.0, 0), "it does not wait when a scan is due"


def test_news_are_taken_once_it_is_quiet():
    quiet = Loop(quiet=0.08, until=6.0)
    state, left = quiet.settle(5.0, 1, 5.0)
    assert left == pytest.approx(0.08)
    state, left = state.settle(5.08, 2, 5.05)
    assert left == pytest.approx(0.05)
    assert state.settle(5.14, 2, 5.05) == (quiet, 0)
    assert Loop(until=5.0).settle(5.1, 1, 5.1)[1] > 0, "news after the time to wait are settled too"
    state, left = Loop(until=6.0).settle(5.0, 21, 5.0)
    assert (left, state.settle(5.4, 500, 5.3)[1] > 0) == (pytest.approx(0.5), True), "a burst takes a longer quiet"
    state, left = quiet.settle(5.0, 0, 0.0)
    assert (left, state.settle(5.08, 0, 0.0)[1]) == (pytest.approx(0.08), 0), "a commit without an event"


def test_a_burst_without_an_end_is_taken_all_the_same():
    state, now = Loop(until=6.0), 5.0
    for _ in range(1_000):
        state, left = state.settle(now, 500, now)
        if not left:
            break
        now += left
    assert now == pytest.approx(10.0)


earlier, times = st.floats(0, 100), st.floats(100, 1e6)
states = st.builds(Loop, st.floats(0, 5), st.booleans(), times, st.floats(0, 1e3), times, st.none() | earlier)


@given(states, times, st.integers(0, 2_000), earlier)
def test_no_wait_is_long_and_none_is_negative(state: Loop, now: float, events: int, last: float):
    settled, left = state.settle(now, events, last)
    assert 0 <= left <= 5.0
    assert (settled.settling is None) == (left == 0)
    assert 0 <= state.tick(now) <= 1.0
    assert 0 <= state.after_batches(now).tick(now) <= 1.0
