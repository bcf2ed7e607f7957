"""The answers of language models in the local state, by what was asked. Any of them may be removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memcli.codec.canonical import encode_line
from memcli.model.memory import Json
from memcli.store.state import State, trim

if TYPE_CHECKING:
    import sqlite3

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
        found = self._state.rows("SELECT amount FROM tally WHERE name = ?", _ERASURES)
        return int(found[0][0]) if found else 0

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
            statement = "INSERT INTO tally VALUES (?, 1) ON CONFLICT DO UPDATE SET amount = amount + 1"
            connection.execute(statement, (_ERASURES,))  # an answer that is on its way is not kept
            erased = connection.execute(f"DELETE FROM answer WHERE {which}").rowcount
        if erased:
            self._state.compact()
