"""A fact: what someone stated in a conversation, and where."""

from __future__ import annotations

from memcli.model.memory import Json
from memcli.record import Record

DECISION, PREFERENCE, CONSTRAINT, GOAL = "decision", "preference", "constraint", "goal"
PROCEDURE, CORRECTION, NEGATIVE = "procedure", "correction", "negative"
KINDS = (DECISION, PREFERENCE, CONSTRAINT, GOAL, PROCEDURE, CORRECTION, NEGATIVE)


class Fact(Record):
    """A statement worth keeping. `text` stands at `span` of the text of message number `message`, white space collapsed.

    `confidence` is about the share of facts found in this way that are right.
    """

    kind: str
    text: str
    message: int
    confidence: float
    span: tuple[int, int]

    def to_json(self) -> dict[str, Json]:
        """What is printed of it."""
        return {"kind": self.kind, "text": self.text, "message": self.message, "confidence": self.confidence}
