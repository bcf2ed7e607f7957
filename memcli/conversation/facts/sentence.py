"""One sentence of a message with its words and clauses, as the rules read it."""

from __future__ import annotations

from typing import NamedTuple

from memcli.conversation.facts import clauses, words
from memcli.conversation.facts.clauses import FactClause
from memcli.conversation.facts.statements import FactStatement

USER, ASSISTANT = "user", "assistant"


class FactSentence(NamedTuple):
    statement: FactStatement
    role: str
    words: tuple[str, ...]
    low: str
    """The words, joined by blanks, with one before and one after."""
    clauses: tuple[FactClause, ...]

    @property
    def is_users(self) -> bool:
        """Whether the user said it."""
        return self.role == USER


def read(statement: FactStatement, role: str) -> FactSentence:
    """The grammar of one sentence."""
    found = words.read(statement.text)
    texts = tuple(word.text for word in found)
    parsed = tuple(clauses.parse(part) for part in clauses.split(found))
    return FactSentence(statement, role, texts, f" {' '.join(texts)} ", parsed)
