"""Small tables of the local state, any of which may be deleted: uses, counters, unanswered questions, upkeep, unfinished
builds, times of last runs, and answers of language models.

The usage log contains ids, and keyed digests of topics and sessions, but no text. An access is counted when it is recorded.
The uses stay until `store maintain` has applied them, the last bundle of each of the latest 50 sessions so that it can be
judged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial

from memcli.clock import days_between, normalize_time
from memcli.codec.canonical import encode_line
from memcli.digests import blake2b
from memcli.errors import MemcliError
from memcli.model.memory import Json
from memcli.model.usage import (
    ACCESSES,
    INJECT,
    JUDGEMENTS,
    OTHERS,
    RECALL,
    RUN,
    Access,
    Gap,
    Totals,
    Use,
    count,
    in_order,
    parts_of,
    space_of,
    with_gap,
)
from memcli.model.usage import MAX_SPACES as MOST_SPACES
from memcli.record import Record, replace
from memcli.store.atomic import make_folder
from memcli.store.lock import held
from memcli.store.state import State, count_up, set_value, trim
from memcli.store.trust import digester

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli import sqlite


class LocalCounters(Record):
    """The counters of a store, to which something is added only while `is_recording()`."""

    _state: State
    _is_recording: Callable[[], bool] = lambda: True

    def ran(self, command: str, space: str, backend: str, code: int, seconds: float) -> None:
        """Counts a command that ended with exit code `code` after so many `seconds`, and writes all held notes."""
        self.count(RUN, command, space, backend, str(code), amount=round(seconds * 1e6))
        self._state.release()

    def hold(self) -> None:
        """Delays all notes until `ran`, which writes them in its transaction."""
        self._state.hold()

    def count(self, event: str, *labels: str, amount: int = 1) -> None:
        """Adds `amount`, or 1, to the counters of an event of `model/usage.py` with these labels."""
        key = (event, *labels)

        def add(connection: sqlite.Connection) -> None:
            space, labels = space_of(key), key
            # The number of rows is bounded: beyond MOST_SPACES, a new space counts under a common label.
            known = {name for (name,) in connection.execute("SELECT DISTINCT space FROM counter WHERE space <> ''")}
            if space and space not in known and len(known) >= MOST_SPACES:
                labels = tuple(OTHERS if part == space else part for part in key)
            for part, more in parts_of(labels, amount).items():
                connection.execute(
                    "INSERT INTO counter VALUES (?, ?, ?) "
                    "ON CONFLICT DO UPDATE SET amount = min(amount + excluded.amount, ?)",
                    ("\t".join(part), space_of(part), more, _MOST),
                )

        if self._is_recording():
            self._state.note(add)

    def read(self) -> Totals:
        """The counters; empty if the state cannot be read."""
        return {tuple(key.split("\t")): amount for key, amount in self._state.rows("SELECT key, amount FROM counter")}


# Beyond this a double, which Prometheus and JavaScript have for all numbers, is no longer exact.
_MOST = (1 << 53) - 1


class LocalGaps(Record):
    """Questions without an answer. They are recorded only while `is_recording()`, which follows the policy, since they are
    text of users."""

    _state: State
    _is_recording: Callable[[], bool] = lambda: True

    def note(self, gap: Gap) -> None:
        """Counts a question. Never raises; a question that cannot be written is lost."""

        def add(connection: sqlite.Connection) -> None:
            before = self.read()
            after = with_gap(before, gap)
            left = {one.key for one in after}
            connection.executemany(_DROP_GAP, (one.key for one in before if one.key not in left))
            new = next(one for one in after if one.key == gap.key)
            connection.execute(
                "INSERT OR REPLACE INTO gap VALUES (?, ?, ?, ?, ?, ?)",
                (*new.key, new.topic, new.count, new.first_at, new.last_at),
            )

        if self._is_recording():
            self._state.note(add)

    def read(self) -> list[Gap]:
        """All questions, in the order of `in_order`; empty if the state cannot be read."""
        found = self._state.rows("SELECT topic, space, count, first_at, last_at FROM gap")
        return in_order(Gap(*row) for row in found)

    def drop(self, gaps: Collection[Gap]) -> None:
        """Deletes questions, and every byte of their text. Raises StoreError, LockedError."""
        self._state.erase(lambda connection: connection.executemany(_DROP_GAP, [gap.key for gap in gaps]))


_DROP_GAP = "DELETE FROM gap WHERE space = ? AND key = ?"

_LEDGER, _TRIED, _RECALLS = "upkeep.ledger", "upkeep.tried", "upkeep.recalls"


class LocalUpkeep(Record):
    """The state of `store maintain`: its ledger, its last start in the background, and the number of recalls."""

    _state: State

    def turn(self, now: str) -> AbstractContextManager[None]:
        """The lock for a run, of which only one at a time is allowed. Raises LockedError, StoreError."""
        lock = self._state.layout.private("upkeep.lock")
        make_folder(os.path.dirname(lock))
        return held(lock, "the upkeep of this store", now)

    def load(self) -> Json:
        """The saved ledger; None if there is none."""
        text = self._state.value(_LEDGER)
        return json.loads(text) if text else None

    def count(self, every: int, act: Callable[[], object]) -> None:
        """Counts one more recall, and calls `act` when as many as `every` are complete, in the transaction of the note."""

        def add(connection: sqlite.Connection) -> None:
            count_up(connection, _RECALLS)
            (count,) = connection.execute("SELECT amount FROM tally WHERE name = ?", (_RECALLS,)).fetchone()
            if not count % every:
                act()

        self._state.note(add)

    def tried(self) -> str:
        """When `maintain` was last started in the background; "" if never."""
        return self._state.value(_TRIED)

    def try_at(self, now: str) -> None:
        """Records that `maintain` is started in the background. Raises LockedError, StoreError."""
        with self._state.change() as connection:
            set_value(connection, _TRIED, now)

    def save(self, ledger: Json) -> None:
        """Saves the ledger, and returns when it is on disk. Raises LockedError, StoreError."""
        with self._state.change() as connection:
            set_value(connection, _LEDGER, encode_line(ledger).decode())


def build_head(state: State, space: str) -> str | None:
    """The commit up to which a derived space is being built, so that an interrupted build can be resumed: empty in a repository
    without commits, None if there is no unfinished build."""
    found = state.rows("SELECT head FROM build WHERE space = ?", space)
    return found[0][0] if found else None


def begin_build(state: State, space: str, head: str) -> None:
    """Records that a build up to the commit `head` begins. Raises StoreError, LockedError."""
    with state.change() as connection:
        connection.execute("INSERT OR REPLACE INTO build VALUES (?, ?)", (space, head))


def end_build(state: State, space: str) -> None:
    """Records that the build is finished. Never raises."""
    if build_head(state, space) is not None:
        state.note(lambda c: c.execute("DELETE FROM build WHERE space = ?", (space,)))


_DAY_SECONDS = 86_400
_MARK = "mark."


def is_recent(state: State, name: str, seconds: float, now: str) -> bool:
    """Whether `set_mark` was last called for this name less than so many seconds before `now`. A time that cannot be read counts
    as never."""
    try:
        before = normalize_time(state.value(_MARK + name))
    except MemcliError:
        return False
    is_past = not days_between(now, before)  # a time in the future means that the clock was set back
    return is_past and days_between(before, now) * _DAY_SECONDS < seconds


def set_mark(state: State, name: str, now: str) -> None:
    """Records that something called `name` happens now. Never raises."""
    state.note(lambda connection: set_value(connection, _MARK + name, now))


_VERDICT = "verdict"
_ERASURES = "answers.erasures"


class LocalAnswers(Record):
    """Stored answers of language models, so that the same question need not be sent again."""

    _state: State

    def get(self, key: str) -> Json:
        """The answer under this key, or None. Never raises."""
        found = self._state.rows("SELECT answer FROM answer WHERE key = ?", key)
        return json.loads(found[0][0]) if found else None

    def erasures(self) -> int:
        """How often `erase` was called. Never raises."""
        found = self._state.rows("SELECT amount FROM tally WHERE name = ?", _ERASURES)
        return int(found[0][0]) if found else 0

    def keep(self, key: str, answer: Json, *, kind: str, since: int) -> None:
        """Stores an answer of a `kind`: a `text` repeats memories or messages, and is erased with any of them; a `question`
        repeats questions, and is erased with any of these; a `verdict` repeats neither.

        `since` is the value of `erasures()` when the question was sent. Never raises.
        """

        def add(connection: sqlite.Connection) -> None:
            # An answer to a question from before an erasure may repeat the erased text, and is dropped.
            if kind == _VERDICT or self.erasures() == since:
                row = (key, kind, encode_line(answer).decode())
                connection.execute(
                    "INSERT OR REPLACE INTO answer SELECT ?, ?, 1 + ifnull(max(number), 0), ? FROM answer", row
                )
                trim(connection, "answer")

        self._state.note(add)

    def erase(self, *, only_questions: bool = False) -> None:
        """Erases all answers that repeat texts or questions, or those that repeat `only_questions`. Raises StoreError,
        LockedError."""
        # All of them: it is not recorded of which memories an answer was made.
        which = "kind = 'question'" if only_questions else "kind <> 'verdict'"
        with self._state.change() as connection:
            count_up(connection, _ERASURES)  # so that `keep` drops answers that are still awaited
            erased = connection.execute(f"DELETE FROM answer WHERE {which}").rowcount
        if erased:
            self._state.compact()


MAX_USES = 4_000
"""How many uses the log may have before the older half of its accesses is deleted (they stay counted); judgements stay."""
MAX_COUNTED = 50_000
"""How many memories of a space have a count; beyond that, the counts of those not shown for longest are deleted."""
_MAX_JUDGEMENTS = 10_000
_KEY_BYTES = 6
_PERSON = b"memcli/usage/1"  # keeps these digests apart from any other use of the key
_DROP = "DELETE FROM usage WHERE key = ? AND space = ?"


class LocalUsage:
    """The log of the memories that were shown and judged on this machine, to which several processes may append.

    `session` is the id of the current session, or empty; what is shown is recorded only while `is_recording()`. `tell` is
    called with the number of memories shown, recorded or not.
    """

    def __init__(
        self,
        state: State,
        session: str = "",
        is_recording: Callable[[], bool] = lambda: True,
        most: int = MAX_USES,
        tell: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._state, self._session, self._is_recording, self._most = state, session, is_recording, most
        self._tell = tell
        self._sign = digester(state.layout, _PERSON)

    def note(self, uses: Sequence[Use], topic: str = "") -> None:
        """Appends the memories shown for a topic, of which only a digest is stored. Never raises: recall works without a log."""
        self._tell(sum(len(use.ids) for use in uses))
        if any(use.ids for use in uses) and self._is_recording():
            self._state.note(partial(self._add_shown, uses, topic))

    def judge(self, uses: Sequence[Use]) -> None:
        """Appends judgements, and returns when they are on disk. Raises StoreError, LockedError."""
        with self._state.change() as connection:
            # The sequence never returns a number twice, so that equal judgements get different keys.
            found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'usage'").fetchone()
            place = [found[0] if found else 0, [_to_json(use) for use in uses]]
            self._add(connection, uses, "", blake2b(encode_line(place), digest_size=_KEY_BYTES).hexdigest())

    def read(self, acts: Sequence[str] = ()) -> list[Use]:
        """All uses in the log, or those of these acts, oldest first; empty if the state cannot be read."""
        # By the beginning of the text, since every `get` asks: parsing or searching thousands of uses takes longer.
        where = " OR ".join(["use GLOB ?"] * len(acts)) or "true"
        heads = [f'{{"act":"{act}"*' for act in acts]
        found = self._state.rows(f"SELECT use FROM usage WHERE {where} ORDER BY id", *heads)
        return [_from_json(json.loads(text)) for (text,) in found]

    def counts(self, space: str, ids: Collection[str] | None = None) -> Mapping[str, Access]:
        """The accesses of the memories of a space, or of those with these ids, by id, including uses that are no longer in the
        log."""
        select, values = "SELECT id, count, last_at FROM access WHERE space = ?", [space]
        if ids is not None:
            select, values = f"{select} AND id IN (SELECT value FROM json_each(?))", [space, json.dumps(list(ids))]
        found = self._state.rows(select, *values)
        return {name: Access(number, last) for name, number, last in found}

    def last(self) -> list[Use]:
        """The uses of the bundle that was shown last: in the current session if it has one, else in any."""
        session = self._sign(self._session) if self._session else ""
        found = self._state.rows(
            "SELECT uses FROM bundle ORDER BY ? <> '' AND session = ? DESC, number DESC LIMIT 1", session, session
        )
        return [_from_json(use) for use in json.loads(found[0][0])] if found else []

    def fold(self, uses: Collection[Use]) -> None:
        """Deletes uses that `read` returned from the log; their accesses stay counted. Idempotent. Raises StoreError,
        LockedError."""
        if uses:
            with self._state.change() as connection:
                connection.executemany(_DROP, {(use.key, use.space) for use in uses})

    def erase(self, space: str, ids: Collection[str]) -> None:
        """Deletes these memories from the log, the counts and the bundles. Raises StoreError, LockedError."""
        if ids:
            self._state.erase(lambda connection: _erase(connection, space, frozenset(ids)))

    def _add_shown(self, uses: Sequence[Use], topic: str, connection: sqlite.Connection) -> None:
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
        # One by one each is found by the key; together, SQLite would read the whole table.
        ends = "SELECT (SELECT min(id) FROM usage), (SELECT max(id) FROM usage)"
        first, last = connection.execute(ends).fetchone()
        if last - first < self._most:
            return
        # Too many: the older half of the accesses, the oldest judgements beyond 10,000, and the counts beyond MAX_COUNTED go.
        logged = [_from_json(json.loads(text)) for (text,) in connection.execute("SELECT use FROM usage ORDER BY id")]
        shown = [use for use in logged if use.act in ACCESSES]
        judged = [use for use in logged if use.act in JUDGEMENTS]
        old = [*shown[: (len(shown) + 1) // 2], *judged[:-_MAX_JUDGEMENTS]]
        connection.executemany(_DROP, {(use.key, use.space) for use in old})
        connection.execute(
            "DELETE FROM access WHERE (space, id) IN (SELECT space, id FROM (SELECT space, id, row_number() OVER "
            "(PARTITION BY space ORDER BY last_at DESC, id DESC) AS place FROM access) WHERE place > ?)",
            (MAX_COUNTED,),
        )

    def _add(self, connection: sqlite.Connection, uses: Sequence[Use], topic: str, key: str) -> list[Use]:
        signed = self._sign(" ".join(topic.lower().split())) if topic.strip() else ""
        session = self._sign(self._session) if self._session else ""
        noted = [replace(use, key=key, topic=signed, session=session) for use in uses if use.ids]
        rows = [(use.key, use.space, encode_line(_to_json(use)).decode()) for use in noted]
        connection.executemany("INSERT INTO usage (key, space, use) VALUES (?, ?, ?)", rows)
        return noted


def _erase(connection: sqlite.Connection, space: str, ids: frozenset[str]) -> None:
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
    """The uses without these memories of a space; a use of no other memory is left out."""
    for use in uses:
        if use.space != space or ids.isdisjoint(use.ids):
            yield use
            continue
        left = [n for n, name in enumerate(use.ids) if name not in ids]
        if left:
            places = tuple(use.places[n] for n in left) if use.places else ()
            yield replace(use, ids=tuple(use.ids[n] for n in left), places=places)


def _to_json(use: Use) -> dict[str, Json]:
    data: dict[str, Json] = {"at": use.at, "act": use.act, "space": use.space, "ids": list(use.ids), "key": use.key}
    rest = {"topic": use.topic, "session": use.session, "reason": use.reason, "places": list(use.places)}
    return data | {name: value for name, value in rest.items() if value}


def _from_json(data: dict[str, Json]) -> Use:
    ids, places = tuple(data["ids"]), tuple(data.get("places", ()))
    return Use(**{**data, "ids": ids, "places": places})
