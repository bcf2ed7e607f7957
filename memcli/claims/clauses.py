"""The clauses of a sentence: each states something, and may be limited by conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memcli.claims.lexicon import BREAKS, CONDITIONS, HEDGES, REASONS, VERB_MARKS
from memcli.claims.values import glued
from memcli.claims.words import Word, read
from memcli.regex import regex

_PREFIX = regex(r"^\s*(?:feat|fix|chore|refactor|perf|docs|style|test|build|ci)(?:\([^)\n]{0,40}\))?!?:\s*", 2)
_BREAK = regex(r";\s|\s\|\s")
MOST_WORDS = 100
"""How many words of a part of a sentence are read."""
LEAST_WORDS = 2
"""A clause of fewer words states nothing."""


class Clause(NamedTuple):
    """The words of a claim, the words of its conditions, and whether it gives the reason of another clause."""

    main: Sequence[Word]
    limits: Sequence[Word]
    is_reason: bool


def clauses(sentence: str) -> Iterator[Clause]:
    """The clauses of a sentence; none of a question, or of what is only considered."""
    for part in parts(sentence):
        yield from clauses_of_part(part)


def parts(sentence: str) -> list[str]:
    """The parts of a sentence between which its marks separate, each to be read by itself; none of a question."""
    if sentence.rstrip().endswith("?"):
        return []
    text = _PREFIX.sub("", sentence)
    return [glued(part) for part in (_BREAK.split(text) if ";" in text or "|" in text else (text,))]


def clauses_of_part(part: str) -> Iterator[Clause]:
    """The clauses of one of the `parts` of a sentence."""
    words = read(part)[:MOST_WORDS]
    if any(word.low in HEDGES for word in words):
        return
    for clause, is_reason in _cut(words):
        if sum(bool(word.stem) for word in clause) >= LEAST_WORDS:
            yield Clause(*_limited(clause), is_reason)


def has_place(word: Word) -> bool:
    """Whether the word may begin, end or limit a clause, or keep it from being one."""
    return word.text == "," or word.low in _TURNS


def _cut(words: Sequence[Word]) -> Iterator[tuple[list[Word], bool]]:
    """The clauses of one sentence, each with whether it gives a reason: `because the disk was full` is a claim too."""
    clause: list[Word] = []
    is_reason = False
    for at, word in enumerate(words):
        is_break = word.low in BREAKS and at >= 3
        begins = word.low in REASONS and (at == 0 or at >= 3)
        ends = (
            word.text == ","
            and at + 2 < len(words)
            and (is_reason or (len(clause) >= 4 and _stands_alone(words[at + 1 :])))
        )
        if is_break or begins or ends:
            if clause:
                yield clause, is_reason
            clause, is_reason = [], begins
            continue
        clause.append(word)
    if clause:
        yield clause, is_reason


def _stands_alone(words: Sequence[Word]) -> bool:
    """Whether what follows a comma is a clause with a verb of its own."""
    end = next((at for at, word in enumerate(words) if word.text == ","), len(words))
    return end >= 4 and words[0].low not in _RELATIVES and any(word.low in VERB_MARKS for word in words[1:6])


_RELATIVES = frozenset("which who that where when if unless except and or to with for also not never".split())


def _limited(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The words of the claim itself, and those that limit it: its conditions."""
    main: list[Word] = []
    limits: list[Word] = []
    into = main
    has_comma = any(word.text == "," for word in words)
    for at, word in enumerate(_without_opening(words)):
        if word.low in CONDITIONS and (at or has_comma):
            into = limits
        elif word.text in ",)":
            into = main
        into.append(word)
    return main, limits


def _without_opening(words: Sequence[Word]) -> Sequence[Word]:
    """The words without what leads up to them: `After the incident, ...`."""
    if words and words[0].low in _OPENINGS:
        for at, word in enumerate(words[2:_LONGEST_OPENING], 2):
            if word.text == "," or word.low in ("we", "decided"):
                return words[at + 1 :]
    return words


_OPENINGS = frozenset("after following given".split())
_LONGEST_OPENING = 9
_TURNS = _OPENINGS | HEDGES | BREAKS | REASONS | CONDITIONS
