"""Choice: reads the hits that go into a bundle from the store, leaves out untrusted ones and repetitions, and adds to each
memory those that contradict it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.model.links import contradicted, elsewhere, is_contradiction
from memcli.model.memory import Memory, json_texts
from memcli.model.recall import TEXT, Hit, Opposed, Query, Ranking, Section, in_order
from memcli.policy.answer import answer_of
from memcli.record import Record, field, replace
from memcli.regex import regex
from memcli.safety.screening import inspect, is_accepted
from memcli.settings import is_beside
from memcli.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from memcli.app.workspace import Workspace
    from memcli.index.view import IndexedSpace
    from memcli.model.space import Policy
    from memcli.ports import Ranker


Redact = Callable[[str], str]
"""Removes the secrets of a text."""

_WORD = regex(r"(?<=[ \t(])-(?=[\d.])|[<>]=?|[!=]=|\w+")
_LEAST_WORDS = 8
"""Passages with at most so many words are never repetitions: short ones are equal by chance."""


class SearchedSpace(Record):
    """A space of `workspace` that a recall searches, `name` in the bundle and `space` in its store. `view` returns its view,
    and opens it again where that was closed to open others. `policy` is the one in force. `redact` removes the secrets of a
    text, and `show` those of memories, by that policy."""

    name: str
    space: str
    workspace: Workspace
    view: Callable[[], IndexedSpace]
    size: int
    is_private: bool
    ranker: Ranker
    policy: Policy
    redact: Redact
    show: Callable[[Sequence[Memory]], list[Memory]]


class SpaceHits(Record):
    """The result of a search in one space. `query` is the query for this space. `pinned` memories are shown although they do
    not match. `leads` are in neither `ranking` nor `pinned`: their trigger or their anchor matches, and `matched_by` is
    TRIGGER or ANCHOR by row. `visible` is the number of memories that pass the filters."""

    query: Query
    place: SearchedSpace
    ranking: Ranking
    pinned: tuple[Hit, ...]
    visible: int
    leads: tuple[Hit, ...] = ()
    matched_by: Mapping[int, str] = field(default_factory=dict)


class Reader:
    """Turns hits into sections of a bundle, and reads each memory only once."""

    def __init__(self, found: Sequence[SpaceHits]) -> None:
        self._home = {id(hit): f for f in found for hit in (*f.leads, *f.ranking.hits, *f.pinned)}
        self._known: dict[int, Section] = {}

    def choose(
        self, query: Query, hits: Sequence[Hit], limit: int, pick: Callable[[Sequence[Hit]], Sequence[Hit]]
    ) -> tuple[tuple[Section, ...], int]:
        """The sections of the hits that `pick` selects, and the number of hits that were left out as untrusted. A section that
        repeats an earlier one is left out too; of a memory made from a session and an equal one that somebody stored, the
        former is.
        """
        # Trust shows only in the text of a memory, which is read for the selected hits alone. Each round that leaves some out
        # reads twice as many further hits as the last, so that a space full of untrusted ones takes few rounds.
        bad: set[int] = set()
        again: set[int] = set()
        ahead = 0
        while True:
            rest = [hit for hit in hits if id(hit) not in bad | again]
            chosen = pick(rest)
            further = in_order(rest)[:ahead] if ahead else []
            best = sorted((hit.passages[0][1] for hit in chosen if hit.passages), reverse=True)
            new = list({id(hit): hit for hit in (*chosen, *further) if id(hit) not in self._known}.values())
            for place in {id(self._home[id(hit)]): self._home[id(hit)].place for hit in new}.values():
                own = [hit for hit in new if self._home[id(hit)].place is place]
                memories = place.show(place.view().fetch([hit.entry.row for hit in own]))  # all of a space in one read
                for hit, memory in zip(own, memories, strict=True):
                    self._known[id(hit)] = _section(memory, hit, self._home[id(hit)], best)
            sections = tuple(self._known[id(hit)] for hit in chosen)
            worse = {id(hit) for hit in (*chosen, *further) if self._known[id(hit)].untrusted}
            worse = set() if query.include_untrusted else worse
            beside = [is_beside(self._home[id(hit)].place.space) for hit in chosen]
            same = {id(chosen[n]) for n in repetitions(sections, beside)} - worse
            if not worse and not same:
                return sections, len(bad)
            bad |= worse
            again |= same
            ahead = 2 * max(ahead, limit)


HIGH_SHARE = 0.5
"""The least share of the best score with which a highly relevant memory comes first: a first word such as `Warning:` makes it
so, whatever the question."""


def order(hits: Sequence[Hit], limit: int, turn: Callable[[Hit], int] = lambda _: 0) -> list[Hit]:
    """The first `limit` hits: pinned ones first, and highly relevant ones with at least HIGH_SHARE of the best score, at most half
    of them while others match; then by score, and at equal score those with the lower `turn` first."""

    def by_score(some: Sequence[Hit]) -> list[Hit]:
        return sorted(in_order(some), key=lambda hit: (-round(hit.score, 4), turn(hit)))

    least = HIGH_SHARE * max((hit.score for hit in hits), default=0.0)

    def is_preferred(hit: Hit) -> bool:
        return hit.entry.pinned or (hit.entry.relevance == "high" and hit.score >= least)

    preferred = [hit for hit in hits if is_preferred(hit)]
    rest = [hit for hit in hits if not is_preferred(hit)]
    first = sorted(by_score(preferred), key=lambda hit: not hit.entry.pinned)
    places = max(limit - len(rest), limit // 2)
    # Preferred hits beyond these places still compete by their score.
    return [*first[:places], *by_score([*first[places:], *rest])][:limit]


def repetitions(sections: Sequence[Section], beside: Sequence[bool]) -> list[int]:
    """The indexes of sections whose passage is, word for word, part of an earlier one: a file, and the commit that wrote it.

    `beside` marks sections of memories that were read from the repository or made from sessions. They never replace a memory
    that somebody stored, and are left out where a stored memory has the same words, also a later one.
    """
    texts = [f" {' '.join(_WORD.findall(section.passage.lower()))} " for section in sections]

    def repeats(n: int) -> bool:
        if beside[n]:
            stored = (other for m, other in enumerate(texts) if not beside[m])
            return texts[n] in stored or any(texts[n] in other for other in texts[:n])
        return any(texts[n] in other for m, other in enumerate(texts[:n]) if not beside[m])

    return [
        n for n, own in enumerate(texts) if own.count(" ") > _LEAST_WORDS and not sections[n].is_lead and repeats(n)
    ]


def _section(memory: Memory, hit: Hit, found: SpaceHits, best: Sequence[float]) -> Section:
    """The section of a hit. `best` are the scores of the best passages of all hits, descending."""
    place, view = found.place, found.place.view()
    also: list[tuple[str, str]] = []
    if hit.entry.commit:
        rows = view.groups([hit.entry.group])[hit.entry.group].rows
        rank = {row: n for n, row in enumerate(hit.also)}
        files = view.entries([row for row in rows if row != hit.entry.row]).values()
        ranked = sorted(files, key=lambda entry: (rank.get(entry.row, len(rank)), entry.path, entry.id))
        also = [(entry.id, entry.path) for entry in ranked if entry.commit == hit.entry.commit]
    reviewed = place.workspace.trust.is_reviewed(place.space, memory.id)
    # Inspected now: the stored mark may be missing after an edit by hand, or forged in a clone.
    finding = inspect(memory)
    # `accepted` in a memory counts only where somebody here has reviewed the memory that contains it.
    trusted = finding is None or (reviewed and is_accepted(memory, finding))
    wanted, in_content = set(terms(found.query.topic)), set(terms("\n".join(json_texts(memory.content))))
    query = found.query
    limit = None if query.include_raw else place.policy.max_chars
    answer = answer_of(memory, hit.passages, query.topic, with_sentence=query.budget is not None, limit=limit)
    return Section(
        memory,
        round(hit.score, 4),
        {name: round(value, 4) for name, value in hit.why.items()},
        place.name,
        untrusted=() if trusted or finding is None else finding.reasons,
        is_unreviewed=not reviewed,
        matched_by=found.matched_by.get(hit.entry.row, TEXT),
        sentence=answer.sentence,
        confidence=None if hit.confidence is None else round(hit.confidence, 4),
        passage=answer.text,
        # A further passage is preferred to the memories whose best passage scores less.
        more=tuple((text, sum(least > score for least in best)) for text, score in answer.more),
        heading=answer.heading,
        span=(answer.start, answer.end),
        also=tuple(also),
        shows_content=memory.content is not None and bool(wanted & in_content - set(terms(memory.raw))),
        limit=limit,
    )


_Side: TypeAlias = tuple[str, str]
"""The name of a space in the bundle, and the id of a memory in it."""

_MOST = 3
"""At most so many memories are named that contradict one."""


def with_opposed(query: Query, sections: Sequence[Section], places: Sequence[SearchedSpace]) -> tuple[Section, ...]:
    """The sections, with the memories of all searched spaces that contradict them and are valid at the time of the query. Of two
    sections that contradict each other, the one that states that it replaces the other comes first."""
    pairs = _pairs(sections, places)
    if not pairs:
        return tuple(sections)
    others: dict[_Side, Memory] = {}
    for place in places:
        wanted = sorted({name for sides in pairs.values() for space, name in sides[:_MOST] if space == place.name})
        if wanted:
            # By a query of ids: its filters leave out memories that are inactive, or not valid at the time of the query.
            rows = (
                place.view().visible(Query(topic="", now=query.now, at=query.at, ids=tuple(wanted))).only or frozenset()
            )
            memories = place.show(place.view().fetch(sorted(rows)))
            others.update({(place.name, memory.id): memory for memory in memories})
    opposed = []
    for one in sections:
        sides = pairs.get((one.space, one.memory.id), [])
        known = []
        for other in [others[side] for side in sides[:_MOST] if side in others]:
            # The text of an untrusted memory must not reach the reader by this way either.
            text = "" if inspect(other) is not None else other.summary_micro
            holds = 1 if _holds_over(one.memory, other) else -1 if _holds_over(other, one.memory) else 0
            known.append(Opposed(other.id, other.path, other.created_at[:10], text, holds))
        shown = tuple(sorted(known, key=lambda each: each.holds))
        opposed.append(replace(one, opposed=shown) if sides else one)
    found = list(opposed)  # leads stay before the others: only two leads, or two others, change places
    for section in opposed:
        for against in section.opposed:
            at = {each.memory.id: n for n, each in enumerate(found) if each.space == section.space}
            mine, theirs = at[section.memory.id], at.get(against.id, -1)
            if against.holds < 0 and theirs > mine and found[theirs].is_lead == section.is_lead:
                found.insert(mine, found.pop(theirs))
    return tuple(found)


def _pairs(sections: Sequence[Section], places: Sequence[SearchedSpace]) -> dict[_Side, list[_Side]]:
    """The memories that each section contradicts, by section; for a link between spaces, which one end alone may have, also the
    sections by memory."""
    found: dict[_Side, dict[_Side, None]] = {}
    by_name = {place.name: place for place in places}
    for section in sections:
        own = (section.space, section.memory.id)
        for name in contradicted(section.memory) if section.space in by_name else ():
            place = by_name[section.space]
            other = place.name, name
            if (far := elsewhere(name)) is not None:  # another space of the same store
                there = place.name.removesuffix(place.space) + far[0]
                other = (there, far[1]) if there in by_name else other
            found.setdefault(own, {})[other] = None
            if other[0] != own[0]:
                found.setdefault(other, {})[own] = None
    return {own: list(sides) for own, sides in found.items()}


def _holds_over(one: Memory, other: Memory) -> bool:
    return any(is_contradiction(link) and link["to"] == other.id and link.get("holds") for link in one.links)
