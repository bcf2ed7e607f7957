"""Who may do what on a server, by its own row-level security."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from memcli.app.remember import fold
from memcli.errors import RefusedError
from memcli.model.space import Change, Policy
from memcli.postgres.address import address_of
from memcli.postgres.audit import Author, ServerAudit
from memcli.postgres.health import examine
from memcli.postgres.server import Server
from memcli.postgres.store import ServerStore
from memcli.postgres.trash import ServerTrash
from memcli.record import replace
from tests.conftest import NOW, memory, rewrite
from tests.servers import new_schema

Open = Callable[..., ServerStore]


@pytest.fixture
def schema(postgres: str) -> Iterator[str]:
    with new_schema(postgres) as name:
        yield name


@pytest.fixture
def as_role(postgres: str, schema: str) -> Iterator[Open]:
    """Opens the store as the owner, or as a role of a level in a space."""
    servers: list[Server] = []
    roles: list[str] = []

    def open_as(level: str = "", space: str = "main") -> ServerStore:
        url = postgres
        if level:
            role = f"{level}_{len(roles)}_{schema}"
            with psycopg.connect(postgres, autocommit=True, options=f"-csearch_path={schema}") as connection:
                connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'a-word'".encode())
                roles.append(role)
                connection.execute("SELECT admit(%s, %s, %s)", [role, level, space])
            url = postgres.replace("postgres:@", f"{role}:a-word@").replace("postgres@", f"{role}:a-word@")
        servers.append(Server(address_of(url, schema), 3))
        who = Author(lambda: NOW, lambda: level or "owner", "test")
        return ServerStore(servers[-1], fold, who, ServerTrash(servers[-1], lambda _: None))

    rewrite(open_as(), lambda space: space.put([memory("a")], NOW))
    rewrite(open_as(), lambda space: space.put([memory("b")], NOW), "other")
    yield open_as
    for server in servers:
        server.close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        for role in roles:
            connection.execute(f"DROP OWNED BY {role} CASCADE".encode())
            connection.execute(f"DROP ROLE {role}".encode())


def drop(store: ServerStore) -> None:
    store.update("main", lambda _: Change(drop=frozenset(["mem_a"]), now=NOW))


def add(store: ServerStore, space: str = "main") -> None:
    rewrite(store, lambda found: found.put([memory("new")], NOW), space)


def govern(store: ServerStore) -> None:
    store.update("main", lambda shelf: Change(header=replace(shelf.header, policy=Policy(ttl_days=3))))


def delete(store: ServerStore) -> None:
    store.delete("main", lambda _: None)


@pytest.mark.parametrize(
    ("level", "may"),
    [("reader", ()), ("writer", (add, drop)), ("admin", (add, govern, drop, delete))],
)
def test_each_level_may_do_its_own(as_role: Open, level: str, may: tuple[Callable[[ServerStore], None], ...]) -> None:
    store = as_role(level)
    assert [m.id for m in store.open("main").load().objects] == ["mem_a"]
    assert store.spaces() == ["main"]
    for act in (add, govern, drop, delete):
        if act in may:
            act(store)
            continue
        with pytest.raises(RefusedError) as caught:
            act(store)
        assert (caught.value.exit_code, "\n" in caught.value.message) == (5, False)


def test_another_space_is_refused(as_role: Open) -> None:
    for level in ("reader", "admin"):
        store = as_role(level)
        with pytest.raises(RefusedError):
            store.open("other")
        with pytest.raises(RefusedError):
            add(store, "other")
        with pytest.raises(RefusedError):
            add(store, "new")
        assert [m.id for m in as_role().open("other").load().objects] == ["mem_b"]


def test_a_role_of_all_spaces_may_make_one(as_role: Open) -> None:
    store = as_role("writer", "*")
    add(store, "new")
    assert store.spaces() == ["main", "new", "other"]
    assert store.open("none").fingerprint == ""


def test_a_writer_cannot_take_lines_out_of_the_log(as_role: Open) -> None:
    store = as_role("writer", "*")
    with pytest.raises(RefusedError), store._server.connected("delete the log") as connection:
        connection.execute("DELETE FROM audit")
    with pytest.raises(RefusedError), store._server.connected("become an admin") as connection:
        connection.execute("UPDATE access SET level = 'admin'")
    assert ServerAudit(store._server, Author(lambda: NOW, lambda: "x", "y"), pytest.fail).read("main")


def test_the_owner_admits_a_role_with_any_search_path(as_role: Open, postgres: str, schema: str) -> None:
    store = as_role("reader")
    member = str(store._server.address.conninfo).partition("user=")[2].split()[0]
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"SELECT {schema}.admit(%s, 'writer', 'main')".encode(), [member])
    add(store)


def test_a_writer_cannot_replace_what_guards_the_policy(as_role: Open, postgres: str, schema: str) -> None:
    server = as_role("writer")._server
    with psycopg.connect(postgres, autocommit=True) as connection, server.connected("find a role") as writer:
        connection.execute(
            f"CREATE SCHEMA own_{schema} AUTHORIZATION {writer.info.user}".encode()
        )  # gone with the role
        writer.execute(
            f"""CREATE FUNCTION own_{schema}.may(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
            SET search_path = own_{schema}, {schema}""".encode()
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("""UPDATE space SET header = replace(convert_from(header, 'UTF8'), '"policy": {}',
                '"policy": {"ttl_days": 3}')::bytea""")


def test_doctor_says_the_highest_level_in_each_space(as_role: Open) -> None:
    found = {one.name: one for one in examine(as_role("writer")._server)}
    assert found["role"].ok
    assert found["role"].found.endswith(": writer of main")
