"""The part of each memory that a bundle shows, and the choice of these parts within a token budget.

A part is passages with their heading, the message and a hunk of a commit, or an excerpt: the whole sentences, list items, table
rows or lines of code that have the words of the query.

A budget is filled in steps whose order does not depend on its size: the first memory grows from its shortest form to its
preferred one, then the next memory does; further passages of a memory come before memories that match less well; forms longer
than the preferred ones come last. A budget takes as many steps as fit, so a larger budget never shows less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf

from memcli.model.characters import character_end
from memcli.model.memory import Memory
from memcli.model.recall import LEVELS, PASSAGE, PASSAGES, RAW, SENTENCE, Section
from memcli.record import Record, replace
from memcli.regex import regex
from memcli.text.passages import CONTENT, CONTEXT, HUNK, MESSAGE, Passage, passages, read_sentences, trail
from memcli.text.words import terms

_LONGEST = 900
"""A longer sentence or line is cut."""
_OWN_LINE = regex(r"\s{4,}|\t|\s*(?:[-*+>|#@]|\d+[.)]\s|```|~~~)")
_WORD = regex(r"\S+")
_FENCE = regex(r"\s*(?:```|~~~)")


_Unit = tuple[str, bool]
"""A sentence or line, and whether it is a whole line, as in code and lists."""


def best_sentence(text: str, wanted: frozenset[str]) -> str:
    """The sentence or line of `text` that has most of the terms `wanted`, of equals the first."""
    units = list(_units(text))
    return units[_best(units, wanted)][0] if units else ""


def excerpt(text: str, wanted: frozenset[str], size: int) -> str:
    """The best sentence with as many whole ones after and then before it as fit in `size` characters."""
    units = list(_units(text))
    if not units:
        return ""
    sizes = [len(unit) for unit, _ in units]
    first = last = _best(units, wanted)
    room = size - sizes[first]
    while last + 1 < len(units) and sizes[last + 1] < room:
        last += 1
        room -= sizes[last] + 1
    while first > 0 and sizes[first - 1] < room:
        first -= 1
        room -= sizes[first] + 1
    found, _ = units[first]
    for (_, was_line), (unit, is_line) in pairwise(units[first : last + 1]):
        found += ("\n" if was_line or is_line else " ") + unit
    return found


def within(text: str, wanted: frozenset[str], size: int) -> str:
    """`text` if it has at most `size` characters, else an excerpt of no more.

    Where no sentence is that short, it is the run of words that has most of the terms `wanted`, with `…` for what is left
    out. Of several equal runs it is the one at the beginning of the text, else the middle one: the answer may stand on
    either side of a term.
    """
    text = text if len(text) <= size else excerpt(text, wanted, size)
    if len(text) <= size:
        return text
    words = list(_WORD.finditer(text))
    known = [wanted.intersection(terms(word[0])) for word in words]
    rows: dict[int, list[str]] = {}
    for n, word in enumerate(words if wanted else words[:1]):
        start, last = word.start(), n - 1
        room = size - 1 - (n > 0)
        while last + 1 < len(words) and words[last + 1].end() - start <= room:
            last += 1
        end = words[last].end() if last >= n else character_end(text, start + room, start)
        row = f"{'…' if n else ''}{text[start:end]}{'…' if end < len(text) else ''}"
        rows.setdefault(len(frozenset().union(*known[n : last + 1])), []).append(row)
    best = rows.get(max(rows, default=0), [""])
    return best[0] if not best[0].startswith("…") else best[len(best) // 2]


def _best(units: list[_Unit], wanted: frozenset[str]) -> int:
    shared = [len(wanted.intersection(terms(unit))) for unit, _ in units]
    return shared.index(max(shared))


def _units(text: str) -> Iterator[_Unit]:
    """The sentences of prose, whose lines may be wrapped, and all other lines, in order."""
    prose: list[str] = []
    is_code = False
    for line in (*text.splitlines(), ""):  # an empty line ends the last sentence
        is_fence = bool(_FENCE.match(line))
        if line.strip() and not (is_code or is_fence or _OWN_LINE.match(line)):
            prose.append(line.strip())
            continue
        found = [(sentence, False) for _, sentence in read_sentences(" ".join(prose))]
        prose = []
        is_code ^= is_fence
        if line.strip() and not is_fence:
            found.append((line.rstrip(), True))
        for unit, is_line in found:
            is_short = len(unit) <= _LONGEST
            yield unit if is_short else unit[: character_end(unit, _LONGEST)].rstrip() + "…", is_line


SHOWN = 800
"""The most characters of a passage and its neighbours under the same heading that are shown together."""
MOST_MORE = 7
"""The most further passages of one memory, and, below, the most hunks of a commit among all that are shown."""
MOST_HUNKS = 2
_MESSAGE = 600
"""Characters of a commit's message beside a hunk of it."""
_APART = (CONTENT, CONTEXT)
_GAP = "[…]"


class Answer(Record):
    """The part of a memory that answers a query. `text` is from `start` to `end` of the raw text (0, 0: it is not in it),
    below `heading`. `more` has longer forms of the text, each with one more passage, a mark where text between passages is
    left out, and the score of the passage added. `sentence` is the sentence or line that matches best.
    """

    text: str = ""
    heading: str = ""
    start: int = 0
    end: int = 0
    sentence: str = ""
    more: tuple[tuple[str, float], ...] = ()


def answer_of(
    memory: Memory,
    best: Sequence[tuple[int, float]],
    topic: str,
    *,
    with_sentence: bool = True,
    limit: int | None = None,
) -> Answer:
    """The answer to `topic` from the passages `best` of the memory, as numbers and scores, best first. Without `best` it is
    the passage with most terms of the topic. Each text has at most `limit` characters."""
    cut = passages(memory)
    wanted = frozenset(terms(topic))
    if not cut or not (wanted or best):
        return Answer()
    ranked = [(n, score) for n, score in best if n < len(cut)]
    if not ranked:  # the passage with most of the terms, of equals the first
        shared = [len(wanted.intersection(terms(one.text))) for one in cut]
        ranked = [(shared.index(max(shared)), 0.0)]
    first = cut[ranked[0][0]]
    places = _of_commit([n for n, _ in ranked], cut) if memory.kind == "diff" else _around(cut, ranked[0][0])
    inside = [cut[n] for n in places if cut[n].end]
    answer = Answer(
        _joined(memory.raw, [cut[n] for n in places]),
        _heading(memory, first),
        min((one.start for one in inside), default=0),
        max((one.end for one in inside), default=0),
        best_sentence(first.text, wanted) if with_sentence else "",
        tuple(_growing(memory.raw, cut, places, ranked[1 : 1 + MOST_MORE])),
    )
    return answer if limit is None else _limited(answer, memory.raw, first, wanted, limit)


def _limited(answer: Answer, raw: str, first: Passage, wanted: frozenset[str], limit: int) -> Answer:
    """The answer in at most `limit` characters; a longer text is cut to a part of the best passage, `first`."""
    answer = replace(
        answer,
        sentence=within(answer.sentence, wanted, limit),
        more=tuple((text, score) for text, score in answer.more if len(text) <= limit),
    )
    if len(answer.text) <= limit:
        return answer
    text = within(first.text, wanted, limit)
    start = raw.find(text, first.start, first.end)
    return replace(answer, text=text, start=max(start, first.start), end=start + len(text) if start >= 0 else first.end)


def _growing(
    raw: str, cut: Sequence[Passage], shown: Sequence[int], more: Sequence[tuple[int, float]]
) -> Iterator[tuple[str, float]]:
    places = set(shown)
    hunks = sum(cut[n].form == HUNK for n in places)
    for n, score in more:
        hunks += cut[n].form == HUNK and n not in places
        added = {n} if cut[n].form in (HUNK, MESSAGE) else {*_around(cut, n)}
        if added <= places or (cut[n].form == HUNK and hunks > MOST_HUNKS):
            continue
        places |= added
        yield _joined(raw, [cut[m] for m in sorted(places)]), score


def _around(cut: Sequence[Passage], first: int) -> list[int]:
    """The indexes of a passage and its neighbours under the same heading, up to SHOWN characters; later ones are added first."""
    size = len(cut[first].text)

    def reach(places: Iterable[int]) -> Iterator[int]:
        nonlocal size
        for n in places:
            size += len(cut[n].text)
            is_apart = cut[n].headings != cut[first].headings or cut[n].form in _APART
            if is_apart or size > SHOWN or not cut[first].end:
                size -= len(cut[n].text)
                return
            yield n

    behind = list(reach(range(first + 1, len(cut))))
    return [*reversed(list(reach(range(first - 1, -1, -1)))), first, *behind]


def _of_commit(ranked: Sequence[int], cut: Sequence[Passage]) -> list[int]:
    """The passages that show a commit: its message (of a long one the first passage and the best other one) and one hunk."""
    messages = [n for n, one in enumerate(cut) if one.form == MESSAGE]
    if sum(len(cut[n].text) for n in messages) > _MESSAGE:
        chosen = [*messages[:1], *(n for n in ranked if cut[n].form == MESSAGE)][:2]
        messages = [n for n in messages if n in chosen]
    hunks = [n for n in ranked if cut[n].form == HUNK] or [n for n, one in enumerate(cut) if one.form == HUNK]
    return [*messages, *hunks[:1]]


def _joined(raw: str, chosen: Sequence[Passage]) -> str:
    """The passages in order: a hunk below its file name, any other below its heading where that changes; the parts of one
    long line are joined to one line again."""
    parts = [_titled(chosen[0])] if chosen else []
    for before, one in pairwise(chosen):
        if one.form != HUNK and 0 < before.end == one.start and raw[one.start - 1] != "\n":
            whole = raw[before.start : before.end]
            parts[-1] += whole[len(whole.rstrip()) :] + one.text
            continue
        between = raw[before.end : one.start]
        if one.form != HUNK and between.strip() and one.headings == before.headings:
            parts.append(_GAP)
        elif one.form != HUNK and "\n\n" in raw[before.start + len(before.text) : one.start]:
            parts.append("")
        if one.headings != before.headings and one.form != HUNK and one.headings:
            parts.append(f"{one.headings[-1]}:")
        parts.append(_titled(one))
    return "\n".join(parts)


def _titled(one: Passage) -> str:
    return f"{one.headings[0]}\n{one.text}" if one.form == HUNK and one.headings else one.text


def _heading(memory: Memory, one: Passage) -> str:
    """The headings above the passage, without one that its own first line repeats."""
    if one.form in (HUNK, MESSAGE):
        return ""
    titles = trail(memory, one)
    first = one.text.lstrip().partition("\n")[0].strip().strip("#").strip()
    return " > ".join(titles[:-1] if titles and titles[-1] == first else titles)


Step = tuple[int, str, int]
"""The rank of a memory from 0, the level at which it now appears, and the number of further passages shown."""


class Forms(Record):
    """The levels at which a memory may appear, each with its cost in tokens: up to the preferred one, and beyond it.

    `more`: for each further passage the rank of the memory before which it is shown, in rising order; `cost_of` gives the
    cost of the memory with a number of further passages.
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
        # A later, cheaper step is not tried: a larger budget might have no room for it.
        if left < 0:
            return steps
        known[place] = cost
        steps.append((place, level, more))
    return steps


def _steps(forms: Iterable[Forms], known: Mapping[int, int]) -> Iterator[tuple[Step, int]]:
    """Every step with the cost of its memory after it, where that exceeds the cost `known` so far."""
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
        usual: list[tuple[str, int]] = []
        for level, cost in form.usual:  # without those that cost no less than a fuller one; the last one stays
            while usual and usual[-1][1] >= cost:
                usual.pop()
            usual.append((level, cost))
        yield from (((place, level, 0), cost) for level, cost in usual)
        if usual[-1][0] != RAW:
            waiting += [(max(at, place + 1), place, n, form.cost_of) for n, at in enumerate(form.more, 1)]
        fuller += [((place, level, 0), cost) for level, cost in form.fuller]
    yield from more(inf)
    yield from ((step, cost) for step, cost in fuller if cost > known[step[0]])


SHORT_TEXT = 900
"""A text of at most this many characters is shown whole rather than summarized, where a budget has room for it."""


def forms(section: Section, include_raw: bool = False) -> tuple[list[str], list[str]]:
    """The levels at which the memory may appear, shortest first: up to the preferred one, and beyond it.

    A passage is preferred to a summary; summaries are for a memory without a passage for the topic.
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
