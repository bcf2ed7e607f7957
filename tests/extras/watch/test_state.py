"""What a watch has seen, as values and in `local/`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.app.workspace import Workspace
from memcli.extras.watch import storing
from memcli.extras.watch.scan import UNKNOWN, Stamp, WatchState
from memcli.extras.watch.storing import WatchFiles
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


SEEN = WatchState("0" * 40, {"a": Stamp(1, 2, "x"), "b": Stamp(3, 4, "y")})
SECRET = "ann@corp.io"


@pytest.fixture
def files(workspace: Workspace) -> WatchFiles:
    Path(workspace.root, "local").mkdir(exist_ok=True)
    return WatchFiles(workspace)


def local(workspace: Workspace, name: str) -> Path:
    return Path(workspace.root, "local", f"{workspace.space}.{name}")


def test_what_was_saved_is_loaded_and_what_was_not_is_in_doubt(files: WatchFiles):
    assert files.load() is None
    files.save(SEEN)
    assert files.load() == SEEN
    files.doubt(Batch(("b",), ("gone",), moved=(("old\udce9", "new"),)))
    files.doubt(Batch(commits="x..y"))
    loaded = files.load()
    assert loaded == SEEN.doubting(["b", "gone", "old\udce9", "new"])
    assert loaded.files["b"] == UNKNOWN
    files.save(SEEN)
    assert files.load() == SEEN


def test_the_doubts_go_after_the_state_that_answers_them_is_there(files: WatchFiles, monkeypatch: pytest.MonkeyPatch):
    calls: list[str] = []

    def note(name: str) -> Callable[..., None]:
        return lambda path, *_, **__: calls.append(f"{name} {Path(path).suffix}")

    for name in ("append_line", "write_file", "remove_quietly"):
        monkeypatch.setattr(storing, name, note(name))
    files.doubt(Batch(("a",)))
    files.save(SEEN)
    assert calls == ["append_line .doubts", "write_file .json", "remove_quietly .doubts"]


def test_a_line_that_was_cut_off_spoils_no_other(files: WatchFiles, workspace: Workspace):
    doubts = local(workspace, "watch.doubts")
    for cut in range(1, 14):
        doubts.unlink(missing_ok=True)
        files.doubt(Batch(("first",)))
        files.doubt(Batch(("a",)))
        doubts.write_bytes(doubts.read_bytes()[:-cut])
        files.doubt(Batch(("last",)))
        loaded = files.load()
        assert loaded is not None
        assert "last" in loaded.files
        assert cut > 8 or "first" in loaded.files


def test_a_state_that_is_damaged_is_none(files: WatchFiles, workspace: Workspace):
    for damaged in (b"{", b"\xff", b"[" * 100_000):
        local(workspace, "watch.json").write_bytes(damaged)
        assert files.load() is None


def test_no_name_that_is_a_secret_is_written_down(files: WatchFiles):
    files.doubt(Batch(("a", SECRET), (f"b/{SECRET}",)))
    assert files.load() == WatchState().doubting(["a"])
    files.save(SEEN.doubting([SECRET]))
    assert files.load() == SEEN
