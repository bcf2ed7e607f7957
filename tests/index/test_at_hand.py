"""The index for those who cannot wait: used where it is near, and not made where that takes long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from memcli.app.workspace import Workspace
from memcli.index import cache
from memcli.model.space import Change
from memcli.ports import Snapshot
from tests.conftest import memory


@pytest.fixture
def snapshot(workspace: Workspace) -> Iterator[Snapshot]:
    workspace.store.update("main", lambda _: Change((memory("a", raw="Sessions are kept in Redis."),)))
    with closing(workspace.store.open("main")) as snapshot:
        yield snapshot


def found(workspace: Workspace, snapshot: Snapshot) -> int | None:
    view = workspace.index.at_hand(snapshot)
    if view is None:
        return None
    with closing(view):
        return len(view.lexical(["redi"], 5).counts)


def test_a_small_space_is_indexed(workspace: Workspace, snapshot: Snapshot) -> None:
    assert found(workspace, snapshot) == 1


def test_a_large_space_without_an_index_is_not(
    workspace: Workspace, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_SMALL", 10)
    assert found(workspace, snapshot) is None
    workspace.index.view(snapshot).close()
    assert found(workspace, snapshot) == 1


def test_a_write_since_is_followed_and_not_written(workspace: Workspace, snapshot: Snapshot) -> None:
    workspace.index.view(snapshot).close()
    for name in ("b", "c"):
        workspace.store.update("main", lambda _, name=name: Change((memory(name, raw="Redis holds the queue."),)))
    with closing(workspace.store.open("main")) as later:
        assert [found(workspace, later), found(workspace, later)] == [3, 3]
        with closing(workspace.index.view(later)) as view:
            assert view.size == 3


def test_no_space_has_no_index(workspace: Workspace) -> None:
    with closing(workspace.store.open("other")) as nothing:
        assert workspace.index.at_hand(nothing) is None
