"""The store that a team shares on a PostgreSQL server: where it is named, and how it is opened."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from memcli.errors import UsageError
from memcli.extras.postgres.shared import SharedAudit, SharedIndex, SharedStore, SharedTrash
from memcli.model.memory import Json
from memcli.model.space import Change, Policy
from memcli.ports import Embedder, Index, Progress, Store
from memcli.store.lock import WAIT_SECONDS
from memcli.wiring.records import LocalRecords
from memcli.wiring.roots import Warn

if TYPE_CHECKING:
    from memcli.extras.postgres.ledger import ServerLedger
    from memcli.extras.postgres.server import Server
    from memcli.model.findings import Damage

SCHEMA_VARIABLE = "MEMCLI_STORE_SCHEMA"
_opened: list[Server] = []


def open_server(url: str, environ: Mapping[str, str], wait: float) -> Server:
    """The server that a URL names; nothing is connected yet. Raises UsageError."""
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
    """What there is to say of the server of a URL: name, whether it is well, what was found, what to do. Nothing where there
    is no URL. Raises StoreError, RefusedError, UsageError."""
    if not url:
        return []
    server = open_server(url, environ, WAIT_SECONDS)
    from memcli.extras.postgres.health import examine as look

    return look(server)


def check_spaces(url: str, environ: Mapping[str, str]) -> Sequence[Damage]:
    """What is wrong with the spaces on the server of a URL; nothing where there is no URL. Raises StoreError, RefusedError,
    UsageError."""
    if not url:
        return []
    server = open_server(url, environ, WAIT_SECONDS)
    from memcli.extras.postgres.health import check_spaces as look

    return list(look(server))


def close_servers() -> None:
    """Closes all connections of this process."""
    while _opened:
        _opened.pop().close()
    _server.cache_clear()


class ServerRecords:
    """The records of a store of which `server` has what is not of this machine alone; `local` and `files` have the rest."""

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
        self.store = SharedStore(ServerStore(server, fold, self._who, self._trash, in_force, local.warn, erase), files)

    @cached_property
    def trash(self) -> SharedTrash:
        return SharedTrash(self._trash, self._local.trash)

    @cached_property
    def audit(self) -> SharedAudit:
        from memcli.extras.postgres.audit import ServerAudit

        return SharedAudit(ServerAudit(self.server, self._who, self._local.warn), self._local.audit)

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
    """The index of what `server` has, and the `local` one of the rest. What is kept of questions is in `folder`."""
    from memcli.extras.postgres.indexing import PostgresIndex
    from memcli.index.vectors import Questions

    asked = partial(Questions, folder)
    return SharedIndex(PostgresIndex(server, embedder, asked, warn, progress), local)
