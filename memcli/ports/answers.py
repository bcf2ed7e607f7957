"""The protocol of answers that are kept."""

from __future__ import annotations

from typing import Protocol

from memcli.model.memory import Json


class Answers(Protocol):
    """Answers of language models, so that the same question is not paid for twice. Nothing here is essential."""

    def get(self, key: str) -> Json:
        """The answer, or None. Never raises."""

    def keep(self, key: str, answer: Json, *, is_text: bool) -> None:
        """Keeps an answer; one that `is_text` repeats what was asked about, and goes when a memory is erased. Never raises."""


class NoAnswers:
    """Keeps nothing."""

    def get(self, key: str) -> Json:
        del key
        return None

    def keep(self, key: str, answer: Json, *, is_text: bool) -> None:
        del key, answer, is_text
