from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.run import decode_run, encode_run
from memcli.codec.space import encode_memory
from memcli.errors import CorruptError, StoreError
from memcli.model.space import Space
from memcli.record import replace
from memcli.store.layout import Layout, make_root
from memcli.store.trash import FileTrash
from tests.conftest import NOW, memory
from tests.strategies import json_values, memories, words

Open = Callable[..., FileTrash]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def open_trash(tmp_path: Path, told: list[str]) -> Open:
    make_root(str(tmp_path / ".memory"))
    return lambda now=NOW: FileTrash(Layout(str(tmp_path / ".memory")), lambda: now, "forget", told.append)


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / ".memory" / "local" / "trash").glob("*"))


@given(st.lists(memories(), max_size=4, unique_by=lambda m: m.id), st.dictionaries(words, json_values, max_size=2))
def test_what_goes_in_comes_out_byte_for_byte(objects: list, extra: dict) -> None:
    space = Space("main", tuple(sorted(objects, key=lambda m: m.order)), extra={f"x_{k}": v for k, v in extra.items()})
    name, data = encode_run(NOW, "gc", space)
    run = decode_run(name, data, "here")
    assert (run.name, run.removed_at, run.command, run.space) == (name, NOW, "gc", space)
    assert [encode_memory(m) for m in run.space.objects] == [encode_memory(m) for m in space.objects]
    assert encode_run(NOW, "gc", space) == (name, data)


def test_runs_are_kept_newest_first_and_dropped(open_trash: Open, tmp_path: Path) -> None:
    first = open_trash("2026-01-01T00:00:00Z").keep(Space("main", (memory("a"), memory("b"))))
    second = open_trash().keep(Space("main", (memory("a"),)))
    third = open_trash().keep(Space("main", (memory("a"),)))  # the same in the same second is another run
    trash = open_trash()
    assert [run.name for run in trash.runs()] == [third, second, first]
    assert third.startswith(second)
    oldest = trash.runs()[-1]
    trash.drop(oldest, {"mem_a"})
    assert [m.id for m in trash.runs()[-1].space.objects] == ["mem_b"]
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files(tmp_path))  # also the one that was written again
    trash.drop(oldest, {"mem_a", "mem_b"})
    trash.drop(oldest, {"mem_a", "mem_b"})  # nothing is left to do
    assert [run.name for run in trash.runs()] == [third, second]


def test_what_is_erased_is_in_no_run_of_its_space(open_trash: Open, tmp_path: Path) -> None:
    trash = open_trash()
    kept = Space("main", (memory("a"), memory("b")))
    trash.keep(kept)
    trash.keep(replace(kept, name="other"))
    assert [m.id for m in trash.erase("main", {"mem_a": ""})] == ["mem_a"]
    assert sorted((run.space.name, [m.id for m in run.space.objects]) for run in trash.runs()) == [
        ("main", ["mem_b"]),
        ("other", ["mem_a", "mem_b"]),
    ]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format": "memcli/space", "version": 1}'])
def test_a_damaged_run_is_told_of_and_left_out(open_trash: Open, tmp_path: Path, told: list[str], data: bytes) -> None:
    trash = open_trash()
    trash.keep(Space("main", (memory("a"),)))
    (tmp_path / ".memory" / "local" / "trash" / "20250101T000000Z-00000000.json").write_bytes(data)
    (tmp_path / ".memory" / "local" / "trash" / "notes.json").write_bytes(data)
    (tmp_path / ".memory" / "local" / "trash" / "20240101T000000Z-00000000.json").mkdir()
    assert len(trash.runs()) == 1
    assert len(told) == 2


def test_no_link_leads_out_of_the_store(open_trash: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / ".memory" / "local").mkdir()
    (tmp_path / ".memory" / "local" / "trash").symlink_to(outside)
    trash = open_trash()
    for act in (trash.runs, lambda: trash.keep(Space("main", (memory("a"),)))):
        with pytest.raises(StoreError, match="symbolic link"):
            act()
    assert list(outside.iterdir()) == []


def test_a_space_file_is_no_run(tmp_path: Path) -> None:
    from memcli.codec.space import encode_space

    with pytest.raises(CorruptError, match="no record of what removed it"):
        decode_run("x", encode_space(Space("main")), "here")


def unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("memcli.store.trash.read_regular", fail)


def test_a_run_that_cannot_be_read_is_left_out(
    open_trash: Open, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = open_trash().keep(Space("main", (memory("a"),)))
    unreadable(monkeypatch)
    skipped: list[str] = []
    assert (open_trash().runs(skipped.append), told) == ([], [])
    assert skipped == [f"cannot read local/trash/{name}.json: Input/output error (skipped)"]
    assert (open_trash().runs(), told) == ([], skipped)


def test_a_run_that_cannot_be_read_ends_an_erasure(open_trash: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    open_trash().keep(Space("main", (memory("a"),)))
    unreadable(monkeypatch)
    with pytest.raises(StoreError, match="cannot read local/trash/"):
        open_trash().erase("main", {"mem_a": ""})
