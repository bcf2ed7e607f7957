"""One space as its index shows it: what rankers ask of it, answered from SQLite and the vectors."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memcli.codec.space import policy_from_json
from memcli.errors import ProviderError
from memcli.index.deadline import run_within
from memcli.index.meaning import Meaning
from memcli.index.vectors import VectorFile
from memcli.model.memory import Memory
from memcli.model.passages import CONTENT, CONTEXT, MESSAGE
from memcli.model.recall import FIELDS, Entry, Group, Nearness, PassageTerms, Query, Rows, TermStats
from memcli.model.space import Policy
from memcli.ports import Embedder, Progress, Snapshot

COMMON_SHARE = 0.1
"""A term in more than this share of a space finds no candidates while there are rarer ones; it still counts in scores."""

_PER_STATEMENT = 500
_WEIGHTS = "4.0, 3.0, 1.5, 1.0, 1.0"  # of FIELDS, for the choice of candidates
_ENTRY = "row, id, path, kind, tags, relevance, pinned, created_at, updated_at, importance, confidence, grp, speaker, commit_hash"
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
its own times say so. Stores of earlier versions do not say until when a superseded memory held."""

_BARE = (MESSAGE, CONTEXT)
"""Forms of passages that stand for themselves, without what is around them."""
_PASSAGES = "SELECT row, n, form, first, last, heading, is_versioned FROM passage WHERE row"

Semantic = Callable[[], "tuple[Embedder, VectorFile] | None"]


class IndexedSpace:
    """A view of one snapshot. See `ports.SpaceView` for the promises."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        snapshot: Snapshot,
        semantic: Semantic,
        reopen: Callable[[], sqlite3.Connection | None],
        warn: Callable[[str], None],
        progress: Progress | None,
    ) -> None:
        self._reopen = reopen
        self._warn = warn
        self._db = connection
        self._snapshot = snapshot
        self._semantic = semantic
        self._progress = progress
        self._loaded: Meaning | None = None
        self._triggers: dict[int, tuple[str, ...]] | None = None
        self._size = int(self._one("SELECT count(*) FROM memory"))

    @property
    def size(self) -> int:
        return self._size

    @property
    def policy(self) -> Policy:
        stored = self._one("SELECT value FROM meta WHERE key = 'policy'")
        return policy_from_json(json.loads(stored), self._snapshot.space)

    def visible(self, query: Query) -> Rows:
        hidden = self._hidden(query.now) if query.at is None else self._not_held(query.at)
        where, values = _conditions(query)
        if not where:
            return Rows(self._size - len(hidden), None, hidden)
        found = self._db.execute(f"SELECT row FROM memory WHERE {' AND '.join(where)}", values)
        only = frozenset(row for (row,) in found) - hidden
        return Rows(len(only), only)

    def _hidden(self, now: str) -> frozenset[int]:
        """The rows that are forgotten, superseded or not valid now."""
        limited = self._db.execute(
            "SELECT row, hidden, valid_from, valid_until FROM memory"
            " WHERE hidden OR valid_from <> '' OR valid_until <> ''"
        )
        return frozenset(row for row, gone, start, end in limited if gone or start > now or (end and end <= now))

    def _not_held(self, moment: str) -> frozenset[int]:
        """The rows that did not hold at an earlier or later moment, whatever became of them since."""
        return frozenset(
            row
            for row, start, end, since in self._db.execute(_HELD)
            if start > moment or any(until and until <= moment for until in (end, since))
        )

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        found = {}
        select = f"SELECT {_ENTRY} FROM memory"
        for values in self._db.execute(select) if rows is None else self._each(f"{select} WHERE row", rows):
            row, name, path, kind, tags, relevance, pinned, *rest = values
            found[row] = Entry(row, name, path, kind, tuple(tags.split()), relevance, bool(pinned), *rest)
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
        for row, *place in self._each("SELECT row, file, first, last FROM anchor WHERE file", files):
            found.setdefault(row, []).append((place[0], place[1], place[2]))
        return found

    def anchored_files(self) -> list[str]:
        return [file for (file,) in self._db.execute("SELECT DISTINCT file FROM anchor ORDER BY file")]

    def lexical(self, terms: Sequence[str], limit: int) -> TermStats:
        frequencies = {t: self._one("SELECT doc FROM vocabulary WHERE term = ?", t) for t in terms}
        known = [t for t in terms if frequencies[t]]
        rare = [t for t in known if frequencies[t] <= COMMON_SHARE * self._size]
        rows = self._candidates(rare or known, limit)
        counts: dict[int, dict[str, tuple[int, ...]]] = {}
        lengths: dict[int, tuple[int, ...]] = {}
        wanted = frozenset(known)
        for row, *texts in self._each(f"SELECT rowid, {', '.join(FIELDS)} FROM term WHERE rowid", rows):
            fields = [text.split() for text in texts]
            lengths[row] = tuple(map(len, fields))
            counts[row] = _count(fields, wanted)
        return TermStats(
            size=self._size,
            averages=self._averages(),
            frequencies={t: int(frequencies[t] or 0) for t in terms},
            counts=counts,
            lengths=lengths,
        )

    def dense(self, texts: Sequence[str], within: float | None = None) -> list[Nearness] | None:
        try:
            return self._dense(texts) if within is None else run_within(within, lambda: self._dense_apart(texts))
        except ProviderError as error:
            self._warn(f"{error.message}; answering by words alone")
            return None

    def embed(self) -> bool:
        try:
            meaning = self._meaning()
            if meaning is not None:
                meaning.complete()
        except ProviderError as error:
            self._warn(error.message)
            return False
        return meaning is not None

    def _dense(self, texts: Sequence[str]) -> list[Nearness] | None:
        meaning = self._meaning()
        return None if meaning is None else meaning.cosines(texts)

    def _dense_apart(self, texts: Sequence[str]) -> list[Nearness] | None:
        """As `_dense`, on a connection of its own: this may still go on when the view has long been closed."""
        semantic = self._semantic()
        db = self._reopen()
        if semantic is None or db is None:
            return None
        try:
            return Meaning(db, self._snapshot, *semantic, None).cosines(texts)
        finally:
            db.close()

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        raw: dict[int, list[tuple[int, str]]] = {}
        wanted = frozenset(terms)
        content: dict[int, list[str]] = {}
        for row, text, other in self._each("SELECT rowid, raw, content FROM term WHERE rowid", rows):
            raw[row] = [(n, term) for n, term in enumerate(text.split()) if term in wanted]
            content[row] = other.split()
        found: dict[int, list[PassageTerms]] = {row: [] for row in rows}
        for row, n, form, first, last, heading, is_versioned in self._each(_PASSAGES, rows):
            above = heading.split()
            if form == CONTENT and not first < last:
                inside, size = [term for term in content[row] if term in wanted], len(content[row])
            else:
                places, size = raw[row], last - first
                inside = [t for _, t in places[bisect_left(places, (first,)) : bisect_left(places, (last,))]]
            counts = {t: (above.count(t), inside.count(t)) for t in {*inside, *wanted.intersection(above)}}
            found[row].append(
                PassageTerms(n, form, bool(above) or form in _BARE, bool(is_versioned), counts, len(above) + size)
            )
        return found

    def passage_length(self) -> float:
        found = self._db.execute("SELECT passages, terms FROM total").fetchone()
        return found[1] / found[0] if found and found[0] else 0.0

    def groups(self, names: Sequence[str]) -> dict[str, Group]:
        members: dict[str, list[tuple[str, int, int]]] = {name: [] for name in names}
        for name, position, row, length in self._each("SELECT grp, position, row, terms FROM memory WHERE grp", names):
            members[name].append((position, row, length))
        return {
            name: Group(tuple(row for _, row, _ in sorted(found)), sum(length for *_, length in found))
            for name, found in members.items()
        }

    def status(self) -> dict[str, int]:
        chunks = [key for (key,) in self._db.execute("SELECT key FROM passage UNION SELECT key FROM window")]
        semantic = self._semantic()
        known = len(semantic[1].slots(chunks)) if semantic else 0
        terms = int(self._one("SELECT count(*) FROM vocabulary"))
        return {"objects": self._size, "terms": terms, "chunks": len(chunks), "vectors": known}

    def close(self) -> None:
        self._db.close()

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        # A text that is its own summary is not kept as one.
        found = self._db.execute(
            "SELECT memory.row, term.path, term.tags, source, iif(summary = '', raw, summary)"
            " FROM memory JOIN term ON term.rowid = memory.row"
        )
        return {row: tuple(tuple(text.split()) for text in texts) for row, *texts in found}

    def links(self) -> list[tuple[int, int, str, float]]:
        return self._db.execute(
            "SELECT link.row, memory.row, relation, weight FROM link JOIN memory ON memory.id = target"
        ).fetchall()

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        places = {
            row: (name, start, length)
            for row, name, start, length in self._each("SELECT row, id, start, length FROM memory WHERE row", rows)
        }
        return self._snapshot.fetch([places[row] for row in rows])

    def _candidates(self, terms: Sequence[str], limit: int) -> list[int]:
        """The best rows by FTS5's own score. Rows that tie at the end of the list are all left out, or, when
        nothing else is there, taken in order of id: what is cut off must not depend on the history of the index."""
        if not terms:
            return []
        asked = " OR ".join(f'"{t}"' for t in terms)
        found = self._db.execute(
            f"SELECT rowid, bm25(term, {_WEIGHTS}) AS score FROM term WHERE term MATCH ? ORDER BY score LIMIT ?",
            (asked, limit + 1),
        ).fetchall()
        if len(found) <= limit:
            return [row for row, _ in found]
        cut = found[-1][1]
        better = [row for row, score in found if score < cut]
        if better:
            return better
        tied = self._db.execute(
            "SELECT term.rowid FROM term JOIN memory ON memory.row = term.rowid WHERE term MATCH ? ORDER BY id LIMIT ?",
            (asked, limit),
        )
        return [row for (row,) in tied]

    def _averages(self) -> tuple[float, ...]:
        found = self._db.execute(f"SELECT {', '.join(FIELDS)} FROM total").fetchone() or [0] * len(FIELDS)
        return tuple(total / max(1, self._size) for total in found)

    def _meaning(self) -> Meaning | None:
        """The vectors of the space, loaded when first asked for; None when there is no embedder."""
        if self._loaded is None:
            semantic = self._semantic()
            if semantic is None:
                return None
            self._loaded = Meaning(self._db, self._snapshot, *semantic, self._progress)
        return self._loaded

    def _each(self, statement: str, values: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
        for start in range(0, len(values), _PER_STATEMENT):
            part = values[start : start + _PER_STATEMENT]
            yield from self._db.execute(f"{statement} IN ({','.join('?' * len(part))})", part)

    def _one(self, statement: str, *values: Any) -> Any:
        row = self._db.execute(statement, values).fetchone()
        return row[0] if row else None


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []

    def add(condition: str, *given: Any) -> None:
        where.append(condition)
        values.extend(given)

    if query.kinds:
        add(f"kind IN ({','.join('?' * len(query.kinds))})", *query.kinds)
    for tag in query.tags:
        add("instr(tags, ?)", f" {tag} ")
    if query.under:
        prefix = query.under.strip("/")
        # The slash and the character after it bound all that lies below the prefix.
        add("(path = ? OR (path >= ? AND path < ?))", prefix, f"{prefix}/", f"{prefix}0")
    if query.scope:
        add("scope = ?", query.scope)
    if query.since:
        add("created_at >= ?", query.since)
    if query.until:
        add("created_at < ?", query.until)
    if query.require_high_relevance:
        add("relevance = 'high'")
    return where, values


def _count(fields: Sequence[Sequence[str]], wanted: frozenset[str]) -> dict[str, tuple[int, ...]]:
    counts: dict[str, list[int]] = {}
    for n, field in enumerate(fields):
        for term in field:
            if term in wanted:
                counts.setdefault(term, [0] * len(fields))[n] += 1
    return {term: tuple(numbers) for term, numbers in counts.items()}
