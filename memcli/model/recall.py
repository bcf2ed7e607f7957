"""The values of recall: a query, the entries and hits of an index, the ranking of a space, and the bundle of sections that is
printed. Also the cosines of a text to the passages of a space, contradictions of a section, and clusters by meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping

from memcli.model.memory import Json, Memory
from memcli.record import NamedTuple, Record, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.model.anchors import Checked, FileEdit
    from memcli.text.periods import Period


_MOST_CHARACTERS = 160


class Opposed(Record):
    """A memory that contradicts one of a bundle. `holds` is 1 where the memory of the bundle is the one that is still valid, -1
    where this one is, 0 where that is not known."""

    id: str
    path: str
    date: str
    text: str
    holds: int = 0

    def __str__(self) -> str:
        newer = {1: ", outdated", -1: ", which holds now"}.get(self.holds, "")
        line = " ".join(self.text.split())
        if len(line) > _MOST_CHARACTERS:
            line = f"{line[:_MOST_CHARACTERS].rstrip()}…"
        return f"contradicts [{self.id}] ({self.date}{newer}){f': {line}' if self.text else ''}"

    def to_json(self, *, is_brief: bool) -> dict[str, Json]:
        """The contradiction in the JSON of a bundle; only its id if `is_brief`."""
        if is_brief:
            return {"id": self.id}
        newer = {1: {"outdated": True}, -1: {"holds": True}}.get(self.holds, {})
        return {"id": self.id, "path": self.path, "date": self.date, "summary_micro": self.text, **newer}


DEFAULT_LIMIT = 10
DEFAULT_BACKEND = "fusion"
BACKENDS = ("basic", "fusion", "graph", "hybrid", "patricia", "raptor")

NO_MATCH, EMPTY_SPACE, ALL_FILTERED = "no_match", "empty_space", "all_filtered"
BELOW_FLOOR, EMPTY_DIFF, BUDGET_TOO_SMALL = "below_floor", "empty_diff", "budget_too_small"
ALL_REJECTED = "all_rejected"
NOT_REPEATED = "(not shown: it contains instructions)"
"""Printed instead of a topic that contains instructions to a model."""

_TOKENS_OF_TOPIC = 8  # under a budget

SENTENCE, PASSAGE, PASSAGES, RAW = "sentence", "passage", "passages", "raw"
LEVELS = (SENTENCE, "micro", "short", "long", PASSAGE, PASSAGES, RAW)
"""How much of a memory a bundle shows, from least to most."""

FIELDS = ("path", "tags", "summary", "raw", "content")
"""The fields in which words are searched, in the order of every tuple of counts."""

TRIGGER, ANCHOR, TEXT = "trigger", "anchor", "text"  # the values of `matched_by`


class Query(Record, kw_only=True):
    """One question to a space.

    `topic` is the question; with `edits`, the topic is made of that change. Without a topic, memories are listed that pass
    the filters if the query has `kinds`, `changed_since` or `ids`, or if it `lists_all`. `is_prompt`: the topic is a prompt
    to an agent, which need not be a question; memories that help with it are returned, the most probable first.

    `now` is the time from which recency is measured. `at` is the time at which memories must be valid, by default now; `since`
    and `until` limit their creation, `changed_since` their creation or last change. `period` is a time that the topic names;
    memories with a date in it score higher. `about` is a second text that influences only the order.

    `deadline` is in seconds and ends the search by meaning. Missing vectors are computed for about `patience` seconds.
    `session` is the session of the caller: empty for none, None for the current one. `seasons` are the named seasons of the
    space, `accesses` the number of accesses by id, if these have a weight.
    """

    topic: str
    now: str
    limit: int = DEFAULT_LIMIT
    raw_limit: int | None = None
    include_raw: bool = False
    include_metadata: bool = False
    prefer_kinds: tuple[str, ...] = ()
    prefer_tags: tuple[str, ...] = ()
    require_high_relevance: bool = False
    kinds: tuple[str, ...] = ()
    without_kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    under: str = ""
    scope: str | None = None
    session: str | None = None
    at: str | None = None
    since: str | None = None
    until: str | None = None
    changed_since: str | None = None
    min_score: float | None = None
    min_importance: float | None = None
    include_inactive: bool = False
    about: str = ""
    period: Period | None = None
    budget: int | None = None
    backend: str = DEFAULT_BACKEND
    weights: Mapping[str, float] = field(default_factory=dict)
    recency_bias: float | None = None
    deadline: float | None = None
    patience: float = math.inf
    explain: bool = False
    include_untrusted: bool = False
    edits: tuple[FileEdit, ...] | None = None
    ids: tuple[str, ...] = ()
    lists_all: bool = False
    is_prompt: bool = False
    seasons: Mapping[str, str] = field(default_factory=dict)
    accesses: Mapping[str, int] = field(default_factory=dict)


class Entry(NamedTuple):
    """The fields of a memory that an index has in columns, so that it can be ranked without decoding it.

    All files of the change of one `commit` become one section of a bundle. The confidence decays from `confirmed_at` on.
    `is_read`: the memory was read from a document or a commit, not stored by a user or an agent.
    """

    row: int
    id: str
    path: str
    kind: str
    tags: tuple[str, ...]
    relevance: str
    pinned: bool
    created_at: str
    updated_at: str
    importance: float
    confidence: float
    group: str
    speaker: str
    commit: str = ""
    confirmed_at: str = ""
    season: str = ""
    is_read: bool = False


class RecordedGroup(Record):
    """The rows of memories that were recorded together, such as a conversation or a document, in their order. `length` is the
    number of terms of all of them."""

    rows: tuple[int, ...]
    length: int


class RowSet(Record):
    """A set of `size` rows: all rows, or those in `only`, without those in `hidden`."""

    size: int
    only: frozenset[int] | None = None
    hidden: frozenset[int] = frozenset()

    def __contains__(self, row: int) -> bool:
        return row not in self.hidden and (self.only is None or row in self.only)

    def __len__(self) -> int:
        return self.size


class PassageTerms(NamedTuple):
    """The frequencies of the terms of a query in one passage: `counts[term]` is how often it occurs in the heading and in the
    text, `length` the number of terms of both. `n` is the index of the passage in its memory, `form` one of those of
    `text/passages.py`."""

    n: int
    form: str
    is_versioned: bool
    counts: Mapping[str, tuple[int, int]]
    length: int


class TermStats(Record):
    """The frequencies of the terms of a query in a space of `size` memories. `counts[row][term]` is how often the term occurs in
    each of FIELDS, `lengths[row]` the number of terms of each field, `frequencies[term]` the number of memories with it."""

    size: int
    frequencies: Mapping[str, int]
    counts: Mapping[int, Mapping[str, tuple[int, ...]]]
    lengths: Mapping[int, tuple[int, ...]]


class Hit(NamedTuple):
    """A row that matches, with its score, and in `why` the parts of which the score is the sum.

    `passages` are its matching passages by index and score, the best first; `also` are the other matching rows of the same
    commit. `confidence` is the probability (0..1) that the row answers the query, None if the backend does not estimate it; it
    is computed from `signals` with the weights of its `form`.
    """

    entry: Entry
    score: float
    why: Mapping[str, float]
    passages: tuple[tuple[int, float], ...] = ()
    also: tuple[int, ...] = ()
    confidence: float | None = None
    signals: tuple[float, ...] = ()
    form: str = ""


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Sorted by score, best first; then newest; then id."""
    # Rounded: the last bits of a float differ between machines, and would decide the order of equal scores.
    ordered = sorted(hits, key=lambda hit: hit.entry.id)
    ordered.sort(key=lambda hit: hit.entry.updated_at, reverse=True)
    ordered.sort(key=lambda hit: -round(hit.score, 4))
    return ordered


ANSWERED, LEAST = 0.5, 0.1
"""The least confidence of a bundle that answers its question, and of one that shows weak evidence rather than nothing."""


class Ranking(Record):
    """The rows of a space that may answer, best first. `confidence` is the probability (0..1) that one of the first answers, None
    where it was not estimated. `is_degraded`: ranked by words alone; `missing` passages have no vector yet."""

    hits: tuple[Hit, ...] = ()
    confidence: float | None = None
    is_degraded: bool = False
    missing: int = 0


class Section(Record):
    """One memory of a bundle.

    `space` is the name of its space, `level`, one of LEVELS, how much of it fits a budget. `sentence` and `passage` are
    the parts of its text that answer the topic, empty without a topic; `heading` is the heading above the passage, and `span`
    the offsets of its start and end. `more` has ever longer passages, each with the number of the section before which it is
    preferred; a budget shows the first `steps` of them. `limit` is the maximum of characters that are printed of the memory.
    `shows_content`: the content has words of the topic that the text lacks. `also` are the ids and paths of other files of
    the same commit, those that match first.

    `matched_by` is TEXT, or what makes the memory a lead. `confidence` is the probability (0..1) that it answers the topic,
    None if it was not estimated.

    `untrusted` has the reasons why the memory is untrusted, which is shown only on request; `is_unreviewed`: nobody here has
    accepted it. `anchors` are the states of the code that it is anchored to, `opposed` the memories that contradict it.
    """

    memory: Memory
    score: float
    why: Mapping[str, float]
    space: str
    level: str | None = None
    untrusted: tuple[str, ...] = ()
    is_unreviewed: bool = False
    anchors: tuple[Checked, ...] = ()
    matched_by: str = TEXT
    sentence: str = ""
    passage: str = ""
    more: tuple[tuple[str, int], ...] = ()
    steps: int = 0
    heading: str = ""
    span: tuple[int, int] = (0, 0)
    also: tuple[tuple[str, str], ...] = ()
    shows_content: bool = False
    opposed: tuple[Opposed, ...] = ()
    limit: int | None = None
    confidence: float | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether code that it is anchored to has changed or is gone."""
        return any(anchor.is_doubtful for anchor in self.anchors)

    @property
    def is_lead(self) -> bool:
        """Whether it comes before ranked memories, because its trigger or anchor matches."""
        return self.matched_by != TEXT

    @property
    def cautions(self) -> list[str]:
        """Warnings that are printed with the memory: untrusted, superseded, contradicted, its code changed."""
        marks = [f"untrusted ({', '.join(self.untrusted)})"] if self.untrusted else []
        marks += ["unreviewed"] if self.is_unreviewed else []
        marks += [f"superseded by {self.memory.superseded_by}"] if self.memory.superseded_by else []
        marks += [] if self.memory.active else ["forgotten"]
        # Of the contradictions the first has its text, unless the section is brief, and the others their ids.
        shown = [] if self.level in LEVELS[:2] else [str(one) for one in self.opposed[:1]]
        rest = [f"[{one.id}]" for one in self.opposed[len(shown) :]]
        marks += [*shown, *([f"{'also ' if shown else ''}contradicts {', '.join(rest)}"] if rest else [])]
        return [*marks, *(str(anchor) for anchor in self.anchors if not anchor.is_fresh)]


class ModelVerdict(Record, kw_only=True):
    """The answer of a language model on so many `candidates` of a bundle: how many it `rejected`, or its `failure`."""

    candidates: int
    rejected: int = 0
    model: str = ""
    failure: str = ""


class Bundle(Record, kw_only=True):
    """The answer to a query: sections in order, or the reason why there are none.

    `query` is the query without secrets, for printing. `always` are pinned memories that do not match, out of `pinned` such
    memories. `matched` memories matched in all; `withheld_untrusted` of these are left out because they contain instructions,
    as are `untrusted_pins` of the pinned ones. `size` is the number of memories searched, `own` that of each space of the store
    itself. `missing` passages have no vector yet and were searched by words.

    `confidence` is the probability (0..1) that the sections answer the topic; None without a topic, or if the backend does not
    estimate it. `verdict` is that of a language model that checked the sections, if any. `is_from_clone`: a searched store came with a clone
    that nobody here has accepted.
    """

    space: str
    query: Query
    sections: tuple[Section, ...] = ()
    always: tuple[Section, ...] = ()
    reason: str | None = None
    matched: int = 0
    pinned: int = 0
    size: int = 0
    own: Mapping[str, int] = field(default_factory=dict)
    degraded: bool = False
    missing: int = 0
    confidence: float | None = None
    withheld_untrusted: int = 0
    untrusted_pins: int = 0
    is_from_clone: bool = False
    verdict: ModelVerdict | None = None

    @property
    def is_weak(self) -> bool:
        """Whether the sections may not answer the topic: none is a lead, and the confidence is below ANSWERED."""
        if self.confidence is None or not self.sections or any(section.is_lead for section in self.sections):
            return False
        return self.confidence < ANSWERED

    @property
    def topic(self) -> str:
        """The topic as a bundle prints it: a few tokens of it under a budget, which is meant for the memories."""
        topic = self.query.topic
        if self.query.budget is None:
            return topic
        from memcli.model.tokens import cut_tokens

        return cut_tokens(topic, _TOKENS_OF_TOPIC)

    @property
    def withheld(self) -> int:
        """The number of matching memories that are left out for want of room: not as untrusted, and not rejected by a model."""
        rejected = self.verdict.rejected if self.verdict else 0
        return max(0, self.matched - len(self.sections) - self.withheld_untrusted - rejected)

    @property
    def withheld_pins(self) -> int:
        """The number of pinned memories that do not match and are left out for want of room."""
        return max(0, self.pinned - len(self.always) - self.untrusted_pins)


class Nearness(Record):
    """The cosines of a text to the passages of a space, in arrays of NumPy. `rows` (int64 [n], ascending) are those that have a
    vector, `best` (float64 [n]) has the highest cosine of each. `cosines` has that of every passage, NaN for the `missing` ones
    that have no vector yet; those of a row begin at `first[row]`.

    Of a very large space, which has `passages` passages, only the nearest rows are included; `more` computes others."""

    rows: Any
    best: Any
    first: Mapping[int, int]
    cosines: Any
    missing: int = 0
    passages: int = 0
    more: Callable[[Collection[int]], Nearness] | None = None

    @property
    def size(self) -> int:
        """The number of passages of the space."""
        return self.passages or len(self.cosines)

    def including(self, rows: Collection[int]) -> Nearness:
        """The same with cosines for these rows too."""
        return self if self.more is None else self.more(rows)

    def of(self, row: int, count: int) -> list[float]:
        """The cosines of the `count` passages of a row, in order; NaN where they were not computed."""
        start = self.first.get(row)
        return [math.nan] * count if start is None else self.cosines[start : start + count].tolist()

    def by_row(self) -> dict[int, float]:
        """The highest cosine of each row that has one."""
        return dict(zip(self.rows.tolist(), self.best.tolist(), strict=True))


class Cluster(Record):
    """Memories that are near in meaning: their ids and the strengths (0..1) of their membership, the strongest first."""

    id: str
    name: str
    ids: tuple[str, ...]
    strengths: tuple[float, ...]


class Clusters(Record):
    """The clusters of a space, the largest first. `reason` is why they were not computed; empty where they were, even if no
    memories are near enough to form one."""

    found: tuple[Cluster, ...] = ()
    reason: str = ""
