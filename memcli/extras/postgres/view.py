"""One space as its index on the server shows it: what rankers ask of it, answered in the transaction of a snapshot.

The terms of a space, found by PostgreSQL's text search and scored as SQLite's FTS5 does.

Filters: which rows of an indexed space a query may see.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.errors import ProviderError, RefusedError
from memcli.extras.postgres.catalogue import frequencies, totals, vocabulary
from memcli.extras.postgres.snapshot import reader
from memcli.index.view import ENTRY, WordsOfView, entry_of, groups_of
from memcli.index.words import RowTerms, StoredWords
from memcli.model.memory import Memory
from memcli.model.recall import FIELDS, Clusters, Entry, Nearness, Query, RecordedGroup, RowSet
from memcli.model.space import Policy

if TYPE_CHECKING:
    from memcli.extras.postgres.server import Server
    from memcli.extras.postgres.snapshot import Read, ServerSnapshot
    from memcli.extras.postgres.vectors import QuestionCache, ServerMeaning
    from memcli.ports import Embedder, Progress


EXACT = 20_000
"""Up to so many memories with one of the terms, the candidates are the best of them all. Among more, a memory is a candidate
only if it has one of the rarest terms."""

_LEAST_IDF = 1e-6
_SCORED = """
SELECT row, -({score}) AS score FROM (
    SELECT row, lexemes, weights, 1.2::float8 * (0.25::float8 + 0.75::float8 * size::float8 / %(average)s::float8) AS norm
    FROM {matching}
) AS found ORDER BY score LIMIT %(most)s
"""
_BY_ID = "SELECT row FROM (SELECT space, row FROM {matching}) AS found JOIN entry USING (space, row) ORDER BY id"
_DIRECT = "term WHERE lexemes_of(space, lexemes) @@ %(query)s::tsquery"
_TRUSTED = "matching(%(space)s, %(query)s)"
"""What has any of the terms, for those whom row-level security lets see only some spaces."""
_FOUND = "coalesce(weights[array_position(lexemes, %(term{n})s)], 0) / 2.0::float8"
_PART = f"%(idf{{n}})s::float8 * (({_FOUND}) * 2.2::float8 / (({_FOUND}) + norm))"
"""BM25 with k1 = 1.2 and b = 0.75, each operation in the order of FTS5, so that what ties there ties here."""


class PostgresWords(StoredWords):
    """The terms of a space. See `ports.views.SpaceView` for the promises."""

    def __init__(self, read: Read, space: str) -> None:
        self._db = read
        self._space = space
        self._totals = totals(read, space)
        super().__init__(RowTerms(self._fields, self._passages), self._totals.memories)

    @property
    def size(self) -> int:
        """How many memories the space has."""
        return self._size

    def best(self, terms: Sequence[str], limit: int, among: RowSet) -> Iterator[tuple[int, float]]:
        """By the score of FTS5."""
        values: dict[str, Any] = {"average": self._totals.tokens / self._size}
        for n, term in enumerate(terms):
            values |= {f"idf{n}": self._idf(term), f"term{n}": term}
        score = " + ".join(_PART.format(n=n) for n in range(len(terms)))
        values["most"] = limit + len(among.hidden) if among.only is None else None
        return iter(self._matching(_SCORED.replace("{score}", score), terms, values))

    def by_id(self, terms: Sequence[str]) -> Iterator[int]:
        return (row for (row,) in self._matching(_BY_ID, terms, {}))

    def _matching(self, select: str, terms: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
        """What a statement finds among the memories with any of the terms."""
        ((is_limited,),) = self._db("SELECT row_security_active('term'::regclass)", ())
        matching = _TRUSTED if is_limited else _DIRECT
        given = {**values, "space": self._space, "query": self._finding(terms)}
        return self._db(select.replace("{matching}", matching), given)

    def read_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        return frequencies(self._db, self._space, terms)

    @property
    def passage_count(self) -> int:
        """How many passages the space has."""
        return self._totals.passages

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        # A text that is its own summary is not kept as one.
        found = self._db(
            "SELECT row, field.path, field.tags, source, CASE summary WHEN '' THEN raw ELSE summary END"
            " FROM entry JOIN field USING (space, row) WHERE space = %s",
            (self._space,),
        )
        return {row: tuple(tuple(text.split()) for text in texts) for row, *texts in found}

    def _idf(self, term: str) -> float:
        n = self._frequencies_of([term])[term]
        found = math.log((self._size - n + 0.5) / (n + 0.5))
        return found if found > 0 else _LEAST_IDF

    def _finding(self, terms: Sequence[str]) -> str:
        """The query for memories with any of the terms: of the rarest only, when more than EXACT could have one."""
        known = self._frequencies_of(terms)
        chosen = list(terms)
        if min(self._size, sum(known.values())) > EXACT:
            ordered = sorted(terms, key=lambda t: (known[t], t))
            chosen = [t for n, t in enumerate(ordered) if not n or sum(known[t] for t in ordered[: n + 1]) <= EXACT]
        return " | ".join(_quoted(f"{self._space}/{t}") for t in chosen)

    def _fields(self, rows: Sequence[int]) -> list[tuple[Any, ...]]:
        select = f"SELECT row, {', '.join(FIELDS)} FROM field WHERE space = %s AND row = ANY(%s)"
        return self._read(select, rows)

    def _passages(self, rows: Sequence[int]) -> list[tuple[Any, ...]]:
        columns = "row, n, form, first, last, heading, is_versioned"
        return self._read(f"SELECT {columns} FROM passage WHERE space = %s AND row = ANY(%s) ORDER BY row, n", rows)

    def _read(self, select: str, rows: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._db(select, (self._space, list(rows))) if rows else []


def _quoted(lexeme: str) -> str:
    """The lexeme as a query has it."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


_NOT_HELD = """
SELECT row FROM (
    SELECT entry.row,
        CASE WHEN entry.valid_from <> '' OR entry.valid_until <> '' AND entry.superseded_by = ''
            THEN entry.valid_from ELSE entry.created_at END AS start,
        CASE WHEN entry.valid_until <> '' OR entry.superseded_by = '' THEN entry.valid_until
            ELSE coalesce(nullif(later.valid_from, ''), later.created_at, entry.updated_at) END AS until,
        CASE WHEN entry.active THEN '' ELSE entry.updated_at END AS since
    FROM entry LEFT JOIN entry AS later
        ON entry.superseded_by <> '' AND later.space = entry.space AND later.id = entry.superseded_by
    WHERE entry.space = %(space)s
) AS held
WHERE start > %(at)s OR (until <> '' AND until <= %(at)s) OR (since <> '' AND since <= %(at)s)
"""
"""What did not hold at a moment: from when and until when each memory held, and when it was forgotten. What was not known yet
was not valid yet, unless its own times say so. A memory that another space supersedes may not say until when it held."""

_OUT_OF_FORCE = """
SELECT row FROM entry WHERE space = %(space)s AND (hidden OR valid_from <> '' OR valid_until <> '')
AND (hidden OR valid_from > %(now)s OR (valid_until <> '' AND valid_until <= %(now)s))
"""

_OF_OTHER_SESSIONS = (
    "SELECT row FROM entry WHERE space = %s AND scope > 'session:' AND scope < 'session;' AND scope <> %s"
)


def visible(read: Read, space: str, size: int, query: Query) -> RowSet:
    """The rows that pass the filters of the query, of the `size` rows that there are."""
    hidden = _out_of_force(read, space, query) | _rows(read(_OF_OTHER_SESSIONS, (space, f"session:{query.session}")))
    where, values = _conditions(query)
    if not where:
        return RowSet(size - len(hidden), None, hidden)
    select = f"SELECT row FROM entry WHERE space = %s AND {' AND '.join(where)}"
    only = _rows(read(select, (space, *values))) - hidden
    return RowSet(len(only), only)


def _out_of_force(read: Read, space: str, query: Query) -> frozenset[int]:
    """The rows that did not hold at the moment of the query, unless it wants them too."""
    if query.at is not None:
        return _rows(read(_NOT_HELD, {"space": space, "at": query.at}))
    if query.include_inactive:
        return frozenset()
    return _rows(read(_OUT_OF_FORCE, {"space": space, "now": query.now}))


def _rows(found: Sequence[tuple[Any, ...]]) -> frozenset[int]:
    return frozenset(row for (row,) in found)


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    prefix = query.under.strip("/")
    given: list[tuple[str, tuple[Any, ...], bool]] = [
        ("kind = ANY(%s)", (list(query.kinds),), bool(query.kinds)),
        ("kind <> ALL(%s)", (list(query.without_kinds),), bool(query.without_kinds)),
        ("id = ANY(%s)", (list(query.ids),), bool(query.ids)),
        *(("strpos(tags, %s) > 0", (f" {tag} ",), True) for tag in query.tags),
        # The slash and the character after it bound all that lies below the prefix.
        ("(path = %s OR (path >= %s AND path < %s))", (prefix, f"{prefix}/", f"{prefix}0"), bool(query.under)),
        ("scope IN (%s, %s)", (query.scope, f"{query.scope}:{query.session}"), bool(query.scope)),
        ("created_at >= %s", (query.since,), bool(query.since)),
        ("created_at < %s", (query.until,), bool(query.until)),
        ("updated_at >= %s", (query.changed_since,), bool(query.changed_since)),
        ("importance >= %s::float8", (query.min_importance,), query.min_importance is not None),
        ("relevance = 'high'", (), query.require_high_relevance),
    ]
    where = [condition for condition, _, is_asked in given if is_asked]
    return where, [value for _, values, is_asked in given if is_asked for value in values]


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
        from memcli.extras.postgres.catalogue import find_clusters, kept_clusters

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
        from memcli.extras.postgres.snapshot import beside

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
        from memcli.extras.postgres.vectors import ServerMeaning, VectorSource

        source = VectorSource(read, self._space, self._words.passage_count)
        return ServerMeaning(source, self._server, embedder, asked, self._progress)

    def _rows(self, select: str) -> list[int]:
        return [row for (row,) in self._db(select, (self._space,))]
