"""A path filters by its segments, on files as on a server."""

from __future__ import annotations

from memcli.app.workspace import Workspace, opened
from memcli.model.catalogue import CatalogueFilter
from memcli.model.recall import Query
from tests.conftest import NOW, memory, rewrite
from tests.index.kinds import on_both

PATHS = ("a", "a-b/c", "a/b", "a/b/c", "ab/c", "b")


@on_both
def test_a_path_is_above_its_own_segments_alone(workspace: Workspace) -> None:
    memories = [memory(f"m{n}", path=path) for n, path in enumerate(PATHS)]
    rewrite(workspace.store, lambda space: space.put(memories, NOW))
    with opened(workspace) as (_, view):
        entries = view.entries()
        visible = view.visible(Query(topic="x", now=NOW, under="a"))
        assert sorted(entry.path for row, entry in entries.items() if row in visible) == ["a", "a/b", "a/b/c"]
        places = {depth: list(view.places(CatalogueFilter(under="a", depth=depth))) for depth in (None, 2)}
        assert [path for path, _ in places[None]] == ["a", "a/b", "a/b/c"]
        assert [path for path, _ in places[2]] == ["a", "a/b", "a/b"]
        assert view.count(CatalogueFilter(under="a")) == 3
