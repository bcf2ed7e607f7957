"""The kinds of stores that one contract holds for: in files, in files with an audit log, on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memcli.app.remember import fold
from memcli.ports import AuditTrail, Store, Trash
from memcli.store.audit import AuditLog, Author
from memcli.store.file import FileStore
from memcli.store.layout import Layout, make_root
from memcli.store.pending import Bookkeeping
from memcli.store.trash import FileTrash
from tests.conftest import NOW


@dataclass
class Kind:
    """A kind of store: its parts as another process would open them, at a time, and what it warned of."""

    open: Callable[[str], tuple[Store, Trash, AuditTrail]]
    told: list[str] = field(default_factory=list)
    close: Callable[[], None] = lambda: None

    @property
    def store(self) -> Store:
        return self.open(NOW)[0]

    @property
    def trash(self) -> Trash:
        return self.open(NOW)[1]

    @property
    def audit(self) -> AuditTrail:
        return self.open(NOW)[2]


def in_files(folder: Path) -> Kind:
    """A store in `folder`, with all that stands around its writes."""
    make_root(str(folder / ".memory"))
    layout = Layout(str(folder / ".memory"))
    told: list[str] = []

    def open_at(now: str) -> tuple[Store, Trash, AuditTrail]:
        log = AuditLog(layout, Author(lambda: now, lambda: "ann", "test"), told.append)
        trash = FileTrash(layout, lambda: now, "test", told.append)

        def erase(space: str, hashes: Mapping[str, str]) -> None:
            log.erase(space, {*hashes, *(memory.id for memory in trash.erase(space, hashes))})

        books = Bookkeeping(layout, lambda: log, trash.keep, erase, lambda policy: policy, told.append)
        return FileStore(layout, fold, open_books=lambda: books), trash, log

    return Kind(open_at, told)


def on_server(url: str, schema: str) -> Kind:
    """A store in a schema of a server."""
    from memcli.extras.postgres.address import address_of
    from memcli.extras.postgres.audit import ServerAudit
    from memcli.extras.postgres.server import Server
    from memcli.extras.postgres.store import ServerStore
    from memcli.extras.postgres.trash import ServerTrash

    told: list[str] = []
    server = Server(address_of(url, schema), 10)

    def open_at(now: str) -> tuple[Store, Trash, AuditTrail]:
        who = Author(lambda: now, lambda: "ann", "test")
        trash = ServerTrash(server, told.append)
        return ServerStore(server, fold, who, trash, warn=told.append), trash, ServerAudit(server, who, told.append)

    return Kind(open_at, told, server.close)


def reopened(folder: str, url: str, schema: str) -> Kind:
    """The kind in another process: on a server where there is a URL."""
    return on_server(url, schema) if url else in_files(Path(folder))
