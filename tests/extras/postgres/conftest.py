"""A schema on a server, stores on it as its owner and as roles, and statements past memcli."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from memcli.app.remember import fold
from memcli.extras.postgres.address import address_of
from memcli.extras.postgres.audit import ServerAudit
from memcli.extras.postgres.server import Server
from memcli.extras.postgres.store import ServerStore
from memcli.extras.postgres.trash import ServerTrash
from memcli.store.audit import Author
from tests.conftest import NOW, memory, rewrite
from tests.servers import new_schema

Open = Callable[..., ServerStore]


@pytest.fixture
def schema(postgres: str) -> Iterator[str]:
    with new_schema(postgres) as name:
        yield name


Connect = Callable[..., Server]


@pytest.fixture
def connect(postgres: str, schema: str) -> Iterator[Connect]:
    """Gives clients of the schema, by the URL of the server or another one; they are closed afterwards."""
    made: list[Server] = []

    def client(url: str = postgres, wait: float = 3) -> Server:
        made.append(Server(address_of(url, schema), wait))
        return made[-1]

    yield client
    for one in made:
        one.close()


@pytest.fixture
def server(connect: Connect) -> Server:
    return connect()


@pytest.fixture
def used_by_commands(postgres: str, schema: str, isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands store in the schema."""
    monkeypatch.setenv("MEMCLI_STORE", postgres)
    monkeypatch.setenv("MEMCLI_STORE_SCHEMA", schema)


def store_on(server: Server, user: str = "ann") -> ServerStore:
    who = Author(lambda: NOW, lambda: user, "test")
    return ServerStore(server, fold, who, ServerTrash(server, pytest.fail))


def log_of(server: Server, space: str = "main") -> bytes:
    """The audit log of a space."""
    return ServerAudit(server, Author(lambda: NOW, lambda: "ann", "test"), pytest.fail).read(space)


def fill(server: Server, *names: str) -> ServerStore:
    """Puts memories into the space `main`."""
    store = store_on(server)
    rewrite(store, lambda space: space.put([memory(name) for name in names], NOW))
    return store


def sql(url: str, *statements: str, schema: str = "") -> None:
    """Executes statements as the owner."""
    options = f"-csearch_path={schema}" if schema else ""
    with psycopg.connect(url, autocommit=True, options=options) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def as_user(url: str, role: str, password: str = "a-word") -> str:
    """The URL for another role."""
    return url.replace("postgres:@", f"{role}:{password}@").replace("postgres@", f"{role}:{password}@")


@pytest.fixture
def as_role(postgres: str, schema: str, connect: Connect) -> Iterator[Open]:
    """Opens the store as the owner, or as a role of a level in a space."""
    roles: list[str] = []

    def open_as(level: str = "", space: str = "main") -> ServerStore:
        url = postgres
        if level:
            role = f"{level}_{len(roles)}_{schema}"
            roles.append(role)
            create = f"CREATE ROLE {role} LOGIN PASSWORD 'a-word'"
            sql(postgres, create, f"SELECT admit('{role}', '{level}', '{space}')", schema=schema)
            url = as_user(postgres, role)
        return store_on(connect(url), level or "owner")

    rewrite(open_as(), lambda space: space.put([memory("a")], NOW))
    rewrite(open_as(), lambda space: space.put([memory("b")], NOW), "other")
    yield open_as
    sql(postgres, *(f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}" for role in roles))
