"""What keeps tests in their own folders does refuse the others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memcli.store.layout import find_root
from tests.conftest import ROOT, OutsideWriteError


def test_nothing_is_written_to_the_checkout() -> None:
    with pytest.raises(OutsideWriteError):
        (ROOT / "README.md").open("a")
    with pytest.raises(OutsideWriteError):
        (ROOT / ".memory").mkdir()
    with pytest.raises(OutsideWriteError):
        (ROOT / "README.md").rename(ROOT / "READ")
    with pytest.raises(OutsideWriteError):
        (ROOT / "README.md").unlink()


def test_its_own_folders_are_free(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    Path("b").write_text("b")


def test_no_store_is_found_where_a_test_begins() -> None:
    assert find_root(os.getcwd(), os.path.expanduser("~")) is None
