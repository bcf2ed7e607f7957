from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.extras.watch.scan import UNKNOWN, SavedState, Stamp, WatchState
from memcli.model.changes import Batch

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


@dataclass
class InMemory:
    """The files of a watch, as a watch that is killed between two calls leaves them."""

    files: dict[str, bytes] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def read(self, name: str) -> bytes:
        return self.files.get(name, b"")

    def write(self, name: str, data: bytes) -> None:
        self.calls.append(f"write {name}")
        self.files[name] = data

    def append(self, name: str, line: bytes) -> None:
        self.calls.append(f"append {name}")
        self.files[name] = self.read(name) + b"\n" + line + b"\n"

    def remove(self, name: str) -> None:
        self.calls.append(f"remove {name}")
        self.files.pop(name, None)

    def without_secrets(self, paths: Sequence[str]) -> Sequence[str]:
        return [path for path in paths if "secret" not in path]


SEEN = WatchState("0" * 40, {"a": Stamp(1, 2, "x"), "b": Stamp(3, 4, "y")})


def test_without_files_there_is_no_state():
    assert SavedState(InMemory()).load() is None


def test_what_was_saved_is_loaded():
    local = InMemory()
    SavedState(local).save(SEEN)
    assert SavedState(local).load() == SEEN


def test_a_batch_that_was_not_saved_is_in_doubt():
    local = InMemory()
    SavedState(local).save(SEEN)
    SavedState(local).doubt(Batch(("b",), ("gone",), moved=(("old\udce9", "new"),)))
    SavedState(local).doubt(Batch(commits="x..y"))
    loaded = SavedState(local).load()
    assert loaded == SEEN.doubting(["b", "gone", "old\udce9", "new"])
    assert loaded.files["b"] == UNKNOWN
    SavedState(local).save(SEEN)
    assert SavedState(local).load() == SEEN


def test_the_doubts_go_after_the_state_that_answers_them_is_there():
    local = InMemory()
    SavedState(local).doubt(Batch(("a",)))
    SavedState(local).save(SEEN)
    assert local.calls == ["append watch.doubts", "write watch.json", "remove watch.doubts"]


@pytest.mark.parametrize("cut", range(1, 14))
def test_a_line_that_was_cut_off_spoils_no_other(cut: int):
    local = InMemory()
    SavedState(local).doubt(Batch(("first",)))
    SavedState(local).doubt(Batch(("a",)))
    local.files["watch.doubts"] = local.files["watch.doubts"][:-cut]
    SavedState(local).doubt(Batch(("last",)))
    loaded = SavedState(local).load()
    assert loaded is not None
    assert "last" in loaded.files
    assert cut > 8 or "first" in loaded.files


def test_a_state_that_is_damaged_is_none():
    for damaged in (b"{", b"\xff", b"[" * 100_000):
        assert SavedState(InMemory({"watch.json": damaged})).load() is None


def test_no_name_that_is_a_secret_is_written_down():
    local = InMemory()
    SavedState(local).doubt(Batch(("a", "secret"), ("secret2",)))
    assert SavedState(local).load() == WatchState().doubting(["a"])
    SavedState(local).save(SEEN.doubting(["secret"]))
    assert SavedState(local).load() == SEEN
