"""No folder on the way below a root is a link: not even one that takes the place of a folder between check and use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli import beneath
from memcli.errors import StoreError
from memcli.store import atomic
from memcli.store.atomic import read_regular
from memcli.store.layout import make_root
from memcli.store.lock import locked
from memcli.store.place import _tighten
from memcli.store.snapshot import FileSnapshot


def swapped(folder: Path) -> Path:
    """A folder elsewhere, which a link in the place of `folder` leads to; it has a copy of what was there."""
    outside = folder.parents[2] / "outside"
    folder.rename(outside)
    folder.symlink_to(outside)
    return outside


def facts(folder: Path) -> list[tuple[str, bytes, int, int]]:
    return sorted(
        (str(p.relative_to(folder)), p.read_bytes() if p.is_file() else b"", p.stat().st_mode, p.stat().st_mtime_ns)
        for p in folder.rglob("*")
    )


WAYS: dict[str, Callable[[str], object]] = {
    "write": lambda path: atomic.write_file(path, b"x"),
    "place": lambda path: atomic.place_file(path, b"x"),
    "create": lambda path: atomic.create_file(path + "new", b"x"),
    "replace": lambda path: atomic.replace_file(path, b"x"),
    "overwrite": lambda path: atomic.overwrite_file(path, b"x"),
    "append": lambda path: atomic.append_line(path, b"x"),
    "append after": lambda path: atomic.append_after(path, b"x", 0),
    "folder": lambda path: atomic.make_folder(path + "/deep/er"),
    "remove": atomic.remove_file,
    "remove quietly": atomic.remove_quietly,
    "move away": lambda path: atomic.move_file(path, os.path.dirname(os.path.dirname(path)) + "/aside"),
    "tree": lambda path: beneath.remove_tree(os.path.dirname(path) + "/folder"),
    "lock": lambda path: locked(path + ".lock", "it").__enter__(),
    "read": lambda path: read_regular(path, 9),
    "space": lambda path: FileSnapshot("main", path),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("base", [".memory/local/deep", ".git/memcli/.memory", ".git/memcli/shop/.memory/sessions"])
def test_nothing_below_a_store_goes_through_a_link(way: str, base: str, tmp_path: Path) -> None:
    folder = tmp_path / "repo" / base
    (folder / "folder").mkdir(parents=True)
    (folder / "file").write_text("inside")
    if way == "folder":
        (folder / "file").unlink()
    outside = swapped(folder)
    before = facts(outside)
    try:
        WAYS[way](str(folder / "file"))
    except (OSError, StoreError):
        assert way != "remove quietly"
    else:
        assert way == "remove quietly"
    assert facts(outside) == before


def test_links_that_lead_to_a_store_are_followed(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".memory" / "local").mkdir(parents=True)
    (tmp_path / "way").symlink_to("repo")
    atomic.write_file(str(tmp_path / "way" / ".memory" / "local" / "x"), b"here")
    assert (tmp_path / "repo" / ".memory" / "local" / "x").read_bytes() == b"here"


@pytest.mark.parametrize("path", ["root/../file", "root2/file", "elsewhere"])
def test_what_is_outside_of_a_root_is_not_opened(tmp_path: Path, path: str) -> None:
    (tmp_path / "root2").mkdir()
    for name in ("file", "root2/file", "elsewhere"):
        (tmp_path / name).write_text("outside")
    (tmp_path / "root").mkdir()
    with pytest.raises(OSError, match="leads out of the folder"):
        beneath.open_file(str(tmp_path / path), os.O_RDONLY, root=str(tmp_path / "root"))


def test_an_error_names_the_whole_path_and_leaves_nothing_open(tmp_path: Path) -> None:
    make_root(str(tmp_path / ".memory"))
    path = str(tmp_path / ".memory" / "spaces" / "gone")
    before = os.listdir("/proc/self/fd")
    with pytest.raises(FileNotFoundError) as caught:
        beneath.unlink(path)
    assert caught.value.filename == path
    with pytest.raises(FileNotFoundError):
        beneath.unlink(str(tmp_path / ".memory" / "none" / "gone"))
    assert os.listdir("/proc/self/fd") == before


def test_rights_are_taken_off_no_folder_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "repo" / ".memory" / "local"
    folder.mkdir(parents=True)
    (folder / "file").write_text("x")
    outside = swapped(folder)
    outside.chmod(0o755)
    before = facts(outside)
    with pytest.raises(OSError, match="Not a directory"):
        _tighten(str(folder))
    assert (facts(outside), outside.stat().st_mode & 0o777) == (before, 0o755)
