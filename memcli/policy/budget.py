"""The budget of a bundle: how fully each memory appears, filled in order of rank.

The steps in which a bundle grows are the same whatever the budget: the best memory from its least form up to the one to
be preferred, then the next; further passages of a memory before what answers less; at last, in the same order, whatever
goes beyond that. A budget takes as many steps as it has
room for, so a larger one never says less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf

from memcli.model.recall import LEVELS, PASSAGE, PASSAGES, RAW, SENTENCE, Section
from memcli.policy.answer import within
from memcli.record import Record

Step = tuple[int, str, int]
"""A memory, by its place, the level that it now appears at, and how many more of its passages are shown."""


class Forms(Record):
    """The levels at which a memory may appear, with what each costs in tokens: up to the preferred one, and beyond.

    `more`: for each further passage the place before which it comes, in rising order; `cost_of` says what the memory costs
    with so many of them.
    """

    usual: Sequence[tuple[str, int]]
    fuller: Sequence[tuple[str, int]] = ()
    more: Sequence[int] = ()
    cost_of: Callable[[int], int] = int


def fill(forms: Iterable[Forms], room: int) -> list[Step]:
    """The steps whose total cost is at most `room`. Reads `forms` only as far as there is room."""
    steps: list[Step] = []
    known: dict[int, int] = {}
    left = room
    for (place, level, more), cost in _steps(forms, known):
        left -= cost - known.get(place, 0)
        if left < 0:
            return steps
        known[place] = cost
        steps.append((place, level, more))
    return steps


def _steps(forms: Iterable[Forms], known: Mapping[int, int]) -> Iterator[tuple[Step, int]]:
    """Every step with what its memory then costs, where that is more than is `known` of it."""
    fuller: list[tuple[Step, int]] = []
    waiting: list[tuple[int, int, int, Callable[[int], int]]] = []

    def more(limit: float) -> Iterator[tuple[Step, int]]:
        due = sorted((one for one in waiting if one[0] <= limit), key=lambda one: one[:3])
        waiting[:] = [one for one in waiting if one[0] > limit]
        for _, place, n, cost_of in due:
            cost = cost_of(n)
            if cost > known[place]:
                yield (place, PASSAGES, n), cost

    for place, form in enumerate(forms):
        yield from more(place)
        usual = _rising(form.usual)
        yield from (((place, level, 0), cost) for level, cost in usual)
        if usual[-1][0] != RAW:
            waiting += [(max(at, place + 1), place, n, form.cost_of) for n, at in enumerate(form.more, 1)]
        fuller += [((place, level, 0), cost) for level, cost in form.fuller]
    yield from more(inf)
    yield from ((step, cost) for step, cost in fuller if cost > known[step[0]])


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
        known = [level for level in known if level in (SENTENCE, PASSAGE, RAW)]
    best = known[-1]
    is_short = 0 < len(memory.raw) <= SHORT_TEXT
    if not (include_raw or is_short) and best == RAW and len(known) > 1:
        best = known[-2]
    at = known.index(best) + 1
    return known[:at], known[at:]


def texts_of(section: Section) -> dict[str, str]:
    """The text of each level; empty where the memory has none, or where the limit of the section rules it out."""
    memory, limit = section.memory, section.limit
    summaries = [memory.summary_micro, memory.summary_short, memory.summary_long]
    raw = memory.raw
    if limit is not None:
        summaries = [within(text, frozenset(), limit) for text in summaries]
        raw = raw if len(raw) <= limit else ""
    texts = (
        section.sentence, *summaries, section.passage, section.more[section.steps - 1][0] if section.steps else "", raw,
    )  # fmt: skip
    return dict(zip(LEVELS, texts, strict=True))
