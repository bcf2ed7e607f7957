"""Opens the store that a team shares on a PostgreSQL server. Imports psycopg only when a server is used."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memcli.errors import UsageError
from memcli.model.links import Run
from memcli.model.memory import Json
from memcli.model.space import Change, Policy
from memcli.ports import AuditTrail, Embedder, Index, Progress, Snapshot, Store, Trash
from memcli.settings import is_beside
from memcli.store.lock import WAIT_SECONDS
from memcli.wiring.records import LocalRecords
from memcli.wiring.roots import Warn

if TYPE_CHECKING:
    from memcli.extras.postgres.ledger import ServerLedger
    from memcli.extras.postgres.server import Server
    from memcli.model.findings import Damage

SCHEMA_VARIABLE = "MEMCLI_STORE_SCHEMA"
_opened: list[Server] = []
_Side = TypeVar("_Side")


def open_server(url: str, environ: Mapping[str, str], wait: float) -> Server:
    """The server at a URL, without connecting to it; the same one for equal arguments. Raises UsageError."""
    try:
        return _server(url, environ.get(SCHEMA_VARIABLE), wait)
    except ImportError:
        raise UsageError(
            "a store on a server needs the extra `postgres`", "pip install '.[postgres]' in a clone of memcli"
        ) from None


@cache
def _server(url: str, schema: str | None, wait: float) -> Server:
    from memcli.extras.postgres.address import address_of
    from memcli.extras.postgres.server import Server

    server = Server(address_of(url, schema), wait)
    if not _opened:
        atexit.register(close_servers)
    _opened.append(server)
    return server


def examine(url: str, environ: Mapping[str, str]) -> Sequence[tuple[str, bool, str, str]]:
    """The checks of `doctor` for the server at a URL: name, whether it passed, what was found, what to do. Empty without a
    URL. Raises StoreError, RefusedError, UsageError."""
    if not url:
        return []
    server = open_server(url, environ, WAIT_SECONDS)
    from memcli.extras.postgres.health import examine as look

    return look(server)


def check_spaces(url: str, environ: Mapping[str, str]) -> Sequence[Damage]:
    """The damage of the spaces on the server at a URL; empty without a URL. Raises StoreError, RefusedError, UsageError."""
    if not url:
        return []
    server = open_server(url, environ, WAIT_SECONDS)
    from memcli.extras.postgres.health import check_spaces as look

    return list(look(server))


def close_servers() -> None:
    """Closes all connections of this process to all servers."""
    while _opened:
        _opened.pop().close()
    _server.cache_clear()


class _Joined:
    """Two adapters as one: `shared` for the spaces on a server, `local` for those beside them, which are on this machine.

    A call goes to the side of the space in its first argument: the name of a space, a snapshot, or a run of the trash.
    """

    def __init__(self, shared: Any, local: Any) -> None:
        self._shared, self._local = shared, local

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # One rule in place of a forwarding method for each method of four protocols.
        def call(of: str | Snapshot | Run, *rest: object, **options: object) -> Any:
            space = of if isinstance(of, str) else of.space
            is_here = is_beside(space if isinstance(space, str) else space.name)
            return getattr(self._local if is_here else self._shared, name)(of, *rest, **options)

        return call

    def spaces(self) -> list[str]:
        here = (name for name in self._local.spaces() if is_beside(name))
        return sorted({*self._shared.spaces(), *here})

    def runs(self, skip: Callable[[str], None] | None = None) -> list[Run]:
        here = (run for run in self._local.runs(skip) if is_beside(run.space.name))
        found = [*self._shared.runs(skip), *here]
        # By the second of a run, with which its name begins; within a second each side has its own order.
        return sorted(found, key=lambda run: run.name.partition("-")[0], reverse=True)

    def embedder(self) -> str:
        return str(self._local.embedder())

    def question(self, topic: str) -> tuple[str, bytes] | None:
        found: tuple[str, bytes] | None = self._shared.question(topic) or self._local.question(topic)
        return found


def _join(shared: _Side, local: _Side) -> _Side:
    """Both sides as one adapter, of the same protocol of `ports`."""
    return cast("_Side", _Joined(shared, local))


class ServerRecords:
    """The store, trash, audit log and ledger of a store whose shared spaces are on `server`; `local` and `files` have those of
    the spaces on this machine."""

    def __init__(
        self,
        server: Server,
        local: LocalRecords,
        files: Store,
        fold: Callable[..., tuple[Change, Json]],
        in_force: Callable[[Policy], Policy],
    ) -> None:
        from memcli.extras.postgres.store import ServerStore
        from memcli.extras.postgres.trash import ServerTrash
        from memcli.store.audit import Author

        self.server, self._local, self._who = server, local, Author(local.clock, local.user, local.command)
        self._trash = ServerTrash(server, local.warn)
        erase = local.erase_traces
        shared: Store = ServerStore(server, fold, self._who, self._trash, in_force, local.warn, erase)
        self.store = _join(shared, files)

    @cached_property
    def trash(self) -> Trash:
        shared: Trash = self._trash
        return _join(shared, self._local.trash)

    @cached_property
    def audit(self) -> AuditTrail:
        from memcli.extras.postgres.audit import ServerAudit

        shared: AuditTrail = ServerAudit(self.server, self._who, self._local.warn)
        return _join(shared, self._local.audit)

    @cached_property
    def ledger(self) -> ServerLedger:
        from memcli.extras.postgres.ledger import ServerLedger

        return ServerLedger(self.server)


def share_index(
    server: Server,
    local: Index,
    embedder: Callable[[], Embedder | None],
    folder: str,
    warn: Warn,
    progress: Progress | None,
) -> Index:
    """The index of the spaces on `server`, joined with the `local` one of the others. `folder` is for vectors of queries."""
    from memcli.extras.postgres.indexing import PostgresIndex
    from memcli.index.vectors import Questions

    shared: Index = PostgresIndex(server, embedder, partial(Questions, folder), warn, progress)
    return _join(shared, local)
