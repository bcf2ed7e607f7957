"""Asking: a place is opened, its ranker says what matches, and what several say is put on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from memcli.app.choice import SearchedSpace
from memcli.app.living import living
from memcli.app.topic import asked, with_period
from memcli.app.views import Views
from memcli.app.workspace import Workspace
from memcli.model.memory import Memory
from memcli.model.recall import Evidence, Hit, Query, Ranking, in_order
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView


def open_place(views: Views, workspace: Workspace, space: str, name: str) -> SearchedSpace:
    """A space of the workspace, to go by `name`. Raises CorruptError, StoreError."""
    view = views.get(workspace, space)
    policy = workspace.in_force(view.policy)

    def show(memories: Sequence[Memory]) -> list[Memory]:
        return workspace.redactor.show(memories, policy)

    return SearchedSpace(
        name,
        space,
        partial(views.get, workspace, space),
        view.size,
        view.policy.is_private,
        workspace.ranker(workspace.backend or policy.backend or ""),
        workspace.trust,
        workspace.redactor.cleaner(policy),
        show,
        workspace.load_code,
        policy.seasons,
        lambda: workspace.usage.counts(space),
        policy.gaps,
        partial(living, workspace),
        policy.max_chars,
    )


def asked_of(query: Query, places: Sequence[SearchedSpace]) -> list[Query]:
    """What each place is asked. The period that the topic names is the same for all, and found once: git may be asked."""
    queries = [_of_place(asked(query, place.redact), place) for place in places]
    if not queries or not queries[0].topic.strip():
        return queries
    period = with_period(queries[0], places[0].load_code).period
    return [replace(one, period=period) for one in queries] if period else queries


def _of_place(query: Query, place: SearchedSpace) -> Query:
    """The query with what the place knows of seasons, and of accesses if they weigh."""
    if query.weights.get("access"):
        query = replace(query, accesses={name: one.count for name, one in place.load_accesses().items()})
    query = in_session(query, place)
    return replace(query, seasons=place.seasons) if place.seasons else query


def in_session(query: Query, place: SearchedSpace) -> Query:
    """The query with the session in which it is asked, where memories of the place live in one."""
    if query.session is not None or not place.view.has_sessions():
        return query
    return replace(query, session=place.load_session())


def ask(query: Query, place: SearchedSpace) -> Ranking:
    """What the ranker of the place says to the query, without what scores less than it wants."""
    if query.topic.strip():
        ranking = place.ranker.rank(query, place.view)
    else:  # nothing at all is no question
        lists = query.lists_all or query.kinds or query.changed_since or query.ids
        ranking = _all(query, place.view) if lists else Ranking()
    if query.min_score is not None:
        ranking = replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.score >= query.min_score))
    return ranking


def on_one_scale(rankings: Sequence[Ranking], least: float = 0.0) -> list[Ranking]:
    """What several spaces say, each as much as the evidence of the strongest that answers allows: within a space scores are
    relative. What falls below the score `least` by that is left out."""
    strength = [_strength(one.evidence) if one.hits else 0.0 for one in rankings]
    most = max(strength, default=0.0)
    return [scaled(one, own / most if own else 1.0, least) for one, own in zip(rankings, strength, strict=True)]


def scaled(ranking: Ranking, factor: float, least: float = 0.0) -> Ranking:
    """The ranking with each score `factor` times what it was, without what falls below `least` by that."""
    return ranking if factor == 1.0 else replace(ranking, hits=_scaled(ranking.hits, factor, least))


def _strength(evidence: Evidence | None) -> float:
    return max(0.0, evidence.together) if evidence else 0.0


def _scaled(hits: Sequence[Hit], factor: float, least: float) -> tuple[Hit, ...]:
    return tuple(
        replace(
            hit,
            score=hit.score * factor,
            why={name: part * factor for name, part in hit.why.items()},
            passages=tuple((n, score * factor) for n, score in hit.passages),
        )
        for hit in hits
        if hit.score * factor >= least
    )


def _all(query: Query, view: SpaceView) -> Ranking:
    """Every memory that passes the filters, newest first: recall by kind, without a topic."""
    rows = view.visible(query)
    entries = view.entries(None if rows.only is None else sorted(rows.only)).values()
    hits = [Hit(e, 0.0, {"filter": 0.0}) for e in entries if e.row in rows]
    return Ranking(tuple(in_order(hits)))
