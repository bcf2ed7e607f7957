"""The candidates by words are chosen among the rows that a query may see."""

from __future__ import annotations

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace, opened
from memcli.model.memory import Memory
from memcli.model.recall import Query, RowSet
from tests.conftest import NOW, memory, rewrite
from tests.index.kinds import on_both

pytestmark = on_both

MANY = [memory(f"log{n:03}", kind="log", raw=f"The zebra cache, the zebra, zebra cache {n}.") for n in range(150)]
ONE = memory(
    "d", kind="decision", raw="After long talks about many other things we decided to keep the zebra cache small."
)


def put(workspace: Workspace, *memories: Memory) -> None:
    rewrite(workspace.store, lambda space: space.put(memories, NOW))


def test_a_kind_is_found_behind_many_better_matches_of_others(workspace: Workspace) -> None:
    put(workspace, *MANY, ONE)
    query = Query(topic="zebra cache", now=NOW, kinds=("decision",))
    assert [s.memory.id for s in next(iter(recall(workspace, [query]))).sections] == ["mem_d"]


@pytest.mark.parametrize("terms", [["zebra"], ["zebra", "cache"], ["decided"], ["okapi"]])
def test_what_is_hidden_takes_no_place(workspace: Workspace, terms: list[str]) -> None:
    put(workspace, *MANY, ONE)
    with opened(workspace) as (_, view):
        rows = {entry.id: row for row, entry in view.entries().items()}
        every = set(view.lexical(terms, 1000).counts)
        visible = RowSet(1, hidden=frozenset(rows[m.id] for m in MANY))
        assert set(view.lexical(terms, 10, visible).counts) == every & {rows["mem_d"]}
        assert set(view.lexical(terms, 10, RowSet(1, frozenset([rows["mem_d"]]))).counts) == every & {rows["mem_d"]}


def test_common_words_find_what_rare_ones_do_not_among_few(workspace: Workspace) -> None:
    put(workspace, *MANY, memory("rare", raw="An okapi."), ONE)
    with opened(workspace) as (_, view):
        rows = {entry.id: row for row, entry in view.entries().items()}
        found = view.lexical(["okapi", "zebra"], 10, RowSet(1, frozenset([rows["mem_d"]])))
        assert set(found.counts) == {rows["mem_d"]}
