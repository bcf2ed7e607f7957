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


def test_after_costly_scans_it_follows_later():
    assert Loop(scan_at=LATER, cost=0.5).after_look(5.0, has_paths=True).scan_at == 15.0


@pytest.mark.parametrize(
    ("found", "facts", "pause"),
    [
        (NOTHING, {}, 60),
        (NOTHING, {"cpu": 0.5}, 500),
        (NOTHING, {"seconds": 10.0, "cpu": 0.1}, 500),  # waiting for a disk counts for less
        (SOMETHING, {}, 2),
        (Difference(removed=("a",)), {}, 2),
        (NOTHING, {"has_new_watches": True}, 0),  # what came before the watch did was not reported
        (SOMETHING, {"is_polling": True}, 1),
        (NOTHING, {"is_polling": True, "cpu": 0.1}, 20),
    ],
)
def test_the_time_to_the_next_scan(found: Difference, facts: dict[str, object], pause: float):
    assert after_scan(Loop(), found, **facts)[0].scan_at == pytest.approx(100 + pause)


def test_polling_is_announced_once():
    state, warning = after_scan(Loop(), NOTHING, cpu=0.1, has_new_watches=True, is_polling=True)
    assert "polling every 20 s" in warning
    assert after_scan(state, NOTHING, cpu=0.1, has_new_watches=True, is_polling=True) == (state, "")


def test_it_waits_for_news_in_short_ticks():
    state = Loop(scan_at=LATER).after_tell(5.0)
    assert (state.until, state.tick(5.0)) == (6.0, 0.1)
    assert state.tick(5.95) == pytest.approx(0.05)
    assert state.tick(6.0) == 0


def test_it_does_not_wait_when_a_scan_is_due():
    state = Loop(scan_at=5.0).after_tell(5.0)
    assert (state.until, state.tick(5.0)) == (5.0, 0)


def test_a_save_is_taken_once_it_is_quiet():
    state, left = Loop(quiet=0.08, until=6.0).settle(5.0, 1, 5.0)
    assert left == pytest.approx(0.08)
    state, left = state.settle(5.08, 2, 5.05)
    assert left == pytest.approx(0.05)
    assert state.settle(5.14, 2, 5.05) == (Loop(quiet=0.08, until=6.0), 0)


def test_news_after_the_time_to_wait_is_settled_too():
    assert Loop(until=5.0).settle(5.1, 1, 5.1)[1] > 0


def test_a_burst_is_taken_after_a_longer_quiet():
    state, left = Loop(until=6.0).settle(5.0, 21, 5.0)
    assert left == pytest.approx(0.5)
    assert state.settle(5.4, 500, 5.3)[1] > 0


def test_a_burst_without_an_end_is_taken_all_the_same():
    state, now = Loop(until=6.0), 5.0
    for _ in range(1_000):
        state, left = state.settle(now, 500, now)
        if not left:
            break
        now += left
    assert now == pytest.approx(10.0)


def test_a_commit_without_an_event_is_taken_after_the_quiet():
    state, left = Loop(quiet=0.08, until=6.0).settle(5.0, 0, 0.0)
    assert left == pytest.approx(0.08)
    assert state.settle(5.08, 0, 0.0)[1] == 0


earlier, times = st.floats(0, 100), st.floats(100, 1e6)
states = st.builds(Loop, st.floats(0, 5), st.booleans(), times, st.floats(0, 1e3), times, st.none() | earlier)


@given(states, times, st.integers(0, 2_000), earlier)
def test_no_wait_is_long_and_none_is_negative(state: Loop, now: float, events: int, last: float):
    settled, left = state.settle(now, events, last)
    assert 0 <= left <= 5.0
    assert (settled.settling is None) == (left == 0)
    assert 0 <= state.tick(now) <= 1.0
    assert 0 <= state.after_tell(now).tick(now) <= 1.0
