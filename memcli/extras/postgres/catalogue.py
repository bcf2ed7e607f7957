"""The memories of a space by id and path.

The sums over a space and the frequencies of its terms: writers add to what is pending, now and then one folds it.

Clusters of the memories of a space by their vectors, kept beside its index until the space changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memcli.errors import MemcliError
from memcli.extras.postgres.snapshot import reader
from memcli.index.clusters import MOST, find, from_json, to_json
from memcli.model.catalogue import CatalogueFilter, Counts, tag_counts
from memcli.model.memory import Memory
from memcli.model.recall import FIELDS, Clusters
from memcli.record import Record

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

    from memcli.extras.postgres.records import Tally
    from memcli.extras.postgres.server import Server
    from memcli.extras.postgres.snapshot import Read, ServerSnapshot
    from memcli.extras.postgres.vectors import ServerMeaning


_LAST = "\U0010ffff"
_BLOCK = 1000
_BRANCHES = """
WITH RECURSIVE step (path) AS (
    (SELECT path FROM entry {where} ORDER BY path LIMIT 1)
    UNION ALL
    SELECT (SELECT entry.path FROM entry {where} AND entry.path > {behind} ORDER BY path LIMIT 1)
    FROM step WHERE step.path IS NOT NULL
) SELECT path FROM step WHERE path IS NOT NULL
"""
_BEHIND = r"""(CASE WHEN step.path ~ %(deep)s THEN substring(step.path FROM %(deep)s) || %(last)s ELSE step.path END) COLLATE "C" """
"""The end of all that lies below the branch that a path is cut to, or of the path if it is not cut."""


class PostgresCatalogue:
    """A catalogue of one snapshot. See `ports.views.Catalogue` for the promises."""

    def __init__(self, snapshot: ServerSnapshot) -> None:
        self._db = reader(snapshot)
        self._snapshot = snapshot
        self._space = snapshot.space

    def find(self, ref: str) -> Memory | None:
        for column in ("id", "path"):
            select = f"SELECT id FROM entry WHERE space = %s AND {column} = %s ORDER BY updated_at, id LIMIT 1"
            if found := self._db(select, (self._space, ref)):
                return self.read(found[0])[0]
        return None

    def ids_with_prefix(self, text: str) -> list[str]:
        select = "SELECT id FROM entry WHERE space = %s AND id >= %s AND id < %s ORDER BY id"
        return [name for (name,) in self._db(select, (self._space, text, text + _LAST))]

    def count(self, wanted: CatalogueFilter) -> int:
        where, values = self._conditions(wanted)
        ((count,),) = self._db(f"SELECT count(*) FROM entry {where}", values)
        return int(count)

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        if wanted.depth is not None:
            yield from self._branches(wanted, wanted.depth)
            return
        where, values = self._conditions(wanted)
        after = ("", "")
        select = (
            f"SELECT path, id FROM entry {where} AND (path, id) > (%(path)s, %(id)s) ORDER BY path, id LIMIT {_BLOCK}"
        )
        while block := self._db(select, {**values, "path": after[0], "id": after[1]}):
            yield from block
            after = block[-1]

    def _branches(self, wanted: CatalogueFilter, depth: int) -> Iterator[tuple[str, str]]:
        """As `places`; what lies below a branch is skipped, not read."""
        where, values = self._conditions(wanted)
        values |= {"deep": f"^((?:[^/]*/){{{depth}}}).*$", "last": _LAST}
        select = _BRANCHES.format(where=where, behind=_BEHIND)
        here = f"SELECT path, id FROM entry {where} AND path = %(here)s ORDER BY id"
        for (path,) in self._db(select, values):
            branch = wanted.branch(path)
            if branch is not None:
                yield branch, ""
            else:
                yield from self._db(here, {**values, "here": path})

    def read(self, ids: Sequence[str]) -> list[Memory]:
        return self._snapshot.fetch([(name, 0, 0) for name in ids])

    def counts(self) -> Counts:
        ((*numbers, oldest, newest),) = self._db(
            "SELECT count(*), count(*) FILTER (WHERE active), count(*) FILTER (WHERE superseded_by <> ''),"
            " count(*) FILTER (WHERE pinned), coalesce(sum(characters), 0),"
            " coalesce(min(created_at), ''), coalesce(max(updated_at), '') FROM entry WHERE space = %s",
            (self._space,),
        )
        objects, active, superseded, pinned, characters = map(int, numbers)
        return Counts(
            objects, active, superseded, pinned, characters, oldest, newest,
            self._by("kind"), self._by("relevance"), tag_counts(self._by("tags").items()),
        )  # fmt: skip

    def _by(self, column: str) -> Counter[str]:
        select = f"SELECT {column}, count(*) FROM entry WHERE space = %s GROUP BY {column}"
        return Counter(dict(self._db(select, (self._space,))))

    def close(self) -> None:
        """Does nothing: the snapshot has what there is to close."""

    def _conditions(self, wanted: CatalogueFilter) -> tuple[str, dict[str, Any]]:
        where = ["space = %(space)s"]
        values: dict[str, Any] = {"space": self._space}
        if prefix := wanted.under.strip("/"):
            # The character after the slash ends all that lies below the prefix.
            where.append("path >= %(prefix)s AND path < %(end)s AND (path = %(prefix)s OR path >= %(below)s)")
            values |= {"prefix": prefix, "end": f"{prefix}0", "below": f"{prefix}/"}
        if wanted.kinds:
            where.append("kind = ANY(%(kinds)s)")
            values["kinds"] = list(wanted.kinds)
        for n, tag in enumerate(wanted.tags):
            where.append(f"strpos(tags, %(tag{n})s) > 0")
            values[f"tag{n}"] = f" {tag} "
        if not wanted.inactive:
            where.append("NOT hidden")
        return f"WHERE {' AND '.join(where)}", values


_FOLD_AFTER, _FOLD_TERMS = 64, 20_000
"""So many writes, or terms of one, are pending before they are folded."""
_SUMS = ("memories", "tokens", *FIELDS, "passages", "terms")


class Totals(Record):
    """The sums over a space."""

    memories: int
    tokens: int
    fields: tuple[int, ...]
    passages: int
    terms: int


def pending(connection: Connection, space: str) -> Cursor:
    """Asks how many writes are pending."""
    return connection.execute("SELECT count(*) FROM pending WHERE space = %s", (space,))


def add(connection: Connection, space: str, version: str, tally: Tally, before: Cursor) -> None:
    """Adds to the sums of the space. `before`: the writes that were pending, which were asked for."""
    changed = sorted((term, n) for term, n in tally.lexemes.items() if n)
    sums = (tally.memories, tally.tokens, *tally.fields, tally.passages, tally.terms)
    if not changed and not any(sums):
        return
    names = ", ".join(_SUMS)
    zeros = ", ".join("0" for _ in _SUMS)
    marks = ", ".join("%s" for _ in _SUMS)
    connection.execute(f"INSERT INTO total VALUES (%s, %s, {zeros}) ON CONFLICT DO NOTHING", (space, version))
    connection.execute(
        f"INSERT INTO pending (space, {names}, lexemes, counts) VALUES (%s, {marks}, %s, %s)",
        (space, *sums, [term for term, _ in changed], [n for _, n in changed]),
    )
    (count,) = before.fetchone() or (0,)
    if count + 1 >= _FOLD_AFTER or len(changed) >= _FOLD_TERMS:
        fold(connection, space)


def fold(connection: Connection, space: str) -> None:
    """Adds what is pending to the sums and frequencies, and forgets the terms that no memory has any more."""
    at = {"space": space}
    connection.execute(
        "INSERT INTO frequency AS known SELECT space, term, sum(n)"
        " FROM pending, unnest(lexemes, counts) AS change (term, n)"
        " WHERE space = %(space)s GROUP BY space, term"
        " ON CONFLICT (space, term) DO UPDATE SET memories = known.memories + excluded.memories",
        at,
    )
    sums = ", ".join(f"{name} = total.{name} + more.{name}" for name in _SUMS)
    more = ", ".join(f"sum({name}) AS {name}" for name in _SUMS)
    connection.execute(
        f"UPDATE total SET {sums} FROM (SELECT {more} FROM pending WHERE space = %(space)s HAVING count(*) > 0)"
        " AS more WHERE space = %(space)s",
        at,
    )
    connection.execute("DELETE FROM pending WHERE space = %(space)s", at)
    connection.execute("DELETE FROM frequency WHERE space = %(space)s AND memories = 0", at)


def totals(read: Read, space: str) -> Totals:
    """The sums over the space."""
    both = " UNION ALL ".join(
        f"SELECT {', '.join(_SUMS)} FROM {table} WHERE space = %(space)s" for table in ("total", "pending")
    )
    sums = ", ".join(f"coalesce(sum({name}), 0)::bigint" for name in _SUMS)
    ((memories, tokens, *fields, passages, terms),) = read(f"SELECT {sums} FROM ({both}) AS every", {"space": space})
    return Totals(memories, tokens, tuple(fields), passages, terms)


def frequencies(read: Read, space: str, terms: Sequence[str]) -> Mapping[str, int]:
    """In how many memories each of the terms stands, for those that stand in any."""
    found = read(
        "SELECT term, sum(n)::bigint FROM ("
        "  SELECT term, memories AS n FROM frequency WHERE space = %(space)s AND term = ANY(%(terms)s)"
        "  UNION ALL"
        "  SELECT term, n FROM pending, unnest(lexemes, counts) AS change (term, n)"
        "  WHERE space = %(space)s AND lexemes && %(terms)s::text[] AND term = ANY(%(terms)s)"
        ") AS every GROUP BY term",
        {"space": space, "terms": list(terms)},
    )
    return {term: n for term, n in found if n > 0}


def vocabulary(read: Read, space: str) -> int:
    """How many distinct terms the space has."""
    ((count,),) = read(
        "SELECT count(*) FROM (SELECT term FROM ("
        "  SELECT term, memories AS n FROM frequency WHERE space = %(space)s"
        "  UNION ALL"
        "  SELECT term, n FROM pending, unnest(lexemes, counts) AS change (term, n) WHERE space = %(space)s"
        ") AS every GROUP BY term HAVING sum(n) > 0) AS known",
        {"space": space},
    )
    return int(count)


_KEPT = "SELECT data FROM clustering WHERE space = %s AND model = %s AND fingerprint = %s"
_KEEP = """INSERT INTO clustering VALUES (%s, %s, %s, %s) ON CONFLICT (space, model)
DO UPDATE SET fingerprint = excluded.fingerprint, data = excluded.data"""


def kept_clusters(read: Read, snapshot: ServerSnapshot, model: str) -> Clusters | None:
    """The clusters that were found in this state of the space with this model; None when none were looked for."""
    found = read(_KEPT, (snapshot.space, model, snapshot.fingerprint))
    return from_json(found[0][0]) if found else None


def find_clusters(
    read: Read,
    server: Server,
    snapshot: ServerSnapshot,
    meaning: ServerMeaning,
    model: str,
    fetch: Callable[[Sequence[int]], list[Memory]],
) -> Clusters:
    """The clusters of the memories that are neither forgotten nor superseded. Raises ProviderError, CorruptError."""
    ((count,),) = read("SELECT count(*) FROM entry WHERE space = %s AND NOT hidden", (snapshot.space,))
    if count > MOST:
        return Clusters(reason=f"clusters are found among at most {MOST} memories, not {count}")
    rows: dict[int, str] = dict(read("SELECT row, id FROM entry WHERE space = %s AND NOT hidden", (snapshot.space,)))
    means = meaning.means(rows)
    if means is None:
        return Clusters(reason="vectors are missing; `memcli store index embed` computes them")
    found = find(*means, rows, fetch)
    with suppress(MemcliError), server.connected("keep clusters") as connection:  # a reader may not
        connection.execute(_KEEP, (snapshot.space, model, snapshot.fingerprint, to_json(found)))
    return found
