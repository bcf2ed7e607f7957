"""What the tests of stores share: the places of a new, empty store."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.store.layout import Layout, make_root


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The layout of a new store, whose private state is in its folder `local/`."""
    make_root(str(tmp_path / ".memory"))
    return Layout(str(tmp_path / ".memory"))
