"""The protocol of answers that are kept."""

from __future__ import annotations

from typing import Protocol

from memcli.model.memory import Json


class Answers(Protocol):
    """Answers of language models, so that the same question is not paid for twice. Nothing here is essential."""

    def get(self, key: str) -> Json:
        """The answer, or None. Never raises."""

    def keep(self, key: str, answer: Json, *, kind: str) -> None:
        """Keeps an answer: a `text`, which repeats memories and goes when one is erased, a `question`, which repeats questions
        and goes with any of them, or a `verdict`. Never raises."""

    def erase_questions(self) -> None:
        """Erases every answer that repeats questions. Raises StoreError."""


class NoAnswers:
    """Keeps nothing."""

    def get(self, key: str) -> Json:
        del key
        return None

    def keep(self, key: str, answer: Json, *, kind: str) -> None:
        del key, answer, kind

    def erase_questions(self) -> None:
        pass
