"""The trash in files; what every trash promises is in `test_contract.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.run import decode_run, encode_run
from memcli.codec.space import encode_memory, encode_space
from memcli.errors import StoreError
from memcli.model.space import Space
from memcli.record import replace
from memcli.store.layout import Layout
from memcli.store.trash import FileTrash
from tests.conftest import NOW, memory
from tests.store.conftest import fail_to_read
from tests.strategies import json_values, memories, words

BOTH = Space("main", (memory("a"), memory("b")))
ONE = Space("main", (memory("a"),))


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def trash(layout: Layout, told: list[str]) -> FileTrash:
    return FileTrash(layout, lambda: NOW, "forget", told.append)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".memory" / "local" / "trash"


@given(st.lists(memories(), max_size=4, unique_by=lambda m: m.id), st.dictionaries(words, json_values, max_size=2))
def test_what_goes_in_comes_out_byte_for_byte(objects: list, extra: dict) -> None:
    space = Space("main", tuple(sorted(objects, key=lambda m: m.order)), extra={f"x_{k}": v for k, v in extra.items()})
    name, data = encode_run(NOW, "gc", space)
    run = decode_run(name, data, "here")
    assert (run.name, run.removed_at, run.command, run.space) == (name, NOW, "gc", space)
    assert [encode_memory(m) for m in run.space.objects] == [encode_memory(m) for m in space.objects]
    assert encode_run(NOW, "gc", space) == (name, data)


def test_all_files_are_for_their_owner_alone_also_one_that_is_written_again(trash: FileTrash, folder: Path) -> None:
    trash.keep(BOTH)
    trash.drop(trash.runs()[0], {"mem_a"})
    assert [[m.id for m in run.space.objects] for run in trash.runs()] == [["mem_b"]]
    assert [file.stat().st_mode & 0o777 for file in folder.iterdir()] == [0o600]


def test_what_is_erased_is_in_no_run_of_its_space(trash: FileTrash) -> None:
    trash.keep(BOTH)
    trash.keep(replace(BOTH, name="other"))
    assert [m.id for m in trash.erase("main", {"mem_a": ""})] == ["mem_a"]
    left = {run.space.name: [m.id for m in run.space.objects] for run in trash.runs()}
    assert left == {"main": ["mem_b"], "other": ["mem_a", "mem_b"]}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", encode_space(Space("main"))])
def test_a_damaged_run_is_told_of_and_left_out(trash: FileTrash, folder: Path, told: list[str], data: bytes) -> None:
    trash.keep(ONE)
    (folder / "20250101T000000Z-00000000.json").write_bytes(data)
    (folder / "notes.json").write_bytes(data)
    (folder / "20240101T000000Z-00000000.json").mkdir()
    assert (len(trash.runs()), len(told)) == (1, 2)


def test_no_link_leads_out_of_the_store(trash: FileTrash, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder.parent.mkdir()
    folder.symlink_to(outside)
    acts: list[Callable[[], object]] = [trash.runs, lambda: trash.keep(ONE)]
    for act in acts:
        with pytest.raises(StoreError, match="symbolic link"):
            act()
    assert list(outside.iterdir()) == []


def test_a_run_that_cannot_be_read_is_left_out_and_ends_an_erasure(
    trash: FileTrash, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = trash.keep(ONE)
    monkeypatch.setattr("memcli.store.trash.read_regular", fail_to_read)
    skipped: list[str] = []
    assert (trash.runs(skipped.append), told) == ([], [])
    assert skipped == [f"cannot read local/trash/{name}.json: Input/output error (skipped)"]
    assert (trash.runs(), told) == ([], skipped)
    with pytest.raises(StoreError, match="cannot read local/trash/"):
        trash.erase("main", {"mem_a": ""})
