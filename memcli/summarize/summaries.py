"""Summaries of a text in three lengths, made of those of its sentences that share most terms with the others."""

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
"""How much more the first sentence of a long text counts, and the next ones by and by less."""
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
    """One score for each text, given the terms of each; rounded, so that machines agree on the order.

    Sentences and the terms they share lend each other weight for a few rounds. This is the eigenvector of sentence
    overlap, as TextRank has it, in time linear in the words. `context` is a title: its terms weigh double.
    Where the texts are no document, the place of a text says nothing.
    """
    groups = [sorted(group) for group in sets]  # A total order: the sum of floats depends on it.
    weights: dict[str, float] = dict.fromkeys((term for group in groups for term in group), 1.0)
    sums: list[float] = []
    for turn in range(_ROUNDS):
        sums = [sum([weights[term] for term in group]) / sqrt(len(group) + _SHORT_TERMS) for group in groups]
        if turn < _ROUNDS - 1:
            # each term weighs what the sentences that use it weigh, the heaviest 1
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
    """What the place and manner of a sentence do to its score."""
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
"""A sentence that fits is taken before a better one that does not, if it has this share of its score."""
_STRONG, _FAIR = 0.5, 0.3
"""The share of the best score that a second sentence of a micro summary needs, in a document and in a note."""
_SAME = 0.7
"""Sentences that share more of their terms say the same."""
_TRIED = 40
_WORTH = 20
"""A shorter sentence adds nothing to another."""
_CUED = 12
"""Sentences that are looked at for the cue of the kind."""
_WITHOUT_CUES = frozenset(["fact", "guide", "log", "code", "diff", "config"])


Summaries = tuple[str, str, str]
"""The summaries of a text: micro, short, long."""


def same(text: str) -> Summaries:
    """One text as all three summaries, cut where it is too long."""
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
    """`text` on one line; the head of it is enough for every summary."""
    return " ".join(text[: 4 * LONG].split())


def within(limit: int, lines: Iterable[str]) -> str:
    """As many of the lines as fit, the first in any case."""
    kept: list[str] = []
    room = limit
    for line in lines:
        if kept and len(line) + 1 > room:
            break
        kept.append(clip(line, room))
        room -= len(kept[-1]) + 1
    return "\n".join(kept)


def summarize(sentences: Sequence[Sentence], kind: str) -> Summaries:
    """The three summaries of a text, `kind` being the kind of memory that it is."""
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
    """Sentences as running text; what has no full stop gets a semicolon before the next."""
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
    """The places of the sentences, best first; and those of them that are not far behind the best.

    Steps come in their own order.
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
        # one that fits in a line goes first, if there is one nearly as good as the best
        good = (place for place in ranking[1:8] if scores[place] >= _GOOD_ENOUGH * scores[ranking[0]])
        fitting = next((place for place in good if len(body[place].text) <= MICRO), ranking[0])
        ranking = [fitting, *(place for place in ranking if place != fitting)]
    floor = (_STRONG if len(body) > MANY else _FAIR) * scores[ranking[0]]
    return ranking, [place for place in ranking if scores[place] >= floor]


def _chosen(
    body: Sequence[Sentence], sets: Sequence[frozenset[str]], ranking: Sequence[int], limit: int, title: str
) -> list[Sentence]:
    """The best sentences that fit in `limit`, in the order of the text."""
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
    """The title, unless the chosen sentences say all of it or there is no room for both."""
    if not title or not chosen or len(title) + 2 + len(joined(chosen)) > limit:
        return ""
    said = {term for sentence in chosen for term in terms(sentence.text)}
    return "" if said.issuperset(terms(title)) else title


def _laid_out(chosen: Sequence[Sentence], limit: int, title: str) -> str:
    """Sentences as bullets when they are a list or, in a short summary, three or more; else as prose."""
    listed = sum(1 for s in chosen if s.role in (ITEM, STEP, ROW))
    if len(chosen) > 1 and (listed * 2 > len(chosen) or (limit == SHORT and len(chosen) >= 3)):
        return within(limit, [f"- {text}" for text, _ in chosen])
    return clip(joined(chosen, _new(title, chosen, limit)), limit)
