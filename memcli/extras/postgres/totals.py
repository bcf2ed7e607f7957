"""The sums over a space and the frequencies of its terms. Each writer inserts a tally of its changes into `pending`; every 64
writes one adds the pending tallies to the tables `total` and `frequency`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memcli.model.recall import FIELDS
from memcli.record import Record

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

    from memcli.extras.postgres.snapshot import Read


# A write inserts one row, instead of updating the row of each of its words.
_FOLD_AFTER, _FOLD_TERMS = 64, 20_000
"""The pending writes, or terms of one write, after which the pending tallies are added to the sums."""
_SUMS = ("memories", "tokens", *FIELDS, "passages", "terms")


class Tally(Record):
    """Sums over memories: their number, tokens, lengths of the fields, passages and terms of passages; and, if they are changes,
    the number of memories for each distinct term."""

    memories: int
    tokens: int
    fields: tuple[int, ...]
    passages: int
    terms: int
    lexemes: Mapping[str, int] = {}


def total(tallies: Iterable[tuple[Tally, int]]) -> Tally:
    """The sum of tallies, each multiplied by 1 or -1."""
    numbers = [0] * (4 + len(FIELDS))
    lexemes: Counter[str] = Counter()
    for one, sign in tallies:
        own = (one.memories, one.tokens, *one.fields, one.passages, one.terms)
        numbers = [a + sign * b for a, b in zip(numbers, own, strict=True)]
        if sign < 0:
            lexemes.subtract(one.lexemes)
        else:  # counting an iterator is several times as fast as adding a mapping
            lexemes.update(iter(one.lexemes) if one.memories == 1 else one.lexemes)
    memories, tokens, *fields, cut, length = numbers
    return Tally(memories, tokens, tuple(fields), cut, length, lexemes)


def add(connection: Connection, space: str, version: str, tally: Tally, before: Cursor) -> None:
    """Inserts a tally of changes; adds the pending tallies to the sums if there are many. `before` has the number of pending
    writes, of a query that was sent earlier. `version` is that of the index."""
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
    """Adds the pending tallies to the sums and frequencies, and deletes terms that no memory has any more."""
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


def totals(read: Read, space: str) -> Tally:
    """The tally of the whole space, pending writes included, without terms."""
    both = " UNION ALL ".join(
        f"SELECT {', '.join(_SUMS)} FROM {table} WHERE space = %(space)s" for table in ("total", "pending")
    )
    sums = ", ".join(f"coalesce(sum({name}), 0)::bigint" for name in _SUMS)
    ((memories, tokens, *fields, passages, terms),) = read(f"SELECT {sums} FROM ({both}) AS every", {"space": space})
    return Tally(memories, tokens, tuple(fields), passages, terms)
