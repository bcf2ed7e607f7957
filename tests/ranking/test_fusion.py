"""`fusion` on values: a view in memory, and cosines that the test chooses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

from memcli.model.memory import Memory
from memcli.model.recall import (
    FIELDS,
    LEAST,
    Entry,
    Nearness,
    PassageTerms,
    Query,
    Ranking,
    RecordedGroup,
    RowSet,
    TermStats,
)
from memcli.ranking.fusion import FusionRanker
from memcli.ranking.lexical import PROSE
from memcli.text.words import terms
from tests.conftest import NOW, memory

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView

TOPIC = "which database engine"


class View:
    """What the ranker asks of an index. `cosines` are by row, the same for each text; None: there is no embedder."""

    def __init__(
        self, memories: Sequence[Memory], cosines: Sequence[float] | None, hidden: frozenset[int] = frozenset()
    ) -> None:
        self._memories = memories
        self._cosines = cosines
        self._hidden = hidden

    def visible(self, query: Query) -> RowSet:
        return RowSet(len(self._memories), hidden=self._hidden)

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        return {row: self._entry(row) for row in (range(len(self._memories)) if rows is None else rows)}

    def lexical(
        self, asked: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> TermStats:
        raw = FIELDS.index("raw")
        found = [Counter(terms(m.raw)) for m in self._memories]
        counts = {
            row: {term: _at(raw, words[term]) for term in asked if words[term]}
            for row, words in enumerate(found)
            if among is None or row in among
        }
        lengths = {row: _at(raw, words.total()) for row, words in enumerate(found)}
        frequencies = {term: sum(term in words for words in found) for term in asked}
        return TermStats(len(found), frequencies, {k: v for k, v in counts.items() if v}, lengths)

    def dense(
        self,
        texts: Sequence[str],
        within: float | None = None,
        among: RowSet | None = None,
        first: Sequence[tuple[int, int]] = (),
        patience: float = math.inf,
    ) -> list[Nearness] | None:
        if self._cosines is None:
            return None
        rows, cosines = numpy.arange(len(self._cosines)), numpy.array(self._cosines)
        return [Nearness(rows, cosines, {int(row): int(row) for row in rows}, cosines) for _ in texts]

    def passages(self, asked: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        """Each memory is one passage."""
        words = {row: Counter(terms(self._memories[row].raw)) for row in rows}
        return {
            row: [PassageTerms(0, "prose", False, {t: (0, n[t]) for t in asked if n[t]}, n.total())]
            for row, n in words.items()
        }

    def links(self, rows: Sequence[int]) -> list[tuple[int, int, str, float]]:
        return []

    def groups(self, names: Sequence[str]) -> Mapping[str, RecordedGroup]:
        rows = {name: tuple(n for n in range(len(self._memories)) if self._entry(n).group == name) for name in names}
        return {name: RecordedGroup(found, 10 * len(found)) for name, found in rows.items()}

    def _entry(self, row: int) -> Entry:
        m = self._memories[row]
        return Entry(
            row, m.id, m.path, m.kind, m.tags, m.relevance, m.pinned, m.created_at, m.updated_at,
            m.effective_importance(), m.confidence, str(m.metadata.get("group", "")), "",
        )  # fmt: skip


def _at(place: int, number: int) -> tuple[int, ...]:
    return tuple(number if n == place else 0 for n in range(len(FIELDS)))


def ranked(memories: Sequence[Memory], cosines: Sequence[float] | None = None, **options: Any) -> Ranking:
    view = View(memories, cosines, options.pop("hidden", frozenset()))
    return FusionRanker().rank(Query(topic=TOPIC, now=NOW, **options), cast("SpaceView", view))


def ids(ranking: Ranking) -> list[str]:
    return [hit.entry.id for hit in ranking.hits]


ENGINE = memory("engine", raw="The database engine is PostgreSQL.")
STORE = memory("store", raw="All rows are kept in PostgreSQL.")
LUNCH = memory("lunch", raw="Lunch is at noon.")


def test_a_score_is_the_sum_of_its_parts() -> None:
    for hit in ranked([ENGINE, STORE, LUNCH], [0.7, 0.6, 0.0]).hits:
        assert hit.score == sum(hit.why.values())
        assert all(hit.why.values())


def test_without_an_embedder_words_alone_decide() -> None:
    found = ranked([LUNCH, STORE, ENGINE])
    assert (ids(found), found.is_degraded) == (["mem_engine"], True)
    assert "meaning" not in found.hits[0].why


def test_meaning_finds_what_shares_no_word() -> None:
    found = ranked([LUNCH, STORE, ENGINE], [0.0, 0.9, 0.8])
    assert set(ids(found)) == {"mem_engine", "mem_store"}
    assert not found.is_degraded


def test_what_a_filter_hides_is_not_there_and_sets_no_scale() -> None:
    whole = ranked([ENGINE, STORE, LUNCH], [0.9, 0.6, 0.0], hidden=frozenset([0]))
    assert "mem_engine" not in ids(whole)
    assert ids(ranked([ENGINE], [0.9], hidden=frozenset([0]))) == []


def test_too_little_evidence_is_no_answer() -> None:
    found = ranked([LUNCH, memory("walk", raw="We walk at one.")], [0.05, 0.02])
    assert ids(found) == []
    assert found.confidence is not None
    assert found.confidence < LEAST


def test_the_tail_far_below_the_best_is_left_out() -> None:
    found = ranked([ENGINE, STORE, LUNCH], [0.9, 0.6, 0.0])
    assert "mem_lunch" not in ids(found)
    assert min(hit.score for hit in found.hits) >= PROSE.tail


def test_equal_scores_go_by_id_and_not_by_row() -> None:
    twins = [memory(name, raw="The database engine is PostgreSQL.") for name in ("b", "a", "c")]
    assert ids(ranked(twins, [0.8, 0.8, 0.8])) == ["mem_a", "mem_b", "mem_c"]


def test_a_group_that_answers_brings_in_its_members() -> None:
    commit = [
        memory("change", raw="Choose the database engine.", kind="code", metadata={"group": "commit"}),
        memory("file", raw="pool = connect()", kind="code", metadata={"group": "commit"}),
        memory("apart", raw="pool = connect()", kind="code"),
    ]
    assert ids(ranked(commit)) == ["mem_change", "mem_file"]


def test_what_was_stated_counts_more_than_code_that_says_the_same() -> None:
    text = "The database engine is PostgreSQL."
    found = ranked([memory("a", raw=text, kind="code"), memory("b", raw=text, kind="decision")])
    assert found.hits[0].entry.id == "mem_b"
    assert found.hits[0].why["stated"] > 0
