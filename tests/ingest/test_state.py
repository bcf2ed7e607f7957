from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memcli.ingest.state import Stamp, WatchState

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
values = st.one_of(
    scalars, st.lists(scalars, max_size=4), st.dictionaries(st.text(max_size=8), st.lists(scalars, max_size=4))
)


def test_comes_back_as_it_was():
    files = {"a.txt": Stamp(1, 2, "abc"), "caf\udce9.txt": Stamp(3, 4, ""), "é": Stamp(0, 0, "x")}
    for state in (WatchState(), WatchState("", files), WatchState("0" * 40, files)):
        text = json.dumps(state.to_json(), ensure_ascii=False).encode()
        assert WatchState.from_json(json.loads(text)) == state


@given(st.one_of(values, st.fixed_dictionaries({"head": values, "files": values})))
def test_whatever_else_comes_is_an_empty_state_at_worst(value: object):
    assert isinstance(WatchState.from_json(value), WatchState)


def test_only_what_is_damaged_is_left_out():
    damaged = {"head": 1, "files": {"a": [1, 2, "x"], "b": [1, 2], "c": None, "//zz": [1, 2, "x"], "d": ["1", 2, "x"]}}
    assert WatchState.from_json(damaged).files == {"a": Stamp(1, 2, "x"), "//zz": Stamp(1, 2, "x")}
