"""What every index promises is tried on files and on a server: `parametrize("workspace", KINDS, indirect=True)`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.app.workspace import Workspace
from tests.conftest import open_at
from tests.extras.postgres.stores import on_server


@pytest.fixture
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace on a new, empty store, in files unless the test asks for another kind."""
    if getattr(request, "param", "files") == "files":
        yield open_at(tmp_path)
        return
    with on_server(tmp_path, request.getfixturevalue("postgres")) as found:
        yield found
