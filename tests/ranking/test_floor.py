"""What counts as evidence that a space answers at all."""

from __future__ import annotations

import numpy as np

from memcli.model.nearness import Nearness
from memcli.model.passages import PROSE
from memcli.model.recall import Evidence, PassageTerms, TermStats
from memcli.ranking.floor import judge_passages

STATS = TermStats(1, (1.0,) * 5, {"dry": 1, "run": 1}, {0: {}}, {0: (0, 0, 0, 5, 0)})
NEAR = Nearness(np.array([0]), np.array([0.5]), {0: 0}, np.array([0.5]))


def judged(**counts: tuple[int, int]) -> Evidence | None:
    passage = PassageTerms(0, PROSE, True, False, {name.replace("_", "-"): told for name, told in counts.items()}, 5)
    return judge_passages(STATS, {0: [passage]}, [(1.0, NEAR)], (0, 0))


def test_a_joined_word_that_stands_in_headings_alone_has_no_weight_of_its_own() -> None:
    without = judged(dry=(0, 1), run=(0, 1))
    assert without is not None
    assert judged(dry=(0, 1), run=(0, 1), dry_run=(1, 0)) == without
    assert judged(dry=(0, 1)) != without
