"""The budget of a bundle: how fully each memory appears, filled in order of rank.

The steps in which a bundle grows are the same whatever the budget: the best memory from its least form up to the one to
be preferred, then the next; more passages of a memory before what answers less; at last, in the same order, whatever
goes beyond that. A budget takes as many steps as it has
room for, so a larger one never says less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memcli.model.recall import LEVELS, PASSAGE, PASSAGES, RAW, SENTENCE, Section
from memcli.record import Record

Step = tuple[int, str]
"""A memory, by its place, and the level that it now appears at."""


class Forms(Record):
    """The levels at which a memory may appear, with what each costs in tokens: up to the preferred one, and beyond; and
    `later`, where it has more passages, the level with those, which comes before the memory at the place `before`."""

    usual: Sequence[tuple[str, int]]
    fuller: Sequence[tuple[str, int]] = ()
    later: Sequence[tuple[str, int]] = ()
    before: int = 0


def fill(forms: Iterable[Forms], room: int) -> list[Step]:
    """The steps that cost at most `room` in all. Of `forms` no more is asked for than there is room for."""
    steps: list[Step] = []
    known: list[int] = []
    left = room
    for place, level, cost in _steps(forms):
        before = known[place] if place < len(known) else 0
        left -= cost - before
        if left < 0:
            return steps
        known[place : place + 1] = [cost]
        steps.append((place, level))
    return steps


def _steps(forms: Iterable[Forms]) -> Iterator[tuple[int, str, int]]:
    fuller: list[tuple[int, str, int]] = []
    later: list[tuple[int, tuple[int, str, int]]] = []
    for place, form in enumerate(forms):
        yield from (step for before, step in later if before <= place)
        later = [(before, step) for before, step in later if before > place]
        usual = _rising(form.usual)
        yield from ((place, level, cost) for level, cost in usual)
        least = usual[-1][1]
        for level, cost in form.later:
            if cost > least:
                later.append((max(form.before, place + 1), (place, level, cost)))
                least = cost
        fuller += [(place, level, cost) for level, cost in form.fuller if cost > least]
    yield from (step for _, step in later)
    yield from fuller


def _rising(forms: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """The forms without those that cost no less than a fuller one. The last one stays."""
    kept: list[tuple[str, int]] = []
    for level, cost in forms:
        while kept and kept[-1][1] >= cost:
            kept.pop()
        kept.append((level, cost))
    return kept


SHORT_TEXT = 900
"""A text of at most this many characters is shown whole rather than summarized, where a budget has room for it."""


def forms(section: Section, include_raw: bool = False) -> tuple[list[str], list[str]]:
    """The levels at which the memory may appear, from the least on: up to the one to be preferred, and beyond it.

    What answers is preferred to a summary: those are for a memory that has no passage for the topic.
    """
    memory = section.memory
    known = [level for level, text in texts_of(section).items() if text] or [RAW]
    if PASSAGE in known:
        known = [level for level in known if level in (SENTENCE, PASSAGE, PASSAGES, RAW)]
    best = known[-1]
    is_short = 0 < len(memory.raw) <= SHORT_TEXT
    if not (include_raw or is_short) and best == RAW and len(known) > 1:
        best = known[-2]
    at = known.index(best) + 1
    return known[:at], known[at:]


def texts_of(section: Section) -> dict[str, str]:
    """The text of each level; empty where the memory has none."""
    memory = section.memory
    texts = (
        section.sentence, memory.summary_micro, memory.summary_short, memory.summary_long, section.passage,
        section.fuller, memory.raw,
    )  # fmt: skip
    return dict(zip(LEVELS, texts, strict=True))
