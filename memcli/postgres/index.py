"""The index of spaces on a server: it is written with the memories, and read in the transaction of a snapshot."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from memcli.errors import MemcliError
from memcli.index.view import model_in_use
from memcli.postgres import indexing
from memcli.postgres.catalogue import PostgresCatalogue
from memcli.postgres.connection import unhurried
from memcli.postgres.reading import reader
from memcli.postgres.snapshot import ServerSnapshot
from memcli.postgres.view import ServerSpace

if TYPE_CHECKING:
    from memcli.ports import Embedder, Progress, Snapshot
    from memcli.postgres.meaning import QuestionCache
    from memcli.postgres.server import Server


class PostgresIndex:
    """The index on `server`. See `ports.Index` for the promises.

    `embedder` is called once, when the first vector is needed, and `asked` with its model and dimensions: it has what this
    machine keeps of the model.
    """

    def __init__(
        self,
        server: Server,
        embedder: Callable[[], Embedder | None],
        asked: Callable[[str, int], QuestionCache],
        warn: Callable[[str], None],
        progress: Progress | None = None,
    ) -> None:
        self._server = server
        self._load_embedder = embedder
        self._open_asked = asked
        self._loaded: tuple[Embedder, QuestionCache] | None = None
        self._is_loaded = False
        self._lock = allocate_lock()
        self._warn = warn
        self._progress = progress

    def view(self, snapshot: Snapshot) -> ServerSpace:
        self._check(snapshot)
        return ServerSpace(_own(snapshot), self._server, self._semantic, self._warn, self._progress)

    def at_hand(self, snapshot: Snapshot) -> ServerSpace | None:
        if not snapshot.fingerprint:
            return None
        try:
            return self.view(snapshot)
        except MemcliError:
            return None

    def kept(self, snapshot: Snapshot) -> PostgresCatalogue | None:
        odd = "SELECT 1 FROM entry WHERE space = %s AND is_odd LIMIT 1"
        own = _own(snapshot)
        if not snapshot.fingerprint or reader(own)(odd, (own.space,)):
            return None
        return PostgresCatalogue(own)

    def embedder(self) -> str:
        return model_in_use(self._semantic)

    def rebuild(self, space: str) -> None:
        what = f"rebuild the index of space {space!r}"
        with self._server.connected(what) as connection, unhurried(connection), connection.transaction():
            indexing.rebuild(connection, space)

    def question(self, topic: str) -> tuple[str, bytes] | None:
        if self._loaded is None or not self._loaded[0].is_calibrated:
            return None  # one question and another are compared by thresholds that hold for calibrated cosines
        vector = self._loaded[1].question(topic)
        return (self._loaded[0].model, vector) if vector else None

    def _check(self, snapshot: Snapshot) -> None:
        """Warns of an index that another version of memcli has written."""
        own = _own(snapshot)
        other = "SELECT 1 FROM total WHERE space = %s AND version <> %s"
        if reader(own)(other, (own.space, indexing.VERSION)):
            self._warn(
                f"the index of space {own.space!r} was written by another version of memcli, and may rank differently"
                f" (`memcli store index rebuild -s {own.space}` makes it anew)"
            )

    def _semantic(self) -> tuple[Embedder, QuestionCache] | None:
        """The embedder with what is kept of it, loaded when first asked for; None when there is none."""
        with self._lock:  # a search that missed its deadline may still be loading
            if not self._is_loaded:
                embedder = self._load_embedder()
                if embedder is not None:
                    self._loaded = embedder, self._open_asked(embedder.model, embedder.dimensions)
                self._is_loaded = True
            return self._loaded


def _own(snapshot: Snapshot) -> ServerSnapshot:
    """The snapshot as one of a server, which it is wherever the store is."""
    return cast("ServerSnapshot", snapshot)
