"""One space as its index shows it: what rankers ask of it, answered from SQLite and the vectors; and what the views of
other databases share with it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from memcli.codec.space import policy_from_json
from memcli.errors import ProviderError, RefusedError
from memcli.index.database import each
from memcli.index.words import IndexedWords
from memcli.model.memory import Memory
from memcli.model.recall import Clusters, Entry, Nearness, PassageTerms, Query, RecordedGroup, RowSet, TermStats
from memcli.model.space import Policy
from memcli.ports import Embedder, Progress, Snapshot

if TYPE_CHECKING:
    from threading import Thread

    from memcli.index.meaning import Meaning
    from memcli.index.vectors import VectorFile
    from memcli.index.words import StoredWords


_T = TypeVar("_T")
_abandoned: list[Thread] = []
"""The threads of work that missed its deadline."""


def is_work_left() -> bool:
    """Whether work that missed its deadline still goes on. A process that ends had better not wait for it."""
    return any(thread.is_alive() for thread in _abandoned)


def run_within(seconds: float, work: Callable[[], _T]) -> _T | None:
    """What `work` returns, or None when it takes longer: then it goes on unheard and ends with the process.

    Raises what `work` raises in time.
    """
    results: list[_T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - handed on to the caller, if it still listens
            errors.append(error)

    from threading import Thread

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if thread.is_alive():
        _abandoned.append(thread)
    if errors:
        raise errors[0]
    return results[0] if results else None


ENTRY = "row, id, path, kind, tags, relevance, pinned, created_at, updated_at, importance, confidence, grp, speaker, commit_hash, confirmed_at, season, is_read"
"""The columns that `entry_of` takes."""


class WordsOfView:
    """The part of a view that its words answer. See `ports.views.SpaceView` for the promises."""

    _words: StoredWords

    def lexical(
        self, terms: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> TermStats:
        return self._words.lexical(terms, limit, among, with_common=with_common)

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        return self._words.passages(terms, rows)

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        return self._words.terms()


def entry_of(values: Sequence[Any]) -> Entry:
    """The entry of a row that has these ENTRY columns."""
    row, name, path, kind, tags, relevance, pinned, *rest = values
    return Entry(row, name, path, kind, tuple(tags.split()), relevance, bool(pinned), *rest)


def groups_of(names: Sequence[str], members: Iterable[Sequence[Any]]) -> dict[str, RecordedGroup]:
    """These groups; each member comes as its group, its position there, its row, and how many terms it has."""
    found: dict[str, list[tuple[str, int, int]]] = {name: [] for name in names}
    for name, position, row, length in members:
        found[name].append((position, row, length))
    return {
        name: RecordedGroup(tuple(row for _, row, _ in sorted(of)), sum(length for *_, length in of))
        for name, of in found.items()
    }


def model_in_use(load: Callable[[], tuple[Embedder, Any] | None]) -> str:
    """The model of the embedder that is loaded, or why there is none."""
    try:
        semantic = load()
    except (ProviderError, RefusedError) as error:
        return f"none: {error.message}"
    return semantic[0].model if semantic else "off"


_HELD = """
SELECT memory.row,
    iif(memory.valid_from <> '' OR memory.valid_until <> '' AND memory.superseded_by = '',
        memory.valid_from, memory.created_at),
    iif(memory.valid_until <> '' OR memory.superseded_by = '', memory.valid_until,
        coalesce(nullif(later.valid_from, ''), later.created_at, memory.updated_at)),
    iif(memory.active, '', memory.updated_at)
FROM memory LEFT JOIN memory AS later ON memory.superseded_by <> '' AND later.id = memory.superseded_by
"""
"""From when and until when each memory held, and when it was forgotten. What was not known yet was not valid yet, unless
its own times say so. A memory of the space `repo` that a copy in `main` supersedes does not say until when it held."""


def visible(connection: sqlite3.Connection, size: int, query: Query) -> RowSet:
    """The rows that pass the filters of the query, of the `size` rows that there are."""
    hidden = _out_of_force(connection, query) | _of_other_sessions(connection, query)
    where, values = _conditions(query)
    if not where:
        return RowSet(size - len(hidden), None, hidden)
    found = connection.execute(f"SELECT row FROM memory WHERE {' AND '.join(where)}", values)
    only = frozenset(row for (row,) in found) - hidden
    return RowSet(len(only), only)


def _out_of_force(connection: sqlite3.Connection, query: Query) -> frozenset[int]:
    """The rows that did not hold at the moment of the query, unless it wants them too."""
    if query.at is not None:
        return _not_held(connection, query.at)
    return frozenset() if query.include_inactive else _hidden(connection, query.now)


def _hidden(connection: sqlite3.Connection, now: str) -> frozenset[int]:
    """The rows that are forgotten, superseded or not valid now."""
    limited = connection.execute(
        "SELECT row, hidden, valid_from, valid_until FROM memory WHERE hidden OR valid_from <> '' OR valid_until <> ''"
    )
    return frozenset(row for row, gone, start, end in limited if gone or start > now or (end and end <= now))


def _not_held(connection: sqlite3.Connection, moment: str) -> frozenset[int]:
    """The rows that did not hold at an earlier or later moment, whatever became of them since."""
    return frozenset(
        row
        for row, start, end, since in connection.execute(_HELD)
        if start > moment or any(until and until <= moment for until in (end, since))
    )


def _of_other_sessions(connection: sqlite3.Connection, query: Query) -> frozenset[int]:
    """The rows that live in another session than that of the query."""
    found = connection.execute(
        "SELECT row FROM memory WHERE scope > 'session:' AND scope < 'session;' AND scope <> ?",
        (f"session:{query.session}",),
    )
    return frozenset(row for (row,) in found)


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []

    def add(condition: str, *given: Any) -> None:
        where.append(condition)
        values.extend(given)

    if query.kinds:
        add(f"kind IN ({','.join('?' * len(query.kinds))})", *query.kinds)
    if query.without_kinds:
        add(f"kind NOT IN ({','.join('?' * len(query.without_kinds))})", *query.without_kinds)
    if query.ids:
        add(f"id IN ({','.join('?' * len(query.ids))})", *query.ids)
    for tag in query.tags:
        add("instr(tags, ?)", f" {tag} ")
    if query.under:
        prefix = query.under.strip("/")
        # The slash and the character after it bound all that lies below the prefix.
        add("(path = ? OR (path >= ? AND path < ?))", prefix, f"{prefix}/", f"{prefix}0")
    if query.scope:
        add("scope IN (?, ?)", query.scope, f"{query.scope}:{query.session}")
    if query.since:
        add("created_at >= ?", query.since)
    if query.until:
        add("created_at < ?", query.until)
    if query.changed_since:
        add("updated_at >= ?", query.changed_since)
    if query.min_importance is not None:
        add("importance >= ?", query.min_importance)
    if query.require_high_relevance:
        add("relevance = 'high'")
    return where, values


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
