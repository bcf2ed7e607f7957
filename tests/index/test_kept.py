"""An index that stays open answers as one that is opened for each question."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memcli.app.workspace import Workspace
from memcli.index.cache import ReusedIndex
from memcli.index.view import IndexedSpace
from memcli.model.recall import Query
from memcli.ranking import open_ranker
from memcli.wiring.workspace_cache import WorkspaceCache
from tests.conftest import NOW, memory, open_at, rewrite


@pytest.fixture
def kept(tmp_path: Path) -> Workspace:
    """A workspace whose index is kept, with three memories."""
    workspace = open_at(tmp_path)
    texts = {"a": "We chose PostgreSQL.", "b": "Never force-push.", "c": "Run make release."}
    rewrite(workspace.store, lambda space: space.put([memory(n, raw=t) for n, t in texts.items()], NOW))
    return WorkspaceCache().open({"root": str(tmp_path)}, os.environ)


def view_of(workspace: Workspace) -> IndexedSpace:
    with closing(workspace.store.open("main")) as snapshot:
        return workspace.index.view(snapshot)  # type: ignore[return-value]


def told(workspace: Workspace, topic: str = "postgresql release") -> list[tuple[str, float]]:
    with closing(workspace.store.open("main")) as snapshot:
        view = workspace.index.view(snapshot)
        ranking = open_ranker("fusion")(Query(topic=topic, now=NOW), view)
        found = [(hit.entry.id, round(hit.score, 6)) for hit in ranking.hits]
        assert [m.id for m in view.fetch([hit.entry.row for hit in ranking.hits])] == [name for name, _ in found]
        view.close()
    return found


def fresh(workspace: Workspace) -> list[tuple[str, float]]:
    return told(open_at(Path(workspace.root).parent))


def test_the_same_view_answers_again(kept: Workspace) -> None:
    assert isinstance(kept.index, ReusedIndex)
    first = view_of(kept)
    assert view_of(kept) is first
    assert told(kept) == told(kept) == fresh(kept) != []


def test_a_write_is_seen(kept: Workspace) -> None:
    told(kept)
    for n in range(3):
        rewrite(kept.store, lambda space, n=n: space.put([memory("d", raw=f"PostgreSQL {n} is released.")], NOW))
        assert told(kept) == fresh(kept)
        assert "mem_d" in dict(told(kept))


def test_a_space_that_comes_and_goes(kept: Workspace) -> None:
    path = Path(kept.root) / "spaces" / "main.json"
    data = path.read_bytes()
    before = told(kept)
    path.unlink()
    assert told(kept) == []
    path.write_bytes(data)
    assert told(kept) == before


@pytest.mark.parametrize("what", ["cache", "index", "vectors", "places"])
def test_a_cache_that_is_deleted_meanwhile(what: str, kept: Workspace) -> None:
    before = told(kept)
    cache = Path(kept.root) / "cache"
    if what == "cache":
        shutil.rmtree(cache)
    for file in cache.glob(f"*.{what}"):
        file.unlink()
    assert told(kept) == before
    assert told(kept, "never push") == told(open_at(Path(kept.root).parent), "never push")


def test_a_cache_that_another_process_makes_anew(kept: Workspace) -> None:
    before = told(kept)
    first = view_of(kept)
    other = open_at(Path(kept.root).parent)
    other.index.rebuild("main")
    told(other)
    assert view_of(kept) is not first
    assert told(kept) == before


def test_vectors_that_another_process_makes_are_used(kept: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 0)
    assert told(kept) == fresh(kept)
    with closing(kept.store.open("main")) as snapshot:
        assert open_at(Path(kept.root).parent).index.view(snapshot).embed()
    with closing(kept.store.open("main")) as snapshot:
        near = kept.index.view(snapshot).dense(["PostgreSQL"])
    assert near is not None
    assert near[0].missing == 0
    assert told(kept) == fresh(kept)


def test_many_questions_give_the_same_numbers(kept: Workspace) -> None:
    """After some questions vectors are kept as numbers."""
    with closing(kept.store.open("main")) as snapshot:
        view = kept.index.view(snapshot)
        found = [view.dense(["which database?", "which"]) or [] for _ in range(8)]
    numbers = [[(one.best.tolist(), one.cosines.tolist()) for one in several] for several in found]
    assert numbers[0]
    assert all(one == numbers[0] for one in numbers)


def test_what_is_erased_can_be_erased_under_an_open_index(kept: Workspace) -> None:
    from memcli.app.purge import purge

    told(kept)
    view_of(kept)
    purge(open_at(Path(kept.root).parent), ["mem_a"], now=True)
    assert "mem_a" not in dict(told(kept))
    assert told(kept) == fresh(kept)
    assert not [file for file in Path(kept.root).rglob("*") if file.is_file() and b"PostgreSQL" in file.read_bytes()]


def test_nothing_of_the_store_is_open_between_questions(kept: Workspace) -> None:
    told(kept)
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc")
    files = [
        os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}")
    ]
    assert not [file for file in files if file.startswith(f"{kept.root}/spaces")]


def test_many_spaces_are_not_all_kept(kept: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.cache._MOST", 2)
    views = []
    for name in ("one", "two", "three"):
        with closing(kept.store.open(name)) as snapshot:
            views.append(kept.index.view(snapshot))
    with pytest.raises(sqlite3.ProgrammingError):
        views[0].pinned()
    assert views[2].pinned() == []


def test_close_lets_go(kept: Workspace) -> None:
    view = view_of(kept)
    told(kept)
    assert isinstance(kept.index, ReusedIndex)
    kept.index.close()
    with pytest.raises(sqlite3.ProgrammingError):
        view.pinned()
    assert told(kept) == fresh(kept)
