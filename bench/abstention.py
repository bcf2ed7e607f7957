"""Whether a space says nothing to what it knows nothing of, and what that costs where it knows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ablation import no_floor
from tasks import KeptView, Question, Space, Task, ranked

from memcli.model.recall import Evidence
from memcli.ports import Ranker

SCALES = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4)
OWN_QUESTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "off_topic.txt")
CLOSE, FAR, OWN = "close", "far", "own"
_TOP = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a space: what spoke for an answer, and the share of its answers in the first ten without a floor."""

    task: str
    group: str
    evidence: Evidence | None
    share: float = 0.0

    def is_answered(self, scale: float) -> bool:
        """Whether the bundle holds something when the floor is multiplied by `scale`."""
        if self.evidence is None:
            return False
        return self.evidence.together >= scale * self.evidence.floor


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
                    yield Asked(task.name, group, ranker.rank(question.query(_TOP), views[space]).evidence)


def on_topic(tasks: Sequence[Task], views: Mapping[Space, KeptView], ranker: Ranker) -> Iterator[Asked]:
    """Every question put to its own space."""
    for task in tasks:
        for space in task.spaces:
            view = views[space]
            for question in space.questions:
                with no_floor():
                    found = question.relevant.intersection(ranked(ranker, view, question, _TOP))
                evidence = ranker.rank(question.query(_TOP), view).evidence
                yield Asked(task.name, "", evidence, len(found) / len(question.relevant))
