"""When the watch looks at what, by values alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.watch.loop import (
    Action,
    Look,
    Looked,
    Loop,
    Rest,
    Scan,
    Scanned,
    Sleep,
    Take,
    Tell,
    Told,
    Took,
    Wait,
    Warn,
    Woke,
    step,
)
from memcli.watch.scan import Difference

NOTHING = Difference()
SOMETHING = Difference(changed=("a",))
PATHS = frozenset(["a"])
LATER = 1_000.0
"""When the next scan is due, in most of these."""


def seconds_of(action: Action) -> float:
    assert isinstance(action, Wait | Sleep)
    return action.seconds


def after_scan(found: Difference, **facts: object) -> Loop:
    values = {"seconds": 0.0, "cpu": 0.0, "has_new_watches": False, "is_polling": False, **facts}
    return step(Loop(), Scanned(now=100.0, found=found, **values))[0]  # type: ignore[arg-type]


def test_it_begins_with_a_scan():
    assert step(Loop(), Took(5.0))[1] == (Scan(frozenset()),)


@pytest.mark.parametrize(
    ("event", "action"),
    [
        (Took(5.0, PATHS), Look(PATHS)),
        (Took(5.0), Look(frozenset())),  # a commit may have come, though no file has changed
        (Took(5.0, PATHS, needs_scan=True), Scan(PATHS)),
        (Took(LATER, PATHS), Scan(PATHS)),
    ],
)
def test_files_that_events_name_are_read_unless_a_scan_is_due(event: Took, action: Action):
    assert step(Loop(scan_at=LATER), event) == (Loop(scan_at=LATER), (action,))


def test_what_is_found_is_passed_on():
    assert step(Loop(scan_at=LATER), Looked(5.0, SOMETHING, has_paths=True))[1] == (Tell(SOMETHING),)
    assert step(Loop(), Scanned(5.0, 0, 0, SOMETHING, has_new_watches=False, is_polling=False))[1] == (Tell(SOMETHING),)


def test_a_scan_follows_changes_since_events_get_lost():
    state, _ = step(Loop(scan_at=LATER), Looked(5.0, NOTHING, has_paths=True))
    assert state.scan_at == 7.0
    assert step(state, Looked(6.0, NOTHING, has_paths=True))[0].scan_at == 7.0  # changes do not put it off
    assert step(Loop(scan_at=LATER), Looked(5.0, NOTHING, has_paths=False))[0].scan_at == LATER


def test_after_costly_scans_it_follows_later():
    assert step(Loop(scan_at=LATER, cost=0.5), Looked(5.0, NOTHING, has_paths=True))[0].scan_at == 15.0


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
    assert after_scan(found, **facts).scan_at == pytest.approx(100 + pause)


def test_polling_is_announced_once():
    event = Scanned(5.0, 0.0, 0.1, NOTHING, has_new_watches=True, is_polling=True)
    state, (warning, _) = step(Loop(), event)
    assert isinstance(warning, Warn)
    assert "polling every 20 s" in warning.text
    assert step(state, event)[1] == (Tell(NOTHING),)


def test_it_waits_for_news_in_short_ticks():
    state, actions = step(Loop(scan_at=LATER), Told(5.0))
    assert (state.until, actions) == (6.0, (Wait(0.1),))
    state, actions = step(state, Woke(5.95, has_news=False))
    assert seconds_of(actions[0]) == pytest.approx(0.05)
    assert step(state, Woke(6.0, has_news=False))[1] == (Rest(), Take())


def test_it_does_not_wait_when_a_scan_is_due():
    state, actions = step(Loop(scan_at=5.0), Told(5.0))
    assert (state.until, actions) == (5.0, (Wait(0),))


def test_a_save_is_taken_once_it_is_quiet():
    state, (sleep,) = step(Loop(quiet=0.08, until=6.0), Woke(5.0, True, 1, 5.0))
    assert seconds_of(sleep) == pytest.approx(0.08)
    state, (sleep,) = step(state, Woke(5.08, True, 2, 5.05))
    assert seconds_of(sleep) == pytest.approx(0.05)
    assert step(state, Woke(5.14, True, 2, 5.05)) == (Loop(quiet=0.08, until=6.0), (Take(),))


def test_news_after_the_time_to_wait_is_settled_too():
    assert isinstance(step(Loop(until=5.0), Woke(5.1, True, 1, 5.1))[1][0], Sleep)


def test_a_burst_is_taken_after_a_longer_quiet():
    state, (sleep,) = step(Loop(until=6.0), Woke(5.0, True, 21, 5.0))
    assert seconds_of(sleep) == pytest.approx(0.5)
    assert isinstance(step(state, Woke(5.4, True, 500, 5.3))[1][0], Sleep)


def test_a_burst_without_an_end_is_taken_all_the_same():
    state, now = Loop(until=6.0), 5.0
    for _ in range(1_000):
        state, (action,) = step(state, Woke(now, True, 500, now))
        if isinstance(action, Take):
            break
        now += seconds_of(action)
    assert now == pytest.approx(10.0)


def test_a_commit_without_an_event_is_taken_after_the_quiet():
    state, (sleep,) = step(Loop(quiet=0.08, until=6.0), Woke(5.0, True))
    assert seconds_of(sleep) == pytest.approx(0.08)
    assert step(state, Woke(5.08, True))[1] == (Take(),)


earlier, times = st.floats(0, 100), st.floats(100, 1e6)
found = st.sampled_from([NOTHING, SOMETHING])
events = st.one_of(
    st.builds(Woke, times, st.booleans(), st.integers(0, 2_000), earlier), st.builds(Took, times, st.just(PATHS), st.booleans()),
    st.builds(Looked, times, found, st.booleans()), st.builds(Told, times),
    st.builds(Scanned, times, st.floats(0, 1e3), st.floats(0, 1e3), found, st.booleans(), st.booleans()),
)  # fmt: skip
states = st.builds(Loop, st.floats(0, 5), st.booleans(), times, st.floats(0, 1e3), times, st.none() | earlier)


@given(states, events)
def test_whatever_happens_the_last_action_is_answered_and_no_wait_is_long(state: Loop, event: object):
    _, actions = step(state, event)  # type: ignore[arg-type]
    assert all(isinstance(action, Rest | Warn) for action in actions[:-1])
    assert isinstance(actions[-1], Take | Look | Scan | Tell | Wait | Sleep)
    if isinstance(actions[-1], Wait | Sleep):
        assert 0 <= actions[-1].seconds <= 5.0
