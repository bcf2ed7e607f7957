"""Whether a space says nothing to what it knows nothing of, and what that costs where it knows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tasks import KeptView, Question, Space, Task, ranked

from memcli.ports import Ranker

THRESHOLDS = (0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)
OWN_QUESTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "off_topic.txt")
CLOSE, FAR, OWN = "close", "far", "own"
_TOP = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a space: how sure the ranking is (0..1), and the share of the answers to it in the first ten."""

    task: str
    group: str
    confidence: float | None
    share: float = 0.0

    def is_answered(self, threshold: float) -> bool:
        """Whether the question counts as answered from this confidence on."""
        return self.confidence is not None and self.confidence >= threshold


def off_topic(tasks: Sequence[Task], views: Mapping[Space, KeptView], ranker: Ranker) -> Iterator[Asked]:
    """Every question of other spaces, and our own, put to each space."""
    with open(OWN_QUESTIONS, encoding="utf-8") as file:
        own = [Question(line.strip(), frozenset()) for line in file if line.strip()]
    for task in tasks:
        for space in task.spaces:
            others = [
                (CLOSE if other is task else FAR, place.questions)
                for other in tasks
                for place in other.spaces
                if place is not space
            ]
            for group, questions in [*others, (OWN, own)]:
                for question in questions:
                    yield Asked(task.name, group, ranker(question.query(_TOP), views[space]).confidence)


def on_topic(tasks: Sequence[Task], views: Mapping[Space, KeptView], ranker: Ranker) -> Iterator[Asked]:
    """Every question put to its own space."""
    for task in tasks:
        for space in task.spaces:
            view = views[space]
            for question in space.questions:
                found = question.relevant.intersection(ranked(ranker, view, question, _TOP))
                confidence = ranker(question.query(_TOP), view).confidence
                yield Asked(task.name, "", confidence, len(found) / len(question.relevant))
