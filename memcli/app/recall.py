"""Recall: ask a space a question and get a bundle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from memcli.app.budget import fit
from memcli.app.leading import find_leads, in_lead_order
from memcli.app.lookup import opened
from memcli.app.workspace import Workspace
from memcli.model.memory import Memory
from memcli.model.recall import (
    ALL_FILTERED,
    BELOW_FLOOR,
    EMPTY_DIFF,
    EMPTY_SPACE,
    NO_MATCH,
    TEXT,
    Bundle,
    Entry,
    Hit,
    Query,
    Ranking,
    Rows,
    Section,
    in_order,
)
from memcli.policy.screening import inspect, is_accepted
from memcli.ports import CodeReader, Ranker, Renderer, SpaceView, Trust


@dataclass(frozen=True, slots=True)
class Place:
    """A space that is asked: the name that its memories go by in the bundle, its own, the view, the ranker, what of it
    was accepted, what takes secrets out of memories before they are shown, and the code that they are anchored to."""

    name: str
    space: str
    view: SpaceView
    ranker: Ranker
    trust: Trust
    show: Callable[[Sequence[Memory]], list[Memory]]
    load_code: Callable[[], CodeReader | None] = lambda: None


@dataclass(frozen=True, slots=True)
class Found:
    """What one place says to a query. `pinned` are memories that are shown though they do not match; `leads`, which
    are in neither of the others, have a trigger or an anchor that does, as `matched_by` says for each row."""

    place: Place
    ranking: Ranking
    pinned: tuple[Hit, ...]
    visible: int
    leads: tuple[Hit, ...] = ()
    matched_by: Mapping[int, str] = field(default_factory=dict)


def recall(
    workspace: Workspace,
    queries: Iterable[Query],
    *,
    spaces: Sequence[str] | None = None,
    with_global: bool = True,
    render: Renderer | None = None,
) -> Iterator[Bundle]:
    """Answers each query in turn, having loaded everything once.

    Asks the workspace's space, or all of `spaces` that are not private, and the user-wide store beside them. `render` is needed for
    queries with a budget, which holds for what it prints. Raises CorruptError, StoreError, UsageError.
    """
    with ExitStack() as stack:
        places = [_open(workspace, name, name, stack) for name in spaces or [workspace.space]]
        if spaces is not None:
            places = [place for place in places if not place.view.policy.is_private]
        if with_global and workspace.elsewhere is not None:
            other = workspace.elsewhere
            places += [_open(other, name, f"global/{name}", stack) for name in other.store.spaces()]
        label = workspace.space if spaces is None else "*"
        for query in queries:
            bundle = answer(query, places, label)
            yield bundle if query.budget is None or render is None else fit(bundle, render, query.budget)


def answer(query: Query, places: Sequence[Place], label: str) -> Bundle:
    """One bundle: what the rankers found, in the order of SPEC 6.2, read from the store, without what is untrusted."""
    size = sum(place.view.size for place in places)
    if query.edits is not None and not query.edits:
        return Bundle(space=label, query=query, reason=EMPTY_DIFF, size=size)
    found = [_ask(query, place) for place in places]
    home = {id(hit): f for f in found for hit in (*f.leads, *f.ranking.hits, *f.pinned)}
    hits = [hit for f in found for hit in f.ranking.hits]
    pinned = [hit for f in found for hit in f.pinned]
    leads = in_lead_order((hit, f.matched_by[hit.entry.row]) for f in found for hit in f.leads)
    sections, withheld = _choose(query, leads, hits, pinned, home)
    if any(section.memory.anchors for section in sections):
        from memcli.app.staleness import with_anchors

        code = {place.name: place.load_code for place in places}
        parts = [tuple(s for s in sections if s.is_lead), tuple(s for s in sections if not s.is_lead)]
        sections = tuple(section for part in parts for section in with_anchors(part, code))
    return Bundle(
        space=label,
        query=query,
        sections=sections,
        reason=_reason(size, found, sections) if not (hits or leads) or not sections else None,
        matched=len(leads) + len(hits) + len(pinned),
        size=size,
        degraded=any(f.ranking.is_degraded for f in found),
        evidence={f.place.name: f.ranking.evidence for f in found if f.ranking.evidence},
        withheld_untrusted=withheld,
        is_from_clone=any(not place.trust.is_accepted for place in places),
    )


def _choose(
    query: Query, leads: Sequence[Hit], hits: Sequence[Hit], pinned: Sequence[Hit], home: Mapping[int, Found]
) -> tuple[tuple[Section, ...], int]:
    """The sections of a bundle, and how many hits were passed over because they are untrusted.

    Reads what is to be shown and looks at it; where something is passed over, twice as much in the next round.
    """
    known: dict[int, Section] = {}
    bad: set[int] = set()
    ahead = query.limit
    while True:
        rest = [hit for hit in hits if id(hit) not in bad]
        shown = [hit for hit in pinned if id(hit) not in bad]
        first = [hit for hit in leads if id(hit) not in bad][: _room(query, len(rest) + len(shown))]
        chosen = [*first, *order(rest, shown, query.limit - len(first))]
        looked = chosen if ahead == query.limit else [*chosen, *in_order(rest)[:ahead]]
        new = list({id(hit): hit for hit in looked if id(hit) not in known}.values())
        known.update((id(hit), section) for hit, section in zip(new, _sections(new, home), strict=True))
        worse = {id(hit) for hit in looked if known[id(hit)].untrusted} if not query.include_untrusted else set()
        if not worse:
            return tuple(known[id(hit)] for hit in chosen), len(bad)
        bad |= worse
        ahead *= 2


def _open(workspace: Workspace, space: str, name: str, stack: ExitStack) -> Place:
    _, view = stack.enter_context(opened(workspace, space))
    policy = workspace.in_force(view.policy)

    def show(memories: Sequence[Memory]) -> list[Memory]:
        return workspace.redactor.show(memories, policy)

    return Place(
        name,
        space,
        view,
        workspace.ranker(workspace.backend or policy.backend or ""),
        workspace.trust,
        show,
        workspace.load_code,
    )


def _ask(query: Query, place: Place) -> Found:
    visible = place.view.visible(query)
    if query.topic.strip():
        ranking = place.ranker.rank(query, place.view)
    else:  # without a topic a kind can be listed; nothing at all is no question
        ranking = _all(query, place.view) if query.kinds else Ranking()
    if query.min_score is not None:
        ranking = replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.score >= query.min_score))
    matched = {hit.entry.row for hit in ranking.hits}
    pinned = place.view.entries(place.view.pinned()).values()
    shown = tuple(Hit(e, 0.0, {}) for e in pinned if e.row in visible and e.row not in matched)
    return _led(query, Found(place, ranking, shown, len(visible)), visible)


def _led(query: Query, found: Found, visible: Rows) -> Found:
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


def _sections(chosen: Sequence[Hit], home: Mapping[int, Found]) -> Iterator[Section]:
    memories: dict[int, Memory] = {}
    for place in {id(home[id(hit)]): home[id(hit)].place for hit in chosen}.values():
        own = [hit for hit in chosen if home[id(hit)].place is place]
        read = place.show(place.view.fetch([hit.entry.row for hit in own]))
        memories.update((id(hit), memory) for hit, memory in zip(own, read, strict=True))
    for hit in chosen:
        why = {name: round(value, 4) for name, value in hit.why.items()}
        found = home[id(hit)]
        section = _section(memories[id(hit)], round(hit.score, 4), why, found.place)
        yield replace(section, matched_by=found.matched_by.get(hit.entry.row, TEXT))


def _section(memory: Memory, score: float, why: Mapping[str, float], place: Place) -> Section:
    reviewed = place.trust.is_reviewed(place.space, memory.id)
    finding = inspect(memory)  # now, and not as it is marked: a hand edit or a clone knows nothing of marks
    # An acceptance counts where somebody here has accepted what it came with.
    trusted = finding is None or (reviewed and is_accepted(memory, finding))
    untrusted = () if trusted or finding is None else finding.reasons
    return Section(memory, score, why, place.name, untrusted=untrusted, is_unreviewed=not reviewed)


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


def _reason(size: int, found: Sequence[Found], sections: Sequence[Section]) -> str:
    if not size:
        return EMPTY_SPACE
    if not sum(f.visible for f in found) or (not sections and any(f.ranking.hits for f in found)):
        return ALL_FILTERED
    return BELOW_FLOOR if any(f.ranking.evidence or f.ranking.hits for f in found) else NO_MATCH


def _all(query: Query, view: SpaceView) -> Ranking:
    """Every memory that passes the filters, newest first: recall by kind, without a topic."""
    rows = view.visible(query)
    entries = view.entries(None if rows.only is None else sorted(rows.only)).values()
    hits = [Hit(e, 0.0, {"filter": 0.0}) for e in entries if e.row in rows]
    return Ranking(tuple(in_order(hits)))
