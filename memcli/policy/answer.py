"""The part of a memory that answers a topic, as it is printed: passages with their heading, or a commit in short."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from memcli.model.analysis import terms
from memcli.model.memory import Memory
from memcli.model.passages import CONTENT, CONTEXT, HUNK, MESSAGE, Passage, passages, trail
from memcli.policy.excerpt import best_sentence
from memcli.record import Record

SHOWN = 1_200
"""Characters up to which a passage is shown with what follows it under the same heading: the code behind its words."""
MOST_MORE = 2
"""How many more passages of one memory are shown, at most."""
_MESSAGE = 600
"""Characters of a commit's message beside a hunk of it."""
_GAP = "[…]"


class Answer(Record):
    """`text` stands from `start` to `end` of the raw text (0, 0: elsewhere), below `heading`; `fuller` has more passages,
    with a mark where something is left out between them. `sentence` is the sentence or line of it that matches best."""

    text: str = ""
    fuller: str = ""
    heading: str = ""
    start: int = 0
    end: int = 0
    sentence: str = ""


def answer_of(memory: Memory, best: Sequence[int], topic: str, more: int = 0) -> Answer:
    """The answer that the memory gives, from its passages `best`, by number, best first; by words where there are none.

    `more`: how many of those behind the first are worth showing too.
    """
    cut = passages(memory)
    wanted = frozenset(terms(topic))
    if not cut or not (wanted or best):
        return Answer()
    ranked = [n for n in best if n < len(cut)] or [_by_words(cut, wanted)]
    first = cut[ranked[0]]
    if memory.kind == "diff":
        chosen = fuller = _of_commit([cut[n] for n in ranked], cut)
    else:
        places = _from(cut, ranked[0])
        chosen = [cut[n] for n in places]
        others = {m for n in ranked[1 : 1 + min(more, MOST_MORE)] for m in _from(cut, n)}
        fuller = [cut[n] for n in sorted({*places, *others})]
    inside = [one for one in chosen if one.end]
    return Answer(
        _joined(memory.raw, chosen),
        _joined(memory.raw, fuller) if len(fuller) > len(chosen) else "",
        _heading(memory, first),
        min((one.start for one in inside), default=0),
        max((one.end for one in inside), default=0),
        best_sentence(first.text, wanted),
    )


def _by_words(cut: Sequence[Passage], wanted: frozenset[str]) -> int:
    """The passage with most of the terms, of equals the first."""
    return max(range(len(cut)), key=lambda n: (len(wanted.intersection(terms(cut[n].text))), -n))


def _from(cut: Sequence[Passage], first: int) -> list[int]:
    """A passage and those behind it under the same heading, as many as are shown together."""
    places = [first]
    size = len(cut[first].text)
    for n in range(first + 1, len(cut)):
        size += len(cut[n].text)
        is_apart = cut[n].headings != cut[first].headings or cut[n].form in (CONTENT, CONTEXT)
        if is_apart or size > SHOWN or not cut[first].end:
            break
        places.append(n)
    return places


def _of_commit(ranked: Sequence[Passage], cut: Sequence[Passage]) -> list[Passage]:
    """The message, or of a long one its first passage and that which answers, and the hunk that does."""
    messages = [one for one in cut if one.form == MESSAGE]
    if sum(len(one.text) for one in messages) > _MESSAGE:
        told = [*messages[:1], *(one for one in ranked if one.form == MESSAGE)][:2]
        messages = [one for one in messages if one in told]
    hunks = [one for one in ranked if one.form == HUNK] or [one for one in cut if one.form == HUNK]
    return [*messages, *hunks[:1]]


def _joined(raw: str, chosen: Sequence[Passage]) -> str:
    """The passages in order, hunks below the file that they are of, others below a heading of their own."""
    parts = [_titled(chosen[0])] if chosen else []
    for before, one in pairwise(chosen):
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
    """The headings that lead to the passage, but for one that it shows itself."""
    if one.form in (HUNK, MESSAGE):
        return ""
    titles = trail(memory, one)
    first = one.text.lstrip().partition("\n")[0].strip().strip("#").strip()
    return " > ".join(titles[:-1] if titles and titles[-1] == first else titles)
