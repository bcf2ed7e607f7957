"""One space as its index shows it: what rankers ask of it, answered from SQLite and the vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memcli.codec.space import policy_from_json
from memcli.errors import ProviderError, RefusedError
from memcli.index.database import each
from memcli.index.filters import visible
from memcli.index.words import IndexedWords
from memcli.model.clusters import Clusters
from memcli.model.memory import Memory
from memcli.model.nearness import Nearness
from memcli.model.recall import Entry, Query, RecordedGroup, RowSet
from memcli.model.space import Policy
from memcli.ports import Embedder, Progress, Snapshot
from memcli.retrieval.view import ENTRY, WordsOfView, entry_of, groups_of

if TYPE_CHECKING:
    from memcli.index.meaning import Meaning
    from memcli.index.vectors import VectorFile


Semantic = Callable[[], "tuple[Embedder, VectorFile] | None"]


class IndexedSpace(WordsOfView):
    """A view of one snapshot. See `ports.views.SpaceView` for the promises."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        snapshot: Snapshot,
        semantic: Semantic,
        reopen: Callable[[], sqlite3.Connection | None],
        is_outdated: Callable[[Snapshot], bool],
        warn: Callable[[str], None],
        progress: Progress | None,
    ) -> None:
        self._reopen = reopen
        self._warn = warn
        self._db = connection
        self._snapshot = snapshot
        self._is_outdated = lambda: is_outdated(snapshot)
        self._semantic = semantic
        self._progress = progress
        self._loaded: Meaning | None = None
        self._triggers: dict[int, tuple[str, ...]] | None = None
        self._size = int(self._one("SELECT count(*) FROM memory"))
        self._words = IndexedWords(connection, self._size)

    @property
    def size(self) -> int:
        return self._size

    @property
    def policy(self) -> Policy:
        stored = self._one("SELECT value FROM meta WHERE key = 'policy'")
        if not stored:
            return self._snapshot.header().policy
        return policy_from_json(json.loads(stored))

    def visible(self, query: Query) -> RowSet:
        return visible(self._db, self._size, query)

    def has_sessions(self) -> bool:
        return bool(self._one("SELECT EXISTS (SELECT 1 FROM memory WHERE scope > 'session:' AND scope < 'session;')"))

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        found = {}
        select = f"SELECT {ENTRY} FROM memory"
        for values in self._db.execute(select) if rows is None else each(self._db, f"{select} WHERE row", rows):
            found[values[0]] = entry_of(values)
        return found

    def pinned(self) -> list[int]:
        return [row for (row,) in self._db.execute("SELECT row FROM memory WHERE pinned ORDER BY row")]

    def triggers(self) -> dict[int, tuple[str, ...]]:
        if self._triggers is None:
            found = self._db.execute("SELECT row, triggers FROM memory WHERE triggers <> '' ORDER BY row")
            self._triggers = {row: tuple(json.loads(texts)) for row, texts in found}
        return self._triggers

    def anchors(self, files: Sequence[str]) -> dict[int, list[tuple[str, int, int]]]:
        found: dict[int, list[tuple[str, int, int]]] = {}
        for row, *place in each(self._db, "SELECT row, file, first, last FROM anchor WHERE file", files):
            found.setdefault(row, []).append((place[0], place[1], place[2]))
        return found

    def anchored_files(self) -> list[str]:
        return [file for (file,) in self._db.execute("SELECT DISTINCT file FROM anchor ORDER BY file")]

    def dense(
        self,
        texts: Sequence[str],
        within: float | None = None,
        among: RowSet | None = None,  # noqa: ARG002 - all passages are measured
    ) -> list[Nearness] | None:
        try:
            return self._dense(texts) if within is None else self._dense_within(texts, within)
        except (ProviderError, RefusedError) as error:
            self._warn(f"{error.message}; answering by words alone")
            return None

    def embed(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        meaning = self._meaning()
        if meaning is not None:
            meaning.complete(goes_on)
        return meaning is not None

    def clusters(self, *, only_known: bool = False) -> Clusters:
        from memcli.index.clusters import find_clusters, kept_clusters

        try:
            semantic = self._semantic()
            if semantic is None:
                return Clusters(reason="there is no embedder")
            known = kept_clusters(self._db, semantic[0].model)
            if known or only_known:
                return known or Clusters(reason="none were looked for")
            meaning = self._meaning()
            assert meaning is not None  # there is an embedder
            return find_clusters(self._db, meaning, semantic[0].model, self.fetch)
        except (ProviderError, RefusedError) as error:
            return Clusters(reason=error.message)

    def _dense(self, texts: Sequence[str]) -> list[Nearness] | None:
        meaning = self._meaning()
        return None if meaning is None else meaning.cosines(texts)

    def _dense_within(self, texts: Sequence[str], seconds: float) -> list[Nearness] | None:
        from memcli.retrieval.deadline import run_within

        return run_within(seconds, lambda: self._dense_apart(texts))

    def _dense_apart(self, texts: Sequence[str]) -> list[Nearness] | None:
        """As `_dense`, on a connection of its own: this may still go on when the view has long been closed."""
        from memcli.index.meaning import Meaning

        semantic = self._semantic()
        db = self._reopen()
        if semantic is None or db is None:
            return None
        try:
            return Meaning(db, self._snapshot, *semantic, self._is_outdated, None).cosines(texts)
        finally:
            db.close()

    def groups(self, names: Sequence[str]) -> dict[str, RecordedGroup]:
        return groups_of(names, each(self._db, "SELECT grp, position, row, terms FROM memory WHERE grp", names))

    def status(self) -> dict[str, int]:
        chunks = [key for (key,) in self._db.execute("SELECT key FROM passage UNION SELECT key FROM window")]
        try:
            semantic = self._semantic()
        except (ProviderError, RefusedError):  # `CachedIndex.embedder` tells
            semantic = None
        known = len(semantic[1].slots(chunks)) if semantic else 0
        terms = int(self._one("SELECT count(*) FROM vocabulary"))
        clusters = len(self.clusters(only_known=True).found)
        return {
            "objects": self._size, "terms": terms, "chunks": len(chunks), "vectors": known, "clusters": clusters,
        }  # fmt: skip

    def close(self) -> None:
        self._db.close()

    def links(self, rows: Sequence[int] | None = None) -> list[tuple[int, int, str, float]]:
        every = "SELECT link.row, memory.row, relation, weight FROM link JOIN memory ON memory.id = target"
        if rows is None:
            return self._db.execute(every).fetchall()
        some = ",".join(str(int(row)) for row in rows)
        ends = f"target IN (SELECT id FROM memory WHERE row IN ({some}))"
        return self._db.execute(f"{every} WHERE link.row IN ({some}) UNION {every} WHERE {ends}").fetchall()

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        places = {
            row: (name, start, length)
            for row, name, start, length in each(self._db, "SELECT row, id, start, length FROM place WHERE row", rows)
        }
        return self._snapshot.fetch([places[row] for row in rows])

    def _meaning(self) -> Meaning | None:
        """The vectors of the space, loaded when first asked for; None when there is no embedder."""
        if self._loaded is None:
            semantic = self._semantic()
            if semantic is None:
                return None
            from memcli.index.meaning import Meaning

            self._loaded = Meaning(self._db, self._snapshot, *semantic, self._is_outdated, self._progress)
        return self._loaded

    def _one(self, statement: str, *values: Any) -> Any:
        row = self._db.execute(statement, values).fetchone()
        return row[0] if row else None
