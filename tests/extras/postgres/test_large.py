"""A space above the sizes up to which everything is looked at: what is found there is measured as exactly."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace, opened
from memcli.extras.postgres import tables as server_tables
from memcli.extras.postgres import totals as server_totals
from memcli.extras.postgres import vectors as server_vectors
from memcli.model.recall import Query, RowSet
from tests.conftest import NOW, memory, rewrite, slow_but
from tests.extras.postgres import made
from tests.extras.postgres.stores import both, on_server
from tests.extras.postgres.test_differential import compare

SEED = 5


def write(pair: tuple[Workspace, Workspace], seed: int) -> None:
    for put, gone in made.steps(seed):
        for workspace in pair:
            rewrite(workspace.store, lambda space, put=put, gone=gone: made.after(space, put, gone))


@pytest.mark.parametrize("seed", slow_but((SEED,), (1, SEED)))
def test_where_the_nearest_are_all_the_answers_are_the_same(
    seed: int, tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_vectors, "EXACT", 0)
    with both(tmp_path, postgres) as pair:
        write(pair, seed)
        compare(pair, [query for query in made.questions(seed, 12) if query.backend == "fusion"])


def test_few_are_nearest_and_more_are_measured_when_asked_for(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with both(tmp_path, postgres) as pair:
        write(pair, SEED)
        with opened(pair[1]) as (_, view):
            (every,) = view.dense(["the zebra cache"]) or []
        monkeypatch.setattr(server_vectors, "EXACT", 0)
        monkeypatch.setattr(server_vectors, "NEAREST", 3)
        with opened(pair[1]) as (_, view):
            near, other = view.dense(["the zebra cache", "deploy"]) or []
            assert 0 < len(near.rows) < len(every.rows)
            assert near.size == every.size
            others = [row for row in every.rows.tolist() if row not in near.rows][:5]
            more = near.including(others)
            assert set(others) <= set(more.rows.tolist())
            assert other.including(others).rows.tolist() == more.rows.tolist()
            expected = every.by_row()
            assert all(expected[row] == cosine for row, cosine in more.by_row().items())
            assert all(more.of(row, 1) == every.of(row, 1) for row in others)
            (timed,) = view.dense(["the zebra cache"], 60.0) or []
            assert timed.including(others).by_row() == more.by_row()
            monkeypatch.setattr(server_vectors, "EXACT", 2)
            (filtered,) = view.dense(["the zebra cache"], None, RowSet(2, frozenset(others[:2]))) or []
            assert filtered.rows.tolist() == sorted(others[:2])


def test_rare_words_choose_the_candidates_among_many(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_tables, "EXACT", 10)
    with on_server(tmp_path, postgres) as workspace:
        memories = [
            memory(f"m{n}", raw=f"The zebra crosses{' the okapi bridge' if n % 20 == 3 else ''} {n}.")
            for n in range(100)
        ]
        rewrite(workspace.store, lambda space: space.put(memories, NOW))
        with opened(workspace) as (_, view):
            ids = {row: entry.id for row, entry in view.entries().items()}
            monkeypatch.setattr("memcli.index.words.COMMON_SHARE", 1.0)
            stats = view.lexical(["zebra", "okapi"], 50)
            assert stats.frequencies == {"zebra": 100, "okapi": 5}
            assert sorted(ids[row] for row in stats.counts) == [f"mem_m{n}" for n in (23, 3, 43, 63, 83)]
            assert all(set(counts) == {"zebra", "okapi"} for counts in stats.counts.values())


@pytest.mark.parametrize("after", [1, 3])
def test_sums_that_were_folded_and_an_index_made_anew_are_the_same(
    after: int, tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_totals, "_FOLD_AFTER", after)
    with both(tmp_path, postgres) as pair:
        write(pair, SEED)
        compare(pair, made.questions(SEED, 6))
        if after == 3:
            pair[1].index.rebuild("main")
            compare(pair, made.questions(SEED, 6))
            with opened(pair[0]) as (_, files), opened(pair[1]) as (_, server):
                assert server.status()["terms"] == files.status()["terms"]


def test_an_index_of_another_version_is_named(tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with on_server(tmp_path, postgres) as workspace:
        rewrite(workspace.store, lambda space: space.put([memory("a", raw="The zebra.")], NOW))
        told: list[str] = []
        monkeypatch.setattr("memcli.extras.postgres.indexing.VERSION", "0/another")
        monkeypatch.setattr(workspace.index._shared, "_warn", told.append)  # type: ignore[attr-defined]
        assert next(iter(recall(workspace, [Query(topic="zebra", now=NOW)]))).sections
        assert len(told) == 1
        assert "`memcli store index rebuild -s main`" in told[0]
        workspace.index.rebuild("main")
        told.clear()
        next(iter(recall(workspace, [Query(topic="zebra", now=NOW)])))
        assert not told


def test_all_vectors_are_made_and_indexed(tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_vectors, "EXACT", 0)
    monkeypatch.setattr("memcli.index.meaning._AT_ONCE", 2)
    with on_server(tmp_path, postgres) as workspace:
        memories = [memory(f"m{n}", raw=f"The zebra {n}.") for n in range(9)]
        rewrite(workspace.store, lambda space: space.put(memories, NOW))
        with opened(workspace) as (_, view):
            (near,) = view.dense(["zebra"]) or []
            assert (near.missing, len(near.rows)) == (9, 0)
            assert view.embed()
        with opened(workspace) as (_, view):
            (near,) = view.dense(["zebra"]) or []
            assert (near.missing, len(near.rows)) == (0, 9)
            assert view.status()["vectors"] == 9
        rewrite(workspace.store, lambda space: space.put([memory("new", raw="The okapi.")], NOW))
        with opened(workspace) as (_, view):
            (near,) = view.dense(["okapi"]) or []
            assert (near.missing, len(near.rows)) == (0, 10)
            assert view.embed()
            assert len(view.entries()) == 10
        with closing(workspace.store.open("main")) as snapshot:
            select = (
                "SELECT count(*) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam"
                " WHERE indrelid = 'embedding'::regclass AND amname = 'hnsw'"
            )
            (count,) = snapshot.query(lambda connection: connection.execute(select).fetchone())  # type: ignore[attr-defined]
        assert count == 1


def test_odd_text_is_stored_and_asked_for(tmp_path: Path, postgres: str) -> None:
    with on_server(tmp_path, postgres) as workspace:
        for odd in ("a\0b", "half \ud83d of it", "naïve 🦓"):
            speaker = "Tom" if "\ud83d" in odd else odd
            one = memory("a", raw="The zebra.", metadata={"speaker": speaker}, triggers=("zebra",))
            rewrite(workspace.store, lambda space, one=one: space.put([one], NOW))
            assert len(next(iter(recall(workspace, [Query(topic=f"zebra {odd}", now=NOW)]))).sections) == 1
            for filtered in ({"under": odd}, {"tags": (odd,)}, {"ids": (odd,)}, {"kinds": (odd,)}):
                assert not next(iter(recall(workspace, [Query(topic="zebra", now=NOW, **filtered)]))).sections  # type: ignore[arg-type]
            with opened(workspace) as (snapshot, view):
                catalogue = workspace.index.existing(snapshot)
                assert catalogue is not None
                assert (catalogue.find(odd), catalogue.ids_with_prefix(odd)) == (None, [])
                assert (view.groups([odd])[odd].rows, view.anchors([odd])) == ((), {})
