"""Workspaces on files, and on a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memcli.app.workspace import Workspace
from memcli.extras.postgres.opening import close_servers
from memcli.wiring.workspace import open_workspace
from tests.conftest import open_at
from tests.servers import new_schema


@contextmanager
def on_server(folder: Path, url: str, **environ: str) -> Iterator[Workspace]:
    """A workspace on the store in `folder`, with its spaces in a new schema of the server at `url`."""
    open_at(folder, **environ)
    with new_schema(url) as schema:
        given = {**os.environ, **environ, "MEMCLI_STORE": url, "MEMCLI_STORE_SCHEMA": schema}
        yield open_workspace({"root": str(folder)}, given)
        close_servers()


@contextmanager
def both(folder: Path, url: str, **environ: str) -> Iterator[tuple[Workspace, Workspace]]:
    """A workspace on files, and one on the server."""
    with on_server(folder / "server", url, **environ) as other:
        yield open_at(folder / "files", **environ), other
