"""Search below a heading: its children, by what they say and how recent they are (SPEC 6.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.app.lookup import nothing_under, placed
from memcli.app.opening import opened
from memcli.app.topic import one_line
from memcli.app.workspace import Workspace
from memcli.clock import days_between
from memcli.model.analysis import query_terms, terms
from memcli.model.memory import Memory
from memcli.model.passages import passages
from memcli.model.pieces import split
from memcli.model.recall import Entry, Query, TermStats
from memcli.policy.excerpt import excerpt
from memcli.record import Record
from memcli.safety.secrets.detector import Detector

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView

DEFAULT_BIAS = 0.3
RECENCY_DAYS = 30.0
_SNIPPET_CHARACTERS = 240
_SNIPPET_COSINE = 0.3
"""From here on a piece speaks of the question, whatever its words; how the number was found: bench/README.md."""
_SNIPPET_SHARE = 0.5
"""Or from this share of the question's words on."""
_MOST_SNIPPETS = 3
_LEAST_SIMILARITY = 0.25


class Found(Record):
    """A child of the heading: its score, made of similarity (0..1) and recency, and the places that speak of the question."""

    memory: Memory
    score: float
    similarity: float
    snippets: tuple[str, ...]


_Scored = tuple[float, bool, Found]
"""The score of a memory, and whether it was told, which comes first at one score."""


def search(workspace: Workspace, text: str, under: str, limit: int, bias: float = DEFAULT_BIAS) -> list[Found]:
    """The children of the heading `under`, best first; newest first when there is no question.

    Score: `(1 - bias) * similarity + bias * recency`. Raises NotFoundError when nothing is under the heading.
    """
    query = Query(topic="", now=workspace.clock(), under=under)
    found: list[_Scored] = []
    size = 0
    for name in workspace.asked_spaces:
        here, visible = _search_in(workspace, name, text, query, limit, bias)
        found += here
        size += visible
    if under and not size:
        raise nothing_under(workspace, under)
    return [one for *_, one in sorted(found, key=lambda scored: scored[:2], reverse=True)[:limit]]


def _search_in(
    workspace: Workspace, space: str, text: str, query: Query, limit: int, bias: float
) -> tuple[list[_Scored], int]:
    """What one space has, best first, and how many of its memories are under the heading."""
    with opened(workspace, space) as (_, view):
        text = one_line(text, workspace.redactor.cleaner(view.policy))
        rows = view.visible(query)
        entries = {row: e for row, e in view.entries().items() if row in rows}
        similar = _similarities(text, view) if text.strip() else dict.fromkeys(entries, 1.0)
        scored = []
        for row, entry in entries.items():
            similarity = similar.get(row, 0.0)
            if similarity >= _LEAST_SIMILARITY:
                recency = math.exp(-days_between(date_of(entry, is_asked=bool(text.strip())), query.now) / RECENCY_DAYS)
                score = (1 - bias) * similarity + bias * recency if text.strip() else recency
                scored.append((round(score, 4), entry.updated_at, entry.id, row))
        best = sorted(scored, key=lambda s: s[2])
        best.sort(key=lambda s: s[:2], reverse=True)
        shown = [row for *_, row in best[:limit]]
        near = _nearest(view, text, shown) if text.strip() else {}
        policy = view.policy
        detector = workspace.redactor.on_the_way_out(policy)
        is_told = space == workspace.space
        return [
            (
                score,
                is_told,
                Found(
                    m if is_told else placed(m, space),
                    score,
                    round(similar.get(row, 0.0), 4),
                    _clean(detector, _snippets(m, text, near.get(row, []))),
                ),
            )
            for m, (score, _, _, row) in zip(workspace.redactor.show(view.fetch(shown), policy), best, strict=False)
        ], len(rows)


def date_of(entry: Entry | Memory, *, is_asked: bool) -> str:
    """The date that counts: for a question when what it says was so, as in recall; without one, when it was modified,
    which for a commit is when it was made."""
    return entry.created_at if is_asked or entry.kind == "diff" else entry.updated_at


def _clean(detector: Detector, snippets: Sequence[str]) -> tuple[str, ...]:
    """The snippets as they may be shown: those that come from the index were cut from what is stored."""
    return tuple(detector.redact(text)[0] for text in snippets)


def _snippets(memory: Memory, question: str, near: Sequence[tuple[float, str]]) -> tuple[str, ...]:
    """The whole sentences that speak of the question, from the pieces that are near it or have most of its words."""
    wanted = frozenset(terms(question))
    pieces = near or [(0.0, piece) for piece in split(memory.raw)]
    shares = [len(wanted.intersection(terms(piece))) / max(1, len(wanted)) for _, piece in pieces]
    found = [
        (-share, -round(cosine, 6), n, piece)
        for n, ((cosine, piece), share) in enumerate(zip(pieces, shares, strict=True))
        if cosine >= _SNIPPET_COSINE or share >= _SNIPPET_SHARE
    ]
    cut = [excerpt(piece, wanted, _SNIPPET_CHARACTERS) for *_, piece in sorted(found)]
    return tuple(dict.fromkeys(text for text in cut if text))[:_MOST_SNIPPETS]


def _nearest(view: SpaceView, text: str, rows: Sequence[int]) -> dict[int, list[tuple[float, str]]]:
    """The passages of these rows with their cosines, nearest first; none where there are no vectors."""
    found = view.dense([text])
    if found is None:
        return {}
    near: dict[int, list[tuple[float, str]]] = {}
    kept = view.passages(query_terms(text), rows)
    for row, memory in zip(rows, view.fetch(rows), strict=True):
        cut = passages(memory)
        scored = [(found[0].of(row, n), cut[one.n].text) for n, one in enumerate(kept[row]) if one.n < len(cut)]
        near[row] = sorted(
            (one for one in scored if not math.isnan(one[0])), key=lambda one: (-round(one[0], 6), one[1])
        )
    return near


def _similarities(text: str, view: SpaceView) -> dict[int, float]:
    """The cosine of each row's best chunk, or the mean of it and the share of the question's words, where that is more."""
    stats = view.lexical(query_terms(text), max(1, view.size))
    found = view.dense([text])
    similar = dict(found[0].best) if found else {}
    for row, counts in stats.counts.items():
        share = _share(counts, stats)
        similar[row] = max(similar[row], (similar[row] + share) / 2) if row in similar else share
    return similar


def _share(counts: Mapping[str, tuple[int, ...]], stats: TermStats) -> float:
    return len(counts) / max(1, len(stats.frequencies))
