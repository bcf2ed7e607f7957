"""Kinds of text, and what they ask of a ranker. Every number was chosen on measured ground: see bench/README.md."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.memory import TALK_KINDS
from memcli.model.recall import Entry
from memcli.record import Record


class Style(Record):
    """How text of one style is scored.

    `k1`: how soon more of the same word stops counting; `b`: how much long fields are discounted, 0..1.
    `lexical`: the share of words in the score of a memory, 0..1; the rest is meaning.
    `neighbours`: the share of the score of the memory before and after, within the group.
    `group`, `group_words`: the weights, beside 1 for the memory itself, of the best memories of its group and of
    how the group as a whole answers in words.
    `tail`: what scores less, where 1 answers well, and does not reach its own floor does not match.
    """

    k1: float
    b: float
    lexical: float
    neighbours: float
    group: float
    group_words: float
    tail: float
    by_passage: bool = False
    """Whether a memory says as much as its best passage, rather than as a whole."""
    rank: int = 0
    """Which style leads of two that answer equally well: the higher."""

    __eq__ = object.__eq__  # there is one of each, and they are compared for every row
    __hash__ = object.__hash__


TALK = Style(k1=0.6, b=0.3, lexical=0.42, neighbours=0.1, group=0.25, group_words=0.25, tail=0.25, rank=1)
PROSE = Style(
    k1=1.2, b=0.75, lexical=0.5, neighbours=0.1, group=0.25, group_words=0.25, tail=0.4, by_passage=True, rank=2
)
CODE = Style(k1=1.5, b=0.75, lexical=0.5, neighbours=0.0, group=1.3, group_words=1.5, tail=0.22)

_BY_KIND: Mapping[str, Style] = {**dict.fromkeys(TALK_KINDS, TALK), "diff": CODE, "code": CODE, "config": CODE}


def style_of(entry: Entry) -> Style:
    """The style of the text of a memory. A log in which nobody speaks, a changelog, is prose."""
    style = _BY_KIND.get(entry.kind, PROSE)
    return PROSE if style == TALK and not (entry.group or entry.speaker) else style
