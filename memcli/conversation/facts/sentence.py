"""One sentence of a message with its words and clauses, as the rules read it."""

from __future__ import annotations

from typing import NamedTuple

from memcli.conversation.facts import clauses, words
from memcli.conversation.facts.clauses import Clause
from memcli.conversation.facts.statements import Statement

USER, ASSISTANT = "user", "assistant"


class Sentence(NamedTuple):
    statement: Statement
    role: str
    words: tuple[str, ...]
    low: str
    """The words, joined by blanks, with one before and one after."""
    clauses: tuple[Clause, ...]

    @property
    def is_users(self) -> bool:
        """Whether the user said it."""
        return self.role == USER


def read(statement: Statement, role: str) -> Sentence:
    """The grammar of one sentence."""
    found = words.read(statement.text)
    texts = tuple(word.text for word in found)
    parsed = tuple(clauses.parse(part) for part in clauses.split(found))
    return Sentence(statement, role, texts, f" {' '.join(texts)} ", parsed)
