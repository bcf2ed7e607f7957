"""One space as its index on the server shows it: what rankers ask of it, answered in the transaction of a snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memcli.errors import ProviderError, RefusedError
from memcli.index.view import ENTRY, WordsOfView, entry_of, groups_of
from memcli.model.clusters import Clusters
from memcli.model.memory import Memory
from memcli.model.nearness import Nearness
from memcli.model.recall import Entry, Query, RecordedGroup, RowSet
from memcli.model.space import Policy
from memcli.postgres.filters import visible
from memcli.postgres.reading import reader
from memcli.postgres.totals import vocabulary
from memcli.postgres.words import PostgresWords

if TYPE_CHECKING:
    from memcli.ports import Embedder, Progress
    from memcli.postgres.meaning import QuestionCache, ServerMeaning
    from memcli.postgres.reading import Read
    from memcli.postgres.server import Server
    from memcli.postgres.snapshot import ServerSnapshot

_LINKS = """SELECT link.row, entry.row, relation, weight FROM link
JOIN entry ON entry.space = link.space AND entry.id = target WHERE link.space = %(space)s"""

Semantic = Callable[[], "tuple[Embedder, QuestionCache] | None"]


class ServerSpace(WordsOfView):
    """A view of one snapshot. See `ports.views.SpaceView` for the promises."""

    _words: PostgresWords

    def __init__(
        self,
        snapshot: ServerSnapshot,
        server: Server,
        semantic: Semantic,
        warn: Callable[[str], None],
        progress: Progress | None,
    ) -> None:
        self._snapshot = snapshot
        self._space = snapshot.space
        self._server = server
        self._semantic = semantic
        self._warn = warn
        self._progress = progress
        self._db = reader(snapshot)
        self._words = PostgresWords(self._db, self._space)
        self._loaded: ServerMeaning | None = None

    @property
    def size(self) -> int:
        return self._words.size

    @property
    def policy(self) -> Policy:
        return self._snapshot.header().policy

    def visible(self, query: Query) -> RowSet:
        return visible(self._db, self._space, self.size, query)

    def has_sessions(self) -> bool:
        select = "SELECT 1 FROM entry WHERE space = %s AND scope > 'session:' AND scope < 'session;' LIMIT 1"
        return bool(self._db(select, (self._space,)))

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        select = f"SELECT {ENTRY} FROM entry WHERE space = %s"
        if rows is None:
            read = self._db(select, (self._space,))
        else:
            read = self._db(f"{select} AND row = ANY(%s)", (self._space, list(rows))) if len(rows) else []
        return {values[0]: entry_of(values) for values in read}

    def pinned(self) -> list[int]:
        return self._rows("SELECT row FROM entry WHERE space = %s AND pinned ORDER BY row")

    def triggers(self) -> dict[int, tuple[str, ...]]:
        select = "SELECT row, triggers FROM entry WHERE space = %s AND triggers <> '' ORDER BY row"
        return {row: tuple(json.loads(texts)) for row, texts in self._db(select, (self._space,))}

    def anchors(self, files: Sequence[str]) -> dict[int, list[tuple[str, int, int]]]:
        found: dict[int, list[tuple[str, int, int]]] = {}
        select = "SELECT row, file, first, last FROM anchor WHERE space = %s AND file = ANY(%s)"
        for row, *place in self._db(select, (self._space, list(files))):
            found.setdefault(row, []).append((place[0], place[1], place[2]))
        return found

    def anchored_files(self) -> list[str]:
        found = self._db("SELECT DISTINCT file FROM anchor WHERE space = %s ORDER BY file", (self._space,))
        return [file for (file,) in found]

    def dense(
        self, texts: Sequence[str], within: float | None = None, among: RowSet | None = None
    ) -> list[Nearness] | None:
        try:
            return self._dense(texts, among) if within is None else self._dense_within(texts, within, among)
        except (ProviderError, RefusedError) as error:
            self._warn(f"{error.message}; answering by words alone")
            return None

    def embed(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        meaning = self._meaning()
        if meaning is not None:
            meaning.complete(goes_on)
            self._snapshot.close()  # it opens again when it is read
            meaning.build_index()
        return meaning is not None

    def clusters(self, *, only_known: bool = False) -> Clusters:
        from memcli.postgres.clusters import find_clusters, kept_clusters

        try:
            semantic = self._semantic()
            if semantic is None:
                return Clusters(reason="there is no embedder")
            known = kept_clusters(self._db, self._snapshot, semantic[0].model)
            if known or only_known:
                return known or Clusters(reason="none were looked for")
            meaning = self._meaning()
            assert meaning is not None  # there is an embedder
            return find_clusters(self._db, self._server, self._snapshot, meaning, semantic[0].model, self.fetch)
        except (ProviderError, RefusedError) as error:
            return Clusters(reason=error.message)

    def groups(self, names: Sequence[str]) -> dict[str, RecordedGroup]:
        select = "SELECT grp, position, row, terms FROM entry WHERE space = %s AND grp <> '' AND grp = ANY(%s)"
        return groups_of(names, self._db(select, (self._space, list(names))))

    def links(self, rows: Sequence[int] | None = None) -> list[tuple[int, int, str, float]]:
        if rows is None:
            found = self._db(_LINKS, {"space": self._space})
        else:
            ends = "target IN (SELECT id FROM entry WHERE space = %(space)s AND row = ANY(%(rows)s))"
            some = f"{_LINKS} AND link.row = ANY(%(rows)s) UNION {_LINKS} AND {ends}"
            found = self._db(some, {"space": self._space, "rows": list(rows)})
        return [(one, other, relation, weight) for one, other, relation, weight in found]

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        select = "SELECT row, id FROM entry WHERE space = %s AND row = ANY(%s)"
        ids: dict[int, str] = dict(self._db(select, (self._space, list(rows))))
        return self._snapshot.fetch([(ids[row], 0, 0) for row in rows])

    def status(self) -> dict[str, int]:
        both = "SELECT count(*) FROM (SELECT key FROM passage WHERE space = %(space)s UNION SELECT key FROM turn WHERE space = %(space)s) AS text"
        ((chunks,),) = self._db(both, {"space": self._space})
        try:
            meaning = self._meaning()
        except (ProviderError, RefusedError):  # `PostgresIndex.embedder` reports it
            meaning = None
        return {
            "objects": self.size, "terms": vocabulary(self._db, self._space), "chunks": chunks,
            "vectors": meaning.known(chunks) if meaning else 0, "clusters": len(self.clusters(only_known=True).found),
        }  # fmt: skip

    def close(self) -> None:
        """Does nothing: the snapshot has what there is to close."""

    def _dense(self, texts: Sequence[str], among: RowSet | None) -> list[Nearness] | None:
        meaning = self._meaning()
        return None if meaning is None else meaning.cosines(texts, among)

    def _dense_within(self, texts: Sequence[str], seconds: float, among: RowSet | None) -> list[Nearness] | None:
        from memcli.index.view import run_within

        (token,) = self._db("SELECT pg_export_snapshot()", ())[0]
        found = run_within(seconds, lambda: self._dense_apart(texts, token, among))
        meaning = self._meaning() if found and found[0].more is not None else None
        return found if meaning is None else meaning.resumed(texts, found or [])

    def _dense_apart(self, texts: Sequence[str], token: str, among: RowSet | None) -> list[Nearness] | None:
        """As `_dense`, on a connection of its own: this may still go on when the view has long been closed."""
        from memcli.postgres.reading import beside

        semantic = self._semantic()
        if semantic is None:
            return None
        with beside(self._server, self._space, token) as read:
            return self._meaning_of(read, *semantic).cosines(texts, among)

    def _meaning(self) -> ServerMeaning | None:
        """The vectors of the space, loaded when first asked for; None when there is no embedder."""
        if self._loaded is None:
            semantic = self._semantic()
            if semantic is None:
                return None
            self._loaded = self._meaning_of(self._db, *semantic)
        return self._loaded

    def _meaning_of(self, read: Read, embedder: Embedder, asked: QuestionCache) -> ServerMeaning:
        from memcli.postgres.meaning import ServerMeaning, VectorSource

        source = VectorSource(read, self._space, self._words.passage_count)
        return ServerMeaning(source, self._server, embedder, asked, self._progress)

    def _rows(self, select: str) -> list[int]:
        return [row for (row,) in self._db(select, (self._space,))]
