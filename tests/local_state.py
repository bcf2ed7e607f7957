"""What tests look at in the local state of a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memcli.store.layout import Layout
from memcli.store.state import State


def state_of(folder: Path) -> State:
    """The local state of the store in `folder`."""
    return State(Layout(str(folder / ".memory")))


def rows(folder: Path, table: str) -> list[tuple[Any, ...]]:
    """The rows of a table of the local state of the store in `folder`."""
    return state_of(folder).rows(f"SELECT * FROM {table}")


def reported(folder: Path) -> list[dict[str, Any]]:
    """What hooks reported of sessions in the store in `folder`, oldest first."""
    return [json.loads(entry) for _, entry in rows(folder, "spool")]


def local_bytes(folder: Path) -> bytes:
    """All bytes of the files of the local state of the store in `folder`."""
    return b"".join(file.read_bytes() for file in sorted((folder / ".memory/local").glob("state.db*")))
