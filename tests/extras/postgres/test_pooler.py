"""A pooler between memcli and the server."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import psycopg
import pytest

from memcli.errors import StoreError
from memcli.extras.postgres.address import address_of
from memcli.extras.postgres.connection import BoundedConnection, check_pooler

ADDRESS = address_of("postgresql://ann:a-word@pooler:6432/team", "memcli")


def behind(process: int) -> Any:
    """A connection that this process of the server answers."""
    connection = Mock(psycopg.Connection)
    connection.execute.return_value.fetchone.return_value = (process,)
    return connection


def test_a_pooler_that_shares_sessions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedConnection, "connect", lambda *_, **__: behind(1))
    check_pooler(behind(2), ADDRESS)

    with pytest.raises(StoreError, match=r"the pooler at pooler:6432 shares sessions") as caught:
        check_pooler(behind(1), ADDRESS)
    assert ("a-word" in str(caught.value), "\n" in caught.value.message) == (False, False)
