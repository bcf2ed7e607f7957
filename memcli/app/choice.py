"""Choice: reads the hits that go into a bundle from the store, leaves out untrusted ones and repetitions, and adds to each
memory what contradicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from memcli.app.topic import Redact
from memcli.model.links import contradicted, elsewhere, is_contradiction
from memcli.model.memory import Memory, json_texts
from memcli.model.recall import TEXT, Entry, Hit, Opposed, Query, Ranking, Section, in_order
from memcli.model.usage import Access
from memcli.policy.answer import answer_of
from memcli.record import Record, field, replace
from memcli.regex import regex
from memcli.safety.injection import inspect, is_accepted
from memcli.settings import is_beside
from memcli.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from memcli.index.view import IndexedSpace
    from memcli.ingest.code import WorkTree
    from memcli.ports import Ranker
    from memcli.store.trust import FileTrust


_WORD = regex(r"(?<=[ \t(])-(?=[\d.])|[<>]=?|[!=]=|\w+")
_LEAST_WORDS = 8
"""Fewer words may well be said twice."""


class SearchedSpace(Record):
    """A space that is asked: the name that its memories go by in the bundle, its own, what opens its view, which may have
    been closed for others meanwhile, the ranker, what of it
    was accepted, what takes secrets out of a topic and out of memories, and the code that they are anchored to;
    the seasons of its policy, and the accesses of its memories by id, whether it keeps questions that nothing answers; the
    session in which it is asked, and the most characters of one memory in a bundle."""

    name: str
    space: str
    view: Callable[[], IndexedSpace]
    size: int
    is_private: bool
    ranker: Ranker
    trust: FileTrust
    redact: Redact
    show: Callable[[Sequence[Memory]], list[Memory]]
    load_code: Callable[[], WorkTree | None] = lambda: None
    seasons: Mapping[str, str] = field(default_factory=dict)
    load_accesses: Callable[[], Mapping[str, Access]] = dict
    keeps_gaps: bool = False
    load_session: Callable[[], str] = str
    max_chars: int | None = None


class SpaceHits(Record):
    """The result of a search in one space. `query` is the query as it was put to this space. `pinned` memories are shown
    although they do not match. `leads` are in neither `ranking` nor `pinned`: a trigger or an anchor of theirs matches, and
    `matched_by` says which, by row."""

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
        """The sections of what `pick` takes of the hits, and how many hits were passed over because they are untrusted.
        What repeats a section before it is passed over too; of what a session yielded and somebody told in the same words,
        the former.

        Reads what is to be shown and looks at it; where something is passed over, twice as much in the next round.
        """
        bad: set[int] = set()
        again: set[int] = set()
        ahead = 0
        while True:
            rest = [hit for hit in hits if id(hit) not in bad | again]
            chosen = pick(rest)
            further = in_order(rest)[:ahead] if ahead else []
            best = sorted((hit.passages[0][1] for hit in chosen if hit.passages), reverse=True)
            looked = self._read([*chosen, *further], best)
            sections = tuple(self._known[id(hit)] for hit in chosen)
            worse = {name for name, section in looked.items() if section.untrusted and not query.include_untrusted}
            beside = [is_beside(self._home[id(hit)].place.space) for hit in chosen]
            same = {id(chosen[n]) for n in repeated_places(sections, beside)} - worse
            if not worse and not same:
                return sections, len(bad)
            bad |= worse
            again |= same
            ahead = 2 * max(ahead, limit)

    def _read(self, hits: Sequence[Hit], best: Sequence[float]) -> dict[int, Section]:
        """The sections of these hits by the identity of the hit; each space is read once for all that are new."""
        new = list({id(hit): hit for hit in hits if id(hit) not in self._known}.values())
        memories: dict[int, Memory] = {}
        for place in {id(self._home[id(hit)]): self._home[id(hit)].place for hit in new}.values():
            own = [hit for hit in new if self._home[id(hit)].place is place]
            read = place.show(place.view().fetch([hit.entry.row for hit in own]))
            memories.update((id(hit), memory) for hit, memory in zip(own, read, strict=True))
        for hit in new:
            home = self._home[id(hit)]
            self._known[id(hit)] = _section(memories[id(hit)], hit, home, _others(hit, home.place.view()), best)
        return {id(hit): self._known[id(hit)] for hit in hits}


def order(hits: Sequence[Hit], limit: int, turn: Callable[[Hit], int] = lambda _: 0) -> list[Hit]:
    """Pinned and highly relevant ones first, in at most half of the places while others match; then by score. At equal
    score the hits of the place whose `turn` is lower come first."""

    def by_score(some: Sequence[Hit]) -> list[Hit]:
        return sorted(in_order(some), key=lambda hit: (-round(hit.score, 4), turn(hit)))

    first = [hit for hit in hits if is_first(hit.entry)]
    rest = [hit for hit in hits if not is_first(hit.entry)]
    first = sorted(by_score(first), key=lambda hit: not hit.entry.pinned)
    places = max(limit - len(rest), limit // 2)
    # Those that find no place in front still compete by their score.
    return [*first[:places], *by_score([*first[places:], *rest])][:limit]


def is_first(entry: Entry) -> bool:
    """Whether the memory comes before the order of scores."""
    return entry.pinned or entry.relevance == "high"


def repeated_places(sections: Sequence[Section], beside: Sequence[bool]) -> list[int]:
    """The places of sections that say, word for word, only what one before them says: a file and the change that wrote it.

    What was told is not left out for what is `beside` it, read or yielded by a session: of those two, the latter is, where
    it says the same and no more.
    """
    said = [f" {' '.join(_WORD.findall(section.passage.lower()))} " for section in sections]

    def repeats(n: int) -> bool:
        if beside[n]:
            told = (other for m, other in enumerate(said) if not beside[m])
            return said[n] in told or any(said[n] in other for other in said[:n])
        return any(said[n] in other for m, other in enumerate(said[:n]) if not beside[m])

    return [n for n, own in enumerate(said) if own.count(" ") > _LEAST_WORDS and not sections[n].is_lead and repeats(n)]


def _others(hit: Hit, view: IndexedSpace) -> tuple[tuple[str, str], ...]:
    """The ids and paths of the other files that the commit of a hit changed, those that match first."""
    if not hit.entry.commit:
        return ()
    rows = view.groups([hit.entry.group])[hit.entry.group].rows
    others = view.entries([row for row in rows if row != hit.entry.row]).values()
    place = {row: n for n, row in enumerate(hit.also)}
    ranked = sorted(others, key=lambda entry: (place.get(entry.row, len(place)), entry.path, entry.id))
    return tuple((entry.id, entry.path) for entry in ranked if entry.commit == hit.entry.commit)


def _section(
    memory: Memory, hit: Hit, found: SpaceHits, also: tuple[tuple[str, str], ...], best: Sequence[float]
) -> Section:
    place = found.place
    reviewed = place.trust.is_reviewed(place.space, memory.id)
    finding = inspect(memory)  # now, and not as it is marked: a hand edit or a clone knows nothing of marks
    # An acceptance counts where somebody here has accepted what it came with.
    trusted = finding is None or (reviewed and is_accepted(memory, finding))
    wanted, in_content = set(terms(found.query.topic)), set(terms("\n".join(json_texts(memory.content))))
    query = found.query
    limit = None if query.include_raw else place.max_chars  # full texts are asked for
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
        # More passages of a memory come before the memories that answer worse than they do.
        more=tuple((text, sum(least > score for least in best)) for text, score in answer.more),
        heading=answer.heading,
        span=(answer.start, answer.end),
        also=also,
        shows_content=memory.content is not None and bool(wanted & in_content - set(terms(memory.raw))),
        limit=limit,
    )


_Side: TypeAlias = tuple[str, str]
"""A memory by the name of its space in the bundle, and its id."""

_MOST = 3
"""So many memories are named beside one that they contradict."""


def with_opposed(query: Query, sections: Sequence[Section], places: Sequence[SearchedSpace]) -> tuple[Section, ...]:
    """The sections with what contradicts them, in any of the spaces that are asked, and holds at the time of the query. Of
    two that contradict each other, the one that says that it holds comes first."""
    pairs = _pairs(sections, places)
    if not pairs:
        return tuple(sections)
    others: dict[_Side, Memory] = {}
    for place in places:
        wanted = sorted({name for sides in pairs.values() for space, name in sides if space == place.name})
        if wanted:
            others.update({(place.name, name): memory for name, memory in _read(query, place, wanted).items()})
    opposed = []
    for one in sections:
        sides = pairs.get((one.space, one.memory.id), ())
        known = sorted(_opposed(one.memory, sides, others), key=lambda other: other.holds)
        opposed.append(replace(one, opposed=tuple(known)) if sides else one)
    # The memory that holds comes before the one that it contradicts where both are leads, or neither.
    found = list(opposed)
    for section in opposed:
        for other in section.opposed:
            at = {each.memory.id: n for n, each in enumerate(found) if each.space == section.space}
            mine, theirs = at[section.memory.id], at.get(other.id, -1)
            if other.holds < 0 and theirs > mine and found[theirs].is_lead == section.is_lead:
                found.insert(mine, found.pop(theirs))
    return tuple(found)


def _pairs(sections: Sequence[Section], places: Sequence[SearchedSpace]) -> dict[_Side, list[_Side]]:
    """What each of the sections contradicts. A link to another space may be told from one end alone."""
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


def _read(query: Query, place: SearchedSpace, names: Sequence[str]) -> Mapping[str, Memory]:
    """The memories of these ids that are active and valid."""
    asked = Query(topic="", now=query.now, at=query.at, ids=tuple(names))
    rows = place.view().visible(asked).only or frozenset()
    read = place.show(place.view().fetch(sorted(rows)))
    return {memory.id: memory for memory in read}


def _opposed(memory: Memory, sides: Sequence[_Side], others: Mapping[_Side, Memory]) -> Iterator[Opposed]:
    for other in [others[side] for side in sides[:_MOST] if side in others]:
        # What is withheld because of what it says is not told here either.
        text = "" if inspect(other) is not None else other.summary_micro
        holds = 1 if _holds_over(memory, other) else -1 if _holds_over(other, memory) else 0
        yield Opposed(other.id, other.path, other.created_at[:10], text, holds)


def _holds_over(one: Memory, other: Memory) -> bool:
    return any(is_contradiction(link) and link["to"] == other.id and link.get("holds") for link in one.links)
