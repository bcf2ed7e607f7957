"""Extractive summaries in three lengths, from the sentences that share most terms with the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import sqrt

from memcli.model.characters import character_end
from memcli.regex import regex
from memcli.summarize.lexicon import cue_of
from memcli.summarize.sentences import Sentence
from memcli.text.passages import HEADING, ITEM, ROW, STEP
from memcli.text.words import terms

_ROUNDS = 3
_FIRST = 1.35
_EARLY = 1.5
"""The bonus of the first sentence of a document; it decreases with the position."""
MANY = 8
"""A text of more sentences than this is a document rather than a note."""
_QUESTION, _LEAD_IN, _DANGLING, _FRAGMENT, _ADDRESS = 0.6, 0.5, 0.8, 0.6, 0.4
_SHORT_TERMS = 4
_SHORT = 40
_DANGLES = regex(
    r"(?:this|that|these|those|it|they|he|she|however|also|but|so|then|and|or|for example|otherwise|instead|moreover|"
    r"additionally|furthermore|similarly|see|for more|note|thanks|hi|hello)\b",
    re.IGNORECASE,
)


def weigh(
    texts: Sequence[str], sets: Sequence[frozenset[str]], context: str = "", *, is_document: bool = True
) -> list[float]:
    """The score of each sentence in `texts`, whose terms are `sets`; rounded, so that all machines rank alike.

    A few rounds of power iteration between sentences and their terms approximate the eigenvector of sentence overlap, as
    TextRank computes it, in time linear in the words. The terms of `context`, a title, weigh double in the first round. Without
    `is_document` the position of a sentence does not count.
    """
    groups = [sorted(group) for group in sets]  # the sum of floats depends on their order
    weights: dict[str, float] = dict.fromkeys((term for group in groups for term in group), 1.0)
    sums: list[float] = []
    for turn in range(_ROUNDS):
        sums = [sum([weights[term] for term in group]) / sqrt(len(group) + _SHORT_TERMS) for group in groups]
        if turn < _ROUNDS - 1:
            # The weight of a term is the sum of its sentences, relative to the heaviest term.
            spread = dict.fromkeys(weights, 0.0)
            for group, value in zip(groups, sums, strict=True):
                for term in group:
                    spread[term] += value
            most = max(spread.values(), default=0.0) or 1.0
            weights = {term: value / most for term, value in spread.items()}
            for term in terms(context) if turn == 0 else ():
                if term in weights:
                    weights[term] *= 2
    best = max(sums, default=0.0) or 1.0
    return [
        round(sqrt(value / best) * (_manner(text, n, len(texts)) if is_document else _manner(text, 1, 0)), 6)
        for n, (text, value) in enumerate(zip(texts, sums, strict=True))
    ]


def _manner(text: str, position: int, count: int) -> float:
    """The factor of a sentence's score for its position and form."""
    factor = 1 + _EARLY / (1 + position / 2) if count > MANY else _FIRST if position == 0 else 1.0
    if text.endswith("?"):
        factor *= _QUESTION
    elif text.endswith(":"):
        factor *= _LEAD_IN
    elif position and count > MANY and (text[0].islower() or (text[-1].isalnum() and len(text) < _SHORT)):
        factor *= _FRAGMENT
    if "://" in text:
        factor *= _ADDRESS
    if position and _DANGLES.match(text):
        factor *= _DANGLING
    return factor


MICRO, SHORT, LONG = 160, 400, 1200
"""The most characters of each summary."""
_SENTENCES = {MICRO: 2, SHORT: 3, LONG: 8}
_ELLIPSIS = "…"
_CUE_BONUS = 1.0
_GOOD_ENOUGH = 0.6
"""The share of the best score from which on a sentence that fits a micro summary precedes a better one that does not."""
_STRONG, _FAIR = 0.5, 0.3
"""The share of the best score that a second sentence of a micro summary needs, in a document and in a note."""
_SAME = 0.7
"""The share of the terms of the shorter of two sentences above which one repeats the other."""
_TRIED = 40
_WORTH = 20
"""A sentence of fewer characters is not added to others."""
_CUED = 12
"""Only the first sentences are searched for a cue of the kind."""
_WITHOUT_CUES = frozenset(["fact", "guide", "log", "code", "diff", "config"])


Summaries = tuple[str, str, str]
"""The summaries of a text: micro, short, long."""


def same(text: str) -> Summaries:
    """One text as all three summaries, clipped to their lengths."""
    return (clip(text, MICRO), clip(text, SHORT), clip(text, LONG))


def clip(text: str, limit: int) -> str:
    """`text`, or as many of its first words as fit before an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: character_end(text, limit - 1)]
    space = head.rfind(" ")
    if space > limit // 3 and text[limit - 1] != " ":
        head = head[:space]
    if head.count("`") % 2:
        tick = head.rfind("`")
        head = head[:tick] if tick > limit // 2 else head.replace("`", "")
    return head.rstrip(" \n,;:.-–—(") + _ELLIPSIS


def collapse(text: str) -> str:
    """The head of `text` on one line, enough characters for any summary."""
    return " ".join(text[: 4 * LONG].split())


def within(limit: int, lines: Iterable[str]) -> str:
    """The first of the lines that fit into `limit` characters, at least one; lines are clipped to the room left."""
    fitting: list[str] = []
    room = limit
    for line in lines:
        if fitting and len(line) + 1 > room:
            break
        fitting.append(clip(line, room))
        room -= len(fitting[-1]) + 1
    return "\n".join(fitting)


def summarize(sentences: Sequence[Sentence], kind: str) -> Summaries:
    """The three summaries of a text for a memory of this kind."""
    if len(sentences) == 1:
        return same(sentences[0].text)
    title = sentences[0].text.rstrip(":") if sentences[0].role == HEADING else ""
    body = [s for s in sentences if s.role not in (HEADING, ROW)]
    if not body:
        rows = [s for s in sentences if s.role == ROW]
        body = rows or [s for s in sentences[1:] if s.text != title]
    whole = joined(body, title)
    if len(whole) <= MICRO:
        return same(whole)
    sets = [frozenset(terms(text)) for text, _ in body]
    ranking, strong = _ranking(body, sets, title, kind)
    micro = _chosen(body, sets, strong, MICRO, title)
    short = _chosen(body, sets, ranking, SHORT, title)
    is_whole = len(whole) <= LONG and len(body) <= _SENTENCES[LONG]
    long = body if is_whole else _chosen(body, sets, ranking, LONG, title)
    return (
        clip(joined(micro, _new(title, micro, MICRO)), MICRO),
        _laid_out(short, SHORT, title if len(title) <= MICRO // 2 else ""),
        _laid_out(long, LONG, title),
    )


def joined(sentences: Sequence[Sentence], title: str = "") -> str:
    """Sentences as running text after the title; a sentence without punctuation at its end gets a semicolon."""
    parts: list[str] = []
    if title:
        parts.append(title if not sentences else f"{title}." if ":" in title else f"{title}:")
    for text, _ in sentences:
        before = parts[-1] if parts else ""
        if before and (before[-1].isalnum() or before[-1] in ")`\"'"):
            parts[-1] = f"{before};"
        parts.append(text)
    return " ".join(parts)


def _ranking(
    body: Sequence[Sentence], sets: Sequence[frozenset[str]], title: str, kind: str
) -> tuple[list[int], list[int]]:
    """The positions of the sentences, best first, and those of them whose score is near the best.

    Steps stay in the order of the text.
    """
    steps = sum(1 for s in body if s.role == STEP)
    if steps * 2 > len(body) or (kind == "procedure" and steps > 1):
        return list(range(len(body))), list(range(len(body)))
    scores = weigh([text for text, _ in body], sets, title)
    if kind not in _WITHOUT_CUES:
        for place, (text, _) in enumerate(body[:_CUED]):
            if cue_of(text, is_opening=place == 0) == kind:
                scores[place] += _CUE_BONUS
                break
    ranking = sorted(range(len(body)), key=lambda place: (-scores[place], place))
    if len(body[ranking[0]].text) > MICRO:
        # A micro summary is one line: a sentence that fits is better than the clipped best one.
        good = (place for place in ranking[1:8] if scores[place] >= _GOOD_ENOUGH * scores[ranking[0]])
        fitting = next((place for place in good if len(body[place].text) <= MICRO), ranking[0])
        ranking = [fitting, *(place for place in ranking if place != fitting)]
    floor = (_STRONG if len(body) > MANY else _FAIR) * scores[ranking[0]]
    return ranking, [place for place in ranking if scores[place] >= floor]


def _chosen(
    body: Sequence[Sentence], sets: Sequence[frozenset[str]], ranking: Sequence[int], limit: int, title: str
) -> list[Sentence]:
    """The best sentences that fit into `limit` characters without repeating each other, in the order of the text."""
    chosen: list[int] = []
    room = limit - (len(title) + 2 if len(title) < limit // 2 else 0)
    for place in ranking[:_TRIED]:
        cost = len(body[place].text) + 3
        if chosen and (cost > room or cost < _WORTH):
            continue
        mine, others = sets[place], [sets[other] for other in chosen]
        if body[place].role != STEP and any(len(mine & one) > _SAME * min(len(mine), len(one)) for one in others):
            continue
        chosen.append(place)
        room -= cost
        if len(chosen) == _SENTENCES[limit]:
            break
    return [body[place] for place in sorted(chosen)]


def _new(title: str, chosen: Sequence[Sentence], limit: int) -> str:
    """The title, unless the chosen sentences have all its terms or both do not fit."""
    if not title or not chosen or len(title) + 2 + len(joined(chosen)) > limit:
        return ""
    covered = {term for sentence in chosen for term in terms(sentence.text)}
    return "" if covered.issuperset(terms(title)) else title


def _laid_out(chosen: Sequence[Sentence], limit: int, title: str) -> str:
    """Sentences as bullets if most are list items or a short summary has three or more; otherwise as prose."""
    listed = sum(1 for s in chosen if s.role in (ITEM, STEP, ROW))
    if len(chosen) > 1 and (listed * 2 > len(chosen) or (limit == SHORT and len(chosen) >= 3)):
        return within(limit, [f"- {text}" for text, _ in chosen])
    return clip(joined(chosen, _new(title, chosen, limit)), limit)
