"""The usage log in the local state: ids, and keyed digests of topics and sessions, never a word of them.

An access is counted when it is noted. The uses themselves wait for `maintain`; the last bundle of each of the latest
sessions stays, so that it can be judged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from memcli.codec.canonical import encode_line
from memcli.digests import blake2b
from memcli.model.memory import Json
from memcli.model.usage import ACCESSES, INJECT, JUDGEMENTS, RECALL, Access, Use, count
from memcli.record import replace
from memcli.store.key import digester
from memcli.store.state import State, trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

MAX_USES = 4_000
"""How many uses may wait before the older half of the accesses is only counted; judgements wait for `maintain`."""
MAX_COUNTED = 50_000
"""How many memories of a space are counted; beyond that, those that were not shown for longest are forgotten."""
_MAX_JUDGEMENTS = 10_000
_KEY_BYTES = 6
_PERSON = b"memcli/usage/1"  # keeps these digests apart from any other use of the key
_DROP = "DELETE FROM usage WHERE key = ? AND space = ?"


class LocalUsage:
    """The usage of a store. `session` names the current session, if there is one; what is shown is noted only if
    `is_recording`. See `ports.Usage`."""

    def __init__(
        self, state: State, session: str = "", is_recording: Callable[[], bool] = lambda: True, most: int = MAX_USES
    ) -> None:
        self._state, self._session, self._is_recording, self._most = state, session, is_recording, most
        self._sign = digester(state.layout, _PERSON)

    def note(self, uses: Sequence[Use], topic: str = "") -> None:
        if any(use.ids for use in uses) and self._is_recording():
            self._state.note(partial(self._add_shown, uses, topic))

    def judge(self, uses: Sequence[Use]) -> None:
        with self._state.change() as connection:
            found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'usage'").fetchone()
            place = [found[0] if found else 0, [_to_json(use) for use in uses]]  # that no use before had
            self._add(connection, uses, "", blake2b(encode_line(place), digest_size=_KEY_BYTES).hexdigest())

    def read(self) -> list[Use]:
        return [_from_json(json.loads(text)) for (text,) in self._state.rows("SELECT use FROM usage ORDER BY id")]

    def counts(self, space: str) -> Mapping[str, Access]:
        found = self._state.rows("SELECT id, count, last_at FROM access WHERE space = ?", space)
        return {name: Access(number, last) for name, number, last in found}

    def last(self) -> list[Use]:
        session = self._sign(self._session) if self._session else ""
        found = self._state.rows(
            "SELECT uses FROM bundle ORDER BY ? <> '' AND session = ? DESC, number DESC LIMIT 1", session, session
        )
        return [_from_json(use) for use in json.loads(found[0][0])] if found else []

    def fold(self, uses: Collection[Use]) -> None:
        if uses:
            with self._state.change() as connection:
                connection.executemany(_DROP, {(use.key, use.space) for use in uses})

    def erase(self, space: str, ids: Collection[str]) -> None:
        if ids:
            self._state.erase(lambda connection: _erase(connection, space, frozenset(ids)))

    def _add_shown(self, uses: Sequence[Use], topic: str, connection: sqlite3.Connection) -> None:
        noted = self._add(connection, uses, topic, os.urandom(_KEY_BYTES).hex())
        bundle = [_to_json(use) for use in noted if use.act in (RECALL, INJECT) and use.places]
        if bundle:
            connection.execute(
                "INSERT OR REPLACE INTO bundle SELECT ?, 1 + ifnull(max(number), 0), ? FROM bundle",
                (noted[0].session, encode_line(bundle).decode()),
            )
            trim(connection, "bundle")
        for space, found in count(noted).items():
            connection.executemany(
                "INSERT INTO access VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count, "
                "last_at = max(last_at, excluded.last_at)",
                [(space, name, one.count, one.last_at) for name, one in found.items()],
            )
        first, last = connection.execute("SELECT min(id), max(id) FROM usage").fetchone()
        if last - first >= self._most:
            self._compact(connection)

    def _add(self, connection: sqlite3.Connection, uses: Sequence[Use], topic: str, key: str) -> list[Use]:
        signed = self._sign(" ".join(topic.lower().split())) if topic.strip() else ""
        session = self._sign(self._session) if self._session else ""
        noted = [replace(use, key=key, topic=signed, session=session) for use in uses if use.ids]
        rows = [(use.key, use.space, encode_line(_to_json(use)).decode()) for use in noted]
        connection.executemany("INSERT INTO usage (key, space, use) VALUES (?, ?, ?)", rows)
        return noted

    def _compact(self, connection: sqlite3.Connection) -> None:
        """Drops the older half of the accesses, and of the judgements what is too much."""
        uses = [_from_json(json.loads(text)) for (text,) in connection.execute("SELECT use FROM usage ORDER BY id")]
        shown = [use for use in uses if use.act in ACCESSES]
        judged = [use for use in uses if use.act in JUDGEMENTS]
        old = [*shown[: (len(shown) + 1) // 2], *judged[:-_MAX_JUDGEMENTS]]
        connection.executemany(_DROP, {(use.key, use.space) for use in old})
        connection.execute(
            "DELETE FROM access WHERE (space, id) IN (SELECT space, id FROM (SELECT space, id, row_number() OVER "
            "(PARTITION BY space ORDER BY last_at DESC, id DESC) AS place FROM access) WHERE place > ?)",
            (MAX_COUNTED,),
        )


def _erase(connection: sqlite3.Connection, space: str, ids: frozenset[str]) -> None:
    connection.executemany("DELETE FROM access WHERE space = ? AND id = ?", [(space, name) for name in ids])
    for number, text in connection.execute("SELECT id, use FROM usage WHERE space = ?", (space,)).fetchall():
        use = _from_json(json.loads(text))
        if not ids.isdisjoint(use.ids):
            left = [encode_line(_to_json(one)).decode() for one in _without([use], space, ids)]
            change = "UPDATE usage SET use = ? WHERE id = ?" if left else "DELETE FROM usage WHERE id = ?"
            connection.execute(change, (*left, number))
    for session, text in connection.execute("SELECT session, uses FROM bundle").fetchall():
        uses = [_from_json(use) for use in json.loads(text)]
        rest = list(_without(uses, space, ids))
        if rest != uses:
            data = encode_line([_to_json(use) for use in rest]).decode()
            connection.execute("UPDATE bundle SET uses = ? WHERE session = ?", (data, session))
    connection.execute("DELETE FROM bundle WHERE uses = '[]'")


def _without(uses: Iterable[Use], space: str, ids: frozenset[str]) -> Iterator[Use]:
    """The uses without these memories of a space; what showed or judged nothing else is left out."""
    for use in uses:
        if use.space != space or ids.isdisjoint(use.ids):
            yield use
            continue
        kept = [n for n, name in enumerate(use.ids) if name not in ids]
        if kept:
            places = tuple(use.places[n] for n in kept) if use.places else ()
            yield replace(use, ids=tuple(use.ids[n] for n in kept), places=places)


def _to_json(use: Use) -> dict[str, Json]:
    data: dict[str, Json] = {"at": use.at, "act": use.act, "space": use.space, "ids": list(use.ids), "key": use.key}
    rest = {"topic": use.topic, "session": use.session, "reason": use.reason, "places": list(use.places)}
    return data | {name: value for name, value in rest.items() if value}


def _from_json(data: dict[str, Json]) -> Use:
    ids, places = tuple(data["ids"]), tuple(data.get("places", ()))
    return Use(**{**data, "ids": ids, "places": places})
