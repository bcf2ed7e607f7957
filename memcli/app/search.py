"""Search below a heading: its children, by what they say and how recent they are (SPEC 6.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from memcli.app.asking import ask, asked_of, in_session, on_one_scale, open_place
from memcli.app.choice import Place
from memcli.app.lookup import nothing_under, placed
from memcli.app.views import Views
from memcli.app.workspace import Workspace
from memcli.clock import days_between
from memcli.model.analysis import terms
from memcli.model.memory import Memory
from memcli.model.passages import passages
from memcli.model.recall import Entry, Hit, Query, Ranking
from memcli.policy.excerpt import excerpt
from memcli.record import Record

DEFAULT_BIAS = 0.3
RECENCY_DAYS = 30.0
_SNIPPET_CHARACTERS = 240
_SNIPPET_SHARE = 0.7
"""From this share of the score of the best passage on, another speaks of the question too."""
_MOST_SNIPPETS = 3


class Found(Record):
    """A child of the heading: its score, made of similarity (0..1) and recency, and the places that speak of the question."""

    memory: Memory
    score: float
    similarity: float
    snippets: tuple[str, ...]


class _Scored(NamedTuple):
    hit: Hit
    place: Place
    score: float
    similarity: float


def search(workspace: Workspace, text: str, under: str, limit: int, bias: float = DEFAULT_BIAS) -> list[Found]:
    """The children of the heading `under`, best first; newest first when there is no question.

    Score: `(1 - bias) * similarity + bias * recency`, where the similarity is the score in recall, 0..1 over all that
    matches; so without a bias the order is that of recall. Raises NotFoundError when nothing is under the heading.
    """
    query = Query(topic=text, now=workspace.clock(), under=under)
    with Views() as views:
        return views.again(partial(_search, views, workspace, query, limit, bias))


def _search(views: Views, workspace: Workspace, query: Query, limit: int, bias: float) -> list[Found]:
    places = [open_place(views, workspace, name, name) for name in workspace.asked_spaces]
    visible = [place.view.visible(in_session(query, place)) for place in places]
    if query.under and not any(map(len, visible)):
        raise nothing_under(workspace, query.under)
    if query.topic.strip():
        rankings = on_one_scale([ask(one, place) for one, place in zip(asked_of(query, places), places, strict=True)])
    else:
        entries = [place.view.entries().values() for place in places]
        rankings = [
            Ranking(tuple(Hit(e, 1.0, {}) for e in known if e.row in rows))
            for known, rows in zip(entries, visible, strict=True)
        ]
    most = max((hit.score for ranking in rankings for hit in ranking.hits), default=0.0)
    scored = [
        _scored(hit, place, hit.score / max(1.0, most), query, bias)
        for place, ranking in zip(places, rankings, strict=True)
        for hit in ranking.hits
    ]
    told = workspace.space
    scored.sort(key=lambda one: one.hit.entry.id)
    scored.sort(key=lambda one: (one.score, one.place.space == told, one.hit.entry.updated_at), reverse=True)
    return _found(scored[:limit], workspace, query.topic)


def _scored(hit: Hit, place: Place, similarity: float, query: Query, bias: float) -> _Scored:
    is_asked = bool(query.topic.strip())
    recency = math.exp(-days_between(date_of(hit.entry, is_asked=is_asked), query.now) / RECENCY_DAYS)
    score = (1 - bias) * similarity + bias * recency if is_asked else recency
    return _Scored(hit, place, round(score, 4), round(similarity, 4))


def _found(scored: Sequence[_Scored], workspace: Workspace, text: str) -> list[Found]:
    """The memories with the places in them that speak of the question, as they may be shown."""
    wanted = frozenset(terms(text))
    shown: dict[int, Memory] = {}
    for place in {one.place.space: one.place for one in scored}.values():
        own = [one.hit for one in scored if one.place is place]
        read = place.show(place.view.fetch([hit.entry.row for hit in own]))
        shown.update((id(hit), memory) for hit, memory in zip(own, read, strict=True))
    return [
        Found(
            memory if one.place.space == workspace.space else placed(memory, one.place.space),
            one.score,
            one.similarity,
            _snippets(memory, one.hit.passages, wanted),
        )
        for one in scored
        for memory in [shown[id(one.hit)]]
    ]


def date_of(entry: Entry | Memory, *, is_asked: bool) -> str:
    """The date that counts: for a question when what it says was so, as in recall; without one, when it was modified,
    which for a commit is when it was made."""
    return entry.created_at if is_asked or entry.kind == "diff" else entry.updated_at


def _snippets(memory: Memory, best: Sequence[tuple[int, float]], wanted: frozenset[str]) -> tuple[str, ...]:
    """The whole sentences that speak of the question, from the passages that answer it nearly as well as the best one."""
    cut = passages(memory)
    near = [cut[n].text for n, score in best if n < len(cut) and score >= _SNIPPET_SHARE * best[0][1]]
    if not near and wanted:
        near = [one.text for one in cut if wanted.intersection(terms(one.text))]
    found = [excerpt(text, wanted, _SNIPPET_CHARACTERS) for text in near]
    return tuple(dict.fromkeys(text for text in found if text))[:_MOST_SNIPPETS]
