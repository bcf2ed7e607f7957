"""Recall: ask a space a question and get a bundle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from memcli.app.asking import ask, asked_of, on_one_scale, open_place, scaled
from memcli.app.choice import Reader, SearchedSpace, SpaceHits, order
from memcli.app.priority_hits import find_leads, in_lead_order
from memcli.app.topic import Redact, repeated
from memcli.app.usage import note_bundle, note_gap
from memcli.app.views import Views
from memcli.app.workspace import Workspace
from memcli.model.links import is_contradiction
from memcli.model.recall import (
    ALL_FILTERED,
    BELOW_FLOOR,
    EMPTY_DIFF,
    EMPTY_SPACE,
    NO_MATCH,
    Bundle,
    Hit,
    Query,
    RowSet,
    Section,
    in_order,
)
from memcli.ports import Renderer
from memcli.record import replace
from memcli.settings import is_journal

JOURNAL_SHARE = 0.8
"""What sessions yielded counts this much beside what somebody told: of the same, the latter is to be cited."""
Verify = Callable[[Query, Callable[[Query], Bundle]], Bundle]
"""Answers a query by what answers queries."""
ALWAYS_MOST = 10
"""How many pinned memories that do not match a bundle shows."""


def recall(
    workspace: Workspace,
    queries: Iterable[Query],
    *,
    spaces: Sequence[str] | None = None,
    with_global: bool = True,
    render: Renderer | None = None,
    with_talk: bool = False,
    verify: Verify | None = None,
) -> Iterator[Bundle]:
    """Answers each query in turn, having loaded everything once, and notes what the answer shows in the usage log.

    Asks the workspace's spaces, or all of `spaces` that are not private, and the user-wide store beside them; `with_talk`
    also what was said in its sessions. `render` is needed for
    queries with a budget, which holds for what it prints. `verify` chooses from the answer to each query. Raises
    CorruptError, StoreError, UsageError.
    """
    with Views() as views:
        own = [(workspace, name, name) for name in spaces or workspace.asked_spaces]
        other = workspace.elsewhere if with_global else None
        others = [(other, name, f"global/{name}") for name in other.store.spaces()] if other else []
        talk = _talk(workspace) if with_talk else []
        others += talk
        places = views.again(lambda: [open_place(views, *one) for one in [*own, *others]])
        if spaces is not None:
            places = [place for n, place in enumerate(places) if n >= len(own) or not place.is_private]
        label = workspace.space if spaces is None else "*"
        keeper = next((place.space for place in places[: len(own)] if place.keeps_gaps), "")

        def found(query: Query) -> Bundle:
            return views.again(partial(answer, query, places, label))

        for query in queries:
            bundle = verify(query, found) if verify else found(query)
            if query.budget is not None and render is not None:
                from memcli.app.budget import fit

                bundle = fit(bundle, render, query.budget)
            note_bundle(workspace, bundle, without=[name for *_, name in talk])
            if keeper and bundle.reason:
                note_gap(workspace, bundle, keeper)
            yield bundle


def _talk(workspace: Workspace) -> list[tuple[Workspace, str, str]]:
    """The space of what was said in sessions, if there are any."""
    from memcli.app.talk import NAME, up_to_date

    said = up_to_date(workspace)
    return [(said, said.space, NAME)] if said else []


def answer(query: Query, places: Sequence[SearchedSpace], label: str) -> Bundle:
    """One bundle: what the rankers found, in the order of SPEC 6.2, read from the store, without what is untrusted."""
    size = sum(place.size for place in places)
    own = {place.space: place.size for place in places if place.name == place.space}
    redact = _redact_as(places)
    told = repeated(query, redact)
    if query.edits is not None and not query.edits:
        return Bundle(space=label, query=told, reason=EMPTY_DIFF, size=size, own=own)
    asked = asked_of(query, places)
    if period := asked[0].period if asked else None:
        told = replace(told, period=replace(period, name=redact(period.name)))  # a tag of the repository may be in it
    found = [_ask(one, place) for one, place in zip(asked, places, strict=True)]
    rankings = on_one_scale([f.ranking for f in found], query.min_score or 0.0)
    found = [
        replace(f, ranking=scaled(ranking, JOURNAL_SHARE if is_journal(f.place.space) else 1.0, query.min_score or 0.0))
        for f, ranking in zip(found, rankings, strict=True)
    ]
    matched = [hit for f in found for hit in (*f.leads, *f.ranking.hits)]
    pinned = [hit for f in found for hit in f.pinned]
    reader = Reader(found)
    sections, withheld = reader.choose(query, matched, query.limit, _ranked(query, found))
    always, withheld_pins = reader.choose(query, pinned, ALWAYS_MOST, lambda hits: in_order(hits)[:ALWAYS_MOST])
    return Bundle(
        space=label,
        query=told,
        sections=_annotated(query, sections, places),
        always=_annotated(query, always, places),
        reason=None if sections else _reason(sum(own.values()), found),
        matched=len(matched),
        pinned=len(pinned),
        size=size,
        own=own,
        degraded=any(f.ranking.is_degraded for f in found),
        missing=sum(f.ranking.missing for f in found),
        evidence={f.place.name: f.ranking.evidence for f in found if f.ranking.evidence},
        withheld_untrusted=withheld,
        untrusted_pins=withheld_pins,
        is_from_clone=any(not place.trust.is_accepted for place in places),
    )


def _ranked(query: Query, found: Sequence[SpaceHits]) -> Callable[[Sequence[Hit]], Sequence[Hit]]:
    """Puts hits in order: the leads, as many as there is room for, and then the others; at equal score what was told, whose
    space is asked first, comes before what was read."""
    matched_by = {id(hit): f.matched_by[hit.entry.row] for f in found for hit in f.leads}
    turns = {id(hit): turn for turn, f in enumerate(found) for hit in (*f.leads, *f.ranking.hits)}

    def rank(hits: Sequence[Hit]) -> Sequence[Hit]:
        rest = [hit for hit in hits if id(hit) not in matched_by]
        leads = in_lead_order((hit, matched_by[id(hit)]) for hit in hits if id(hit) in matched_by)
        first = leads[: _room(query, len(rest))]
        return [*first, *order(rest, query.limit - len(first), lambda hit: turns[id(hit)])]

    return rank


def _redact_as(places: Sequence[SearchedSpace]) -> Redact:
    """What takes out of a text what is secret in any of the places."""

    def redact(text: str) -> str:
        for place in places:
            text = place.redact(text)
        return text

    return redact


def _annotated(query: Query, sections: Sequence[Section], places: Sequence[SearchedSpace]) -> tuple[Section, ...]:
    """The sections with the state of their anchors, and with what contradicts them."""
    if any(is_contradiction(link) for section in sections for link in section.memory.links):
        from memcli.app.opposed import with_opposed

        sections = with_opposed(query, sections, places)
    return _with_anchors(sections, places)


def _with_anchors(sections: Sequence[Section], places: Sequence[SearchedSpace]) -> tuple[Section, ...]:
    """The sections with the state of their anchors, each part in its order."""
    if not any(section.memory.anchors for section in sections):
        return tuple(sections)
    from memcli.app.staleness import with_anchors

    code = {place.name: place.load_code for place in places}
    parts = [tuple(s for s in sections if s.is_lead), tuple(s for s in sections if not s.is_lead)]
    return tuple(section for part in parts for section in with_anchors(part, code))


def _ask(query: Query, place: SearchedSpace) -> SpaceHits:
    visible = place.view.visible(query)
    ranking = ask(query, place)
    matched = {hit.entry.row for hit in ranking.hits}
    pinned = place.view.entries(place.view.pinned()).values()
    least = 0.0 if query.min_score is None else query.min_score
    shown = tuple(Hit(e, 0.0, {}) for e in pinned if least <= 0 and e.row in visible and e.row not in matched)
    return _led(query, SpaceHits(query, place, ranking, shown, len(visible)), visible)


def _led(query: Query, found: SpaceHits, visible: RowSet) -> SpaceHits:
    """`found` with the leads taken out of what matches by its text, or is pinned."""
    place = found.place
    matched_by = find_leads(query, place.view, visible)
    if query.edits is not None:
        from memcli.app.staleness import find_moved_leads

        matched_by = find_moved_leads(query, place.view, visible, place.load_code) | matched_by
    if not matched_by:
        return found
    known = {hit.entry.row: hit for hit in found.ranking.hits}
    entries = place.view.entries(sorted(matched_by))
    return replace(
        found,
        ranking=replace(found.ranking, hits=tuple(h for h in found.ranking.hits if h.entry.row not in matched_by)),
        pinned=tuple(hit for hit in found.pinned if hit.entry.row not in matched_by),
        leads=tuple(known.get(row) or Hit(entry, 0.0, {}) for row, entry in entries.items()),
        matched_by=matched_by,
    )


def _room(query: Query, others: int) -> int:
    """How many leads there may be: of a change as many as fit, of a topic half while others match."""
    return query.limit if query.edits is not None else max(query.limit - others, -(-query.limit // 2))


def _reason(size: int, found: Sequence[SpaceHits]) -> str:
    if not size:
        return EMPTY_SPACE
    if not sum(f.visible for f in found) or any(f.ranking.hits or f.leads for f in found):
        return ALL_FILTERED
    return BELOW_FLOOR if any(f.ranking.evidence for f in found) else NO_MATCH
