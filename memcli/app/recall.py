"""Recall: ask a space a question and get a bundle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memcli.app.lookup import opened
from memcli.app.workspace import Workspace
from memcli.model.recall import (
    ALL_FILTERED,
    BELOW_FLOOR,
    EMPTY_SPACE,
    NO_MATCH,
    Bundle,
    Entry,
    Hit,
    Query,
    Ranking,
    Rows,
    Section,
    in_order,
)
from memcli.ports import Ranker, Snapshot, SpaceView


def recall(workspace: Workspace, queries: Iterable[Query]) -> Iterable[Bundle]:
    """Answers each query in turn, having loaded everything once. Raises CorruptError, StoreError."""
    with opened(workspace) as (snapshot, view):
        if not snapshot.fingerprint:
            workspace.warn(f"space {workspace.space!r} is empty: nothing has been remembered in it")
        ranker = workspace.ranker(workspace.backend or view.policy.backend or "")
        for query in queries:
            yield answer(query, snapshot, view, ranker)


def answer(query: Query, snapshot: Snapshot, view: SpaceView, ranker: Ranker) -> Bundle:
    """One bundle: what the ranker found, in the order of SPEC 6.2, read from the snapshot."""
    visible = view.visible(query)
    ranking = ranker.rank(query, view) if query.topic.strip() else _all(query, view)
    hits = [hit for hit in ranking.hits if query.min_score is None or hit.score >= query.min_score]
    matched = {hit.entry.row for hit in hits}
    pinned = [e for e in view.entries(view.pinned()).values() if e.row in visible]
    chosen = order(hits, [Hit(e, 0.0, {}) for e in pinned if e.row not in matched], query.limit)
    memories = view.fetch([hit.entry.row for hit in chosen])
    sections = tuple(
        Section(memory, round(hit.score, 4), {k: round(v, 4) for k, v in hit.why.items()}, snapshot.space)
        for hit, memory in zip(chosen, memories, strict=True)
    )
    return Bundle(
        space=snapshot.space,
        query=query,
        sections=sections,
        reason=None if hits else _reason(view, visible, ranking),
        matched=len(matched | {e.row for e in pinned}),
        size=view.size,
    )


def order(hits: Sequence[Hit], pinned_only: Sequence[Hit], limit: int) -> list[Hit]:
    """Pinned and highly relevant ones first, in at most half of the places while others match; then by score.

    `pinned_only` are pinned memories that do not match: they come after the pinned ones that do.
    """
    first = [hit for hit in hits if is_first(hit.entry)]
    rest = [hit for hit in hits if not is_first(hit.entry)]
    first = sorted(in_order(first), key=lambda hit: not hit.entry.pinned)
    pins = sum(1 for hit in first if hit.entry.pinned)
    first[pins:pins] = in_order(pinned_only)
    places = max(limit - len(rest), -(-limit // 2)) if rest else limit
    if len(first) <= places:
        return [*first, *rest][:limit]
    # Those that found no place in front still compete by their score, if they match at all.
    late = in_order([*(hit for hit in first[places:] if hit.why), *rest])
    return [*first[:places], *late][:limit]


def is_first(entry: Entry) -> bool:
    """Whether the memory comes before the order of scores."""
    return entry.pinned or entry.relevance == "high"


def _reason(view: SpaceView, visible: Rows, ranking: Ranking) -> str:
    if not view.size:
        return EMPTY_SPACE
    if not len(visible):
        return ALL_FILTERED
    return BELOW_FLOOR if ranking.is_below_floor or ranking.hits else NO_MATCH


def _all(query: Query, view: SpaceView) -> Ranking:
    """Every memory that passes the filters, newest first: recall by kind, without a topic."""
    rows = view.visible(query)
    entries = view.entries(None if rows.only is None else sorted(rows.only)).values()
    hits = [Hit(e, 0.0, {"filter": 0.0}) for e in entries if e.row in rows]
    return Ranking(tuple(in_order(hits)))
