"""What `memcli check store` finds on a server."""

from __future__ import annotations

from memcli.extras.postgres.health import check_spaces
from memcli.extras.postgres.server import Server
from tests.extras.postgres.conftest import fill, sql

COPIED = "replace(replace(convert_from(body, 'UTF8'), 'mem_a', 'mem_c'), 'notes/a', 'notes/c')::bytea"
DAMAGE = (
    ("UPDATE memory SET body = '{' WHERE id = 'mem_a'", "torn", ""),
    ("UPDATE memory SET path = 'elsewhere' WHERE id = 'mem_a'", "row", "mem_a"),
    (f"UPDATE memory SET body = body || ',' || {COPIED} WHERE id = 'mem_a'", "row", "mem_a"),
    ("DELETE FROM memory WHERE id = 'mem_b'", "index", ""),
    ("UPDATE space SET header = replace(convert_from(header, 'UTF8'), ' ', '')::bytea", "header", ""),
    ("DELETE FROM entry WHERE id = 'mem_a'", "index", ""),
    ("UPDATE audit SET line = replace(convert_from(line, 'UTF8'), 'ann', 'bob')::bytea", "audit", ""),
    ("INSERT INTO trash (space, name, ids, body) VALUES ('main', 'x', '{}', 'no')", "trash", ""),
)


def test_damage_is_found(server: Server, postgres: str, schema: str) -> None:
    for damage, kind, name in DAMAGE:
        fill(server, "a", "b")
        assert list(check_spaces(server)) == []
        sql(postgres, "SET session_replication_role = replica; " + damage, schema=f"{schema},public")
        findings = list(check_spaces(server))
        found = [(one.kind, one.object) for one in findings if one.is_damage]
        assert (kind, name) in found or (kind in [kind for kind, _ in found] and not name), (damage, found)
        assert all(one.file == "space 'main' on the server" and not one.repair for one in findings)
        server.close()
        sql(postgres, f"DROP SCHEMA {schema} CASCADE")
