"""The index as roles see it that may read some spaces alone."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import pytest

from memcli.embed.hashed import HashedEmbedder
from memcli.extras.postgres.indexing import PostgresIndex
from memcli.extras.postgres.store import ServerStore
from memcli.index.vectors import VectorFile
from tests.conftest import NOW, memory, rewrite
from tests.extras.postgres.conftest import Open


def found(store: ServerStore) -> tuple[list[str], list[float]]:
    """The ids that words find, and the cosines."""
    index = PostgresIndex(store._server, HashedEmbedder, partial(VectorFile, None), pytest.fail)
    with closing(store.open("main")) as snapshot:
        view = index.view(snapshot)
        entries = view.entries()
        stats = view.lexical(["zebra", "text"], 2)
        (near,) = view.dense(["the zebra"]) or []
        return [entries[row].id for row in stats.counts], near.best.tolist()


@pytest.mark.parametrize("level", ["reader", "writer"])
def test_a_role_finds_what_the_owner_finds(as_role: Open, level: str) -> None:
    memories = [memory(f"m{n}", raw=f"The zebra {'zebra ' * n}{n}.") for n in range(5)]
    rewrite(as_role(), lambda space: space.put(memories, NOW))
    expected = found(as_role())
    assert expected[0]
    assert found(as_role(level)) == expected


def test_no_space_is_read_through_the_index_of_another(as_role: Open) -> None:
    with as_role("reader")._server.connected("read") as connection:

        def matching(space: str, query: str) -> int:
            return len(connection.execute("SELECT * FROM matching(%s, %s)", (space, query)).fetchall())

        assert matching("main", "'main/text'") == 1
        assert matching("other", "'other/text'") == 0
        assert matching("main", "'other/text'") == 0
        assert matching("main", "!'main/nothing'") == 1
