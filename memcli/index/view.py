"""The view of one space through its index: searches for rankers, and memories by id and path."""

from __future__ import annotations

import json
import math
from _thread import allocate_lock
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from time import monotonic

from memcli import sqlite
from memcli.errors import ProviderError, RefusedError
from memcli.index.tables import LAST
from memcli.index.words import IndexedWords
from memcli.model.memory import Memory
from memcli.model.recall import Cluster, Clusters, Entry, Nearness, Query, RecordedGroup, RowSet
from memcli.model.space import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memcli.index.meaning import Meaning, Places
    from memcli.index.tables import SpaceTables
    from memcli.index.vectors import VectorFile
    from memcli.model.catalogue import CatalogueFilter, Counts
    from memcli.ports import Embedder, Progress

    _T = TypeVar("_T")


_EMBEDDING_SHARE = 0.6
"""The share of a deadline for missing vectors; the rest is for loading the model and embedding the question."""


def run_within(seconds: float, work: Callable[[], _T]) -> _T | None:
    """The result of `work`, or None if it takes longer than `seconds`: then it runs on until the process ends, unused.

    Raises the exception of `work`, if it fails in time.
    """
    results: list[_T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - raised again for the caller, unless it has timed out
            errors.append(error)

    from threading import Thread

    # A daemon, so that the process ends without waiting for a search that missed its deadline.
    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if errors:
        raise errors[0]
    return results[0] if results else None


class Semantic:
    """The embedder of an index, and the vectors of its model; both are opened at their first use. `open_vectors` takes the name
    and the dimensions of the model."""

    def __init__(self, load: Callable[[], Embedder | None], open_vectors: Callable[[str, int], VectorFile]) -> None:
        self._load = load
        self._open_vectors = open_vectors
        self._lock = allocate_lock()
        self._is_loaded = False
        self.embedder: Embedder | None = None
        self.vectors: VectorFile | None = None

    def __call__(self) -> tuple[Embedder, VectorFile] | None:
        """The embedder and the vectors; None without an embedder. Raises ProviderError, RefusedError."""
        with self._lock:  # a search that missed its deadline may still be loading
            if not self._is_loaded:
                self.embedder = self._load()
                self._is_loaded = True
            if self.embedder is None:
                return None
            if self.vectors is None:
                self.vectors = self._open_vectors(self.embedder.model, self.embedder.dimensions)
            return self.embedder, self.vectors

    def model(self) -> str:
        """The name of the model, for messages; `off` without an embedder, `none: REASON` if it cannot be loaded."""
        try:
            semantic = self()
        except (ProviderError, RefusedError) as error:
            return f"none: {error.message}"
        return semantic[0].model if semantic else "off"

    def question(self, topic: str) -> tuple[str, bytes] | None:
        """The model and the cached vector of a topic; None without one, as nothing is computed."""
        if self.embedder is None or not self.embedder.is_calibrated:
            return None  # thresholds for two questions are fitted to calibrated cosines
        if self.vectors is None or not self.vectors.lock.acquire(blocking=False):
            return None  # locked by a search that missed its deadline
        try:
            vector = self.vectors.question(topic)
        except sqlite.Error:
            return None
        finally:
            self.vectors.lock.release()
        return (self.embedder.model, vector) if vector else None


_ENTRY = (
    "SELECT row, id, path, kind, tags, relevance, pinned, created_at, updated_at, importance, confidence, grp, speaker,"
    " commit_hash, confirmed_at, season, is_read FROM memory"
)
_OUT_OF_FORCE = """
SELECT row FROM memory WHERE (hidden OR valid_from <> '' OR valid_until <> '')
AND (hidden OR valid_from > ? OR (valid_until <> '' AND valid_until <= ?))
"""
_NOT_HELD = """
SELECT row FROM (
    SELECT memory.row,
        CASE WHEN memory.valid_from <> '' OR memory.valid_until <> '' AND memory.superseded_by = ''
            THEN memory.valid_from ELSE memory.created_at END AS start,
        CASE WHEN memory.valid_until <> '' OR memory.superseded_by = '' THEN memory.valid_until
            ELSE coalesce(nullif(later.valid_from, ''), later.created_at, memory.updated_at) END AS until,
        CASE WHEN memory.active THEN '' ELSE memory.updated_at END AS since
    FROM memory LEFT JOIN memory AS later ON memory.superseded_by <> '' AND later.id = memory.superseded_by
) AS held
WHERE start > ? OR (until <> '' AND until <= ?) OR (since <> '' AND since <= ?)
"""
"""The rows that were not valid at a moment: by the start and end of validity of each memory, and the time of its deletion. A memory
was not valid before it was recorded, unless it has times of its own. The end of one of the space `repo` that a copy in `main`
supersedes is unknown, and is the time of its last update."""
# `;` follows `:` in ASCII, so this is every scope that begins with `session:`, found by the index of scopes.
_OF_SESSIONS = "SELECT row FROM memory WHERE scope > 'session:' AND scope < 'session;'"
_LINKS = "SELECT link.row, memory.row, relation, weight FROM link JOIN memory ON memory.id = target"


MOST_CLUSTERED = 20_000
"""The most memories that are clustered: the time is quadratic, and so many take some 20 seconds."""
MIN_CLUSTER_SIZE, MIN_SAMPLES = 4, 2
"""Chosen with spaces of a talk and of a library's changes: with 5 samples, three of four memories are in no cluster."""
_LARGEST, _LARGEST_SHARE = 20, 0.1
"""The most members of a cluster, or their share of the space, whichever is more: without this limit, one in the talk had 88 % of
all memories, and so no meaning."""
_NAMED_BY = 24
"""Clusters are named by so many of their strongest members, which bounds how many memories are read."""


class IndexedSpace(IndexedWords):
    """A view of the version of a space in `tables`: searches for rankers, and memories by id and path. A row is a small integer
    that identifies a memory in one view.

    Entries and groups are cached, as the tables do not change.
    """

    def __init__(
        self, tables: SpaceTables, semantic: Semantic, warn: Callable[[str], None], progress: Progress | None
    ) -> None:
        super().__init__(tables)
        self._semantic = semantic
        self._warn = warn
        self._progress = progress
        self._loaded: Meaning | None = None
        self._entries: dict[int, Entry] = {}
        self._groups: dict[str, RecordedGroup] = {}

    @property
    def size(self) -> int:
        """The number of memories of the space."""
        return self._tables.size

    @cached_property
    def policy(self) -> Policy:
        """The policy of the space."""
        return self._tables.policy

    def visible(self, query: Query) -> RowSet:
        """The rows that pass the query's filters: active, not superseded, valid at its time, of its kinds and so on."""
        others = self._select_rows(f"{_OF_SESSIONS} AND scope <> ?", f"session:{query.session}")
        if query.at is not None:
            out_of_force = self._select_rows(_NOT_HELD, query.at, query.at, query.at)
        elif query.include_inactive:
            out_of_force = frozenset()
        else:
            out_of_force = self._select_rows(_OUT_OF_FORCE, query.now, query.now)
        hidden = out_of_force | others
        where, values = _conditions(query)
        if not where:
            return RowSet(self.size - len(hidden), None, hidden)
        only = self._select_rows(f"SELECT row FROM memory WHERE {' AND '.join(where)}", *values) - hidden
        return RowSet(len(only), only)

    def has_sessions(self) -> bool:
        """Whether any memory has the scope of a session, and so ends with it."""
        return bool(self._select_rows(f"{_OF_SESSIONS} LIMIT 1"))

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        """The entries of these rows, or of all."""
        if rows is None:
            return {values[0]: _entry(values) for values in self._tables.select(_ENTRY)}
        new = [row for row in rows if row not in self._entries]
        self._entries |= {values[0]: _entry(values) for values in self._tables.select(f"{_ENTRY} WHERE row IN ?", new)}
        return {row: self._entries[row] for row in rows}

    def pinned(self) -> list[int]:
        """The rows of the pinned memories."""
        return [row for (row,) in self._tables.select("SELECT row FROM memory WHERE pinned ORDER BY row")]

    @cached_property
    def triggers(self) -> dict[int, tuple[str, ...]]:
        """The triggers of each row that has some."""
        found = self._tables.select("SELECT row, triggers FROM memory WHERE triggers <> '' ORDER BY row")
        return {row: tuple(json.loads(texts)) for row, texts in found}

    def anchors(self, files: Sequence[str]) -> dict[int, list[tuple[str, int, int]]]:
        """The rows with anchors in these files, each with the file, the first and the last line; 0, 0 for the whole file."""
        found: dict[int, list[tuple[str, int, int]]] = {}
        select = "SELECT row, file, first, last FROM anchor WHERE file IN ?"
        for row, file, first, last in self._tables.select(select, list(files)):
            found.setdefault(row, []).append((file, first, last))
        return found

    def anchored_files(self) -> list[str]:
        """The files of all anchors, sorted."""
        return [file for (file,) in self._tables.select("SELECT DISTINCT file FROM anchor ORDER BY file")]

    def groups(self, names: Sequence[str]) -> dict[str, RecordedGroup]:
        """These groups (sessions, commits) with all their rows."""
        new = [name for name in names if name not in self._groups]
        members: dict[str, list[tuple[str, int, int]]] = {name: [] for name in new}
        select = "SELECT grp, position, row, terms FROM memory WHERE grp <> '' AND grp IN ?"
        for name, position, row, length in self._tables.select(select, new):
            members[name].append((position, row, length))
        for name, of in members.items():
            rows = tuple(row for _, row, _ in sorted(of))
            self._groups[name] = RecordedGroup(rows, sum(length for *_, length in of))
        return {name: self._groups[name] for name in names}

    def links(self, rows: Sequence[int] | None = None) -> list[tuple[int, int, str, float]]:
        """The links between rows, or those that begin or end at one of `rows`, unordered: start, end, relation, weight (0..1)."""
        statement = _LINKS
        if rows is not None:
            some = ",".join(str(int(row)) for row in rows)
            ends = f"target IN (SELECT id FROM memory WHERE row IN ({some}))"
            statement = f"{_LINKS} WHERE link.row IN ({some}) UNION {_LINKS} WHERE {ends}"
        return [(start, end, relation, weight) for start, end, relation, weight in self._tables.select(statement)]

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        """The memories of these rows, read from the store, in the order of `rows`. Raises CorruptError."""
        return self._tables.fetch(rows)

    def read(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids, read from the store, in the order of `ids`. Raises CorruptError."""
        return self._tables.read(ids)

    def dense(
        self,
        texts: Sequence[str],
        within: float | None = None,
        among: RowSet | None = None,
        first: Places = (),
        patience: float = math.inf,
    ) -> list[Nearness] | None:
        """The nearness of every passage that has a vector to each text; in a very large space only of the nearest ones, of
        `among`, if given. Missing vectors are computed for about `patience` seconds, a few in any case: those of the passages
        `first`, each given by its row and its number there, and if few are missing, all.

        None if there is no embedder, it fails, it does not read the language of the first text, or it takes longer than
        `within` seconds.
        """
        most = patience if within is None else min(patience, within * _EMBEDDING_SHARE)
        ends = math.inf if most == math.inf else monotonic() + most

        def goes_on() -> bool:
            return monotonic() < ends

        # A hook spends on meaning only the time that is left, and may have none.
        if within is not None and within <= 0:
            return None
        try:
            if within is not None:
                return self._dense_within(within, texts, among, first, goes_on)
            meaning = self._meaning()
            if meaning is None or not meaning.reads(texts[0]):
                return None
            return meaning.cosines(texts, among, first, goes_on)
        except (ProviderError, RefusedError) as error:
            self._warn(f"{error.message}; answering by words alone")
            return None

    def _dense_within(
        self, seconds: float, texts: Sequence[str], among: RowSet | None, first: Places, goes_on: Callable[[], bool]
    ) -> list[Nearness] | None:
        """As `dense`, in a thread with its own connection, as it may still run after the view was closed."""
        open_beside = self._tables.beside()

        def work() -> list[Nearness] | None:
            semantic = self._semantic()
            if semantic is None:
                return None
            with open_beside() as tables:
                meaning = None if tables is None else tables.meaning(*semantic, None)
                if meaning is None or not meaning.reads(texts[0]):
                    return None
                return meaning.cosines(texts, among, first, goes_on)

        found = run_within(seconds, work)
        meaning = self._meaning() if found and found[0].more is not None else None
        return found if meaning is None else meaning.resumed(texts, found or [])

    def embed(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Computes missing vectors, first of statements and documents, then of messages of commits, then of hunks, newest
        first, until `goes_on`, which is called after every batch, returns False. Returns whether there is an embedder.

        Vectors computed before an error are stored. Raises ProviderError, RefusedError, and OutdatedError if memories were
        erased meanwhile.
        """
        meaning = self._meaning()
        if meaning is not None:
            meaning.complete(goes_on)
        return meaning is not None

    def _meaning(self) -> Meaning | None:
        """The vectors of the space, loaded at their first use; None without an embedder."""
        if self._loaded is None and (semantic := self._semantic()) is not None:
            self._loaded = self._tables.meaning(*semantic, self._progress)
        return self._loaded

    def clusters(self, *, only_known: bool = False) -> Clusters:
        """The clusters of the memories that are neither forgotten nor superseded, computed if the space has changed, except
        with `only_known`. Raises CorruptError."""
        try:
            semantic = self._semantic()
            if semantic is None:
                return Clusters(reason="there is no embedder")
            select = "SELECT data FROM clusters WHERE model = ? AND fingerprint = ?"
            for (data,) in self._tables.select(select, semantic[0].model, self._tables.fingerprint):
                stored = ((one["id"], one["name"], one["ids"], one["strengths"]) for one in json.loads(data))
                return Clusters(tuple(Cluster(own, name, tuple(ids), tuple(of)) for own, name, ids, of in stored))
            if only_known:
                return Clusters(reason="none were looked for")
            meaning = self._meaning()
            assert meaning is not None  # there is an embedder
            return self._find_clusters(meaning, semantic[0].model)
        except (ProviderError, RefusedError) as error:
            return Clusters(reason=error.message)

    def _find_clusters(self, meaning: Meaning, model: str) -> Clusters:
        """Computes the clusters, and stores them until the space changes."""
        from memcli.graph.elements import cluster_id, names

        ((count,),) = self._tables.select("SELECT count(*) FROM memory WHERE NOT hidden")
        if count > MOST_CLUSTERED:
            return Clusters(reason=f"clusters are found among at most {MOST_CLUSTERED} memories, not {count}")
        ids: dict[int, str] = dict(self._tables.select("SELECT row, id FROM memory WHERE NOT hidden"))
        means = meaning.means(ids)
        if means is None:
            return Clusters(reason="vectors are missing; `memcli store index embed` computes them")
        groups = _groups(*means, ids)
        found = []
        members_of_name = [self.fetch([row for row, _ in group[:_NAMED_BY]]) for group in groups]
        for group, name in zip(groups, names(members_of_name), strict=True):
            members = tuple(ids[row] for row, _ in group)
            found.append(Cluster(cluster_id(members), name, members, tuple(strength for _, strength in group)))
        fields = [{"id": one.id, "name": one.name, "ids": one.ids, "strengths": one.strengths} for one in found]
        self._tables.keep_clusters(model, json.dumps(fields))
        return Clusters(tuple(found))

    def find(self, ref: str) -> Memory | None:
        """The memory with this id, or otherwise the first at this path; None without either. Raises CorruptError."""
        for column in ("id", "path"):
            found = f"SELECT id FROM memory WHERE {column} = ? ORDER BY updated_at, id LIMIT 1"
            for (name,) in self._tables.select(found, ref):
                return self.read([name])[0]
        return None

    def ids_with_prefix(self, text: str) -> list[str]:
        """The ids that begin with `text`, sorted."""
        found = "SELECT id FROM memory WHERE id >= ? AND id < ? ORDER BY id"
        return [name for (name,) in self._tables.select(found, text, text + LAST)]

    def count(self, wanted: CatalogueFilter) -> int:
        """The number of memories that pass the filter, regardless of its depth."""
        where, values = _listed(wanted)
        ((count,),) = self._tables.select(f"SELECT count(*) FROM memory WHERE {where}", *values)
        return int(count)

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        """The path and the id of each memory that passes the filter, in order; for a branch below the depth of the filter only
        its path, with an empty id."""
        if wanted.depth is not None:
            yield from self._branches(wanted, wanted.depth)
            return
        where, values = _listed(wanted)
        yield from self._tables.select(f"SELECT path, id FROM memory WHERE {where} ORDER BY path, id", *values)

    def listed(self, wanted: CatalogueFilter) -> list[tuple[str, str, str, bool, bool]]:
        """The path, id and kind of each memory that passes the filter, regardless of its depth, whether it is pinned, and whether
        it is forgotten or superseded; in no order."""
        where, values = _listed(wanted)
        return list(self._tables.select(f"SELECT path, id, kind, pinned, hidden FROM memory WHERE {where}", *values))

    def incoming(self, name: str) -> list[tuple[str, str]]:
        """The relation of each link to the memory with this id, and the id of the memory that has the link."""
        found = "SELECT relation, id FROM link JOIN memory ON memory.row = link.row WHERE target = ? AND relation <> ''"
        return list(self._tables.select(f"{found} ORDER BY updated_at, id, relation", name))

    def newest(self, wanted: CatalogueFilter, count: int | None) -> list[str]:
        """The ids of at most `count` memories that pass the filter, regardless of its depth, the last updated first, then in
        order of path and id."""
        where, values = _listed(wanted)
        limit = "" if count is None else f" LIMIT {count:d}"
        found = f"SELECT id FROM memory WHERE {where} ORDER BY updated_at DESC, path, id{limit}"
        return [name for (name,) in self._tables.select(found, *values)]

    def _branches(self, wanted: CatalogueFilter, depth: int) -> Iterator[tuple[str, str]]:
        """As `places`; the memories below a branch are skipped, not read."""
        where, values = _listed(wanted)
        steps = self._tables.select(
            f"""
            WITH RECURSIVE step (path) AS (
                SELECT (SELECT path FROM memory WHERE {where} ORDER BY path LIMIT 1)
                UNION ALL
                SELECT (
                    SELECT memory.path FROM memory WHERE {where} AND memory.path > {self._tables.end_of_branch(depth)}
                    ORDER BY memory.path LIMIT 1
                ) FROM step WHERE step.path IS NOT NULL
            ) SELECT path FROM step WHERE path IS NOT NULL
            """,
            *values,
            *values,
        )
        here = f"SELECT path, id FROM memory WHERE {where} AND path = ? ORDER BY id"
        for (path,) in list(steps):
            branch = wanted.branch(path)
            if branch is not None:
                yield branch, ""
            else:
                yield from [(own, name) for own, name in self._tables.select(here, *values, path)]

    def counts(self) -> Counts:
        """The numbers of memories of the space, by state, kind, relevance and tag."""
        from memcli.model.catalogue import Counts, tag_counts

        ((*sums, oldest, newest),) = self._tables.select(
            "SELECT count(*), count(*) FILTER (WHERE active), count(*) FILTER (WHERE superseded_by <> ''),"
            " count(*) FILTER (WHERE pinned), coalesce(sum(characters), 0),"
            " coalesce(min(created_at), ''), coalesce(max(updated_at), '') FROM memory"
        )

        objects, active, superseded, pinned, characters = map(int, sums)
        return Counts(
            objects, active, superseded, pinned, characters, oldest, newest,
            self._by("kind"), self._by("relevance"), tag_counts(self._by("tags").items()),
        )  # fmt: skip

    def _by(self, column: str) -> Counter[str]:
        found = self._tables.select(f"SELECT {column}, count(*) FROM memory GROUP BY {column}")
        return Counter(dict(found))

    def status(self) -> dict[str, int]:
        """The numbers of objects, terms, chunks, chunks with vectors and clusters in the index."""
        texts = "(SELECT key FROM passage UNION SELECT key FROM window) AS text"
        ((chunks,),) = self._tables.select(f"SELECT count(*) FROM {texts}")
        try:
            semantic = self._semantic()
        except (ProviderError, RefusedError):  # reported by `embedder` of the index
            semantic = None
        return {
            "objects": self.size, "terms": self._tables.count_terms(), "chunks": chunks,
            "vectors": self._tables.count_vectors(*semantic) if semantic else 0,
            "clusters": len(self.clusters(only_known=True).found),
        }  # fmt: skip

    def close(self) -> None:
        """Closes the index."""
        self._tables.close()

    def _select_rows(self, statement: str, *values: Any) -> frozenset[int]:
        return frozenset(row for (row,) in self._tables.select(statement, *values))


def _entry(values: Sequence[Any]) -> Entry:
    """The entry of a row, given its columns of _ENTRY."""
    row, name, path, kind, tags, relevance, pinned, *rest = values
    return Entry(row, name, path, kind, tuple(tags.split()), relevance, bool(pinned), *rest)


def _groups(rows: Any, means: Any, ids: Mapping[int, str]) -> list[list[tuple[int, float]]]:
    """The rows of each cluster with their strengths, the strongest first; the largest cluster first."""
    from memcli.graph.hdbscan import hdbscan

    by_id = sorted(range(len(rows)), key=lambda n: ids[int(rows[n])])  # row numbers depend on the order of indexing
    largest = max(_LARGEST, int(_LARGEST_SHARE * len(rows)))
    clusters, strengths = hdbscan(means[by_id], MIN_CLUSTER_SIZE, MIN_SAMPLES, largest)
    groups: dict[int, list[tuple[int, float]]] = {}
    for n, label, strength in zip(by_id, clusters, strengths, strict=True):
        if label >= 0:
            groups.setdefault(label, []).append((int(rows[n]), round(strength, 6)))
    firmest = [sorted(group, key=lambda member: (-member[1], ids[member[0]])) for group in groups.values()]
    return sorted(firmest, key=lambda group: (-len(group), ids[group[0][0]]))


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    """SQL for the filters of a query that name a value, and these values."""
    prefix = query.under.strip("/")
    filters: list[tuple[Any, str, tuple[Any, ...]]] = [
        (query.kinds, "kind IN ?", (list(query.kinds),)),
        (query.without_kinds, "kind NOT IN ?", (list(query.without_kinds),)),
        (query.ids, "id IN ?", (list(query.ids),)),
        *((True, "instr(tags, ?) > 0", (f" {tag} ",)) for tag in query.tags),
        # The slash, and the character after it in Unicode, bound all paths below the prefix.
        (query.under, "(path = ? OR (path >= ? AND path < ?))", (prefix, f"{prefix}/", f"{prefix}0")),
        (query.scope, "scope IN (?, ?)", (query.scope, f"{query.scope}:{query.session}")),
        (query.since, "created_at >= ?", (query.since,)),
        (query.until, "created_at < ?", (query.until,)),
        (query.changed_since, "updated_at >= ?", (query.changed_since,)),
        (query.min_importance is not None, "importance >= ?", (query.min_importance,)),
        (query.require_high_relevance, "relevance = 'high'", ()),
    ]
    active = [(condition, values) for is_set, condition, values in filters if is_set]
    return [condition for condition, _ in active], [value for _, values in active for value in values]


def _listed(wanted: CatalogueFilter) -> tuple[str, list[Any]]:
    """SQL for the memories that pass the filter, and its values."""
    prefix = wanted.under.strip("/")
    where: list[str] = []
    values: list[Any] = []
    if prefix:
        # `0` is the character after the slash in Unicode: no path below the prefix sorts after it.
        where.append("path >= ? AND path < ? AND (path = ? OR path >= ?)")
        values += [prefix, f"{prefix}0", prefix, f"{prefix}/"]
    if wanted.kinds:
        where.append("kind IN ?")
        values.append(list(wanted.kinds))
    for tag in wanted.tags:
        where.append("instr(tags, ?) > 0")
        values.append(f" {tag} ")
    if not wanted.inactive:
        where.append("NOT hidden")
    return " AND ".join(where) or "true", values
