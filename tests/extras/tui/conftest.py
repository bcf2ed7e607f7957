"""The store that the browser shows."""

from pathlib import Path

import pytest

from memcli.app.workspace import Workspace
from memcli.wiring.roots import make_store
from memcli.wiring.workspace import open_workspace
from tests.extras.tui.stage import T


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    make_store({"root": str(tmp_path)}, {})
    environ = {"MEMCLI_EMBEDDER": "hashed", "MEMCLI_FREEZE_CLOCK": T}
    return open_workspace({"root": str(tmp_path)}, environ)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
