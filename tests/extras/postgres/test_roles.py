"""Who may do what on a server, by its own row-level security."""

from __future__ import annotations

import json

import psycopg
import pytest

from memcli.codec.audit import Link, bound, entries, seal, verify
from memcli.errors import RefusedError
from memcli.extras.postgres import connection as server_connection
from memcli.extras.postgres.address import address_of
from memcli.extras.postgres.audit import ServerAudit
from memcli.extras.postgres.health import examine
from memcli.extras.postgres.mail import new_mark
from memcli.extras.postgres.server import Server
from memcli.extras.postgres.store import ServerStore
from memcli.model.space import Change, Policy
from memcli.record import replace
from memcli.store.audit import Author
from tests.conftest import NOW, memory, rewrite
from tests.extras.postgres.conftest import Open, log_of, sql


def drop(store: ServerStore) -> None:
    store.update("main", lambda _: Change(drop=frozenset(["mem_a"]), now=NOW))


def add(store: ServerStore, space: str = "main") -> None:
    rewrite(store, lambda found: found.put([memory("new")], NOW), space)


def govern(store: ServerStore) -> None:
    store.update("main", lambda shelf: Change(header=replace(shelf.header, policy=Policy(ttl_days=3))))


def delete(store: ServerStore) -> None:
    store.delete("main", lambda _: None)


def test_each_level_may_do_its_own(as_role: Open) -> None:
    acts = (add, govern, drop, delete)
    for level, may in (("reader", ()), ("writer", (add, drop)), ("admin", acts)):
        store = as_role(level)
        assert (store.open("main").load().objects[0].id, store.spaces()) == ("mem_a", ["main"])
        for act in acts:
            if act in may:
                act(store)
                continue
            with pytest.raises(RefusedError) as caught:
                act(store)
            assert (caught.value.exit_code, "\n" in caught.value.message) == (5, False)
        rewrite(as_role(), lambda space: space.put([memory("a")], NOW))
    found = {one[0]: one for one in examine(as_role("writer")._server)}
    assert (found["role"][1], found["role"][2].endswith(": writer of main")) == (True, True)


def test_another_space_is_refused(as_role: Open) -> None:
    for level in ("reader", "admin"):
        store = as_role(level)
        for act in (lambda: store.open("other"), lambda: add(store, "other"), lambda: add(store, "new")):  # noqa: B023
            with pytest.raises(RefusedError):
                act()
        assert [m.id for m in as_role().open("other").load().objects] == ["mem_b"]
    everywhere = as_role("writer", "*")
    add(everywhere, "new")
    assert everywhere.spaces() == ["main", "new", "other"]
    assert everywhere.open("none").fingerprint == ""


HARM = (
    "DELETE FROM audit", "UPDATE audit SET line = line", "DELETE FROM memory", "UPDATE access SET level = 'admin'",
    "INSERT INTO audit SELECT space, n + 9, mark, hash, line FROM audit LIMIT 1", "SELECT rewrite('main', 'memory')",
    "SELECT hide_paths('main', ARRAY[1], (SELECT array_agg(line) FROM audit WHERE space = 'main'))",
)  # fmt: skip


def test_what_a_writer_cannot_do(as_role: Open) -> None:
    store = as_role("writer", "*")
    for statement in HARM:
        with pytest.raises(RefusedError), store._server.connected("do harm") as connection:
            connection.execute(statement.encode())
    assert as_role().open("main").load().objects
    assert verify(log_of(store._server)).entries


def line(**other: object) -> dict[str, object]:
    change = {"id": "mem_a", "path": 'notes/"ä', "before": "1", "after": "2"}
    return {"time": NOW, "user": "x", "command": "y", "action": "update", "space": "main", "changes": [change], **other}


def append(store: ServerStore, entry: dict[str, object], last: Link, **other: object) -> None:
    sealed = seal({**entry, **other}, last)
    with store._server.connected("append a line") as connection:
        bounds = [bound(json.loads(sealed)) if not other else bound(json.loads(seal(entry, last)))]
        connection.execute("SELECT append_audit('main', %s, %s::bytea[], %s::bytea[])", [new_mark(), [sealed], bounds])


def test_a_line_is_appended_only_where_it_continues_the_log(as_role: Open) -> None:
    store = as_role("writer")
    log = ServerAudit(store._server, Author(lambda: NOW, lambda: "x", "y"), pytest.fail)
    (last,) = [Link(entry["n"], entry["hash"]) for entry in entries(log.read("main"))]
    gone = [{"id": "mem_a", "before": "1", "after": ""}]
    for entry, behind, other in (
        (line(), Link(last.number + 1, last.hash), {}),
        (line(), Link(last.number, "3:" + "0" * 64), {}),
        (line(), last, {"user": "another than the hash binds"}),
        (line(space="other"), last, {}),
        (line(action="delete", changes=gone), last, {}),  # for good: an admin's to say
    ):
        with pytest.raises(RefusedError):
            append(store, entry, behind, **other)
    append(store, line(), last)
    log.append("main", [line(policy={"fields": ["ttl_days"], "of": [1.5, 1e30, None]}, created={"count": 60})])
    assert (verify(log.read("main")).entries, verify(log.read("main")).broken) == (3, 0)


def test_only_an_admin_purges(as_role: Open) -> None:
    writer, admin = as_role("writer"), as_role("admin")
    purge = Change(drop=frozenset(["mem_a"]), now=NOW, purge=True)
    for change in (purge, replace(purge, erase=True), replace(purge, purge=False, erase=True)):
        with pytest.raises(RefusedError, match="takes an admin"):
            writer.update("main", lambda _, change=change: change)
    drop(writer)  # into the trash
    (run,) = writer._trash.runs()
    for erase in (False, True):
        with pytest.raises(RefusedError, match="takes an admin"):
            writer._trash.drop(run, ["mem_a"], erase=erase)
    admin._trash.drop(run, ["mem_a"], erase=True)
    assert writer._trash.runs() == []
    add(writer)
    writer.update("main", lambda _: Change(drop=frozenset(["mem_new"]), now=NOW))
    (run,) = writer._trash.runs()
    rewrite(writer, lambda space: space.put(run.space.objects, NOW))
    writer._trash.drop(run, ["mem_new"])  # which is back
    assert writer._trash.runs() == []


def test_without_grace_a_writer_removes_for_good_but_purges_nothing(as_role: Open) -> None:
    as_role().update("main", lambda shelf: Change(header=replace(shelf.header, policy=Policy(grace_days=0))))
    writer = as_role("writer")
    with pytest.raises(RefusedError):
        writer.update("main", lambda _: Change(drop=frozenset(["mem_a"]), now=NOW, purge=True))
    drop(writer)
    log = log_of(writer._server)
    assert (verify(log).broken, b"notes/a" in log) == (0, False)


def test_a_reader_stops_no_writer_and_no_migration(
    as_role: Open, postgres: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = as_role("reader"), as_role("writer")
    add(writer)
    with reader._server.connected("be in the way") as connection:
        for seed in (0, 1, 2):
            for name in ("main", f"{schema}/main", f"{schema}/main/2026-01-31"):
                connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, %s))", [name, seed])
        connection.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", [server_connection._LOCK, schema])
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM memory")
        known = server_connection.migrations()
        more = {**known, max(known) + 1: "CREATE TABLE more (n int)"}
        monkeypatch.setattr(server_connection, "migrations", lambda: more)
        as_role().open("main").close()
        drop(writer)
        writer.submit("main", {"now": NOW, "candidates": [], "supersedes": None, "links": "check"})
        for lock in (
            "SELECT FROM mutex FOR KEY SHARE",
            "SELECT seize('main', 'memories', true)",
            "LOCK memory IN SHARE MODE",
        ):
            connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(lock.encode())


def test_a_role_of_an_older_schema_goes_on_after_its_migration(
    as_role: Open, postgres: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = dict(server_connection.migrations())
    sql(postgres, f"DROP SCHEMA {schema} CASCADE")
    with monkeypatch.context() as patch:
        patch.setattr(server_connection, "migrations", lambda: {n: text for n, text in known.items() if n < 6})
        old = Server(address_of(postgres, schema), 3)
        with old.connected("make an older schema") as connection:
            assert max(server_connection.applied(connection, schema)) == 5
        old.close()
        older = as_role("writer")  # admitted then
    with pytest.raises(RefusedError):  # the owner migrates
        older.open("main")
    rewrite(as_role(), lambda space: space.put([memory("a")], NOW))
    add(older)
    with pytest.raises(RefusedError), older._server.connected("forge") as connection:
        connection.execute("UPDATE audit SET line = line")


def test_the_owner_admits_a_role_with_any_search_path(as_role: Open, postgres: str, schema: str) -> None:
    store = as_role("reader")
    member = str(store._server.address.conninfo).partition("user=")[2].split()[0]
    sql(postgres, f"SELECT {schema}.admit('{member}', 'writer', 'main')")
    add(store)


def test_a_writer_cannot_replace_what_guards_the_policy(as_role: Open, postgres: str, schema: str) -> None:
    server = as_role("writer")._server
    with server.connected("find a role") as writer:
        sql(postgres, f"CREATE SCHEMA own_{schema} AUTHORIZATION {writer.info.user}")  # gone with the role
        writer.execute(
            f"""CREATE FUNCTION own_{schema}.may(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
            SET search_path = own_{schema}, {schema}""".encode()
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("""UPDATE space SET header = replace(convert_from(header, 'UTF8'), '"policy": {}',
                '"policy": {"ttl_days": 3}')::bytea""")
