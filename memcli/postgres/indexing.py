"""What a write changes in the index of its space, in its own transaction."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import Cursor

from memcli.model.memory import Memory


def write(cursor: Cursor, space: str, put: Sequence[Memory], removed: Sequence[str]) -> None:
    """Indexes what was put, and takes out what was removed."""
