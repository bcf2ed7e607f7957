"""The candidates by words are chosen among the rows that a query may see, and a path filters by its segments."""

from __future__ import annotations

import pytest

from memcli.app.workspace import Workspace, opened
from memcli.model.catalogue import CatalogueFilter
from memcli.model.recall import Query, RowSet
from tests.conftest import NOW, memory
from tests.index.kinds import asked, on_both, put

pytestmark = on_both

MANY = [memory(f"log{n:03}", kind="log", raw=f"The zebra cache, the zebra, zebra cache {n}.") for n in range(150)]
ONE = memory(
    "d", kind="decision", raw="After long talks about many other things we decided to keep the zebra cache small."
)


def test_a_kind_is_found_behind_many_better_matches_of_others(workspace: Workspace) -> None:
    put(workspace, *MANY, ONE)
    found = asked(workspace, "zebra cache", kinds=("decision",))
    assert [section.memory.id for section in found.sections] == ["mem_d"]


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


PATHS = ("a", "a-b/c", "a/b", "a/b/c", "ab/c", "b")


def test_a_path_is_above_its_own_segments_alone(workspace: Workspace) -> None:
    put(workspace, *(memory(f"m{n}", path=path) for n, path in enumerate(PATHS)))
    with opened(workspace) as (_, view):
        entries = view.entries()
        visible = view.visible(Query(topic="x", now=NOW, under="a"))
        assert sorted(entry.path for row, entry in entries.items() if row in visible) == ["a", "a/b", "a/b/c"]
        places = {depth: list(view.places(CatalogueFilter(under="a", depth=depth))) for depth in (None, 2)}
        assert [path for path, _ in places[None]] == ["a", "a/b", "a/b/c"]
        assert [path for path, _ in places[2]] == ["a", "a/b", "a/b"]
        assert view.count(CatalogueFilter(under="a")) == 3
