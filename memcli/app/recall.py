"""Recall: answers queries with bundles of memories.

Each space is opened as a view of its index, and its ranker scores the memories that match. The scores of several spaces are
put on one scale. Leads are memories that come before all ranked ones, because one of their triggers matches, or the query is a
change of code that they are anchored to.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from time import monotonic

from memcli.app.choice import Reader, Redact, SearchedSpace, SpaceHits, order
from memcli.app.usage import note_bundle, note_gap
from memcli.app.workspace import Workspace, opened, shows_damage
from memcli.model.links import is_contradiction
from memcli.model.memory import RULE_KINDS, TRIGGERED_KINDS
from memcli.model.recall import (
    ALL_FILTERED,
    ANCHOR,
    ANSWERED,
    BELOW_FLOOR,
    EMPTY_DIFF,
    EMPTY_SPACE,
    LEAST,
    NO_MATCH,
    NOT_REPEATED,
    TRIGGER,
    Bundle,
    Hit,
    Query,
    Ranking,
    RowSet,
    Section,
    in_order,
)
from memcli.record import replace
from memcli.regex import regex
from memcli.safety.injection import find_reasons
from memcli.settings import is_journal
from memcli.text.words import MONTH_NUMBERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memcli.index.view import IndexedSpace
    from memcli.ingest.code import WorkTree
    from memcli.ports import Renderer
    from memcli.text.periods import Period

    _T = TypeVar("_T")


MOST = 32
"""The maximum number of open views: each takes a file descriptor of the space and one or two of its index."""

_Key = tuple[str, str]


class Views:
    """A cache of open views of spaces: a view is opened when it is first needed, and the least recently used is closed."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: OrderedDict[_Key, tuple[Workspace, IndexedSpace, ExitStack]] = OrderedDict()

    def get(self, workspace: Workspace, space: str) -> IndexedSpace:
        """The view of a space. Raises CorruptError, StoreError."""
        key = (workspace.root, space)
        if key not in self._open:
            while len(self._open) >= self._most:
                self._open.popitem(last=False)[1][2].close()
            with ExitStack() as stack:
                _, view = stack.enter_context(opened(workspace, space))
                self._open[key] = (workspace, view, stack.pop_all())
        self._open.move_to_end(key)
        return self._open[key][1]

    def again(self, work: Callable[..., _T], *given: Any) -> _T:
        """Calls `work` with these arguments; if an index turns out to be damaged, rebuilds the indexes and calls it once more."""
        try:
            return work(*given)
        # Any exception: damaged content fails far from where it is read, and would end every recall until a rebuild.
        except Exception as error:
            if not shows_damage(error):
                raise
        known = [(workspace, space) for (_, space), (workspace, _, _) in self._open.items()]
        self.close()
        for workspace, space in known:
            workspace.index.rebuild(space)
        return work(*given)

    def close(self) -> None:
        """Closes all views."""
        while self._open:
            self._open.popitem()[1][2].close()


def open_place(views: Views, workspace: Workspace, space: str, name: str) -> SearchedSpace:
    """A space of the workspace, which bundles call `name`. Raises CorruptError, StoreError."""
    view = views.get(workspace, space)
    policy = workspace.in_force(view.policy)
    return SearchedSpace(
        name,
        space,
        workspace,
        partial(views.get, workspace, space),
        view.size,
        view.policy.is_private,
        workspace.ranker(workspace.backend or policy.backend or ""),
        policy,
        workspace.redactor.cleaner(policy),
        partial(workspace.redactor.show, policy=policy),
    )


def _query_for(place: SearchedSpace, query: Query) -> Query:
    """The query with the seasons of the space, with accesses if they have a weight, and with the current session if the space
    has memories of sessions."""
    workspace = place.workspace
    if query.weights.get("access"):
        accesses = workspace.usage.counts(place.space) if workspace.is_noted else {}
        query = replace(query, accesses={name: access.count for name, access in accesses.items()})
    if query.session is None and place.view().has_sessions():
        from memcli.app.living import living

        query = replace(query, session=living(workspace))
    return replace(query, seasons=place.policy.seasons) if place.policy.seasons else query


def search(query: Query, place: SearchedSpace) -> SpaceHits:
    """Searches one space: the ranked hits with at least the `min_score` of the query, the pinned memories that do not match, and
    the leads, which are removed from the other two."""
    visible = place.view().visible(query)
    ranking = Ranking()
    if query.topic.strip():
        ranking = place.ranker(query, place.view())
    # Filters alone list memories, newest first.
    elif query.lists_all or query.kinds or query.changed_since or query.ids:
        entries = place.view().entries(None if visible.only is None else sorted(visible.only)).values()
        ranking = Ranking(tuple(in_order(Hit(e, 0.0, {"filter": 0.0}) for e in entries if e.row in visible)))
    if query.min_score is not None:
        ranking = replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.score >= query.min_score))
    matched = {hit.entry.row for hit in ranking.hits}
    pinned = place.view().entries(place.view().pinned()).values()
    least = 0.0 if query.min_score is None else query.min_score
    # A pinned memory that does not match has score 0, which a positive least score excludes.
    shown = tuple(Hit(e, 0.0, {}) for e in pinned if least <= 0 and e.row in visible and e.row not in matched)
    matched_by = find_leads(query, place.view(), visible)
    if query.edits is not None:
        from memcli.app.anchors import find_moved_leads

        matched_by = find_moved_leads(query, place.view(), visible, place.workspace.load_code) | matched_by
    if not matched_by:
        return SpaceHits(query, place, ranking, shown, len(visible))
    known = {hit.entry.row: hit for hit in ranking.hits}
    leading = place.view().entries(sorted(matched_by))
    return SpaceHits(
        query,
        place,
        replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.entry.row not in matched_by)),
        tuple(hit for hit in shown if hit.entry.row not in matched_by),
        len(visible),
        leads=tuple(known.get(row) or Hit(entry, 0.0, {}) for row, entry in leading.items()),
        matched_by=matched_by,
    )


def on_one_scale(found: Sequence[SpaceHits], least: float = 0.0) -> list[SpaceHits]:
    """Makes the scores of several spaces comparable, and leaves out hits that then score less than `least`."""
    # Scores are relative within a space. The confidence is a probability, and so comparable: the scores of a space are
    # multiplied by the square root of the ratio of its confidence to the highest one.
    strength = [f.ranking.confidence or 0.0 if f.ranking.hits else 0.0 for f in found]
    most = max(strength, default=0.0)
    comparable = []
    for f, own in zip(found, strength, strict=True):
        # The least score of a query is meant for the scores that are printed, and this changes them.
        ranking = scaled(f.ranking, math.sqrt(own / most) if own else 1.0, least)
        share = JOURNAL_SHARE if is_journal(f.place.space) else 1.0
        comparable.append(replace(f, ranking=scaled(ranking, share, least)))
    return comparable


def scaled(ranking: Ranking, factor: float, least: float = 0.0) -> Ranking:
    """The ranking with all scores multiplied by `factor`, without hits that then score less than `least`."""
    if factor == 1.0:
        return ranking
    hits = tuple(
        hit._replace(
            score=hit.score * factor,
            why={name: part * factor for name, part in hit.why.items()},
            passages=tuple((n, score * factor) for n, score in hit.passages),
        )
        for hit in ranking.hits
        if hit.score * factor >= least
    )
    return replace(ranking, hits=hits)


_KINDS = ("constraint", "negative", "decision", "procedure")


def find_leads(query: Query, view: IndexedSpace, visible: RowSet) -> dict[int, str]:
    """The rows of leads, with TRIGGER or ANCHOR for what matches the change or the topic of the query."""
    triggers = {row: texts for row, texts in view.triggers.items() if row in visible}
    if query.edits is not None:
        from memcli.policy.triggers import TriggerSet

        files = sorted({name for edit in query.edits for name in (edit.file, edit.was)})
        anchored = {
            row: ANCHOR
            for row, places in view.anchors(files).items()
            if row in visible and any(edit.touches(*place) for edit in query.edits for place in places)
        }
        rows, looked = list(triggers), TriggerSet(list(triggers.values()))
        return anchored | {rows[owner]: TRIGGER for edit in query.edits for owner, _, _ in looked.matches(edit)}
    named = {}
    if query.is_prompt:  # rules that are anchored to a file that the prompt names, with its folders or without
        words = {word.rpartition("/")[2].rstrip(".") for word in _FILE.findall(query.topic)}
        files = [file for file in view.anchored_files() if file.rpartition("/")[2] in words]
        rows = [row for row in view.anchors(files) if row in visible] if files else []
        found = view.entries(rows) if rows else {}
        named = {row: ANCHOR for row, entry in found.items() if entry.kind in RULE_KINDS}
    if not query.topic.strip() or not triggers:
        return named
    from memcli.policy.triggers import matches_topic

    rows = [row for row, texts in triggers.items() if matches_topic(texts, query.topic)]
    return named | {row: TRIGGER for row, entry in view.entries(rows).items() if entry.kind in TRIGGERED_KINDS}


_FILE = regex(r"[\w./-]+")


JOURNAL_SHARE = 0.8
"""The factor for scores of memories from journals: of two with the same content, the one that somebody stored is cited."""
Verify = Callable[[Query, Callable[[Query], Bundle]], Bundle]
"""Answers a query by the given function, and removes the sections that a language model rejects."""
ALWAYS_MOST = 10
"""The maximum number of pinned memories that a bundle shows although they do not match."""


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
    """Answers each query in turn, with views that are opened once, and records in the usage log what the bundles show.

    Searches the spaces to read of the workspace, or those of `spaces` that are not private; the user-wide store unless
    `with_global` is False; `with_talk` also the messages of sessions. A query with a budget needs `render`, whose output the
    budget limits. `verify` removes sections of each answer. Raises CorruptError, StoreError, UsageError.
    """
    with closing(Views()) as views:
        own = [(workspace, name, name) for name in spaces or workspace.spaces_to_read]
        other = workspace.elsewhere if with_global else None
        others = [(other, name, f"global/{name}") for name in other.store.spaces()] if other else []
        talk = []
        if with_talk:
            from memcli.app.talk import NAME, up_to_date

            messages = up_to_date(workspace)
            talk = [(messages, messages.space, NAME)] if messages else []
        others += talk
        places = [views.again(open_place, views, *one) for one in (*own, *others)]
        if spaces is not None:
            places = [place for n, place in enumerate(places) if n >= len(own) or not place.is_private]
        label = workspace.space if spaces is None else "*"
        keeper = next((place.space for place in places[: len(own)] if place.policy.gaps), "")
        found = partial(views.again, answer, places, label)
        for query in queries:
            query = replace(query, patience=min(query.patience, max(workspace.patience, query.deadline or 0.0)))  # noqa: PLW2901
            bundle = verify(query, found) if verify else found(query)
            if query.budget is not None and render is not None:
                from memcli.app.budget import fit

                bundle = fit(bundle, render, query.budget)
            note_bundle(workspace, bundle, without=[name for *_, name in talk])
            if keeper and (bundle.reason or bundle.is_weak):
                note_gap(workspace, bundle, keeper)
            yield bundle


def answer(places: Sequence[SearchedSpace], label: str, query: Query) -> Bundle:
    """One bundle: leads, then the hits of the rankers of all spaces by score, read from the store, without untrusted ones."""
    size = sum(place.size for place in places)
    own = {place.space: place.size for place in places if place.name == place.space}

    def redact_by_all(text: str) -> str:
        # A secret by the rules of one space must not be printed beside the memories of another.
        for place in places:
            text = place.redact(text)
        return text

    redact = places[0].redact if len(places) == 1 else redact_by_all
    printed = repeated(query, redact)
    if query.edits is not None and not query.edits:
        return Bundle(space=label, query=printed, reason=EMPTY_DIFF, size=size, own=own)
    queries = []
    for place in places:
        clean = clean_query(query, place.redact)
        queries.append(_query_for(place, clean))
    # Once for all spaces: it may run git.
    period = period_of(queries[0], places[0].workspace.load_code) if queries else None
    if period is not None:
        # Redacted too: its name may be a tag of the repository.
        printed = replace(printed, period=replace(period, name=redact(period.name)))
    found: list[SpaceHits] = []
    began = monotonic()
    for one, place in zip(queries, places, strict=True):
        spent = monotonic() - began  # the spaces are searched in turn, and share the time for the search by meaning
        deadline = None if one.deadline is None else max(0.0, one.deadline - spent)
        patience = max(0.0, one.patience - spent)
        found.append(search(replace(one, period=period or one.period, deadline=deadline, patience=patience), place))
    found = on_one_scale(found, query.min_score or 0.0)
    matched = [hit for f in found for hit in (*f.leads, *f.ranking.hits)]
    pinned = [hit for f in found for hit in f.pinned]
    reader = Reader(found)
    sections, withheld = reader.choose(query, matched, query.limit, _ranked(query, found))
    if not query.is_prompt:
        least = _least_beside(sections)
        sections = tuple(s for s in sections if s.score >= least or s.is_lead or s.memory.pinned)
        leading = {id(hit) for f in found for hit in f.leads}
        matched = [hit for hit in matched if hit.score >= least or hit.entry.pinned or id(hit) in leading]
    confidence = _confidence(sections, found)
    if withheld and confidence is not None:
        # It counted what is withheld, which may have been all that answers: what is left is judged by itself.
        confidence = min(confidence, max((s.confidence or 0.0 for s in sections if not s.is_lead), default=0.0))
    is_hopeless = confidence is not None and confidence < LEAST and not query.is_prompt
    if is_hopeless:
        # Nothing rather than wrong memories; but leads match exactly, whatever the confidence.
        sections = tuple(section for section in sections if section.is_lead)
    always, withheld_pins = reader.choose(query, pinned, ALWAYS_MOST, lambda hits: in_order(hits)[:ALWAYS_MOST])
    return Bundle(
        space=label,
        query=printed,
        sections=_annotated(query, sections, places),
        always=_annotated(query, always, places),
        reason=None if sections else BELOW_FLOOR if is_hopeless else _reason(sum(own.values()), found),
        matched=len(matched),
        pinned=len(pinned),
        size=size,
        own=own,
        degraded=any(f.ranking.is_degraded for f in found),
        missing=sum(f.ranking.missing for f in found),
        confidence=confidence,
        withheld_untrusted=withheld,
        untrusted_pins=withheld_pins,
        is_from_clone=any(not place.workspace.trust.is_accepted for place in places),
    )


BESIDE_AN_ANSWER = 0.35
"""The least share of the score of an answer for what is shown beside it."""


def _least_beside(sections: Sequence[Section]) -> float:
    """The least score of a section beside the best one, if that answers; 0 otherwise. The best of a space, or of a style in it, may
    have nothing to do with a question that another one answers."""
    # Of what is shown: a memory that is withheld must not keep others out.
    best = max((s for s in sections if not s.is_lead), key=lambda s: s.score, default=None)
    is_answer = best is not None and best.confidence is not None and best.confidence >= ANSWERED
    return BESIDE_AN_ANSWER * best.score if best is not None and is_answer else 0.0


def _confidence(sections: Sequence[Section], found: Sequence[SpaceHits]) -> float | None:
    """The probability (0..1) that the sections answer the query: the highest of their spaces; None if one does not estimate it."""
    spaces = {section.space for section in sections if not section.is_lead}
    known = [f.ranking.confidence for f in found if f.place.name in spaces]
    estimated = [one for one in known if one is not None]
    return round(max(estimated), 4) if estimated and len(estimated) == len(known) else None


def _ranked(query: Query, found: Sequence[SpaceHits]) -> Callable[[Sequence[Hit]], Sequence[Hit]]:
    """A function that puts hits in order: first the leads, as many as there is room for, then the others.

    Leads are sorted by kind, in the order of _KINDS; then triggers before anchors; then by score, newest, id."""
    kinds = {kind: n for n, kind in enumerate(_KINDS)}
    leading = {
        id(hit): (kinds.get(hit.entry.kind, len(kinds)), f.matched_by[hit.entry.row] != TRIGGER)
        for f in found
        for hit in f.leads
    }
    # At equal score, hits of the space that is searched first come first: its memories were stored, not read from files.
    turns = {id(hit): turn for turn, f in enumerate(found) for hit in (*f.leads, *f.ranking.hits)}

    def rank(hits: Sequence[Hit]) -> Sequence[Hit]:
        leads = sorted((hit for hit in hits if id(hit) in leading), key=lambda hit: hit.entry.id)
        leads.sort(key=lambda hit: hit.entry.updated_at, reverse=True)
        leads.sort(key=lambda hit: (*leading[id(hit)], -round(hit.score, 4)))
        rest = [hit for hit in hits if id(hit) not in leading]
        if query.is_prompt:
            # By probability: scores compare answers to a question, and a prompt need not be one.
            rest.sort(key=lambda hit: (-round(hit.confidence or 0.0, 4), hit.entry.id))
            return [*leads, *rest][: query.limit]
        # For a change all leads come first: they are rules about its lines. For a topic at most half, while others match.
        half = max(query.limit - len(rest), -(-query.limit // 2))
        first = leads[: query.limit if query.edits is not None else half]
        return [*first, *order(rest, query.limit - len(first), lambda hit: turns[id(hit)])]

    return rank


def _annotated(query: Query, sections: Sequence[Section], places: Sequence[SearchedSpace]) -> tuple[Section, ...]:
    """The sections with the states of their anchors, by which leads and other sections are each sorted again, and with the
    memories that contradict them."""
    if any(is_contradiction(link) for section in sections for link in section.memory.links):
        from memcli.app.choice import with_opposed

        sections = with_opposed(query, sections, places)
    if not any(section.memory.anchors for section in sections):
        return tuple(sections)
    from memcli.app.anchors import with_anchors

    code = {place.name: place.workspace.load_code for place in places}
    parts = [tuple(s for s in sections if s.is_lead), tuple(s for s in sections if not s.is_lead)]
    return tuple(section for part in parts for section in with_anchors(part, code))


def _reason(size: int, found: Sequence[SpaceHits]) -> str:
    if not size:
        return EMPTY_SPACE
    if not sum(f.visible for f in found):
        return ALL_FILTERED
    if any(f.ranking.hits or f.leads for f in found):  # what was found is withheld
        return NO_MATCH
    return BELOW_FLOOR if any(f.ranking.confidence is not None for f in found) else NO_MATCH


MAX_TOPIC = 2_000
MAX_READ = 20_000
_FILES = 3
_TIME_WORDS = frozenset("yesterday today last past previous this ago since until before after between as prior".split())
"""Every topic that names a period contains one of these, or a number."""
_NAMED_TIMES = ("hour", "day", "week", "month", "quarter", "year", "version", "release", "tag", "commit")
"""Beside a time word, it has a number, a month or a commit, or one of these in a word."""
_HEX = frozenset("0123456789abcdef")


def clean_query(query: Query, redact: Redact) -> Query:
    """The query for searching: its topic on one line, redacted and cut; the topic of `edits` is made from their lines."""
    topic = query.topic
    if query.edits is not None:
        from memcli.code.change_topic import topic_of

        topic = topic_of(query.edits, redact)
    return replace(query, topic=one_line(topic, redact), about=one_line(query.about, redact) if query.about else "")


def may_have_period(topic: str) -> bool:
    """Whether the topic has the words that every topic with a period has."""
    low = topic.lower()
    if any(not word.isalpha() and any(c.isdigit() for c in word) for word in low.split()):
        return True
    # Whole words, as `today_view.py` is a file.
    if _TIME_WORDS.isdisjoint([word.strip("?.,!:;") for word in low.replace("'s", " ").split()]):
        return False
    return any(
        part in MONTH_NUMBERS or any(name in part for name in _NAMED_TIMES) or (len(part) > 6 and set(part) <= _HEX)
        for part in "".join([c if c.isalnum() else " " for c in low]).split()
    )


def period_of(query: Query, load_code: Callable[[], WorkTree | None]) -> Period | None:
    """The period that the topic names, None without one. Versions and commits are looked up in the work tree, by running git."""
    if query.edits is not None or not may_have_period(query.topic):
        return None
    # A module of many patterns: it is imported only for a topic with a word that every period has.
    from memcli.text.periods import find_period

    def resolve(name: str) -> tuple[str, str] | None:
        code = load_code()
        return code.time_of(name) if code else None

    return find_period(query.topic, query.now, resolve)


def repeated(query: Query, redact: Redact) -> Query:
    """The query for printing in a bundle: redacted, a change as the names of its files, and without instructions."""
    topic = query.topic
    if query.edits is not None:
        files = list(dict.fromkeys(edit.file for edit in query.edits))
        named, more = ", ".join(files[:_FILES]), len(files) - _FILES
        others = f" and {more} more" if more > 0 else ""
        topic = f"a change of {named}{others}" if named else ""
    topic = one_line(topic, redact)
    kinds = tuple(redact(kind) for kind in query.kinds)
    return replace(
        query,
        topic=NOT_REPEATED if find_reasons(topic) else topic,
        kinds=() if find_reasons(" ".join(kinds)) else kinds,
    )


def one_line(text: str, redact: Redact) -> str:
    """`text` redacted, on one line, and cut to MAX_TOPIC characters."""
    # Redacted before it is cut, since no rule finds half a key; and again, since a key may have been split over two lines.
    clean = redact(beginning(text, MAX_READ))
    return beginning(redact(" ".join(clean.replace("\0", " ").split())), MAX_TOPIC)


def beginning(text: str, most: int) -> str:
    """The beginning of `text`, at most `most` characters, cut at a blank; without its last word, which may be cut."""
    if len(text) <= most:
        return text
    parts = text[:most].rsplit(None, 1)
    return parts[0] if parts else ""
