"""What files alone promise of a store: bytes that others wrote, links, full disks and the place of a store."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.codec.space import encode_full, encode_space
from memcli.errors import CorruptError, MemcliError, StoreError
from memcli.model.space import Change, Space
from memcli.ports import Shelf, Store
from memcli.store.atomic import TEMP_MARK, create_file, fingerprint_of, place_file, replace_file, write_file
from memcli.store.layout import Layout, find_root
from memcli.store.lock import locked
from tests.conftest import NOW, memory, rewrite
from tests.store.kinds import in_files


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return in_files(tmp_path).store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of the space main."""
    return tmp_path / ".memory" / "spaces" / "main.json"


def put(store: Store, *names: str) -> Space:
    return rewrite(store, lambda space: space.put([memory(name) for name in names], NOW))


def test_fetch_reads_places_and_falls_back_to_the_file(store: Store, file: Path) -> None:
    put(store, "a", "b")
    snapshot = store.open("main")
    assert file.read_bytes() == encode_space(snapshot.load())
    places = [(f"mem_{name}", start, len(data)) for name, (data, start) in zip("ab", snapshot.records(), strict=True)]
    assert [m.id for m in snapshot.fetch(places[::-1])] == ["mem_b", "mem_a"]
    wrong = [("mem_b", places[0][1], places[0][2]), ("mem_a", 3, 7), ("mem_a", -1, 0)]
    assert [m.id for m in snapshot.fetch(wrong)] == ["mem_b", "mem_a", "mem_a"]
    with pytest.raises(CorruptError):
        snapshot.fetch([("mem_none", 0, 1)])


@pytest.mark.parametrize("is_noted", [False, True])
def test_a_file_of_version_1_is_read_as_it_is_and_written_in_version_2(
    store: Store, file: Path, tmp_path: Path, is_noted: bool
) -> None:
    before = put(store, "a", "b")
    file.write_bytes(encode_full(before))
    if is_noted:  # by the memcli that wrote it
        with locked(Layout(str(tmp_path / ".memory")).lock("main"), "the space") as held:
            assert held is not None
            held.leave(fingerprint_of(file.stat()))
    snapshot = store.open("main")
    found = list(snapshot.records())
    assert [start for _, start in found] == [file.read_bytes().index(data) for data, _ in found]
    assert [snapshot.decode(data) for data, _ in found] == list(before.objects) == list(snapshot.memories())
    places = [(f"mem_{name}", start, len(data)) for name, (data, start) in zip("ab", found, strict=True)]
    assert snapshot.fetch(places) == list(before.objects)
    rewrite(store, lambda space: space)
    assert file.read_bytes() == encode_full(before)
    assert encode_space(put(store, "c")) == file.read_bytes()


def test_a_file_under_another_name_is_refused(store: Store, file: Path) -> None:
    put(store, "a")
    data = file.read_bytes()
    file.with_name("other.json").write_bytes(data)
    with pytest.raises(CorruptError, match="contains space 'main'"):
        store.open("other").load()
    for end in (b"\n", b',\n  "up'):
        data = data.replace(b'"space": "main"' + end, b'"space": "../../x"' + end)
    file.write_bytes(data)
    with pytest.raises(CorruptError, match=r"contains space '../../x'") as caught:
        store.open("main").load()
    assert ".." not in caught.value.hint


def test_a_link_is_never_followed(store: Store, file: Path, tmp_path: Path) -> None:
    target = tmp_path / "secret.json"
    target.write_text("{}")
    file.symlink_to(target)
    with pytest.raises(StoreError, match="symbolic link"):
        store.open("main")
    for write in (lambda: put(store, "a"), lambda: write_file(str(file), b"{}")):
        with pytest.raises(StoreError, match="symbolic link"):
            write()
    assert (target.read_text(), file.is_symlink()) == ("{}", True)


@pytest.mark.parametrize("write", [write_file, replace_file, place_file, create_file], ids=lambda one: one.__name__)
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, write: Callable[..., object]) -> None:
    file = tmp_path / "f"
    write_file(str(file), b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    error, says = (StoreError, "cannot write") if write is write_file else (OSError, "File too large")
    try:
        with pytest.raises(error, match=says):
            write(str(file), b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"old", ["f"])


@pytest.mark.skipif(os.name == "nt", reason="the file is read whole there")
@pytest.mark.parametrize("cut", [True, False])
def test_a_file_that_changes_while_it_is_copied_is_left_alone(store: Store, file: Path, cut: bool) -> None:
    put(store, "a", "b", "c")
    edited = file.read_bytes()[:400] if cut else file.read_bytes().replace(b"text of b", b"EDITED  ")

    def change(shelf: Shelf) -> Change:
        assert shelf.get("mem_c") is not None
        file.write_bytes(edited)
        return Change((memory("d"),), now=NOW)

    with pytest.raises(MemcliError, match="changed while it was being read"):
        store.update("main", change)
    assert file.read_bytes() == edited
    assert [name for name in os.listdir(file.parent) if TEMP_MARK in name] == []


def test_a_temporary_file_of_a_killed_writer_is_in_nobodys_way(store: Store, file: Path) -> None:
    file.with_name(f".main.json{TEMP_MARK}{os.getpid()}").write_text("half")
    put(store, "a")
    assert store.spaces() == ["main"]


def test_the_store_is_found_from_below(layout: Layout, tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_root(str(below), "/nowhere") == layout.root
    assert find_root(str(below), str(tmp_path / "a")) is None  # the search ends at home
