"""Abstention: the evidence that the best memory must have before its space answers at all.

The evidence of a memory is the share of the question's words (by weight) that stand anywhere in it, in its path, tags and
summaries as in its text, plus its cosine. It is weighed by itself: neither how many memories stand beside it nor what form
these have changes it, so that what is added about something else silences nothing. How the numbers were found:
bench/README.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from memcli.model.recall import Entry, Evidence, TermStats
from memcli.ranking.lexical import TALK, style_of
from memcli.text.words import DAY_NUMBERS, MONTH_NUMBERS, terms

TOLD_WEIGHT, TOLD_FLOOR = 0.65, 0.28
"""The weight of all words of the question beside a cosine of 1, and the least evidence for a memory that was written down."""
TALK_FLOOR = 0.39
"""The same for what was said in passing: small talk is near to everything."""
READ_WEIGHT, READ_FLOOR = 0.4, 0.43
"""The same for what was read from a document or a change: what is asked of a repository shares words with much of it."""
STRANGER = 0.15
"""Added to the floor of a question that names somebody or something that the space has never mentioned."""
WORDS_FLOOR = 0.33
"""Without a vector: the share of the question's words that the memory must have."""

LONG_TEXT = 300
"""From this many terms on, words may have met by chance."""

RARE = 100
"""A word in as many memories as this tells little of what a question is about. Counted in memories that have it and not as a
share of the space, a word weighs the same whatever else is stored."""

_CAPITALIZED = re.compile(r"(?<![.?!:\"'(]\s)(?<=\s)[A-Z][\w'-]*")


def coverage(stats: TermStats) -> dict[int, float]:
    """The share of the question's weight that stands in each row, 0..1; words that the space lacks weigh most.

    In a text of thousands of words any word may stand by chance: there a share counts for less.
    """
    weights = {term: math.log(1 + RARE / (n + 0.5)) for term, n in stats.frequencies.items()}
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(stats.counts, 0.0)
    shares = {row: sum(weights[t] for t in weights if t in counts) / total for row, counts in stats.counts.items()}
    return {
        row: share * min(1.0, math.sqrt(LONG_TEXT / max(1, sum(stats.lengths[row])))) for row, share in shares.items()
    }


def judge(
    topic: str, stats: TermStats, entries: Mapping[int, Entry], cosines: Mapping[int, float]
) -> dict[int, Evidence]:
    """The evidence of each memory. `entries` are by row, and so are the `cosines` to the topic of those that have a vector."""
    covered = coverage(stats)
    more = STRANGER if has_stranger(topic, stats.frequencies) else 0.0

    def evidence(row: int) -> Evidence:
        share = covered.get(row, 0.0)
        if row not in cosines:
            return Evidence(share, None, WORDS_FLOOR)
        if entries[row].is_read:
            weight, floor = READ_WEIGHT, READ_FLOOR
        else:
            weight, floor = TOLD_WEIGHT, TALK_FLOOR if style_of(entries[row]) == TALK else TOLD_FLOOR
        return Evidence(weight * share, cosines[row], floor + more)

    return {row: evidence(row) for row in sorted(entries)}


def strongest(judged: Mapping[int, Evidence]) -> Evidence:
    """The evidence of the memory, of one at least, that has most above its floor."""
    return max(judged.values(), key=lambda one: round(one.together - one.floor, 6))


def has_stranger(question: str, frequencies: Mapping[str, int]) -> bool:
    """Whether the question names, with a capital letter inside a sentence, what the space never mentions."""
    for match in _CAPITALIZED.finditer(question):
        forms, word = terms(match[0]), match[0].lower().removesuffix("'s")
        is_date = word in MONTH_NUMBERS or word in DAY_NUMBERS
        if forms and not is_date and not any(frequencies.get(form) for form in forms):
            return True
    return False
