"""Small notes in the local state: counters, questions without an answer, upkeep, builds under way, marks of time, and the
answers of language models, any of which may be removed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from memcli.clock import days_between, normalize_time
from memcli.codec.canonical import encode_line
from memcli.errors import MemcliError
from memcli.model.memory import Json
from memcli.model.usage import MAX_SPACES as MOST_SPACES
from memcli.model.usage import OTHERS, RUN, Gap, Totals, in_order, parts_of, space_of, with_gap
from memcli.store.atomic import make_folder
from memcli.store.lock import held
from memcli.store.state import State, count_up, set_value, trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3


class LocalCounters:
    """The counters of a store; nothing is added unless `is_recording`."""

    def __init__(self, state: State, is_recording: Callable[[], bool] = lambda: True) -> None:
        self._state, self._is_recording = state, is_recording

    def ran(self, command: str, space: str, backend: str, code: int, seconds: float) -> None:
        """Adds a command that ended with this exit code."""
        self._add((RUN, command, space, backend, str(code)), round(seconds * 1e6))
        self._state.release()

    def hold(self) -> None:
        """Has what is noted of the use of the store until `ran` written together with it."""
        self._state.hold()

    def count(self, event: str, *labels: str, amount: int = 1) -> None:
        """Adds an event that `model/usage.py` names, with its labels."""
        self._add((event, *labels), amount)

    def read(self) -> Totals:
        """The sums. What cannot be read is left out."""
        return {tuple(key.split("\t")): amount for key, amount in self._state.rows("SELECT key, amount FROM counter")}

    def _add(self, key: tuple[str, ...], amount: int) -> None:
        def add(connection: sqlite3.Connection) -> None:
            space, labels = space_of(key), key
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


_MOST = (1 << 53) - 1


class LocalGaps:
    """Questions that nothing answered. They are text, so a policy must ask for them. A question is noted only if
    `is_recording`."""

    def __init__(self, state: State, is_recording: Callable[[], bool] = lambda: True) -> None:
        self._state, self._is_recording = state, is_recording

    def note(self, gap: Gap) -> None:
        """Counts a question. Never raises: what cannot be written is done without."""

        def add(connection: sqlite3.Connection) -> None:
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
        """All of them, in order. What cannot be read is left out."""
        found = self._state.rows("SELECT topic, space, count, first_at, last_at FROM gap")
        return in_order(Gap(*row) for row in found)

    def drop(self, gaps: Collection[Gap]) -> None:
        """Takes gaps out. Raises StoreError, LockedError."""
        self._state.erase(lambda connection: connection.executemany(_DROP_GAP, [gap.key for gap in gaps]))


_DROP_GAP = "DELETE FROM gap WHERE space = ? AND key = ?"

_LEDGER, _TRIED, _RECALLS = "upkeep.ledger", "upkeep.tried", "upkeep.recalls"


class LocalUpkeep:
    """What upkeep notes of itself."""

    def __init__(self, state: State) -> None:
        self._state = state

    def turn(self, now: str) -> AbstractContextManager[None]:
        """Around a run: no two at a time. Raises LockedError, StoreError."""
        lock = self._state.layout.private("upkeep.lock")
        make_folder(os.path.dirname(lock))
        return held(lock, "the upkeep of this store", now)

    def load(self) -> Json:
        """The ledger as it was saved; None when there is none."""
        text = self._state.value(_LEDGER)
        return json.loads(text) if text else None

    def count(self) -> int:
        """Counts one more recall; how many there were, as far as other processes have noted theirs. Never raises."""
        before = self._state.tally(_RECALLS)
        self._state.note(lambda connection: count_up(connection, _RECALLS))
        return before + 1

    def tried(self) -> str:
        """When upkeep was last begun in the background; "" when it never was."""
        return self._state.value(_TRIED)

    def try_at(self, now: str) -> None:
        """Notes that upkeep is begun in the background. Raises StoreError."""
        with self._state.change() as connection:
            set_value(connection, _TRIED, now)

    def save(self, ledger: Json) -> None:
        """Saves the ledger; it is on disk when this returns. Raises StoreError."""
        with self._state.change() as connection:
            set_value(connection, _LEDGER, encode_line(ledger).decode())


class BuildState:
    """The commit up to which the space for what is read from the repository is being built, so that a build that was
    interrupted goes on."""

    def __init__(self, state: State, space: str) -> None:
        self._state, self._space = state, space

    def head(self) -> str | None:
        """The last commit of the build that is under way, empty without history; None when there is no build."""
        found = self._state.rows("SELECT head FROM build WHERE space = ?", self._space)
        return found[0][0] if found else None

    def begin(self, head: str) -> None:
        """Notes that a build begins. Raises StoreError, LockedError."""
        with self._state.change() as connection:
            connection.execute("INSERT OR REPLACE INTO build VALUES (?, ?)", (self._space, head))

    def clear(self) -> None:
        """Notes that the space is built."""
        if self.head() is not None:
            self._state.note(lambda c: c.execute("DELETE FROM build WHERE space = ?", (self._space,)))


_DAY_SECONDS = 86_400


class Mark:
    """The time at which something last happened, under a name. What cannot be read or written counts as never."""

    def __init__(self, state: State, name: str) -> None:
        self._state, self._name = state, f"mark.{name}"

    def is_younger(self, seconds: float, now: str) -> bool:
        """Whether it happened less than so many seconds before `now`."""
        try:
            before = normalize_time(self._state.value(self._name))
        except MemcliError:
            return False
        is_past = not days_between(now, before)  # else the clock was set back
        return is_past and days_between(before, now) * _DAY_SECONDS < seconds

    def set(self, now: str) -> None:
        """Records `now` as that time. Never raises."""
        self._state.note(lambda connection: set_value(connection, self._name, now))


_VERDICT = "verdict"
_ERASURES = "answers.erasures"


class LocalAnswers:
    """The answers of a store. Those that repeat text are erased with any memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    def get(self, key: str) -> Json:
        """The answer, or None. Never raises."""
        found = self._state.rows("SELECT answer FROM answer WHERE key = ?", key)
        return json.loads(found[0][0]) if found else None

    def erasures(self) -> int:
        """How often answers were erased. Never raises."""
        return self._state.tally(_ERASURES)

    def keep(self, key: str, answer: Json, *, kind: str, since: int) -> None:
        """Keeps an answer: a `text`, which repeats memories or messages and goes when one is erased, a `question`, which
        repeats questions and goes with any of them, or a `verdict`. What was asked before an erasure, when there were `since`
        of them, is not kept after it: it may repeat what was erased. Never raises."""

        def add(connection: sqlite3.Connection) -> None:
            if kind == _VERDICT or self.erasures() == since:
                row = (key, kind, encode_line(answer).decode())
                connection.execute(
                    "INSERT OR REPLACE INTO answer SELECT ?, ?, 1 + ifnull(max(number), 0), ? FROM answer", row
                )
                trim(connection, "answer")

        self._state.note(add)

    def erase_texts(self) -> None:
        """Erases every answer that repeats texts or questions: nothing says which ones it was made of. Raises StoreError."""
        self._erase("kind <> 'verdict'")

    def erase_questions(self) -> None:
        """Erases every answer that repeats questions. Raises StoreError."""
        self._erase("kind = 'question'")

    def _erase(self, which: str) -> None:
        with self._state.change() as connection:
            count_up(connection, _ERASURES)  # an answer that is on its way is not stored
            erased = connection.execute(f"DELETE FROM answer WHERE {which}").rowcount
        if erased:
            self._state.compact()
