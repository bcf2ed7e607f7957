"""The protocol of answers that are kept."""

from __future__ import annotations

from typing import Protocol

from memcli.model.memory import Json


class Answers(Protocol):
    """Answers of language models, so that the same question is not paid for twice. Nothing here is essential."""

    def get(self, key: str) -> Json:
        """The answer, or None. Never raises."""

    def erasures(self) -> int:
        """How often answers were erased. Never raises."""

    def keep(self, key: str, answer: Json, *, kind: str, since: int) -> None:
        """Keeps an answer: a `text`, which repeats memories or messages and goes when one is erased, a `question`, which
        repeats questions and goes with any of them, or a `verdict`. What was asked before an erasure, when there were `since`
        of them, is not kept after it: it may repeat what was erased. Never raises."""

    def erase_texts(self) -> None:
        """Erases every answer that repeats texts or questions: nothing says which ones it was made of. Raises StoreError."""

    def erase_questions(self) -> None:
        """Erases every answer that repeats questions. Raises StoreError."""


class NoAnswers:
    """Keeps nothing."""

    def get(self, key: str) -> Json:
        del key
        return None

    def erasures(self) -> int:
        return 0

    def keep(self, key: str, answer: Json, *, kind: str, since: int) -> None:
        del key, answer, kind, since

    def erase_texts(self) -> None:
        pass

    def erase_questions(self) -> None:
        pass
