"""What `memcli check store` finds on a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memcli.extras.postgres.address import address_of
from memcli.extras.postgres.health import check_spaces
from memcli.extras.postgres.server import Server
from tests.conftest import NOW, memory, rewrite
from tests.extras.postgres.test_faults import store_on
from tests.servers import new_schema


@pytest.fixture
def server(postgres: str) -> Iterator[Server]:
    with new_schema(postgres) as name:
        found = Server(address_of(postgres, name), 3)
        rewrite(store_on(found), lambda space: space.put([memory("a"), memory("b")], NOW))
        yield found
        found.close()


def test_a_sound_store_has_no_findings(server: Server) -> None:
    assert list(check_spaces(server)) == []


@pytest.mark.parametrize(
    ("damage", "kind", "name"),
    [
        ("UPDATE memory SET body = '{' WHERE id = 'mem_a'", "torn", ""),
        ("UPDATE memory SET path = 'elsewhere' WHERE id = 'mem_a'", "row", "mem_a"),
        (
            (
                "UPDATE memory SET body = body || ',' || replace(replace(convert_from(body, 'UTF8'), 'mem_a', 'mem_c'), "
                "'notes/a', 'notes/c')::bytea WHERE id = 'mem_a'"
            ),
            "row",
            "mem_a",
        ),
        ("DELETE FROM memory WHERE id = 'mem_b'", "index", ""),
        ("UPDATE space SET header = replace(convert_from(header, 'UTF8'), ' ', '')::bytea", "header", ""),
        ("DELETE FROM entry WHERE id = 'mem_a'", "index", ""),
        ("UPDATE audit SET line = replace(convert_from(line, 'UTF8'), 'ann', 'bob')::bytea", "audit", ""),
        ("INSERT INTO trash (space, name, ids, body) VALUES ('main', 'x', '{}', 'no')", "trash", ""),
    ],
)
def test_damage_is_found(server: Server, damage: str, kind: str, name: str) -> None:
    with server.connected("damage it") as connection:
        connection.execute(damage.encode())
    found = [(one.kind, one.object) for one in check_spaces(server) if one.is_damage]
    assert (kind, name) in found or (kind in [told for told, _ in found] and not name), found
    assert all(one.file == "space 'main' on the server" and not one.repair for one in check_spaces(server))
