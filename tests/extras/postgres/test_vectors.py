"""The server's cosines are those of files to the last bit, whatever the vectors and their dimensions."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from psycopg import Connection

from memcli.app.workspace import Workspace
from memcli.embed import EMBEDDERS
from memcli.embed.hashed import HashedEmbedder
from memcli.errors import ProviderError
from memcli.extras.postgres.server import Server
from memcli.extras.postgres.snapshot import rows
from memcli.extras.postgres.vectors import ServerVectors, build_index, keep
from memcli.index.vectors import cosines_of, text_key
from tests.conftest import NOW, memory, rewrite, slow_but
from tests.extras.postgres.stores import on_server
from tests.index.test_embedders import Failing

COUNT = 40


def filled(server: Server, vectors: list[bytes], model: str = "m") -> ServerVectors:
    """Vectors of as many passages, each of a row of its own."""
    with server.connected("fill") as connection:
        for n in range(len(vectors)):
            connection.execute(
                "INSERT INTO passage VALUES ('main', %s, 0, 'prose', 0, 1, '', false, %s)", (n, text_key(str(n)))
            )
        keep(connection, "main", model, {text_key(str(n)): vector for n, vector in enumerate(vectors)})

    def read(statement: str, values: object) -> list[tuple[object, ...]]:
        with server.connected("read") as connection:
            return rows(connection, statement, values)  # type: ignore[arg-type]

    return ServerVectors(read, "main", model, len(vectors[0]))


@pytest.mark.parametrize("dimensions", slow_but((3, 1025), (3, 384, 1024, 1025, 1536, 3000)))
def test_cosines_are_equal_to_the_last_bit(server: Server, dimensions: int) -> None:
    made = numpy.random.default_rng(dimensions).integers(-127, 128, (COUNT, dimensions)).astype(numpy.int8)
    made[0], made[1], made[2], made[3] = 127, -127, 0, -128
    stored = [row.tobytes() for row in made]
    vectors, questions = filled(server, stored), [stored[0], stored[1], stored[7], stored[3]]
    numbers, cosines, missing, _ = vectors.measure("passage", questions)
    assert (numbers.tolist(), bool(missing)) == (list(range(COUNT)), False)
    assert cosines.tobytes() == cosines_of(questions, stored).tobytes()
    values = vectors.values(range(COUNT))
    assert values is not None
    assert numpy.array_equal(values[1], made), "they come back as they were"


def test_models_do_not_mix(server: Server) -> None:
    mine = filled(server, [bytes([n, 1, 2]) for n in range(COUNT)])
    with server.connected("read") as connection:
        keep(connection, "main", "other", {text_key(str(n)): bytes([1, n, 2, 5]) for n in range(COUNT)})
    _, cosines, _, _ = mine.measure("passage", [bytes([1, 2, 3])])
    assert cosines.tobytes() == cosines_of([bytes([1, 2, 3])], [bytes([n, 1, 2]) for n in range(COUNT)]).tobytes()
    assert mine.nearest(bytes([5, 1, 2]), 3)[0] >= 0


def test_the_nearest_are_found_by_the_index(server: Server) -> None:
    made = numpy.random.default_rng(2).integers(-127, 128, (2000, 64)).astype(numpy.int8)
    vectors = filled(server, [row.tobytes() for row in made], "it's % a model")
    with server.connected("build") as connection:
        build_index(connection, "it's % a model", 64)
        build_index(connection, "it's % a model", 64)
        indexes = connection.execute(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
            " JOIN pg_am ON pg_am.oid = relam WHERE indrelid = 'embedding'::regclass AND amname = 'hnsw'"
        ).fetchall()
        assert ["(model = 'it''s % a model'::text)" in definition for (definition,) in indexes] == [True]
    question = made[77].tobytes()
    best = numpy.argsort(-cosines_of([question], [row.tobytes() for row in made])[0])[:10]
    assert set(best.tolist()) <= set(vectors.nearest(question, 200))


def test_a_text_that_is_gone_takes_its_vector_along(tmp_path: Path, postgres: str) -> None:
    with on_server(tmp_path, postgres) as workspace:
        put(workspace, memory("a", raw="The zebra."), memory("b", raw="The okapi."), memory("c", raw="The zebra."))
        embed(workspace)
        before = kept(workspace)
        rewrite(workspace.store, lambda space: space.put([memory("a", raw="The zebra.", path="moved/a")], NOW))
        assert kept(workspace) >= before - {text_key("notes/a")}
        rewrite(workspace.store, lambda space: space.drop(["mem_b"], NOW))
        embed(workspace)
        left = kept(workspace)
        assert len(left) < len(before)
        rewrite(workspace.store, lambda space: space.drop(["mem_a", "mem_c"], NOW))
        assert kept(workspace) == set()


def put(workspace: Workspace, *memories: object) -> None:
    rewrite(workspace.store, lambda space: space.put(memories, NOW))  # type: ignore[arg-type]


def embed(workspace: Workspace) -> None:
    snapshot = workspace.store.open("main")
    assert workspace.index.view(snapshot).embed()
    snapshot.close()


def kept(workspace: Workspace) -> set[bytes]:
    snapshot = workspace.store.open("main")
    found = snapshot.query(lambda connection: connection.execute("SELECT key FROM embedding").fetchall())  # type: ignore[attr-defined]
    snapshot.close()
    return {bytes(key) for (key,) in found}


@pytest.mark.parametrize("error", [ProviderError("the server is down"), KeyboardInterrupt()])
def test_embedding_goes_on_where_it_was_stopped(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr("memcli.index.meaning._EMBED_BATCH", 3)
    failing = Failing(3, error)
    monkeypatch.setitem(EMBEDDERS, "failing", lambda: failing)  # type: ignore[arg-type]
    with on_server(tmp_path, postgres, MEMCLI_EMBEDDER="failing") as workspace:
        put(workspace, *(memory(f"m{n}", raw=f"The text of number {n}.") for n in range(10)))
        with pytest.raises(type(error)):
            embed(workspace)
        assert len(kept(workspace)) == 6
        embed(workspace)
        assert len(failing.seen) == len(set(failing.seen)) == 11  # nothing was embedded twice
        assert len(kept(workspace)) == 10


def test_vectors_of_what_was_removed_meanwhile_are_not_kept(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on_server(tmp_path, postgres) as workspace:
        put(workspace, memory("a", raw="The zebra."), memory("b", raw="The zebra is a secret."))
        original = HashedEmbedder.embed

        def removing(self: HashedEmbedder, texts: list[str], *rest: object, **options: object) -> list[bytes]:
            rewrite(workspace.store, lambda space: space.drop(["mem_b"], NOW))
            return original(self, texts, *rest, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(HashedEmbedder, "embed", removing)
        embed(workspace)
        assert len(kept(workspace)) == 1


def test_no_word_of_what_was_removed_is_left(tmp_path: Path, postgres: str) -> None:
    with on_server(tmp_path, postgres) as workspace:
        put(workspace, memory("a", raw="The zebra."), memory("b", raw="The okapi lives in xylotown.", links=[]))
        embed(workspace)
        assert "xylotown" in dumped(workspace)
        rewrite(workspace.store, lambda space: space.drop(["mem_b"], NOW))
        assert "xylotown" not in dumped(workspace)
        assert "zebra" in dumped(workspace)
        workspace.store.delete("main", lambda _: None)
        put(workspace, memory("c", raw="The gnu."))
        assert "zebra" not in dumped(workspace)


def dumped(workspace: Workspace) -> str:
    """What the tables of the index hold."""
    tables = "entry field term frequency pending passage turn link anchor clustering total".split()

    def read(connection: Connection) -> str:
        found = (connection.execute(f"SELECT coalesce(json_agg({t})::text, '') FROM {t}".encode()) for t in tables)
        return " ".join(one.fetchone()[0] for one in found)  # type: ignore[index]

    snapshot = workspace.store.open("main")
    text = snapshot.query(read)  # type: ignore[attr-defined]
    snapshot.close()
    return str(text)
